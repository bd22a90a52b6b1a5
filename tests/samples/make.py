"""Make the sample archives: ``python tests/samples/make.py`` writes into resources/samples and tests/samples.

``python tests/samples/make.py NAME…`` writes only those.

The bytes are committed, because a later zstd, tacozip or Python may write others. After making them anew, run the
tests with ``--golden`` and read what changed. ``ghost.taco`` and ``tacotoolbox.tacozip`` are not made here: tacozip 0.5
and tacotoolbox wrote them.
"""

from __future__ import annotations

import os
import struct
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path

import tacozip
import writers
from contents import journey, noise, png, readings
from writers import BlobLayer, Files, caf, chunks, index_json, ranges_of, zipped

TESTS = Path(__file__).parent
SHIPPED = TESTS.parent.parent / "resources" / "samples"
FULL = 0x8000
"""The size of a full first chunk of an RCA, in bytes."""


def flipped(data: bytes, at: int, bit: int = 1) -> bytes:
    """``data`` with one bit flipped."""
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


# --- CAF


def caf_shipped() -> Files:
    files = journey()
    sound = caf(files)
    ranges = ranges_of(files)
    gap = [(name, start, stop - 50 * (name == "photos/tile_0001.png")) for name, start, stop in ranges]
    overlap = [(name, start, stop + 100 * (name == "photos/tile_0001.png")) for name, start, stop in ranges]
    return {
        "journey.caf": sound,
        "gap.caf": caf(files, index_json(gap)),
        "overlap.caf": caf(files, index_json(overlap)),
        "damaged-footer.caf": caf(files, index_size=900_000),
    }


def caf_tests() -> Files:
    files = {"one.txt": b"first", "two.bin": bytes(range(32)), "three.txt": b"the last one"}
    ranges = ranges_of(files)

    def with_second(start: object, stop: object) -> bytes:
        return caf(files, index_json([ranges[0], ("two.bin", start, stop), ranges[2]]))

    def renamed(name: str, version: str | None = "1.0") -> bytes:
        return caf(files, index_json([(name, 0, 5), *ranges[1:]], version))

    plain = index_json(ranges)
    spaced = plain.replace(b"{", b"{\n  ").replace(b":", b": ").replace(b",", b",\n  ")
    return {
        "two-alike.caf": caf(files, index_json([*ranges, ("one.txt", 5, 37)])),
        "trailing-commas.caf": caf(files, plain.replace(b"}", b",}").replace(b",}", b",\n}")),
        "pretty.caf": caf(files, spaced),
        "no-members.caf": caf({}),
        "only-empty.caf": caf({"empty": b""}),
        "three-bytes.caf": b"\1\2\3",
        "index-size-zero.caf": caf(files, index_size=0),
        "index-size-short.caf": caf(files, index_size=len(plain) - 7),
        "out-of-range.caf": with_second(5, 4000),
        "reversed.caf": with_second(37, 5),
        "float-offset.caf": with_second(5.5, 37),
        "negative-offset.caf": with_second(-1, 37),
        "string-offset.caf": with_second("5", 37),
        "huge-offset.caf": with_second(5, 2**80),
        "no-end.caf": caf(files, plain.replace(b',"end_byte":37', b"")),
        "escaped-names.caf": caf(files, plain.replace(b'"one.txt"', rb'"\u006fne\n\ud800.txt"')),
        "leaves-folder.caf": renamed("../../outside.txt"),
        "hostile-name.caf": renamed("\x1b[31m\u202egpj.exe"),
        "unknown-version.caf": renamed("one.txt", "9.7"),
        "no-version.caf": renamed("one.txt", None),
        "inclusive-ends.caf": caf(files, index_json([(name, start, stop - 1) for name, start, stop in ranges])),
        "truncated.caf": caf(files)[:-20],
        "nested.caf": caf(files, b"[" * 3000 + b"]" * 3000),
    }


# --- RCA


def logs(layer: BlobLayer, first: int, count: int) -> None:
    for station in range(first, first + count):
        layer.blob(f"station-{station}/2024-05.log", readings(station, 40))


def full_chunk() -> BlobLayer:
    """An inner stream that fills the first chunk to its last byte."""
    size = FULL - 1200
    while True:
        layer = BlobLayer()
        logs(layer, 1, 2)
        layer.blob("noise.bin", noise(size))
        missing = FULL - 10 - len(layer.data)
        if not missing:
            return layer
        size += missing


def two_chunks() -> BlobLayer:
    layer = BlobLayer()
    logs(layer, 1, 3)
    layer.blob("photos/noise.bin", noise(FULL - 1500))
    layer.blob("photos/tile_0001.png", png(64, 48, 1))
    layer.reset()
    logs(layer, 4, 2)
    return layer


def segments(convention: str) -> bytes:
    layer = BlobLayer(convention)
    for first in (1, 3, 5):
        if first > 1:
            layer.reset()
        logs(layer, first, 2)
    return chunks(bytes(layer.data), layer.digest)


def rca_shipped() -> Files:
    full = full_chunk()
    torn = chunks(bytes(full.data), full.digest) + bytes(4) + full.digest + noise(100)
    layer = two_chunks()
    damaged = segments("spec")
    return {
        "two-chunks.rca": chunks(bytes(layer.data), layer.digest),
        "two-resets-spec.rca": segments("spec"),
        "two-resets-rcarch.rca": segments("rcarch"),
        "torn-at-boundary.rca": torn,
        "flipped-blob-byte.rca": flipped(damaged, 400, 255),
    }


def rca_tests() -> Files:
    layer = BlobLayer()
    layer.blob("one.txt", b"the only blob\n")
    one = chunks(bytes(layer.data), layer.digest)
    odd = BlobLayer()
    odd.control(5, b"what is this?")
    odd.blob("", b"no name")
    odd.blob("empty", b"")
    odd.control(3, b"")
    odd.blob("zażółć/報告", b"a name outside ASCII")
    full = full_chunk()
    whole = chunks(bytes(full.data), full.digest)
    resumed = BlobLayer()
    logs(resumed, 1, 1)
    resumed.reset()
    resumed.blob("later.txt", b"after the reset\n")

    def raw(inner: bytes) -> bytes:
        return chunks(inner, writers.blake2s(inner, digest_size=8).digest())

    def packed(text: bytes) -> bytes:
        frame = writers.zstandard.ZstdCompressor(write_content_size=False).compressobj()
        blob = frame.compress(text) + frame.flush(writers.zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        return raw(writers.varint(len(blob) << 1) + blob)

    return {
        "empty.rca": b"",
        "one-blob.rca": one,
        "odd-blocks.rca": chunks(bytes(odd.data), odd.digest),
        "torn-in-chunk.rca": one + noise(40),
        "partial-header.rca": whole + bytes(2),
        "truncated.rca": one[:-9],
        "two-changed-bytes.rca": flipped(flipped(segments("spec"), 400, 255), 402, 255),
        "size-too-small.rca": b"\0\5" + one[2:],
        "size-reserved.rca": b"\x80\1" + one[2:],
        "not-zstd.rca": raw(writers.varint(24) + b"not zstd at "),
        "no-terminator.rca": packed(b"a name without an end"),
        "name-not-utf8.rca": packed(b"\xff\xfe\0content"),
        "endless-varint.rca": raw(b"\xff" * 32),
        "blob-past-end.rca": raw(bytes(layer.data) + writers.varint(10**9 << 1) + b"12345"),
        "wrong-metadata.rca": flipped(one, 5),
        "wrong-reset-hash.rca": flipped(
            chunks(bytes(resumed.data), resumed.digest), 10 + bytes(resumed.data).index(b"\x81\4") + 3
        ),
    }


# --- TACO and ZIP


def tacozip_of(files: Files, folder: Path) -> Path:
    """An archive written by tacozip; its entries lead to the first level and the collection inside it."""
    sources = []
    for number, content in enumerate(files.values()):
        source = folder / str(number)
        source.write_bytes(content)
        os.utime(source, (1_700_000_000, 1_700_000_000))
        sources.append(source)
    target = folder / "made.tacozip"
    tacozip.create(str(target), sources, list(files), entries=[(0, 0)] * 2)
    data = target.read_bytes()
    wanted = ("METADATA/level0.parquet", "COLLECTION.json")
    entries = [(data.index(name.encode()) + len(name), len(files[name])) for name in wanted]
    tacozip.update_header(str(target), entries)
    return target


def taco(folder: Path) -> tuple[Files, Files]:
    files = {
        "DATA/tile_0001.png": png(48, 32, 1),
        "DATA/tile_0002.png": png(48, 32, 2),
        "METADATA/level0.parquet": b"PAR1" + noise(300) + b"PAR1",
        "COLLECTION.json": b'{"id": "coast", "taco_version": "0.5.0", "title": "Three days on the coast"}\n',
    }
    target = tacozip_of(files, folder)
    old = target.read_bytes()
    tacozip.update_header(str(target), [(1_000, 2_000), (30_000, 40_000), (500_000, 600_000)])
    new = target.read_bytes()
    central = old.index(b"PK\1\2")
    payload = old[:41] + new[41:157] + old[157:]
    local = payload[:14] + new[14:18] + payload[18:]
    shipped = {
        "two-entries.tacozip": old,
        "torn-after-write-2.tacozip": local,
        "truncated.tacozip": old[:-60],
        "plain.zip": zipped(files, streamed=False),
    }
    eight = bytes([8]) + old[42:157]
    crc = struct.pack("<I", zlib.crc32(eight))
    tests = {
        "torn-after-write-1.tacozip": payload,
        "flipped-member-byte.tacozip": flipped(old, old.index(b"IHDR") + 6),
        "count-8.tacozip": old[:14] + crc + old[18:41] + eight + old[157 : central + 16] + crc + old[central + 20 :],
        "padding-not-zero.tacozip": flipped(old, 43),
        "wrong-name.tacozip": old[:40] + b"X" + old[41:],
        "comment.tacozip": old[:-2] + b"\x0b\0hello there",
        "header-only.bin": old[:157],
        "streamed.zip": zipped(files, streamed=True),
        "odd.zip": writers.odd_zip(),
        "empty.zip": b"PK\5\6" + bytes(18),
        "prefixed.zip": b"#!/bin/sh\n" + zipped({"a.txt": b"after a stub"}, streamed=False),
    }
    return shipped, tests


# --- datas3t and tar


def bucket(dataset: str, *ranges: tuple[int, int], lost: int | None = None, rows_lost: int | None = None) -> Files:
    """The objects of a bucket with one dataset: a tar and its metadata for each range of keys (first, last)."""
    objects = {}
    for first, last in ranges:
        contents = [
            ("json", b'{"key": %d, "wind": "%s"}\n' % (key, b"NESW"[key % 4 : key % 4 + 1]))
            if key % 2
            else ("txt", readings(key, 12))
            for key in range(first, last + 1)
        ]
        tar, rows = writers.datarange(first, contents)
        name = f"dataset/{dataset}/datapoints/{first:020d}-{last:020d}.tar"
        objects[name] = tar
        if lost != first:
            objects[f"{name}.metadata"] = writers.metadata(row for row in rows if row["id"] != str(rows_lost))
    return objects


def later_bucket(first: int = 1, last: int = 3, upload: int = 7, lines: int = 12) -> Files:
    """The objects as later versions of the service lay them out: an index of 16 bytes a datapoint beside the tar."""
    contents = [readings(key, lines) for key in range(first, last + 1)]
    tar, rows = writers.datarange(first, [("txt", each) for each in contents])
    sizes = map(len, contents)
    index = b"".join(
        struct.pack(">QH", int(row["begin_offset"]), 1) + size.to_bytes(6, "big")
        for row, size in zip(rows, sizes, strict=True)
    )
    name = f"datas3t/weather/dataranges/{first:020d}-{last:020d}-{upload:012d}"
    return {f"{name}.tar": tar, f"{name}.index": index}


def live_bucket() -> Files:
    """What the later service leaves: an aggregate and its two parts, and uploads repeated, half there, and at odds."""
    files: Files = {}
    for first, last, upload, lines in ((1, 2, 1, 3), (3, 4, 2, 3), (1, 4, 3, 3), (5, 6, 4, 3), (5, 6, 5, 3)):
        files |= later_bucket(first, last, upload, lines)
    files |= later_bucket(11, 12, 8, 3) | later_bucket(11, 12, 9, 4)
    (tar, data), _ = later_bucket(7, 8, 6).items()
    return files | {tar: data}


def tars() -> tuple[dict[str, Files | bytes], dict[str, Files | bytes]]:
    files = {"journey/": b"", "journey/readme.txt": b"Three days on the coast.\n", "journey/empty.dat": b""}
    long = {"/".join(["a-rather-long-folder-name"] * 8) + "/zażółć.txt": b"a long name\n", **files}
    (_, lone), *_ = bucket("lone", (1, 3)).items()
    shipped: dict[str, Files | bytes] = {
        "weather": bucket("weather", (1, 4), (5, 6)),
        "weather-later": later_bucket(),
        "weather-missing-row": bucket("weather", (1, 4), rows_lost=3),
        "plain.tar": writers.plain_tar(files, tarfile.USTAR_FORMAT),
    }
    tests: dict[str, Files | bytes] = {
        "weather-gap": bucket("weather", (1, 2), (7, 8)),
        "weather-live": live_bucket(),
        "weather-overlap": bucket("weather", (1, 3), (3, 4)),
        "weather-no-metadata": bucket("weather", (1, 2), lost=1),
        "pax.tar": writers.plain_tar(long, tarfile.PAX_FORMAT),
        "gnu.tar": writers.plain_tar(long, tarfile.GNU_FORMAT),
        "truncated.tar": lone[:1200],
        "wrong-checksum.tar": flipped(lone, 150),
        "sparse-overlap.tar": writers.sparse_tar(),
    }
    return shipped, tests


# --- ar


def ar() -> tuple[Files, Files]:
    main, util = b"int main(void) { return answer(); }\n", b"int answer(void) { return 42; }"
    long = {"main.o": main, "an-object-with-a-long-name.o": util}
    symbols = {"main": 0, "answer": 1}
    gnu = writers.gnu_ar(long, symbols)
    second = gnu.index(b"/0 ")
    shipped = {"library.a": gnu}
    tests = {
        "bsd.a": writers.bsd_ar(long, symbols),
        "wide-symbols.a": writers.gnu_ar(long, symbols, width=8),
        "no-members.a": b"!<arch>\n",
        "wrong-size.a": gnu.replace(b"36        `", b"7         `"),
        "wrong-end.a": gnu[: second + 58] + b"??" + gnu[second + 60 :],
        "wrong-padding.a": gnu[:-1] + b"\0",
        "wrong-magic.a": flipped(gnu, 3),
        "wrong-long-name.a": gnu.replace(b"/0 ", b"/99"),
        "truncated.a": gnu[:-12],
        "trailing.a": gnu + b"bytes of something else",
    }
    return shipped, tests


def write(folder: Path, samples: dict[str, Files] | dict[str, Files | bytes] | Files) -> None:
    """Write files, and folders of files: those that the command names, or all."""
    wanted = {name: content for name, content in samples.items() if name in sys.argv[1:] or not sys.argv[1:]}
    for name, content in wanted.items():
        for path, data in content.items() if isinstance(content, dict) else [("", content)]:
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def main() -> None:
    """Write all samples: of each format those that users get, and those for tests only."""
    with tempfile.TemporaryDirectory() as folder:
        made = [
            (caf_shipped(), caf_tests()),
            (rca_shipped(), rca_tests()),
            taco(Path(folder)),
            tars(),
            ar(),
        ]
    names = {name for samples in made for files in samples for name in files}
    if unknown := {*sys.argv[1:]} - names:
        sys.exit(f"This makes no sample called {', '.join(sorted(unknown))}.")
    for shipped, tests in made:
        write(SHIPPED, shipped)
        write(TESTS, tests)


if __name__ == "__main__":
    main()
