"""How well-known files begin, to tell whether a member's content begins at some byte.

Only signatures of at least four bytes are here: random bytes look like one of them less than once in a hundred million
places.
"""

from __future__ import annotations

import re

HEAD_BYTES = 264
"""Bytes at the beginning of a file that decide."""

_SIGNATURE = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff[\xc0\xc4\xdb-\xfe]|GIF8[79]a|RIFF....(?:WEBP|WAVE|AVI )"
    rb"|II\*\0|MM\0\*|II\+\0\x08\0|MM\0\+\0\x08\0|\0\0\0\x0cjP  |....ftyp|\x1a\x45\xdf\xa3|OggS|fLaC"
    rb"|PK\x03\x04|PK\x05\x06|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|\xfd7zXZ\0|BZh[1-9](?:1AY&SY|\x17rE8)|\x28\xb5\x2f\xfd"
    rb"|\x1f\x8b\x08[\0-\x1f]....[\0\x02\x04][\0-\x0d\xff]|\x04\x22\x4d\x18|.{257}ustar"
    rb"|%PDF-|\{\\rtf|<\?xml |<!DOCTYPE |<html|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|SQLite format 3\0"
    rb"|PAR1|ARROW1\0\0|Obj\x01|\x89HDF\r\n\x1a\n|CDF[\x01\x02\x05]|\x93NUMPY|GRIB|SIMPLE  =|LASF|glTF"
    rb"|\x7fELF|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\0asm\x01",
    re.DOTALL,
)


def has_signature(head: bytes) -> bool:
    """Whether a file that begins with ``head`` (HEAD_BYTES of it, or all of a shorter one) is of a well-known kind."""
    return _SIGNATURE.match(head) is not None
