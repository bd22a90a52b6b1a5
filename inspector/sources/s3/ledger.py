"""The log of requests to S3, and their totals."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

MAX_REQUESTS_KEPT = 1_000
"""The log keeps the last ones; the totals count all."""


class Why(StrEnum):
    """The purpose of a request."""

    OPENING = "opening"
    READING = "reading"
    BESIDE = "looking for what stands beside it"
    LISTING = "listing"
    WRITING = "writing"
    COMPARING = "comparing what was written"


@dataclass(frozen=True, slots=True)
class Request:
    """One finished request.

    ``when`` is in seconds since 1970 (UTC), ``method`` GET, HEAD, LIST or one that writes, ``location`` the object or
    prefix, ``[start, stop)`` the bytes asked for (a negative start counts from the end, both 0 where none were),
    ``received`` the bytes of the response body, ``milliseconds`` until the last of them, ``status`` of the response (0:
    none), ``attempts`` how often it was sent, ``sent`` the bytes of its own body.
    """

    when: float
    method: str
    location: str
    start: int
    stop: int
    received: int
    milliseconds: float
    status: int
    why: Why
    attempts: int = 1
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over all requests: how many were sent, bytes received, milliseconds waited, and bytes sent."""

    requests: int = 0
    received: int = 0
    milliseconds: float = 0.0
    sent: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.requests + other.requests,
            self.received + other.received,
            self.milliseconds + other.milliseconds,
            self.sent + other.sent,
        )


class Ledger:
    """The last requests and the totals; all sources opened from one location share a ledger."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque(maxlen=MAX_REQUESTS_KEPT)
        self._totals = Totals()
        self._lock = Lock()

    def add(self, request: Request) -> None:
        """Log a finished request."""
        with self._lock:
            self._requests.append(request)
            self._totals += Totals(request.attempts, request.received, request.milliseconds, request.sent)

    def follow(self, earlier: Ledger) -> None:
        """Continue an earlier ledger of the same location."""
        before, then = earlier.totals, earlier.requests()
        with self._lock:
            self._requests = deque((*then, *self._requests), maxlen=MAX_REQUESTS_KEPT)
            self._totals += before

    @property
    def totals(self) -> Totals:
        """The totals so far."""
        return self._totals

    def requests(self) -> tuple[Request, ...]:
        """The last requests, oldest first."""
        with self._lock:
            return tuple(self._requests)
