"""What an RCA shows of its damage as a whole: a cut, bytes that went or came, by the sizes that its chunks record.

Each chunk says how large it is (RCA, "Outer Layer Format (Chunk Layer)"), and segments are found again by their hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong, wrong_codes
from inspector.core.damage import Anchored, Damage, Missing
from inspector.core.numbers import in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.formats._damage import flipped, is_text, one_bit, part_of
from inspector.formats._zstd import MAGIC
from inspector.formats.rca.check import StoredHashes
from inspector.formats.rca.chunks import (
    FIRST_SIZE_BITS,
    OPENING_BYTES,
    ChunkLayer,
    Layout,
    ending,
    header_size,
    is_rca,
    opening,
    scan,
)
from inspector.formats.rca.findings import is_undecided
from inspector.formats.rca.reading import ends_proved, some_proved

MAX_TEXT_BYTES = 4_096
"""How far behind text in front of it an archive is looked for that does not end with the file."""
MAX_ENDING = 8
"""Archives that end with one file, of which each is named."""
MAX_MOVED_BYTES = 64 << 10
"""How far from its place a chunk header is looked for."""
_MIN_SIZE_BITS = 32
_ZSTD_NEAR = re.compile(re.escape(MAGIC))
_FRONT = re.compile(rb"(?=[\x00-\x80].{8,24}?\x28\xb5\x2f\xfd)", re.DOTALL)


# ---- where it begins and ends ----------------------------------------------------------------------------------------


def _rca_end(source: Source, at: int, progress: Progress) -> int | None:
    progress.advance(0)
    if not is_rca(source, at):
        return None
    layer = scan(source, at)
    return None if layer.corrupt or layer.truncated or not layer.chunks else layer.end


def _fronts(archive: Archive, progress: Progress) -> Sequence[int]:
    source, start = archive.source, _start(archive)
    if start or opening(source) is not None:
        return (start,) if start else ()
    several = tuple(islice(ending(source, progress), MAX_ENDING))
    if len(several) > 1:
        return several
    data = source.read(0, MAX_TEXT_BYTES)  # text is told from the rest of an archive, whatever follows it
    places = (found.start() for found in _FRONT.finditer(data) if is_text(data[: found.start()]))
    return [at for at in places if at and is_rca(source, at)][:1]


def _anchored(source: Source, place: int, low: int, progress: Progress) -> Anchored | None:  # noqa: ARG001 - as declared
    """The archive whose first blob opens with the zstd frame at ``place``: a hash proves some of it."""
    first = max(0, place - OPENING_BYTES)
    near = BytesSource(source.read(first, 2 * OPENING_BYTES))
    if place == first or near.read(place - first - 1, 1) >= b"\x80":
        return None  # no varint ends there
    starts = [first + at for at in range(place - first) if is_rca(near, at)]
    for start in starts:
        if ends_proved(source, start, progress):
            return Anchored(start, scan(source, start).end)
    found = next((each for each in starts if some_proved(source, each, progress)), None)
    return None if found is None else Anchored(found, place + len(MAGIC), whole=False)


def _start(archive: Archive) -> int:
    """Where the archive begins, behind other bytes."""
    return archive.detail.chunks.start if isinstance(archive.detail, Layout) else 0


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
    layer = scan(archive.source, _start(archive))
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
    layer = scan(archive.source, _start(archive))
    if not layer.corrupt and layer.chunks:
        last = layer.chunks[-1]
        extra = archive.source.size - last.start - last.size
        if extra > 0:
            yield extra


def _shifted(archive: Archive) -> FoundCause | None:
    """Bytes that went or came, by the sizes that the chunks of an RCA record. Raises SourceError."""
    layer = scan(archive.source, _start(archive))
    if not is_rca(archive.source, 0) and any(each.code == "rca-blocks-regained" for each in wrong(archive)):
        message = (
            "The beginning of the archive is missing: there is no chunk header at byte 0. Segments after it are found "
            "again by their hashes. A transfer that was resumed without its beginning leaves a file like this, and so "
            "does damage to the first header. Copy the file again; what is proved can be saved."
        )
        return FoundCause(Cause.LOST_BYTES, message, (Span(0, 1),), tuple(wrong(archive)))
    if not (change := _moved_header(archive.source, layer)):
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
    number, of_part = 1 if part else abs(change), "A part of " if part else ""
    happened = f"{verb(number, 'was', 'were')} inserted" if change > 0 else f"{verb(number, 'is', 'are')} missing"
    bytes_cause, part_cause = (
        (Cause.INSERTED_BYTES, Cause.DOUBLED_PART) if change > 0 else (Cause.LOST_BYTES, Cause.LOST_PART)
    )
    message = (
        f"{of_part}{in_bytes(abs(change))} {happened} {where}. {known}{parts} Segments that hashes prove lie on both "
        "sides of it, moved. Copy the file again; what is proved can be saved."
    )
    return FoundCause(part_cause if part else bytes_cause, message, (span,), tuple(wrong(archive)))


def _undecided(archive: Archive) -> str:
    """The sentence that hashes and their segments disagree, where nothing shows that it is the bytes that changed."""
    if not isinstance(archive.checksums, StoredHashes):
        return ""
    hashes = archive.checksums.hashes
    rows = [row for row in hashes.mismatched() if row - 1 not in hashes.repaired]
    if not rows or not all(is_undecided(hashes, row) or hashes.hash_only(row) for row in rows):
        return ""
    if len(rows) > 1:
        return f"The hashes of {len(rows):,} segments and their bytes disagree: one of each changed; all blobs decode."
    row, name = rows[0], f"hash of segment {hashes.segment(rows[0]) + 1}"
    if hashes.one_byte_off(row) and row not in hashes.repaired:
        return f"One byte of the stored {name} changed: a change of its bytes would change nearly all of it."
    if hashes.hash_only(row):
        return f"Only the stored {name} changed, as another hash proves."
    return f"The {name} and its bytes disagree: one of them changed; all its blobs decode."


# ---- one bit ---------------------------------------------------------------------------------------------------------


def _flipped_record(archive: Archive, progress: Progress) -> FoundCause | None:  # noqa: ARG001 - as declared
    """The size in a chunk header that differs in one bit from the bytes that are there."""
    source = archive.source
    if {each.code for each in wrong(archive)} != {"rca-chunk-size-wrong"}:  # a hash proves another size, and no more
        return None
    at, bits = scan(source).uncertain_header
    expected = min(1 << bits - 1, source.size - at)
    old = expected.to_bytes(bits // 8, "big") if expected > header_size(bits) else b""
    if (place := one_bit(source.read(at, bits // 8), old)) is None:
        return None
    return flipped(archive, at + place, old[place], "a chunk header", "With it the chunks end where the file does.")


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
    anchor=re.escape(MAGIC),
    anchored=_anchored,
    undecided=_undecided,
    fronts=_fronts,
    turned=_turned,
)
