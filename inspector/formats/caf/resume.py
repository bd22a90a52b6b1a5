"""Where reading an index can go on behind damage (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

import re

_S = rb"[ \t\n\r]*+"
_BEHIND_NAME = re.compile(rb'"' + _S + rb":" + _S + rb"\{" + _S + rb'"(?:start|end)_byte"')
_NEXT = re.compile(rb"\}" + _S + rb"," + _S + rb'(?=")')


def first_entry(data: bytes, since: int = 0) -> int | None:
    """Where the first entry at or behind ``since`` begins that is unmistakable: a name, a brace and one of its keys.

    It is the same whether what stands before it is read as inside or as outside of a string.
    """
    for behind in _BEHIND_NAME.finditer(data, since):
        start = _opening_quote(data, since, behind.start())
        if start is not None:
            return start
        since = behind.end()
    return None


def _opening_quote(data: bytes, low: int, stop: int) -> int | None:
    """The last quote in ``[low, stop)`` that no backslash escapes."""
    while (at := data.rfind(b'"', low, stop)) >= 0:
        first = at
        while first > low and data[first - 1] == ord("\\"):
            first -= 1
        if not (at - first) % 2:
            return at
        stop = first
    return None


class Resumption:
    """Finds the next entry behind one damage after another, looking at every byte of ``data`` a few times at most."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ahead = -1

    def entry(self, since: int, at: int) -> int | None:
        """Where the next entry begins; None where there is none.

        ``since`` is where an unmistakable entry may begin, ``at`` is where the index could not be followed.
        """
        if self._ahead < since:
            found = first_entry(self._data, since)
            self._ahead = len(self._data) if found is None else found
        near = _NEXT.search(self._data, at, self._ahead)
        if near is not None:
            return near.end()
        return self._ahead if self._ahead < len(self._data) else None
