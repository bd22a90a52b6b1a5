"""Determine byte by byte how far a journaled change has gone, and take the file to the new or the old state."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from inspector.core.edit import Edit
from inspector.core.span import Span, Spans, united
from inspector.sources.local.changes.journal import Journal
from inspector.sources.local.changes.locked_file import LockedFile
from inspector.sources.local.disk_calls import read_all, write_all

_COMPARED_BYTES = 1 << 20
"""Bytes read at a time for a comparison."""

_DIFFERS = bytes([0]) + bytes([255]) * 255
"""Translates the exclusive or of two bytes to 255 where they differ."""
_RUN = re.compile(rb"\xff+")


class ChangeState(Enum):
    """The states after an interrupted change; the values are stable names."""

    BROKEN = "broken"
    """The journal was never finished, so the file is unchanged."""
    UNREADABLE = "unreadable"
    """The journal is damaged or not a journal, so the state of the file is unknown."""
    NOT_BEGUN = "not-begun"
    """Every byte is the old one."""
    MIXED = "mixed"
    """Every byte is the old one or the new one."""
    FINISHED = "finished"
    """Every byte is the new one."""
    FOREIGN = "foreign"
    """Some bytes are neither."""
    OTHER_FILE = "other-file"
    """The file has an unexpected size, or is another file with other bytes, or is gone."""
    BUSY = "busy"
    """Another program is changing the file right now."""


class _TouchedRun(Struct, frozen=True):
    offset: int
    old: bytes
    new: bytes
    now: bytes


def change_state(file: LockedFile, journal: Journal) -> tuple[ChangeState, Spans]:
    """The state, and the spans behind it: foreign bytes, or bytes that are not the new ones yet. Raises OSError.

    The spans are within the current file.
    """
    edit, size = journal.edit, file.size
    low, high = sorted((edit.old_size, edit.new_size))
    if not low <= size <= high or (journal.dropped is None and size not in (low, high)):
        return ChangeState.OTHER_FILE, ()
    all_old, all_new = size == edit.old_size, size == edit.new_size
    foreign: list[Span] = []
    ahead: list[Span] = []
    for run in _runs(file, journal):
        all_old &= run.now == run.old
        if run.now != run.new:
            ahead.append(Span(run.offset, run.offset + len(run.now)))
            foreign += _foreign(run)
    if foreign:
        same = file.identity.inode == journal.identity.inode  # the device number may change on a new mount
        return (ChangeState.FOREIGN if same else ChangeState.OTHER_FILE), _merged(foreign)
    if all_new and not ahead:
        return ChangeState.FINISHED, ()
    return (ChangeState.NOT_BEGUN if all_old else ChangeState.MIXED), _merged(ahead)


def _runs(file: LockedFile, journal: Journal) -> Iterator[_TouchedRun]:
    """The bytes that the change touches, in pieces."""
    changes = [(patch.offset, patch.old, patch.new) for patch in journal.edit.patches]
    if journal.dropped:
        changes.append((journal.edit.dropped.start, journal.dropped, b""))
    for offset, old, new in changes:
        for at in range(0, max(len(old), len(new)), _COMPARED_BYTES):
            parts = old[at : at + _COMPARED_BYTES], new[at : at + _COMPARED_BYTES]
            now = read_all(file.disk, file.descriptor, max(map(len, parts)), offset + at)
            yield _TouchedRun(offset + at, *parts, now)


def _foreign(run: _TouchedRun) -> Iterator[Span]:
    """Spans of bytes that are neither old nor new; a crash may leave zeros where the file grows."""
    size = len(run.now)
    now = int.from_bytes(run.now, "little")

    def differing(other: bytes) -> int:
        wanted = int.from_bytes(other[:size], "little")
        return int.from_bytes((now ^ wanted).to_bytes(size, "little").translate(_DIFFERS), "little")

    neither = (differing(run.old) & differing(run.new)).to_bytes(size, "little")
    for found in _RUN.finditer(neither):
        yield Span(run.offset + found.start(), run.offset + found.end())


def _merged(spans: Iterable[Span]) -> Spans:
    return tuple(united(span for span in spans if span.size))


# ---- redo and undo: either may run from any state between old and new


def old_bytes(journal: Journal) -> Iterable[tuple[int, bytes]]:
    """Offsets and old bytes that the journal has."""
    for patch in journal.edit.patches:
        yield patch.offset, patch.old
    if journal.dropped:
        yield journal.edit.dropped.start, journal.dropped


def new_bytes(edit: Edit) -> Iterable[tuple[int, bytes]]:
    """Offsets and new bytes."""
    return ((patch.offset, patch.new) for patch in edit.patches)


def holds(file: LockedFile, size: int, runs: Iterable[tuple[int, bytes]]) -> bool:
    """Whether the file has this size and these bytes. Raises OSError."""
    return file.size == size and all(
        read_all(file.disk, file.descriptor, len(piece), offset + at) == piece
        for offset, data in runs
        for at in range(0, len(data), _COMPARED_BYTES)
        for piece in (data[at : at + _COMPARED_BYTES],)
    )


def redo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the new state, sync, and read it back. Raises OSError."""
    edit = journal.edit
    for offset, data in new_bytes(edit):
        write_all(file.disk, file.descriptor, data, offset)
    if file.size > edit.new_size:
        # Truncating may be irreversible, so everything else has to be on disk first.
        file.disk.sync(file.descriptor)
        file.disk.truncate(file.descriptor, edit.new_size)
    file.disk.sync(file.descriptor)
    _verify(holds(file, edit.new_size, new_bytes(edit)))


def undo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the old state, sync, and read it back. Raises OSError.

    If the journal lacks the dropped bytes, the file must still have them.
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
    _verify(holds(file, edit.old_size, old_bytes(journal)))


def _verify(good: bool) -> None:
    if not good:
        raise OSError(errno.EIO, "The bytes read back are not those written")
