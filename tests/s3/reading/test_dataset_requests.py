"""A dataset on S3 takes a listing and the metadata of each range; its tars are read where somebody looks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.formats.datas3t.write import Row, header, metadata
from inspector.operations.check.checking import check_archive
from inspector.operations.open.listing import load
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import SortKey
from inspector.operations.session.archive_session import ArchiveSession
from tests.formats.datas3t.range_building import hashed_rows, rows_frame
from tests.formats.tar.tar_building import build
from tests.s3.archives import dataset
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store
from tests.s3.objects import Held, serving
from tests.s3.proxy import Fault, Forward, Proxy, Reply, Seen, in_pages, refuse
from tests.sweeping import in_the_sweep

Output = Callable[..., tuple[int, str]]
LARGE = 200_000
"""Bytes of a datapoint whose header takes a request of its own."""


@pytest.fixture
def output(capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    """The exit status of the program and what it writes."""

    def run(*arguments: str) -> tuple[int, str]:
        status = main(arguments)
        return status, capsysbinary.readouterr().out.decode()

    return run


@pytest.fixture(scope="module")
def ranges() -> Held:
    held = Held("")
    dataset(held, "hundred", 100)
    return held


@pytest.fixture
def hundred(store: Store, ranges: Held) -> Iterator[str]:
    """A dataset of 100 ranges, which the proxy itself serves."""
    with store.proxy.failing(serving(ranges.objects)):
        yield f"s3://{BUCKET}/hundred/dataset/weather"


def kinds(proxy: Proxy) -> dict[str, int]:
    """How many requests there were for listings, metadata and tars."""
    found = {"LIST": 0, "metadata": 0, "tar": 0}
    for each in proxy.log:
        kind = "LIST" if each.listing else each.path.partition("?")[0].rpartition(".")[2]
        found[kind] = found.get(kind, 0) + 1
    return found


def far(store: Store, location: str) -> list[Opened]:
    return load(location, Progress(), store.connection, sparing=True)


@pytest.mark.parametrize("end", ["", in_the_sweep("/"), in_the_sweep("/datapoints/")])
def test_100_ranges_take_a_listing_and_their_metadata(store: Store, hundred: str, end: str) -> None:
    archives = far(store, hundred + end)
    assert sum(len(archive.members) for archive in archives) == 1_000
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 100, "tar": 0}


def test_a_listing_comes_by_pages(store: Store) -> None:
    location = dataset(store, "by-pages", 10)
    with store.proxy.failing(in_pages(3)):
        assert len(far(store, location)) == 10
    assert kinds(store.proxy) == {"LIST": 7, "metadata": 10, "tar": 0}


def test_other_objects_of_a_dataset_are_left_alone(store: Store) -> None:
    location = dataset(store, "others", 2)
    for name in ("data/notes.txt", "datapoints/deep/more.tar", "datapointsnot/x.tar", "readme.txt"):
        store.put(f"others/dataset/weather/{name}", b"no range")
    assert len(far(store, location)) == 2
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 2, "tar": 0}


def test_where_listing_is_not_allowed_a_range_opens_all_the_same(store: Store) -> None:
    location = dataset(store, "unlisted", 1)

    def fault(seen: Seen, forward: Forward) -> Reply:
        return refuse(403, "AccessDenied")(seen, forward) if seen.listing else forward()

    with store.proxy.failing(fault):
        (archive,) = far(store, f"{location}/datapoints/{1:020d}-{10:020d}.tar")
    assert archive.members[0].path == f"{1:020d}.txt".encode()


def test_one_range_takes_a_listing_and_its_metadata(store: Store, hundred: str) -> None:
    (archive,) = far(store, f"{hundred}/datapoints/{31:020d}-{40:020d}.tar")
    assert len(archive.members) == 10
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 1, "tar": 0}


# ---- names ---------------------------------------------------------------------------------------------------------


def test_a_list_of_all_names_takes_one_request_a_range_of_small_datapoints(
    store: Store, hundred: str, output: Output
) -> None:
    status, said = output("list", "--json", *store.options, hundred)
    assert status == 0
    assert [json.loads(line)["path"] for line in said.splitlines()] == [f"{key:020d}.txt" for key in range(1, 1_001)]
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 100, "tar": 100}


def here(held: Held, location: str, folder: Path) -> str:
    """The objects below an address in a folder of this machine."""
    for key, data in held.objects.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(data, bytes)
        path.write_bytes(data)
    return str(folder / location.removeprefix(f"s3://{BUCKET}/"))


def test_a_quick_list_takes_no_tar_and_prints_here_what_it_prints_far_away(
    store: Store, ranges: Held, hundred: str, output: Output, tmp_path: Path
) -> None:
    status, said = output("list", "--quick", "--json", *store.options, hundred)
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 100, "tar": 0}
    assert status == 0
    assert [json.loads(line)["path"] for line in said.splitlines()] == [f"{key:020d}" for key in range(1, 1_001)]
    assert all(json.loads(line)["digest"].startswith("xxh64:") for line in said.splitlines())
    local = here(ranges, hundred, tmp_path)
    assert output("list", "--quick", "--json", local) == (0, said.replace(hundred, local))
    names = output("list", "--quick", "--names", local)
    assert names == output("list", "--quick", "--names", *store.options, hundred)
    assert output("list", "--names", local)[1].splitlines() == [f"{name}.txt" for name in names[1].splitlines()]
    one = f"/datapoints/{31:020d}-{40:020d}.tar"
    assert output("list", "--quick", local + one) == output("list", "--quick", *store.options, hundred + one)


def test_a_quick_list_of_what_metadata_does_not_locate_is_a_list(store: Store, output: Output, tmp_path: Path) -> None:
    held = Held("")
    location = dataset(held, "undescribed", 1, described=False)
    with store.proxy.failing(serving(held.objects)):
        far_away = output("list", "--quick", "--json", *store.options, location)
        assert far_away == output("list", "--json", *store.options, location)
    local = here(held, location, tmp_path)
    status, said = output("list", "--quick", "--json", local)
    assert far_away == (status, said.replace(local, location))


def test_headers_of_large_datapoints_are_all_that_is_read(store: Store) -> None:
    (archive,) = far(store, dataset(store, "large", 1, size=LARGE))
    store.proxy.reset()
    assert [member.size for member in archive.members] == [LARGE] * 10
    assert sorted(each.range for each in store.proxy.log) == sorted(
        f"bytes={start}-{start + 511}" for start in (member.head for member in archive.members)
    )


def test_only_rows_that_are_in_view_are_named(store: Store) -> None:
    session = ArchiveSession(dataset(store, "view", 3, size=LARGE), store.connection)
    session.decode(Progress())
    store.proxy.reset()
    rows = session.member_rows(0, 30).rows
    assert not store.proxy.log
    assert not any(row.read for row in rows)
    assert rows[12].name.endswith(f"/{13:020d}")
    named = session.name_members(Progress(), (12, 13, 21))
    assert [row.name.rpartition("/")[2] for row in named] == [f"{key:020d}.txt" for key in (13, 14, 22)]
    assert [row.size for row in named] == [LARGE] * 3
    assert len(store.proxy.log) == 3
    assert [row.index for row in session.member_rows(0, 30).rows if row.read] == [12, 13, 21]


def test_the_structure_is_shown_without_headers_until_one_is_looked_into(store: Store) -> None:
    session = ArchiveSession(dataset(store, "structure", 2, size=LARGE), store.connection)
    session.decode(Progress())
    store.proxy.reset()
    rows = session.field_rows(1, (0,), 0, 10).rows
    assert [(row.name, row.children > 0) for row in rows] == [(f"{key:020d}", True) for key in range(11, 21)]
    assert len(session.overview(Progress(), 1, 100)) == 100
    assert not store.proxy.log
    assert [row.name for row in session.field_rows(1, (0, 4), 0, 10).rows] == [
        "header",
        "data",
        "padding",
        "metadata row",
    ]
    assert session.field_rows(1, (0,), 4, 1).rows[0].name == f"{15:020d}.txt"
    assert 1 <= len(store.proxy.log) <= 2


def test_a_check_of_what_is_open_reads_no_metadata_again(store: Store) -> None:
    session = ArchiveSession(dataset(store, "again", 3), store.connection)
    session.decode(Progress())
    assert session.check(Progress()).checked
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 3, "tar": 3}


def test_that_headers_were_left_out_is_said_once(store: Store) -> None:
    archives = far(store, dataset(store, "said", 3))
    assert [[each.code for each in archive.findings] for archive in archives] == [["datas3t-headers-not-read"], [], []]


def test_a_tree_needs_no_names_and_a_filter_does(store: Store) -> None:
    session = ArchiveSession(dataset(store, "tree", 2), store.connection)
    session.decode(Progress())
    store.proxy.reset()
    session.build_tree(Progress())
    assert session.tree_rows(0, 0, 10).total == 1
    assert not store.proxy.log
    assert session.arrange(Progress(), ".TXT", SortKey.NAME, True) == 20
    assert session.member_rows(0, 1).rows[0].name.endswith(f"{20:020d}.txt")
    assert kinds(store.proxy) == {"LIST": 0, "metadata": 0, "tar": 2}


def test_a_datapoint_is_found_and_written_by_its_name(store: Store, hundred: str, output: Output) -> None:
    assert output("cat", *store.options, hundred, f"{555:020d}.txt") == (0, "x" * 555)
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 1, "tar": 1}
    name = f"datapoints/{541:020d}-{550:020d}.tar/{542:020d}.txt"
    assert output("cat", *store.options, hundred, name) == (0, "x" * 542)
    assert output("cat", *store.options, hundred, f"{1001:020d}.txt") == (2, "")


def test_a_datapoint_whose_range_is_named_wrongly_is_found_all_the_same(store: Store, output: Output) -> None:
    location = dataset(store, "misnamed", 2)
    folder = "misnamed/dataset/weather/datapoints"
    for end in ("", ".metadata"):
        copied = f"{folder}/{1:020d}-{10:020d}.tar{end}"
        store.client.copy_object(
            Bucket=BUCKET, Key=f"{folder}/{51:020d}-{60:020d}.tar{end}", CopySource={"Bucket": BUCKET, "Key": copied}
        )
        store.client.delete_object(Bucket=BUCKET, Key=copied)
    assert output("cat", *store.options, location, f"{7:020d}.txt") == (0, "x" * 7)


def test_of_a_dataset_only_the_range_is_read_that_is_extracted_from(
    store: Store, hundred: str, output: Output, tmp_path: Path
) -> None:
    names = [f"{key:020d}.txt" for key in (7, 555)]
    assert output("extract", *store.options, hundred, *names, "--to", str(tmp_path / "out"))[0] == 0
    found = {path.name: path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == dict(zip(names, (7, 555), strict=True))
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 2, "tar": 2}


def test_members_are_extracted_under_their_names(store: Store, tmp_path: Path) -> None:
    bench = ArchiveSession(dataset(store, "extracted", 1), store.connection)
    bench.decode(Progress())
    bench.extract(Progress(), (2, 3), str(tmp_path / "out"))
    found = {path.name: path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {f"{3:020d}.txt": 3, f"{4:020d}.txt": 4}


# ---- what is not as it should be -----------------------------------------------------------------------------------


def test_without_metadata_headers_are_walked_and_that_is_said(store: Store) -> None:
    archives = far(store, dataset(store, "bare", 2, described=False))
    assert [finding.code for finding in archives[1].findings] == ["datas3t-metadata-missing", "datas3t-headers-walked"]
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 0, "tar": 2}


def misleading(store: Store, root: str) -> str:
    """A range whose metadata leads astray from its fifth datapoint on."""
    location = dataset(store, root, 1)
    name = f"{root}/dataset/weather/datapoints/{1:020d}-{10:020d}.tar"
    tar = build([(f"{key:020d}.txt", b"x" * key) for key in range(1, 11)])
    rows = hashed_rows(tar)
    rows[4:6] = [rows[4] | {"end_offset": rows[5]["end_offset"]}]
    store.put(f"{name}.metadata", rows_frame(rows))
    return location


def test_metadata_that_leads_astray_does_not_change_a_list(store: Store, output: Output, tmp_path: Path) -> None:
    location = misleading(store, "astray")
    for each in far(store, location):
        for name in (each.source.name, f"{each.source.name}.metadata"):
            folder = tmp_path / "dataset" / "weather" / "datapoints"
            folder.mkdir(parents=True, exist_ok=True)
            key = name.removeprefix(f"s3://{BUCKET}/")
            body = store.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
            (folder / name.rpartition("/")[2]).write_bytes(body)
    local = str(tmp_path / "dataset" / "weather")
    status, said = output("list", "--json", local)
    assert output("list", "--json", *store.options, location) == (status, said.replace(local, location))


def test_a_session_shows_what_there_is_once_metadata_leads_astray(store: Store) -> None:
    session = ArchiveSession(misleading(store, "shown"), store.connection)
    session.decode(Progress())
    assert session.status().members == 9
    before = session.status().generation
    assert session.name_members(Progress(), (0, 1))[1].name.endswith(f"{2:020d}.txt")
    assert session.status().generation == before
    session.name_members(Progress(), (4,))
    assert session.status().members == 10
    assert session.status().generation > before
    assert all(row.read for row in session.member_rows(0, 10).rows)


def test_a_check_reads_all_and_keeps_what_the_names_of_ranges_tell(store: Store) -> None:
    location = dataset(store, "gap", 3)
    store.client.delete_object(Bucket=BUCKET, Key=f"gap/dataset/weather/datapoints/{11:020d}-{20:020d}.tar")
    archives = far(store, location)
    for _ in range(2):
        for archive in archives:
            check_archive(archive, Progress())
        assert {"datas3t-range-gap", "datas3t-metadata-orphan"} == {each.code for each in archives[0].findings}
        assert archives[1].findings == []
        assert [member.size for member in archives[1].members] == list(range(21, 31))


@pytest.mark.parametrize("end", ["", "/datapoints/"])
def test_a_dataset_of_which_only_metadata_is_left_is_damaged(store: Store, output: Output, end: str) -> None:
    location = dataset(store, "lost", 2)
    for first in (1, 11):
        key = f"lost/dataset/weather/datapoints/{first:020d}-{first + 9:020d}.tar"
        store.client.delete_object(Bucket=BUCKET, Key=key)
    store.proxy.reset()
    status, said = output("check", "--json", *store.options, location + end)
    report = json.loads(said)
    assert (status, report["state"]) == (1, "damaged")
    assert [each["code"] for each in report["findings"]] == ["datas3t-metadata-orphan"] * 2
    assert kinds(store.proxy) == {"LIST": 1, "metadata": 0, "tar": 0}


# ---- size ----------------------------------------------------------------------------------------------------------

VAST = 30 << 30


def vast(rows: list[Row]) -> Fault:
    """A range of 30 GiB: listed with that size, zeros but for its headers."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        if seen.listing:
            reply.body = re.sub(rb"(\.tar</Key>.*?<Size>)\d+", rb"\g<1>%d" % VAST, reply.body, flags=re.DOTALL)
        elif seen.path.partition("?")[0].endswith(".tar"):
            start, stop = (int(each) for each in seen.range.removeprefix("bytes=").split("-"))
            body = bytearray(stop + 1 - start)
            for row in rows:
                if start <= row.begin <= stop:
                    block = header(b"%020d.bin" % row.key, row.end - row.begin - 512, 0)
                    body[row.begin - start : row.begin - start + 512] = block[: stop + 1 - row.begin]
            reply = Reply(206, {"Content-Range": f"bytes {start}-{stop}/{VAST}", "ETag": seen.if_match}, bytes(body))
        return reply

    return fault


def test_a_range_of_30_gigabytes_takes_as_few_requests_as_a_small_one(store: Store) -> None:
    step = VAST // 30 - 512
    rows = [Row(key, (key - 1) * step, key * step, key) for key in range(1, 31)]
    name = f"vast/dataset/weather/datapoints/{1:020d}-{30:020d}.tar"
    location = store.put(name, b"")
    store.put(f"{name}.metadata", metadata(rows))
    with store.proxy.failing(vast(rows)):
        (archive,) = far(store, location)
        assert len(archive.members) == 30
        assert archive.source.size == VAST
        assert kinds(store.proxy) == {"LIST": 1, "metadata": 1, "tar": 0}
        archive.members.learn(range(10, 13))
        assert archive.members.path(12) == b"%020d.bin" % 13
        assert kinds(store.proxy) == {"LIST": 1, "metadata": 1, "tar": 3}


def test_a_wrong_name_that_a_listing_reads_is_told_as_it_is_on_disk(
    store: Store, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tar = build([(f"{1:020d}.txt", b"one"), ("2.txt", b"two")])
    name = f"dataset/weather/datapoints/{1:020d}-{2:020d}.tar"
    (tmp_path / name).parent.mkdir(parents=True)
    for suffix, data in (("", tar), (".metadata", rows_frame(hashed_rows(tar)))):
        (tmp_path / f"{name}{suffix}").write_bytes(data)
        store.put(f"short-name/{name}{suffix}", data)
    places = ((str(tmp_path / "dataset"),), (*store.options, f"s3://{BUCKET}/short-name/dataset"))
    said = [(main(["list", "--names", *place]), *capfd.readouterr()) for place in places]
    assert said[0] == said[1]
    assert said[0][0] == 1
    assert "The name of the datapoint 2.txt is not 20 digits" in said[0][2]
