"""An object as a Source: read by ranges, each response checked against the opened object."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.map_ordered import map_ordered
from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled
from inspector.core.source import HiddenError, Source
from inspector.core.span import Span
from inspector.sources.s3.address import Address, Place, parse
from inspector.sources.s3.cache import MAX_REQUEST_BYTES, BlockCache, Blocks, Flight, Take, in_thread
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.request_log import OPEN_END, RequestLog, Why
from inspector.sources.s3.responses import ByteRange, Head, Seen
from inspector.sources.s3.sentences import S3Error, replaced

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client
    from inspector.sources.s3.transport import Transport

TAIL_BYTES = 1 << 20
"""First request for an object with its index at the end; enough for a directory of 10,000 members."""
FIRST_BYTES = 256 << 10
"""First request for an object that is read from its start."""
MAX_WHOLE_BYTES = 8 << 20
"""The largest object that is read from a server without ranges."""
_TRIES = 3
"""Attempts if the connection breaks in the middle of a response."""
_MUCH_BYTES = 1 << 20
"""After so many bytes, breaks that came before do not count."""
_POLL_SECONDS = 0.1
_MAX_READ_ALONG_BYTES = 64 << 10
"""The largest gap that is read along, because a second request takes longer."""
_MAX_REQUESTS = 8
"""Concurrent requests for many spans, as many as pooled connections."""

_DENIED, _MISSING, _NOT_AS_BEFORE, _NO_SUCH_RANGE = 403, 404, 412, 416
_MD5 = re.compile(r'"?[0-9a-f]{32}(-[0-9]{1,5})?"?')
"""An ETag made of content: the MD5 of all bytes, or of those of its parts."""

_BROKEN_OFF = ("IncompleteReadError", "ResponseStreamingError", "ConnectionClosedError")


class HiddenObjectError(S3Error, HiddenError):
    """The server hides whether an object exists: without the right to list, S3 answers 403 for missing ones too."""


class Siblings:
    """Objects by address from the listings made so far; makes one if needed."""

    def __init__(self, client: Client, log: RequestLog) -> None:
        self._client = client
        self._log = log
        self.blocks = Blocks()
        """The cached bytes of all these objects."""
        self.sources: dict[Address, Source] = {}
        """Siblings that were opened, kept so that their cached bytes are reused."""
        self._known: dict[Address, Head | None] = {}
        self._hidden: dict[Address, HiddenObjectError] = {}
        self._failed: dict[Address, S3Error] = {}
        """Listings that failed, by prefix: what was decoded because of one must not be judged by a later one."""
        self._listed: dict[Address, str] = {}
        """Listed prefixes, and up to which key (empty: all)."""

    def add(self, bucket: str, objects: Mapping[str, Head]) -> None:
        self._known |= {Address(bucket, key): head for key, head in objects.items()}

    def add_seen(self, address: Address, seen: Seen) -> None:
        """Add an object and its siblings from a listing."""
        self._known[address] = seen.head
        self._known |= {parse(location): head for location, head in seen.beside}
        self._listed[Address(address.bucket, _stem(address.key))] = ""

    def listed(self, prefix: Address) -> None:
        """Mark the prefix as completely listed."""
        self._listed[prefix] = ""

    def known(self, address: Address) -> Head | None:
        """The head of the object from the listings made so far."""
        return self._known.get(address)

    def listed_near(self, address: Address) -> Head | None:
        """The head of the object from a new listing of its stem. Raises SourceError."""
        self._list(Address(address.bucket, _stem(address.key)))
        return self.known(address)

    def find(self, address: Address, near: Address) -> Head | None:
        """What is known of the object, None where there is none.

        It is looked up in a listing; where there is none, that of all names like ``near`` is asked for. Raises
        S3Error, NotToldError where neither listing nor asking for it is allowed.
        """
        if address in self._hidden:
            raise self._hidden[address]
        if address in self._known:
            return self._known[address]
        if (prefix := self._listing(address)) is None:
            prefix = Address(near.bucket, _stem(near.key))
            self._list(prefix)
        last = self._listed[prefix]
        if address not in self._known:
            self._known[address] = self._ask(address) if last and address.key > last else None
        return self._known[address]

    def _listing(self, address: Address) -> Address | None:
        """The prefix of a listing that would contain the object."""
        folder = Address(address.bucket, address.key[: len(address.key) - len(address.name)])
        if folder in self._listed:
            return folder
        for prefix in self._listed:
            rest = address.key.removeprefix(prefix.key)
            same = prefix.bucket == address.bucket and address.key.startswith(prefix.key)
            if same and "/" not in rest:
                return prefix
        return None

    def _list(self, prefix: Address) -> None:
        if prefix in self._failed:
            raise self._failed[prefix]
        try:
            page = self._client.list(prefix.bucket, prefix.key, self._log)
        except S3Error as error:
            if not error.is_refusal:
                self._failed[prefix] = error
                raise
            self._listed[prefix] = "\0"  # listing is not allowed: request each object
            return
        self.add(prefix.bucket, page.objects)
        names = [*page.objects, *page.prefixes]
        self._listed[prefix] = max(names, default="") if page.following else ""

    def _ask(self, address: Address) -> Head | None:
        try:
            return self._client.head(address, self._log, Why.BESIDE)
        except S3Error as error:
            if error.status == _MISSING and error.code != "NoSuchBucket":
                return None
            if error.status != _DENIED:
                raise
            self._hidden[address] = HiddenObjectError(
                f"Whether {visible(address.location)} exists is unknown (403): the credentials may neither list the "
                "bucket nor read the object, if it exists.",
                error.status,
                error.code,
            )
            raise self._hidden[address] from error


def _stem(key: str) -> str:
    """The key without its last suffixes: ``a/1-2.tar.metadata`` and ``a/1-2.tar`` have the stem ``a/1-2.``."""
    folder, slash, name = key.rpartition("/")
    stem, dot, _ = name.removesuffix(".metadata").rpartition(".")
    return f"{folder}{slash}{stem}{dot}" if stem else key


class RemoteSource(ABC):
    """One object. Size and ``etag`` are those at opening, and are enforced for all reads.

    ``sparing``: decoders skip what would cost a request for each member. ``replaced``: another object is in its place
    now, so nothing more can be read. ``log`` has every request, those for siblings included.
    """

    address: Place

    def __init__(
        self, client: Transport, address: Place, head: Head, log: RequestLog, blocks: Blocks, *, sparing: bool = False
    ) -> None:
        self.address = address
        self.name = address.location
        self.size = head.size
        self.etag = head.etag
        self.version = head.version
        self.modified = head.modified
        self.log = log
        self.sparing = sparing
        self.replaced = False
        self._client = client
        self._head = head
        self.cache = BlockCache(head.size, self._pour, blocks, client.pace)

    @property
    def used(self) -> str:
        return self._client.used

    @abstractmethod
    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source."""

    def read(self, offset: int, length: int) -> bytes:
        """Also raises Cancelled, see ``cancelling``."""
        return self.cache.read(offset, length)

    def expect(self, start: int, stop: int) -> None:
        """Announce that ``[start, stop)`` will be read soon."""
        self.cache.expect(start, stop)

    def gather(self, spans: Sequence[Span]) -> Iterator[bytes]:
        """See ``core.source.gather``; only complete blocks are cached.

        After a single span, reading probably continues, so it is read with its blocks.
        """
        if len(spans) == 1:
            return iter((self.read(spans[0].start, spans[0].size),))
        return self._gathered([span.clipped(0, self.size) for span in spans])

    def _gathered(self, spans: Sequence[Span]) -> Iterator[bytes]:
        runs = list(_runs(spans))
        whole = [Span(run[0].start, max(span.stop for span in run)) for run in runs]
        came = map_ordered(whole, self._apart, _MAX_REQUESTS, lambda _: check_cancelled())
        with closing(came):
            for run, (start, _), data in zip(runs, whole, came, strict=True):
                for each in run:
                    yield data[each.start - start : each.stop - start]

    def _apart(self, span: Span, ending: Progress) -> bytes:
        """The exact bytes, from the cache or by one request."""
        if self.cache.holds(span.start, span.stop) or not span.size:
            return self.cache.read(span.start, span.size)
        with cancelling(ending):
            return self.cache.fetch(span.start, span.stop)

    def leave(self, flight: Flight, error: BaseException | None) -> None:
        """End what the cache follows, with the error that ended it or because all has come."""
        self.replaced = self.replaced or (isinstance(error, S3Error) and error.status == _NOT_AS_BEFORE)
        self.cache.close(flight, error)

    def _pour(self, start: int, stop: int, take: Take) -> None:
        """Give the bytes ``[start, stop)`` as they arrive. Raises SourceError and Cancelled."""
        response = _Response(self._client, self.address, self.log, start, stop, take)
        if self.replaced:
            raise S3Error(replaced(self.name), _NOT_AS_BEFORE, "PreconditionFailed")
        try:
            response.run(self._head, Why.READING, lambda head: self.check_range(head, response.at, stop))
        except S3Error as error:
            if error.status == _DENIED and self._head.version:
                # Reading a version needs a separate permission; the ETag still identifies the object.
                self._head = replace(self._head, version="")
                self._pour(response.at, stop, take)
                return
            self.replaced = self.replaced or error.status == _NOT_AS_BEFORE
            raise

    def check_range(self, head: Head, start: int, stop: int) -> None:
        """Raise S3Error unless the body of a response is ``[start, stop)`` of the opened object, or a small one."""
        other_etag = self.etag and head.etag and head.etag != self.etag
        other_time = not self.etag and self.modified and head.modified and head.modified != self.modified
        if other_etag or other_time or (0 <= head.size != self.size):
            self.replaced = True
            raise S3Error(replaced(self.name), _NOT_AS_BEFORE, "PreconditionFailed")
        if not head.partial and head.size > MAX_WHOLE_BYTES:
            raise _ignores_ranges(self.address, head)
        if head.partial and (head.start, head.stop) != (start, stop):
            raise S3Error(
                f"The server does not say which bytes of {visible(self.name)} it sent when asked for "
                f"[{start:,}, {stop:,}). The response is not used."
                if head.stop <= head.start
                else f"The server sent other bytes of {visible(self.name)} than requested: [{head.start:,}, "
                f"{head.stop:,}) instead of [{start:,}, {stop:,}). The response is not used."
            )


def _runs(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """The spans that each request covers; spans that are not in order get requests of their own."""
    run: list[Span] = []
    for span in spans:
        if run and not (
            run[-1].start <= span.start <= run[-1].stop + _MAX_READ_ALONG_BYTES
            and span.stop - run[0].start <= MAX_REQUEST_BYTES
        ):
            yield run
            run = []
        run.append(span)
    if run:
        yield run


class S3Source(RemoteSource):
    """An object on S3; ``version`` is that at opening, and is asked for."""

    address: Address
    _client: Client

    def __init__(
        self, client: Client, address: Address, head: Head, log: RequestLog, beside: Siblings, *, sparing: bool = False
    ) -> None:
        super().__init__(client, address, head, log, beside.blocks, sparing=sparing)
        self._beside = beside

    @property
    def connection(self) -> Connection:
        return self._client.connection

    def kept_crc32(self) -> int | None:
        """The CRC-32 of all its bytes that the server stores, or None. Raises SourceError."""
        return self._client.kept_crc32(self.address, self._head, self.log)

    def is_known_equal(self, other: Source) -> bool:
        """Whether the ETags tell that the bytes are equal.

        Only those do that are made of an MD5: some servers give the same ETag to many objects.
        """
        same = isinstance(other, S3Source) and (self.size, self.etag) == (other.size, other.etag)
        return same and _MD5.fullmatch(self.etag.lower()) is not None

    def afresh(self) -> S3Source:
        """The same object with an empty cache."""
        return S3Source(self._client, self.address, self._head, self.log, self._beside, sparing=self.sparing)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """The first call makes a listing unless there is one."""
        if not self.address.key.endswith(instead_of):
            return None
        address = Address(self.address.bucket, self.address.key.removesuffix(instead_of) + suffix)
        if (head := self._beside.find(address, self.address)) is None:
            return None
        if (found := self._beside.sources.get(address)) is None:
            found = S3Source(self._client, address, head, self.log, self._beside, sparing=self.sparing)
            self._beside.sources[address] = found
        return found


class _Response:
    """The bytes from ``at`` to ``stop`` of an object (``stop`` OPEN_END: to its end), given to ``take`` as they come.

    A negative ``at`` counts from the end until the head has come. What breaks off is continued where it broke. Of an
    answer that is all of the object, the others are left out.
    """

    def __init__(self, client: Transport, address: Place, log: RequestLog, at: int, stop: int, take: Take) -> None:
        self._client = client
        self._address = address
        self._log = log
        self._take = take
        self.at = at
        self.stop = stop
        self._is_whole = False
        self._skipped = 0
        """Bytes before ``at`` that are still to come."""

    def run(self, known: Head | None, why: Why, on_head: Callable[[Head], Head | None]) -> None:
        """Raises S3Error, what ``on_head`` and ``take`` raise, and Cancelled.

        ``on_head`` may return what the object is known to be then. It is tried ``_TRIES`` times, and as often again
        each time that much has come.
        """
        failures, counted_at = 0, self.at

        def arrived(head: Head) -> None:
            nonlocal known
            known = on_head(head) or known
            self._is_whole, self._skipped = not head.partial, 0 if head.partial else self.at

        while True:
            asked = ByteRange(self.at, self.stop)
            try:
                self._client.get(self._address, asked, known, self._took, self._log, why, MAX_WHOLE_BYTES, arrived)
            except S3Error as error:
                if self.at - counted_at >= _MUCH_BYTES:
                    failures, counted_at = 0, self.at
                failures += 1
                if error.code not in _BROKEN_OFF or failures == _TRIES:
                    raise
            else:
                return

    def _took(self, piece: bytes) -> None:
        check_cancelled()
        if self._is_whole:
            before = min(len(piece), self._skipped)
            self._skipped -= before
            piece = piece[before : before + self.stop - self.at]
        self.at += len(piece)
        if self.at > self.stop:
            raise S3Error(f"The server sent more bytes of {visible(self._address.location)} than requested.")
        self._take(piece)


def open_object(
    client: Client, address: Address, log: RequestLog, *, tail: bool = True, sparing: bool = False
) -> S3Source:
    made = partial(S3Source, client, address, log=log, beside=Siblings(client, log), sparing=sparing)
    return opened(made, client, address, log, tail=tail, sparing=sparing)


Made = TypeVar("Made", bound=RemoteSource)


def opened(
    make: Callable[[Head], Made], client: Transport, address: Place, log: RequestLog, *, tail: bool, sparing: bool
) -> Made:
    """What ``make`` makes of an object's head, with one request that also has its first, or for ``tail`` last bytes.

    Where it is read from its start, that request goes on as far as it is read. Raises S3Error, with status 404 if there
    is no such object, and Cancelled.
    """
    try:
        if not tail:
            return _opened_at_start(make, client, address, log, sparing=sparing)
        head, data = _tail(client, address, log)
    except S3Error as error:
        if error.status != _NO_SUCH_RANGE:
            raise
        # An empty object has no ranges.
        return make(client.head(address, log, Why.OPENING))
    known = _with_size(client, address, head, log)
    source = make(known)
    if not head.partial and head.size > MAX_WHOLE_BYTES:
        source.read(known.size - TAIL_BYTES, TAIL_BYTES)  # some servers ignore only ranges that count from the end
    elif not head.partial:
        if len(data) != head.size:
            raise _ignores_ranges(address, head)
        source.cache.put(0, data)
    elif head.etag == known.etag and (head.start, head.stop) == (max(0, known.size - TAIL_BYTES), known.size):
        source.cache.put(head.start, data)
    source.sparing = sparing and source.cache.spans() != (Span(0, head.size),)  # a small object is complete already
    return source


def _opened_at_start(
    make: Callable[[Head], Made], client: Transport, address: Place, log: RequestLog, *, sparing: bool
) -> Made:
    """The first request goes on to the end, as far as it is read: the thread that makes it fills the cache."""
    made: Future[Made] = Future()
    progress = Progress()
    flights: list[Flight] = []
    response = _Response(client, address, log, 0, OPEN_END, lambda piece: made.result().cache.take(flights[0], piece))

    def arrived(head: Head) -> Head:
        if made.done():
            made.result().check_range(head, response.at, response.stop)
            return head
        if not head.partial and head.size > MAX_WHOLE_BYTES:
            raise _ignores_ranges(address, head)
        known = _with_size(client, address, head, log)
        source = make(known)
        is_right = not head.partial or (head.etag, head.start, head.stop) == (known.etag, 0, known.size)
        if is_right:
            response.stop = head.size
            flights.append(source.cache.follow(progress))
        made.set_result(source)
        if not is_right:
            raise Cancelled  # what comes is not used
        return head

    def ended(error: BaseException | None) -> None:
        if not made.done():
            made.set_exception(error)
        elif flights:
            made.result().leave(flights[0], error)

    in_thread(progress, lambda: response.run(None, Why.OPENING, arrived), ended)
    try:
        while not wait([made], _POLL_SECONDS).done:
            check_cancelled()
    except BaseException:
        progress.cancel()
        raise
    source = made.result()
    if flights:
        source.read(0, FIRST_BYTES)
    source.sparing = sparing and source.size > FIRST_BYTES  # a small object is complete already
    return source


def _with_size(client: Transport, address: Place, head: Head, log: RequestLog) -> Head:
    """The head of an object with its size. Raises S3Error."""
    if head.size >= 0:
        return head
    known = client.head(address, log, Why.OPENING)
    if known.size < 0:
        raise S3Error(
            f"The server does not report the size of {visible(address.location)}, so it cannot be read by ranges. "
            "Download the object, and open it here."
        )
    return known


def listed_object(client: Client, address: Address, log: RequestLog, *, sparing: bool = False) -> S3Source | None:
    """The object at ``address`` if it is in a new listing, with its siblings; reads no bytes. Raises S3Error."""
    beside = Siblings(client, log)
    if (head := beside.listed_near(address)) is None:
        return None
    source = S3Source(client, address, head, log, beside, sparing=sparing)
    source.expect(0, FIRST_BYTES)
    return source


def seen_object(client: Client, address: Address, seen: Seen, log: RequestLog, *, tail: bool) -> S3Source | None:
    """The object at ``address`` as listed, with its first or last bytes; None if it was replaced or removed.

    Raises S3Error.
    """
    beside = Siblings(client, log)
    beside.add_seen(address, seen)
    source = S3Source(client, address, seen.head, log, beside)
    start = max(0, source.size - TAIL_BYTES) if tail else 0
    source.expect(start, source.size if tail else FIRST_BYTES)
    try:
        source.read(start, 1)
    except S3Error as error:
        if error.status in (_MISSING, _NOT_AS_BEFORE):
            return None
        raise
    return source


def _tail(client: Transport, address: Place, log: RequestLog) -> tuple[Head, bytes]:
    """The response to a request for the last bytes, and its body; retried if the connection breaks. Raises S3Error."""
    for left in reversed(range(_TRIES)):
        data, asked = bytearray(), ByteRange(-TAIL_BYTES)
        try:
            return client.get(address, asked, None, data.extend, log, Why.OPENING, MAX_WHOLE_BYTES), bytes(data)
        except S3Error as error:
            if error.code not in _BROKEN_OFF or not left:
                raise
    raise AssertionError("the last try returns or raises")


def is_md5(etag: str) -> bool:
    """Whether an ETag has the form of the MD5 of all bytes."""
    return _MD5.fullmatch(etag) is not None and "-" not in etag


def _ignores_ranges(address: Place, head: Head) -> S3Error:
    return S3Error(
        f"The server ignores ranges: it would send all {in_bytes(head.size)} of {visible(address.location)} for "
        "every request, so nothing is read. Download the object, and open it here."
    )
