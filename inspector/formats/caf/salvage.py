"""Salvage: write the whole members of a damaged Chunk Archive to a new one (CAF.md, "Creating a CAF File")."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import MISPLACED, UNREADABLE, Members
from inspector.core.names import listed, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Repair, outcomes
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._damage import Doubled
from inspector.formats._extents import lay_out
from inspector.formats.caf import codes
from inspector.formats.caf.shift import Shift
from inspector.formats.caf.write import Extent, footer, in_json, index_pieces

_SUFFIX = re.compile(rb"(?<=[^/])\.[^./]*\Z|\Z")
_REMAINING_CODES = {codes.NAME_HAZARD.code, codes.TOO_LARGE.code}
"""Findings that hold for the new archive too."""
DOUBTFUL = b".doubtful"
"""The suffix of members that are written although their place is in doubt."""
MAX_NAMES = 5
"""Names listed in one sentence; the rest are counted."""


def salvage(archive: Archive, incomplete: Collection[int]) -> Repair | None:
    """The plan for a new archive; None if no member is whole.

    ``incomplete`` are the positions (``Members.heads``) of incomplete entries.
    """
    members = archive.members
    repeated = _repeated(members)
    if not (kept := _whole(archive, incomplete, repeated)):
        return None
    names = _names(members, kept, repeated)

    def extents() -> Iterator[Extent]:
        for member in kept:
            yield names.get(member) or members.path(member), members.starts[member], members.stops[member]

    title = (
        f"Write {count(len(kept), 'member')} that {verb(len(kept), 'lies', 'lie')} in the data section to a new archive"
    )
    found = {finding.code for finding in archive.findings if finding.severity is not Severity.INFO}
    return Repair(
        "caf-salvage",
        title,
        frozenset(found - _REMAINING_CODES),
        tuple(_loses(archive, kept, names)),
        content=written(archive.source, extents),
        outcomes=outcomes(archive, frozenset(kept), _PROOF, "its place is in no doubt; a CAF records no digest"),
    )


_PROOF = "a digest of it in a manifest matches"


def written(source: Source, extents: Callable[[], Iterable[Extent]]) -> Content:
    """A new archive of these members. Raises MemberError if the file has become shorter."""

    def content(progress: Progress) -> Iterator[bytes]:
        entries: list[Extent] = []
        progress.begin("Writing a new archive", sum(stop - start for _, start, stop in extents()))
        at = 0
        for name, start, stop in extents():
            yield from _copied(source, start, stop, progress)
            entries.append((name, at, at + stop - start))
            at += stop - start
        yield from index_pieces(sorted(entries))

    return content


def older(archive: Archive, start: int) -> Content:
    """A new archive of the members that lie behind ``start``, as they stand."""
    members, found = archive.members, dict[bytes, Extent]()
    for member in range(len(members)):
        if start <= members.starts[member] <= members.stops[member] <= archive.detail.stop:
            name = in_json(members.path(member))
            found.setdefault(name, (name, members.starts[member], members.stops[member]))
    return written(archive.source, found.values)


def _copied(source: Source, start: int, stop: int, progress: Progress) -> Iterator[bytes]:
    """The bytes ``[start, stop)`` in pieces. Raises MemberError if the file has become shorter."""
    for piece in blocks(source, start, stop):
        yield piece
        start += len(piece)
        progress.advance(len(piece))
    if start < stop:
        raise MemberError(f"The file has become shorter: it ends at byte {grouped(start)}. Open it again.")


# ---- archives that lost or gained bytes -------------------------------------------------------------------------


def salvages_of_shifted(archive: Archive, index: Span) -> Iterator[Repair]:
    """The plans for an archive that lost or gained bytes, the likeliest first; ``index`` is where its index is.

    None of them is proved, because no checksum is recorded, so each states what it assumes.
    """
    detail = archive.detail
    if (shift := detail.shift) is None:
        return
    if detail.text_mode:
        yield _without_returns(archive, index)
    if detail.doubled is not None:
        yield _without_copy(archive, index, detail.doubled)
    placed = _placed(archive.members, shift)
    if shift.last < len(archive.members):
        yield _realigned(archive, shift, placed)
    yield from _with_doubtful(archive, shift, placed)


def _without_returns(archive: Archive, index: Span) -> Repair:
    """Undo a copy in text mode."""

    def data(progress: Progress) -> Iterator[bytes]:
        held = b""
        for piece in _copied(archive.source, 0, index.start, progress):
            joined = held + piece
            held = b"\r" if joined.endswith(b"\r") else b""
            yield joined.removesuffix(held).replace(b"\r\n", b"\n")
        yield held

    size = archive.detail.shift.size
    title = f"Remove the carriage return before each of {count(size, 'line feed')}, and write that to a new archive"
    claim = (
        f"A copy in text mode put the {grouped(size)} carriage returns there: as many as the bytes inserted, one "
        "before each line feed."
    )
    return _with_same_index(archive, index, data, "caf-undo-text-mode", codes.TEXT_MODE.code, title, claim)


def _without_copy(archive: Archive, index: Span, doubled: Doubled) -> Repair:
    """Leave out the second copy of doubled bytes."""
    size = doubled.size
    second = Span(doubled.start + size, doubled.start + 2 * size)

    def data(progress: Progress) -> Iterator[bytes]:
        yield from _copied(archive.source, 0, second.start, progress)
        yield from _copied(archive.source, second.stop, index.start, progress)

    title = (
        f"Leave out {in_bytes(size)} at byte {grouped(second.start)}, which repeat those before them, in a new archive"
    )
    claim = (
        f"The {grouped(size)} bytes inserted are those at byte {grouped(second.start)}: the only ones of that number "
        "that repeat those before them."
    )
    return _with_same_index(archive, index, data, "caf-leave-out-doubled", codes.DOUBLED.code, title, claim)


def _with_same_index(
    archive: Archive, index: Span, data: Content, code: str, found: str, title: str, claim: str
) -> Repair:
    """A new archive of other data with the index as it stands."""

    def content(progress: Progress) -> Iterator[bytes]:
        progress.begin("Writing a new archive", index.stop)
        yield from data(progress)
        yield from _copied(archive.source, *index, progress)
        yield footer(index.size)

    return Repair(code, title, frozenset((codes.SHIFTED.code, found)), (), claim, content=content)


def _realigned(archive: Archive, shift: Shift, placed: Sequence[Extent]) -> Repair:
    """Write the members that are in their place, and those seen to be moved, from where they are."""
    members = archive.members
    later = len(members) - shift.last
    title = (
        f"Write {count(len(placed), 'member')}, {grouped(later)} of them from where they now begin, to a new archive"
    )
    first = visible(members.path(shift.last))
    claim = (
        f"'{first}' and the members after it begin {in_bytes(abs(shift.size))} "
        f"{'later' if shift.size > 0 else 'earlier'} than the index says, as their first bytes show."
    )
    if not shift.last:
        claim = f"The first {in_bytes(shift.size)} of the file were put in front of the archive."
    gone = [members.path(member) for member in range(shift.first, shift.last) if members.stored(member)]
    loses = (f"{count(len(gone), 'member')} between them, whose place is not known: {_listed(gone)}.",) if gone else ()
    kept = frozenset(each for each in range(len(members)) if not shift.first <= each < shift.last)
    fates = outcomes(archive, kept, _PROOF, "its first bytes show where it begins; a CAF records no digest")
    content = written(archive.source, lambda: placed)
    return Repair("caf-realign", title, frozenset((codes.SHIFTED.code,)), loses, claim, content=content, outcomes=fates)


def _with_doubtful(archive: Archive, shift: Shift, placed: Sequence[Extent]) -> Iterator[Repair]:
    """Write everything; what is in doubt gets a name that says so. Nothing if nothing is."""
    members, extents = archive.members, list(placed)
    taken = {name for name, _, _ in extents}
    for member in range(shift.first, shift.last):
        start, stop = members.starts[member], members.stops[member]
        if start < stop <= archive.detail.stop:
            name = in_json(members.path(member)) + DOUBTFUL
            while name in taken:
                name += DOUBTFUL
            taken.add(name)
            extents.append((name, start, stop))
    doubtful = len(extents) - len(placed)
    if not doubtful:
        return
    extents.sort(key=lambda each: each[1])
    suffix = DOUBTFUL.decode()
    title = f"Write {count(len(extents), 'member')} to a new archive, {grouped(doubtful)} of them as NAME{suffix}"
    claim = (
        f"Those named NAME{suffix} are written from where the index says, where other bytes may be. They are probably "
        "wrong."
    )
    every = frozenset(each for each in range(len(members)) if members.stops[each] <= archive.detail.stop)
    fates = outcomes(archive, every, _PROOF, "where its place is in doubt it is written as NAME" + suffix)
    content = written(archive.source, lambda: extents)
    yield Repair("caf-salvage-doubtful", title, frozenset(), (), claim, content=content, outcomes=fates)


def _placed(members: Members, shift: Shift) -> list[Extent]:
    """The members whose place is known: those before the shift, empty ones, and those that it moved, where they are."""
    every = range(len(members))
    names = _names(members, every, _repeated(members))
    found = []
    for member in every:
        if not (shift.first <= member < shift.last and members.stored(member)):
            moved = shift.size if member >= shift.last and not shift.front else 0
            name = names.get(member) or members.path(member)
            found.append((name, members.starts[member] + moved, members.stops[member] + moved))
    return found


# ---- what a new archive holds, and what it loses ----------------------------------------------------------------


def _whole(archive: Archive, incomplete: Collection[int], repeated: Collection[int]) -> Sequence[int]:
    """The members inside the data section whose place is not in doubt, or that a manifest's digest proves.

    Of exact duplicates, which are among ``repeated``, it is the first.
    """
    members, end, proved = archive.members, archive.detail.stop, VERDICTS.index(Verdict.VERIFIED)
    seen: set[tuple[bytes, int, int]] = set()
    kept = array("I")
    assert members.heads is not None
    for member, verdict in zip_longest(range(len(members)), archive.verdicts):
        start, stop = members.starts[member], members.stops[member]
        uncertain = members.marks is not None and members.marks[member] & (UNREADABLE | MISPLACED) and verdict != proved
        if uncertain or members.heads[member] in incomplete or not start <= stop <= end:
            continue
        if member in repeated:
            key = (members.path(member), start, stop)
            if key in seen:
                continue
            seen.add(key)
        kept.append(member)
    return kept


def _repeated(members: Members) -> Collection[int]:
    """The members whose name another one has or may have: by hashes, which take little memory."""
    hashes = array("q", (hash(in_json(members.path(member))) for member in range(len(members))))
    twice = {each for each, following in pairwise(sorted(hashes)) if each == following}
    return {member for member, each in enumerate(hashes) if each in twice} if twice else ()


def _names(members: Members, kept: Sequence[int], repeated: Collection[int]) -> Mapping[int, bytes]:
    """New names for members: what is not UTF-8 is replaced, and those of ``repeated`` may get a number."""
    taken = {in_json(members.path(member)) for member in kept} if repeated else set()
    numbers: dict[bytes, int] = {}
    found: dict[int, bytes] = {}
    for member in kept:
        path = members.path(member)
        name = in_json(path)
        if name != path:
            found[member] = name
        if member not in repeated:
            continue
        if name in numbers:
            new = name
            while new in taken:
                numbers[name] += 1
                new = _numbered(name, numbers[name])
            found[member] = new
            taken.add(new)
        numbers.setdefault(name, 1)
    return found


def _numbered(name: bytes, number: int) -> bytes:
    """``a/b (2).txt`` for ``a/b.txt``."""
    return _SUFFIX.sub(lambda suffix: b" (%d)%s" % (number, suffix[0]), name, count=1)


def _loses(archive: Archive, kept: Sequence[int], names: Mapping[int, bytes]) -> Iterator[str]:
    members = archive.members
    if len(kept) < len(members):
        copied, paths = set(kept), {members.path(member) for member in kept}
        left_out = (members.path(member) for member in range(len(members)) if member not in copied)
        gone = [name for name in left_out if name not in paths]
        if gone:
            yield f"{count(len(gone), 'member')} whose place is not known: {_listed(gone)}."
    starts = array("Q", (members.starts[member] for member in kept))
    stops = array("Q", (members.stops[member] for member in kept))
    rows = lay_out(starts, stops, 0, archive.detail.stop)
    if free := sum(rows.row_stop(row) - rows.starts[row] for row in rows.gaps):
        yield f"{in_bytes(free)} of data that {verb(free, 'belongs', 'belong')} to no member."
    if names:
        what = "unusable" if any("\ufffd".encode() in name for name in names.values()) else "duplicate"
        become = f"{verb(len(names), 'becomes', 'become')} {_listed(names.values())}"
        yield f"The {what} names of {count(len(names), 'member')}, which {become}."
    if rows.overlap_count:
        twice = dict.fromkeys(kept[each] for overlap in rows.overlaps for each in (overlap.earlier, overlap.later))
        sharing = _listed([names.get(member) or members.path(member) for member in twice])
        more = f" ({count(rows.overlap_count, 'overlap')})" if rows.overlap_count > 1 else ""
        yield f"Certainty about members that share bytes, which are written as the index says: {sharing}{more}."


def _listed(names: Collection[bytes]) -> str:
    return listed(names, len(names), MAX_NAMES)
