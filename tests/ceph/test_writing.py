"""Objects that are changed and made on a real server."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest
import tacozip

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Progress
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.sentences import ConsentNeededError
from inspector.sources.s3.uploads import new_objects, sender
from inspector.sources.s3.uploads.writing import write_object
from tests.ceph.access_log import AccessLog
from tests.ceph.cluster import Cluster
from tests.ceph.conftest import Output
from tests.operations.create.creations import plant
from tests.s3.bucket import BUCKET, Bucket
from tests.s3.proxy import Proxy, flipping
from tests.s3.writing.writing import MEBI, content, unfinished

LARGE = bytes(range(256)) * (48 << 10)


def test_a_header_of_210_mb_moves_less_than_12(bucket: Bucket, log: AccessLog, output: Output, tmp_path: Path) -> None:
    large = tmp_path / "tree" / "large.bin"
    large.parent.mkdir()
    with large.open("wb") as file:
        file.truncate(210_000_000)
    target = tmp_path / "large.taco"
    assert output("create", "taco", str(target), str(large.parent))[0] == 0
    bucket.client.upload_file(str(target), BUCKET, "writing/210.taco")
    location = f"s3://{BUCKET}/writing/210.taco"
    command = ("header", location, "--set", "0=157,1000", *bucket.options)
    status, said = output(*command)
    assert (status, "does not refuse to overwrite" in said) == (2, True)
    log.forget()

    assert output(*command, "--unconditional")[0] == 0

    assert 10_000_000 < log.moved < 12_000_000
    bucket.client.download_file(BUCKET, "writing/210.taco", str(target))
    bucket.client.delete_object(Bucket=BUCKET, Key="writing/210.taco")
    assert tacozip.read_header(str(target))[0] == (157, 1000)
    _, said = output("header", "--json", str(target))
    assert [(each["offset"], each["length"]) for each in json.loads(said)["entries"] if each["used"]] == [(157, 1000)]
    assert output("check", "--strict", str(target))[0] == 0
    assert target.stat().st_size > 210_000_000


@pytest.mark.parametrize("kind", ["caf", "rca", "taco"])
def test_what_is_made_there_in_parts_is_what_is_made_here(
    bucket: Bucket, log: AccessLog, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(new_objects, "SENT_PART_BYTES", 5 * MEBI)
    monkeypatch.setattr(new_objects, "MIN_PART_BYTES", 0)
    tree = plant(tmp_path / "tree", {"a.bin": b"1" * 17, "b/c.bin": LARGE, "b/d.bin": b"", "e.bin": LARGE[::-1]})
    key = f"made/{kind}"

    assert output("create", kind, f"s3://{BUCKET}/{key}", str(tree), *bucket.options)[0] == 0
    assert output("create", kind, str(tmp_path / "here"), str(tree))[0] == 0

    assert content(bucket, key) == (tmp_path / "here").read_bytes()
    parts = [each for each in log.requests() if "partNumber" in each.path]
    assert len(parts) > 3 or kind == "rca", "what repeats itself is little when it is compressed"
    assert output("check", f"s3://{BUCKET}/{key}", *bucket.options)[0] == 0
    assert unfinished(bucket) == []


def edit_of(data: bytes) -> Edit:
    return Edit("Change bytes", (Patch(20, data[20:24], b"new!"),), len(data), len(data))


@pytest.mark.parametrize("size", [1000, len(LARGE)], ids=["whole", "in parts"])
def test_what_was_replaced_before_it_is_changed_stays(bucket: Bucket, size: int) -> None:
    data = LARGE[:size]
    source = bucket.open(bucket.put("writing/replaced.bin", data))
    bucket.put("writing/replaced.bin", b"theirs")

    with pytest.raises(EditError, match=r"was not changed: .*replaced"):
        write_object(source, edit_of(data), Progress(), Consent.UNCONDITIONAL)

    assert content(bucket, "writing/replaced.bin") == b"theirs"
    assert unfinished(bucket) == []


@pytest.mark.parametrize("size", [1000, len(LARGE)], ids=["whole", "in parts"])
def test_what_an_object_has_beside_its_bytes_is_kept(bucket: Bucket, size: int) -> None:
    place = {"Bucket": BUCKET, "Key": "writing/kept.bin"}
    kept = {"ContentType": "application/x-taco", "CacheControl": "max-age=5", "Metadata": {"made-by": "someone"}}
    bucket.client.put_object(**place, Body=LARGE[:size], Tagging="a=1&b=two%20words", **kept)
    source = bucket.open(f"s3://{BUCKET}/writing/kept.bin")

    if size == len(LARGE):
        with pytest.raises(ConsentNeededError, match="does not refuse to overwrite"):
            write_object(source, edit_of(LARGE[:size]), Progress())
        assert content(bucket, "writing/kept.bin") == LARGE
    consents = Consent.UNCONDITIONAL if size == len(LARGE) else Consent.NONE
    sent = write_object(source, edit_of(LARGE[:size]), Progress(), consents)

    assert content(bucket, "writing/kept.bin") == LARGE[:20] + b"new!" + LARGE[24:size]
    assert any("whether" in each for each in sent.warnings) == bool(consents), "a PUT is refused there"
    listed = bucket.client.list_objects_v2(Bucket=BUCKET, Prefix="writing/")["Contents"]
    assert not any(".archive-inspector" in each["Key"] for each in listed)
    head = bucket.client.head_object(**place)
    assert {name: head[name] for name in kept} == kept
    tags = bucket.client.get_object_tagging(**place)["TagSet"]
    assert {each["Key"]: each["Value"] for each in tags} == {"a": "1", "b": "two words"}


def test_bits_that_flip_while_reading_are_not_made_permanent(bucket: Bucket, cluster: Cluster) -> None:
    bucket.put("writing/flipped.bin", LARGE)
    proxy = Proxy(int(cluster.url.rpartition(":")[2]))
    proxy.enforces = False
    behind = Bucket(bucket.client, proxy.url)
    try:
        source = behind.open(f"s3://{BUCKET}/writing/flipped.bin")
        with proxy.failing(flipping(3 * MEBI)), pytest.raises(EditError, match="what was read of it is not what"):
            write_object(source, edit_of(LARGE), Progress(), Consent.UNCONDITIONAL)
        assert content(bucket, "writing/flipped.bin") == LARGE
        source = behind.open(f"s3://{BUCKET}/writing/flipped.bin")
        write_object(source, edit_of(LARGE), Progress(), Consent.UNCONDITIONAL)
    finally:
        proxy.close()
    assert content(bucket, "writing/flipped.bin") == LARGE[:20] + b"new!" + LARGE[24:]
    assert unfinished(bucket) == []


def test_what_arrives_otherwise_than_it_was_sent_is_refused(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    source = bucket.open(bucket.put("writing/digest.bin", LARGE))
    monkeypatch.setattr(sender, "b64encode", lambda _: b64encode(bytes(16)))

    with pytest.raises(EditError, match="BadDigest"):
        write_object(source, edit_of(LARGE), Progress(), Consent.UNCONDITIONAL)

    assert content(bucket, "writing/digest.bin") == LARGE
    assert unfinished(bucket) == []


def test_an_archive_is_repaired_there(bucket: Bucket, output: Output, tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"a.bin": LARGE})
    assert output("create", "taco", str(tmp_path / "whole.taco"), str(tree))[0] == 0
    whole = (tmp_path / "whole.taco").read_bytes()
    location = bucket.put("writing/broken.taco", whole + b"garbage")

    assert output("repair", location, "--accept", "zip-rebuild-end", "--unconditional", *bucket.options)[0] == 0

    assert content(bucket, "writing/broken.taco") == whole
