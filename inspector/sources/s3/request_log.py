"""The log of requests to S3, and their totals."""

from __future__ import annotations

import time
from collections import deque
from enum import StrEnum
from operator import add
from threading import Lock
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.program.log import Log

_LOG = Log(__name__)

MAX_REQUESTS_KEPT = 1_000
"""The log keeps the last ones; the totals count all."""


OPEN_END = 1 << 62
"""The stop of a range that goes on to the end of an object."""


class Why(StrEnum):
    """The purpose of a request."""

    OPENING = "opening"
    READING = "reading"
    BESIDE = "looking for files beside it"
    LISTING = "listing"
    WRITING = "writing"
    COMPARING = "comparing what was written"


class Phase(StrEnum):
    """How far a request is."""

    WAITING = "waiting"
    RECEIVING = "receiving"
    DONE = "done"


class Request(Struct):
    """One request, which changes while it is in flight.

    ``when`` is in seconds since 1970 (UTC), ``method`` GET, HEAD, LIST or one that writes, ``location`` the object or
    prefix, ``[start, stop)`` the bytes asked for (a negative start counts from the end, both 0 where none were),
    ``received`` the bytes of the response body, ``milliseconds`` until the last of them, ``status`` of the response (0:
    none), ``attempts`` how often it was sent, ``sent`` the bytes of its own body. One that is not
    DONE is in flight: WAITING for its response, or RECEIVING it.
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
    phase: Phase = Phase.DONE


class Totals(NamedTuple):
    """The sums over all requests: how many were sent, bytes received, milliseconds waited, bytes sent, and retries."""

    requests: int = 0
    received: int = 0
    milliseconds: float = 0.0
    sent: int = 0
    retried: int = 0


class RequestLog:
    """The last requests and the totals; all sources opened from one location share a log."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque(maxlen=MAX_REQUESTS_KEPT)
        self._running: dict[int, Request] = {}
        self._totals = Totals()
        self._lock = Lock()

    def begin(self, request: Request) -> None:
        """Note a request in flight, which its sender goes on to fill."""
        with self._lock:
            self._running[id(request)] = request

    def end(self, request: Request) -> None:
        """Log a request, which has finished."""
        request.milliseconds, request.phase = (time.time() - request.when) * 1000, Phase.DONE
        with self._lock:
            del self._running[id(request)]
            self._requests.append(request)
            retried = max(0, request.attempts - 1)
            more = (request.attempts, request.received, request.milliseconds, request.sent, retried)
            self._totals = Totals(*map(add, self._totals, more))
        _LOG.debug(
            "%s %s [%d, %d): status %d, %d bytes received, %d sent, %.0f ms, %d attempts",
            *(request.method, request.location, request.start, request.stop, request.status),
            *(request.received, request.sent, request.milliseconds, request.attempts),
        )

    def in_flight(self) -> tuple[Request, ...]:
        """The requests that have not finished, as they stand, oldest first."""
        with self._lock:
            now, running = time.time(), tuple(self._running.values())
        return tuple(replace(each, milliseconds=(now - each.when) * 1000) for each in running)

    def follow(self, earlier: RequestLog) -> None:
        """Continue an earlier log of the same location."""
        before, then = earlier.totals, earlier.requests()
        with self._lock:
            self._requests = deque((*then, *self._requests), maxlen=MAX_REQUESTS_KEPT)
            self._totals = Totals(*map(add, self._totals, before))

    @property
    def totals(self) -> Totals:
        return self._totals

    def requests(self) -> tuple[Request, ...]:
        """The last requests, oldest first."""
        with self._lock:
            return tuple(self._requests)
