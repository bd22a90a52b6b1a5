"""Determine byte by byte how far a journaled change has gone, and take the file to the new or the old state."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from inspector.core.edit import Edit
from inspector.core.span import Span, Spans
from inspector.sources.local.disk_calls import read_all, write_all
from inspector.sources.local.journal import Journal
from inspector.sources.local.locked_file import LockedFile

_COMPARED_BYTES = 1 << 20
"""Bytes read at a time for a comparison."""

_DIFFERS = bytes([0]) + bytes([255]) * 255
"""Translates the exclusive or of two bytes to 255 where they differ."""
_RUN = re.compile(rb"\xff+")


class Kind(Enum):
    """The states after an interrupted change; the values are stable names."""

    BROKEN = "broken"
    """The journal was never finished, so the file was never touched."""
    UNREADABLE = "unreadable"
    """What stands in the journal's place is damaged, or was never one: what state the file is in cannot be told."""
    NOT_BEGUN = "not-begun"
    """Every byte is the old one."""
    MIXED = "mixed"
    """Every byte is the old one or the new one."""
    FINISHED = "finished"
    """Every byte is the new one."""
    FOREIGN = "foreign"
    """Some bytes are neither."""
    OTHER_FILE = "other-file"
    """The file has a size that the change does not know, or is another one that holds other bytes, or is gone."""
    BUSY = "busy"
    """A program is changing it at this moment."""


class _Run(NamedTuple):
    offset: int
    old: bytes
    new: bytes
    now: bytes


def survey(file: LockedFile, journal: Journal) -> tuple[Kind, Spans]:
    """The state, and the spans that make it so: what is foreign, or what is not the new bytes yet. Raises OSError.

    The spans lie within the file as it is.
    """
    edit, size = journal.edit, file.size
    low, high = sorted((edit.old_size, edit.new_size))
    if not low <= size <= high or (journal.dropped is None and size not in (low, high)):
        return Kind.OTHER_FILE, ()
    all_old, all_new = size == edit.old_size, size == edit.new_size
    foreign: list[Span] = []
    ahead: list[Span] = []
    for run in _runs(file, journal):
        all_old &= run.now == run.old
        if run.now != run.new:
            ahead.append(Span(run.offset, run.offset + len(run.now)))
            foreign += _foreign(run)
    if foreign:
        same = file.identity.inode == journal.identity.inode  # the device's number may change when it is mounted anew
        return (Kind.FOREIGN if same else Kind.OTHER_FILE), _joined(foreign)
    if all_new and not ahead:
        return Kind.FINISHED, ()
    return (Kind.NOT_BEGUN if all_old else Kind.MIXED), _joined(ahead)


def _runs(file: LockedFile, journal: Journal) -> Iterator[_Run]:
    """Every byte that the change touches, in pieces."""
    changes = [(patch.offset, patch.old, patch.new) for patch in journal.edit.patches]
    if journal.dropped:
        changes.append((journal.edit.dropped.start, journal.dropped, b""))
    for offset, old, new in changes:
        for at in range(0, max(len(old), len(new)), _COMPARED_BYTES):
            parts = old[at : at + _COMPARED_BYTES], new[at : at + _COMPARED_BYTES]
            now = read_all(file.disk, file.descriptor, max(map(len, parts)), offset + at)
            yield _Run(offset + at, *parts, now)


def _foreign(run: _Run) -> Iterator[Span]:
    """Where the bytes are neither old nor new; where the file grows, a crash may leave zeros, too."""
    size = len(run.now)
    now = int.from_bytes(run.now, "little")

    def differing(other: bytes) -> int:
        wanted = int.from_bytes(other[:size], "little")
        return int.from_bytes((now ^ wanted).to_bytes(size, "little").translate(_DIFFERS), "little")

    neither = (differing(run.old) & differing(run.new)).to_bytes(size, "little")
    for found in _RUN.finditer(neither):
        yield Span(run.offset + found.start(), run.offset + found.end())


def _joined(spans: list[Span]) -> Spans:
    joined: list[Span] = []
    for span in sorted(span for span in spans if span.size):
        if joined and joined[-1].stop == span.start:
            span = Span(joined.pop().start, span.stop)  # noqa: PLW2901 - what grows is the span at hand
        joined.append(span)
    return tuple(joined)


# ---- redo and undo: either may run from any state between old and new


def old_bytes(journal: Journal) -> Iterable[tuple[int, bytes]]:
    """Offsets and bytes of what stood in the file, as far as the journal has them."""
    for patch in journal.edit.patches:
        yield patch.offset, patch.old
    if journal.dropped:
        yield journal.edit.dropped.start, journal.dropped


def new_bytes(edit: Edit) -> Iterable[tuple[int, bytes]]:
    """Offsets and bytes of what is to stand in the file."""
    return ((patch.offset, patch.new) for patch in edit.patches)


def holds(file: LockedFile, size: int, runs: Iterable[tuple[int, bytes]]) -> bool:
    """Whether the file has the size and all of the bytes. Raises OSError."""
    return file.size == size and all(
        read_all(file.disk, file.descriptor, len(piece), offset + at) == piece
        for offset, data in runs
        for at in range(0, len(data), _COMPARED_BYTES)
        for piece in (data[at : at + _COMPARED_BYTES],)
    )


def redo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the new state for good, and read it back. Raises OSError."""
    edit = journal.edit
    for offset, data in new_bytes(edit):
        write_all(file.disk, file.descriptor, data, offset)
    if file.size > edit.new_size:
        # Once the end is off there may be no way back, so by then all else has to be there.
        file.disk.sync(file.descriptor)
        file.disk.truncate(file.descriptor, edit.new_size)
    file.disk.sync(file.descriptor)
    _check(holds(file, edit.new_size, new_bytes(edit)))


def undo(file: LockedFile, journal: Journal) -> None:
    """Bring the file back into the old state for good, and read it back. Raises OSError.

    Where bytes are cut off that the journal does not keep, the file must still have them.
    """
    edit = journal.edit
    cut = edit.dropped.start
    if journal.dropped and not holds(file, edit.old_size, [(cut, journal.dropped)]):
        write_all(file.disk, file.descriptor, journal.dropped, cut)
    for patch in reversed(edit.patches):
        write_all(file.disk, file.descriptor, patch.old, patch.offset)
    if file.size > edit.old_size:
        file.disk.truncate(file.descriptor, edit.old_size)
    file.disk.sync(file.descriptor)
    _check(holds(file, edit.old_size, old_bytes(journal)))


def _check(good: bool) -> None:
    if not good:
        raise OSError(errno.EIO, "What was read back is not what was written")
