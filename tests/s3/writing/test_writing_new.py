"""New archives that are made on S3: there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating import create_caf, create_taco
from inspector.sources.s3.uploads import new_objects
from tests.operations.create.creations import Stopping, plant
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import Forward, Reply, Seen, refuse
from tests.s3.writing.writing import MEBI, content, unfinished

TREE = {"a.bin": b"1" * 17, "b/c.bin": b"2" * (13 * MEBI), "b/d.bin": b"", "e.bin": b"3" * (11 * MEBI), "f": b"4"}
HERE = f"s3://{BUCKET}"


def keys(store: Store, prefix: str) -> list[str]:
    found = store.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
    return [each["Key"] for each in found.get("Contents", ())]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_objects, "SENT_PART_BYTES", 5 * MEBI)
    monkeypatch.setattr(new_objects, "MIN_PART_BYTES", 0)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", ["caf", "rca", "taco"])
@pytest.mark.parametrize("size", ["large", "small"])
def test_an_archive_is_the_same_there_as_here(store: Store, tmp_path: Path, kind: str, size: str) -> None:
    plant(tmp_path / "tree", TREE if size == "large" else {"x": b"1", "y/z": b"22"})

    key = f"new/{kind}/{size}"
    assert main(["create", kind, f"{HERE}/{key}", str(tmp_path / "tree"), *store.options]) == 0
    assert main(["create", kind, str(tmp_path / "here"), str(tmp_path / "tree")]) == 0

    assert content(store, key) == (tmp_path / "here").read_bytes()
    assert main(["check", f"{HERE}/{key}", *store.options]) == 0
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_what_is_written_over_is_sent_again_and_no_more(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", TREE)
    create_taco(Progress(), f"{HERE}/new/again.taco", [str(tmp_path / "tree")], connection=store.connection)

    parts = [seen for seen in store.proxy.log if seen.method == "PUT"]
    size = sum(map(len, TREE.values()))
    assert len(parts) <= size // (5 * MEBI) + 1 + 2, "two members are larger than a part"


def test_a_small_one_takes_one_request_beside_looking(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"x": b"1"})
    create_caf(Progress(), f"{HERE}/new/tiny.caf", [str(tmp_path / "tree")], connection=store.connection)

    assert store.proxy.asked() == [f"HEAD /{BUCKET}/new/tiny.caf", f"PUT /{BUCKET}/new/tiny.caf"]


def test_what_is_there_is_not_replaced_unless_that_is_said(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "tree", {"x": b"1"})
    location = store.put("new/there.caf", b"mine")

    assert main(["create", "caf", location, str(tmp_path / "tree"), *store.options]) == 2
    assert "is there already" in capsys.readouterr().err
    assert content(store, "new/there.caf") == b"mine"
    assert main(["create", "caf", location, str(tmp_path / "tree"), "--overwrite", *store.options]) == 0
    assert content(store, "new/there.caf") != b"mine"


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("sizes", [[1], [6 * MEBI]], ids=["small", "large"])
def test_what_another_puts_there_meanwhile_stays(store: Store, tmp_path: Path, sizes: list[int]) -> None:
    plant(tmp_path / "tree", {str(size): bytes(size) for size in sizes})

    class Meanwhile(Progress):
        def begin(self, label: str, total: int, unit: str = "bytes") -> None:
            super().begin(label, total, unit)
            if unit == "bytes":
                store.put("new/meanwhile.caf", b"theirs")

    with pytest.raises(SourceError, match="is there already"):
        create_caf(Meanwhile(), f"{HERE}/new/meanwhile.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert content(store, "new/meanwhile.caf") == b"theirs"
    store.client.delete_object(Bucket=BUCKET, Key="new/meanwhile.caf")
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_a_server_that_ignores_conditions_is_asked_before(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"1": bytes(12 * MEBI)})

    def theirs(seen: Seen, forward: Forward) -> Reply:
        if seen.method == "PUT" and not keys(store, "new/ignores.caf"):
            store.put("new/ignores.caf", b"theirs")
        return forward("If-None-Match")

    with store.proxy.failing(theirs), pytest.raises(SourceError, match="is there already"):
        create_caf(Progress(), f"{HERE}/new/ignores.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert content(store, "new/ignores.caf") == b"theirs"
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_a_series_is_there_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"1": bytes(6 * MEBI), "2": bytes(6 * MEBI), "3": b"x"})
    arguments = ["create", "caf", f"{HERE}/new/series.caf", str(tmp_path / "tree"), "--max-size", "6200KiB"]

    catalogue = ["--catalog", str(tmp_path / "names.sqlite")]
    assert main([*arguments, *catalogue, *store.options]) == 0
    assert keys(store, "new/series") == ["new/series-0001.caf", "new/series.caf"]
    assert main(["find", str(tmp_path / "names.sqlite"), "2"]) == 0

    blocked = [*arguments]
    blocked[2] = f"{HERE}/new/blocked.caf"
    store.put("new/blocked-0001.caf", b"")
    assert main([*blocked, *store.options]) == 2
    assert keys(store, "new/blocked") == ["new/blocked-0001.caf"]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_a_server_that_fails_leaves_nothing(store: Store, tmp_path: Path, at: int) -> None:
    plant(tmp_path / "tree", {"1": bytes(12 * MEBI)})
    count = 0

    def fault(seen: Seen, forward: Forward) -> Reply:
        nonlocal count
        count += seen.method in ("POST", "PUT")
        return refuse(403, "AccessDenied")(seen, forward) if count == at and seen.method != "DELETE" else forward()

    with store.proxy.failing(fault), pytest.raises(SourceError, match=r"Writing .* is not allowed \(403\)"):
        create_caf(Progress(), f"{HERE}/new/failing.caf", [str(tmp_path / "tree")], connection=store.connection)
    assert keys(store, "new/failing") == []
    assert unfinished(store) == []


@pytest.mark.usefixtures("small_parts")
def test_cancelling_leaves_nothing(store: Store, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"1": bytes(12 * MEBI)})

    with pytest.raises(Cancelled):
        create_caf(
            Stopping(6 * MEBI), f"{HERE}/new/cancelled.caf", [str(tmp_path / "tree")], connection=store.connection
        )
    assert any(seen.method == "PUT" for seen in store.proxy.log)
    assert keys(store, "new/cancelled") == []
    assert unfinished(store) == []


# ---- datasets ----------------------------------------------------------------------------------------------------


@pytest.fixture
def numbered(tmp_path: Path) -> str:
    plant(tmp_path / "numbered", {f"{number}.bin": b"%d" % number for number in range(5)})
    return str(tmp_path / "numbered")


def test_a_dataset_is_packed_into_a_bucket(store: Store, numbered: str) -> None:
    arguments = ["create", "datas3t", f"{HERE}/packed", "--dataset", "weather", "--per-range", "3", numbered]

    assert main([*arguments, *store.options]) == 0

    folder = "packed/dataset/weather/datapoints/"
    assert [key.removeprefix(folder) for key in keys(store, "packed/")] == [
        f"{0:020}-{2:020}.tar",
        f"{0:020}-{2:020}.tar.metadata",
        f"{3:020}-{4:020}.tar",
        f"{3:020}-{4:020}.tar.metadata",
    ]
    types = [store.client.head_object(Bucket=BUCKET, Key=key)["ContentType"] for key in keys(store, "packed/")]
    assert types == ["application/x-tar", "application/zstd"] * 2
    assert main(["check", f"{HERE}/packed/dataset/weather", *store.options]) == 0
    puts = [str(seen) for seen in store.proxy.log if seen.method == "PUT"]
    assert [each.endswith(".metadata") for each in puts] == [False, True, False, True]


def test_ranges_that_overlap_are_refused_from_a_listing(
    store: Store, numbered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["create", "datas3t", f"{HERE}/overlap/", "--dataset", "weather", numbered, *store.options]
    assert main(arguments) == 0
    store.proxy.reset()

    assert main(arguments) == 2

    assert "overlap with those of" in capsys.readouterr().err
    assert all(seen.listing for seen in store.proxy.log)


def test_a_dataset_is_there_whole_or_not_at_all(store: Store, numbered: str) -> None:
    count = 0

    def fault(seen: Seen, forward: Forward) -> Reply:
        nonlocal count
        count += seen.method == "PUT"
        return refuse(403, "AccessDenied")(seen, forward) if count == 3 and seen.method == "PUT" else forward()

    arguments = ["create", "datas3t", f"{HERE}/half", "--dataset", "weather", "--per-range", "3", numbered]
    with store.proxy.failing(fault):
        assert main([*arguments, *store.options]) == 2
    assert keys(store, "half/") == []
