"""When a ZIP member was changed: the extended timestamp (Info-ZIP, 0x5455) or the DOS date (APPNOTE.TXT 4.4.6)."""

from __future__ import annotations

from datetime import datetime

from inspector.core.archive import Archive
from inspector.core.format import Traits
from inspector.formats._zip.extra import records
from inspector.formats._zip.scan import read_local

_TIMESTAMP = 0x5455
_HAS_CHANGED = 1


def traits(archive: Archive, index: int) -> Traits:
    """See Format.traits. A DOS date knows no time zone: it is taken for one of the zone here, as it mostly was."""
    local = read_local(archive.source, archive.members[index].head)
    if local is None:
        return Traits()
    header, _, extra = local
    for record in records(extra):
        if record.identifier == _TIMESTAMP and record.stop - record.start >= 5 and extra[record.start] & _HAS_CHANGED:
            seconds = extra[record.start + 1 : record.start + 5]
            return Traits(changed=int.from_bytes(seconds, "little", signed=True))
    date, time = header.date, header.time
    try:
        day = datetime(1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, time % 32 * 2)  # noqa: DTZ001
        return Traits(changed=int(day.timestamp()))
    except (ValueError, OverflowError, OSError):
        return Traits()
