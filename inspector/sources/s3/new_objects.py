"""New objects that take their places together, each when all of them are whole: see NewFiles for their like on disk."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

from inspector.core.hints import Hint, already_exists, hint
from inspector.core.names import visible
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import cancelling, look
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger
from inspector.sources.s3.pieces import LEAST, SENT
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.sender import (
    CHECKSUM,
    NOT_IMPLEMENTED,
    Kept,
    Part,
    Sender,
    Upload,
    etag_of,
    knows_no_checksums,
    sender_for,
    settled,
)
from inspector.sources.s3.sentences import S3Error, replaced

_HELD = 64 << 20
"""Bytes of small objects that are kept in memory until all take their places; further ones are sent as parts."""
_MOST_PARTS = 10_000
_GROWING = 1_000
"""After so many parts they become larger, so that no object needs more than are allowed."""
_MISSING, _NOT_AS_BEFORE = 404, 412

_Answer = TypeVar("_Answer")

_TYPES = {".tar": "application/x-tar", ".metadata": "application/zstd"}
"""What the objects of a range are, by the ends of their keys (S3 Storage Layout, Metadata Files)."""


def type_of(key: str) -> Kept:
    """What a new object gets beside its bytes by its key alone."""
    return next(({"ContentType": kind} for ending, kind in _TYPES.items() if key.endswith(ending)), {})


class NewObject:
    """An object that is sent in parts while it is written. NewObjects makes them.

    ``size`` is how many bytes it has so far, ``etag`` is empty until it has its place. ``instead_of`` is the ETag of
    the object whose place it takes, empty for an empty place. Its methods are those of NewFile; each raises
    SourceError, and Cancelled where ``cancelling`` says so.
    """

    def __init__(self, address: Address, kept: Kept, sender: Sender, ledger: Ledger, instead_of: str = "") -> None:
        self.address = address
        self.instead_of = instead_of
        self.size = 0
        self.etag = ""
        self.upload: Upload | None = None
        self._kept = kept
        self._sender = sender
        self._ledger = ledger
        self._waiting = bytearray()
        self._parts: dict[int, Part] = {}
        self._starts: list[int] = []
        self._held: dict[int, bytearray] = {}
        self._marked: list[range] = []

    @property
    def waiting(self) -> int:
        """How many bytes are in memory to be sent."""
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        """Write behind what is there."""
        self._waiting += data
        self.size += len(data)
        while len(self._waiting) >= self._part_size() + LEAST:
            self._send(self._part_size())

    def keep(self, offset: int, length: int) -> None:
        """Say, before they are written, that these bytes will be written over."""
        assert offset >= self.size
        self._marked.append(range(offset, offset + length))

    def overwrite(self, offset: int, data: bytes) -> None:
        """Write over bytes that have been written and are kept, or not yet sent."""
        assert offset + len(data) <= self.size
        sent = self.size - len(self._waiting)
        for at, byte in enumerate(data, offset):
            if at >= sent:
                self._waiting[at - sent] = byte
            else:
                number = max(number for number in self._held if self._starts[number - 1] <= at)
                self._held[number][at - self._starts[number - 1]] = byte
        self._marked = [each for each in self._marked if offset > each.start or offset + len(data) < each.stop]
        for number in list(self._held):
            if self._touches(number, offset, offset + len(data)):
                self._send_again(number)

    def copy(self, descriptor: int, length: int, progress: Progress) -> int:  # noqa: ARG002 - as NewFile has it
        """See NewFile.copy: no system copies to S3 by itself, so nothing is taken."""
        return 0

    def finish(self) -> None:
        """Send what is left."""
        if self._waiting:
            self._send(len(self._waiting))

    def place(self, condition: Kept) -> None:
        """Let it be there, where ``condition`` holds."""
        if self.upload is not None:
            self.finish()
        self.etag = self._asked(lambda: self._let_it_be(condition))
        self._waiting, self.upload = bytearray(), None

    def _let_it_be(self, condition: Kept) -> str:
        def request() -> str:
            if self.upload is None:
                return self._sender.put(self.address, bytes(self._waiting), self._kept, condition, self._ledger)
            return self._sender.complete(self.upload, list(self._parts.values()), condition, self._ledger)

        return settled(request, self._found)

    def _found(self, error: S3Error) -> str:
        """See ``settled``: a request that was made once more finds the object in its way."""
        if not error.is_lost and error.status != _NOT_AS_BEFORE and error.code != "NoSuchUpload":
            return ""
        try:
            head, _ = self._sender.state(self.address, self._ledger)
        except S3Error as unknown:
            if unknown.status == _MISSING or not error.is_lost:
                return ""
            raise self._not_known(str(unknown)) from error
        if (head.size, head.etag) == (self.size, self._expected()):
            if self.upload is not None:
                self.upload.ended()
            return head.etag
        if error.is_lost and head.etag != self.instead_of and head.size == self.size:
            raise self._not_known("something of its size is there, and its ETag does not tell whether it is this")
        return ""

    def _not_known(self, why: str) -> SourceError:
        return SourceError(
            f"It is not known whether {visible(self.address.location)} was made: the last request got no answer "
            f"({why.rstrip('.')}). Look whether it is there; if it is, it is whole."
        )

    def _expected(self) -> str:
        """The ETag that most servers give to it."""
        if self.upload is not None:
            return etag_of(list(self._parts.values()))
        return f'"{hashlib.md5(self._waiting, usedforsecurity=False).hexdigest()}"'

    def _asked(self, request: Callable[[], _Answer]) -> _Answer:
        """Make a request; a server that keeps no checksum of an object is asked again without one."""
        try:
            return request()
        except S3Error as error:
            if not knows_no_checksums(error) or not (CHECKSUM.keys() & self._kept.keys()):
                raise
            self._kept = {name: value for name, value in self._kept.items() if name not in CHECKSUM}
            if self.upload is not None:
                self.upload = replace(self.upload, checksum=False)
                self._parts = {number: part._replace(crc32="") for number, part in self._parts.items()}
            return request()

    def discard(self) -> str:
        """Let nothing be left of it before it has its place; words on what could not be removed."""
        if self.upload is None:
            return ""
        try:
            self._sender.abort(self.upload, self._ledger)
        except SourceError as error:
            if not (isinstance(error, S3Error) and error.status == _MISSING):
                return (
                    f"What was sent of {visible(self.address.location)} could not be removed again "
                    f"({str(error).rstrip('.')}); it costs until the upload {visible(self.upload.id)} is "
                    f"aborted{hint(Hint.REMOVE_UNFINISHED)}."
                )
        return ""

    def _part_size(self) -> int:
        return SENT << len(self._parts) // _GROWING

    def _send(self, length: int) -> None:
        if self.upload is None:
            self.upload = self._asked(lambda: self._sender.begin(self.address, self._kept, self._ledger))
        look()
        number = len(self._parts) + 1
        if number > _MOST_PARTS:
            raise SourceError(f"{visible(self.address.location)} would need more parts than S3 allows.")
        start, data = self.size - len(self._waiting), self._waiting[:length]
        self._starts.append(start)
        self._parts[number] = self._sender.send(self.upload, number, bytes(data), self._ledger)
        del self._waiting[:length]
        if any(each.start < start + length and start < each.stop for each in self._marked):
            self._held[number] = data

    def _touches(self, number: int, start: int, stop: int) -> bool:
        begin = self._starts[number - 1]
        return start < begin + len(self._held[number]) and begin < stop

    def _send_again(self, number: int) -> None:
        assert self.upload is not None
        data = self._held[number]
        if any(self._touches(number, each.start, each.stop) for each in self._marked):
            return  # more of it will be written over
        self._parts[number] = self._sender.send(self.upload, number, bytes(data), self._ledger)
        del self._held[number]


class NewObjects:
    """A context manager for objects that are there when its block has ended without an exception, and not otherwise.

    Raises SourceError. Where several take their places and a later one cannot, the earlier ones are taken away again;
    with ``replace`` they have replaced others and stay, and the sentence names them.
    """

    def __init__(self, connection: Connection, *, replace: bool = False, ledger: Ledger | None = None) -> None:
        self.ledger = ledger or Ledger()
        self._sender = sender_for(connection)
        self._replace = replace
        self._objects: list[NewObject] = []

    def add(self, address: Address, kept: Kept | None = None, *, instead_of: str = "") -> NewObject:
        """Begin an object; ``kept`` is what it gets beside its bytes. The one before it is finished.

        ``instead_of`` is the ETag of the one object whose place it may take, see ``still_there``.
        Servers that can are to keep a CRC-32 of all its bytes.
        """
        if sum(each.waiting for each in self._objects) > _HELD or (self._objects and self._objects[-1].upload):
            self._objects[-1].finish()
        made = NewObject(address, {**CHECKSUM, **(kept or {})}, self._sender, self.ledger, instead_of)
        self._objects.append(made)
        return made

    def still_there(self, address: Address, etag: str) -> Kept:
        """What is kept beside the bytes of the object with this ETag. Raises SourceError where another one is there."""
        head, kept = self._sender.state(address, self.ledger)
        if not etag or head.etag != etag:
            raise SourceError(replaced(address.location))
        return kept

    def see_that_it_is_free(self, address: Address) -> None:
        """Raise SourceError where there is something already, and ``replace`` was not said."""
        if self._replace:
            return
        try:
            self._sender.state(address, self.ledger)
        except S3Error as error:
            if error.status == _MISSING and error.code != "NoSuchBucket":
                return
            raise
        raise SourceError(already_exists(visible(address.location), "key"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        left = []
        try:
            if kind is None:
                for each in self._objects:
                    self._place(each)
                return
        except BaseException as failure:
            left = self._discard()
            if left and isinstance(failure, SourceError | Cancelled):
                raise _with(failure, left) from failure
            raise
        if kind is not None:
            left = self._discard()
            if left and isinstance(error, SourceError | Cancelled):
                raise _with(error, left) from error
            if left and isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(" ".join(left)) from error

    def _place_instead(self, each: NewObject) -> None:
        """Let it take the place of one object, and of no other."""
        # Ceph's radosgw 16 compares it with an ETag that has no quotes; some servers know no such condition at all.
        for condition in ({"IfMatch": each.instead_of}, {"IfMatch": each.instead_of.strip('"')}, {}):
            self.still_there(each.address, each.instead_of)
            try:
                each.place(condition)
            except S3Error as error:
                if error.status not in (NOT_IMPLEMENTED, _NOT_AS_BEFORE) or not condition:
                    raise
            else:
                return

    def _place(self, each: NewObject) -> None:
        if each.instead_of:
            self._place_instead(each)
            return
        condition = {} if self._replace else {"IfNoneMatch": "*"}
        try:
            if each.upload is not None and not self._sender.keeps_conditions:
                self.see_that_it_is_free(each.address)
            try:
                each.place(condition)
            except S3Error as error:
                if error.status != NOT_IMPLEMENTED or not condition:
                    raise
                self.see_that_it_is_free(each.address)
                each.place({})
        except S3Error as error:
            if error.status == _NOT_AS_BEFORE:
                raise SourceError(already_exists(visible(each.address.location), "key")) from error
            raise

    def _discard(self) -> list[str]:
        """Take away what can be taken away; sentences on what stays."""
        words = [each.discard() for each in self._objects]
        for each in self._objects:
            if each.etag and (self._replace or each.instead_of):
                words.append(f"{visible(each.address.location)} is new already.")
            elif each.etag:
                with contextlib.suppress(SourceError):
                    if self._sender.state(each.address, self.ledger)[0].etag == each.etag:
                        self._sender.remove(each.address, self.ledger)
        return [each for each in words if each]


def _with(error: SourceError | Cancelled, left: list[str]) -> SourceError:
    """What ended it, and what of it could not be taken away."""
    why = "It was cancelled." if isinstance(error, Cancelled) else str(error)
    return SourceError(f"{why} {' '.join(left)}")


class BucketObjects:
    """Objects beneath the prefix ``root``. They take their places in the order in which they are put."""

    def __init__(self, root: Address, connection: Connection, progress: Progress) -> None:
        self._root = root
        self._connection = connection
        self._progress = progress
        self._objects = NewObjects(connection)

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """See Objects."""
        with cancelling(self._progress):
            out = self._objects.add(Address(self._root.bucket, f"{self._root.prefix}{key}"), type_of(key))
            for piece in content:
                out.write(piece)

    def beneath(self, key: str) -> S3Prefix:
        """What is beneath a key already; nothing is asked for yet."""
        address = Address(self._root.bucket, f"{self._root.prefix}{key}/")
        return S3Prefix(client_for(self._connection), address, self._objects.ledger)

    def __enter__(self) -> Self:
        self._objects.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with cancelling(self._progress):
            self._objects.__exit__(kind, error, trace)
