"""What an RCA shows of its damage as a whole: a cut, bytes that went or came, by the sizes that its chunks record.

Each chunk says how large it is (RCA, "Outer Layer Format (Chunk Layer)"), and segments are found again by their hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong, wrong_codes
from inspector.core.damage import Damage, Missing
from inspector.core.numbers import in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._damage import flipped, one_bit, part_of, since
from inspector.formats._zstd import MAGIC
from inspector.formats.rca.blocks import BLOB, kind_and_size, varint
from inspector.formats.rca.chunks import FIRST_SIZE_BITS, METADATA_BYTES, ChunkLayer, header_size, scan

MAX_MOVED_BYTES = 64 << 10
"""How far from its place a chunk header is looked for."""
_MIN_SIZE_BITS = 32
_ZSTD_NEAR = re.compile(re.escape(MAGIC))
_FRONT = re.compile(rb"(?=[\x00-\x80].{8,24}?\x28\xb5\x2f\xfd)", re.DOTALL)


# ---- where it begins and ends ----------------------------------------------------------------------------------------


def is_rca(source: Source, at: int) -> bool:
    """Whether a first chunk of a possible size begins here, with a blob that opens a zstd frame."""
    head = source.read(at, header_size(FIRST_SIZE_BITS) + 16)
    size = int.from_bytes(head[:2], "big")
    if len(head) < 20 or not header_size(FIRST_SIZE_BITS) < size <= 1 << FIRST_SIZE_BITS - 1:
        return False
    value, stop = varint(head, header_size(FIRST_SIZE_BITS))
    return bool(stop) and kind_and_size(value)[0] == BLOB and head[stop : stop + len(MAGIC)] == MAGIC


def _rca_end(source: Source, at: int, progress: Progress) -> int | None:
    progress.advance(0)
    if not is_rca(source, at):
        return None
    layer = scan(since(source, at))
    return None if layer.corrupt or layer.truncated or not layer.chunks else at + layer.end


def _fronts(archive: Archive, limit: int) -> Sequence[int]:
    data = archive.source.read(0, limit)
    return [at for found in _FRONT.finditer(data) if (at := found.start()) and is_rca(archive.source, at)]


def _turned(there: bytes, turned: bytes) -> str:
    """Whether the first bytes are a chunk header and a zstd frame only when they are turned."""
    if _ZSTD_NEAR.search(there[:64]):
        return ""
    is_chunk = 10 < int.from_bytes(turned[:2], "big") <= 1 << 15
    return "begins with a chunk header if they are swapped back" if is_chunk and _ZSTD_NEAR.search(turned[:40]) else ""


def _missing(archive: Archive) -> Missing | None:
    codes = wrong_codes(archive)
    if "rca-truncated" not in codes or codes & {"rca-blocks-regained"}:
        return None
    layer = scan(archive.source)
    if not layer.truncated or _moved_header(archive.source, layer):
        return None
    last = layer.chunks[-1]
    least = last.start + last.size - archive.source.size
    before = [each for each in wrong(archive) if "mismatch" in each.code and each.spans]
    if any(max(span.stop for span in each.spans) < archive.source.size - 1 for each in before):
        return None
    return Missing(least, f"Its chunk {last.number + 1} has {in_bytes(last.size)} by its own header.")


def _moved_header(source: Source, layer: ChunkLayer) -> int:
    """By how many bytes the header of an RCA's last chunk has moved from its place; 0 where none is found near it."""
    second = 1 << FIRST_SIZE_BITS - 1
    return _moved_by(source, *layer.uncertain_header) or _moved_by(source, second, 2 * FIRST_SIZE_BITS)


def _moved_by(source: Source, start: int, bits: int) -> int:
    """The same for a header that belongs at ``start``, with so many bits of size.

    Its size field says how much of the file follows, which 32 bits or more do not say by chance.
    """
    if bits < _MIN_SIZE_BITS:
        return 0
    low, width = max(0, start - MAX_MOVED_BYTES), bits // 8
    data = source.read(low, 2 * MAX_MOVED_BYTES + width)
    found = [
        low + at - start
        for at in range(len(data) - width)
        if int.from_bytes(data[at : at + width], "big") == source.size - low - at
    ]
    return found[0] if len(found) == 1 else 0


# ---- too short or too long -------------------------------------------------------------------------------------------


def _expected_size(archive: Archive) -> int | None:
    """By its first chunk, if that is the only one."""
    size = int.from_bytes(archive.source.read(0, 2), "big")
    return size if 10 <= size < 0x8000 else None


def _repeated(archive: Archive) -> Iterator[int]:
    """As many bytes as it is too long by."""
    layer = scan(archive.source)
    if not layer.corrupt and layer.chunks:
        last = layer.chunks[-1]
        extra = archive.source.size - last.start - last.size
        if extra > 0:
            yield extra


def _shifted(archive: Archive) -> FoundCause | None:
    """Bytes that went or came, by the sizes that the chunks of an RCA record. Raises SourceError."""
    layer = scan(archive.source)
    if not is_rca(archive.source, 0) and any(each.code == "rca-blocks-regained" for each in wrong(archive)):
        message = (
            "The beginning of the archive is missing: there is no chunk header at byte 0. Segments after it are found "
            "again by their hashes. A transfer that was resumed without its beginning leaves a file like this, and so "
            "does damage to the first header. Copy the file again; what is proved can be saved."
        )
        return FoundCause(Cause.LOST_BYTES, message, (Span(0, 1),), tuple(wrong(archive)))
    change = _moved_header(archive.source, layer)
    if not change:
        if (
            not is_rca(archive.source, 0)
            or layer.corrupt
            or not layer.chunks
            or any(each.code == "rca-chunk-size-wrong" for each in wrong(archive))
        ):
            return None
        last = layer.chunks[-1]
        change = archive.source.size - (last.start + last.size)
    bad = [each for each in wrong(archive) if each.spans and each.code not in ("rca-truncated", "rca-trailing-garbage")]
    if not change or not bad:
        return None
    low = min(span.start for each in bad for span in each.spans)
    high = max(span.stop for each in bad for span in each.spans)
    span = Span(low, min(high, archive.source.size))
    part = part_of(change)
    size = archive.source.size
    known = f"By its chunks the file has {in_bytes(size - change)}, and it has {in_bytes(size)}."
    parts = f" That is a multiple of {part >> 20} MiB, the size of parts of a transfer." if part else ""
    where = f"between the bytes {span.start:,} and {span.stop:,}"
    if change < 0:
        are = verb(1 if part else -change, "is", "are")
        first = f"{'A part of ' if part else ''}{in_bytes(-change)} {are} missing {where}."
        cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    else:
        were = verb(1 if part else change, "was", "were")
        first = f"{'A part of ' if part else ''}{in_bytes(change)} {were} inserted {where}."
        cause = Cause.DOUBLED_PART if part else Cause.INSERTED_BYTES
    message = (
        f"{first} {known}{parts} Segments that hashes prove lie on both sides of it, moved. Copy the file again; "
        "what is proved can be saved."
    )
    return FoundCause(cause, message, (span,), tuple(wrong(archive)))


# ---- one bit ---------------------------------------------------------------------------------------------------------


def _flipped_record(archive: Archive, progress: Progress) -> FoundCause | None:  # noqa: ARG001 - as declared
    """The size in a chunk header that differs in one bit from the bytes that are there."""
    source: Source = archive.source
    if {each.code for each in wrong(archive)} != {"rca-chunk-size-wrong"}:  # a hash proves another size, and no more
        return None
    at, bits = 0, FIRST_SIZE_BITS
    for _ in range(6):
        width = bits // 8
        full = 1 << bits - 1
        expected = min(full, source.size - at)
        there = source.read(at, width)
        if len(there) < width or expected <= width + METADATA_BYTES:
            return None
        place = one_bit(there, expected.to_bytes(width, "big"))
        if place is not None:
            old = expected.to_bytes(width, "big")[place]
            return flipped(archive, at + place, old, "a chunk header", "With it the chunks end where the file does.")
        if int.from_bytes(there, "big") != full:
            return None
        at, bits = at + full, bits * 2
    return None


DAMAGE = Damage(
    places_proved=False,
    order_proved=True,
    trailing=frozenset(("rca-trailing-garbage",)),
    missing=_missing,
    shifted=_shifted,
    expected_size=_expected_size,
    flipped_record=_flipped_record,
    repeated=_repeated,
    begins=is_rca,
    end=_rca_end,
    fronts=_fronts,
    turned=_turned,
)
