"""A proxy before the server: it keeps a log of what is asked, and can answer as servers and networks do on bad days."""

# ruff: noqa: ARG001, ARG005, N815 - faults have one signature, and the library names the methods

from __future__ import annotations

import http.client
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.patience import PATIENCE

PIECE = 16 << 10
MOST = 256 << 20
HELD = 2 * PATIENCE
"""Seconds that answers are held back at most: a test that waits for them has failed before."""


@dataclass(frozen=True)
class Seen:
    """One request: ``range`` and ``if_match`` are the headers, empty where there are none."""

    method: str
    path: str
    range: str
    if_match: str
    headers: dict[str, str]

    @property
    def listing(self) -> bool:
        return "list-type" in parse_qs(urlsplit(self.path).query)

    def __str__(self) -> str:
        return f"{'LIST' if self.listing else self.method} {unquote(urlsplit(self.path).path)} {self.range}".strip()


@dataclass
class Reply:
    """An answer; with the status 0 there is none.

    Of the body, ``sent`` bytes are sent before the connection is closed; None: all of it.
    ``gate``: after a first piece nothing more is sent until it is set. ``pause`` are seconds between two pieces, which
    have ``piece`` bytes. ``chunked``: nothing says beforehand how long the body is. ``endless``: zeros follow it until
    the connection is closed.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    sent: int | None = None
    gate: Event | None = None
    pause: float = 0
    piece: int = PIECE
    chunked: bool = False
    endless: bool = False


Forward = Callable[..., Reply]
"""Asks the server; named headers are left out, others may be given, ``more`` of the query, and what is ``sent``."""

Fault = Callable[[Seen, Forward], Reply]


def refuse(status: int, code: str = "", message: str = "no") -> Fault:
    """An error as S3 says it."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        xml = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>" if code else ""
        return Reply(status, {"Content-Type": "application/xml"}, b"" if seen.method == "HEAD" else xml.encode())

    return fault


def ignoring(*headers: str) -> Fault:
    """A server that does not know some headers."""
    return lambda seen, forward: forward(*headers)


def in_pages(size: int) -> Fault:
    """A server with short pages."""
    return lambda seen, forward: forward(more=f"&max-keys={size}") if seen.listing else forward()


def holding(size: int, tail: bytes) -> Fault:
    """An object of so many bytes, zeros but for its end: what no test could put there."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        first, _, last = seen.range.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(size, int(last) + 1) if first else size
        end = size - len(tail)
        body = bytes(max(0, min(stop, end) - start)) + tail[max(0, start - end) : max(0, stop - end)]
        return Reply(206, {"Content-Range": f"bytes {start}-{stop - 1}/{size}", "ETag": '"vast"'}, body)

    return fault


def answering(**headers: str) -> Fault:
    """A server that says something else in its headers; an underscore stands for a hyphen."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        said = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        reply.headers = {name: value for name, value in reply.headers.items() if name.lower() not in said} | said
        return reply

    return fault


def flipping(at: int) -> Fault:
    """Something on the way always changes a bit of the same byte of an object."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        said = next((value for name, value in reply.headers.items() if name.lower() == "content-range"), "bytes 0-")
        start = int(said.removeprefix("bytes ").partition("-")[0])
        if seen.method == "GET" and (seen.range or not urlsplit(seen.path).query) and 0 <= at - start < len(reply.body):
            data = bytearray(reply.body)
            data[at - start] ^= 4
            reply.body = bytes(data)
        return reply

    return fault


def cut(after: int) -> Fault:
    """The connection breaks off."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        reply.sent = after
        return reply

    return fault


def fewer(seen: Seen, forward: Forward) -> Reply:
    """Half of the bytes that the headers promise, in an answer that ends as it should."""
    reply = forward()
    if seen.method == "GET" and not seen.listing:
        reply.body = reply.body[: len(reply.body) // 2]
    return reply


def rangeless(seen: Seen, forward: Forward) -> Reply:
    """A part of an object, and no word on which it is."""
    reply = forward()
    reply.headers = {name: value for name, value in reply.headers.items() if name.lower() != "content-range"}
    return reply


def web_page(seen: Seen, forward: Forward) -> Reply:
    """A network that wants a sign-in first answers all that is asked with its own page."""
    page = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body><p>Sign in first.</p></body></html>"
    return Reply(200, {"Content-Type": "text/html; charset=utf-8", "ETag": '"page"'}, page)


def silent(seen: Seen, forward: Forward) -> Reply:
    """The connection is closed without an answer."""
    return Reply(0)


def stalling(gate: Event) -> Fault:
    """Nothing more comes after a first piece."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        reply.gate = gate
        return reply

    return fault


def silence(asked: Event, gate: Event, which: Callable[[Seen], bool] = lambda seen: True) -> Fault:
    """Of the requests that ``which`` is true of, none is answered before the gate opens; ``asked`` says it has come."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        if which(seen):
            asked.set()
            gate.wait(HELD)
        return forward()

    return fault


def slow(seen: Seen, forward: Forward) -> Reply:
    """Bytes come drop by drop."""
    reply = forward()
    reply.pause = PIECE / 4e6
    return reply


def dripping(seen: Seen, forward: Forward) -> Reply:
    """One byte after another, so that the connection is never silent, and never done."""
    reply = forward()
    reply.pause, reply.piece = 0.05, 1
    return reply


def after(count: int, fault: Fault) -> Fault:
    """All is well with the first ``count`` requests."""
    left = count

    def later(seen: Seen, forward: Forward) -> Reply:
        nonlocal left
        left -= 1
        return forward() if left >= 0 else fault(seen, forward)

    return later


class Proxy:
    """``log`` has every request that was made, in order, ``moved`` the bytes of all bodies, of either direction.

    It stands before the server at ``port``, and listens on a port of its own choice or on ``at``. ``enforces``: a
    completion with an If-Match that does not hold is refused, as Amazon does; moto and Ceph 16 let it overwrite.
    """

    def __init__(self, port: int, at: int = 0) -> None:
        self._upstream = port
        self._faults: list[Fault] = []
        self._lasting: Fault | None = None
        self.log: list[Seen] = []
        self.moved = self.poured = 0
        self.enforces = True
        owner = self

        class Handler(_Handler):
            proxy = owner

        self._server = _Server(("127.0.0.1", at), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self) -> list[str]:
        """What was asked for, in words: ``GET /bucket/key bytes=0-9``."""
        return [str(seen) for seen in self.log]

    def fail(self, *faults: Fault) -> None:
        """The next requests meet these faults, one each."""
        self._faults += faults

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """Every request meets the fault."""
        before, self._lasting = self._lasting, fault
        try:
            yield
        finally:
            self._lasting = before

    def headers(self) -> dict[str, str]:
        """What the server says of itself."""
        return _ask(self._upstream, "HEAD", "/", {}, b"").headers

    def reset(self) -> None:
        self.log.clear()
        self.moved = self.poured = 0
        self.enforces = True
        self._faults.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, seen: Seen, body: bytes) -> Reply:
        self.log.append(seen)
        self.moved += len(body)

        def forward(*without: str, more: str = "", sent: bytes | None = None, **instead: str) -> Reply:
            left_out = {name.lower() for name in without}
            headers = {name: value for name, value in seen.headers.items() if name.lower() not in left_out} | instead
            if self.enforces and not _holds(self._upstream, seen, headers):
                return refuse(412, "PreconditionFailed")(seen, forward)
            return _ask(self._upstream, seen.method, seen.path + more, headers, sent if sent is not None else body)

        fault = self._faults.pop(0) if self._faults else self._lasting
        reply = fault(seen, forward) if fault else forward()
        self.moved += len(reply.body)
        return reply


def _holds(port: int, seen: Seen, headers: dict[str, str]) -> bool:
    """Whether an upload may be completed, by its If-Match."""
    wanted = next((value for name, value in headers.items() if name.lower() == "if-match"), "")
    if seen.method != "POST" or "uploadId" not in seen.path or not wanted:
        return True
    there = _ask(port, "HEAD", urlsplit(seen.path).path, {"Authorization": "AWS x:y"}, b"").headers
    return wanted.strip('"') in [value.strip('"') for name, value in there.items() if name.lower() == "etag"]


def _ask(port: int, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Reply(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has gone: that is what tests are about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        found = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        lower = {name.lower(): value for name, value in found.items()}
        seen = Seen(self.command, self.path, lower.get("range", ""), lower.get("if-match", ""), found)
        with suppress(ConnectionError):
            self._send(self.proxy.reply(seen, body))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer

    def _send(self, reply: Reply) -> None:
        if not reply.status:
            self.close_connection = True
            return
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if reply.endless:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            more = itertools.chain((reply.body,), itertools.repeat(bytes(PIECE)))
            for data in more:  # whoever does not stop has to be stopped by this
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.proxy.poured += len(data)
                assert self.proxy.poured < MOST, "it was read on and on"
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(f"{len(reply.body):x}\r\n".encode() + reply.body + b"\r\n0\r\n\r\n")
            return
        length = reply.headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(reply.body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = memoryview(reply.body)[: reply.sent]
        if reply.gate is not None:
            self.wfile.write(sent[:PIECE])
            self.wfile.flush()
            reply.gate.wait(HELD)
            sent = sent[PIECE:]
        while reply.pause and sent:
            self.wfile.write(sent[: reply.piece])
            sent = sent[reply.piece :]
            time.sleep(reply.pause)
        self.wfile.write(sent)
        self.close_connection = reply.sent is not None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass
