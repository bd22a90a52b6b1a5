"""Connections whose requests can be cancelled or time out while they wait for a silent server."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from msgspec import Struct
from msgspec.structs import replace

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
    wanted = _wait.get()
    if wanted is not None:
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
        wanted = _wait.get()
        if wanted is None:
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
