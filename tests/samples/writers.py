"""Small writers of the formats for making sample archives: straight from the specifications, never checking."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2s
from typing import Any

import zstandard

Files = dict[str, bytes]


# --- CAF


def index_json(ranges: Sequence[tuple[str, object, object]], version: str | None = "1.0") -> bytes:
    """The index of a CAF: compact JSON of (name, start_byte, end_byte); a name may stand twice."""
    entries = ",".join(
        f'{json.dumps(name, ensure_ascii=False)}:{{"start_byte":{json.dumps(start)},"end_byte":{json.dumps(stop)}}}'
        for name, start, stop in ranges
    )
    head = f'"format_version":"{version}",' if version is not None else ""
    return f'{{{head}"files":{{{entries}}}}}'.encode()


def ranges_of(files: Files) -> list[tuple[str, int, int]]:
    """Where the files lie when they stand one after another."""
    found, at = [], 0
    for name, content in files.items():
        found.append((name, at, at + len(content)))
        at += len(content)
    return found


def caf(files: Files, index: bytes | None = None, index_size: int | None = None) -> bytes:
    """A CAF; ``index`` and ``index_size`` replace the right ones."""
    if index is None:
        index = index_json(sorted(ranges_of(files)))
    footer = struct.pack("<I", len(index) if index_size is None else index_size)
    return b"".join(files.values()) + index + footer


# --- RCA


def varint(number: int) -> bytes:
    """A little-endian base-128 number."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


class BlobLayer:
    """The inner stream of an RCA as it grows; ``convention`` is ``spec`` or ``rcarch`` (hash bytes left out or not)."""

    def __init__(self, convention: str = "spec") -> None:
        self.data = bytearray()
        self._hash = blake2s(digest_size=8)
        self._convention = convention
        self._compressor = self._fresh()

    @staticmethod
    def _fresh() -> zstandard.ZstdCompressionObj:
        return zstandard.ZstdCompressor(level=3, write_checksum=False, write_content_size=False).compressobj()

    @property
    def digest(self) -> bytes:
        """The hash of the segment so far."""
        return self._hash.digest()

    def _write(self, data: bytes, *, hashed: bool = True) -> None:
        self.data += data
        if hashed:
            self._hash.update(data)

    def blob(self, name: str, content: bytes) -> None:
        """Add a blob block."""
        raw = name.encode() + b"\0" + content
        packed = self._compressor.compress(raw) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        self._write(varint(len(packed) << 1) + packed)

    def control(self, kind: int, payload: bytes) -> None:
        """Add a control block that readers skip."""
        self._write(varint(len(payload) << 6 | kind << 1 | 1) + payload)

    def reset(self) -> None:
        """Add a reset block: the next segment begins with it."""
        digest = self.digest
        self._hash = blake2s(digest_size=8)
        self._compressor = self._fresh()
        self._write(varint(len(digest) << 6 | 1))
        self._write(digest, hashed=self._convention == "rcarch")


def chunks(inner: bytes, metadata: bytes) -> bytes:
    """The inner stream in chunks; only the last chunk's metadata tells anything."""
    out, at, width = bytearray(), 0, 2
    while at < len(inner) or not out:
        full = 1 << (8 * width - 1)
        payload = inner[at : at + full - width - 8]
        out += (width + 8 + len(payload)).to_bytes(width, "big") + metadata + payload
        at += len(payload)
        width *= 2
    return bytes(out)


# --- ZIP


class _Pipe(io.RawIOBase):
    """A target that cannot seek, so that sizes follow the data in descriptors."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self.data += data
        return len(data)


def zipped(files: Files, *, streamed: bool) -> bytes:
    """A ZIP as Python writes it, deflated."""
    target = _Pipe() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".png") else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return bytes(target.data) if isinstance(target, _Pipe) else target.getvalue()


def odd_zip() -> bytes:
    """A ZIP with a symbolic link, an extra field that is cut off, and a second name that leaves the folder."""
    members = {"link": b"journey/readme.txt", "times": b"a timestamp is cut off\n", "named.txt": b"a second name\n"}
    extras = {
        "times": b"UT\3\0\3\0\0",
        "named.txt": b"up\x11\0\1" + struct.pack("<I", zlib.crc32(b"named.txt")) + b"../other.txt",
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0))
            info.create_system, info.extra = 3, extras.get(name, b"")
            info.external_attr = (0o120777 if name == "link" else 0o100644) << 16
            archive.writestr(info, content)
    return target.getvalue()


# --- datas3t


_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_MASK = 2**64 - 1


def _rotated(number: int, bits: int) -> int:
    number &= _MASK
    return (number << bits | number >> (64 - bits)) & _MASK


def _mixed(lane: int, word: int) -> int:
    return _rotated(lane + word * _P2, 31) * _P1 & _MASK


def xxhash64(data: bytes) -> int:
    """The xxHash64 of ``data`` with seed 0."""
    at, state = 0, _P5
    if len(data) >= 32:
        lanes = [_P1 + _P2, _P2, 0, -_P1]
        while at + 32 <= len(data):
            lanes = [_mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
            at += 32
        state = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            state = (state ^ _mixed(0, lane)) * _P1 + _P4
    state = (state + len(data)) & _MASK
    while at + 8 <= len(data):
        state = _rotated(state ^ _mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P1 + _P4
        at += 8
    if at + 4 <= len(data):
        state = _rotated(state ^ struct.unpack_from("<I", data, at)[0] * _P1, 23) * _P2 + _P3
        at += 4
    for byte in data[at:]:
        state = _rotated(state ^ byte * _P5, 11) * _P1
    state &= _MASK
    state = (state ^ state >> 33) * _P2 & _MASK
    state = (state ^ state >> 29) * _P3 & _MASK
    return state ^ state >> 32


def datarange(first: int, contents: Sequence[tuple[str, bytes]]) -> tuple[bytes, list[dict[str, str]]]:
    """A tar of datapoints (extension, content) with keys from ``first`` on, and its metadata rows."""
    tar = bytearray()
    rows = []
    for key, (extension, content) in enumerate(contents, first):
        info = tarfile.TarInfo(f"{key:020d}.{extension}")
        info.size, info.mtime = len(content), 1_700_000_000 + key
        begin = len(tar)
        tar += info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)
        digest = f"{xxhash64(content):x}"
        rows.append({"id": str(key), "begin_offset": str(begin), "end_offset": str(len(tar)), "data_hash": digest})
    return bytes(tar + bytes(1024)), rows


def metadata(rows: Iterable[dict[str, Any]]) -> bytes:
    """The rows as the ``.tar.metadata`` object holds them."""
    text = json.dumps(list(rows), separators=(",", ":")).encode()
    return zstandard.ZstdCompressor(level=19).compress(text)


# --- tar


def plain_tar(files: Files, style: int) -> bytes:
    """A tar as Python writes it, ``style`` one of tarfile's three formats; a name that ends in / is a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=style) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size, info.mtime = len(content), 1_700_000_000
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def sparse_tar() -> bytes:
    """A tar with a sparse file whose extents overlap, and a PAX header with a time of no calendar."""
    said = {"GNU.sparse.size": "4000", "GNU.sparse.numblocks": "2", "GNU.sparse.map": "0,500,400,100", "mtime": "NaN"}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("holes.bin")
        info.size, info.mtime, info.pax_headers = 600, 1_700_000_000, said
        tar.addfile(info, io.BytesIO(bytes(600)))
    return buffer.getvalue()


# --- ar


def ar_member(name: bytes, data: bytes, *, size: int | None = None) -> bytes:
    """A member behind its header; ``size`` says another size than that of the data."""
    head = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (
        name,
        1_700_000_000,
        0,
        0,
        0o100644,
        len(data) if size is None else size,
    )
    return head + data + b"\n" * (len(data) & 1)


def gnu_ar(files: Files, symbols: dict[str, int] | None = None, *, width: int = 4) -> bytes:
    """An archive as GNU writes it; ``symbols`` say by name which file defines each."""
    table, members = b"", []
    for name, content in files.items():
        written = name.encode() + b"/"
        if len(written) > 16:
            table, written = table + written + b"\n", b"/%d" % len(table)
        members.append(ar_member(written, content))
    names = ar_member(b"//", table) if table else b""
    magic = b"!<arch>\n"
    if symbols is None:
        return magic + names + b"".join(members)

    def index(offsets: list[int]) -> bytes:
        numbers = b"".join(number.to_bytes(width, "big") for number in (len(offsets), *offsets))
        return ar_member(
            b"/" if width == 4 else b"/SYM64/", numbers + b"".join(f"{each}\0".encode() for each in symbols)
        )

    at = len(magic) + len(index([0] * len(symbols))) + len(names)
    heads = [at + sum(map(len, members[:number])) for number in range(len(members))]
    return magic + index([heads[number] for number in symbols.values()]) + names + b"".join(members)


def bsd_ar(files: Files, symbols: dict[str, int]) -> bytes:
    """An archive as BSD writes it: long names stand before the content, and the symbol table has pairs."""

    def named(name: bytes, data: bytes) -> bytes:
        padded = name + bytes(-len(name) % 4)
        return (
            ar_member(b"#1/%d" % len(padded), padded + data)
            if len(name) > 15 or b" " in name
            else ar_member(name, data)
        )

    members = [named(name.encode(), content) for name, content in files.items()]
    names = b"".join(f"{each}\0".encode() for each in symbols)

    def index(heads: list[int]) -> bytes:
        at, pairs = 0, b""
        for each, number in symbols.items():
            pairs += struct.pack("<II", at, heads[number])
            at += len(each) + 1
        table = struct.pack("<I", len(pairs)) + pairs + struct.pack("<I", len(names)) + names
        return named(b"__.SYMDEF SORTED", table)

    at = 8 + len(index([0] * len(members)))
    heads = [at + sum(map(len, members[:number])) for number in range(len(members))]
    return b"!<arch>\n" + index(heads) + b"".join(members)
