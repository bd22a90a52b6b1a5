"""Salvage: copy the members whose content matches its CRC-32 to a new archive, with new headers and directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.names import brief, listed
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Fate, Outcome, Repair, outcomes
from inspector.core.source import Source, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.headers import central_headers, read_local
from inspector.formats._zip.records import (
    HAS_DESCRIPTOR,
    LOCAL,
    STORED,
    Central,
    Local,
    make_central_header,
    make_end_records,
    make_local_header,
)
from inspector.formats._zip.strays import Stray

FirstMember = Callable[[Mapping[tuple[int, int], int]], tuple[Local, bytes, bytes]]
"""Makes header, name and content of a first member, given new starts of stored data by old ``(start, stop)``."""


class _Copy(Struct, frozen=True):
    """A member to copy: its header, and its stored bytes ``[start, stop)`` in the old archive."""

    local: Local
    name: bytes
    extra: bytes
    central: Central | None
    start: int
    stop: int

    def header(self) -> bytes:
        return make_local_header(self.local, self.name, self.extra)


def salvage(
    archive: Archive, directory: Directory, extra_losses: tuple[str, ...] = (), first_member: FirstMember | None = None
) -> Repair:
    """Plan a salvage. ``first_member`` makes a member to replace the one at the start of the file.

    ``extra_losses`` are sentences on what else is lost.
    """
    members = archive.members
    strays = directory.strays
    whole = sum(1 for _ in _whole(archive, directory, first_member is not None)) + len(strays)
    elsewhere = {each.name for each in strays}
    lost = sum(members.path(index) not in elsewhere for index in _lost(archive, directory, first_member is not None))
    loses = extra_losses
    if lost > 0:
        gone = (members.path(index) for index in _lost(archive, directory, first_member is not None))
        names = listed((path for path in gone if path not in elsewhere), lost)
        text = f"{count(lost, 'member')} of {len(members):,} whose content does not match a CRC-32"
        loses = (f"{text}: {names}.", *extra_losses)
    header = "a new header and " if first_member is not None else ""
    title = f"Write {header}the {count(whole, 'whole member')} to a new archive"
    replaced = first_member is not None
    saved = {*_whole(archive, directory, replaced), *([directory.first] if replaced else [])}
    found = outcomes(archive, saved, "its CRC-32 matches", "its header is rewritten")

    def fates() -> Iterator[Outcome]:
        yield from (each for each in found() if each.fate is not Fate.LOST or each.path not in elsewhere)
        for stray in strays:
            why = f"its CRC-32 matches, at byte {stray.head:,} instead of its place"
            yield Outcome(stray.name, Fate.PROVED, why)

    return Repair(
        "zip-salvage",
        title,
        frozenset(),
        loses,
        content=_content(archive, directory, first_member),
        outcomes=fates,
    )


def has_whole(archive: Archive, directory: Directory) -> bool:
    """Whether there is a whole member to salvage."""
    return VERDICTS.index(Verdict.VERIFIED) in archive.verdicts or bool(directory.strays)


def copied(archive: Archive, directory: Directory) -> Iterator[tuple[int, int]]:
    """The stored bytes, ``(start, stop)``, of the members that a salvage with a new first member copies."""
    members = directory.members
    return ((members.starts[index], members.stops[index]) for index in _whole(archive, directory, True))


def _whole(archive: Archive, directory: Directory, replaced: bool) -> Iterator[int]:
    """The members to copy, without the one at the start of the file if it is ``replaced``."""
    omitted = directory.first if replaced else -1
    verified = VERDICTS.index(Verdict.VERIFIED)
    for index, verdict in enumerate(archive.verdicts):
        if verdict == verified and index != omitted:
            yield index


def _lost(archive: Archive, directory: Directory, replaced: bool) -> Iterator[int]:
    """The members that are neither copied nor replaced."""
    kept = _whole(archive, directory, replaced)
    following = next(kept, -1)
    made = directory.first if replaced else -1
    for index in range(len(archive.members)):
        if index == following:
            following = next(kept, -1)
        elif index != made:
            yield index


def _copies(archive: Archive, directory: Directory, replaced: bool) -> Iterator[_Copy]:
    for index in _whole(archive, directory, replaced):
        yield _copy(archive.source, directory, index)
    for stray in directory.strays:
        yield _stray_copy(stray)


def _copy(source: Source, directory: Directory, index: int) -> _Copy:
    """One member, described by the central directory, or by the local header without a directory."""
    members = directory.members
    heads = members.heads
    assert heads is not None
    found = read_local(source, heads[index])
    local, name, extra = found if found is not None else (None, members.path(index), b"")
    central = None
    if directory.listed:
        at = directory.central[index]
        for _, header, _, listed_name, _, _ in central_headers(source, at, source.size):
            central, name = Central._make(header), listed_name
            break
    model = central or local
    if model is None:
        raise MemberError(f"The headers of {brief(name)} can no longer be read.")
    start, stop = members.starts[index], members.stops[index]
    whole = Local(
        signature=LOCAL,
        needed=model.needed,
        flags=model.flags & ~HAS_DESCRIPTOR,
        method=model.method,
        time=model.time,
        date=model.date,
        crc=directory.computed[index],
        stored=stop - start,
        size=stop - start if model.method == STORED else members.size(index),
        name_length=0,
        extra_length=0,
    )
    return _Copy(whole, name, extra, central, start, stop)


def _stray_copy(stray: Stray) -> _Copy:
    whole = stray.local._replace(
        flags=stray.local.flags & ~HAS_DESCRIPTOR,
        crc=stray.crc,
        stored=stray.stop - stray.start,
        size=stray.size,
        name_length=0,
        extra_length=0,
    )
    return _Copy(whole, stray.name, stray.extra, None, stray.start, stray.stop)


def _content(archive: Archive, directory: Directory, first_member: FirstMember | None) -> Content:
    def pieces(progress: Progress) -> Iterator[bytes]:
        yield from _Writer(archive, directory, first_member, progress).pieces()

    return pieces


class _Writer:
    """Writes the new archive, once."""

    def __init__(
        self, archive: Archive, directory: Directory, first_member: FirstMember | None, progress: Progress
    ) -> None:
        self.archive = archive
        self.directory = directory
        self.first_member = first_member
        self.progress = progress
        self.central: list[bytes] = []
        self.at = 0

    def pieces(self) -> Iterator[bytes]:
        """Yield the file in pieces."""
        self.progress.begin("Writing whole members", self.archive.source.size)
        if self.first_member is not None:
            local, name, content = self.first_member(self._new_starts())
            yield self._begin(_Copy(local, name, b"", None, 0, len(content)))
            yield self._counted(content)
        for copy in _copies(self.archive, self.directory, self.first_member is not None):
            yield self._begin(copy)
            end = self.at + copy.stop - copy.start
            for piece in blocks(self.archive.source, copy.start, copy.stop):
                yield self._counted(piece)
                self.progress.advance(len(piece))
            if self.at < end:
                raise MemberError(f"The file has become shorter: {brief(copy.name)} is no longer complete.")
        size = sum(map(len, self.central))
        yield from self.central
        yield make_end_records(len(self.central), size, self.at)

    def _begin(self, copy: _Copy) -> bytes:
        self.central.append(make_central_header(copy.local, copy.name, copy.extra, self.at, copy.central))
        return self._counted(copy.header())

    def _counted(self, piece: bytes) -> bytes:
        self.at += len(piece)
        return piece

    def _new_starts(self) -> dict[tuple[int, int], int]:
        """The new start of every member's stored bytes, by their old ``(start, stop)``."""
        assert self.first_member is not None
        local, name, content = self.first_member({})
        at = len(make_local_header(local, name, b"")) + len(content)
        found = {}
        for copy in _copies(self.archive, self.directory, True):
            at += len(copy.header())
            found[copy.start, copy.stop] = at
            at += copy.stop - copy.start
            self.progress.advance(0)
        return found
