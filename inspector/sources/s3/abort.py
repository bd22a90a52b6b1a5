"""Connections whose answers can be given up while they are waited for: a server that is silent keeps nobody waiting."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)

LOOKING = 0.2
"""Seconds between two looks at whether an answer is still wanted."""


class Stopped(BaseException):
    """An answer is not wanted any more, in a form that boto3 does not take for a broken connection."""


class GivenUp(BaseException):
    """An answer is not waited for any longer, in such a form too."""


class TooSlow(GivenUp):
    """Its bytes come too slowly."""


class Overdue(GivenUp):
    """It takes too long in all."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an answer is waited for.

    ``look`` is called meanwhile: what it raises as Stopped ends the request. Fewer than ``slowest`` bytes a second over
    ``stretch`` seconds of waiting raise TooSlow (0: none do), and what is not there ``within`` so many seconds in all
    raises Overdue (0: that may be any number).
    """

    look: Callable[[], None]
    slowest: int = 0
    stretch: float = 0
    within: float = 0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is waited for by this thread; ``end`` is on the clock of time.monotonic."""

    patience: Patience
    end: float

    def look(self) -> None:
        """Raise what ends the request."""
        self.patience.look()
        self.look_at_the_clock()

    def look_at_the_clock(self) -> None:
        """Raise Overdue where it has taken too long; also while bytes come that keep a connection alive."""
        if time.monotonic() >= self.end:
            raise Overdue


_wanted: ContextVar[_Wanted | None] = ContextVar("wanted", default=None)


@contextmanager
def while_wanted(patience: Patience) -> Iterator[None]:
    """Wait so long for the answers that this thread asks for meanwhile, whichever number of tries they take."""
    end = time.monotonic() + patience.within if patience.within else math.inf
    token = _wanted.set(_Wanted(patience, end))
    try:
        yield
    finally:
        _wanted.reset(token)


def look_at_the_clock() -> None:
    """Raise Overdue where what this thread asks for has taken too long: while bytes are sent, too."""
    wanted = _wanted.get()
    if wanted is not None:
        wanted.look_at_the_clock()


class _Answer(io.RawIOBase):
    """The bytes that a socket receives. ``kept`` is what the socket counts as a user of it."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock
        self._kept = sock.makefile("rb", buffering=0)
        self._begun = False
        self._waited = 0.0
        self._came = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """See io.RawIOBase; raises what a socket raises, after as many seconds as it should, Stopped and GivenUp."""
        wanted = _wanted.get()
        if wanted is None:
            return int(self._socket.recv_into(buffer))
        began = time.monotonic()
        wanted.look_at_the_clock()
        came = self._receive(buffer, wanted.look)
        self._see_how_fast(came, time.monotonic() - began, wanted.patience)
        return came

    def _see_how_fast(self, came: int, waited: float, patience: Patience) -> None:
        """Raise TooSlow where so few bytes have come of late; until the first of them a server may think."""
        if not self._begun:
            self._begun = True
            return
        self._waited += waited
        self._came += came
        if patience.slowest and self._waited >= patience.stretch:
            if self._came < patience.slowest * self._waited:
                raise TooSlow
            self._waited, self._came = 0.0, 0

    def _receive(self, buffer: Any, look: Callable[[], None]) -> int:
        most = self._socket.gettimeout()
        end = None if most is None else time.monotonic() + most
        try:
            while True:
                left = LOOKING if end is None else min(LOOKING, max(0.001, end - time.monotonic()))
                self._socket.settimeout(left)
                try:
                    return int(self._socket.recv_into(buffer))
                except TimeoutError:
                    look()
                    if end is not None and time.monotonic() >= end:
                        raise
        finally:
            self._socket.settimeout(most)

    def close(self) -> None:
        if not self.closed:
            self._kept.close()
        super().close()


class _Socket:
    """A socket whose files are watched; all else is the socket's."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def makefile(self, _mode: str, buffering: int | None = None) -> Any:
        """See socket.socket; for reading bytes only, as HTTP does."""
        answer = _Answer(self._socket)
        return answer if buffering == 0 else io.BufferedReader(answer)


class _Watched:
    """For a connection: its socket is watched as soon as there is one."""

    sock: Any

    def connect(self) -> None:
        """See http.client.HTTPConnection."""
        super().connect()  # type: ignore[misc] # of the connection
        self.sock = _Socket(self.sock)


class _Http(_Watched, AWSHTTPConnection):  # type: ignore[misc] # without types
    pass


class _Https(_Watched, AWSHTTPSConnection):  # type: ignore[misc] # without types
    pass


def watch() -> None:
    """Let all connections that boto3 makes from now on in this process be watched."""
    AWSHTTPConnectionPool.ConnectionCls = _Http
    AWSHTTPSConnectionPool.ConnectionCls = _Https
