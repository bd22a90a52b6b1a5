"""A new archive of the members whose content fits its CRC-32: their stored bytes as they are, all else written anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.names import listed, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.core.repair import Content, Repair
from inspector.core.source import Source, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.directory import Directory, headers
from inspector.formats._zip.records import HAS_DESCRIPTOR, LOCAL, STORED, Central, Local
from inspector.formats._zip.scan import read_local
from inspector.formats._zip.writing import central_header, end_records, local_header

Lead = Callable[[Mapping[tuple[int, int], int]], tuple[Local, bytes, bytes]]
"""Makes the first member (its header, its name, its content) from where members begin: old ``(start, stop)`` to new."""


class _Copy(NamedTuple):
    """A member to be copied: its header, and its stored bytes ``[start, stop)`` in the old archive."""

    local: Local
    name: bytes
    extra: bytes
    like: Central | None
    start: int
    stop: int

    def header(self) -> bytes:
        return local_header(self.local, self.name, self.extra)


def salvage(archive: Archive, directory: Directory, left_out: tuple[str, ...] = (), lead: Lead | None = None) -> Repair:
    """The plan of such an archive; ``lead`` makes a first member in the place of the one at the start of the file.

    ``left_out`` says what else is lost.
    """
    members = archive.members
    whole = sum(1 for _ in _whole(archive, directory, lead is not None))
    lost = len(members) - whole - (lead is not None and _first(directory) >= 0)
    loses = left_out
    if lost > 0:
        names = listed((members.path(index) for index in _lost(archive, directory, lead is not None)), lost)
        words = f"{count(lost, 'member')} of {len(members):,} whose content does not fit its CRC-32, or has none to "
        loses = (f"{words}compare: {names}.", *left_out)
    header = "a header made anew and " if lead is not None else ""
    title = f"Write {header}the {count(whole, 'whole member')} to a new archive"
    return Repair("zip-salvage", title, frozenset(), loses, content=_content(archive, directory, lead))


def has_whole(archive: Archive) -> bool:
    """Whether there is a member worth a new archive."""
    return VERDICTS.index(Verdict.VERIFIED) in archive.verdicts


def copied(archive: Archive, directory: Directory) -> Iterator[tuple[int, int]]:
    """Where the stored bytes of the members are, ``(start, stop)``, that a salvage with another first member copies."""
    members = directory.members
    return ((members.starts[index], members.stops[index]) for index in _whole(archive, directory, True))


def _first(directory: Directory) -> int:
    heads = directory.members.heads
    return heads.index(0) if heads is not None and 0 in heads else -1


def _whole(archive: Archive, directory: Directory, led: bool) -> Iterator[int]:
    """The members to be copied; the one at the start is not when another is made in its place."""
    omitted = _first(directory) if led else -1
    verified = VERDICTS.index(Verdict.VERIFIED)
    for index, verdict in enumerate(archive.verdicts):
        if verdict == verified and index != omitted:
            yield index


def _lost(archive: Archive, directory: Directory, led: bool) -> Iterator[int]:
    """The members that are not copied, and in whose place none is made."""
    kept = _whole(archive, directory, led)
    following = next(kept, -1)
    made = _first(directory) if led else -1
    for index in range(len(archive.members)):
        if index == following:
            following = next(kept, -1)
        elif index != made:
            yield index


def _copies(archive: Archive, directory: Directory, led: bool) -> Iterator[_Copy]:
    for index in _whole(archive, directory, led):
        yield _copy(archive.source, directory, index)


def _copy(source: Source, directory: Directory, index: int) -> _Copy:
    """One member, as the central directory has it, or the local header where there is none."""
    members = directory.members
    heads = members.heads
    assert heads is not None
    found = read_local(source, heads[index])
    local, name, extra = found if found is not None else (None, members.path(index), b"")
    like = None
    if directory.listed:
        at = directory.central[index]
        for _, header, _, listed_name, _, _ in headers(source, at, source.size):
            like, name = Central._make(header), listed_name
            break
    model = like or local
    if model is None:
        raise MemberError(f"The headers of {visible(name)} cannot be read any more.")
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
    return _Copy(whole, name, extra, like, start, stop)


def _content(archive: Archive, directory: Directory, lead: Lead | None) -> Content:
    def pieces(progress: Progress) -> Iterator[bytes]:
        yield from _Writer(archive, directory, lead, progress).pieces()

    return pieces


class _Writer:
    """Writes the new archive once, from its start to its end."""

    def __init__(self, archive: Archive, directory: Directory, lead: Lead | None, progress: Progress) -> None:
        self.archive = archive
        self.directory = directory
        self.lead = lead
        self.progress = progress
        self.central: list[bytes] = []
        self.at = 0

    def pieces(self) -> Iterator[bytes]:
        """The whole file."""
        self.progress.begin("Writing whole members", self.archive.source.size)
        if self.lead is not None:
            local, name, content = self.lead(self._begins())
            yield self._begin(_Copy(local, name, b"", None, 0, len(content)))
            yield self._counted(content)
        for copy in _copies(self.archive, self.directory, self.lead is not None):
            yield self._begin(copy)
            end = self.at + copy.stop - copy.start
            for piece in blocks(self.archive.source, copy.start, copy.stop):
                yield self._counted(piece)
                self.progress.advance(len(piece))
            if self.at < end:
                raise MemberError(f"The file has become shorter: not all of {visible(copy.name)} is there any more.")
        size = sum(map(len, self.central))
        yield from self.central
        yield end_records(len(self.central), size, self.at)

    def _begin(self, copy: _Copy) -> bytes:
        self.central.append(central_header(copy.local, copy.name, copy.extra, self.at, copy.like))
        return self._counted(copy.header())

    def _counted(self, piece: bytes) -> bytes:
        self.at += len(piece)
        return piece

    def _begins(self) -> dict[tuple[int, int], int]:
        """Where the stored bytes of every member will begin, by where they lie now; the first member is 157 bytes."""
        assert self.lead is not None
        local, name, content = self.lead({})
        at = len(local_header(local, name, b"")) + len(content)
        found = {}
        for copy in _copies(self.archive, self.directory, True):
            at += len(copy.header())
            found[copy.start, copy.stop] = at
            at += copy.stop - copy.start
            self.progress.advance(0)
        return found
