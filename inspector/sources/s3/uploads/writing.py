"""Change an object on S3, whole or not at all, and only if it still is the one that was shown; no other module does.

Objects cannot be changed in place. A new one is made of parts: those with changes are sent, the server copies all
others from the old one. It replaces the old one in one step, which the server makes only if the ETag is still the same;
until then the upload is invisible to others, and it is aborted if anything fails.

Parts have a minimum size, so bytes are read and sent again that do not change. Each is proved first to be what the
server has: it copies the same range into a scratch upload, which is aborted, and says the MD5 of what it copied.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor, wait

from isal.isal_zlib import crc32
from msgspec import Struct

from inspector.core.edit import Edit, EditError
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.core.program.hints import Hint, hint
from inspector.core.program.progress import Progress, cancelling, check_cancelled
from inspector.core.source import SourceError
from inspector.core.span import Span
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.request_log import Why
from inspector.sources.s3.responses import ByteRange, Head
from inspector.sources.s3.sentences import ConsentNeededError, S3Error
from inspector.sources.s3.source import MAX_WHOLE_BYTES, S3Source, is_md5
from inspector.sources.s3.uploads.new_objects import NewObject, OutcomeUnknownError
from inspector.sources.s3.uploads.pieces import MIN_PART_BYTES, SENT_PART_BYTES, Piece, pieces_of
from inspector.sources.s3.uploads.sender import (
    CHECKSUM,
    NOT_IMPLEMENTED,
    ObjectSettings,
    Part,
    Sender,
    Upload,
    crc32_text,
    replace_same,
    require_condition,
    sender_for,
)

_COPIERS = 4
"""Concurrent copies by the server."""
_CANNOT_COPY = (405, NOT_IMPLEMENTED)
_DENIED, _GONE, _NOT_AS_BEFORE = 403, 404, 412
_POLL_SECONDS = 0.2
"""Seconds between checks for cancellation while the server copies."""


class WrittenObject(Struct, frozen=True):
    """A finished change.

    ``etag`` is the new object's, ``before`` the version that it replaced, which the bucket keeps (empty where it keeps
    none), ``warnings`` are sentences for users.
    """

    etag: str
    pieces: tuple[Piece, ...]
    before: str
    warnings: tuple[str, ...]


def write_object(source: S3Source, edit: Edit, progress: Progress, consents: Consent = Consent.NONE) -> WrittenObject:
    """Make the change in the object of ``source``, if it is unchanged since it was opened.

    Raises EditError and Cancelled; then the object is unchanged, or the message says that this is unknown.
    """
    writing = _Writing(source, edit, consents, progress)
    with cancelling(progress):
        try:
            return writing.run()
        except OutcomeUnknownError as error:
            raise EditError(str(error)) from error
        except SourceError as error:
            if isinstance(error, S3Error) and error.status == _NOT_AS_BEFORE:
                source.replaced = True
            raise EditError(f"{writing.name} was not changed: {error}") from error


class _Writing:
    """One change of one object."""

    def __init__(self, source: S3Source, edit: Edit, consents: Consent, progress: Progress) -> None:
        self.name = visible(source.name)
        self._source = source
        self._edit = edit
        self._consents = consents
        self._pieces = tuple(pieces_of(edit, whole=Consent.WHOLE in consents))
        self._progress = progress
        self._sender: Sender = sender_for(source.connection)
        self._new: NewObject
        self._scratch: Upload | None = None
        self._read = hashlib.md5(usedforsecurity=False)
        self._read_crc32 = 0
        """Of all that was read of the old object, where all of it is sent."""
        self._kept: ObjectSettings = {}
        self._sure = True
        """Whether the server refuses to overwrite an object that someone else put there meanwhile."""
        self._before = ""
        self._warnings: list[str] = []

    def run(self) -> WrittenObject:
        """See write_object; also raises SourceError."""
        self._progress.begin(f"Writing {self.name}", self._edit.new_size)
        self._kept = self._compared()
        if Consent.UNCONDITIONAL in self._consents:
            self._sure = self._sender.keeps_conditions
        else:
            require_condition(self._sender, self._source.address, self._source.log, in_parts=not self._is_one())
        self._new = NewObject(self._source.address, self._kept, self._sender, self._source.log, self._source.etag)
        try:
            self._send()
            self._prove_all()
            if not self._is_one():
                self._still_there()
            replace_same(self._new.place, self._source.etag, self._still_there, self._consents)
        except BaseException as error:
            if left := self._abort_uploads():
                raise EditError(f"{error} {left}") from error
            raise
        if not self._sure:
            self._warnings.append(
                "A check just before writing showed that no one else had replaced the object; whether the server "
                "enforces that condition while writing is unknown."
            )
        if left := self._abort_uploads():
            self._warnings.append(left)
        self._keep_tags()
        self._compare_written(self._new.etag)
        return WrittenObject(self._new.etag, self._pieces, self._before, tuple(self._warnings))

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
        self._before = head.version
        return kept

    def _not_changed(self, why: str) -> EditError:
        return EditError(f"{self.name} was not changed: {why}")

    # ---- writing ---------------------------------------------------------------------------------------------------

    def _abort_uploads(self) -> str:
        """Abort what was begun and not completed; returns a sentence on what could not be."""
        scratch = "" if self._scratch is None else self._sender.abandon(self._scratch, self._source.log)
        return " ".join(filter(None, (self._new.discard(), scratch)))

    def _send(self) -> None:
        if self._is_one():
            self._new.write(self._proved(self._pieces[0]) if self._pieces else b"")
            self._progress.advance(self._new.size)
            return
        upload, parts, self._new.size = self._new.begin(), self._new.parts, self._edit.new_size
        with ThreadPoolExecutor(_COPIERS) as pool:
            pieces = list(enumerate(self._pieces, 1))
            copies = [
                (pool.submit(self._copy, upload, number, ByteRange(piece.start, piece.stop)), number, piece.size)
                for number, piece in pieces
                if piece.copied
            ]
            try:
                wait([copy for copy, _, _ in copies[:1]], _POLL_SECONDS)  # one that cannot copy fails first
                for number, piece in pieces:
                    if not piece.copied:
                        check_cancelled()
                        for failed in [copy for copy, _, _ in copies if copy.done() and copy.exception()]:
                            failed.result()
                        parts[number] = self._sender.send(upload, number, self._proved(piece), self._source.log)
                        self._progress.advance(piece.size)
                for copy, number, size in copies:
                    while not wait([copy], _POLL_SECONDS).done:
                        check_cancelled()
                    parts[number] = copy.result()
                    self._progress.advance(size)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _copy(self, upload: Upload, number: int, asked: ByteRange) -> Part:
        head = Head(self._source.size, self._source.etag, self._source.version)
        try:
            return self._sender.copy(upload, number, self._source.address, head, asked, self._source.log)
        except S3Error as error:
            if error.status not in _CANNOT_COPY:
                raise
            raise ConsentNeededError(
                f"{self.name} was not changed: this server cannot copy parts of objects, so all "
                f"{rounded(self._edit.new_size)} would have to be read and sent. That needs your "
                f"consent{hint(Hint.WHOLE)}.",
                Consent.WHOLE,
            ) from error

    # ---- proving ---------------------------------------------------------------------------------------------------

    def _proved(self, piece: Piece) -> bytes:
        """The bytes of a piece to send; what is read for it is proved before."""
        start, size = piece.start, self._edit.old_size
        stop = size if not start and size <= MIN_PART_BYTES else max(start, min(piece.stop, size))
        old = self._source.read(start, stop - start)
        if len(old) != stop - start:
            raise self._not_changed(f"it ends early, before byte {stop:,}.")
        self._prove(start, old)
        data = bytearray(old[: piece.size].ljust(piece.size, b"\0"))
        for patch in self._edit.patches:
            begin, end = max(start, patch.offset), min(piece.stop, patch.span.stop)
            if begin < end:
                data[begin - start : end - start] = patch.new[begin - patch.offset : end - patch.offset]
        return bytes(data)

    def _prove(self, start: int, data: bytes) -> None:
        """Raise EditError unless the server says a digest of its own bytes that these have too."""
        if Consent.WHOLE in self._consents:
            self._read.update(data)
            self._read_crc32 = crc32(data, self._read_crc32)
            return
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        is_all = len(data) == self._source.size
        if not data or (is_all and self._source.etag.strip('"') == digest):
            return
        encrypted = self._kept.get("ServerSideEncryption", "AES256") != "AES256"
        if self._scratch is None:
            address, log = self._source.address, self._source.log
            self._scratch = self._sender.begin(address, CHECKSUM if encrypted else {}, log)
        part = self._copy(self._scratch, 1, ByteRange(start, start + len(data)))
        said = part.etag.strip('"').lower()
        if digest != said and part.crc32 != crc32_text(data):
            self._still_there()  # some servers copy from whatever is there
            differs = bool(part.crc32) or (not encrypted and is_md5(said))
            raise self._not_proved(Span(start, start + len(data)), differs=differs)

    def _prove_all(self) -> None:
        """The same where all of it is sent: by the ETag of the object, or the CRC-32 that the server keeps."""
        if Consent.WHOLE not in self._consents:
            return
        dropped = self._edit.dropped
        self._prove(dropped.start, self._source.read(dropped.start, dropped.size))
        said, found = self._source.etag.strip('"').lower(), self._read.hexdigest()
        if found != said and (is_md5(said) or self._source.kept_crc32() != self._read_crc32):
            raise self._not_proved(Span(0, self._edit.old_size), differs=is_md5(said))

    def _not_proved(self, span: Span, *, differs: bool) -> EditError:
        again = f"[{span.start:,}, {span.stop:,}) would be sent again, and"
        if differs:
            return self._not_changed(
                f"{again} what was read of it is not what the server has, by its digest. Something on the way changes "
                "bytes. Use another connection, or change the archive where the server is."
            )
        return self._not_changed(
            f"{again} the server gives no MD5 or CRC-32 that would prove that it was read right (it may be encrypted). "
            "Download the object another way, change that copy, check it, and upload it."
        )

    # ---- after -----------------------------------------------------------------------------------------------------

    def _keep_tags(self) -> None:
        """Restore the tags, which some servers drop in multipart uploads."""
        address, log, tags = self._source.address, self._source.log, str(self._kept.get("Tagging") or "")
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
