"""The session of a bucket browser: listing buckets and prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.program.progress import Progress, cancelling
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.operations.session.remote import Connecting
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.request_log import RequestLog

if TYPE_CHECKING:
    from inspector.sources.s3.responses import Page


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
