"""Archives joined in one file: where each begins and ends, and how to split them.

An archive that begins at a place tells where it ends: a ZIP by the first end record whose directory ends there, a tar
by its end blocks, an RCA by its chunks, a CAF by the first index in front of which its members end. An archive that
ends with the file tells where it begins: a ZIP and a CAF do. Both are followed until they meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from inspector.core.archive import Archive, Emitter
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Companion, Content, Repair
from inspector.core.source import Source, SplicedSource, blocks
from inspector.core.span import Span
from inspector.formats._causes.table import SPLIT_CODE, Cause, Explanation, wrong
from inspector.formats._tar.header import BLOCK, aligned, parse
from inspector.formats._zip.eocd import find_eocd
from inspector.formats._zip.records import END, LOCAL
from inspector.formats._zstd import MAGIC
from inspector.formats.caf.decode import Detail
from inspector.formats.caf.locate import OPENING, index_from_footer
from inspector.formats.caf.overwritten import MAX_INDEX_BYTES, Newer, caf_end, older_content, zip_end
from inspector.formats.rca.blocks import BLOB, kind_and_size, varint
from inspector.formats.rca.chunks import FIRST_SIZE_BITS, header_size, scan

MAX_PARTS = 64
"""Archives that are told apart in one file."""
MIN_REST_BYTES = 64
"""Fewer bytes behind an archive are no part of another."""
_END_BYTE = re.compile(rb'"end_byte"\s*+:\s*+([0-9]{1,20})')
_SUFFIXES = {"zip": ".zip", "tar": ".tar", "rca": ".rca", "caf": ".caf"}
_TITLES = {"zip": "a ZIP archive", "tar": "a tar archive", "rca": "an RCA", "caf": "a CAF"}


class Part(NamedTuple):
    """The bytes ``[start, stop)`` hold an archive of this kind; ``whole``: both of its ends are where they should be.

    ``old``: it is the tail of an archive that began where the first part stands now.
    """

    start: int
    stop: int
    kind: str
    whole: bool = True
    old: bool = False

    @property
    def words(self) -> str:
        what = _TITLES[self.kind]
        if self.old:
            what = f"the tail of {what.split(' ', 1)[1]} that was overwritten"
            what = what.replace("of ", "of an older ", 1)
        elif not self.whole:
            what += " that is not whole"
        return f"{what} at bytes {self.start:,} to {self.stop - 1:,}"


def joined_parts(archive: Archive, progress: Progress) -> tuple[Part, ...]:
    """The archives that stand one after the other in a file; none where it is one archive.

    Linear in time. Raises SourceError and Cancelled.
    """
    source = archive.source
    newer = _newer(archive)
    if newer is not None:
        return (Part(0, newer.stop, newer.kind), Part(newer.stop, source.size, "caf", whole=False, old=True))
    parts = _in_a_row(source, progress)
    at = parts[-1].stop if parts else 0
    if at < source.size and (last := _backward(source, at)) is not None:
        if last.start > at and (first := _begun(source, at)):
            parts.append(Part(at, last.start, first, whole=False))
            at = last.start
        if last.start == at:
            parts.append(last)
            at = source.size
    if parts and source.size - at >= MIN_REST_BYTES:
        parts += _rest(source, at)
    if len(parts) < 2 or not _plausible(archive, parts):
        return ()
    return tuple(parts)


def is_known(archive: Archive) -> bool:
    """Whether a check has found another archive already, so that no more is read to tell them apart."""
    return _newer(archive) is not None


def _newer(archive: Archive) -> Newer | None:
    return archive.detail.newer if isinstance(archive.detail, Detail) else None


def _in_a_row(source: Source, progress: Progress) -> list[Part]:
    """The archives from the beginning on, each where the one before it ends."""
    parts: list[Part] = []
    at = 0
    while at < source.size and len(parts) < MAX_PARTS:
        found = _forward(source, at, progress)
        if found is None or found.stop <= at:
            break
        parts.append(found)
        at = found.stop
    return parts


def _rest(source: Source, at: int) -> Sequence[Part]:
    """What follows the last whole archive, if that is a part of another."""
    kind = _begun(source, at)
    if kind:
        return [Part(at, source.size, kind, whole=False)]
    return [Part(at, source.size, "zip", whole=False, old=True)] if _is_old_zip(source, at) else []


def _plausible(archive: Archive, parts: Sequence[Part]) -> bool:
    """Whether the parts are no members of one archive whose records are lost: CAF stores members one after another."""
    kinds = {part.kind for part in parts}
    if archive.format == "caf":
        return "caf" in kinds
    return kinds != {"tar"} or any(each.code == "tar-data-after-end" for each in archive.findings)


# ---- where an archive ends ------------------------------------------------------------------------------------------


def _forward(source: Source, at: int, progress: Progress) -> Part | None:
    """The archive that begins at ``at``, if it has an end."""
    steps: tuple[tuple[str, Callable[[Source, int, Progress], int | None]], ...] = (
        ("zip", zip_end),
        ("tar", _tar_end),
        ("rca", _rca_end),
        ("caf", caf_end),
    )
    for kind, end in steps:
        stop = end(source, at, progress)
        if stop is not None:
            return Part(at, stop, kind)
    return None


def _tar_end(source: Source, at: int, progress: Progress) -> int | None:
    if not is_tar(source, at):
        return None
    start, found = at, None
    while at < source.size:
        progress.advance(0)
        block = source.read(at, BLOCK)
        if block == bytes(BLOCK):
            found = at
            break
        header = parse(block) if len(block) == BLOCK else None
        if header is None or not header.fits:
            return None
        at += BLOCK + aligned(header.stored)
    if found is None or source.read(at, 2 * BLOCK) != bytes(2 * BLOCK):
        return None
    stop = at + 2 * BLOCK
    padded = start + -(-(stop - start) // 10_240) * 10_240
    return padded if padded <= source.size and not any(source.read(stop, padded - stop)) else stop


def is_tar(source: Source, at: int) -> bool:
    """Whether a tar header with a checksum that fits stands here."""
    block = source.read(at, BLOCK)
    return len(block) == BLOCK and parse(block).fits and any(block)


def is_rca(source: Source, at: int) -> bool:
    """Whether a first chunk of a possible size begins here, with a blob that opens a zstd frame."""
    head = source.read(at, header_size(FIRST_SIZE_BITS) + 16)
    size = int.from_bytes(head[:2], "big")
    if len(head) < 20 or not header_size(FIRST_SIZE_BITS) < size <= 1 << FIRST_SIZE_BITS - 1:
        return False
    value, stop = varint(head, header_size(FIRST_SIZE_BITS))
    return bool(stop) and kind_and_size(value)[0] == BLOB and head[stop : stop + len(MAGIC)] == MAGIC


def _rca_end(source: Source, at: int, progress: Progress) -> int | None:
    progress.advance(0)
    if not is_rca(source, at):
        return None
    layer = scan(_from(source, at))
    return None if layer.corrupt or layer.truncated or not layer.chunks else at + layer.end


# ---- where an archive begins ----------------------------------------------------------------------------------------


def _backward(source: Source, low: int) -> Part | None:
    """The archive that ends with the file and begins at ``low`` or after it."""
    eocd = find_eocd(_from(source, low))
    if eocd is not None and eocd.exact and eocd.consistent and eocd.directory is not None:
        start = low + eocd.displacement
        if source.read(start, 4) in (LOCAL, END) and (start > 0):
            return Part(start, source.size, "zip")
    _, span = index_from_footer(source)
    if span is not None and span.start >= low and span.size <= MAX_INDEX_BYTES:
        data = source.read(span.start, span.size)
        ends = [int(each) for each in _END_BYTE.findall(data)]
        if OPENING.match(data) and ends and span.start - max(ends) > 0 and span.start - max(ends) >= low:
            return Part(span.start - max(ends), source.size, "caf")
    return None


def _begun(source: Source, at: int) -> str:
    """The kind of archive that begins at a place, by its first bytes; empty if none does."""
    if source.read(at, 4) == LOCAL:
        return "zip"
    if is_tar(source, at):
        return "tar"
    return "rca" if is_rca(source, at) else ""


def _is_old_zip(source: Source, at: int) -> bool:
    """Whether the file ends as a ZIP does that began where the file begins, longer than what was written over it."""
    eocd = find_eocd(source)
    if eocd is None or not eocd.exact or not eocd.consistent or eocd.directory is None or eocd.displacement:
        return False
    return eocd.directory.start >= at


def _from(source: Source, start: int, stop: int | None = None) -> SplicedSource:
    return SplicedSource(source, [Span(start, source.size if stop is None else stop)], source.name)


# ---- what is said and done -------------------------------------------------------------------------------------------


def joined(archive: Archive, progress: Progress) -> Explanation | None:
    """The cause that several archives stand in a file. Raises SourceError and Cancelled."""
    parts = joined_parts(archive, progress)
    if not parts:
        return None
    old = any(part.old for part in parts)
    number = {2: "Two", 3: "Three", 4: "Four"}.get(len(parts), f"{len(parts):,}")
    name = archive.source.name.replace("\\", "/").rpartition("/")[2] or "FILE"
    places = "; ".join(part.words for part in parts[:8])
    rest = source_rest(archive.source, parts)
    first = f"{number} archives are joined in this file, one after the other."
    if old:
        first = "A new archive was written over a longer old one, and the old one's tail is left."
        newer = _newer(archive)
        if newer is not None and not newer.certain:
            first = "There is a whole archive at the beginning, and a longer one that lists it goes on after it."
    message = (
        f"{first} They are {places}{', and more' if len(parts) > 8 else ''}.{rest} Each can be listed, opened and "
        f"extracted by itself as {_addresses(name, parts)}; repair with a copy as its target splits them into files."
    )
    spans = tuple(Span(part.start, part.stop) for part in parts)
    return Explanation(Cause.JOINED, message, spans, tuple(wrong(archive)), (_split(archive, parts),))


def source_rest(source: Source, parts: Sequence[Part]) -> str:
    """A sentence on the bytes that belong to none of the parts; empty where there are none."""
    rest = source.size - parts[-1].stop
    return f" {in_bytes(rest)} follow that belong to none." if rest else ""


def address(part: Part) -> str:
    """How a location names a part: behind the path of the file."""
    return f"!/@{part.start}-{part.stop}"


def _addresses(name: str, parts: Sequence[Part]) -> str:
    found = [f"{name}{address(part)}" for part in parts if not part.old][:4]
    return " and ".join(found) if found else f"{name}!/@START-STOP"


def _split(archive: Archive, parts: Sequence[Part]) -> Repair:
    """Write the first archive to the copy and every other one beside it."""
    first, *others = parts
    ending = next(
        (each for each in (".tacozip", ".taco", *_SUFFIXES.values()) if archive.source.name.endswith(each)), ""
    )
    along = tuple(
        Companion(f"-{number}{_suffix(archive, part)}", ending, _content(archive, part))
        for number, part in enumerate(others, 2)
    )
    loses = (source_rest(archive.source, parts).strip(),) if source_rest(archive.source, parts) else ()
    if any(part.old for part in parts):
        loses = (*loses, "What the newer archive was written over of the older one.")
    title = f"Split the file: write each of the {len(parts):,} archives to a file of its own"
    codes = frozenset(each.code for each in wrong(archive))
    return Repair(
        SPLIT_CODE,
        title,
        codes,
        loses,
        content=_content(archive, first),
        lossless="" if loses else "Every byte of the file is in one of them.",
        along=along,
    )


def _suffix(archive: Archive, part: Part) -> str:
    """A CAF that a TACO is joined to keeps its own suffix; a part of the kind of the file gets that of the file."""
    if part.kind == "zip" and archive.source.name.lower().endswith((".taco", ".tacozip")):
        return ".tacozip" if archive.source.name.lower().endswith(".tacozip") else ".taco"
    return _SUFFIXES[part.kind]


def _content(archive: Archive, part: Part) -> Content:
    if part.old:
        return _old_content(archive, part)

    def pieces(progress: Progress) -> Iterator[bytes]:
        progress.begin("Writing an archive", part.stop - part.start)
        for piece in blocks(archive.source, part.start, part.stop):
            yield piece
            progress.advance(len(piece))

    return pieces


class _Blanked:
    """A file of which the first bytes are zeros: those that were written over what it described."""

    def __init__(self, source: Source, start: int) -> None:
        self.name, self.size, self._source, self._start = source.name, source.size, source, start

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        data = self._source.read(offset, length)
        zeros = min(max(0, self._start - offset), len(data)) if offset >= 0 else 0
        return bytes(zeros) + data[zeros:]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return self._source.sibling(suffix, instead_of)


def _old_content(archive: Archive, part: Part) -> Content:
    """The members of the older archive that are left, as a new archive."""
    if part.kind == "caf":
        return older_content(archive, part.start)

    def pieces(progress: Progress) -> Iterator[bytes]:
        from inspector.formats.zip import FORMAT as functions  # noqa: N811 - a value with functions

        rest = Archive(_Blanked(archive.source, part.start), functions.name, functions.title, ())
        functions.decode(rest.source, Emitter(rest), progress)
        functions.check(rest, Emitter(rest), progress)
        saves = (each for each in functions.repairs(rest, progress) if each.is_salvage and each.content is not None)
        salvage = next(saves, None)
        if salvage is not None and salvage.content is not None:
            yield from salvage.content(progress)

    return pieces
