"""The kinds of fields of an RCA archive, beside the zstd frames in it."""

from __future__ import annotations

from inspector.core.kinds import Family, Kind, Role, Shape

CHUNK_LAYER = Kind("chunk layer", "RCA's outer layer: chunk headers and the payload between them.", Role.HEADER)
BLOB_LAYER = Kind("blob layer", "RCA's inner layer: the payload of all chunks joined, made of blocks.", Role.DATA)
CHUNK_HEADER = Kind(
    "chunk header",
    "The size of a chunk in bytes, big-endian, including its header: 16 bits for the first chunk, twice as "
    "many for each next one. Then 8 bytes of metadata, a hash, valid only in the last chunk.",
    Role.HEADER,
    Family.CHUNK,
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
    words=("block", "reset"),
    is_hash=True,
)
CONTROL_BLOCK = Kind(
    "control block",
    "A block that holds no member but affects those after it.",
    Role.CONTROL,
    Family.RESET,
    words=("block",),
)

KINDS = (CHUNK_LAYER, CHUNK_HEADER, BLOB_LAYER, SEGMENT, BLOB_BLOCK, RESET_BLOCK, CONTROL_BLOCK)
"""What an RCA archive consists of."""
