"""RCA, the Resumable Compressed Archive: chunks outside, blobs in zstd frames inside.

Sections named are those of the format's own document: "Outer Layer Format (Chunk Layer)" for ``chunks``, "Inner Layer
Format (Blob Layer)" for ``blocks`` and ``blobs``, "Reset blocks (block type 0)" for ``hashes``.
"""

from __future__ import annotations

from hashlib import blake2s

from inspector.core.archive import Emitter
from inspector.core.format import Format, ProbeResult
from inspector.core.progress import Progress
from inspector.core.source import Source, expect
from inspector.formats._zstd import MAGIC
from inspector.formats.rca.blobs import Decoding, read
from inspector.formats.rca.blocks import BLOB, HASH, RESET, VARINT, typed, varint
from inspector.formats.rca.check import check, compare_hashes
from inspector.formats.rca.chunks import BITS, header_size, layer_field
from inspector.formats.rca.decode_groups import apart, lane, prove
from inspector.formats.rca.fields import BlobLayerFields
from inspector.formats.rca.hashes import Hashes
from inspector.formats.rca.layers import layers
from inspector.formats.rca.ledger import Ledger
from inspector.formats.rca.repair import repairs

AT_ONCE = 32 * 1024 * 1024
"""The largest archive that is asked for at once, in bytes: a larger one is walked first, and then decompressed."""
HASHED = 16 * 1024 * 1024
"""The most bytes of inner stream whose hashes are compared while decoding: hashing more would delay the listing."""


def probe(source: Source) -> ProbeResult:
    """Whether ``source`` begins with a chunk header and a block that make sense."""
    head = source.read(0, header_size(BITS))
    if len(head) < header_size(BITS):
        return ProbeResult.NO
    size = int.from_bytes(head[: BITS // 8], "big")
    plausible = len(head) <= size <= min(1 << BITS - 1, source.size)
    if size == len(head) and head[BITS // 8 :] == blake2s(digest_size=HASH).digest():
        return ProbeResult.CERTAIN
    at = len(head)
    kind, at = _block(source, at)
    if kind == RESET:
        kind, at = _block(source, at + HASH)
    if kind == BLOB and source.read(at, len(MAGIC)) == MAGIC:
        return ProbeResult.CERTAIN if plausible else ProbeResult.POSSIBLE
    return ProbeResult.NO


def _block(source: Source, at: int) -> tuple[int, int]:
    """The type of the block at ``at`` (-1 for none) and where its payload begins."""
    data = source.read(at, VARINT)
    value, stop = varint(data, 0)
    return (typed(value)[0], at + stop) if stop else (-1, at)


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode.

    The structure of both layers comes first and is laid at once; names and sizes need decompression and follow, the
    members appearing as they are decoded. Hashes are compared at the end, of archives up to HASHED bytes; those of
    larger ones are left to a check.
    """
    if source.size <= AT_ONCE:
        expect(source, 0, source.size)
    layout = layers(source, emitter, progress)
    chunks = layout.chunks
    tail = () if chunks.corrupt else chunks.tail
    emitter.lay([*layer_field(chunks), *BlobLayerFields(layout, emitter.members).layer(), *tail])
    Decoding(layout, emitter, progress).run()
    if layout.inner.size <= HASHED:
        compare_hashes(layout, emitter, progress)
    else:
        emitter.archive.checksums = Ledger(Hashes(layout))


FORMAT = Format(
    name="rca",
    title="RCA archive",
    suffixes=(".rca",),
    specification="RCA: Resumable Compressed Archive",
    limitations=(
        "Names are inside the compressed data, so listing decompresses everything.",
        "zstd windows above 128 MiB and dictionaries are refused.",
        f"Hashes are compared on opening for up to {HASHED // 2**20} MiB of blob layer; a check compares them all.",
        "Names are kept up to 65,535 bytes, blocks up to 4,000,000.",
    ),
    probe=probe,
    decode=decode,
    read=read,
    check=check,
    torn=frozenset({"rca-trailing-garbage"}),
    repairs=repairs,
    decode_group=lane,
    thread_copy=apart,
    prove=prove,
)
