"""Salvage: write the whole members of a damaged Chunk Archive to a new one (CAF.md, "Creating a CAF File")."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.member import UNREADABLE, Members
from inspector.core.names import listed
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats._extents import Rows, lay_out
from inspector.formats.caf.decode import read
from inspector.formats.caf.write import Writer

_SUFFIX = re.compile(rb"(?<=[^/])\.[^./]*\Z|\Z")
_REMAINING_CODES = {"caf-name-hazard", "caf-too-large"}
"""Findings that hold for the new archive too."""
MAX_NAMES = 5
"""Names listed in one sentence; the rest are counted."""


def salvage(archive: Archive, incomplete: Collection[int]) -> Repair | None:
    """The plan for a new archive; None if no member is whole.

    ``incomplete`` are the positions (``Members.heads``) of incomplete entries.
    """
    members = archive.members
    kept = _whole(members, archive.detail, incomplete)
    if not kept:
        return None
    names = _names(members, kept)

    def content(progress: Progress) -> Iterator[bytes]:
        writer = Writer()
        progress.begin("Writing a new archive", sum(members.stored(member) for member in kept))
        for member in kept:
            writer.begin(names.get(member) or members.path(member))
            for piece in read(archive, member, progress):
                writer.add(len(piece))
                yield piece
            writer.end()
        yield from writer.finish()

    title = (
        f"Write {count(len(kept), 'member')} that {verb(len(kept), 'lies', 'lie')} in the data section to a new archive"
    )
    codes = {finding.code for finding in archive.findings if finding.severity is not Severity.INFO}
    return Repair(
        "caf-salvage", title, frozenset(codes - _REMAINING_CODES), _loses(archive, kept, names), content=content
    )


def _whole(members: Members, end: int, incomplete: Collection[int]) -> Sequence[int]:
    """The members inside the data section ``[0, end)``; of exact duplicates the first."""
    seen: set[tuple[bytes, int, int]] = set()
    kept = array("I")
    assert members.heads is not None
    for member in range(len(members)):
        start, stop = members.starts[member], members.stops[member]
        unreadable = members.marks is not None and members.marks[member] & UNREADABLE
        if unreadable or members.heads[member] in incomplete or not start <= stop <= end:
            continue
        key = (members.path(member), start, stop)
        if key not in seen:
            seen.add(key)
            kept.append(member)
    return kept


def _names(members: Members, kept: Sequence[int]) -> Mapping[int, bytes]:
    """New names for members with duplicate names: a number before the suffix."""
    taken = {members.path(member) for member in kept}
    numbers: dict[bytes, int] = {}
    found: dict[int, bytes] = {}
    for member in kept:
        name = members.path(member)
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


def _loses(archive: Archive, kept: Sequence[int], names: Mapping[int, bytes]) -> tuple[str, ...]:
    members, copied = archive.members, set(kept)
    paths = {members.path(member) for member in kept}
    gone = [members.path(member) for member in range(len(members)) if member not in copied]
    gone = [name for name in gone if name not in paths]
    rows = _rows(members, kept, archive.detail)
    free = sum(rows.row_stop(row) - rows.starts[row] for row in rows.gaps)
    sentences = (
        gone and f"{count(len(gone), 'member')} whose place is not known: {_listed(gone)}.",
        free and f"{in_bytes(free)} of data that {verb(free, 'belongs', 'belong')} to no member.",
        names
        and f"The duplicate names of {count(len(names), 'member')}, which {verb(len(names), 'becomes', 'become')} "
        f"{_listed(names.values())}.",
        rows.overlap_count
        and "Certainty about members that share bytes, which are written as the index says: "
        f"{_overlapping(members, kept, names, rows)}.",
    )
    return tuple(sentence for sentence in sentences if sentence)


def _overlapping(members: Members, kept: Sequence[int], names: Mapping[int, bytes], rows: Rows) -> str:
    """The new names of overlapping members."""
    overlapping = (kept[each] for overlap in rows.overlaps for each in (overlap.earlier, overlap.later))
    more = f" ({count(rows.overlap_count, 'overlap')})" if rows.overlap_count > 1 else ""
    return _listed([names.get(member) or members.path(member) for member in dict.fromkeys(overlapping)]) + more


def _rows(members: Members, kept: Sequence[int], end: int) -> Rows:
    starts = array("Q", (members.starts[member] for member in kept))
    stops = array("Q", (members.stops[member] for member in kept))
    return lay_out(starts, stops, 0, end)


def _listed(names: Collection[bytes]) -> str:
    return listed(names, len(names), MAX_NAMES)
