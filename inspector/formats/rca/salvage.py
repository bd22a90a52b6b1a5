"""Salvage: what is whole of a damaged RCA archive as a new one.

A segment's blobs share one zstd frame that is never ended, so the blocks up to a damaged one are a whole segment by
themselves. They are copied as they stand, not compressed again; only the hashes are new. Where a blob cannot stand in
a sound archive as it is (its name is not UTF-8, say), its segment is written anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.names import listed, visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Fate, Outcome, Repair, outcomes
from inspector.core.source import blocks
from inspector.core.span import united
from inspector.formats.rca.blobs import MAX_NAME_BYTES, read
from inspector.formats.rca.blocks import RESET, Convention
from inspector.formats.rca.chunks import Layout, whole_blocks
from inspector.formats.rca.hashes import Hashes, compare, own_convention
from inspector.formats.rca.search import Stray, decoded, find_strays
from inspector.formats.rca.write import BlobLayer, Chain

_REWRITTEN = frozenset(
    {"rca-name-unterminated", "rca-name-too-long", "rca-name-not-utf-8", "rca-zstd-unaligned", "rca-zstd-frames"}
)
_CHANGED = "The file has changed while it was read, so the salvage does not fit together. Check it again."


class _Part(Struct, frozen=True):
    """The blocks ``[first, stop)`` of one segment, without its reset block, and the members ``[begin, end)`` in them.

    ``odd`` is whether they are written anew.
    """

    first: int
    stop: int
    begin: int
    end: int
    odd: bool


def salvages(archive: Archive, hashes: Hashes, progress: Progress) -> list[Repair]:
    """The salvage of all that is proved whole, and, if that is more, of all that decodes."""
    worst = {finding.code for finding in archive.findings if finding.severity is Severity.ERROR}
    if not worst and not hashes.layout.chunks.tail:
        return []
    sides, behind = [(archive, hashes)], hashes.layout.behind
    if behind is not None and any(behind.counted):  # the archive with the blobs of an interrupted append
        sides.append((decoded(behind.layout, archive.source, progress), compare(behind.layout, progress)))
    side, proved = _most(sides, proved=True)
    found: list[Repair] = []
    strays, searched = _strays(*side, proved, progress)
    if proved or strays:
        number = _members(proved) + sum(len(each.names) for each in strays)
        title = (
            f"Copy the {count(number, 'blob')} that {'is' if number == 1 else 'are'} proved whole into a new archive"
        )
        found.append(_repair("rca-salvage", title, *side, proved, worst, strays=strays, searched=searched))
    side, readable = _most(sides, proved=False)
    unproved = _members(readable) - _members(proved)
    if unproved:
        title = f"Copy the {count(_members(readable), 'blob')} that can be decoded into a new archive"
        claim = (
            f"{grouped(unproved)} of them {'is' if unproved == 1 else 'are'} taken to be what was archived. Nothing "
            "proves it: no hash is right that covers them, and a changed byte may decode too."
        )
        found.append(_repair("rca-salvage-readable", title, *side, readable, worst, claim, searched=searched))
    return found


_Side = tuple[Archive, Hashes]
"""An archive as it is read, and its hashes."""


def _strays(
    archive: Archive, hashes: Hashes, parts: Sequence[_Part], progress: Progress
) -> tuple[Sequence[Stray], bool]:
    """The proved segments that the chain of chunks does not lead to, and whether all of the file was searched."""
    layout, members = hashes.layout, archive.members
    edges = layout.blocks.edges
    taken = [span for part in parts for span in layout.inner.outer(edges[part.first], edges[part.stop])]
    known = frozenset(bytes(members.path(member)) for part in parts for member in range(part.begin, part.end))
    return find_strays(archive.source, united(taken), known, progress)


def _most(sides: Sequence[_Side], *, proved: bool) -> tuple[_Side, list[_Part]]:
    """The way of reading by which most can be saved, and what that is."""
    found = [(side, _parts(*side, proved=proved)) for side in sides]
    return max(found, key=lambda each: _members(each[1]))


def _repair(
    code: str,
    title: str,
    archive: Archive,
    hashes: Hashes,
    parts: Sequence[_Part],
    worst: set[str],
    claim: str = "",
    strays: Sequence[Stray] = (),
    searched: bool = True,
) -> Repair:
    content = _Salvage(archive, parts, own_convention(hashes), strays).content
    saved = {member for part in parts for member in range(part.begin, part.end)}
    whole = _parts(archive, hashes, proved=True) if claim else parts
    fates = outcomes(
        archive,
        saved,
        "the hash of its segment matches",
        "it decodes, and no hash that covers it matches",
        {member for part in whole for member in range(part.begin, part.end)},
    )
    elsewhere = {name: each for each in strays for name in each.names}

    def every() -> Iterator[Outcome]:
        yield from (each for each in fates() if each.fate is not Fate.LOST or each.path not in elsewhere)
        for name, stray in elsewhere.items():
            yield Outcome(name, Fate.PROVED, f"the hash of its segment matches, found at byte {grouped(stray.start)}")

    loses = _loses(archive, hashes.layout, parts)
    return Repair(code, title, frozenset(worst), loses, claim, content=content, outcomes=every, unsearched=not searched)


def _members(parts: Sequence[_Part]) -> int:
    return sum(part.end - part.begin for part in parts)


def _parts(archive: Archive, hashes: Hashes, *, proved: bool) -> list[_Part]:
    """What is whole of each segment that has a member in it."""
    layout, starts = hashes.layout, archive.members.starts
    all_blocks, odd = layout.blocks, _odd(archive, layout)
    found: list[_Part] = []
    for segment in range(len(all_blocks.segments) if len(all_blocks) else 0):
        if proved and not hashes.proved(hashes.row(segment)):
            continue
        first, last = all_blocks.segment(segment)
        stop = min(layout.damaged.get(segment, last), whole_blocks(all_blocks))
        first += first < stop and all_blocks.types[first] == RESET
        begin = bisect_left(starts, all_blocks.edges[first])
        end = bisect_left(starts, all_blocks.edges[stop], begin)
        if begin < end:
            found.append(_Part(first, stop, begin, end, odd is None or segment in odd))
    return found


def _odd(archive: Archive, layout: Layout) -> set[int] | None:
    """The segments with blobs that cannot stand in a sound archive as they are; None where not all can be told."""
    if archive.findings_dropped:
        return None
    found: set[int] = set()
    for finding in archive.findings:
        at = layout.inner.inner(finding.spans[0].start) if finding.code in _REWRITTEN and finding.spans else None
        if at is not None:
            found.add(layout.blocks.segment_of(bisect_right(layout.blocks.edges, at) - 1))
    return found


def _loses(archive: Archive, layout: Layout, parts: Sequence[_Part]) -> tuple[str, ...]:
    """Which blobs are lost, and which names."""
    members, blobs = archive.members, layout.blobs(0, len(layout.blocks))
    lost = blobs - _members(parts)
    sentences = [
        f"The {in_bytes(stop - start)} from byte {grouped(layout.inner.outer(start, stop)[0].start)} on, in which no "
        "block can be told."
        for start, stop in layout.lost
    ]
    if lost:
        gaps = map(range, (0, *(part.end for part in parts)), (*(part.begin for part in parts), len(members)))
        names = listed(map(members.path, chain.from_iterable(gaps)), lost)
        said = f": {names}" if names else ", whose names cannot be read"
        sentences.append(f"{grouped(lost)} of {count(blobs, 'blob')}{said}.")
    if layout.chunks.corrupt:
        sentences.append("All that follows the wrong chunk header.")
    changed = [
        path
        for part in parts
        if part.odd
        for member in range(part.begin, part.end)
        if _name(path := members.path(member)) != path
    ]
    if changed:
        sentences.append(
            f"The bytes of {count(len(changed), 'name')}, which are not UTF-8 and are written as they are shown: "
            f"{listed(changed, len(changed))}."
        )
    return tuple(sentences)


def _name(path: bytes) -> bytes:
    """The name to write: the same one, or as it is shown where the format cannot hold it."""
    try:
        path.decode()
    except UnicodeDecodeError:
        return visible(path).encode()[:MAX_NAME_BYTES].decode(errors="ignore").encode()
    return path


class _Salvage:
    """A new archive of parts of another.

    All is read twice, for the last hash and the size stand before what they are of; and what is written anew is
    compressed once more before that, for the size of every blob stands before it too.
    """

    def __init__(
        self, archive: Archive, parts: Sequence[_Part], convention: Convention, strays: Sequence[Stray] = ()
    ) -> None:
        self._archive = archive
        self._strays = strays
        self._parts = parts
        self._convention = convention
        self._edges = archive.detail.blocks.edges
        self._layer = BlobLayer(convention)
        self._packed: dict[int, int] = {}

    def content(self, progress: Progress) -> Iterator[bytes]:
        odd = [part for part in self._parts if part.odd]
        self._begin("Compressing", odd, progress)
        for part in odd:
            layer = BlobLayer(self._convention)
            for member in range(part.begin, part.end):
                self._packed[member] = sum(map(len, self._pack(member, layer, progress)))
        size = sum(map(len, self._inner("Hashing", progress)))
        metadata = self._layer.digest
        yield from Chain().whole(self._unchanged(size, metadata, progress), size, metadata)

    def _unchanged(self, size: int, metadata: bytes, progress: Progress) -> Iterator[bytes]:
        """The new blob layer once more; raises MemberError where it is another one."""
        for data in self._inner("Copying", progress):
            size -= len(data)
            if size < 0:
                break
            yield data
        if size or self._layer.digest != metadata:
            raise MemberError(_CHANGED)

    def _begin(self, label: str, parts: Iterable[_Part], progress: Progress) -> None:
        progress.begin(label, sum(self._edges[part.stop] - self._edges[part.first] for part in parts))

    def _inner(self, label: str, progress: Progress) -> Iterator[bytes]:
        """The new blob layer; last the segments that the chain of chunks does not lead to, as they stand."""
        self._begin(label, self._parts, progress)
        layer = self._layer = BlobLayer(self._convention)
        every: tuple[_Part | Stray, ...] = (*self._parts, *self._strays)
        for number, part in enumerate(every):
            if number:
                yield layer.reset()
            if isinstance(part, Stray):
                yield from map(layer.add, blocks(self._archive.source, part.start, part.stop))
            elif part.odd:
                for member in range(part.begin, part.end):
                    yield from layer.block(self._packed[member], self._pack(member, layer, progress))
            else:
                for piece in blocks(self._archive.detail.inner, self._edges[part.first], self._edges[part.stop]):
                    progress.advance(len(piece))
                    yield layer.add(piece)

    def _pack(self, member: int, layer: BlobLayer, progress: Progress) -> Iterator[bytes]:
        """What a member compresses to; ``progress`` counts its stored bytes."""
        members = self._archive.members
        content = read(self._archive, member, Progress())
        for piece in layer.packed(_name(members.path(member)), content):
            progress.advance(0)
            yield piece
        progress.advance(members.stops[member] - members.starts[member])
