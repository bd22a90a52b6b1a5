"""S3 wherever a path goes: the same answers as from a folder, and as few requests as the formats allow."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from zipfile import ZIP_STORED, ZipFile

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check import checking
from inspector.operations.check.checking import check_archive, mark_repairs
from inspector.operations.open.listing import load
from inspector.operations.open.location import open_location
from inspector.operations.open.opening import decode
from inspector.sources.s3.cache import MAX_REQUEST_BYTES
from inspector.sources.s3.source import S3Source
from tests.formats.tar.tar_building import build
from tests.s3.archives import SAMPLES, caf, dataset, members, taco
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import holding, ignoring, in_pages, refuse
from tests.sweeping import each_nth, in_the_sweep

Output = Callable[..., tuple[int, str]]


@pytest.fixture
def output(capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    """The exit status of the program and what it writes."""

    def run(*arguments: str) -> tuple[int, str]:
        status = main(arguments)
        return status, capsysbinary.readouterr().out.decode("utf-8", "surrogateescape")

    return run


@pytest.mark.parametrize("path", each_nth(5, SAMPLES, lambda path: str(path.name), Path.is_dir))
def test_every_sample_is_checked_and_dumped_and_listed_as_on_disk(
    path: Path, store: Store, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "report_contents", lambda *_: None)  # which reads more, and so nothing from far away
    location = store.put_all(path, f"samples/{path.name}")
    for command in ("check", "dump", "list"):
        here = output(command, "--json", str(path))
        there = output(command, "--json", *store.options, location)
        assert (there[0], there[1].replace(location, str(path))) == here


def test_a_chunk_archive_of_10_000_members_takes_one_request(store: Store) -> None:
    location = store.put("many.caf", caf(10_000))
    (archive,) = load(location, Progress(), store.connection, sparing=True)
    assert len(archive.members) == 10_000
    assert archive.findings == []
    assert store.proxy.asked() == [f"GET /{BUCKET}/many.caf bytes=-1048576"]


def test_a_chunk_archive_with_an_index_beyond_the_first_request_takes_two(store: Store) -> None:
    location = store.put("huge.caf", caf(20_000))
    (archive,) = load(location, Progress(), store.connection, sparing=True)
    assert len(archive.members) == 20_000
    assert len(store.proxy.log) == 2


def test_an_archive_of_30_gigabytes_takes_as_few_requests_as_a_small_one(store: Store) -> None:
    data = 30 << 30
    index = {f"{at}.bin": {"start_byte": at << 20, "end_byte": at + 1 << 20} for at in range(data >> 20)}
    text = json.dumps({"format_version": "1.0", "files": index}, separators=(",", ":")).encode()
    tail = text + len(text).to_bytes(4, "little")
    with store.proxy.failing(holding(data + len(tail), tail)):
        (archive,) = load(f"s3://{BUCKET}/vast.caf", Progress(), store.connection, sparing=True)
    assert len(archive.members) == 30 << 10
    assert archive.findings == []
    assert len(store.proxy.log) == 2


def test_a_taco_archive_of_10_000_members_takes_two_requests(store: Store, tmp_path: Path, output: Output) -> None:
    data = taco(10_000, tmp_path)
    (tmp_path / "many.tacozip").write_bytes(data)
    location = store.put("many.tacozip", data)
    (archive,) = load(location, Progress(), store.connection, sparing=True)
    assert archive.format == "taco"
    assert len(archive.members) == 10_001
    assert [seen.range for seen in store.proxy.log] == ["bytes=-1048576", "bytes=0-65535"]
    assert [finding.code for finding in archive.findings] == ["zip-local-headers-not-read"]
    (whole,) = load(str(tmp_path / "many.tacozip"), Progress())
    assert list(archive.members) == list(whole.members)
    store.proxy.reset()
    name = "folder/005000.bin"
    assert output("cat", *store.options, location, name) == output("cat", str(tmp_path / "many.tacozip"), name)
    assert len(store.proxy.log) == 3


def test_checking_reads_what_listing_left_out(store: Store, tmp_path: Path) -> None:
    data = bytearray(taco(5_000, tmp_path))
    where = data.index(b"folder/000777.bin")
    data[where] ^= 1
    (archive,) = load(store.put("many.tacozip", bytes(data)), Progress(), store.connection, sparing=True)
    assert [finding.code for finding in archive.findings] == ["zip-local-headers-not-read"]
    check_archive(archive, Progress())
    assert [finding.code for finding in archive.findings] == ["cause-flipped-bit", "zip-local-name"]


def test_members_are_found_where_local_headers_are_longer(store: Store, tmp_path: Path) -> None:
    """Streamed members have descriptors, and ZIP64 information that the central directory has not."""
    path = tmp_path / "long.zip"
    with ZipFile(path, "w", ZIP_STORED) as made:
        for name, content in members(9_000):
            with made.open(name, "w", force_zip64=True) as member:
                member.write(content)
    location = store.put("long.zip", path.read_bytes())
    (archive,) = load(location, Progress(), store.connection, sparing=True)
    assert archive.decoder is not None
    for index in (0, 4_500, 8_999):
        found = b"".join(archive.decoder.read(archive, index, Progress()))
        assert (archive.members.path(index).decode(), found) == members(9_000)[index]
    (whole,) = load(str(path), Progress())
    assert list(archive.members) == list(whole.members)


def test_a_listing_of_many_pages(store: Store) -> None:
    for number in range(8):
        store.put(f"pages/{number}.txt", b"")
    with store.proxy.failing(in_pages(3)):
        found = store.prefix(f"s3://{BUCKET}/pages/")
        assert [entry.name for entry in found.entries()] == [f"{number}.txt" for number in range(8)]
        assert len(found.entries()) == len(list(found.beneath()))
    assert [str(seen).partition(" ")[0] for seen in store.proxy.log] == ["LIST"] * 3


def test_a_prefix_opens_from_every_folder_on_the_way_and_without_its_slash(store: Store) -> None:
    location = dataset(store, "way", 2)
    for place in ("way", "way/", "way/dataset/", "way/dataset/weather", "way/dataset/weather/datapoints"):
        found = open_location(f"s3://{BUCKET}/{place}", store.connection)
        assert found.collection is not None
        assert found.collection.datasets == ("weather",)
        assert found.collection.ranges[0].location.startswith(f"{location}/datapoints/")


def test_a_prefix_is_checked_like_a_folder(store: Store, output: Output, tmp_path: Path) -> None:
    for name in ("journey.caf", "plain.zip"):
        data = next(path for path in SAMPLES if path.name == name).read_bytes()
        (tmp_path / "deep").mkdir(exist_ok=True)
        (tmp_path / "deep" / name).write_bytes(data)
    location = store.put_all(tmp_path, "folder")
    here = output("check", "--json", str(tmp_path))
    there = output("check", "--json", *store.options, f"{location}/")
    assert (there[0], there[1].replace(location, str(tmp_path))) == here
    assert there[1].count("\n") == 2


def test_a_dry_run_of_an_edit_sends_nothing(store: Store) -> None:
    path = next(path for path in SAMPLES if path.name == "two-entries.tacozip")
    location = store.put_all(path, path.name)
    assert main(["header", *store.options, location, "--count", "1", "--dry-run"]) == 0
    assert {seen.method for seen in store.proxy.log} <= {"GET", "HEAD"}


@pytest.mark.parametrize(
    ("location", "words"),
    [
        (f"s3://{BUCKET}/nothing.caf", "does not exist, neither as an object nor as a prefix"),
        ("s3://no-such-bucket/x.caf", "no bucket no-such-bucket"),
        ("s3://", "names no bucket"),
        ("s3://u:hidden@bucket/x", "contains credentials"),
        ("s3://Not_A_Name!/x", "no address that S3 can have"),
    ],
)
def test_what_is_not_there_is_a_sentence(
    store: Store, location: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", *store.options, location]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "hidden" not in said


@pytest.mark.parametrize("name", ["wide.zip", "wide.tar"])
def test_checking_takes_as_many_requests_as_there_are_stretches(store: Store, output: Output, name: str) -> None:
    content = [(f"{number}.bin", bytes([number]) * 200_000) for number in range(100)]
    if name.endswith(".zip"):
        made = BytesIO()
        with ZipFile(made, "w", ZIP_STORED) as archive:
            for each in content:
                archive.writestr(*each)
        data = made.getvalue()
    else:
        data = build(content)
    location = store.put(name, data)
    assert output("check", *store.options, location)[0] == 0
    gets = [seen for seen in store.proxy.log if not seen.listing]
    assert len(gets) <= 2 + -(-len(data) // MAX_REQUEST_BYTES) + 3


def test_listing_a_tar_of_large_members_reads_their_headers_and_little_else(store: Store) -> None:
    data = build([(f"{number}.bin", bytes(12_000_000)) for number in range(4)])
    (archive,) = load(store.put("hops.tar", data), Progress(), store.connection, sparing=True)
    assert len(archive.members) == 4
    assert len([seen for seen in store.proxy.log if not seen.listing]) <= 5
    assert isinstance(archive.source, S3Source)
    assert archive.source.log.totals.received < len(data) // 2


def rca(folder: Path) -> bytes:
    (folder / "noise").write_bytes(Random(4).randbytes(900_000))
    assert main(["create", "rca", str(folder / "made.rca"), str(folder / "noise")]) == 0
    return (folder / "made.rca").read_bytes()


def large(suffix: str, folder: Path) -> bytes:
    """An archive that takes several requests."""
    if suffix == "caf":
        return caf(20_000)
    if suffix == "tar":
        return build([(f"{number}.bin", bytes(300_000)) for number in range(9)])
    return taco(5_000, folder) if suffix == "tacozip" else rca(folder)


@pytest.mark.parametrize(
    ("suffix", "sparing"),
    [
        *(("caf", True), ("tar", False), ("tacozip", True), ("rca", False)),
        *(in_the_sweep("caf", False), in_the_sweep("tar", True)),
        *(in_the_sweep("tacozip", False), in_the_sweep("rca", True)),
    ],
)
def test_what_cannot_be_read_on_is_said_at_every_request(
    store: Store, tmp_path: Path, suffix: str, sparing: bool
) -> None:
    """Whichever request meets a server that does not answer any more, there is a finding, and nothing is raised."""
    location = store.put(f"cut.{suffix}", large(suffix, tmp_path))

    def checked() -> list[str]:
        opened = open_location(location, store.connection, sparing=sparing)
        archive = opened.open(0)
        decode(archive, Progress())
        check_archive(archive, Progress())
        mark_repairs(archive, Progress())
        return [finding.code for finding in archive.findings]

    good = checked()
    requests = len(store.proxy.log)
    for fine in range(1, requests):
        store.proxy.reset()
        store.proxy.fail(*[ignoring()] * fine, *[refuse(403, "AccessDenied")] * requests)
        try:
            codes = checked()
        except SourceError:
            assert fine < 3
        else:
            assert "unreadable" in codes or codes == good
