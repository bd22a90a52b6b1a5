"""Damage as it happens to files, with the truth about it: ``cases`` makes archives of all formats and damages them.

Written from the specifications and from what transfers, disks and programs do; nothing in here looks at how the
program finds causes. The same seed makes the same bytes.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import quopri
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import xxhash
import zstandard

from inspector.core.source import Source
from tests.samples import writers

MIB = 1 << 20
FORMATS = ("caf", "rca", "taco", "zip", "tar", "datas3t")
NAMES = {
    "caf": "a.caf",
    "rca": "a.rca",
    "taco": "a.tacozip",
    "zip": "a.zip",
    "tar": "a.tar",
    "datas3t": "00000000000000000001-00000000000000000012.tar",
}


class Proof(NamedTuple):
    """A member, and the bytes that prove it or let it be read wherever they stand: header, content, digest."""

    name: bytes
    content: bytes
    needle: bytes


@dataclass(frozen=True)
class Made:
    """A sound archive. ``content`` are the bytes that a digest covers, ``structure`` those that place members."""

    format: str
    data: bytes
    content: tuple[int, int] = (0, 0)
    structure: tuple[int, int] = (0, 0)
    metadata: bytes | None = None
    first: int = 0
    """Where a member of 40,000 bytes of noise begins, if the format stores it as it is."""
    proofs: tuple[Proof, ...] = ()


@dataclass(frozen=True)
class Case:
    """A damaged archive; ``truth`` are the codes of which one names the cause."""

    kind: str
    format: str
    data: bytes
    truth: frozenset[str]
    metadata: bytes | None = None
    original: bytes = b""
    proofs: tuple[Proof, ...] = ()

    @property
    def provable(self) -> list[Proof]:
        """The members whose proof stands in the damaged file, none of a CAF, which has no digests."""
        return [each for each in self.proofs if each.needle in self.data]

    @property
    def source(self) -> Source:
        return Memory(NAMES[self.format], self.data, self.metadata)


@dataclass
class Memory:
    """Bytes under a name, with datas3t metadata beside them."""

    name: str
    data: bytes = field(repr=False)
    metadata: bytes | None = None

    @classmethod
    def of(cls, made_format: str, data: bytes, metadata: bytes | None = None) -> Memory:
        """Under a name of this format."""
        return cls(NAMES[made_format], data, metadata)

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length] if offset >= 0 and length > 0 else b""

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - as Source has it
        if suffix == ".metadata" and self.metadata is not None:
            return Memory(self.name + suffix, self.metadata)
        return None


# ---- sound archives ------------------------------------------------------------------------------------------------


def files(random: Random, size: int = 0) -> dict[str, bytes]:
    """Members: text, noise that does not compress, and if ``size`` is given noise of so many bytes in pieces."""
    made = {
        "readme.txt": b"A note, with a line or two.\nAnd another one.\n" * random.randint(1, 4),
        "noise/a.bin": random.randbytes(40_000),
        "log.txt": b"".join(b"%05d value %d\n" % (n, random.randint(0, 99)) for n in range(400)),
        "noise/b.bin": random.randbytes(90_000 + random.randint(0, 5_000)),
        "small.bin": random.randbytes(900),
        "noise/c.bin": random.randbytes(70_000),
    }
    for number in range(-(-size // 700_000)):
        made[f"large/{number:03d}.bin"] = random.randbytes(min(700_000, size - number * 700_000))
    return made


def make(kind: str, random: Random, size: int = 0, *, zeros: bool = False) -> Made:
    """A sound archive of a format; ``zeros``: one of its members has stretches of zeros and of repeated bytes."""
    content = files(random, size)
    if zeros:
        block = random.randbytes(4096)
        content["sparse.bin"] = random.randbytes(700) + bytes(20_000) + block * 4 + random.randbytes(9)
    return {"caf": _caf, "rca": _rca, "taco": _taco, "zip": _zip, "tar": _tar, "datas3t": _datas3t}[kind](content)


def _caf(content: dict[str, bytes]) -> Made:
    many = content | {f"many/{n:04d}.txt": b"%d" % n for n in range(400)}
    data = writers.caf(many)
    index = sum(map(len, many.values()))
    return Made("caf", data, structure=(index, len(data) - 4), first=len(content["readme.txt"]))


def _rca(content: dict[str, bytes]) -> Made:
    layer = writers.BlobLayer("rcarch")
    segments = []
    for name, each in content.items():
        if layer.data:
            layer.reset()
        segments.append(len(layer.data))
        layer.blob(name, each)
    data = writers.chunks(bytes(layer.data), layer.digest)
    proofs = []
    for number, (name, each) in enumerate(list(content.items())[:-1]):
        segment = bytes(
            layer.data[segments[number] : segments[number + 1] + 10]
        )  # to the hash that the next begins with
        if segment in data:
            proofs.append(Proof(name.encode(), each, segment))
    return Made("rca", data, (2_000, min(len(data), 30_000)), (2_000, len(data)), proofs=tuple(proofs))


def _zip_bytes(content: dict[str, bytes], method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, each in content.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0)), each, method)
    return target.getvalue()


def _placed(data: bytes, made: str, content: dict[str, bytes]) -> Made:
    first = data.find(content["noise/a.bin"])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        directory, members = archive.start_dir, archive.infolist()
        stops = [*(each.header_offset for each in members[1:]), directory]
        proofs = tuple(
            Proof(each.filename.encode(), archive.read(each), data[each.header_offset : stop])
            for each, stop in zip(members, stops, strict=True)
            if each.filename != "TACO_HEADER"  # its entries are written anew for the new places
        )
    return Made(made, data, (first, first + 40_000), (directory, len(data) - 22), first=first, proofs=proofs)


def _taco(content: dict[str, bytes]) -> Made:
    header = struct.pack("<B3x14Q", 2, 205, 90, 4_000, 900, *[0] * 10)
    return _placed(_zip_bytes({"TACO_HEADER": header, **content}, zipfile.ZIP_STORED), "taco", content)


def _zip(content: dict[str, bytes]) -> Made:
    many = content | {f"many/{n:03d}.txt": b"%d" % n for n in range(120)}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, each in many.items():
            method = zipfile.ZIP_STORED if name.endswith(".bin") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0)), each, method)
    return _placed(target.getvalue(), "zip", content)


def _tar(content: dict[str, bytes]) -> Made:
    data = writers.plain_tar(content, 0)
    first = data.find(content["noise/a.bin"])
    after = first + 40_448
    proofs = []
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for each in archive.getmembers():
            read = archive.extractfile(each)
            assert read is not None
            proofs.append(Proof(each.name.encode(), read.read(), data[each.offset : each.offset_data + each.size]))
    return Made("tar", data, structure=(after, after + 512), first=first, proofs=tuple(proofs))


def _datas3t(content: dict[str, bytes]) -> Made:
    rows, tar = [], bytearray()
    names = list(content.values())
    points = (names * 3)[:12] if len(names) < 12 else names
    for key, each in enumerate(points, 1):
        info = tarfile.TarInfo(f"{key:020d}.bin")
        info.size, info.mtime = len(each), 1_700_000_000 + key
        begin = len(tar)
        tar += info.tobuf(tarfile.USTAR_FORMAT) + each + bytes(-len(each) % 512)
        digest = f"{xxhash.xxh64_intdigest(each):x}"
        rows.append({"id": str(key), "begin_offset": str(begin), "end_offset": str(len(tar)), "data_hash": digest})
    data = bytes(tar) + bytes(1024)
    first = data.find(content["noise/a.bin"])
    after = first + 40_448
    proofs = tuple(Proof(b"%020d.bin" % key, each, each) for key, each in enumerate(points, 1))
    return Made("datas3t", data, (first, first + 40_000), (after, after + 512), writers.metadata(rows), first, proofs)


# ---- kinds of damage -----------------------------------------------------------------------------------------------

Damage = Callable[[Made, Random], bytes]


@dataclass(frozen=True)
class Kind:
    """One kind of damage: to archives of which formats, what names it, and how large they have to be.

    ``beside`` damages the metadata of a range.
    """

    name: str
    truth: frozenset[str]
    damage: Damage
    formats: tuple[str, ...] = FORMATS
    size: int = 0
    beside: Callable[[bytes], bytes] = bytes


KINDS: list[Kind] = []


def kind(*truth: str, formats: tuple[str, ...] = FORMATS, size: int = 0) -> Callable[[Damage], Damage]:
    """Declare a kind of damage."""

    def declare(damage: Damage) -> Damage:
        name = damage.__name__.lstrip("_").replace("_", "-")
        KINDS.append(Kind(name, frozenset(f"cause-{each}" for each in truth), damage, formats, size))
        return damage

    return declare


def always(data: bytes) -> Damage:
    return lambda _made, _random: data


# What stands there instead.


@kind("compressed")
def _gzip(made: Made, _random: Random) -> bytes:
    return gzip.compress(made.data, 1, mtime=0)


@kind("compressed")
def _xz(made: Made, _random: Random) -> bytes:
    return lzma.compress(made.data, preset=0)


@kind("compressed")
def _bzip2(made: Made, _random: Random) -> bytes:
    return bz2.compress(made.data, 1)


@kind("compressed")
def _zstd(made: Made, _random: Random) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(made.data)


@kind("compressed")
def _seven_zip(made: Made, random: Random) -> bytes:
    packed, header = random.randbytes(len(made.data) // 2), random.randbytes(90)
    place = struct.pack("<QQI", len(packed), len(header), zlib.crc32(header))
    return b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(place)) + place + packed + header


@kind("compressed", formats=("rca", "taco", "zip", "tar", "datas3t"))
def _rar(made: Made, random: Random) -> bytes:
    return b"Rar!\x1a\x07\x01\0" + random.randbytes(len(made.data) // 2)


@kind("encoded-text")
def _base64_lines(made: Made, _random: Random) -> bytes:
    return base64.encodebytes(made.data)


@kind("encoded-text")
def _base64_one_line(made: Made, _random: Random) -> bytes:
    return base64.b64encode(made.data)


@kind("encoded-text")
def _base64_of_the_web(made: Made, _random: Random) -> bytes:
    return base64.urlsafe_b64encode(made.data)


@kind("encoded-text")
def _hexadecimal(made: Made, _random: Random) -> bytes:
    return made.data.hex().encode()


@kind("encoded-text")
def _hex_lines(made: Made, _random: Random) -> bytes:
    text = made.data.hex()
    return "\n".join(text[at : at + 60] for at in range(0, len(text), 60)).encode() + b"\n"


@kind("encoded-text")
def _hex_dump(made: Made, _random: Random) -> bytes:
    lines = []
    for at in range(0, min(len(made.data), 50_000), 16):
        row = made.data[at : at + 16]
        pairs = " ".join(row[n : n + 2].hex() for n in range(0, len(row), 2))
        lines.append(f"{at:08x}: {pairs:<39}  {''.join(chr(b) if 32 <= b < 127 else '.' for b in row)}\n")
    return "".join(lines).encode()


@kind("error-page")
def _web_page(_made: Made, random: Random) -> bytes:
    rows = "".join(f"<p>Reference {random.randrange(10**9)}</p>\n" for _ in range(random.randint(1, 60)))
    return f"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head>\n<body>{rows}</body></html>\n".encode()


@kind("error-page")
def _sign_in_page(_made: Made, _random: Random) -> bytes:
    head = b'\n\n<html lang="en">\n<head><meta charset="utf-8"><title>Sign in</title></head>'
    return head + b"<body><form></form></body></html>"


@kind("error-page")
def _s3_error(_made: Made, random: Random) -> bytes:
    code = random.choice(["NoSuchKey", "AccessDenied", "SlowDown", "ExpiredToken"])
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>No.</Message>'
        f"<RequestId>{random.randrange(16**16):016X}</RequestId></Error>"
    ).encode()


@kind("error-page")
def _json_error(_made: Made, _random: Random) -> bytes:
    return b'{"error": {"code": 403, "message": "The caller does not have permission"}}'


@kind("pointer")
def _lfs_pointer(made: Made, random: Random) -> bytes:
    digest = random.randbytes(32).hex()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(made.data)}\n".encode()


@kind("pointer")
def _annex_pointer(_made: Made, random: Random) -> bytes:
    return f"/annex/objects/SHA256E-s4711--{random.randbytes(32).hex()}\n".encode()


@kind("pointer")
def _dvc_pointer(_made: Made, random: Random) -> bytes:
    return f"outs:\n- md5: {random.randbytes(16).hex()}\n  size: 5000\n  path: a.bin\n".encode()


@kind("other-format", formats=("rca", "taco", "zip", "tar", "datas3t"))
def _picture(_made: Made, random: Random) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + random.randbytes(5_000)


@kind("other-format", formats=("rca", "taco", "zip", "tar", "datas3t"))
def _parquet(_made: Made, random: Random) -> bytes:
    return b"PAR1" + random.randbytes(5_000) + b"PAR1"


@kind("empty", formats=("caf", "taco", "zip", "tar", "datas3t"))
def _empty(_made: Made, _random: Random) -> bytes:
    return b""


@kind("all-zeros", formats=("caf", "rca", "taco", "zip", "datas3t"))
def _all_zeros(made: Made, _random: Random) -> bytes:
    return bytes(len(made.data))


# What stands before or between.


@kind("response-headers")
def _response(made: Made, _random: Random) -> bytes:
    return b'HTTP/1.1 200 OK\r\nContent-Type: binary/octet-stream\r\nETag: "abc"\r\nServer: S3\r\n\r\n' + made.data


@kind("response-headers")
def _headers_only(made: Made, _random: Random) -> bytes:
    size = len(made.data)
    return b"Content-Type: application/octet-stream\r\nContent-Length: %d\r\nDate: today\r\n\r\n" % size + made.data


@kind("response-headers")
def _form(made: Made, _random: Random) -> bytes:
    border = b"------WebKitFormBoundary7MA4YWxkTrZu0gW"
    disposition = b'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: application/x\r\n\r\n'
    return border + b"\r\n" + disposition + made.data + b"\r\n" + border + b"--\r\n"


@kind("transfer-framing")
def _aws_chunked(made: Made, random: Random) -> bytes:
    out = b""
    for at in range(0, len(made.data), 65_536):
        piece = made.data[at : at + 65_536]
        out += b"%x;chunk-signature=%s\r\n" % (len(piece), random.randbytes(32).hex().encode()) + piece + b"\r\n"
    return out + b"0;chunk-signature=%s\r\n\r\n" % random.randbytes(32).hex().encode()


@kind("transfer-framing")
def _aws_with_a_checksum(made: Made, _random: Random) -> bytes:
    sums = base64.b64encode(zlib.crc32(made.data).to_bytes(4, "big"))
    return b"%x\r\n" % len(made.data) + made.data + b"\r\n0\r\nx-amz-checksum-crc32:" + sums + b"\r\n\r\n"


@kind("transfer-framing")
def _http_chunked(made: Made, random: Random) -> bytes:
    out, at = b"", 0
    while at < len(made.data):
        piece = made.data[at : at + random.randint(4_000, 9_000)]
        out += b"%X\r\n" % len(piece) + piece + b"\r\n"
        at += len(piece)
    return out + b"0\r\n\r\n"


# Text mode.


@kind("text-mode")
def _lf_to_crlf(made: Made, _random: Random) -> bytes:
    return made.data.replace(b"\n", b"\r\n")


@kind("text-mode", formats=("rca", "taco", "zip", "datas3t"))
def _lf_to_cr(made: Made, _random: Random) -> bytes:
    return made.data.replace(b"\n", b"\r")


@kind("text-mode")
def _cr_removed(made: Made, _random: Random) -> bytes:
    return made.data.replace(b"\r", b"")


@kind("text-mode", formats=("rca", "taco", "zip", "datas3t"))
def _seven_bits(made: Made, _random: Random) -> bytes:
    return bytes(each & 0x7F for each in made.data)


@kind("text-mode")
def _latin_to_utf8(made: Made, _random: Random) -> bytes:
    return made.data.decode("latin-1").encode()


@kind("text-mode")
def _utf8_with_losses(made: Made, _random: Random) -> bytes:
    return made.data.decode("utf-8", "replace").encode()


# Blocks.

DIGESTS = ("rca", "taco", "zip", "datas3t")


def _with(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _aligned(place: tuple[int, int], unit: int, random: Random) -> int:
    first, last = -(-place[0] // unit), (place[1] - unit) // unit
    return random.randint(first, max(first, last)) * unit


def _hole(unit: int) -> Damage:
    def damage(made: Made, random: Random) -> bytes:
        return _with(made.data, _aligned(made.content, unit, random), bytes(unit))

    return damage


KINDS += [Kind(f"hole-of-{unit}", frozenset({"cause-zero-block"}), _hole(unit), DIGESTS) for unit in (512, 4096, 16384)]


@kind("zero-block", formats=("caf", "taco", "zip", "tar", "datas3t"))
def _hole_in_the_structure(made: Made, random: Random) -> bytes:
    start, stop = made.structure
    if stop - start <= 600:
        return _with(made.data, start, bytes(512))
    return _with(made.data, _aligned(made.structure, 512, random), bytes(512))


@kind("zero-block", formats=("caf", "rca", "taco", "zip"))
def _tail_never_written(made: Made, random: Random) -> bytes:
    start = len(made.data) // 4096 * 4096 - 4096 * random.randint(1, 4)
    return _with(made.data, start, bytes(len(made.data) - start))


@kind("repeated-block", formats=DIGESTS)
def _block_of_4096_again(made: Made, random: Random) -> bytes:
    at = _aligned((made.content[0] + 4096, made.content[1]), 4096, random)
    return _with(made.data, at, made.data[at - 4096 : at])


@kind("repeated-block", formats=("rca", "taco", "zip", "datas3t"))
def _sector_again(made: Made, random: Random) -> bytes:
    at = _aligned((made.content[0] + 512, made.content[1]), 512, random)
    return _with(made.data, at, made.data[at - 512 : at])


# Parts.


@kind("zero-part", formats=("taco", "datas3t"), size=13 * MIB)
def _part_not_downloaded(made: Made, _random: Random) -> bytes:
    return _with(made.data, 5 * MIB, bytes(5 * MIB))


@kind("doubled-part", formats=("taco", "datas3t", "rca"), size=13 * MIB)
def _part_doubled(made: Made, _random: Random) -> bytes:
    return made.data[: 10 * MIB] + made.data[5 * MIB :]


@kind("doubled-part", formats=("taco", "datas3t"), size=13 * MIB)
def _part_over_the_next(made: Made, _random: Random) -> bytes:
    return _with(made.data, 5 * MIB, made.data[: 5 * MIB])


@kind("lost-part", formats=("caf", "taco", "datas3t"), size=13 * MIB)
def _part_lost(made: Made, _random: Random) -> bytes:
    return made.data[: 5 * MIB] + made.data[10 * MIB :]


@kind("swapped-parts", formats=("taco", "datas3t"), size=17 * MIB)
def _parts_swapped(made: Made, _random: Random) -> bytes:
    data = made.data
    return data[: 5 * MIB] + data[10 * MIB : 15 * MIB] + data[5 * MIB : 10 * MIB] + data[15 * MIB :]


@kind("lost-bytes", formats=("caf", "taco", "zip", "datas3t"))
def _bytes_lost(made: Made, random: Random) -> bytes:
    at = made.first + random.randint(1_000, 30_000)
    return made.data[:at] + made.data[at + random.randint(1, 900) :]


@kind("inserted-bytes", formats=("taco", "zip", "datas3t"))
def _bytes_inserted(made: Made, random: Random) -> bytes:
    at = made.first + random.randint(1_000, 30_000)
    return made.data[:at] + random.randbytes(random.randint(1, 900)) + made.data[at:]


# Bits.


def _flip(data: bytes, at: int, random: Random) -> bytes:
    return _with(data, at, bytes((data[at] ^ 1 << random.randrange(8),)))


@kind("flipped-bit", formats=("taco", "zip"))
def _bit_of_a_stored_member(made: Made, random: Random) -> bytes:
    return _flip(made.data, made.first + random.randrange(40_000), random)


@kind("flipped-bit", formats=("zip",))
def _bit_of_a_deflated_member(made: Made, random: Random) -> bytes:
    start = made.data.find(b"log.txt") + 7
    size = struct.unpack("<I", made.data[start - 19 : start - 15])[0]
    return _flip(made.data, start + random.randrange(size), random)


@kind("flipped-bit", "wrong-byte", formats=("taco",))
def _bit_of_the_header(made: Made, random: Random) -> bytes:
    return _flip(made.data, random.randrange(41, 157), random)


@kind("wrong-byte", formats=("taco",))
def _byte_of_the_header(made: Made, random: Random) -> bytes:
    at = random.randrange(50, 157)
    return _with(made.data, at, bytes((made.data[at] ^ 0b1010010,)))


@kind("flipped-bit", formats=("rca",))
def _bit_of_a_small_segment(made: Made, random: Random) -> bytes:
    return _flip(made.data, random.randrange(20, 40), random)


@kind("flipped-bit", formats=("rca",))
def _bit_of_the_last_hash(made: Made, random: Random) -> bytes:
    at = 4 + 0x8000  # the metadata of the second chunk
    return _flip(made.data, at + random.randrange(8), random)


@kind("flipped-bit", formats=("datas3t",))
def _bit_of_a_datapoint(made: Made, random: Random) -> bytes:
    start = made.data.find(b"00000 value")
    return _flip(made.data, start + random.randrange(4_000), random)


@kind("flipped-bit", formats=("tar",))
def _bit_of_a_tar_header(made: Made, random: Random) -> bytes:
    return _flip(made.data, made.structure[0] + random.randrange(5), random)


@kind("flipped-bit", formats=("zip", "taco"))
def _bit_of_a_recorded_crc(made: Made, random: Random) -> bytes:
    at = made.data.rfind(b"noise/b.bin") - 46 + 16
    return _flip(made.data, at + random.randrange(4), random)


@kind("flipped-bit", formats=("zip", "taco"))
def _bit_of_a_local_name(made: Made, random: Random) -> bytes:
    at = made.data.find(b"noise/b.bin")
    return _with(made.data, at + 2, bytes((made.data[at + 2] ^ 1 << random.randrange(3),)))


# An index of a CAF that a program wrote in another way, and what its tools put in front.

Entries = dict[str, dict[str, int]]


def _reindexed(made: Made, index: Callable[[Entries], bytes]) -> bytes:
    """The data section with another index and its footer."""
    start, stop = made.structure
    written = index(json.loads(made.data[start:stop])["files"])
    return made.data[:start] + written + struct.pack("<I", len(written))


def _as_json(files: Mapping[str, object]) -> bytes:
    return json.dumps({"format_version": "1.0", "files": files}, ensure_ascii=False).encode()


@kind("other-writer", formats=("caf",))
def _index_in_utf16(made: Made, random: Random) -> bytes:
    encoding = random.choice(("utf-16", "utf-16-le", "utf-16-be"))
    return _reindexed(made, lambda files: _as_json(files).decode().encode(encoding))


@kind("other-writer", formats=("caf",))
def _index_in_gzip(made: Made, _random: Random) -> bytes:
    return _reindexed(made, lambda files: gzip.compress(_as_json(files), mtime=0))


@kind("other-writer", formats=("caf",))
def _index_in_latin1(made: Made, _random: Random) -> bytes:
    return _reindexed(
        made,
        lambda files: (
            _as_json({name.replace("noise", "Geräusch"): each for name, each in files.items()})
            .decode()
            .encode("latin-1")
        ),
    )


@kind("other-writer", formats=("caf",))
def _index_printed_by_python(made: Made, _random: Random) -> bytes:
    return _reindexed(made, lambda files: repr({"format_version": "1.0", "files": files}).encode())


def _entries(change: Callable[[int, int], dict[str, object]]) -> Callable[[Entries], bytes]:
    return lambda files: _as_json({name: change(*each.values()) for name, each in files.items()})


@kind("other-writer", formats=("caf",))
def _numbers_as_strings(made: Made, _random: Random) -> bytes:
    return _reindexed(made, _entries(lambda start, end: {"start_byte": str(start), "end_byte": str(end)}))


@kind("other-writer", formats=("caf",))
def _lengths_as_ends(made: Made, _random: Random) -> bytes:
    return _reindexed(made, _entries(lambda start, end: {"start_byte": start, "end_byte": end - start}))


@kind("other-writer", formats=("caf",))
def _every_offset_too_large(made: Made, random: Random) -> bytes:
    more = random.choice((1, 4, 66, 512, 70_000))
    return _reindexed(made, _entries(lambda start, end: {"start_byte": start + more, "end_byte": end + more}))


@kind("other-writer", formats=("caf",))
def _utf16_with_lengths_as_strings(made: Made, _random: Random) -> bytes:
    change = _entries(lambda start, end: {"start_byte": str(start), "end_byte": str(end - start)})
    return _reindexed(made, lambda files: change(files).decode().encode("utf-16"))


def appended(data: bytes, name: str, content: bytes) -> bytes:
    """A CAF with a member behind its footer, and an index of all behind that."""
    size = int.from_bytes(data[-4:], "little")
    files = json.loads(data[-4 - size : -4])["files"]
    written = _as_json(files | {name: {"start_byte": len(data), "end_byte": len(data) + len(content)}})
    return data + content + written + struct.pack("<I", len(written))


@kind("appended", formats=("caf",))
def _appended_on_top(made: Made, random: Random) -> bytes:
    data = made.data
    for number in range(random.randint(1, 3)):
        content = random.choice((random.randbytes(3_000), b"PK\3\4" + bytes(90), b"text\n" * 90))
        data = appended(data, f"new/{number}", content)
    return data


@kind("inserted-bytes", formats=("caf",))
def _byte_order_mark_in_front(made: Made, _random: Random) -> bytes:
    return b"\xef\xbb\xbf" + made.data


@kind("inserted-bytes", formats=("caf",))
def _headers_of_a_mail_in_front(made: Made, random: Random) -> bytes:
    number = b"%d" % random.randrange(10**6)
    return (
        b"From: a@example.org\r\nTo: b@example.org\r\nMessage-ID: <" + number + b"@example.org>\r\n"
        b'Content-Type: application/octet-stream;\r\n name="a.caf"\r\n\r\n' + made.data
    )


# Metadata of a range that a program wrote in another way.


def rehashed(metadata: bytes, change: Callable[[int], str | int]) -> bytes:
    """The metadata of a range with each hash written anew."""
    rows = json.loads(zstandard.ZstdDecompressor().decompress(metadata))
    return writers.metadata({**each, "data_hash": change(int(each["data_hash"], 16))} for each in rows)


def turned_round(digest: int) -> str:
    return f"{int.from_bytes(digest.to_bytes(8, 'big'), 'little'):x}"


KINDS += [
    Kind(name, frozenset({"datas3t-metadata-spelling"}), lambda made, _: made.data, ("datas3t",), 0, beside)
    for name, beside in (
        ("hashes-in-decimal", lambda metadata: rehashed(metadata, str)),
        ("hashes-as-numbers", lambda metadata: rehashed(metadata, int)),
        ("hashes-turned-round", lambda metadata: rehashed(metadata, turned_round)),
    )
]


# The end, and what stands behind it.


@kind("truncated")
def _cut_anywhere(made: Made, random: Random) -> bytes:
    return made.data[: random.randint(len(made.data) // 4, len(made.data) - 3_000)]


@kind("truncated")
def _cut_at_a_page(made: Made, random: Random) -> bytes:
    return made.data[: random.randint(len(made.data) // 8192, len(made.data) // 4096 - 1) * 4096]


@kind("truncated", formats=("caf", "rca", "taco", "zip"))
def _cut_near_the_end(made: Made, random: Random) -> bytes:
    return made.data[: -random.choice((1, 2, 3, 7, 13))]


@kind("truncated", formats=("tar", "datas3t"))
def _end_blocks_lost(made: Made, _random: Random) -> bytes:
    return made.data.rstrip(b"\0").ljust(-(-len(made.data.rstrip(b"\0")) // 512) * 512, b"\0")


@kind("truncated", formats=("rca", "taco", "zip", "tar"))
def _error_in_the_place_of_the_rest(made: Made, random: Random) -> bytes:
    at = random.randint(len(made.data) // 4, len(made.data) - 3_000)
    return made.data[:at] + b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>RequestTimeout</Code></Error>'


@kind("truncated", formats=("taco", "datas3t"), size=9 * MIB)
def _cut_at_a_part(made: Made, _random: Random) -> bytes:
    return made.data[: 5 * MIB]


@kind("trailing-bytes", formats=("caf", "rca", "taco", "zip"))
def _text_behind(made: Made, _random: Random) -> bytes:
    return made.data + b"Connection to the host closed.\n"


@kind("trailing-bytes", formats=("rca", "taco", "zip"))
def _padded_with_zeros(made: Made, _random: Random) -> bytes:
    return made.data + bytes(-len(made.data) % 65_536 + 512)


@kind("lost-bytes", formats=("rca", "taco", "zip", "tar", "datas3t"))
def _beginning_lost(made: Made, random: Random) -> bytes:
    return made.data[random.choice((1, 10, 512, 1_000)) :]


@kind("inserted-bytes", formats=("taco", "zip", "tar", "datas3t", "rca"))
def _text_in_front(made: Made, random: Random) -> bytes:
    note = (
        b"tput: No value for $TERM and no -T specified\n",
        b"\n",
        b"Warning: a header was sent already on line 12\n",
    )
    return random.choice(note) + made.data


# Joined archives.


@kind("joined-archives", formats=("caf",))
def _over_a_longer_one(made: Made, random: Random) -> bytes:
    longer = make("caf", Random(random.random()), 300_000).data
    return made.data + longer[len(made.data) :]


@kind("joined-archives")
def _joined_with_its_kind(made: Made, random: Random) -> bytes:
    return made.data + make(made.format, random).data


@kind("joined-archives", formats=("caf", "rca", "tar", "datas3t"))
def _joined_with_a_zip(made: Made, random: Random) -> bytes:
    return made.data + make("zip", random).data


@kind("joined-archives", formats=("rca", "taco", "zip", "tar"))
def _joined_with_a_caf(made: Made, random: Random) -> bytes:
    return made.data + make("caf", random).data


@kind("joined-archives", formats=("zip", "taco"))
def _begun_and_begun_again(made: Made, random: Random) -> bytes:
    return made.data[: made.structure[0] - random.randint(1, 900)] + make(made.format, random).data


# More of text, and bytes in another order.


@kind("text-mode", formats=("caf", "taco", "zip", "tar", "datas3t"))
def _sixteen_bits(made: Made, _random: Random) -> bytes:
    return made.data.decode("latin-1").encode("utf-16-le")


@kind("text-mode", formats=("rca", "taco", "zip", "datas3t"))
def _zeros_removed(made: Made, _random: Random) -> bytes:
    return made.data.replace(b"\0", b"")


@kind("byte-order", formats=("caf", "taco", "zip", "tar", "datas3t"))
def _pairs_swapped(made: Made, _random: Random) -> bytes:
    data = bytearray(made.data)
    even = len(data) // 2 * 2
    data[0:even:2], data[1:even:2] = data[1:even:2], data[0:even:2]
    return bytes(data)


@kind("byte-order")
def _words_swapped(made: Made, random: Random) -> bytes:
    places = random.choice(((3, 2, 1, 0), (7, 6, 5, 4, 3, 2, 1, 0), (2, 3, 0, 1)))
    data, size = bytearray(made.data), len(places)
    whole = len(data) // size * size
    for at, place in enumerate(places):
        data[at:whole:size] = made.data[place:whole:size]
    return bytes(data)


@kind("encoded-text")
def _printed_by_python(made: Made, _random: Random) -> bytes:
    return repr(made.data).encode()


@kind("encoded-text")
def _quoted_printable(made: Made, _random: Random) -> bytes:
    return quopri.encodestring(made.data[:100_000])


@kind("encoded-text")
def _base32_or_85(made: Made, random: Random) -> bytes:
    return random.choice((base64.b32encode, base64.b85encode))(made.data)


@kind("encoded-text")
def _numbers_in_a_source_text(made: Made, _random: Random) -> bytes:
    return b"unsigned char data[] = {" + b", ".join(b"0x%02x" % each for each in made.data[:40_000]) + b"};\n"


@kind("compressed", formats=("rca", "taco", "zip", "tar", "datas3t"))
def _stream_without_a_signature(made: Made, random: Random) -> bytes:
    return zlib.compress(made.data, 6) if random.random() < 0.5 else lzma.compress(made.data, lzma.FORMAT_ALONE)


@kind("text-mode", formats=("caf", "taco", "zip", "tar"))
def _crlf_twice(made: Made, _random: Random) -> bytes:
    return made.data.replace(b"\n", b"\r\r\n")


@kind("filled-block", formats=DIGESTS)
def _block_of_a_pattern(made: Made, random: Random) -> bytes:
    return _with(made.data, _aligned(made.content, 4096, random), b"\xde\xad\xbe\xef" * 1024)


@kind("encrypted")
def _encrypted(made: Made, random: Random) -> bytes:
    return b"Salted__" + random.randbytes(len(made.data) // 16 * 16 + 8)


@kind("error-page")
def _a_line_of_error(_made: Made, random: Random) -> bytes:
    return random.choice((b"404 page not found\n", b"Access Denied\n", b"upstream connect error: timeout"))


# Blocks of one byte, and smaller parts.


@kind("filled-block", formats=DIGESTS)
def _erased_block(made: Made, random: Random) -> bytes:
    return _with(made.data, _aligned(made.content, 4096, random), b"\xff" * 4096)


@kind("changed-bytes", "flipped-bit", formats=DIGESTS)
def _block_of_another_file(made: Made, random: Random) -> bytes:
    return _with(made.data, _aligned(made.content, 4096, random), random.randbytes(4096))


@kind("doubled-part", "repeated-block", formats=("tar", "rca", "datas3t"), size=600_000)
def _small_part_doubled(made: Made, random: Random) -> bytes:
    at = random.randint(2, 4) * 65_536
    return made.data[: at + 65_536] + made.data[at:]


@kind("swapped-parts", formats=("taco", "datas3t", "rca"), size=900_000)
def _small_parts_swapped(made: Made, random: Random) -> bytes:
    at, size, data = random.randint(1, 2) * 131_072, 131_072, made.data
    return data[:at] + data[at + size : at + 2 * size] + data[at : at + size] + data[at + 2 * size :]


@kind("lost-part", "lost-bytes", formats=("tar", "rca"), size=600_000)
def _small_part_lost(made: Made, _random: Random) -> bytes:
    return made.data[:131_072] + made.data[196_608:]


# Bits of what places members.


@kind("flipped-bit", formats=("caf",))
def _bit_of_an_offset(made: Made, random: Random) -> bytes:
    at = made.data.find(b'"start_byte":', made.structure[0] + 600) + 13
    return _flip(made.data, at, random) if made.data[at : at + 1] != b"0" else _flip(made.data, at - 5, random)


@kind("flipped-bit", formats=("caf",))
def _bit_of_a_footer(made: Made, random: Random) -> bytes:
    return _flip(made.data, len(made.data) - 4 + random.randrange(3), random)


@kind("flipped-bit", formats=("zip", "taco"))
def _bit_of_an_end_record(made: Made, random: Random) -> bytes:
    return _flip(made.data, len(made.data) - 22 + random.choice((0, 1, 2, 3, 10, 12, 16)), random)


@kind("flipped-bit", formats=("zip", "taco"))
def _bit_of_a_listed_offset(made: Made, random: Random) -> bytes:
    at = made.data.find(b"PK\1\2", made.structure[0] + 100)
    return _flip(made.data, at + random.choice((0, 1, 42, 43)), random)


@kind("flipped-bit", formats=("rca",))
def _bit_of_a_chunk_size(made: Made, random: Random) -> bytes:
    return _flip(made.data, 0x8000 + random.randrange(1, 4), random)


def damaged(one: Kind, made_format: str, seed: int, number: int = 0) -> Case:
    """An archive of this format with this kind of damage."""
    random = Random(f"{seed}/{one.name}/{made_format}/{number}")
    made = make(made_format, random, one.size)
    data = one.damage(made, random)
    metadata = None if made.metadata is None else one.beside(made.metadata)
    return Case(one.name, made_format, data, one.truth, metadata, made.data, made.proofs)


def kinds_of_formats() -> list[tuple[Kind, str]]:
    """Every kind of damage with each format that it is for."""
    return [(one, made_format) for one in KINDS for made_format in one.formats]


def cases(seed: int, each: int = 1) -> Iterator[Case]:
    """Every kind of damage to every format that it is for, ``each`` times."""
    for one, made_format in kinds_of_formats():
        for number in range(each):
            yield damaged(one, made_format, seed, number)


def sound(seed: int) -> Iterator[Case]:
    """Sound archives of all formats, some with stretches of zeros and repeated blocks, which are no damage."""
    for made_format in FORMATS:
        for number in range(3):
            random = Random(f"{seed}/sound/{made_format}/{number}")
            made = make(made_format, random, zeros=True)
            yield Case("sound", made_format, made.data, frozenset(), made.metadata)
