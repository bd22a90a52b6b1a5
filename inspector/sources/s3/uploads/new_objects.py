"""New objects that appear together, once all are complete; NewFiles does the same on disk."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from msgspec.structs import replace

from inspector.core.names import visible
from inspector.core.program.hints import Hint, already_exists, hint
from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled
from inspector.core.source import SourceError
from inspector.sources.s3.address import Address
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection, Consent
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.request_log import RequestLog
from inspector.sources.s3.sentences import S3Error, replaced
from inspector.sources.s3.uploads.pieces import MIN_PART_BYTES, SENT_PART_BYTES
from inspector.sources.s3.uploads.sender import (
    CHECKSUM,
    NOT_IMPLEMENTED,
    ObjectSettings,
    Part,
    Sender,
    Upload,
    confirmed,
    etag_of,
    rejects_checksums,
    replace_same,
    require_condition,
    sender_for,
)

_MAX_BUFFERED_BYTES = 64 << 20
"""Bytes of small objects held in memory until all appear; further ones are sent as parts."""
_MAX_PARTS = 10_000
_PARTS_PER_SIZE = 1_000
"""The size of parts doubles after so many, so that no object needs more than S3 allows."""
_MISSING, _NOT_AS_BEFORE = 404, 412

_T = TypeVar("_T")

_TYPES = {".tar": "application/x-tar", ".metadata": "application/zstd"}
"""The content types of a range's objects, by suffix (S3 Storage Layout, Metadata Files)."""


def type_of(key: str) -> ObjectSettings:
    """The settings of a new object that follow from its key."""
    return next(({"ContentType": kind} for ending, kind in _TYPES.items() if key.endswith(ending)), {})


class OutcomeUnknownError(SourceError):
    """The answer to the last request was lost, and nothing tells what the server did."""


class NewObject:
    """An object that is sent in parts while it is written; created by NewObjects.

    ``size`` counts the bytes so far, ``etag`` is empty until the object exists. ``instead_of`` is the ETag of the
    object that it replaces, if any. The methods are those of NewFile; each raises SourceError, and Cancelled, see
    ``cancelling``.
    """

    def __init__(
        self, address: Address, kept: ObjectSettings, sender: Sender, log: RequestLog, instead_of: str = ""
    ) -> None:
        self.address = address
        self.instead_of = instead_of
        self.size = 0
        self.etag = ""
        self.upload: Upload | None = None
        self._kept = kept
        self._sender = sender
        self._log = log
        self._pending = bytearray()
        self.parts: dict[int, Part] = {}
        self._held: dict[int, tuple[int, bytearray]] = {}
        """Parts that wait for what will be overwritten in them, by their numbers, and where they begin."""
        self._to_overwrite: list[range] = []

    @property
    def pending(self) -> int:
        """Bytes in memory that are not sent yet."""
        return len(self._pending)

    def write(self, data: bytes) -> None:
        self._pending += data
        self.size += len(data)
        while len(self._pending) >= self._part_size() + MIN_PART_BYTES:
            self._send(self._part_size())

    def begin(self) -> Upload:
        """The upload, which is begun unless it was before."""
        if self.upload is None:
            self.upload = self._get_with_retries(lambda: self._sender.begin(self.address, self._kept, self._log))
        return self.upload

    def keep(self, offset: int, length: int) -> None:
        """Announce, before they are written, that these bytes will be overwritten before ``finish``."""
        assert offset >= self.size
        self._to_overwrite.append(range(offset, offset + length))

    def overwrite(self, offset: int, data: bytes) -> None:
        """Overwrite bytes that were announced, or are not sent yet."""
        assert offset + len(data) <= self.size
        for start, held in (*self._held.values(), (self.size - len(self._pending), self._pending)):
            low, high = max(offset, start), min(offset + len(data), start + len(held))
            if low < high:
                held[low - start : high - start] = data[low - offset : high - offset]
        self._to_overwrite = [
            each for each in self._to_overwrite if offset > each.start or offset + len(data) < each.stop
        ]
        self._send_held()

    def finish(self) -> None:
        """Send the rest."""
        self._to_overwrite.clear()
        if self._pending:
            self._send(len(self._pending))
        self._send_held()

    def place(self, condition: ObjectSettings) -> None:
        """Make the object exist, if ``condition`` holds."""
        if self.upload is not None:
            self.finish()
        self.etag = self._get_with_retries(lambda: self._complete_or_put(condition))
        self._pending, self.upload = bytearray(), None

    def _complete_or_put(self, condition: ObjectSettings) -> str:
        def request() -> str:
            if self.upload is None:
                return self._sender.put(self.address, bytes(self._pending), self._kept, condition, self._log)
            return self._sender.complete(self.upload, list(self.parts.values()), condition, self._log)

        return confirmed(request, self._find_result)

    def _find_result(self, error: S3Error) -> str:
        """Look for the object after a lost response, see ``confirmed``."""
        may_be_placed = error.code == "NoSuchUpload" or (error.status == _NOT_AS_BEFORE and not self.instead_of)
        if not error.is_lost and not may_be_placed:
            return ""
        try:
            head, _ = self._sender.state(self.address, self._log)
        except S3Error as unknown:
            if not self.instead_of and (unknown.status == _MISSING or not error.is_lost):
                return ""
            raise self._outcome_unknown(str(unknown)) from error
        if (head.size, head.etag) == (self.size, self._expected()):
            if self.upload is not None:
                self.upload.ended()
            return head.etag
        if error.is_lost and head.etag != self.instead_of and (self.instead_of or head.size == self.size):
            other = "it has another ETag than before" if self.instead_of else "an object of its size exists"
            raise self._outcome_unknown(f"{other}, but that does not identify the new object") from error
        return ""

    def _outcome_unknown(self, why: str) -> OutcomeUnknownError:
        done, next_step = "created", "Check whether it exists; if it does, it is complete."
        if self.instead_of:
            done = "changed"
            next_step = f"Open it again{hint(Hint.AGAIN)} and check; it is either unchanged or completely changed."
        return OutcomeUnknownError(
            f"It is unknown whether {visible(self.address.location)} was {done}: the last request got no answer "
            f"({why.rstrip('.')}). {next_step}"
        )

    def _expected(self) -> str:
        """The ETag that most servers would assign."""
        if self.upload is not None:
            return etag_of(list(self.parts.values()))
        return f'"{hashlib.md5(self._pending, usedforsecurity=False).hexdigest()}"'

    def _get_with_retries(self, request: Callable[[], _T]) -> _T:
        """Make a request; repeat it without a checksum for servers that store none."""
        try:
            return request()
        except S3Error as error:
            if not rejects_checksums(error) or not (CHECKSUM.keys() & self._kept.keys()):
                raise
            self._kept = {name: value for name, value in self._kept.items() if name not in CHECKSUM}
            if self.upload is not None:
                self.upload = replace(self.upload, checksum=False)
                self.parts = {number: part._replace(crc32="") for number, part in self.parts.items()}
            return request()

    def discard(self) -> str:
        """Remove its parts before it exists; returns a sentence if that fails."""
        return "" if self.upload is None else self._sender.abandon(self.upload, self._log)

    def _part_size(self) -> int:
        return SENT_PART_BYTES << (len(self.parts) + len(self._held)) // _PARTS_PER_SIZE

    def _send(self, length: int) -> None:
        """Send the first pending bytes as a part, once none of them will be overwritten any more."""
        self.begin()
        number = len(self.parts) + len(self._held) + 1
        if number > _MAX_PARTS:
            raise SourceError(f"{visible(self.address.location)} would need more parts than S3 allows.")
        self._held[number] = self.size - len(self._pending), self._pending[:length]
        del self._pending[:length]
        self._send_held()

    def _send_held(self) -> None:
        for number, (start, data) in list(self._held.items()):
            if not any(each.start < start + len(data) and start < each.stop for each in self._to_overwrite):
                check_cancelled()
                self.parts[number] = self._sender.send(self.begin(), number, bytes(data), self._log)
                del self._held[number]


class NewObjects:
    """A context manager for objects that exist once its block ends without an exception, and not otherwise.

    Raises SourceError. If one of several fails, those already created are deleted again; with ``replace`` they have
    replaced others and stay, and the sentence names them.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        replace: bool = False,
        log: RequestLog | None = None,
        consents: Consent = Consent.NONE,
    ) -> None:
        self.log = log or RequestLog()
        self._sender = sender_for(connection)
        self._replace = replace
        self._consents = consents
        self._objects: list[NewObject] = []

    def add(self, address: Address, kept: ObjectSettings | None = None, *, instead_of: str = "") -> NewObject:
        """Start an object with the settings ``kept``, and finish the one before it.

        ``instead_of`` is the ETag of the only object that it may replace, see ``still_there``. Servers that can
        are asked to store a CRC-32 of all its bytes.
        """
        if sum(each.pending for each in self._objects) > _MAX_BUFFERED_BYTES or (
            self._objects and self._objects[-1].upload
        ):
            self._objects[-1].finish()
        made = NewObject(address, {**CHECKSUM, **(kept or {})}, self._sender, self.log, instead_of)
        self._objects.append(made)
        return made

    def still_there(self, address: Address, etag: str) -> ObjectSettings:
        """The settings of the object with this ETag. Raises SourceError if another one is there."""
        head, kept = self._sender.state(address, self.log)
        if not etag or head.etag != etag:
            raise SourceError(replaced(address.location))
        return kept

    def see_that_it_is_free(self, address: Address) -> None:
        """Raise SourceError if an object exists and ``replace`` is false."""
        if self._replace:
            return
        try:
            self._sender.state(address, self.log)
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
        failure = error
        if error is None:
            try:
                for each in self._objects:
                    self._place(each)
            except BaseException as reason:  # noqa: BLE001 - raised below, with what is left
                failure = reason
        if failure is None:
            return
        left = " ".join(self._discard())
        if left and isinstance(failure, SourceError | Cancelled):
            why = "It was cancelled." if isinstance(failure, Cancelled) else str(failure)
            raise SourceError(f"{why} {left}") from failure
        if left and isinstance(failure, KeyboardInterrupt):
            raise KeyboardInterrupt(left) from failure
        if error is None:
            raise failure

    def _place_instead(self, each: NewObject) -> None:
        """Make it replace one particular object, and no other."""
        if Consent.UNCONDITIONAL not in self._consents:
            require_condition(self._sender, each.address, self.log, in_parts=each.upload is not None)
        still_there = partial(self.still_there, each.address, each.instead_of)
        still_there()
        replace_same(each.place, each.instead_of, still_there, self._consents)

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
        """Remove everything possible; returns sentences on the rest."""
        words = [each.discard() for each in self._objects]
        for each in self._objects:
            if each.etag and (self._replace or each.instead_of):
                words.append(f"{visible(each.address.location)} has already been created.")
            elif each.etag:
                with contextlib.suppress(SourceError):
                    if self._sender.state(each.address, self.log)[0].etag == each.etag:
                        self._sender.remove(each.address, self.log)
        return [each for each in words if each]


class BucketObjects(NewObjects):
    """New objects below the prefix ``root``, as FolderObjects; they appear in the order in which they are put."""

    def __init__(self, root: Address, connection: Connection, progress: Progress) -> None:
        super().__init__(connection)
        self._root = root
        self._connection = connection
        self._progress = progress

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """Send an object; exceptions of ``content`` pass through."""
        with cancelling(self._progress):
            out = self.add(Address(self._root.bucket, f"{self._root.prefix}{key}"), type_of(key))
            for piece in content:
                out.write(piece)

    def beneath(self, key: str) -> S3Prefix:
        """The existing objects below a key; makes no request yet."""
        address = Address(self._root.bucket, f"{self._root.prefix}{key}/")
        return S3Prefix(client_for(self._connection), address, self.log)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with cancelling(self._progress):
            super().__exit__(kind, error, trace)
