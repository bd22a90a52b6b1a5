"""An object on S3 as a Source: read by ranges, each response checked against the opened object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.sources.s3.address import Address
from inspector.sources.s3.cache import BlockCache, read_spans
from inspector.sources.s3.cancelling import cancelling, check_cancelled
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger, Why
from inspector.sources.s3.responses import ByteRange, Head, Seen
from inspector.sources.s3.sentences import S3Error, replaced
from inspector.sources.s3.siblings import Siblings

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client

TAIL_BYTES = 1 << 20
"""First request for an object with its index at the end; enough for a directory of 10,000 members."""
FIRST_BYTES = 256 << 10
"""First request for an object that is read from its start."""
MAX_WHOLE_BYTES = 8 << 20
"""The largest object that is read from a server without ranges."""
_TRIES = 3
"""Attempts if the connection breaks in the middle of a response."""

_DENIED, _MISSING, _NOT_AS_BEFORE, _NO_SUCH_RANGE = 403, 404, 412, 416
_BROKEN_OFF = ("IncompleteReadError", "ResponseStreamingError", "ConnectionClosedError")


class S3Source:
    """One object. Size, ``etag`` and ``version`` are those at opening, and are enforced for all reads.

    ``sparing``: decoders skip what would cost a request for each member. ``replaced``: another object has its key now,
    so nothing more can be read. ``ledger`` has every request, those for siblings included.
    """

    def __init__(
        self, client: Client, address: Address, head: Head, ledger: Ledger, beside: Siblings, *, sparing: bool = False
    ) -> None:
        self.address = address
        self.name = address.location
        self.size = head.size
        self.etag = head.etag
        self.version = head.version
        self.modified = head.modified
        self.ledger = ledger
        self.sparing = sparing
        self.replaced = False
        self._client = client
        self._head = head
        self._beside = beside
        self._cache = BlockCache(head.size, self._fetch, beside.blocks)

    def read(self, offset: int, length: int) -> bytes:
        """Also raises Cancelled, see ``cancelling``."""
        return self._cache.read(offset, length)

    @property
    def connection(self) -> Connection:
        """The connection settings."""
        return self._client.connection

    def expect(self, start: int, stop: int) -> None:
        """Announce that ``[start, stop)`` will be read soon."""
        self._cache.expect(start, stop)

    def gather(self, spans: Sequence[Span]) -> Iterator[bytes]:
        """See ``core.source.gather``; only complete blocks are cached.

        After a single span, reading probably continues, so it is read with its blocks.
        """
        if len(spans) == 1:
            return iter((self.read(spans[0].start, spans[0].size),))
        return read_spans([span.clipped(0, self.size) for span in spans], self._apart, check_cancelled)

    def _apart(self, span: Span, ending: Progress) -> bytes:
        """The exact bytes, from the cache or by one request."""
        if any(kept.start <= span.start and span.stop <= kept.stop for kept in self.cached()) or not span.size:
            return self._cache.read(span.start, span.size)
        with cancelling(ending):
            data = self._fetch(span.start, span.stop)
        self.put(span.start, data)
        return data

    def cached(self) -> Spans:
        """The spans that can be read without a request."""
        return self._cache.spans()

    def put(self, start: int, data: bytes) -> None:
        """Cache bytes of it that came with another response."""
        self._cache.put(start, data)

    def kept_crc32(self) -> int | None:
        """The CRC-32 of all its bytes that the server stores, or None. Raises SourceError."""
        return self._client.kept_crc32(self.address, self._head, self.ledger)

    def afresh(self) -> S3Source:
        """The same object with an empty cache."""
        return S3Source(self._client, self.address, self._head, self.ledger, self._beside, sparing=self.sparing)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """The first call makes a listing unless there is one."""
        if not self.address.key.endswith(instead_of):
            return None
        address = Address(self.address.bucket, self.address.key.removesuffix(instead_of) + suffix)
        head = self._beside.find(address, self.address)
        if head is None:
            return None
        found = self._beside.sources.get(address)
        if found is None:
            found = S3Source(self._client, address, head, self.ledger, self._beside, sparing=self.sparing)
            self._beside.sources[address] = found
        return found

    def _fetch(self, start: int, stop: int) -> bytes:
        """The bytes ``[start, stop)``, all of them. Raises SourceError and Cancelled."""
        if self.replaced:
            raise self._was_replaced()
        try:
            head, data = _get_with_retries(
                self._client, self.address, ByteRange(start, stop), self._head, self.ledger, Why.READING
            )
        except S3Error as error:
            if error.status == _DENIED and self._head.version:
                # Reading a version needs a separate permission; the ETag still identifies the object.
                self._head = replace(self._head, version="")
                return self._fetch(start, stop)
            self.replaced = error.status == _NOT_AS_BEFORE
            raise
        return self._checked(head, data, start, stop)

    def _checked(self, head: Head, data: bytes, start: int, stop: int) -> bytes:
        """The requested bytes from a response, verified to be of the opened object. Raises SourceError."""
        if (self.etag and head.etag and head.etag != self.etag) or (0 <= head.size != self.size):
            self.replaced = True
            raise self._was_replaced()
        if not head.partial:
            return _whole_body(self.address, head, data)[start:stop]
        if (head.start, head.stop) != (start, stop) or len(data) != stop - start:
            raise _wrong_range(self.address, start, stop, head)
        return data

    def _was_replaced(self) -> S3Error:
        return S3Error(replaced(self.name), _NOT_AS_BEFORE, "PreconditionFailed")


def open_object(
    client: Client, address: Address, ledger: Ledger, *, tail: bool = True, sparing: bool = False
) -> S3Source:
    """Open the object at ``address`` with one request, which also fetches its first, or for ``tail`` its last bytes.

    Raises S3Error, with status 404 if there is no such object.
    """
    beside = Siblings(client, ledger)
    asked = ByteRange(-TAIL_BYTES) if tail else ByteRange(0, FIRST_BYTES)
    try:
        head, data = _get_with_retries(client, address, asked, None, ledger, Why.OPENING)
    except S3Error as error:
        if error.status != _NO_SUCH_RANGE:
            raise
        # An empty object has no ranges.
        head = client.head(address, ledger, Why.OPENING)
        return S3Source(client, address, head, ledger, beside, sparing=sparing)
    known = head
    if head.size < 0:
        known = client.head(address, ledger, Why.OPENING)
    if known.size < 0:
        raise S3Error(
            f"The server does not report the size of {visible(address.location)}, so it cannot be read by ranges. "
            "Download the object, and open it here."
        )
    source = S3Source(client, address, known, ledger, beside, sparing=sparing)
    if not head.partial:
        source.put(0, _whole_body(address, head, data))
    elif (
        head.etag == known.etag and head.stop - head.start == len(data) and _is_requested_range(head, known.size, tail)
    ):
        source.put(head.start, data)
    source.sparing = sparing and source.cached() != (Span(0, head.size),)  # a small object is complete already
    return source


def listed_object(client: Client, address: Address, ledger: Ledger, *, sparing: bool = False) -> S3Source | None:
    """The object at ``address`` if it is in a new listing, with its siblings; reads no bytes. Raises S3Error."""
    beside = Siblings(client, ledger)
    head = beside.listed_near(address)
    if head is None:
        return None
    source = S3Source(client, address, head, ledger, beside, sparing=sparing)
    source.expect(0, FIRST_BYTES)
    return source


def seen_object(client: Client, address: Address, seen: Seen, ledger: Ledger, *, tail: bool) -> S3Source | None:
    """The object at ``address`` as listed, with its first or last bytes; None if it was replaced or removed.

    Raises S3Error.
    """
    beside = Siblings(client, ledger)
    beside.add_seen(address, seen)
    source = S3Source(client, address, seen.head, ledger, beside)
    start = max(0, source.size - TAIL_BYTES) if tail else 0
    source.expect(start, source.size if tail else FIRST_BYTES)
    try:
        source.read(start, 1)
    except S3Error as error:
        if error.status in (_MISSING, _NOT_AS_BEFORE):
            return None
        raise
    return source


def _get_with_retries(
    client: Client, address: Address, asked: ByteRange, known: Head | None, ledger: Ledger, why: Why
) -> tuple[Head, bytes]:
    """A response and its body; retried if the connection breaks. Raises S3Error and Cancelled."""
    for left in reversed(range(_TRIES)):
        data = bytearray()
        try:
            head = client.get(address, asked, known, data, ledger, why, check_cancelled, MAX_WHOLE_BYTES)
        except S3Error as error:
            if error.code not in _BROKEN_OFF or not left:
                raise
        else:
            return head, bytes(data)
    raise AssertionError("the last try returns or raises")


def _is_requested_range(head: Head, size: int, tail: bool) -> bool:
    """Whether the range is the requested one of ``size`` bytes: some servers return a wrong end."""
    if tail:
        return head.start == max(0, size - TAIL_BYTES) and head.stop == size
    return head.start == 0 and head.stop == min(FIRST_BYTES, size)


def _whole_body(address: Address, head: Head, data: bytes) -> bytes:
    if len(data) != head.size:
        raise S3Error(
            f"The server ignores ranges: it would send all {in_bytes(head.size)} of {visible(address.location)} for "
            "every request, so nothing is read. Download the object, and open it here."
        )
    return data


def _wrong_range(address: Address, start: int, stop: int, head: Head) -> S3Error:
    if head.stop <= head.start:
        return S3Error(
            f"The server does not say which bytes of {visible(address.location)} it sent when asked for "
            f"[{start:,}, {stop:,}). The response is not used."
        )
    return S3Error(
        f"The server sent other bytes of {visible(address.location)} than requested: [{head.start:,}, {head.stop:,}) "
        f"instead of [{start:,}, {stop:,}). The response is not used."
    )
