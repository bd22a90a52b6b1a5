"""The one place that changes an object on S3: whole or not at all, and only where it still is the one that was shown.

An object cannot be changed in place. A new one is made of parts: those with changes are sent, all others the server
copies from the one that is there. It takes that one's place in one step, which the server makes only if the ETag is
still the same; until then an upload leaves nothing that others see, and it is aborted where anything fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.hints import Hint, hint
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.sources.s3.cancelling import cancelling, look
from inspector.sources.s3.ledger import Why
from inspector.sources.s3.pieces import SENT, Piece, pieces_of
from inspector.sources.s3.responses import Asked, Head
from inspector.sources.s3.sender import NOT_IMPLEMENTED, Kept, Part, Sender, Upload, etag_of, sender_for, settled
from inspector.sources.s3.sentences import CannotCopyError, S3Error
from inspector.sources.s3.source import LARGEST_WHOLE, S3Source

_COPIERS = 4
"""Copies that the server is asked to make at once."""
_CANNOT_COPY = (405, NOT_IMPLEMENTED)
_DENIED, _GONE, _NOT_AS_BEFORE = 403, 404, 412
_LOOKING = 0.2
"""Seconds between two looks at whether to go on, while the server copies."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A change that is made. ``etag`` is the new object's, ``warnings`` are sentences for the user."""

    etag: str
    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...]


def write_object(source: S3Source, edit: Edit, progress: Progress, *, whole: bool = False) -> Sent:
    """Make the change in the object that ``source`` reads, if it still is as it was when that was opened.

    ``whole`` sends all of it, for servers that cannot copy. Raises EditError and Cancelled; then the object is as it
    was, or the message says that this is not known.
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

    def run(self) -> Sent:
        """See write_object; raises SourceError, too."""
        self._progress.begin(f"Writing {self.name}", self._edit.new_size)
        kept = self._compared()
        etag = self._put(kept) if self._is_one() else self._make(kept)
        self._keep_tags(kept)
        self._compare_written(etag)
        return Sent(etag, self._pieces, tuple(self._warnings))

    def _is_one(self) -> bool:
        """Whether one request sends all of it."""
        return not self._pieces or (len(self._pieces) == 1 and not self._pieces[0].copied)

    # ---- before ----------------------------------------------------------------------------------------------------

    def _compared(self) -> Kept:
        """What the new object gets, where the one that is there is the one the change is for. Raises EditError."""
        if self._source.size != self._edit.old_size:
            raise self._not_changed(f"it has {in_bytes(self._source.size)}, and the change is for another size.")
        for patch in self._edit.patches:
            if self._source.read(patch.offset, len(patch.old)) != patch.old:
                stop = patch.offset + len(patch.old)
                raise self._not_changed(f"[{patch.offset:,}, {stop:,}) holds other bytes than the change is for.")
        kept = dict(self._still_there())
        try:
            tags = self._sender.tags(self._source.address, self._source.ledger)
        except S3Error as error:
            if error.status != _DENIED:
                raise
            self._warnings.append("Its tags may not be read, so the new object has none.")
        else:
            kept |= {"Tagging": tags} if tags else {}
        return kept

    def _still_there(self) -> Kept:
        """What is kept beside the bytes; raises EditError where another object is there by now."""
        head, kept = self._sender.state(self._source.address, self._source.ledger)
        if not head.etag or (head.etag, head.size) != (self._source.etag, self._source.size):
            self._source.replaced = True
            raise self._not_changed(
                f"it was replaced meanwhile. Open it again{hint(Hint.AGAIN)} to see what it is now."
            )
        return kept

    def _not_changed(self, why: str) -> EditError:
        return EditError(f"{self.name} was not changed: {why}")

    # ---- writing ---------------------------------------------------------------------------------------------------

    def _put(self, kept: Kept) -> str:
        data = self._after.read(0, self._after.size)
        if len(data) != self._after.size:
            raise self._not_changed("it ends early.")
        address, ledger = self._source.address, self._source.ledger
        made = f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'
        etag = self._on_condition(
            lambda condition: settled(
                lambda: self._sender.put(address, data, kept, condition, ledger), lambda error: self._found(made, error)
            )
        )
        self._progress.advance(len(data))
        return etag

    def _make(self, kept: Kept) -> str:
        ledger = self._source.ledger
        upload = self._sender.begin(self._source.address, kept, ledger)
        try:
            parts = self._parts(upload)
            self._still_there()
            return self._complete(upload, parts)
        except BaseException as error:
            self._abort(upload, error)
            raise

    def _abort(self, upload: Upload, why: BaseException) -> None:
        try:
            self._sender.abort(upload, self._source.ledger)
        except S3Error as error:
            if error.status != _GONE:
                raise EditError(
                    f"{why} What was sent could not be removed again ({error}); it costs until the upload "
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
                    wait([first], _LOOKING)  # who cannot copy should say so before anything is sent
                for number, piece in enumerate(self._pieces, 1):
                    if not piece.copied:
                        self._see_to(copies)
                        found.append(self._send(upload, number, piece))
                        self._progress.advance(piece.size)
                self._wait_for(copies)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [*found, *(copy.result() for copy in copies)]

    def _copy(self, upload: Upload, number: int, piece: Piece) -> Part:
        head = Head(self._source.size, self._source.etag, self._source.version)
        asked = Asked(piece.start, piece.stop)
        try:
            return self._sender.copy(upload, number, self._source.address, head, asked, self._source.ledger)
        except S3Error as error:
            if error.status not in _CANNOT_COPY:
                raise
            raise CannotCopyError(
                f"{self.name} was not changed: this server cannot make a new object of parts of another one, so all "
                f"{rounded(self._edit.new_size)} would have to be read and sent. That is done only if you say "
                f"so{hint(Hint.WHOLE)}."
            ) from error

    def _see_to(self, copies: dict[Future[Part], int]) -> None:
        """Raise what a copy has raised so far."""
        look()
        for copy in copies:
            if copy.done():
                copy.result()

    def _wait_for(self, copies: dict[Future[Part], int]) -> None:
        waiting = set(copies)
        while waiting:
            done, waiting = wait(waiting, _LOOKING)
            for copy in done:
                copy.result()
                self._progress.advance(copies[copy])
            look()

    def _send(self, upload: Upload, number: int, piece: Piece) -> Part:
        data = self._after.read(piece.start, piece.size)
        if len(data) != piece.size:
            raise self._not_changed(f"it ends early, before byte {piece.stop:,}.")
        return self._sender.send(upload, number, data, self._source.ledger)

    def _complete(self, upload: Upload, parts: Sequence[Part]) -> str:
        ledger, made = self._source.ledger, etag_of(parts)
        etag = self._on_condition(
            lambda condition: settled(
                lambda: self._sender.complete(upload, parts, condition, ledger), lambda error: self._found(made, error)
            )
        )
        upload.ended()
        return etag

    def _found(self, made: str, error: S3Error) -> str:
        """See ``settled``; ``made`` is the ETag that most servers give to the new object."""
        if not error.is_lost and error.code != "NoSuchUpload":
            return ""
        try:
            head, _ = self._sender.state(self._source.address, self._source.ledger)
        except SourceError as unknown:
            raise self._not_known(str(unknown)) from error
        if (head.size, head.etag) == (self._edit.new_size, made):
            return head.etag
        if error.is_lost and head.etag != self._source.etag:
            raise self._not_known("what is there now has another ETag than before, and none that tells") from error
        return ""

    def _not_known(self, why: str) -> EditError:
        return EditError(
            f"It is not known whether {self.name} was changed: the last request got no answer ({why.rstrip('.')}). "
            f"Open it again{hint(Hint.AGAIN)} and look; it is either as it was, or as it was to be."
        )

    def _on_condition(self, request: Callable[[Kept], str]) -> str:
        """Make the request that lets the new object be there, only in the place of the one that was shown."""
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
                "That no one else had replaced it was compared a moment before it was written; whether the server "
                "holds to that condition in the moment of writing is not known."
            )
        return etag

    def _if_the_same(self, request: Callable[[Kept], str]) -> str:
        try:
            return request({"IfMatch": self._source.etag})
        except S3Error as error:
            if error.status != _NOT_AS_BEFORE:
                raise
        self._still_there()
        # Ceph's radosgw 16 compares it with an ETag that has no quotes.
        return request({"IfMatch": self._source.etag.strip('"')})

    # ---- after -----------------------------------------------------------------------------------------------------

    def _keep_tags(self, kept: Kept) -> None:
        """Some servers forget them where an object is made of parts."""
        address, ledger, tags = self._source.address, self._source.ledger, str(kept.get("Tagging") or "")
        try:
            if tags and self._sender.tags(address, ledger) != tags:
                self._sender.tag(address, tags, ledger)
        except S3Error as error:
            self._warnings.append(f"It may have lost its tags, {visible(tags)}: {error}")

    def _compare_written(self, etag: str) -> None:
        """Read the changed bytes of the new object. Raises EditError where they are others."""
        try:
            for patch in self._edit.patches:
                for at in range(0, len(patch.new), SENT):
                    self._compare_run(etag, patch.offset + at, patch.new[at : at + SENT])
        except S3Error as error:
            if error.status == _NOT_AS_BEFORE:
                self._warnings.append("It was replaced again since, by someone else.")
            else:
                self._warnings.append(f"It is written, but could not be read back: {error}")

    def _compare_run(self, etag: str, start: int, expected: bytes) -> None:
        data, stop = bytearray(), start + len(expected)
        now = Head(self._edit.new_size, etag)
        address, ledger = self._source.address, self._source.ledger
        asked = Asked(start, stop)
        head = self._sender.get(address, asked, now, data, ledger, Why.COMPARING, _nothing, LARGEST_WHOLE)
        found = data if head.partial else data[start:stop]
        if head.size != self._edit.new_size or found != expected:
            self._source.replaced = True
            raise EditError(
                f"{self.name} was written, but [{start:,}, {stop:,}) of it is not what was sent. Open it again and "
                "check it; where the bucket keeps versions, the one before is as it was."
            )


def _nothing() -> None:
    """What is written is read back even if the user has had enough."""
