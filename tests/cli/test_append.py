"""``create rca``, ``append`` and ``create datas3t`` as scripts meet them."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.cli.running import ROOT, Run
from tests.formats.rca import build
from tests.formats.rca.checking import ONE, TWO, opened
from tests.operations.create.creations import plant
from tests.operations.create.rca_appends import held


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The program, in a folder of its own."""
    plant(tmp_path / "one", {name.decode(): stored for name, stored in ONE})
    plant(tmp_path / "two", {name.decode(): stored for name, stored in TWO})
    monkeypatch.chdir(tmp_path)
    return run


def files(folder: str) -> list[str]:
    """The files of ONE in their order, or those of TWO."""
    return [f"{folder}/{name.decode()}" for name, _ in (ONE if folder == "one" else TWO)]


def test_an_archive_is_made_and_grows(run: Run, tmp_path: Path) -> None:
    status, out, err = run("create", "rca", "new.rca", *files("one"))
    assert (status, out, err) == (0, "Created new.rca: 3 members, 82 B.\n", "")
    assert (tmp_path / "new.rca").read_bytes() == build.archive(ONE)

    status, out, err = run("append", "new.rca", "two", "--hash-convention", "rcarch")
    assert (status, out, err) == (0, "new.rca has 1 blob more, and has grown by 39 bytes.\n", "")
    assert (tmp_path / "new.rca").read_bytes() == build.archive(ONE, TWO, convention=build.RCARCH)
    assert run("check", "new.rca")[0] == 0


def test_json_says_what_the_archive_has_become(run: Run, tmp_path: Path) -> None:
    _, first, _ = run("create", "rca", "--json", "new.rca", "one")
    _, second, _ = run("append", "--json", "new.rca", "two")

    sizes = [len(build.archive(ONE)), (tmp_path / "new.rca").stat().st_size]
    assert [json.loads(line) for line in (first, second)] == [
        {"source": "new.rca", "members": members, "bytes": size} for members, size in zip((3, 4), sizes, strict=True)
    ]


def test_what_an_interrupted_append_left_is_said_on_standard_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.rca").write_bytes(build.archive(ONE) + b"garbage")

    status, _, err = run("append", "new.rca", "two")

    assert status == 0
    said = "archive-inspector: An earlier append was interrupted; the 7 bytes that it left are overwritten.\n"
    assert err.startswith(f"{said}archive-inspector: The 7 bytes after the end are kept in ")
    place = Path(err.split(" are kept in ")[1].strip().removesuffix("."))
    assert b"garbage" in place.read_bytes()
    assert held((tmp_path / "new.rca").read_bytes()) == [*ONE, *TWO]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("append", "one/one", "two"), "is no RCA archive"),
        (("append", "none.rca", "two"), "does not exist"),
        (("append", "new.rca", "one"), "occurs twice"),
        (("append", "bad.rca", "two"), "damaged; repair it first"),
        (("append", "new.rca", "two", "--level", "0"), "level is 1 to 22"),
        (("create", "rca", "new.rca", "two"), "is there already"),
        (("create", "datas3t", "root", "--dataset", "d", "one"), "does not have a number as its name"),
        (("create", "datas3t", "root", "--dataset", "../d", "one"), "leads out"),
        (("create", "datas3t", "root", "--dataset", "d", "--per-range", "0", "one"), "at least one key"),
    ],
)
def test_what_cannot_be_is_a_sentence_and_changes_nothing(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "new.rca").write_bytes(build.archive(ONE))
    (tmp_path / "bad.rca").write_bytes(build.archive(ONE)[:-1])

    status, out, err = run(*arguments)

    assert (status, out) == (2, "")
    assert words in err
    assert (tmp_path / "new.rca").read_bytes() == build.archive(ONE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.rca", "new.rca", "one", "two"]


def test_a_dataset_is_packed(run: Run, tmp_path: Path) -> None:
    status, out, err = run("create", "datas3t", "root", "one", "--dataset", "d", "--first-key", "7", "--per-range", "2")

    assert (status, err) == (0, "")
    assert out.startswith("Created 2 archives, root/dataset/d/datapoints/00000000000000000007-")
    assert run("check", "root")[0] == 0
    with tarfile.open(tmp_path / f"root/dataset/d/datapoints/{7:020d}-{8:020d}.tar") as archived:
        assert archived.getnames() == [f"{7:020d}", f"{8:020d}"]
    assert "overlap" in run("create", "datas3t", "root", "two", "--dataset", "d", "--first-key", "8")[2]
    assert run("create", "datas3t", "root", "two", "--dataset", "d", "--first-key", "10")[0] == 0


def test_a_dataset_needs_a_name(run: Run) -> None:
    with pytest.raises(SystemExit) as ended:
        run("create", "datas3t", "root", "one")

    assert ended.value.code == 2


def test_an_interrupted_program_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """Ctrl+C while it waits for an input: what it has written behind the end is taken back."""
    path = tmp_path / "new.rca"
    path.write_bytes(build.archive(ONE))
    plant(tmp_path / "in", {"a": bytes(100_000), "b": b""})  # small files are read in one go
    script = f"""
import os, signal, sys
from inspector.__main__ import main
from inspector.operations.create import inputs
def pieces(self):
    yield os.urandom(3_000_000)
    os.kill(os.getpid(), signal.SIGINT)
    yield b""
inputs.FileInput.pieces = pieces
sys.exit(main(["append", {str(path)!r}, {str(tmp_path / "in")!r}]))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 130, done.stderr
    assert path.read_bytes() == build.archive(ONE)


def test_members_are_listed_as_they_were_named(run: Run, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"b/é": b"1", "a": b"2", "-x": b"3"})
    run("create", "rca", "new.rca", "tree", "--level", "19")

    members = opened((tmp_path / "new.rca").read_bytes()).members
    assert [member.path.decode() for member in members] == ["-x", "a", "b/é"]
