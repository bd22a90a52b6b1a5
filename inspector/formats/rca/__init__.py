"""RCA, the Resumable Compressed Archive: chunks outside, blobs in zstd frames inside.

Sections named are those of the format's own document: "Outer Layer Format (Chunk Layer)" for ``chunks``, "Inner Layer
Format (Blob Layer)" for ``blocks`` and ``blobs``, "Reset blocks (block type 0)" for ``hashes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.archive import Archive
from inspector.core.damage import Damage
from inspector.core.format import Concern, DiagramColumn, Format, Functions, MimeType, Signature
from inspector.core.program.progress import Progress
from inspector.formats.rca import codes
from inspector.formats.rca.kinds import BLOB_BLOCK, CHUNK_HEADER, CONTROL_BLOCK, KINDS, RESET_BLOCK, SEGMENT

if TYPE_CHECKING:  # opening an archive needs neither
    from inspector.core.reader import Reader
    from inspector.core.repair import Repair


def _repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    from inspector.formats.rca.repair import repairs

    return repairs(archive, progress)


@cache
def _functions() -> Functions:
    from inspector.formats.rca.blobs import read
    from inspector.formats.rca.check import check, decode_group, prove, thread_copy
    from inspector.formats.rca.decode import decode, probe

    return Functions(
        probe,
        decode,
        read,
        check,
        _repairs,
        decode_group=decode_group,
        thread_copy=thread_copy,
        prove=prove,
    )


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats.rca.readers import READERS

    return READERS


@cache
def _damage() -> Damage:
    from inspector.formats.rca.damage import DAMAGE

    return DAMAGE


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
    load=_functions,
    findings=codes.FINDINGS,
    readers=_readers,
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
    damage=_damage,
    appendable=True,
)
