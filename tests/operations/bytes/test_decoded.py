"""Which stored bytes of a member decode to which: each gives what it says, and all give everything."""

from __future__ import annotations

import gzip
import random
import tarfile
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
import zstandard

from inspector.core.program.progress import Progress
from inspector.core.span import total
from inspector.operations.bytes.decoded import Decoded
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import load
from inspector.operations.open.opening import Opened

RANDOM = random.Random(2)
TEXT = " ".join(RANDOM.choices(("chunk", "segment", "blob", "reset", "footer", "index"), k=100_000)).encode()
NOISE = RANDOM.randbytes(200_000)


def opened(path: Path) -> Opened:
    (archive,) = load(str(path), Progress())
    return archive


def tarred(folder: Path, data: bytes) -> Opened:
    """A tar with one member of these bytes."""
    path = folder / "one.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("data")
        info.size = len(data)
        archive.addfile(info, BytesIO(data))
    return opened(path)


def all_of(decoded: Decoded) -> bytes:
    return decoded.source.read(0, decoded.source.size)


def holds(decoded: Decoded, stored: int) -> None:
    """The pieces own all stored and all decoded bytes once, in order."""
    assert sum(total(piece.stored) for piece in decoded.pieces) == stored
    at = 0
    for piece in decoded.pieces:
        assert piece.start == at
        at = piece.stop
    assert at == decoded.source.size


@pytest.mark.parametrize(
    "data", [TEXT, NOISE, bytes(300_000), TEXT[:100], b""], ids=["text", "noise", "zeros", "short", "none"]
)
@pytest.mark.parametrize("checksum", [True, False])
def test_each_zstd_block_gives_the_bytes_it_says(tmp_path: Path, data: bytes, checksum: bool) -> None:
    frame = zstandard.ZstdCompressor(write_checksum=checksum).compress(data)
    archive = tarred(tmp_path, frame + frame)
    decoded = Decoded(archive, 0, Progress())

    assert all_of(decoded) == data + data
    assert decoded.sentence == ""
    holds(decoded, 2 * len(frame))
    labels = [piece.label for piece in decoded.pieces]
    assert sum(label.startswith("zstd frame header: window ") for label in labels) == 2
    assert sum("content checksum" in label for label in labels) == 2 * checksum
    # What stands in a raw block is what it gives, so its place is proved by the bytes themselves.
    for piece in decoded.pieces:
        if ", raw" in piece.label:
            (span,) = piece.stored
            assert archive.source.read(span.start + 3, span.size - 3) == all_of(decoded)[piece.start : piece.stop]
    if data == NOISE:
        assert sum(", raw" in label for label in labels) >= 4


def test_a_blob_is_decoded_with_those_before_it_in_its_frame(sample: Callable[[str], Path]) -> None:
    archive = opened(sample("two-chunks.rca"))
    decoder = archive.decoder
    assert decoder is not None
    for index in range(len(archive.members)):
        member = archive.members[index]
        decoded = Decoded(archive, index, Progress())
        content = b"".join(decoder.read(archive, index, Progress()))
        assert all_of(decoded) == member.path + b"\0" + content
        holds(decoded, member.stored)
        assert next(span for piece in decoded.pieces for span in piece.stored).start == member.spans[0].start


@pytest.mark.parametrize("name", ["", "notes.txt"])
def test_gzip_has_a_header_data_and_a_trailer(tmp_path: Path, name: str) -> None:
    held = BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=held, mtime=0) as file:
        file.write(TEXT)
    packed = held.getvalue()
    decoded = Decoded(tarred(tmp_path, packed + packed + b"more"), 0, Progress())

    assert all_of(decoded) == TEXT + TEXT
    holds(decoded, 2 * len(packed) + 4)
    labels = [piece.label.split(":")[0] for piece in decoded.pieces]
    assert labels == ["gzip header", "deflate data", "gzip trailer"] * 2 + ["after the gzip data"]
    assert (f"name {name}" in decoded.pieces[0].label) is bool(name)
    assert total(decoded.pieces[0].stored) == 10 + (len(name) + 1 if name else 0)
    assert total(decoded.pieces[2].stored) == 8


def test_a_deflated_member_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", TEXT)
        archive.writestr(zipfile.ZipInfo("stored"), TEXT)
    found = opened(path)
    decoded = Decoded(found, 0, Progress())

    assert all_of(decoded) == TEXT
    assert [piece.label for piece in decoded.pieces] == ["deflate data"]
    holds(decoded, found.members[0].stored)
    with pytest.raises(OperationError, match="stored is not compressed: its bytes are its content"):
        Decoded(found, 1, Progress())


@pytest.mark.parametrize("pack", [zstandard.ZstdCompressor(write_checksum=True).compress, gzip.compress])
def test_what_is_damaged_is_decoded_as_far_as_it_goes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(TEXT + NOISE)
    for cut in (*range(1, 30, 3), len(packed) // 2, len(packed) - 5, len(packed) - 1):
        (tmp_path / "one.tar").unlink(missing_ok=True)
        data = packed[:cut]
        try:
            decoded = Decoded(tarred(tmp_path, data), 0, Progress())
        except OperationError:
            assert cut < 4
            continue
        assert (TEXT + NOISE).startswith(all_of(decoded))
        assert decoded.sentence, cut

    for at in range(0, len(packed), 9_970):
        data = bytearray(packed)
        data[at] ^= 0x10
        try:
            decoded = Decoded(tarred(tmp_path, bytes(data)), 0, Progress())
        except OperationError:
            continue
        assert decoded.sentence or all_of(decoded) == TEXT + NOISE, at
        assert decoded.source.size == (decoded.pieces[-1].stop if decoded.pieces else 0)
