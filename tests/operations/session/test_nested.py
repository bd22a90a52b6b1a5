"""Archives inside others, to any depth that is allowed, and inside compressed bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from inspector.core.finding import Severity
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SourceError, SplicedSource
from inspector.core.span import Span
from inspector.formats._zstd import compress
from inspector.operations.open import nested
from inspector.operations.open.listing import load
from inspector.operations.open.nested import MAX_DEPTH, open_nested
from inspector.operations.open.opening import Opened, around
from tests.operations.extract.extracting import caf, tar, zipped
from tests.sweeping import at_every_change, in_the_sweep

Compress = Callable[[bytes], bytes]


def names(location: object) -> list[bytes]:
    (archive,) = load(str(location), Progress())
    return [member.path for member in archive.members]


def deflated(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(name, data)
    return buffer.getvalue()


INNER = zipped([("a.txt", b"hello"), ("b", b"")])


@pytest.mark.parametrize("around_it", [tar, caf, zipped])
def test_an_archive_inside_another_is_a_view_of_it(tmp_path: Path, around_it: Callable[..., bytes]) -> None:
    path = tmp_path / "outer"
    path.write_bytes(around_it([("x", b"1"), ("f/inner.zip", INNER)]))
    assert names(f"{path}!/f/inner.zip") == [b"a.txt", b"b"]
    assert isinstance(open_nested(f"{path}!/f/inner.zip"), SplicedSource)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        in_the_sweep(".bz2", bz2.compress),
        (".xz", partial(lzma.compress, preset=0)),
        (".zst", compress),
    ],
)
def test_what_is_compressed_is_unpacked(tmp_path: Path, suffix: str, pack: Compress) -> None:
    path = tmp_path / f"outer.tar{suffix}"
    inner = tar([("f/inner.zip", INNER), ("large", os.urandom(1_300_000))])
    packed = pack(inner)
    path.write_bytes(packed)
    assert names(f"{path}!/") == [b"f/inner.zip", b"large"]
    assert names(f"{path}!/f/inner.zip") == [b"a.txt", b"b"]

    path.write_bytes(pack(inner[:1000]) + pack(inner[1000:]) + bytes(512 if suffix != ".zst" else 0))
    assert names(f"{path}!/f/inner.zip") == [b"a.txt", b"b"]
    assert opened(f"{path}!/").findings == []


def opened(location: str) -> Opened:
    (archive,) = load(location, Progress())
    return archive


PACKS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": compress,
}


A_PACK = at_every_change(PACKS, lambda name: name in ("gzip", "zstd"))


@pytest.mark.parametrize("name", A_PACK)
def test_compressed_data_that_is_cut_off_is_unpacked_as_far_as_it_goes(tmp_path: Path, name: str) -> None:
    path, inner = tmp_path / "outer.tar.z", tar([("a", b"1" * 700), ("large", os.urandom(1_300_000)), ("z", b"2")])
    packed = PACKS[name](inner)
    for cut in (300_000, 100, 9, 5, 1):
        path.write_bytes(packed[:-cut])
        archive = opened(f"{path}!/")
        first, source = archive.findings[0], archive.source
        assert first.code == "compressed-data-cut-off"
        assert f"only the first {source.size:,} bytes" in first.message
        assert inner.startswith(source.read(0, source.size))
        assert len(packed) - cut - source.size < 1_000_000  # bzip2 has blocks of 900,000 bytes
        assert main(["check", f"{path}!/"]) == 1
    path.write_bytes(packed[:3])
    with pytest.raises(SourceError, match="not compressed"):
        open_nested(f"{path}!/")


@pytest.mark.parametrize("name", A_PACK)
def test_of_damaged_compressed_data_nothing_is_said_to_be_proved(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    path, inner = tmp_path / "outer.tar.z", tar([("a", b"1" * 700), ("large", Random(1).randbytes(1_300_000))])
    packed = bytearray(PACKS[name](inner))
    packed[-100] ^= 1
    path.write_bytes(packed)
    archive = opened(f"{path}!/")
    assert archive.findings[0].code == "compressed-data-damaged"
    assert main(["check", f"{path}!/"]) == 1
    assert "only the first" in capfd.readouterr().out
    assert main(["extract", f"{path}!/", "--to", str(tmp_path / "out")]) == 1
    assert "not proved" in capfd.readouterr().err
    assert not (tmp_path / "out" / "a").exists()
    assert main(["extract", f"{path}!/", "--to", str(tmp_path / "out"), "--doubtful"]) == 1
    assert (tmp_path / "out" / "a").read_bytes() == b"1" * 700


HUGE_WINDOW = bytes.fromhex("28b52ffd 00 a0 010000")
"""A zstd frame of an empty block that asks for a window of 1 GiB."""


def test_later_data_that_needs_too_much_memory_is_refused_and_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nested, "_MAX_LZMA_BYTES", 1 << 20)
    small = lzma.compress(INNER, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}])
    for name, data, why in (
        ("a.zip.zst", compress(INNER) + HUGE_WINDOW, "The zstd frame asks for a window of "),
        ("a.zip.xz", small + lzma.compress(b"more"), "it needs more than 1,048,576 bytes of memory"),
    ):
        (tmp_path / name).write_bytes(data)
        assert main(["check", f"{tmp_path / name}!/"]) == 2
        said = capsys.readouterr().out
        assert f"{name} cannot be unpacked: {why}" in said
        assert "damaged" not in said


def test_compressed_data_for_which_there_is_no_memory_are_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Poor:
        eof, unused_data, needs_input = False, b"", True

        def decompress(self, _: bytes, __: int = -1) -> bytes:
            raise MemoryError

    path = tmp_path / "a.zip.bz2"
    path.write_bytes(bz2.compress(INNER))
    monkeypatch.setattr(bz2, "BZ2Decompressor", Poor)
    assert main(["check", f"{path}!/"]) == 2
    assert "a.zip.bz2 cannot be unpacked: it needs more memory than there is" in capsys.readouterr().out


def test_what_lies_in_damaged_compressed_data_is_in_doubt_at_any_depth(tmp_path: Path) -> None:
    path, inner = tmp_path / "outer.gz", tar([("a", b"1" * 5000), ("b", b"2" * 700)])
    within = zipped([("stored.tar", inner)]) + deflated("deflated.tar.gz", gzip.compress(inner))
    for made, inside in ((within, "deflated.tar.gz!/"), (zipped([("stored.tar", inner)]), "stored.tar")):
        packed = bytearray(gzip.compress(made))
        packed[-5] ^= 1
        path.write_bytes(packed)
        archive = opened(f"{path}!/{inside}")
        assert archive.findings[0].code == "compressed-data-damaged"
        assert archive.findings[0].spans == (Span(0, len(inner)),)


def test_all_that_gzip_gives_before_an_error_is_kept(tmp_path: Path) -> None:
    path, inner = tmp_path / "a.gz", os.urandom(100_000)
    packed = bytearray(gzip.compress(inner, 0))
    block, before = 10, 0  # RFC 1951, 3.2.4: each stored block begins with a flag and its length
    while not packed[block]:
        length = int.from_bytes(packed[block + 1 : block + 3], "little")
        block, before = block + 5 + length, before + length
    assert before
    packed[block + 1] ^= 1
    path.write_bytes(packed)
    source = open_nested(f"{path}!/")
    assert isinstance(source, BytesSource)
    assert source.read(0, source.size) == inner[:before]


@pytest.mark.parametrize("name", PACKS)
def test_what_follows_compressed_data_is_a_warning_that_says_where_it_begins(tmp_path: Path, name: str) -> None:
    path = tmp_path / "outer.zip.z"
    packed = PACKS[name](INNER)
    for junk in (b"something else", b"!"):
        path.write_bytes(packed + junk)
        archive = opened(f"{path}!/")
        (finding,) = archive.findings
        assert (finding.code, finding.severity) == ("bytes-after-compressed-data", Severity.WARNING)
        assert finding.message.startswith(f"{in_bytes(len(junk))} follow")
        assert f"ends before byte {len(packed):,}." in finding.message
        assert [member.path for member in archive.members] == [b"a.txt", b"b"]
    within = tmp_path / "around.zip"
    within.write_bytes(zipped([("in.gz", packed + b"!")]))
    (finding,) = opened(f"{within}!/in.gz!/").findings
    assert finding.code == "bytes-after-compressed-data"


def test_compressed_archives_lie_in_archives(tmp_path: Path) -> None:
    path = tmp_path / "outer.zip"
    path.write_bytes(deflated("in.tar.gz", gzip.compress(tar([("inner.zip", INNER)]))))
    assert names(f"{path}!/in.tar.gz!/") == [b"inner.zip"]
    assert names(f"{path}!/in.tar.gz!/inner.zip") == [b"a.txt", b"b"]
    assert isinstance(open_nested(f"{path}!/in.tar.gz"), BytesSource)


def test_an_archive_whose_first_member_is_compressed_is_no_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "outer.caf"
    path.write_bytes(caf([("first.gz", gzip.compress(INNER)), ("second.zip", INNER)]))
    assert names(f"{path}!/second.zip") == [b"a.txt", b"b"]
    assert names(f"{path}!/first.gz!/") == [b"a.txt", b"b"]


def test_the_depth_is_limited(tmp_path: Path) -> None:
    data, path = INNER, tmp_path / "outer.tar"
    for _ in range(MAX_DEPTH + 1):
        data = tar([("i", data)])
    path.write_bytes(data)
    assert names(str(path) + "!/i" * MAX_DEPTH) == [b"i"]
    with pytest.raises(SourceError, match="lies 16 archives deep"):
        names(str(path) + "!/i" * (MAX_DEPTH + 1))


def test_what_unpacks_to_more_than_the_limit_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVE_INSPECTOR_CONTENT_MIB", "1")
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    with pytest.raises(SourceError, match=r"larger than 1.0 MiB .* ARCHIVE_INSPECTOR_CONTENT_MIB"):
        open_nested(f"{path}!/")
    path.write_bytes(deflated("x", bytes(2 << 20)))
    with pytest.raises(SourceError, match="larger than"):
        open_nested(f"{path}!/x")


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("none", "no member is called none"),
        ("link", "no file whose bytes are in the archive"),
        ("", "is not compressed"),
    ],
)
def test_what_is_not_there_is_a_sentence(tmp_path: Path, inside: str, why: str) -> None:
    path = tmp_path / "outer.tar"
    with tarfile.open(path, "w") as out:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "x"
        out.addfile(link)
    with pytest.raises(SourceError, match=why):
        open_nested(f"{path}!/{inside}")
    with pytest.raises(SourceError, match="is a folder"):
        open_nested(f"{tmp_path}!/x")
    with pytest.raises(SourceError, match="does not exist"):
        open_nested(f"{tmp_path}/none!/x")


def test_a_file_whose_path_has_the_separator_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "odd!" / "a.zip"
    path.parent.mkdir()
    path.write_bytes(INNER)
    assert names(path) == [b"a.txt", b"b"]
    outer = tmp_path / "odd!" / "b.tar"
    outer.write_bytes(tar([("i.zip", INNER)]))
    assert around(f"{outer}!/i.zip") == (str(outer), ["i.zip"])
    assert names(f"{outer}!/i.zip") == [b"a.txt", b"b"]
    assert around("s3://bucket/key.tar!/x!/y") == ("s3://bucket/key.tar", ["x", "y"])


def test_commands_take_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "outer.tar.gz"
    path.write_bytes(gzip.compress(tar([("inner.zip", INNER)])))
    inside = f"{path}!/inner.zip"
    assert main(["cat", inside, "a.txt"]) == 0
    assert capfd.readouterr().out == "hello"
    assert main(["check", inside]) == 0
    assert main(["dump", "--depth", "1", inside]) == 0
    assert main(["extract", inside, "--to", str(tmp_path / "to")]) == 0
    assert (tmp_path / "to" / "a.txt").read_bytes() == b"hello"
    capfd.readouterr()
    assert main(["header", inside, "--set", "0=1,2"]) == 2
