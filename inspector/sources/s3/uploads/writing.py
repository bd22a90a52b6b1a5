"""Change an object on S3, whole or not at all, and only if it still is the one that was shown; no other module does.

Objects cannot be changed in place. A new one is made of parts: those with changes are sent, the server copies all
others from the old one. It replaces the old one in one step, which the server makes only if the ETag is still the same;
until then the upload is invisible to others, and it is aborted if anything fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from msgspec import Struct

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.core.program.hints import Hint, hint
from inspector.core.program.progress import Progress, cancelling, check_cancelled
from inspector.core.source import SourceError
from inspector.sources.s3.request_log import Why
from inspector.sources.s3.responses import ByteRange, Head
from inspector.sources.s3.sentences import CannotCopyError, S3Error
from inspector.sources.s3.source import MAX_WHOLE_BYTES, S3Source
from inspector.sources.s3.uploads.pieces import SENT_PART_BYTES, Piece, pieces_of
from inspector.sources.s3.uploads.sender import (
    NOT_IMPLEMENTED,
    ObjectSettings,
    Part,
    Sender,
    Upload,
    confirmed,
    etag_of,
    sender_for,
)

_COPIERS = 4
"""Concurrent copies by the server."""
_CANNOT_COPY = (405, NOT_IMPLEMENTED)
_DENIED, _GONE, _NOT_AS_BEFORE = 403, 404, 412
_POLL_SECONDS = 0.2
"""Seconds between checks for cancellation while the server copies."""


class WrittenObject(Struct, frozen=True):
    """A finished change. ``etag`` is the new object's, ``warnings`` are sentences for users."""

    etag: str
    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...]


def write_object(source: S3Source, edit: Edit, progress: Progress, *, whole: bool = False) -> WrittenObject:
    """Make the change in the object of ``source``, if it is unchanged since it was opened.

    ``whole`` sends all of it, for servers that cannot copy. Raises EditError and Cancelled; then the object is
    unchanged, or the message says that this is unknown.
    """
    writing = _Writing(source, edit, pieces_of(edit, whole=whole), progress)
    with cancelling(progress):
        try:
            return writing.run()
        except SourceError as error:
            if isinstance(error, S3Error) and error.status == _NOT_AS_BEFORE:
                source.replaced = True
            raise EditError(f"{writing.name} was not changed: {error}") from error


class _Writing:
    """One change of one object."""

    def __init__(self, source: S3Source, edit: Edit, pieces: Sequence[Piece], progress: Progress) -> None:
        self.name = visible(source.name)
        self._source = source
        self._edit = edit
        self._pieces = tuple(pieces)
        self._progress = progress
        self._sender: Sender = sender_for(source.connection)
        self._after = OverlaySource(source, edit)
        self._warnings: list[str] = []

    def run(self) -> WrittenObject:
        """See write_object; also raises SourceError."""
        self._progress.begin(f"Writing {self.name}", self._edit.new_size)
        kept = self._compared()
        etag = self._put(kept) if self._is_one() else self._make(kept)
        self._keep_tags(kept)
        self._compare_written(etag)
        return WrittenObject(etag, self._pieces, tuple(self._warnings))

    def _is_one(self) -> bool:
        """Whether a single request sends all of it."""
        return not self._pieces or (len(self._pieces) == 1 and not self._pieces[0].copied)

    # ---- before ----------------------------------------------------------------------------------------------------

    def _compared(self) -> ObjectSettings:
        """The settings of the new object, if the old one is the one the change is for. Raises EditError."""
        if self._source.size != self._edit.old_size:
            raise self._not_changed(f"it has {in_bytes(self._source.size)}, and the change is for another size.")
        for patch in self._edit.patches:
            if self._source.read(patch.offset, len(patch.old)) != patch.old:
                stop = patch.offset + len(patch.old)
                raise self._not_changed(f"[{patch.offset:,}, {stop:,}) has other bytes than the change expects.")
        kept = dict(self._still_there())
        try:
            tags = self._sender.tags(self._source.address, self._source.log)
        except S3Error as error:
            if error.status != _DENIED:
                raise
            self._warnings.append("Reading its tags is not allowed, so the new object has none.")
        else:
            kept |= {"Tagging": tags} if tags else {}
        return kept

    def _still_there(self) -> ObjectSettings:
        """The settings of the object; raises EditError if it was replaced."""
        head, kept = self._sender.state(self._source.address, self._source.log)
        if not head.etag or (head.etag, head.size) != (self._source.etag, self._source.size):
            self._source.replaced = True
            raise self._not_changed(
                f"it was replaced meanwhile. Open it again{hint(Hint.AGAIN)} to see what it is now."
            )
        return kept

    def _not_changed(self, why: str) -> EditError:
        return EditError(f"{self.name} was not changed: {why}")

    # ---- writing ---------------------------------------------------------------------------------------------------

    def _put(self, kept: ObjectSettings) -> str:
        data = self._after.read(0, self._after.size)
        if len(data) != self._after.size:
            raise self._not_changed("it ends early.")
        address, log = self._source.address, self._source.log
        made = f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'
        etag = self._on_condition(
            lambda condition: confirmed(
                lambda: self._sender.put(address, data, kept, condition, log),
                lambda error: self._find_result(made, error),
            )
        )
        self._progress.advance(len(data))
        return etag

    def _make(self, kept: ObjectSettings) -> str:
        log = self._source.log
        upload = self._sender.begin(self._source.address, kept, log)
        try:
            parts = self._parts(upload)
            self._still_there()
            return self._complete(upload, parts)
        except BaseException as error:
            self._abort(upload, error)
            raise

    def _abort(self, upload: Upload, why: BaseException) -> None:
        try:
            self._sender.abort(upload, self._source.log)
        except S3Error as error:
            if error.status != _GONE:
                raise EditError(
                    f"{why} The uploaded parts could not be removed ({error}); they cost money until the upload "
                    f"{visible(upload.id)} is aborted{hint(Hint.REMOVE_UNFINISHED)}."
                ) from why

    def _parts(self, upload: Upload) -> list[Part]:
        found: list[Part] = []
        with ThreadPoolExecutor(_COPIERS) as pool:
            copies: dict[Future[Part], int] = {}
            try:
                for number, piece in enumerate(self._pieces, 1):
                    if piece.copied:
                        copies[pool.submit(self._copy, upload, number, piece)] = piece.size
                first = next(iter(copies), None)
                if first is not None:
                    wait([first], _POLL_SECONDS)  # a server that cannot copy should fail before anything is sent
                for number, piece in enumerate(self._pieces, 1):
                    if not piece.copied:
                        self._raise_failed_copies(copies)
                        found.append(self._send(upload, number, piece))
                        self._progress.advance(piece.size)
                self._wait_for(copies)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [*found, *(copy.result() for copy in copies)]

    def _copy(self, upload: Upload, number: int, piece: Piece) -> Part:
        head = Head(self._source.size, self._source.etag, self._source.version)
        asked = ByteRange(piece.start, piece.stop)
        try:
            return self._sender.copy(upload, number, self._source.address, head, asked, self._source.log)
        except S3Error as error:
            if error.status not in _CANNOT_COPY:
                raise
            raise CannotCopyError(
                f"{self.name} was not changed: this server cannot copy parts of objects, so all "
                f"{rounded(self._edit.new_size)} would have to be read and sent. That needs your "
                f"consent{hint(Hint.WHOLE)}."
            ) from error

    def _raise_failed_copies(self, copies: dict[Future[Part], int]) -> None:
        """Raise the error of a failed copy."""
        check_cancelled()
        for copy in copies:
            if copy.done():
                copy.result()

    def _wait_for(self, copies: dict[Future[Part], int]) -> None:
        pending = set(copies)
        while pending:
            done, pending = wait(pending, _POLL_SECONDS)
            for copy in done:
                copy.result()
                self._progress.advance(copies[copy])
            check_cancelled()

    def _send(self, upload: Upload, number: int, piece: Piece) -> Part:
        data = self._after.read(piece.start, piece.size)
        if len(data) != piece.size:
            raise self._not_changed(f"it ends early, before byte {piece.stop:,}.")
        return self._sender.send(upload, number, data, self._source.log)

    def _complete(self, upload: Upload, parts: Sequence[Part]) -> str:
        log, made = self._source.log, etag_of(parts)
        etag = self._on_condition(
            lambda condition: confirmed(
                lambda: self._sender.complete(upload, parts, condition, log),
                lambda error: self._find_result(made, error),
            )
        )
        upload.ended()
        return etag

    def _find_result(self, made: str, error: S3Error) -> str:
        """See ``confirmed``; ``made`` is the ETag that most servers assign to the new object."""
        if not error.is_lost and error.code != "NoSuchUpload":
            return ""
        try:
            head, _ = self._sender.state(self._source.address, self._source.log)
        except SourceError as unknown:
            raise self._outcome_unknown(str(unknown)) from error
        if (head.size, head.etag) == (self._edit.new_size, made):
            return head.etag
        if error.is_lost and head.etag != self._source.etag:
            raise self._outcome_unknown(
                "it has another ETag than before, which does not identify the new object"
            ) from error
        return ""

    def _outcome_unknown(self, why: str) -> EditError:
        return EditError(
            f"It is unknown whether {self.name} was changed: the last request got no answer ({why.rstrip('.')}). "
            f"Open it again{hint(Hint.AGAIN)} and check; it is either unchanged or completely changed."
        )

    def _on_condition(self, request: Callable[[ObjectSettings], str]) -> str:
        """Make the request that creates the new object, only if it replaces the one that was shown."""
        sure = self._sender.keeps_conditions
        try:
            etag = self._if_the_same(request)
        except S3Error as error:
            if error.status != NOT_IMPLEMENTED:
                raise
            sure = False
            self._still_there()
            etag = request({})
        if not sure:
            self._warnings.append(
                "A check just before writing showed that no one else had replaced the object; whether the server "
                "enforces that condition while writing is unknown."
            )
        return etag

    def _if_the_same(self, request: Callable[[ObjectSettings], str]) -> str:
        try:
            return request({"IfMatch": self._source.etag})
        except S3Error as error:
            if error.status != _NOT_AS_BEFORE:
                raise
        self._still_there()
        # Ceph's radosgw 16 compares it with an ETag that has no quotes.
        return request({"IfMatch": self._source.etag.strip('"')})

    # ---- after -----------------------------------------------------------------------------------------------------

    def _keep_tags(self, kept: ObjectSettings) -> None:
        """Restore the tags, which some servers drop in multipart uploads."""
        address, log, tags = self._source.address, self._source.log, str(kept.get("Tagging") or "")
        try:
            if tags and self._sender.tags(address, log) != tags:
                self._sender.tag(address, tags, log)
        except S3Error as error:
            self._warnings.append(f"It may have lost its tags, {visible(tags)}: {error}")

    def _compare_written(self, etag: str) -> None:
        """Read the changed bytes back. Raises EditError if they differ."""
        try:
            for patch in self._edit.patches:
                for at in range(0, len(patch.new), SENT_PART_BYTES):
                    self._compare_run(etag, patch.offset + at, patch.new[at : at + SENT_PART_BYTES])
        except S3Error as error:
            if error.status == _NOT_AS_BEFORE:
                self._warnings.append("It was replaced again since, by someone else.")
            else:
                self._warnings.append(f"It is written, but could not be read back: {error}")

    def _compare_run(self, etag: str, start: int, expected: bytes) -> None:
        data, stop = bytearray(), start + len(expected)
        now = Head(self._edit.new_size, etag)
        address, log = self._source.address, self._source.log
        asked = ByteRange(start, stop)
        head = self._sender.get(address, asked, now, data.extend, log, Why.COMPARING, MAX_WHOLE_BYTES)
        found = data if head.partial else data[start:stop]
        if head.size != self._edit.new_size or found != expected:
            self._source.replaced = True
            raise EditError(
                f"{self.name} was written, but [{start:,}, {stop:,}) of it is not what was sent. Open it again and "
                "check it; if the bucket keeps versions, the previous one is unchanged."
            )
