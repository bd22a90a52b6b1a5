r"""Extended headers: PAX records (POSIX.1-2017, pax Interchange Format) and GNU long names.

A record is ``LENGTH KEY=VALUE\n``; LENGTH is decimal and counts the whole record, itself included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from inspector.formats._tar.header import GNU_LINK, GNU_NAME, PAX_GLOBAL, text

CAP = 1024 * 1024
"""The largest body of an extended header that is read, in bytes."""

PLACES = frozenset((b"path", b"linkpath", b"size"))
"""The keys that say where a member lies or what it is called."""

SPARSE = b"GNU.sparse."
"""What the keys of sparse members begin with."""

EXTENT_KEYS = (SPARSE + b"offset", SPARSE + b"numbytes")
"""The keys that stand once for each extent of a sparse member, in the form 0.0 of its map."""

_NAMES = (b"GNU.sparse.name", b"path")
_SIZES = (b"GNU.sparse.realsize", b"GNU.sparse.size")
_HEEDED = PLACES | {SPARSE + key for key in (b"name", b"realsize", b"size", b"major", b"minor", b"map", b"numblocks")}


class Record(NamedTuple):
    """One PAX record: its bytes are ``[start, stop)`` of the body; ``key`` ends at the first equals sign."""

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
    """What extended headers say about the member after them.

    ``pax`` has only the keys that matter here, so that it stays small whatever the headers hold; ``sparse`` is whether
    records call the member sparse, ``extents`` are the values of EXTENT_KEYS in their order, with their keys.
    """

    name: bytes | None = None
    link: bytes | None = None
    pax: dict[bytes, bytes] = field(default_factory=dict)
    sparse: bool = False
    extents: list[tuple[bytes, bytes]] = field(default_factory=list)

    def following(self) -> Overrides:
        """What holds at first for a member where these are the global ones."""
        return Overrides(pax=dict(self.pax), sparse=self.sparse)

    def take(self, typeflag: bytes, body: bytes) -> None:
        """Learn from one extended header, as far as it is as specified."""
        if typeflag == GNU_NAME:
            self.name = text(body)
        elif typeflag == GNU_LINK:
            self.link = text(body)
        else:
            for record in records(body):
                if record.key in _HEEDED:
                    self.pax[record.key] = record.value
                if record.key.startswith(SPARSE):
                    self.sparse = True
                    # A map belongs to one member: in a global header it is none.
                    if record.key in EXTENT_KEYS and typeflag != PAX_GLOBAL:
                        self.extents.append((record.key, record.value))

    @property
    def silent(self) -> bool:
        """Whether nothing here changes where members lie or what they are called."""
        return self.name is None and self.link is None and not (self.sparse or self.pax.keys() & PLACES)

    def path(self, own: bytes) -> bytes:
        """The member's name where its header says ``own``."""
        return next((self.pax[key] for key in _NAMES if self.pax.get(key)), self.name or own)

    def target(self, own: bytes) -> bytes:
        """The link's target where the header says ``own``."""
        return self.pax.get(b"linkpath") or self.link or own

    def size(self, own: int | None) -> int | None:
        """The size of the stored data in bytes, where the header says ``own``."""
        size = decimal(self.pax.get(b"size"))
        return own if size is None else size

    def expanded(self, stored: int) -> int:
        """The size of a sparse member with its holes, ``stored`` where none is recorded."""
        sizes = (decimal(self.pax.get(key)) for key in _SIZES)
        return next((size for size in sizes if size is not None), stored)


def decimal(value: bytes | None) -> int | None:
    """The number of decimal digits below 10**19; None for anything else."""
    return int(value) if value is not None and value.isdigit() and len(value) < 20 else None
