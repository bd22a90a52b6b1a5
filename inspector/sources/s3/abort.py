"""Connections whose answers can be given up while they are waited for: a server that is silent keeps nobody waiting."""

from __future__ import annotations

import io
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

LOOKING = 0.2
"""Seconds between two looks at whether an answer is still wanted."""

_wanted: ContextVar[Callable[[], None] | None] = ContextVar("wanted", default=None)


class Stopped(BaseException):
    """An answer is not wanted any more, in a form that boto3 does not take for a broken connection."""


@contextmanager
def while_wanted(look: Callable[[], None]) -> Iterator[None]:
    """Let ``look`` be called while this thread waits for answers: what it raises as Stopped ends the request."""
    token = _wanted.set(look)
    try:
        yield
    finally:
        _wanted.reset(token)


class _Answer(io.RawIOBase):
    """The bytes that a socket receives. ``kept`` is what the socket counts as a user of it."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock
        self._kept = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """See io.RawIOBase; raises what a socket raises, after as many seconds as it should, and Stopped."""
        look = _wanted.get()
        if look is None:
            return int(self._socket.recv_into(buffer))
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
