"""What the commands say of places on S3 that cannot be what they are taken for, or are lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.__main__ import main
from tests.operations.create.creations import plant
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, refuse, silent
from tests.s3.writing.writing import content, taco

HERE = f"s3://{BUCKET}/commands"


@pytest.fixture
def tree(tmp_path: Path) -> str:
    plant(tmp_path / "tree", {f"{number}.bin": bytes([number + 1]) * 3_000_000 for number in range(4)})
    return str(tmp_path / "tree")


def test_adding_to_an_object_says_why_not_and_what_to_do(
    store: Store, tree: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["create", "rca", str(tmp_path / "a.rca"), tree]) == 0
    location = store.put("commands/a.rca", (tmp_path / "a.rca").read_bytes())
    capsys.readouterr()

    assert main(["append", location, tree, *store.options]) == 2

    said = capsys.readouterr().err
    assert "an object on S3 does not grow" in said
    assert "Download it, add to it here" in said
    assert store.proxy.log == []


@pytest.mark.parametrize("location", ["s3://no-such-bucket/x.caf", "s3://no-such-bucket/", f"{HERE}/nothing.caf"])
def test_checking_what_is_not_there_is_one_sentence(
    store: Store, location: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", location, *store.options]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith((f"{location}: ", f"{location} does not exist"))
    assert lines[0].endswith("[unreadable]")


def test_members_become_files_and_no_objects(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    location = store.put("commands/to.taco", taco(tmp_path, [10]))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    assert main(["extract", location, "--to", f"{HERE}/out", *store.options]) == 2

    assert "is not a folder on this machine" in capsys.readouterr().err
    assert list((tmp_path / "empty").iterdir()) == []
    assert content(store, "commands/to.taco")


@pytest.mark.parametrize("kind", ["caf", "taco"])
@pytest.mark.parametrize("fault", [silent, refuse(503, "SlowDown"), refuse(403, "AccessDenied")])
def test_a_lost_network_is_no_doubt_about_content(
    store: Store, tree: str, tmp_path: Path, kind: str, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    location = f"{HERE}/lost.{kind}"
    assert main(["create", kind, location, tree, "--overwrite", *store.options]) == 0
    capsys.readouterr()
    seen_so_far = 0

    def lost(seen: Seen, forward: Forward) -> Reply:
        nonlocal seen_so_far
        seen_so_far += 1
        return fault(seen, forward) if seen_so_far > 3 else forward()

    with store.proxy.failing(lost):
        assert main(["extract", location, "--to", str(tmp_path / "out"), *store.options]) == 2

    said = capsys.readouterr().err
    assert "not proved" not in said
    assert "damaged" not in said
    assert "?." not in said
    assert "were extracted" in said, "how far it came"
    assert seen_so_far < 30, "what cannot be reached is not asked for member after member"
    kept = [path for path in (tmp_path / "out").rglob("*.bin") if path.is_file()]
    assert len(kept) < 4
    assert all(path.read_bytes() == (tmp_path / "tree" / path.name).read_bytes() for path in kept)
    again = ["extract", location, "--to", str(tmp_path / "out"), "--on-conflict", "skip", *store.options]
    main(again)
    assert len(list((tmp_path / "out").rglob("*.bin"))) == 4, "the rest comes with the next try"
