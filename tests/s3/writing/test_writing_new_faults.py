"""New archives on S3 where answers are lost, and the checksum that the server is to keep of them."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating import create_caf
from inspector.operations.jobs.unfinished import remove_uploads
from inspector.sources.s3.address import Address
from tests.operations.create.creations import Stopping, plant
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, refuse
from tests.s3.writing.test_writing_new import HERE, keys, small_parts
from tests.s3.writing.writing import MEBI, content, unfinished

__all__ = ["small_parts"]


# ---- answers that are lost -----------------------------------------------------------------------------------------


def places(seen: Seen) -> bool:
    """Whether a request lets the object be there."""
    return seen.method == ("PUT" if "uploadId" not in seen.path else "POST") and "uploads" not in seen.path


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("sizes", [[1], [6 * MEBI, 7 * MEBI]], ids=["small", "large"])
@pytest.mark.parametrize("often", [1, 9])
def test_an_archive_is_made_though_the_answer_is_lost(
    store: Store, tmp_path: Path, sizes: list[int], often: int, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "tree", {f"{number}.bin": bytes([number]) * size for number, size in enumerate(sizes)})
    location = f"{HERE}/new/lost-{len(sizes)}-{often}.caf"
    lost = 0

    def losing(seen: Seen, forward: Forward) -> Reply:
        nonlocal lost
        reply = forward()
        lost += places(seen)
        return Reply(0) if places(seen) and lost <= often else reply

    with store.proxy.failing(losing):
        assert main(["create", "caf", location, str(tmp_path / "tree"), *store.options]) == 0
    assert "Created" in capsys.readouterr().out
    assert main(["check", location, *store.options]) == 0
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_a_server_that_answers_without_an_etag_is_left_without_a_half_series(store: Store, tmp_path: Path) -> None:
    """Ceph's radosgw 16 does so; what is taken away again is known by its ETag."""
    plant(tmp_path / "tree", {"1": bytes(6 * MEBI), "2": bytes(6 * MEBI)})
    arguments = ["create", "caf", f"{HERE}/new/half.caf", str(tmp_path / "tree"), "--max-size", "6200KiB"]

    def mute(seen: Seen, forward: Forward) -> Reply:
        if seen.method == "POST" and "uploadId" in seen.path and "half-0001" in seen.path:
            return refuse(403, "AccessDenied")(seen, forward)
        reply = forward()
        if seen.method == "POST" and "uploadId" in seen.path:
            reply.body = re.sub(rb"<ETag>.*?</ETag>", b"<ETag></ETag>", reply.body)
        return reply

    with store.proxy.failing(mute):
        assert main([*arguments, *store.options]) == 2
    assert keys(store, "new/half") == []
    assert unfinished(store) == []


def test_what_is_not_known_is_not_said(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "tree", {"x": b"1"})
    made = False

    def losing(seen: Seen, forward: Forward) -> Reply:
        nonlocal made
        made = made or seen.method == "PUT"
        return Reply(0) if made else forward()

    with store.proxy.failing(losing):
        assert main(["create", "caf", f"{HERE}/new/unknown.caf", str(tmp_path / "tree"), *store.options]) == 2
    assert "It is unknown whether" in capsys.readouterr().err


@pytest.mark.usefixtures("small_parts")
def test_what_is_left_of_a_cancelled_one_is_said(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"1": bytes(12 * MEBI)})

    def failing(seen: Seen, forward: Forward) -> Reply:
        return refuse(403, "AccessDenied")(seen, forward) if seen.method == "DELETE" else forward()

    with (
        store.proxy.failing(failing),
        pytest.raises(
            SourceError, match=r"It was cancelled\. The uploaded parts of .* cost money until the upload .* is aborted"
        ) as told,
    ):
        create_caf(Stopping(6 * MEBI), f"{HERE}/new/left.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert unfinished(store) == ["new/left.caf"]
    for each in store.client.list_multipart_uploads(Bucket=BUCKET)["Uploads"]:
        assert f"until the upload {each['UploadId']} is aborted" in str(told.value)
    assert len(list(remove_uploads(Address(BUCKET, "new/"), store.connection))) == 1
    assert unfinished(store) == []


# ---- the checksum ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("sizes", [[1], [6 * MEBI, 7 * MEBI]], ids=["small", "large"])
def test_the_server_keeps_a_checksum_by_which_it_can_be_checked(
    store: Store, tmp_path: Path, sizes: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "tree", {f"{number}.bin": bytes([number]) * size for number, size in enumerate(sizes)})
    location = f"{HERE}/new/proof-{len(sizes)}.taco"
    assert main(["create", "taco", location, str(tmp_path / "tree"), *store.options]) == 0

    key = location.removeprefix(f"{HERE}/")
    assert store.open(location).kept_crc32() == zlib.crc32(content(store, key))
    store.proxy.reset()
    assert main(["check", "--by-checksum", location, *store.options]) == 0, capsys.readouterr().err
    assert store.proxy.moved < 2 * MEBI, "no member is read"


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("sizes", [[1], [6 * MEBI, 7 * MEBI]], ids=["small", "large"])
@pytest.mark.parametrize("answer", [refuse(501, "NotImplemented"), refuse(400, "InvalidArgument")])
def test_a_server_that_knows_none_gets_the_same_object(
    store: Store, tmp_path: Path, sizes: list[int], answer: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "tree", {f"{number}.bin": bytes([number]) * size for number, size in enumerate(sizes)})

    def ignorant(seen: Seen, forward: Forward) -> Reply:
        asks = any(name.lower().startswith("x-amz-checksum-") for name in seen.headers)
        return answer(seen, forward) if asks and seen.method in ("PUT", "POST") else forward()

    with store.proxy.failing(ignorant):
        arguments = ["create", "caf", f"{HERE}/new/ignorant.caf", str(tmp_path / "tree"), "--overwrite"]
        assert main([*arguments, *store.options]) == 0
    assert capsys.readouterr().err == ""
    assert main(["check", f"{HERE}/new/ignorant.caf", *store.options]) == 0
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_one_that_learns_it_late_gets_it_too(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"1": bytes(12 * MEBI)})

    def late(seen: Seen, forward: Forward) -> Reply:
        completes = seen.method == "POST" and "uploadId" in seen.path
        asks = any(name.lower() == "x-amz-checksum-type" for name in seen.headers)
        return refuse(400, "InvalidRequest")(seen, forward) if completes and asks else forward()

    with store.proxy.failing(late):
        create_caf(Progress(), f"{HERE}/new/late.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert len(content(store, "new/late.caf")) > 12 * MEBI
    assert unfinished(store) == []


def test_bytes_that_arrive_as_others_are_not_sent_without_one(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"x": b"1"})
    with store.proxy.failing(broken_on_the_way), pytest.raises(SourceError):
        create_caf(Progress(), f"{HERE}/new/broken.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert keys(store, "new/broken") == []
    assert len([seen for seen in store.proxy.log if seen.method == "PUT"]) == 1


def broken_on_the_way(seen: Seen, forward: Forward) -> Reply:
    return refuse(400, "BadDigest")(seen, forward) if seen.method == "PUT" else forward()
