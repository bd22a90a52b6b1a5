"""The session of a bucket browser: listing buckets and prefixes, and downloading objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import SourceError
from inspector.operations.create.inputs import ObjectInput, objects_at
from inspector.operations.extract.selection import parts_of, refusal, with_number
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.operations.session.remote import Connecting
from inspector.sources.local.member_writer import Destination, Existing, PlaceError
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.request_log import RequestLog

if TYPE_CHECKING:
    from inspector.sources.s3.responses import Page

_MAX_COPIES = 1_000
"""Numbered names tried for a file whose name exists already."""


class Browser(Connecting):
    """Answers BrowseRequests, in any order. Lists only what was requested."""

    def __init__(self) -> None:
        self._log = RequestLog()

    def buckets(self, progress: Progress, connection: Connection) -> RemotePage:
        """All buckets; raises SourceError."""
        from inspector.sources.s3.client import client_for

        progress.begin("Listing buckets", 0, "buckets")
        with cancelling(progress):
            names = client_for(connection).buckets(self._log)
        entries = tuple(RemoteEntry(EntryKind.BUCKET, visible(name), Address(name, "").location) for name in names)
        return RemotePage(entries, "", self._log.totals)

    def page(self, progress: Progress, connection: Connection, location: str, after: str) -> RemotePage:
        """The page of a prefix with the token ``after``, the first one if that is empty; raises SourceError."""
        from inspector.sources.s3.client import client_for

        address = parse(location)
        progress.begin("Listing", 0, "entries")
        with cancelling(progress):
            page = client_for(connection).list(address.bucket, address.prefix, self._log, after=after)
        return RemotePage(tuple(_entries(address, page)), page.following, self._log.totals)

    def download(self, progress: Progress, connection: Connection, locations: tuple[str, ...], folder: str) -> str:
        """Download objects and everything under prefixes into a folder; each file appears when it is complete.

        Existing files stay: a new file gets a number. Raises OperationError for unusable names before anything is
        written, and SourceError and Cancelled; complete files stay.
        """
        progress.begin("Listing", 0, "objects")
        wanted = [each for location in locations for each in _wanted(location, connection, progress)]
        for each in wanted:
            if words := refusal(each.name):
                raise OperationError(f"Nothing was downloaded: the name {visible(each.name)} {words}.")
        progress.begin("Downloading", sum(each.size for each in wanted))
        with Destination(Path(folder)) as destination:
            for each in wanted:
                _write(destination, each, progress)
        size = rounded(sum(each.size for each in wanted))
        return f"{count(len(wanted), 'file')}, {size}, written to {visible(folder)}."


def _entries(address: Address, page: Page) -> list[RemoteEntry]:
    start = len(address.prefix)
    found = [
        RemoteEntry(EntryKind.PREFIX, visible(each[start:].removesuffix("/")), Address(address.bucket, each).location)
        for each in page.prefixes
    ]
    found += [
        RemoteEntry(
            EntryKind.OBJECT,
            visible(key[start:]),
            Address(address.bucket, key).location,
            head.size,
            head.modified,
        )
        for key, head in page.objects.items()
        if key != address.prefix  # some tools create an empty object for a folder
    ]
    return found


def _wanted(location: str, connection: Connection, progress: Progress) -> list[ObjectInput]:
    """The objects at a location; names of those under a prefix start with its last part."""
    found = [each for each in objects_at(location, connection, progress) if not each.name.endswith(b"/")]
    if not location.endswith("/"):
        return found
    parts = [*filter(None, location.split("/"))]
    own = parts[-1].encode("utf-8", "surrogateescape") + b"/"
    return [
        ObjectInput(own + each.name, each.size, each.modified, each.where, each.opening, each.progress)
        for each in found
    ]


def _write(destination: Destination, wanted: ObjectInput, progress: Progress) -> None:
    parts = parts_of(wanted.name)
    try:
        parts = _free(destination, parts)
        part = destination.part(parts)
        try:
            for piece in wanted.pieces():
                part.write(piece)
                progress.advance(len(piece))
            changed = None if wanted.modified is None else wanted.modified // 1_000_000_000
            part.keep(parts[-1], replace=False, changed=changed)
        finally:
            part.drop()
    except PlaceError as error:
        raise SourceError(f"{visible(wanted.name)} cannot be written: {error}. Nothing of it was kept.") from error


def _free(destination: Destination, parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """A path that does not exist yet. Raises PlaceError."""
    if destination.look(parts) is Existing.NOTHING:
        return parts
    for number in range(2, _MAX_COPIES):
        other = (*parts[:-1], with_number(parts[-1], number))
        if destination.look(other) is Existing.NOTHING:
            return other
    raise PlaceError("files with that name and too many numbered copies exist already")
