"""Requests for bytes of objects, whoever answers them: waiting, cancelling, counting, and failing in sentences.

A request can be cancelled or time out while it waits for a silent server.
"""

from __future__ import annotations

import io
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from botocore.exceptions import ClientError, IncompleteReadError
from msgspec import Struct
from msgspec.structs import replace

from inspector.core import limits
from inspector.core.program.progress import Cancelled, check_cancelled
from inspector.core.source import SourceError
from inspector.sources.s3.address import Place
from inspector.sources.s3.cache import Pace
from inspector.sources.s3.request_log import OPEN_END, Phase, Request, RequestLog, Why
from inspector.sources.s3.responses import ByteRange, Head, head_of
from inspector.sources.s3.sentences import Failure, S3Error, sentence

POLL_SECONDS = 0.2
"""Seconds between checks for cancellation."""


class RequestCancelled(BaseException):
    """The request was cancelled. A BaseException, so that boto3 does not treat it as a broken connection."""


class AnswerTimeout(BaseException):
    """The wait for an answer timed out; also a BaseException."""


class TooSlow(AnswerTimeout):
    """The bytes arrive too slowly."""


class Overdue(AnswerTimeout):
    """The request takes too long in total."""


class WaitLimits(Struct, frozen=True):
    """Limits on the wait for an answer.

    ``check_cancelled`` is called meanwhile: a RequestCancelled from it ends the request. Fewer than
    ``min_bytes_per_second`` over ``measured_seconds`` of waiting raise TooSlow (0: no minimum); an answer that is not
    complete after ``max_seconds`` raises Overdue (0: no limit).
    """

    check_cancelled: Callable[[], None]
    min_bytes_per_second: int = 0
    measured_seconds: float = 0
    max_seconds: float = 0
    end: float = math.inf
    """The deadline, a time.monotonic() value, once the wait has begun."""

    def check_deadline(self) -> None:
        """Raise Overdue past the deadline, even if keep-alive bytes arrive."""
        if time.monotonic() >= self.end:
            raise Overdue


_wait: ContextVar[WaitLimits | None] = ContextVar("wanted", default=None)


@contextmanager
def waiting_for_answers(patience: WaitLimits) -> Iterator[None]:
    """Apply the limits to the requests that this thread makes in the block, retries included."""
    end = time.monotonic() + patience.max_seconds if patience.max_seconds else math.inf
    token = _wait.set(replace(patience, end=end))
    try:
        yield
    finally:
        _wait.reset(token)


def check_deadline() -> None:
    """Raise Overdue if this thread's request is past its deadline; also called while sending."""
    if (wanted := _wait.get()) is not None:
        wanted.check_deadline()


class _WatchedReader(io.RawIOBase):
    """The bytes that a socket receives. ``_kept`` keeps the socket's reference count."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock
        self._kept = sock.makefile("rb", buffering=0)
        self._begun = False
        self._waited = 0.0
        self._came = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises what a socket raises, with its timeout, and RequestCancelled and AnswerTimeout."""
        if (wanted := _wait.get()) is None:
            return int(self._socket.recv_into(buffer))
        began = time.monotonic()
        wanted.check_deadline()
        came = self._receive(buffer, wanted)
        self._check_speed(came, time.monotonic() - began, wanted)
        return came

    def _check_speed(self, came: int, waited: float, patience: WaitLimits) -> None:
        """Raise TooSlow if too few bytes came lately; the time to the first byte does not count."""
        if not self._begun:
            self._begun = True
            return
        self._waited += waited
        self._came += came
        if patience.min_bytes_per_second and self._waited >= patience.measured_seconds:
            if self._came < patience.min_bytes_per_second * self._waited:
                raise TooSlow
            self._waited, self._came = 0.0, 0

    def _receive(self, buffer: Any, wanted: WaitLimits) -> int:
        most = self._socket.gettimeout()
        end = None if most is None else time.monotonic() + most
        try:
            while True:
                left = POLL_SECONDS if end is None else min(POLL_SECONDS, max(0.001, end - time.monotonic()))
                self._socket.settimeout(left)
                try:
                    return int(self._socket.recv_into(buffer))
                except TimeoutError:
                    wanted.check_cancelled()
                    wanted.check_deadline()
                    if end is not None and time.monotonic() >= end:
                        raise
        finally:
            self._socket.settimeout(most)

    def close(self) -> None:
        if not self.closed:
            self._kept.close()
        super().close()


class _Socket:
    """A socket whose files are watched; everything else is delegated."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def makefile(self, _mode: str, buffering: int | None = None) -> Any:
        """For reading bytes only, as HTTP does."""
        answer = _WatchedReader(self._socket)
        return answer if buffering == 0 else io.BufferedReader(answer)


class _Watched:
    """Mixin for a connection: watches its socket once connected."""

    sock: Any

    def connect(self) -> None:
        super().connect()  # type: ignore[misc] # of the connection
        self.sock = _Socket(self.sock)


class _Http(_Watched, AWSHTTPConnection):  # type: ignore[misc] # without types
    pass


class _Https(_Watched, AWSHTTPSConnection):  # type: ignore[misc] # without types
    pass


def watch() -> None:
    """Watch all connections that boto3 makes in this process from now on."""
    AWSHTTPConnectionPool.ConnectionCls = _Http
    AWSHTTPSConnectionPool.ConnectionCls = _Https


# ---- requests --------------------------------------------------------------------------------------------------------

PIECE = 64 << 10
"""Bytes read between two checks for cancellation."""


class Transport(ABC):
    """What all clients have in common, thread-safe. Every method raises SourceError."""

    read_timeout: float = 0
    """Seconds without an answer until a request times out; 0 for limits.ANSWERING."""
    endpoint = "the server"
    used = ""
    """How the server is reached, without secrets, as the end of a sentence; empty if there is nothing to choose."""

    def __init__(self) -> None:
        self.pace = Pace()

    # ---- what a client does its own way --------------------------------------------------------------------------

    @abstractmethod
    def _answer(self, address: Place, asked: ByteRange, known: Head | None, entry: Request) -> Any:
        """The response to a GET, as boto3 gives it."""

    @abstractmethod
    def head(self, address: Place, log: RequestLog, why: Why) -> Head:
        """The head of an object."""

    @abstractmethod
    def _note(self, entry: Request, answer: Any) -> None:
        """Note the status of a response. Raises an exception if it is none to a request for an object."""

    def _sentence(self, failure: Failure, error: BaseException) -> S3Error:
        return sentence(failure, error)

    # ---- reading -------------------------------------------------------------------------------------------------

    def get(
        self,
        address: Place,
        asked: ByteRange,
        known: Head | None,
        take: Callable[[bytes], None],
        log: RequestLog,
        why: Why,
        largest: int,
        on_head: Callable[[Head], None] = lambda _: None,
    ) -> Head:
        """Give bytes of an object to ``take`` as they arrive; returns the head of the response.

        ``known`` is the state that the object must still have. A body that is not a range and larger than ``largest``
        bytes is not read. If the connection breaks, ``take`` has the bytes that came before. ``on_head`` is given the
        head before the first byte; an exception from either ends the request.
        """
        with self._logged_request("GET", address, asked, log, why) as entry:
            before = time.perf_counter()
            answer = self._answer(address, asked, known, entry)
            self.pace.note_answer(time.perf_counter() - before)
            with closing(answer["Body"]) as body:  # whatever is wrong with the answer, its connection ends
                self._note(entry, answer)
                entry.phase = Phase.RECEIVING
                head = head_of(answer)
                on_head(head)
                promised = head.stop - head.start if head.partial else head.length
                most = min(promised if promised > 0 else largest, asked.size if head.partial else OPEN_END)
                if head.partial or head.length <= largest:
                    self._pour(body, take, entry, most)
            if entry.received < min(head.stop - head.start, most):
                raise IncompleteReadError(actual_bytes=entry.received, expected_bytes=head.stop - head.start)
        return head

    def _pour(self, body: Any, take: Callable[[bytes], None], entry: Request, most: int) -> None:
        """Read ``most`` bytes and no more: a server that does not say how many it sends may send for ever."""
        waited = 0.0
        try:
            while entry.received < most:
                before = time.perf_counter()
                piece = body.read(min(PIECE, most - entry.received))
                waited += time.perf_counter() - before  # without the time that ``take`` holds it back
                if not piece:
                    return
                entry.received += len(piece)
                take(piece)
        finally:
            self.pace.note_bytes(entry.received, waited)

    # ---- waiting and failing -------------------------------------------------------------------------------------

    @property
    def _silence(self) -> float:
        """Seconds without a byte until a request times out."""
        return self.read_timeout or limits.ANSWERING.value

    @property
    def _wait_limits(self) -> WaitLimits:
        return WaitLimits(self._check_cancelled, limits.SLOWEST.value, self._silence)

    @contextmanager
    def _logged_request(
        self, method: str, address: Place, asked: ByteRange, log: RequestLog, why: Why
    ) -> Iterator[Request]:
        entry = Request(time.time(), method, address.location, *asked, 0, 0.0, 0, why, phase=Phase.WAITING)
        log.begin(entry)
        try:
            with (
                self._sentences(Failure(address, asked.start, method, self.endpoint)),
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
            log.end(entry)

    @contextmanager
    def _sentences(self, failure: Failure) -> Iterator[None]:
        """Turn any failure of a request into a sentence; foreign responses raise arbitrary errors in parsers."""
        try:
            yield
        except (SourceError, Cancelled):
            raise
        except (Exception, AnswerTimeout) as error:
            raise self._sentence(failure, error) from error

    def _check_cancelled(self) -> None:
        """Raise RequestCancelled if the job was cancelled."""
        try:
            check_cancelled()
        except Cancelled as error:
            raise RequestCancelled from error

    def _note_status(self, entry: Request, answer: Any) -> None:
        data = answer.get("ResponseMetadata") or {}
        entry.status = int(data.get("HTTPStatusCode") or 0)
        entry.attempts = 1 + int(data.get("RetryAttempts") or 0)
