"""The requests that reading makes, and no others: get, head and list. The only module that loads boto3."""

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
from inspector.sources.s3.abort import GivenUp, Patience, Stopped, watch, while_wanted
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import look
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger, Request, Why
from inspector.sources.s3.log_redaction import keep_quiet
from inspector.sources.s3.responses import Asked, Head, Page, crc32_of, head_of, is_listing, is_web_page, page_of
from inspector.sources.s3.sentences import Failure, ForeignAnswerError, WebPageError, sentence

ATTEMPTS = 3
CONNECTIONS = 8
"""The most connections that are kept open to one server."""
_PIECE = 64 << 10
"""Bytes read at a time; between two the user may have had enough."""

Waiting = Callable[[], None]
"""Called while bytes arrive; what it raises ends the request."""


@dataclass(slots=True)
class Entry:
    """A request that is being made, for the ledger."""

    status: int = 0
    received: int = 0
    attempts: int = 1
    sent: int = 0


class Client:
    """One way of reaching S3. It may be used by any number of threads. Every method raises SourceError."""

    read_timeout: float = 0
    """Seconds without an answer until a request is given up; 0 for limits.ANSWERING."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._extra = {"RequestPayer": "requester"} if connection.requester_pays else {}
        keep_quiet()
        watch()
        with _sentences(Failure(None)):
            self._s3: Any = made_client(connection, self._silence)
        keep_quiet()  # of those that were made meanwhile, too
        self.endpoint = str(self._s3.meta.endpoint_url)

    @property
    def _silence(self) -> float:
        """Seconds without a byte until a request is given up."""
        return self.read_timeout or limits.ANSWERING.value

    @property
    def _patience(self) -> Patience:
        return Patience(self._look, limits.SLOWEST.value, self._silence)

    def get(
        self,
        address: Address,
        asked: Asked,
        known: Head | None,
        into: bytearray,
        ledger: Ledger,
        why: Why,
        waiting: Waiting,
        largest: int,
    ) -> Head:
        """Add bytes of an object to ``into`` as they come, and give what the answer says about them.

        ``known`` is what the object has to be still. A body that is not a range and larger than ``largest`` bytes is
        not read. Where the body breaks off, ``into`` has what came before that.
        """
        options: dict[str, Any] = {"Range": asked.header, **self._extra}
        if known is not None and known.etag and not known.etag.startswith("W/"):
            options["IfMatch"] = known.etag  # a weak one never matches: it is compared in the answer
        if known is not None and known.version:
            options["VersionId"] = known.version
        with self._asking("GET", address, asked, ledger, why) as entry:
            answer = self._s3.get_object(Bucket=address.bucket, Key=address.key, **options)
            self._note(entry, answer)
            head = head_of(answer)
            with closing(answer["Body"]) as body:
                if head.partial or head.length <= largest:
                    self._pour(body, into, entry, waiting)
            if len(into) < head.stop - head.start:
                raise IncompleteReadError(actual_bytes=len(into), expected_bytes=head.stop - head.start)
        return head

    def _pour(self, body: Any, into: bytearray, entry: Entry, waiting: Waiting) -> None:
        while piece := body.read(_PIECE):
            into += piece
            entry.received += len(piece)
            waiting()

    def head(self, address: Address, ledger: Ledger, why: Why) -> Head:
        """What is known of an object without its bytes."""
        with self._asking("HEAD", address, Asked(0), ledger, why) as entry:
            answer = self._s3.head_object(Bucket=address.bucket, Key=address.key, **self._extra)
            self._note(entry, answer)
            return head_of(answer)

    def kept_crc32(self, address: Address, known: Head, ledger: Ledger) -> int | None:
        """The CRC-32 that the server keeps of an object as it was ``known``; None where it is not of all its bytes."""
        condition = {"IfMatch": known.etag} if known.etag else {}
        with self._asking("HEAD", address, Asked(0), ledger, Why.OPENING) as entry:
            answer = self._s3.head_object(
                Bucket=address.bucket, Key=address.key, ChecksumMode="ENABLED", **condition, **self._extra
            )
            self._note(entry, answer)
        return crc32_of(answer)

    def list(self, bucket: str, prefix: str, ledger: Ledger, *, after: str = "", flat: bool = False) -> Page:
        """One page of the objects and, unless ``flat``, of the prefixes in ``prefix``.

        ``after`` is what the page before gives as ``following``. ``prefix`` need not end with a slash.
        """
        options: dict[str, Any] = {} if flat else {"Delimiter": "/"}
        if after:
            options["ContinuationToken"] = after
        with self._asking("LIST", Address(bucket, prefix), Asked(0), ledger, Why.LISTING) as entry:
            answer = self._s3.list_objects_v2(Bucket=bucket, Prefix=prefix, **options, **self._extra)
            self._note(entry, answer)
            if not is_listing(answer):
                raise ForeignAnswerError
            return page_of(answer)

    def buckets(self, ledger: Ledger) -> tuple[str, ...]:
        """The names of all buckets; to be asked only when a user wants to see them."""
        with self._asking("LIST", Address("", ""), Asked(0), ledger, Why.LISTING) as entry:
            answer = self._s3.list_buckets()
            self._note(entry, answer)
            return tuple(str(each.get("Name", "")) for each in answer.get("Buckets") or ())

    def close(self) -> None:
        """Close the connections that are kept open; the next request opens them again."""
        self._s3.close()

    @contextmanager
    def _asking(self, method: str, address: Address, asked: Asked, ledger: Ledger, why: Why) -> Iterator[Entry]:
        entry, when, before = Entry(), time.time(), time.perf_counter()
        try:
            with _sentences(Failure(address, asked.start, method, self.endpoint)), while_wanted(self._patience):
                yield entry
        except Stopped as stop:
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

    def _look(self) -> None:
        """Raise Stopped where nobody waits for the answer any more."""
        try:
            look()
        except Cancelled as error:
            raise Stopped from error

    def _note(self, entry: Entry, answer: Any) -> None:
        """Take down what an answer says of the request. Raises WebPageError where it is none of S3."""
        self._note_status(entry, answer)
        if is_web_page(answer):
            raise WebPageError

    def _note_status(self, entry: Entry, answer: Any) -> None:
        data = answer.get("ResponseMetadata") or {}
        entry.status = int(data.get("HTTPStatusCode") or 0)
        entry.attempts = 1 + int(data.get("RetryAttempts") or 0)


@cache
def client_for(connection: Connection) -> Client:
    """The client for a connection, made once. Raises SourceError."""
    return Client(connection)


def made_client(connection: Connection, timeout: float, attempts: int = ATTEMPTS) -> Any:
    """A client of boto3; ``timeout`` is in seconds, ``attempts`` how often it makes a request that fails."""
    session = boto3.Session(profile_name=connection.profile or None, region_name=connection.region or None)
    made = _made(session, connection, "auto", timeout, attempts)
    host = str(made.meta.endpoint_url).partition("://")[2].partition("/")[0].partition(":")[0]
    if host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu")):
        return made
    # Other servers seldom have a host name for each bucket.
    return _made(session, connection, "path", timeout, attempts)


def _made(session: Any, connection: Connection, style: str, timeout: float, attempts: int) -> Any:
    config = Config(
        connect_timeout=limits.CONNECTING.value,
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=CONNECTIONS,
        s3={"addressing_style": style},
        # Some servers answer a range with the checksum of the whole object, which no range fits.
        response_checksum_validation="when_required",
        request_checksum_calculation="when_required",
        signature_version=UNSIGNED if connection.anonymous else None,
    )
    return session.client("s3", endpoint_url=connection.endpoint or None, config=config)


@contextmanager
def _sentences(failure: Failure) -> Iterator[None]:
    """Whatever ends a request, as a sentence: what is not S3 raises whatever boto3's parsers stumble over."""
    try:
        yield
    except (SourceError, Cancelled):
        raise
    except (Exception, GivenUp) as error:
        raise sentence(failure, error) from error
