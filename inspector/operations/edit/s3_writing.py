"""Changing archives that are on S3: what will be sent, and the sending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.names import visible
from inspector.core.numbers import count, plural, rounded
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.operations.jobs.targets import check_targets, new_archives
from inspector.operations.protocol.edit_views import WriteResult, done_sentence
from inspector.sources.local.disk_calls import Disk, reason
from inspector.sources.local.old_bytes import MAX_INLINE_BYTES, forget, prune, store_detached
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.pieces import Piece, bytes_sent, merged, pieces_of
from inspector.sources.s3.source import S3Source


def sent_bytes(edit: Edit, *, whole: bool = False) -> int:
    """How many bytes of an object writing an edit would send; about as many are read before."""
    return bytes_sent(pieces_of(edit, whole=whole))


def sending_lines(source: S3Source, edit: Edit, *, whole: bool = False, planned: bool = True) -> list[str]:
    """What writing an edit sends, what the server copies by itself, and how, in lines; ``planned``: would send."""
    pieces = pieces_of(edit, whole=whole)
    sent = bytes_sent(pieces)
    lines = [f"bytes {piece.start:,} to {piece.stop:,}: {_does(piece)}" for piece in merged(pieces)]
    are, is_ = ("would be", "would be") if planned else ("are", "is")
    total = f"In all {sent:,} of {edit.new_size:,} bytes {are} read and sent again."
    is_one = not any(piece.copied for piece in pieces) and len(pieces) < 2
    how = "one request" if is_one else f"a multipart upload of {count(len(pieces), 'part')}"
    return [
        *lines,
        total if sent else f"No byte of {edit.new_size:,} {is_} sent.",
        f"It takes {how}, and counts only if the object still has the ETag {visible(source.etag)} (If-Match).",
    ]


def _does(piece: Piece) -> str:
    size = rounded(piece.size)
    return f"{size}, copied by the server itself" if piece.copied else f"{size}, read and sent again"


def write_edit_to_s3(source: S3Source, edit: Edit, progress: Progress, *, whole: bool = False) -> WriteResult:
    """Make a change of an object; see write_object for ``whole``. Raises EditError and Cancelled."""
    from inspector.sources.s3.writing import write_object  # loads boto3

    name, cut = visible(source.name), edit.dropped.size
    if cut > MAX_INLINE_BYTES:
        raise EditError(
            f"{name} was not changed: {rounded(cut)} would be cut off, and at most {rounded(MAX_INLINE_BYTES)} of an "
            "object are kept. Write a repaired copy instead."
        )
    with cancelling(progress):
        dropped = source.read(*_run(edit))
    try:
        stored = store_detached(source.name, edit, dropped)
    except OSError as error:
        raise EditError(f"{name} was not changed: what would be cut off cannot be kept ({reason(error)}).") from error
    try:
        sent = write_object(source, edit, progress, whole=whole)
    except BaseException:
        forget(stored.files, Disk())
        raise
    prune(Disk())
    words = _words(sent.pieces)
    if stored.cut is not None:
        words += f", {rounded(cut)} cut off, kept in {visible(stored.cut.path)}"
    warnings = (*sent.warnings, *filter(None, (stored.warning,)))
    return WriteResult(done_sentence(edit.label, words), warnings, edit.reverted(dropped), stored.cut)


def put_copy(
    source: Source, edit: Edit, address: Address, connection: Connection, progress: Progress, over: bool
) -> None:
    """Make an object of what ``source`` would be with an edit; see put_pieces."""

    def pieces() -> Iterator[bytes]:
        for piece in blocks(OverlaySource(source, edit), 0, edit.new_size):
            yield piece
            progress.advance(len(piece))
        if progress.done != edit.new_size:
            raise SourceError(f"No copy was written: {visible(source.name)} ends after {progress.done:,} bytes now.")

    put_pieces(pieces(), address, connection, progress, over)


def put_pieces(
    pieces: Iterable[bytes], address: Address, connection: Connection, progress: Progress, over: bool
) -> None:
    """Make an object of pieces, ``over`` what is there.

    Raises OperationError, SourceError and Cancelled: then none is made.
    """
    with cancelling(progress):
        check_targets([address], overwrite=over, connection=connection)
    with new_archives(address, progress, overwrite=over, connection=connection) as objects:
        out = objects.add(address)
        for piece in pieces:
            out.write(piece)


def _run(edit: Edit) -> tuple[int, int]:
    return edit.dropped.start, edit.dropped.size


def _words(pieces: tuple[Piece, ...]) -> str:
    copied = sum(piece.size for piece in pieces if piece.copied)
    words = plural(
        "{size} sent in {number} part",
        "{size} sent in {number} parts",
        sum(not piece.copied for piece in pieces),
        size=rounded(bytes_sent(pieces)),
    )
    return f"{words}, {rounded(copied)} copied by the server" if copied else words
