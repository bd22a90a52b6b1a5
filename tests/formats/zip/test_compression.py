"""Members compressed with bzip2, LZMA, xz and Zstandard: read, verified, damaged, cut off, and larger than they say."""

from __future__ import annotations

import bz2
import io
import lzma
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest
import zstandard

from inspector.core.format import MemberError, RefusedMemberError
from inspector.core.member import Codec
from inspector.core.verdict import State, Verdict
from inspector.formats._zip import members
from inspector.operations.check.checking import state_of
from tests.formats.zip.zip_building import checked, content

CONTENT = b"".join(b"%d green bottles " % at for at in range(20_000)) + random.Random(7).randbytes(20_000)


def by_zipfile(method: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("a", CONTENT)
        archive.writestr("empty", b"")
    return made.getvalue()


def by_hand(method: int, packed: bytes, content: bytes = CONTENT, size: int | None = None) -> bytes:
    numbers = (zlib.crc32(content), len(packed), len(content) if size is None else size, 1)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 63, 0, method, 0, 33, *numbers, 0) + b"a" + packed
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 63, 63, 0, method, 0, 33, *numbers, 0, 0, 0, 0, 0, 0) + b"a"
    return local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0)


def in_zip(stream: bytes) -> bytes:
    """An LZMA stream with the header that ZIP gives it, instead of that of the ``.lzma`` format."""
    return b"\x09\x14\x05\x00" + stream[:5] + stream[13:]


UNMARKED_CONTENT = b"one, two, three. " * 6 + bytes(range(24))
UNMARKED = b"\x09\x14\x05\x00\x5d\x00\x00\x01\x00" + bytes.fromhex(
    "00379b88cf4582566def077f20025125f89b80b31880029151f8a94d21a0b648b3dbc6e46a4e79eac453b962e419d8c0"
)
"""The last bytes decode to one more than the content, whose size alone says where it ends (5.8.9)."""

WRITTEN: dict[str, tuple[Codec, Callable[[], bytes]]] = {
    "bzip2 by zipfile": (Codec.BZIP2, lambda: by_zipfile(zipfile.ZIP_BZIP2)),
    "LZMA by zipfile": (Codec.LZMA, lambda: by_zipfile(zipfile.ZIP_LZMA)),
    "LZMA, its end marked": (Codec.LZMA, lambda: by_hand(14, in_zip(lzma.compress(CONTENT, lzma.FORMAT_ALONE)))),
    "LZMA by another program, its end not marked": (Codec.LZMA, lambda: by_hand(14, UNMARKED, UNMARKED_CONTENT)),
    "xz": (Codec.XZ, lambda: by_hand(95, lzma.compress(CONTENT))),
    "Zstandard": (Codec.ZSTD, lambda: by_hand(93, zstandard.compress(CONTENT))),
    "Zstandard, old number": (Codec.ZSTD, lambda: by_hand(20, zstandard.compress(CONTENT))),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_read_and_verified(name: str) -> None:
    codec, made = WRITTEN[name]
    archive = checked(made())
    assert content(archive, 0) == (UNMARKED_CONTENT if "not marked" in name else CONTENT)
    assert archive.members.codec_at(0) is codec
    assert {archive.verdict(member) for member in range(len(archive.members))} == {Verdict.VERIFIED}
    assert not archive.findings


@pytest.mark.parametrize("name", WRITTEN)
def test_every_kind_of_damage_is_a_mismatch(name: str) -> None:
    whole, right = WRITTEN[name][1](), UNMARKED_CONTENT if "not marked" in name else CONTENT
    begin, size = 31, int.from_bytes(whole[18:22], "little")
    chance = random.Random(1)
    for at in (0, 2, 4, 5, 8, 9, size - 1, *(chance.randrange(size) for _ in range(12))):
        data = bytearray(whole)
        data[begin + at] ^= 1 << chance.randrange(8)
        archive = checked(bytes(data))
        try:
            read = content(archive, 0)
        except MemberError:
            read = b""
        # A bit may say nothing about the content, as the version of the SDK in front of LZMA.
        assert archive.verdict(0) is (Verdict.VERIFIED if read == right else Verdict.MISMATCH)


PACKERS: dict[int, Callable[[bytes], bytes]] = {
    12: bz2.compress,
    14: lambda data: in_zip(lzma.compress(data, lzma.FORMAT_ALONE)),
    93: zstandard.compress,
    95: lzma.compress,
}


@pytest.mark.parametrize("method", PACKERS)
def test_data_that_ends_in_the_wrong_place(method: int) -> None:
    packed = PACKERS[method](CONTENT)
    for wrong in (packed[:-9], packed[:3], b"", packed + b"more"):
        archive = checked(by_hand(method, wrong))
        assert archive.verdict(0) is Verdict.MISMATCH
        with pytest.raises(MemberError):
            content(archive, 0)
    short, long = (checked(by_hand(method, packed, size=len(CONTENT) + change)) for change in (-1, 1))
    with pytest.raises(MemberError, match="longer"):
        content(short, 0)
    with pytest.raises(MemberError, match="ends"):
        content(long, 0)


@pytest.mark.parametrize("method", PACKERS)
def test_memory_stays_small_whatever_is_packed(method: int) -> None:
    packed = PACKERS[method](bytes(32 << 20))
    data = by_hand(method, packed, b"", size=1_000)
    checked(data)
    tracemalloc.start()
    try:
        assert checked(data).verdict(0) is Verdict.MISMATCH
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


REFUSED = {
    "LZMA": (14, b"\x09\x14\x05\x00\x5d" + (0xFFFFFFFF).to_bytes(4, "little") + bytes(100), "a dictionary of"),
    "xz": (95, lzma.compress(b"1"), "too much memory"),
    "Zstandard": (93, bytes.fromhex("28b52ffd 00 a0 010000"), "a window of"),
}
"""Methods, data that asks for a lot of memory, and what is said of it."""


@pytest.mark.parametrize("kind", REFUSED)
def test_what_needs_too_much_memory_is_refused_and_not_called_damaged(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, packed, why = REFUSED[kind]
    if kind == "xz":  # of which only gigabytes would be too much
        monkeypatch.setattr(members, "_MAX_DICTIONARY_BYTES", 1 << 20)
    archive = checked(by_hand(method, packed, size=1 << 30))
    with pytest.raises(RefusedMemberError, match=why):
        content(archive, 0)
    assert archive.verdict(0) is Verdict.NOT_CHECKABLE
    assert [finding.code for finding in archive.findings] == ["zip-content-not-read"]
    assert state_of([archive]) is State.WARNING
