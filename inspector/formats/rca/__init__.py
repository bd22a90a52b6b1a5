"""RCA, the Resumable Compressed Archive: chunks outside, blobs in zstd frames inside.

Sections named are those of the format's own document: "Outer Layer Format (Chunk Layer)" for ``chunks``, "Inner Layer
Format (Blob Layer)" for ``blocks`` and ``blobs``, "Reset blocks (block type 0)" for ``hashes``.
"""

from __future__ import annotations

from inspector.core.format import Concern, DiagramColumn, Format, MimeType, Signature, imported
from inspector.formats.rca import codes
from inspector.formats.rca.kinds import BLOB_BLOCK, CHUNK_HEADER, CONTROL_BLOCK, KINDS, RESET_BLOCK, SEGMENT

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
