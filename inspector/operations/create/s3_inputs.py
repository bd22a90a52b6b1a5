"""Objects on S3 as inputs of a new archive: one, or all below a prefix. Their bytes are not cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from inspector.core.names import encoded, visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SourceError
from inspector.sources.s3.address import parse
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.opening import open_s3
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Head
from inspector.sources.s3.source import S3Source

MAX_PIECE_BYTES = 1 << 20


class ObjectInput(Struct, frozen=True):
    """An Input: one object; ``opening`` opens it as it was when found, ``progress`` can cancel its requests."""

    name: bytes
    size: int
    modified: int | None
    where: str
    opening: Callable[[], Source]
    progress: Progress

    def pieces(self) -> Iterator[bytes]:
        """See Input."""
        source, at = self.opening(), 0
        while at < self.size:
            with cancelling(self.progress):
                piece = source.read(at, MAX_PIECE_BYTES)
            if not piece:
                raise SourceError(f"{visible(self.where)} ends at byte {at:,}, but should have {in_bytes(self.size)}.")
            at += len(piece)
            yield piece


def objects_at(location: str, connection: Connection, progress: Progress) -> list[ObjectInput]:
    """The object at a location, named by the last part of its key, or all below it, sorted by the parts of their keys.

    Raises SourceError and Cancelled.
    """
    with cancelling(progress):
        found = open_s3(location, connection, sparing=False, tail=False)
        if isinstance(found, S3Source):
            progress.advance(1)
            return [_of(found, progress)]
        return sorted(_beneath(found, progress), key=lambda each: each.name.split(b"/"))


def _of(source: S3Source, progress: Progress) -> ObjectInput:
    name = encoded(source.address.key.rpartition("/")[2])
    return ObjectInput(name, source.size, _nanoseconds(source.modified), source.name, source.afresh().afresh, progress)


def _beneath(prefix: S3Prefix, progress: Progress) -> Iterator[ObjectInput]:
    start = len(parse(prefix.location).key)
    for location in prefix.beneath():
        head = prefix.known(location) or Head(0)
        progress.advance(1)
        name = encoded(parse(location).key[start:])
        opening = partial(prefix.open, location)
        yield ObjectInput(name, head.size, _nanoseconds(head.modified), location, opening, progress)


def _nanoseconds(seconds: float) -> int | None:
    return int(seconds * 1_000_000_000) or None
