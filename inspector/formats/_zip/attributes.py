"""What external attributes make of a member: APPNOTE.TXT 4.4.15, with the file modes of UNIX in the upper half."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.capped_findings import CappedFindings
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, Codec
from inspector.core.names import visible
from inspector.core.source import Source, is_sparing
from inspector.formats._zip.reading import content, stored_pieces

_UNIX = frozenset((3, 19))
"""Systems whose attributes are a mode: UNIX and OS X."""
_EXTENSION = 0x8000
"""A bit of the lower half by which 7-Zip says that there is a mode, whatever the system."""
_PLAIN_TYPES = frozenset((0, 4, 8))
"""No type, folder, regular file."""
_LINK = 10
_TYPES = {1: "FIFO", 2: "character device", 6: "block device", _LINK: "symbolic link", 12: "socket"}
_SET_ID = 0x0C00_0000
"""The two bits that let a program run as its owner or group."""
_LONGEST_TARGET = 4096


def is_ordinary(external: int) -> bool:
    """Whether nothing has to be said of the attributes, found fast."""
    return external >> 28 in _PLAIN_TYPES and not external & _SET_ID


class Attributes:
    """Looks at attributes that are not ordinary."""

    def __init__(self, source: Source, emitter: Emitter) -> None:
        self._source = source
        self._emitter = emitter
        self._special = CappedFindings(emitter, Severity.INFO, "zip-special", "links, devices and the like")
        self._set_id = CappedFindings(
            emitter, Severity.INFO, "zip-set-id", "members with a set-user-ID or set-group-ID bit"
        )

    def look(self, made_by: int, external: int, start: int, member: int) -> None:
        """Mark and report ``member``, whose central directory header begins at ``start``."""
        if made_by >> 8 not in _UNIX and not external & _EXTENSION:
            return
        place = ((start + 38, start + 42),)
        name = visible(self._emitter.members.path(member))
        kind = _TYPES.get(external >> 28)
        if kind is not None:
            marks = self._emitter.members.marks
            assert marks is not None
            marks[member] |= SPECIAL
            if not self._special.full():
                target = self._target(member) if external >> 28 == _LINK else ""
                message = f"{name} is a {kind}{target}, no plain file: it is listed, and not to be made on a disk."
                self._special.add(message, place, member)
        if external & _SET_ID and not self._set_id.full():
            message = (
                f"The permissions of {name} ({external >> 16 & 0o7777:o}) would let it run with the rights of its "
                "owner or group; whoever unpacks it should not restore them."
            )
            self._set_id.add(message, place, member)

    def close(self) -> None:
        """Report how many were only counted."""
        self._special.close()
        self._set_id.close()

    def _target(self, index: int) -> str:
        """Where a link leads, which is its content; nothing where that cannot be read."""
        member = self._emitter.members[index]
        if (
            is_sparing(self._source)
            or not member.readable
            or member.codec is Codec.UNKNOWN
            or max(member.size, member.stored) > _LONGEST_TARGET
        ):
            return ""
        try:
            return f" to {visible(b''.join(content(member, stored_pieces(self._source, member))))}"
        except MemberError:
            return ""
