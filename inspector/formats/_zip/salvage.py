"""Salvage: copy the members whose content matches its CRC-32 to a new archive, with new headers and directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.names import brief, listed
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Fate, Outcome, Repair, outcomes
from inspector.core.source import Source, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip import codes
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.records import (
    HAS_DESCRIPTOR,
    LOCAL,
    STORED,
    Central,
    Local,
    LocalFile,
    central_headers,
    make_central_header,
    make_end_records,
    make_local_header,
    read_local,
)

FirstMember = Callable[[Mapping[tuple[int, int], int]], tuple[Local, bytes, bytes]]
"""Makes header, name and content of a first member, given new starts of stored data by old ``(start, stop)``."""


class _Copy(NamedTuple):
    """A member to copy: its header, and where its stored bytes begin in the old archive."""

    local: Local
    name: bytes
    extra: bytes
    central: Central | None
    start: int


def salvage(
    archive: Archive, directory: Directory, extra_losses: tuple[str, ...] = (), first_member: FirstMember | None = None
) -> Repair:
    """Plan a salvage. ``first_member`` makes a member to replace the one at the start of the file.

    ``extra_losses`` are sentences on what else is lost.
    """
    members, replaced, strays = archive.members, first_member is not None, directory.strays
    kept, others = _to_copy(archive, directory, replaced=replaced)
    whole = len(kept) + len(others)
    elsewhere = {each.name for each in strays.members}
    made = directory.first if replaced else -1

    def gone() -> Iterator[bytes]:
        lost = (at for at in range(len(members)) if at != made and archive.verdict(at) is not Verdict.VERIFIED)
        paths = map(members.path, lost)
        return chain((path for path in paths if path not in elsewhere), (name for name, _ in strays.broken))

    lost, loses = sum(1 for _ in gone()), list(extra_losses)
    if lost:
        total = whole + lost if strays.broken else len(members)
        text = f"{count(lost, 'member')} of {total:,} whose content does not match a CRC-32"
        loses.insert(0, f"{text}: {listed(gone(), lost)}.")
    named = {each.member for each in archive.findings if each.code == codes.LOCAL_NAME.code}
    twice = [each for each in kept if each in named]
    if twice:
        names = listed(map(members.path, twice), len(twice))
        loses.append(
            f"Another name of {count(len(twice), 'member')}, from the local header; either may be right: {names}."
        )
    if strays.unsearched:
        loses.append("What was not searched: the search for members ended before the file, so there may be more.")
    if not directory.listed or (directory.eocd is not None and directory.eocd.entries > len(members)):
        loses.append("Members of which nothing is left: without a whole directory nothing says how many there were.")
    header, article = "a new header and " if replaced else "", "at least" if strays.unsearched else "the"
    title = f"Write {header}{article} {count(whole, 'whole member')} to a new archive"
    found = outcomes(archive, {*kept, made}, "its CRC-32 matches", "its header is rewritten")

    def fates() -> Iterator[Outcome]:
        doubt = "its CRC-32 matches, and its two headers name it differently"
        for index, each in enumerate(found()):
            if index in named and each.fate is Fate.PROVED:
                yield each._replace(fate=Fate.READABLE, why=doubt)
            elif each.fate is not Fate.LOST or each.path not in elsewhere:
                yield each
        for stray in strays.members:
            why = f"its CRC-32 matches, at byte {stray.head:,} instead of its place"
            yield Outcome(stray.name, Fate.PROVED, why)
        for name, head in strays.broken:
            yield Outcome(name, Fate.LOST, f"no content after its local header at byte {head:,} matches a CRC-32")

    return Repair(
        "zip-salvage",
        title,
        frozenset(),
        tuple(loses),
        content=_content(archive, directory, first_member),
        outcomes=fates,
        unsearched=strays.unsearched,
    )


def has_whole(archive: Archive, directory: Directory) -> bool:
    """Whether there is a whole member to salvage."""
    return VERDICTS.index(Verdict.VERIFIED) in archive.verdicts or bool(directory.strays.members)


def copied(archive: Archive, directory: Directory) -> Iterator[tuple[int, int]]:
    """The stored bytes, ``(start, stop)``, of the members that a salvage with a new first member copies."""
    members, (kept, strays) = directory.members, _to_copy(archive, directory, replaced=True)
    yield from ((members.starts[index], members.stops[index]) for index in kept)
    yield from ((each.begin, each.begin + each.local.stored) for each in strays)


def _to_copy(archive: Archive, directory: Directory, *, replaced: bool) -> tuple[list[int], list[LocalFile]]:
    """The members to copy, and those at other places, without one at the start of the file that is ``replaced``."""
    omitted, verified = directory.first if replaced else -1, VERDICTS.index(Verdict.VERIFIED)
    kept = [index for index, verdict in enumerate(archive.verdicts) if verdict == verified and index != omitted]
    return kept, [each for each in directory.strays.members if each.head or not replaced]


def _copy(source: Source, directory: Directory, index: int) -> _Copy:
    """One member, described by the central directory, or by the local header without a directory."""
    members = directory.members
    found = read_local(source, directory.heads[index])
    local, name, extra = (found.local, found.name, found.extra) if found else (None, members.path(index), b"")
    there = next(central_headers(source, directory.central[index], source.size), None) if directory.listed else None
    central, name = (Central._make(there[1]), there[3]) if there is not None else (None, name)
    model = central or local
    if model is None:
        raise MemberError(f"The headers of {brief(name)} can no longer be read.")
    stored = members.stored(index)
    whole = Local(
        signature=LOCAL,
        needed=model.needed,
        flags=model.flags & ~HAS_DESCRIPTOR,
        method=model.method,
        time=model.time,
        date=model.date,
        crc=directory.computed[index],
        stored=stored,
        size=stored if model.method == STORED else members.size(index),
        name_length=0,
        extra_length=0,
    )
    return _Copy(whole, name, extra, central, members.starts[index])


def _stray_copy(stray: LocalFile) -> _Copy:
    local = stray.local._replace(flags=stray.local.flags & ~HAS_DESCRIPTOR, name_length=0, extra_length=0)
    return _Copy(local, stray.name, stray.extra, None, stray.begin)


def _content(archive: Archive, directory: Directory, first_member: FirstMember | None) -> Content:
    """The new archive in pieces."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        progress.begin("Writing whole members", archive.source.size)
        central: list[bytes] = []
        stop = 0
        if first_member is not None:
            local, name, data = first_member({})
            stop = len(make_local_header(local, name, b"")) + len(data)
            begins = {(each.start, each.start + each.local.stored): begin for each, _, begin in placed(stop, progress)}
            local, name, data = first_member(begins)
            yield make_local_header(local, name, b"") + data
            central.append(make_central_header(local, name, b"", 0))
        for copy, header, begin in placed(stop, progress):
            central.append(make_central_header(copy.local, copy.name, copy.extra, begin - len(header), copy.central))
            yield header
            at, stop = begin, begin + copy.local.stored
            for piece in blocks(archive.source, copy.start, copy.start + copy.local.stored):
                yield piece
                at += len(piece)
                progress.advance(len(piece))
            if at < stop:
                raise MemberError(f"The file has become shorter: {brief(copy.name)} is no longer complete.")
        yield from central
        yield make_end_records(len(central), sum(map(len, central)), stop)

    def placed(at: int, progress: Progress) -> Iterator[tuple[_Copy, bytes, int]]:
        """The members to copy from ``at`` on, with their headers and where their data begins in the new archive."""
        kept, strays = _to_copy(archive, directory, replaced=first_member is not None)
        for copy in chain((_copy(archive.source, directory, index) for index in kept), map(_stray_copy, strays)):
            header = make_local_header(copy.local, copy.name, copy.extra)
            yield copy, header, at + len(header)
            at += len(header) + copy.local.stored
            progress.advance(0)

    return pieces
