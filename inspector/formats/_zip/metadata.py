"""When a ZIP member was changed: the extended timestamp (Info-ZIP, 0x5455) or the DOS date (APPNOTE.TXT 4.4.6)."""

from __future__ import annotations

from datetime import datetime

from inspector.core.archive import Archive
from inspector.core.format import MemberMetadata
from inspector.formats._zip.extra import records
from inspector.formats._zip.scan import read_local

_TIMESTAMP = 0x5455
_HAS_CHANGED = 1


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """Only the time of change. A DOS date has no time zone: it is taken as local time."""
    local = read_local(archive.source, archive.members[index].head)
    if local is None:
        return MemberMetadata()
    header, _, extra = local
    for record in records(extra):
        if record.identifier == _TIMESTAMP and record.stop - record.start >= 5 and extra[record.start] & _HAS_CHANGED:
            seconds = extra[record.start + 1 : record.start + 5]
            return MemberMetadata(changed=int.from_bytes(seconds, "little", signed=True))
    date, time = header.date, header.time
    try:
        day = datetime(1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, time % 32 * 2)  # noqa: DTZ001
        return MemberMetadata(changed=int(day.timestamp()))
    except (ValueError, OverflowError, OSError):
        return MemberMetadata()
