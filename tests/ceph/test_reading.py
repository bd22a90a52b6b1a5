"""Reading from a real server: the same answers as from a folder, and, by the server's own log, few requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.check import checking
from inspector.operations.open.listing import load
from inspector.operations.open.location import open_location
from inspector.sources.s3.source import TAIL_BYTES
from tests.ceph.access_log import AccessLog
from tests.ceph.cluster import Cluster
from tests.ceph.conftest import Output
from tests.ceph.sparse import put_sparse
from tests.s3.archives import SAMPLES, caf, dataset, members, taco
from tests.s3.bucket import BUCKET, Bucket

VAST = 30 << 30
MANY = 9_000


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_sample_is_checked_as_on_disk(
    path: Path, bucket: Bucket, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "report_contents", lambda *_: None)  # which reads more, and so nothing from far away
    location = bucket.put_all(path, f"samples/{path.name}")
    here = output("check", "--json", str(path))
    there = output("check", "--json", *bucket.options, location)
    assert (there[0], there[1].replace(location, str(path))) == here


# ---- requests ------------------------------------------------------------------------------------------------------


def opened(bucket: Bucket, location: str) -> int:
    """Load what a list needs, and say how many members there are."""
    return sum(len(each.members) for each in load(location, Progress(), bucket.connection, sparing=True))


def test_a_chunk_archive_of_10_000_members_takes_one_request(bucket: Bucket, log: AccessLog) -> None:
    location = bucket.put("many.caf", caf(10_000))
    log.forget()
    assert opened(bucket, location) == 10_000
    assert log.asked() == [f"GET /{BUCKET}/many.caf bytes=-1048576"]


def test_a_taco_archive_of_10_000_members_takes_two_requests(bucket: Bucket, log: AccessLog, tmp_path: Path) -> None:
    location = bucket.put("many.tacozip", taco(10_000, tmp_path))
    log.forget()
    assert opened(bucket, location) == 10_001
    place = f"GET /{BUCKET}/many.tacozip"
    assert log.asked() == [f"{place} bytes=-1048576", f"{place} bytes=0-65535"]


def test_a_dataset_of_100_ranges_takes_a_listing_and_a_request_a_range(bucket: Bucket, log: AccessLog) -> None:
    location = dataset(bucket, "hundred", 100)
    log.forget()
    assert open_location(location, bucket.connection).collection is not None
    assert [each.listing for each in log.requests()] == [True]
    log.forget()
    assert opened(bucket, location) == 1_000
    asked = [each for each in log.requests() if not each.listing]
    assert len({each.path for each in asked}) == len(asked) == 100, "nothing is asked for twice"
    assert all(each.path.endswith(".tar.metadata") for each in asked)


def zipped(path: Path, end: int) -> None:
    """A ZIP archive with a member at its beginning and the others from ``end`` on, or right behind it for 0."""
    with ZipFile(path, "w", ZIP_STORED) as made:
        made.writestr("first.bin", bytes(100_000))
        made.start_dir = max(end, made.start_dir)
        for name, content in members(MANY):
            made.writestr(name, content)


def chunked(path: Path, end: int) -> None:
    """A CAF archive, its index behind ``end``; what the members hold is left out."""
    each = end // MANY
    index = {f"{at}.bin": {"start_byte": at * each, "end_byte": at * each + each} for at in range(MANY)}
    text = json.dumps({"format_version": "1.0", "files": index}, separators=(",", ":")).encode()
    with path.open("wb") as file:
        file.seek(end)
        file.write(text + len(text).to_bytes(4, "little"))


@pytest.mark.parametrize(("make", "small"), [(zipped, 0), (chunked, 20 << 20)], ids=["zip", "caf"])
def test_an_object_of_30_gigabytes_takes_as_few_requests_as_a_small_one(
    cluster: Cluster, bucket: Bucket, log: AccessLog, tmp_path: Path, make: Callable[[Path, int], None], small: int
) -> None:
    make(tmp_path / "small", small)
    make(tmp_path / "vast", VAST)
    few = bucket.put(f"{make.__name__}/small", (tmp_path / "small").read_bytes())
    vast = put_sparse(cluster, bucket, f"{make.__name__}/vast", tmp_path / "vast", VAST - TAIL_BYTES)
    log.forget()
    there = opened(bucket, few)
    asked = log.asked()
    log.forget()
    assert opened(bucket, vast) == there >= MANY
    assert [each.replace("vast", "small") for each in log.asked()] == asked
    assert log.moved < 4 << 20
    assert bucket.open(vast).size > VAST


def test_a_prefix_is_listed_page_by_page(bucket: Bucket, log: AccessLog) -> None:
    keys = [f"paged/{number:04}.bin" for number in range(2_001)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda key: bucket.put(key, b"x"), keys))
    log.forget()
    prefix = bucket.prefix(f"s3://{BUCKET}/paged/")
    assert [f"paged/{entry.name}" for entry in prefix.entries()] == keys
    assert [each.listing for each in log.requests()] == [True, True, True]


# ---- uses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["journey.caf", "two-resets-spec.rca", "two-entries.tacozip", "plain.tar"])
def test_members_are_extracted_as_from_a_disk(bucket: Bucket, output: Output, tmp_path: Path, name: str) -> None:
    path = next(path for path in SAMPLES if path.name == name)
    location = bucket.put_all(path, f"extract/{name}")
    assert output("extract", str(path), "--to", str(tmp_path / "here"))[0] == 0
    assert output("extract", *bucket.options, location, "--to", str(tmp_path / "there"))[0] == 0
    here, there = (
        {each.relative_to(root): each.read_bytes() for each in root.rglob("*") if each.is_file()}
        for root in (tmp_path / "here", tmp_path / "there")
    )
    assert here == there
    assert here


def test_a_prefix_is_audited_once(bucket: Bucket, output: Output, tmp_path: Path, log: AccessLog) -> None:
    for path in SAMPLES:
        bucket.put_all(path, f"audit/{path.name}")
    arguments = ["audit", "--json", "--workers", "2", "--results", str(tmp_path / "kept.sqlite"), *bucket.options]
    status, said = output(*arguments, f"s3://{BUCKET}/audit/")
    assert status in (1, 2), "some samples are damaged, and some are no archives"
    rows = [json.loads(line) for line in said.splitlines()]
    found = {row["source"].rpartition("/")[2]: row["state"] for row in rows[:-1]}
    assert (found["journey.caf"], found["truncated.caf"]) == ("sound", "damaged")
    log.forget()
    assert output(*arguments, f"s3://{BUCKET}/audit/")[0] == status
    assert all(each.listing for each in log.requests()), "what is finished is not read again"


def test_without_a_checksum_of_the_server_nothing_is_proved(bucket: Bucket, output: Output, tmp_path: Path) -> None:
    """This radosgw takes a checksum with an object and does not keep it; newer ones keep it."""
    body = taco(10, tmp_path)
    bucket.client.put_object(Bucket=BUCKET, Key="proof.tacozip", Body=body, ChecksumAlgorithm="CRC32")
    location = f"s3://{BUCKET}/proof.tacozip"
    kept = bucket.client.head_object(Bucket=BUCKET, Key="proof.tacozip", ChecksumMode="ENABLED").get("ChecksumCRC32")
    status, said = output("check", "--by-checksum", *bucket.options, location)
    assert (status, "the server keeps no CRC-32 of the whole object" in said) == ((2, True) if not kept else (0, False))
