"""An object on S3 as a Source: read by ranges, every answer compared with what was opened."""

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
from inspector.sources.s3.cache import BlockCache, gathered
from inspector.sources.s3.cancelling import cancelling, look
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger, Why
from inspector.sources.s3.responses import Asked, Head, Seen
from inspector.sources.s3.sentences import S3Error, replaced
from inspector.sources.s3.siblings import Beside

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client

TAIL = 1 << 20
"""Bytes of the first request for an object whose index is at its end; a directory of 10,000 members fits."""
FIRST = 256 << 10
"""Bytes of the first request for an object that is read from its beginning."""
LARGEST_WHOLE = 8 << 20
"""The largest object that is taken from a server that knows no ranges, in bytes."""
_TRIES = 3
"""How often bytes are asked for when the connection breaks off in the middle of them."""

_DENIED, _MISSING, _NOT_AS_BEFORE, _NO_SUCH_RANGE = 403, 404, 412, 416
_BROKEN_OFF = ("IncompleteReadError", "ResponseStreamingError", "ConnectionClosedError")


class S3Source:
    """One object. Size, ``etag`` and ``version`` are those at opening, and hold for all that is read.

    ``sparing``: decoders leave out what would cost a request for each member. ``replaced``: another object has taken
    its place, so that nothing more can be read of it. ``ledger`` has every request, also of what stands beside it.
    """

    def __init__(
        self, client: Client, address: Address, head: Head, ledger: Ledger, beside: Beside, *, sparing: bool = False
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
        """See Source.read; raises Cancelled, too, where ``cancelling`` says so."""
        return self._cache.read(offset, length)

    @property
    def connection(self) -> Connection:
        """How the server is reached."""
        return self._client.connection

    def expect(self, start: int, stop: int) -> None:
        """The bytes ``[start, stop)`` are about to be read."""
        self._cache.expect(start, stop)

    def gather(self, spans: Sequence[Span]) -> Iterator[bytes]:
        """See ``core.source.gather``; of what comes, only whole blocks are kept.

        Whoever wants a single span is likely to read on behind it, so that it comes with its blocks.
        """
        if len(spans) == 1:
            return iter((self.read(spans[0].start, spans[0].size),))
        return gathered([span.clipped(0, self.size) for span in spans], self._apart, look)

    def _apart(self, span: Span, ending: Progress) -> bytes:
        """Bytes that are asked for as they are, unless they are kept already."""
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
        """Keep bytes of it that came with another answer."""
        self._cache.put(start, data)

    def kept_crc32(self) -> int | None:
        """The CRC-32 of all its bytes that the server keeps; None where it keeps none. Raises SourceError."""
        return self._client.kept_crc32(self.address, self._head, self.ledger)

    def afresh(self) -> S3Source:
        """The same object, with nothing of it kept."""
        return S3Source(self._client, self.address, self._head, self.ledger, self._beside, sparing=self.sparing)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling; without a listing at hand, the first call makes one."""
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
            head, data = _asked(self._client, self.address, Asked(start, stop), self._head, self.ledger, Why.READING)
        except S3Error as error:
            if error.status == _DENIED and self._head.version:
                # Reading a version takes a right of its own; the ETag still says whether it is the same object.
                self._head = replace(self._head, version="")
                return self._fetch(start, stop)
            self.replaced = error.status == _NOT_AS_BEFORE
            raise
        return self._checked(head, data, start, stop)

    def _checked(self, head: Head, data: bytes, start: int, stop: int) -> bytes:
        """The bytes of an answer that are those asked for, of the object that was opened. Raises SourceError."""
        if (self.etag and head.etag and head.etag != self.etag) or (0 <= head.size != self.size):
            self.replaced = True
            raise self._was_replaced()
        if not head.partial:
            return _of_whole(self.address, head, data)[start:stop]
        if (head.start, head.stop) != (start, stop) or len(data) != stop - start:
            raise _wrong_range(self.address, start, stop, head)
        return data

    def _was_replaced(self) -> S3Error:
        return S3Error(replaced(self.name), _NOT_AS_BEFORE, "PreconditionFailed")


def open_object(
    client: Client, address: Address, ledger: Ledger, *, tail: bool = True, sparing: bool = False
) -> S3Source:
    """The object at ``address``. Its first bytes or, for ``tail``, its last come with the one request this takes.

    Raises S3Error; of an object that is not there, its status is 404.
    """
    beside = Beside(client, ledger)
    asked = Asked(-TAIL) if tail else Asked(0, FIRST)
    try:
        head, data = _asked(client, address, asked, None, ledger, Why.OPENING)
    except S3Error as error:
        if error.status != _NO_SUCH_RANGE:
            raise
        # An empty object has no range to give.
        head = client.head(address, ledger, Why.OPENING)
        return S3Source(client, address, head, ledger, beside, sparing=sparing)
    known = head
    if head.size < 0:
        known = client.head(address, ledger, Why.OPENING)
    if known.size < 0:
        raise S3Error(
            f"The server does not say how many bytes {visible(address.location)} has, so nothing of it can be found. "
            "Download the object, and open it here."
        )
    source = S3Source(client, address, known, ledger, beside, sparing=sparing)
    if not head.partial:
        source.put(0, _of_whole(address, head, data))
    elif head.etag == known.etag and head.stop - head.start == len(data) and _is_wanted(head, known.size, tail):
        source.put(head.start, data)
    source.sparing = sparing and source.cached() != (Span(0, head.size),)  # of a small one, all is there already
    return source


def listed_object(client: Client, address: Address, ledger: Ledger, *, sparing: bool = False) -> S3Source | None:
    """The object at ``address`` where a listing has it, with what stands beside it; nothing of it is read.

    Raises S3Error.
    """
    beside = Beside(client, ledger)
    head = beside.listed_near(address)
    if head is None:
        return None
    source = S3Source(client, address, head, ledger, beside, sparing=sparing)
    source.expect(0, FIRST)
    return source


def seen_object(client: Client, address: Address, seen: Seen, ledger: Ledger, *, tail: bool) -> S3Source | None:
    """The object at ``address`` as a listing told of it, and its first or last bytes; None where it is not there so.

    Raises S3Error.
    """
    beside = Beside(client, ledger)
    beside.add_seen(address, seen)
    source = S3Source(client, address, seen.head, ledger, beside)
    start = max(0, source.size - TAIL) if tail else 0
    source.expect(start, source.size if tail else FIRST)
    try:
        source.read(start, 1)
    except S3Error as error:
        if error.status in (_MISSING, _NOT_AS_BEFORE):
            return None
        raise
    return source


def _asked(
    client: Client, address: Address, asked: Asked, known: Head | None, ledger: Ledger, why: Why
) -> tuple[Head, bytes]:
    """An answer and its body; what breaks off is asked for again. Raises S3Error and Cancelled."""
    for left in reversed(range(_TRIES)):
        data = bytearray()
        try:
            head = client.get(address, asked, known, data, ledger, why, look, LARGEST_WHOLE)
        except S3Error as error:
            if error.code not in _BROKEN_OFF or not left:
                raise
        else:
            return head, bytes(data)
    raise AssertionError("the last try returns or raises")


def _is_wanted(head: Head, size: int, tail: bool) -> bool:
    """Whether a range of an object of ``size`` bytes is the one asked for: some servers give a wrong end."""
    if tail:
        return head.start == max(0, size - TAIL) and head.stop == size
    return head.start == 0 and head.stop == min(FIRST, size)


def _of_whole(address: Address, head: Head, data: bytes) -> bytes:
    if len(data) != head.size:
        raise S3Error(
            f"The server ignores ranges: it would send all {in_bytes(head.size)} of {visible(address.location)} for "
            "every piece of it, so nothing is read. Download the object, and open it here."
        )
    return data


def _wrong_range(address: Address, start: int, stop: int, head: Head) -> S3Error:
    if head.stop <= head.start:
        return S3Error(
            f"The server does not say which bytes of {visible(address.location)} it answered with, where it was asked "
            f"for [{start:,}, {stop:,}). Nothing of that answer is used."
        )
    return S3Error(
        f"The server answered with other bytes of {visible(address.location)} than it was asked for: [{head.start:,}, "
        f"{head.stop:,}) instead of [{start:,}, {stop:,}). Nothing of that answer is used."
    )
