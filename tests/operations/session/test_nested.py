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

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SourceError, SplicedSource
from inspector.formats._zstd import compress
from inspector.operations.open.listing import load
from inspector.operations.open.nested import MAX_DEPTH, open_nested
from inspector.operations.open.opening import around
from tests.operations.extract.extracting import caf, tar, zipped
from tests.sweeping import in_the_sweep

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
    for cut in (100, 9, 5, 1):
        path.write_bytes(packed[:-cut])
        with pytest.raises(SourceError, match=r"outer.tar\.[a-z0-9]* cannot be unpacked"):
            open_nested(f"{path}!/")


def test_zstd_data_may_begin_with_a_frame_to_skip(tmp_path: Path) -> None:
    path = tmp_path / "outer.tar.zst"
    path.write_bytes(b"\x5f\x2a\x4d\x18\2\0\0\0hi" + compress(tar([("f/inner.zip", INNER)])))
    assert names(f"{path}!/") == [b"f/inner.zip"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, partial(lzma.compress, preset=0)])
def test_what_follows_compressed_data_is_named_where_it_begins(tmp_path: Path, pack: Compress) -> None:
    path = tmp_path / "outer.tar.z"
    packed = pack(INNER)
    path.write_bytes(packed + b"something else")
    with pytest.raises(SourceError) as caught:
        open_nested(f"{path}!/")
    assert f"ends before byte {len(packed):,}. The last 14 bytes are something else" in str(caught.value)


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
