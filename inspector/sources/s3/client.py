"""Read requests: get, head and list. The only module that imports boto3."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError, IncompleteReadError

from inspector.core import limits
from inspector.core.progress import Cancelled
from inspector.core.source import SourceError
from inspector.sources.s3.abort import AnswerTimeout, RequestCancelled, WaitLimits, waiting_for_answers, watch
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import check_cancelled
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger, Request, Why
from inspector.sources.s3.log_redaction import redact_logs
from inspector.sources.s3.responses import ByteRange, Head, Page, crc32_of, head_of, is_listing, is_web_page, page_of
from inspector.sources.s3.sentences import Failure, ForeignAnswerError, WebPageError, sentence

ATTEMPTS = 3
MAX_CONNECTIONS = 8
_PIECE = 64 << 10
"""Bytes read between two checks for cancellation."""

OnProgress = Callable[[], None]
"""Called while bytes arrive; an exception from it ends the request."""


@dataclass(slots=True)
class RequestInProgress:
    """A request in progress, for the ledger."""

    status: int = 0
    received: int = 0
    attempts: int = 1
    sent: int = 0


class Client:
    """A client for one connection, thread-safe. Every method raises SourceError."""

    read_timeout: float = 0
    """Seconds without an answer until a request times out; 0 for limits.ANSWERING."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._extra = {"RequestPayer": "requester"} if connection.requester_pays else {}
        redact_logs()
        watch()
        with _sentences(Failure(None)):
            self._s3: Any = boto_client(connection, self._silence)
        redact_logs()  # again, for the loggers created meanwhile
        self.endpoint = str(self._s3.meta.endpoint_url)

    @property
    def _silence(self) -> float:
        """Seconds without a byte until a request times out."""
        return self.read_timeout or limits.ANSWERING.value

    @property
    def _wait_limits(self) -> WaitLimits:
        return WaitLimits(self._check_cancelled, limits.SLOWEST.value, self._silence)

    def get(
        self,
        address: Address,
        asked: ByteRange,
        known: Head | None,
        into: bytearray,
        ledger: Ledger,
        why: Why,
        pending: OnProgress,
        largest: int,
    ) -> Head:
        """Append bytes of an object to ``into`` as they arrive; returns the head of the response.

        ``known`` is the state that the object must still have. A body that is not a range and larger than ``largest``
        bytes is not read. If the connection breaks, ``into`` has the bytes that came before.
        """
        options: dict[str, Any] = {"Range": asked.header, **self._extra}
        if known is not None and known.etag and not known.etag.startswith("W/"):
            options["IfMatch"] = known.etag  # a weak ETag never matches: it is compared in the response
        if known is not None and known.version:
            options["VersionId"] = known.version
        with self._logged_request("GET", address, asked, ledger, why) as entry:
            answer = self._s3.get_object(Bucket=address.bucket, Key=address.key, **options)
            with closing(answer["Body"]) as body:  # whatever is wrong with the answer, its connection ends
                self._note(entry, answer)
                head = head_of(answer)
                if head.partial or head.length <= largest:
                    self._pour(body, into, entry, pending)
            if len(into) < head.stop - head.start:
                raise IncompleteReadError(actual_bytes=len(into), expected_bytes=head.stop - head.start)
        return head

    def _pour(self, body: Any, into: bytearray, entry: RequestInProgress, pending: OnProgress) -> None:
        while piece := body.read(_PIECE):
            into += piece
            entry.received += len(piece)
            pending()

    def head(self, address: Address, ledger: Ledger, why: Why) -> Head:
        """The head of an object."""
        with self._logged_request("HEAD", address, ByteRange(0), ledger, why) as entry:
            answer = self._s3.head_object(Bucket=address.bucket, Key=address.key, **self._extra)
            self._note(entry, answer)
            return head_of(answer)

    def kept_crc32(self, address: Address, known: Head, ledger: Ledger) -> int | None:
        """The CRC-32 that the server stores for an object as ``known``; None if it does not cover all bytes."""
        condition = {"IfMatch": known.etag} if known.etag else {}
        with self._logged_request("HEAD", address, ByteRange(0), ledger, Why.OPENING) as entry:
            answer = self._s3.head_object(
                Bucket=address.bucket, Key=address.key, ChecksumMode="ENABLED", **condition, **self._extra
            )
            self._note(entry, answer)
        return crc32_of(answer)

    def list(self, bucket: str, prefix: str, ledger: Ledger, *, after: str = "", flat: bool = False) -> Page:
        """One page of the objects and, unless ``flat``, the prefixes in ``prefix``, with or without a slash.

        ``after`` is ``following`` of the page before.
        """
        options: dict[str, Any] = {} if flat else {"Delimiter": "/"}
        if after:
            options["ContinuationToken"] = after
        with self._logged_request("LIST", Address(bucket, prefix), ByteRange(0), ledger, Why.LISTING) as entry:
            answer = self._s3.list_objects_v2(Bucket=bucket, Prefix=prefix, **options, **self._extra)
            self._note(entry, answer)
            if not is_listing(answer):
                raise ForeignAnswerError
            return page_of(answer)

    def buckets(self, ledger: Ledger) -> tuple[str, ...]:
        """The names of all buckets; only on a user's request."""
        with self._logged_request("LIST", Address("", ""), ByteRange(0), ledger, Why.LISTING) as entry:
            answer = self._s3.list_buckets()
            self._note(entry, answer)
            return tuple(str(each.get("Name", "")) for each in answer.get("Buckets") or ())

    def close(self) -> None:
        """Close pooled connections; the next request opens new ones."""
        self._s3.close()

    @contextmanager
    def _logged_request(
        self, method: str, address: Address, asked: ByteRange, ledger: Ledger, why: Why
    ) -> Iterator[RequestInProgress]:
        entry, when, before = RequestInProgress(), time.time(), time.perf_counter()
        try:
            with (
                _sentences(Failure(address, asked.start, method, self.endpoint)),
                waiting_for_answers(self._wait_limits),
            ):
                yield entry
        except RequestCancelled as stop:
            raise Cancelled from stop
        except SourceError as error:
            if isinstance(error.__cause__, ClientError):
                self._note_status(entry, error.__cause__.response)
            raise
        finally:
            took = (time.perf_counter() - before) * 1000
            ledger.add(
                Request(
                    when,
                    method,
                    address.location,
                    *asked,
                    entry.received,
                    took,
                    entry.status,
                    why,
                    entry.attempts,
                    entry.sent,
                )
            )

    def _check_cancelled(self) -> None:
        """Raise RequestCancelled if the job was cancelled."""
        try:
            check_cancelled()
        except Cancelled as error:
            raise RequestCancelled from error

    def _note(self, entry: RequestInProgress, answer: Any) -> None:
        """Note the status of a response. Raises WebPageError if it is a web page."""
        self._note_status(entry, answer)
        if is_web_page(answer):
            raise WebPageError

    def _note_status(self, entry: RequestInProgress, answer: Any) -> None:
        data = answer.get("ResponseMetadata") or {}
        entry.status = int(data.get("HTTPStatusCode") or 0)
        entry.attempts = 1 + int(data.get("RetryAttempts") or 0)


@cache
def client_for(connection: Connection) -> Client:
    """The cached client for a connection. Raises SourceError."""
    return Client(connection)


def boto_client(connection: Connection, timeout: float, attempts: int = ATTEMPTS) -> Any:
    """A boto3 client; ``timeout`` is in seconds, ``attempts`` includes retries."""
    session = boto3.Session(profile_name=connection.profile or None, region_name=connection.region or None)
    made = _made(session, connection, "auto", timeout, attempts)
    host = str(made.meta.endpoint_url).partition("://")[2].partition("/")[0].partition(":")[0]
    if host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu")):
        return made
    # Other servers rarely have a host name for each bucket.
    return _made(session, connection, "path", timeout, attempts)


def _made(session: Any, connection: Connection, style: str, timeout: float, attempts: int) -> Any:
    config = Config(
        connect_timeout=limits.CONNECTING.value,
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=MAX_CONNECTIONS,
        s3={"addressing_style": style},
        # Some servers answer a range with the checksum of the whole object, which never matches.
        response_checksum_validation="when_required",
        request_checksum_calculation="when_required",
        signature_version=UNSIGNED if connection.anonymous else None,
    )
    return session.client("s3", endpoint_url=connection.endpoint or None, config=config)


@contextmanager
def _sentences(failure: Failure) -> Iterator[None]:
    """Turn any failure of a request into a sentence; foreign responses raise arbitrary errors in boto3's parsers."""
    try:
        yield
    except (SourceError, Cancelled):
        raise
    except (Exception, AnswerTimeout) as error:
        raise sentence(failure, error) from error
