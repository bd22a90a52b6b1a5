"""``--where``, ``--sort``, ``--columns``, ``--count-by``, ``--sum`` and ``--csv``, held against zipfile and tarfile."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from inspector.__main__ import main
from tests.cli.running import objects

SAMPLES = Path(__file__).parents[2] / "resources" / "samples"


def _said(capfd: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    assert main([*map(str, arguments)]) == status, capfd.readouterr().err
    return capfd.readouterr().out


def _zip(folder: Path) -> Path:
    path = folder / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3_000):
            info = zipfile.ZipInfo(
                f"part-{number % 7}/{number}.{('txt', 'bin')[number % 2]}", (2020 + number % 5, 1, 1, 0, 0, 0)
            )
            info.compress_type = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[number % 3 == 0]
            archive.writestr(info, b"x" * (number % 400))
    return path


def test_members_of_a_zip_are_those_of_zipfile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _zip(tmp_path)
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    wanted = [each.filename for each in infos if each.file_size > 100 and each.filename.endswith(".txt")]
    where = "size > 100 and name.endswith('.txt')"
    assert [each["path"] for each in objects(_said(capfd, "list", "--json", "--where", where, path))] == wanted
    assert _said(capfd, "list", "--names", "--where", where, path).splitlines() == wanted
    assert len(_said(capfd, "list", "--where", where, path).splitlines()) == len(wanted) + 1
    sizes = Counter(str(each.compress_type == zipfile.ZIP_DEFLATED) for each in infos)
    by_codec = objects(_said(capfd, "list", "--json", "--count-by", "codec == 'deflate'", "--sum", "size", path))
    assert {str(each["key"]): each["count"] for each in by_codec} == sizes
    assert sum(each["sum"] for each in by_codec) == sum(each.file_size for each in infos)
    largest = sorted(infos, key=lambda each: -each.compress_size)[:5]
    found = _said(capfd, "list", "--csv", "--sort=-stored", "--columns", "name,stored,start", path)
    rows = list(csv.DictReader(io.StringIO(found)))
    assert [int(each["stored"]) for each in rows[:5]] == [each.compress_size for each in largest]
    assert {(each["name"], int(each["stored"])) for each in rows} == {
        (each.filename, each.compress_size) for each in infos
    }


def test_central_headers_are_those_of_zipfile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _zip(tmp_path)
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    wanted = [
        each.CRC for each in infos if each.file_size > 100 and each.compress_type == 8 and each.date_time[0] >= 2023
    ]
    where = "central.uncompressed_size > 100 and central.compression_method == 8"
    where += " and central.last_mod_file_date >= @2023-01-01"
    found = objects(_said(capfd, "dump", "--json", "--where", where, path))
    assert len(found) == len(wanted) > 100
    assert {each["type"] for each in found} == {"zip.central"}
    values = objects(_said(capfd, "dump", "--json", "--where", "type == 'central.crc32'", path))
    assert [each["value"] for each in values] == [each.CRC for each in infos]


def test_members_of_a_tar_are_those_of_tarfile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with tarfile.open(path := tmp_path / "many.tar", "w") as archive:
        for number in range(500):
            info = tarfile.TarInfo(f"{number:03d}")
            info.size = number
            archive.addfile(info, io.BytesIO(bytes(number)))
    with tarfile.open(path) as archive:
        infos = archive.getmembers()
    found = objects(_said(capfd, "list", "--json", "--where", "10 < size <= 0x80", "--columns", "name,start", path))
    expected = [{"name": each.name, "start": each.offset_data} for each in infos if 10 < each.size <= 128]
    assert [each["row"] for each in found] == expected


def test_of_datasets_all_ranges_are_asked(capfd: pytest.CaptureFixture[str]) -> None:
    every = objects(_said(capfd, "list", "--json", SAMPLES / "weather"))
    assert len({each["source"] for each in every}) > 1
    found = objects(_said(capfd, "list", "--json", "--sum", "size", SAMPLES / "weather"))
    assert found == [{"key": None, "count": len(every), "sum": sum(each["size"] for each in every)}]
    paths = _said(capfd, "list", "--columns", "path", SAMPLES / "weather").splitlines()[1:]
    assert all("/" in each for each in paths)


def test_a_verdict_is_checked_for(capfd: pytest.CaptureFixture[str]) -> None:
    found = _said(
        capfd, "list", "--names", "--where", "verdict != 'verified'", SAMPLES / "flipped-blob-byte.rca", status=1
    )
    assert found
    assert not _said(capfd, "list", "--names", "--where", "verdict != 'verified'", SAMPLES / "plain.zip")


def test_findings_archives_and_differences(capfd: pytest.CaptureFixture[str]) -> None:
    path = SAMPLES / "flipped-blob-byte.rca"
    every = objects(_said(capfd, "check", "--json", path, status=1))[0]
    (found,) = objects(_said(capfd, "check", "--json", "--where", "code == 'rca-zstd'", path, status=1))
    assert found == every | {"findings": [each for each in every["findings"] if each["code"] == "rca-zstd"]}
    assert (
        _said(
            capfd,
            "check",
            "--where",
            "severity == 'info' and start > 10**1".replace("10**1", "10"),
            SAMPLES / "plain.zip",
        )
        == ""
    )
    audited = objects(
        _said(capfd, "audit", "--json", "--where", "state == 'damaged' and format == 'rca'", path, status=1)
    )
    assert [each.get("format") for each in audited] == ["rca", None]
    assert len(objects(_said(capfd, "audit", "--json", "--where", "state == 'sound'", path, status=1))) == 1
    other = SAMPLES / "two-resets-spec.rca"
    differences = objects(
        _said(capfd, "compare", "--json", "--where", "kind == 'field' and start < 600", path, other, status=1)
    )
    assert len(differences) > 1
    assert all(each["kind"] == "field" and (each["a"] or each["b"])["spans"][0][0] < 600 for each in differences[1:])


def test_what_is_wrong_is_said_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for command, where, hint in (
        ("list", "siez > 1", "did you mean size?"),
        ("dump", "central.crc > 1", "did you mean central.crc32?"),
        ("dump", "central.crc32 > 1 and local.crc32 > 1", "of one structure"),
        ("check", "sevrity == 'error'", "did you mean severity?"),
        ("audit", "stat == 'sound'", "did you mean state?"),
    ):
        assert main([command, "--where", where, str(SAMPLES / "plain.zip")]) == 2, command
        said = capfd.readouterr()
        assert hint in said.err, (command, said.err)
        assert not said.out, command


def test_fields_that_are_listed_can_be_asked_about(capfd: pytest.CaptureFixture[str]) -> None:
    every = objects(_said(capfd, "formats", "--json", "--fields"))
    assert {each["format"] for each in every} >= {"zip", "rca", "caf", "tar", "taco", "datas3t", "ar"}
    found = {each["name"]: each for each in objects(_said(capfd, "formats", "--json", "--fields", "zip"))}
    assert found["central.compressed_size"]["unit"] == "bytes"
    assert "central.crc32" in _said(capfd, "formats", "--fields", "zip")
    for name in found:
        assert _said(capfd, "dump", "--where", f"{name} == None or True", SAMPLES / "plain.zip") or "." in name
    assert main(["formats", "--fields", "zap"]) == 2
    assert "zip" in capfd.readouterr().err


def test_grep_finds_what_is_in_the_contents(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "texts.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(40):
            method = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[number % 2]
            archive.writestr(f"{number}.txt", b"-" * 500 + b"needle" * (number % 3), method)
    with zipfile.ZipFile(path) as archive:
        counts = {each: archive.read(each).count(b"needle") for each in archive.namelist()}
    found = objects(_said(capfd, "grep", "--json", "needle", path))
    assert Counter(each["member"] for each in found) == Counter(counts)
    data = path.read_bytes()
    exact = [each for each in found if int(each["member"].removesuffix(".txt")) % 2 == 0]
    assert exact
    for each in exact:
        assert data[slice(*each["span"])] == b"needle"
    assert _said(capfd, "grep", "-c", "NEEDLE", path, status=1) == f"{path}: 0\n"
    assert _said(capfd, "grep", "-i", "-c", "NEEDLE", path) == f"{path}: {sum(counts.values())}\n"
    assert _said(capfd, "grep", "-l", "-F", "--in", "names", "39.txt", path) == f"{path}\n"
    places = objects(_said(capfd, "grep", "--json", "--in", "bytes", "50 4B 03 04", path))
    assert [each["span"][0] for each in places] == [each.start() for each in re.finditer(b"PK\x03\x04", data)]
    broken = bytearray(data)
    broken[data.index(b"1.txt") + len("1.txt") + 2] ^= 0xFF
    path.write_bytes(broken)
    assert main(["grep", "needle", str(path)]) == 2
    assert "1.txt was not searched to its end" in capfd.readouterr().err
