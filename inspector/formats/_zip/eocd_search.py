"""End records that stand further from the end of the file than any comment reaches: found from the members on.

APPNOTE.TXT 4.3.6 puts them right behind the central directory, and that right behind the members.
"""

from __future__ import annotations

from itertools import islice

from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.formats._zip.directory import MOST_MEMBERS, headers
from inspector.formats._zip.eocd import REACH, Ending, ending_at, report_not_at_end
from inspector.formats._zip.records import END, END_SIZE, ZIP64_END, ZIP64_LOCATOR, ZIP64_LOCATOR_SIZE
from inspector.formats._zip.scan import local_files

_STEP = 1024
_BEFORE_REST = 12
"""Bytes of a ZIP64 end record up to and with the size of the rest of it."""


def ending_behind_members(source: Source, progress: Progress) -> Ending | None:
    """The end records behind the local files from the start of the file on; None where they are not whole.

    Raises SourceError and Cancelled.
    """
    if source.size <= REACH:
        return None  # whoever looked at the end has seen all of it
    progress.begin("Following local headers", source.size)
    stop = 0
    for number, found in enumerate(islice(local_files(source, 0), MOST_MEMBERS)):
        stop = found.stop
        if number % _STEP == 0:
            progress.advance(min(stop, source.size) - progress.done)
    ending = ending_behind(source, stop)
    if ending is not None:
        report_not_at_end(source, ending, [ending.record.start])
    return ending


def ending_behind(source: Source, start: int) -> Ending | None:
    """The end records of the central directory at ``start``; None where it or they are not whole."""
    at = start
    for *_, at in headers(source, start, source.size):  # noqa: B007 - the last end is what is wanted
        pass
    wide = source.read(at, _BEFORE_REST)
    if wide[:4] == ZIP64_END and len(wide) == _BEFORE_REST:
        at += _BEFORE_REST + int.from_bytes(wide[4:], "little")
        at += ZIP64_LOCATOR_SIZE if source.read(at, 4) == ZIP64_LOCATOR else 0
    record = source.read(at, END_SIZE)
    if record[:4] != END or len(record) < END_SIZE:
        return None
    ending = ending_at(source, at)
    return ending if ending.consistent and not ending.distance and ending.directory == (start, ending.anchor) else None
