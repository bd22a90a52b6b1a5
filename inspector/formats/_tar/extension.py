r"""Extended headers: PAX records (POSIX.1-2017, pax Interchange Format) and GNU long names.

A record is ``LENGTH KEY=VALUE\n``; LENGTH is decimal and counts the whole record, itself included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from inspector.formats._tar.header import GNU_LINK, GNU_NAME, text

CAP = 1024 * 1024
"""The largest body of an extended header that is read, in bytes."""

_PLACES = {b"path", b"linkpath", b"size"}
_NAMES = (b"GNU.sparse.name", b"path")
_SIZES = (b"GNU.sparse.realsize", b"GNU.sparse.size")


class Record(NamedTuple):
    """One PAX record: its bytes are ``[start, stop)`` of the body; ``equals`` is where its key ends."""

    start: int
    stop: int
    key: bytes
    value: bytes


def records(body: bytes) -> Iterator[Record]:
    """The records of a PAX body; ends before the first that is malformed."""
    at = 0
    while at < len(body):
        space = body.find(b" ", at, at + 20)
        digits = body[at:space] if space > at else b""
        if not digits.isdigit():
            return
        stop = at + int(digits)
        key, equals, value = body[space + 1 : stop - 1].partition(b"=")
        if stop > len(body) or body[stop - 1 : stop] != b"\n" or not key or not equals:
            return
        yield Record(at, stop, key, value)
        at = stop


@dataclass(slots=True)
class Overrides:
    """What extended headers say about the member after them."""

    name: bytes | None = None
    link: bytes | None = None
    pax: dict[bytes, bytes] = field(default_factory=dict)

    def take(self, typeflag: bytes, body: bytes) -> str:
        """Learn from one extended header; the answer is what is wrong with it, empty where nothing is."""
        if typeflag in (GNU_NAME, GNU_LINK):
            if typeflag == GNU_NAME:
                self.name = text(body)
            else:
                self.link = text(body)
            return "" if b"\0" in body else "its name has no NUL at the end"
        done = 0
        wrong = ""
        for record in records(body):
            done = record.stop
            self.pax[record.key] = record.value
            if record.key in (b"path", b"linkpath") and b"\0" in record.value:
                wrong = f"its {record.key.decode()} has a NUL in it"
            if record.key == b"size" and not (record.value.isdigit() and len(record.value) < 20):
                wrong = "its size is no decimal number, so the header's own is taken"
        return wrong if done == len(body) else f"its record at byte {done:,} of the body is malformed"

    @property
    def silent(self) -> bool:
        """Whether nothing here changes where members lie or what they are called."""
        return self.name is None and self.link is None and not (self.sparse or self.pax.keys() & _PLACES)

    @property
    def sparse(self) -> bool:
        """Whether PAX records call the member sparse."""
        return any(key.startswith(b"GNU.sparse.") for key in self.pax)

    def path(self, own: bytes) -> bytes:
        """The member's name where its header says ``own``."""
        return next((self.pax[key] for key in _NAMES if self.pax.get(key)), self.name or own)

    def target(self, own: bytes) -> bytes:
        """The link's target where the header says ``own``."""
        return self.pax.get(b"linkpath") or self.link or own

    def size(self, own: int | None) -> int | None:
        """The size of the stored data in bytes, where the header says ``own``."""
        size = _decimal(self.pax.get(b"size"))
        return own if size is None else size

    def expanded(self, stored: int) -> int:
        """The size of a sparse member with its holes, ``stored`` where none is recorded."""
        sizes = (_decimal(self.pax.get(key)) for key in _SIZES)
        return next((size for size in sizes if size is not None), stored)


def _decimal(value: bytes | None) -> int | None:
    return int(value) if value is not None and value.isdigit() and len(value) < 20 else None
