"""RCA, the Resumable Compressed Archive: chunks outside, blobs in zstd frames inside.

Sections named are those of the format's own document: "Outer Layer Format (Chunk Layer)" for ``chunks``, "Inner Layer
Format (Blob Layer)" for ``blocks`` and ``blobs``, "Reset blocks (block type 0)" for ``hashes``.
"""

from __future__ import annotations

from inspector.core.format import Concern, DiagramColumn, Format, MimeType, Signature, imported
from inspector.core.kinds import Family, Kind, Role, Shape
from inspector.formats.rca import codes

CHUNK_LAYER = Kind("chunk layer", "RCA's outer layer: chunk headers and the payload between them.", Role.HEADER)
BLOB_LAYER = Kind("blob layer", "RCA's inner layer: the payload of all chunks joined, made of blocks.", Role.DATA)
CHUNK_HEADER = Kind(
    "chunk header",
    "The size of a chunk in bytes, big-endian, including its header: 16 bits for the first chunk, twice as "
    "many for each next one. Then 8 bytes of metadata, a hash, valid only in the last chunk.",
    Role.HEADER,
    Family.CHUNK,
    word="chunk",
    words=("chunk", "header"),
    first=1,
    precedes=BLOB_LAYER,
    is_hash=True,
)
SEGMENT = Kind(
    "segment",
    "The blobs between two resets: one compressed stream, covered by one hash.",
    Role.DATA,
    shape=Shape.GROUP,
    first=1,
    hashed=True,
)
BLOB_BLOCK = Kind(
    "blob block",
    "One member of an RCA archive: its size, then name and content, compressed.",
    Role.DATA,
    Family.HEADER,
    word="blob",
    label="blob header",
    words=("block", "blob"),
    about_member=True,
    heads_member=True,
    holds_data=True,
)
RESET_BLOCK = Kind(
    "reset block",
    "Restarts the compressor; holds the hash of the segment that ends here.",
    Role.CONTROL,
    Family.RESET,
    word="reset",
    words=("block", "reset"),
    is_hash=True,
)
CONTROL_BLOCK = Kind(
    "control block",
    "A block that holds no member but affects those after it.",
    Role.CONTROL,
    Family.RESET,
    word="control",
    words=("block",),
)

KINDS = (CHUNK_LAYER, CHUNK_HEADER, BLOB_LAYER, SEGMENT, BLOB_BLOCK, RESET_BLOCK, CONTROL_BLOCK)
"""What an RCA archive consists of."""

FORMAT = Format(
    name="rca",
    title="RCA archive",
    suffixes=(".rca",),
    specification="RCA: Resumable Compressed Archive",
    limitations=(
        "Names are inside the compressed data, so listing decompresses everything.",
        "zstd windows above 128 MiB and dictionaries are refused.",
        "Opening compares the hashes of up to 16 MiB of blob layer; a check compares all.",
        "Names are kept up to 65,535 bytes, blocks up to 4,000,000.",
    ),
    probe=imported("inspector.formats.rca.reading:probe"),
    decode=imported("inspector.formats.rca.reading:decode"),
    read=imported("inspector.formats.rca.blobs:read"),
    check=imported("inspector.formats.rca.check:check"),
    repairs=imported("inspector.formats.rca.repair:repairs"),
    decode_group=imported("inspector.formats.rca.check:decode_group"),
    thread_copy=imported("inspector.formats.rca.check:thread_copy"),
    prove=imported("inspector.formats.rca.check:prove"),
    readers=imported("inspector.formats.rca.readers:READERS"),
    damage=imported("inspector.formats.rca.damage:DAMAGE"),
    findings=codes.FINDINGS,
    kinds=KINDS,
    mime=(MimeType("application/x-rca", "RCA archive", (("*.rca", 50),), uti="org.archive-inspector.rca"),),
    sequential=(".rca",),
    diagram=(
        DiagramColumn("Chunks", (CHUNK_HEADER,)),
        DiagramColumn("Segments", (SEGMENT,), opened=True),
        DiagramColumn("Blocks", (RESET_BLOCK, BLOB_BLOCK, CONTROL_BLOCK)),
    ),
    concerns={"rca-name-not-utf-8": Concern.NAME},
    torn=frozenset({"rca-trailing-garbage"}),
    signature=Signature(b"", "an RCA"),
    appendable=True,
)
