"""Requests for bytes of objects, whoever answers them: waiting, cancelling, counting, and failing in sentences."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from botocore.exceptions import ClientError, IncompleteReadError

from inspector.core import limits
from inspector.core.program.progress import Cancelled, check_cancelled
from inspector.core.source import SourceError
from inspector.sources.s3.abort import AnswerTimeout, RequestCancelled, WaitLimits, waiting_for_answers
from inspector.sources.s3.address import Place
from inspector.sources.s3.cache import Pace
from inspector.sources.s3.request_log import OPEN_END, Phase, Request, RequestLog, Why
from inspector.sources.s3.responses import ByteRange, Head, head_of
from inspector.sources.s3.sentences import Failure, S3Error, sentence

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
