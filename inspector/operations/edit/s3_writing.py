"""Changing archives on S3: what writing would send, and writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.names import visible
from inspector.core.numbers import count, plural, rounded
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SourceError, blocks
from inspector.operations.jobs.targets import check_targets, new_archives
from inspector.operations.protocol.edit_views import WriteResult, done_sentence
from inspector.sources.local.changes.old_bytes import MAX_INLINE_BYTES, StoredBytes, forget, prune, store_detached
from inspector.sources.local.disk_calls import Disk, reason
from inspector.sources.s3.address import Address
from inspector.sources.s3.connection import Connection, Consent
from inspector.sources.s3.source import S3Source
from inspector.sources.s3.uploads.pieces import Piece, bytes_sent, merged, pieces_of


def sent_bytes(edit: Edit, consents: Consent = Consent.NONE) -> int:
    """How many bytes of an object writing an edit would send; about as many are read before."""
    return bytes_sent(pieces_of(edit, whole=Consent.WHOLE in consents))


def sending_lines(source: S3Source, edit: Edit, consents: Consent = Consent.NONE, *, planned: bool = True) -> list[str]:
    """What writing an edit sends and what the server copies, in lines; ``planned``: in the conditional."""
    pieces = pieces_of(edit, whole=Consent.WHOLE in consents)
    sent = bytes_sent(pieces)
    lines = [f"bytes {piece.start:,} to {piece.stop:,}: {_action(piece)}" for piece in merged(pieces)]
    are, is_ = ("would be", "would be") if planned else ("are", "is")
    total = f"In all {sent:,} of {edit.new_size:,} bytes {are} read and sent again."
    is_one = not any(piece.copied for piece in pieces) and len(pieces) < 2
    how = "one request" if is_one else f"a multipart upload of {count(len(pieces), 'part')}"
    return [
        *lines,
        total if sent else f"No byte of {edit.new_size:,} {is_} sent.",
        f"It takes {how}, and counts only if the object still has the ETag {visible(source.etag)} (If-Match).",
    ]


def _action(piece: Piece) -> str:
    size = rounded(piece.size)
    return f"{size}, copied by the server" if piece.copied else f"{size}, read and sent again"


def write_edit_to_s3(
    source: S3Source,
    edit: Edit,
    progress: Progress,
    consents: Consent = Consent.NONE,
    *,
    keeps_old_bytes: bool = True,
) -> WriteResult:
    """Change an object. Raises EditError and Cancelled."""
    from inspector.sources.s3.uploads.writing import write_object  # loads boto3

    name, cut = visible(source.name), edit.dropped.size
    if cut > MAX_INLINE_BYTES:
        raise EditError(
            f"{name} was not changed: {rounded(cut)} would be cut off, and at most {rounded(MAX_INLINE_BYTES)} of an "
            "object are kept. Write a repaired copy instead."
        )
    with cancelling(progress):
        dropped = source.read(*_dropped_run(edit))
    try:
        stored = store_detached(source.name, edit, dropped) if keeps_old_bytes else StoredBytes(None, None, ())
    except OSError as error:
        raise EditError(f"{name} was not changed: what would be cut off cannot be kept ({reason(error)}).") from error
    try:
        sent = write_object(source, edit, progress, consents)
    except BaseException:
        forget(stored.files, Disk())
        raise
    prune(Disk())
    text = _sent_text(sent.pieces)
    if stored.cut is not None:
        text += f", {rounded(cut)} cut off, kept in {visible(stored.cut.path)}"
    if sent.before:
        text += f", in place of the version {visible(sent.before)}, which the bucket keeps"
    warnings = (*sent.warnings, *filter(None, (stored.warning,)))
    return WriteResult(done_sentence(edit.label, text), warnings, edit.reverted(dropped), stored.cut)


def put_copy(
    source: Source, edit: Edit, address: Address, connection: Connection, progress: Progress, over: bool
) -> None:
    """Create an object with the bytes of ``source`` after an edit; see put_pieces."""

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
    """Create an object from pieces; ``over`` replaces an existing one.

    Raises OperationError, SourceError and Cancelled: then none is created.
    """
    with cancelling(progress):
        check_targets([address], overwrite=over, connection=connection)
    with new_archives(address, progress, overwrite=over, connection=connection) as objects:
        out = objects.add(address)
        for piece in pieces:
            out.write(piece)


def _dropped_run(edit: Edit) -> tuple[int, int]:
    return edit.dropped.start, edit.dropped.size


def _sent_text(pieces: tuple[Piece, ...]) -> str:
    copied = sum(piece.size for piece in pieces if piece.copied)
    text = plural(
        "{size} sent in {number} part",
        "{size} sent in {number} parts",
        sum(not piece.copied for piece in pieces),
        size=rounded(bytes_sent(pieces)),
    )
    return f"{text}, {rounded(copied)} copied by the server" if copied else text
