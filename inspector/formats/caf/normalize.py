"""Bytes of a lenient JSON document that can become spaces: it is strict then, and nothing has moved (RFC 8259)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

_MARK = b"\xef\xbb\xbf"
_STRING_OR_COMMA = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*"|,(?=[ \t\n\r]*+[}\]])', re.DOTALL)
"""Strings are passed as a whole: what stands in them is no syntax."""


def needless_bytes(data: bytes) -> Sequence[int]:
    """Where a byte order mark and the commas after a last element stand in a document that can be followed."""
    found = array("Q", range(len(_MARK)) if data.startswith(_MARK) else ())
    found.extend(match.start() for match in _STRING_OR_COMMA.finditer(data) if match[0] == b",")
    return found
