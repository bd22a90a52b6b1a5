"""Which state a file is in that a journal is for, judged byte by byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from inspector.core.span import Span, Spans
from inspector.sources.local.disk_calls import read_all
from inspector.sources.local.journal import Journal
from inspector.sources.local.locked_file import LockedFile

_COMPARED = 1 << 20
"""Bytes compared at a time."""

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
        for at in range(0, max(len(old), len(new)), _COMPARED):
            parts = old[at : at + _COMPARED], new[at : at + _COMPARED]
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
