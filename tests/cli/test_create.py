"""``create`` and ``find`` as scripts meet them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tacozip

from inspector.cli.output import ProgressBar
from inspector.core.program.progress import Progress
from tests.cli.running import ROOT, Run, objects, process
from tests.operations.create.creations import held, plant, visible_names
from tests.sweeping import in_the_sweep


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The program, in a folder of its own."""
    plant(tmp_path / "tree", {"a.txt": b"hello", "b/é.bin": b"12345" * 100, "empty": b""})
    monkeypatch.chdir(tmp_path)
    return run


def test_a_caf_is_made_and_its_members_are_found(run: Run, tmp_path: Path) -> None:
    made = run("create", "caf", "new.caf", "tree", "--catalog", "cat.sqlite")

    assert made == (0, "Created new.caf: 3 members, 666 B.\n", "")
    assert list(held(tmp_path / "new.caf")) == ["a.txt", "b/é.bin", "empty"]
    assert run("check", "new.caf")[0] == 0
    status, out, _ = run("find", "cat.sqlite", "b/é.bin")
    assert (status, out.splitlines()[1].split()) == (0, ["5", "500", "new.caf", "b/é.bin"])
    status, out, _ = run("find", "--json", "cat.sqlite", "*")
    assert objects(out)[1] == {
        "path": "b/é.bin",
        "source": "new.caf",
        "offset": 5,
        "length": 500,
    }


def test_what_is_not_found_is_a_sentence(run: Run) -> None:
    run("create", "caf", "new.caf", "tree", "--catalog", "cat.sqlite")

    assert run("find", "cat.sqlite", "q") == (1, "", "archive-inspector: No member in cat.sqlite is called “q”.\n")
    assert run("find", "cat.sqlite", "q*")[2].endswith("has a name that begins with “q”.\n")
    assert run("find", "--json", "cat.sqlite", "q")[:2] == (1, "")
    assert run("find", "none.sqlite", "q")[0] == 2


def test_a_series_is_made_where_the_size_limit_is_met(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("create", "caf", "--json", "new.caf", "tree", "--max-size", "0.624kb")
    assert objects(out) == [
        {"source": "new.caf", "members": 2, "bytes": 624},
        {"source": "new-0001.caf", "members": 1, "bytes": 76},
    ]
    assert [(tmp_path / name).stat().st_size for name in ("new.caf", "new-0001.caf")] == [624, 76]


def test_a_taco_is_made_with_entries_in_their_order(run: Run, tmp_path: Path) -> None:
    status, _, err = run(
        *("create", "taco", "new.taco", "tree", "--entry-for", "b/é.bin", "--entry", "0x10,7", "--entry-for", "a.txt")
    )

    assert (status, err) == (0, "")
    entries = tacozip.read_header(str(tmp_path / "new.taco"))
    data = (tmp_path / "new.taco").read_bytes()
    assert entries[1] == (16, 7)
    assert [data[at : at + length] for at, length in (entries[0], entries[2])] == [b"12345" * 100, b"hello"]
    assert zipfile.ZipFile(tmp_path / "new.taco").testzip() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("caf", "new.caf", "none"), "none does not exist"),
        (("caf", "tree/a.txt", "tree"), "tree/a.txt is there already"),
        (("caf", "new.caf", "tree", "tree"), "occurs twice"),
        (("caf", "new.caf", "tree", "--max-size", "33G"), "at most"),
        (("caf", "new.caf", "tree", "--max-size", "100"), "needs an archive of"),
        (("taco", "new.taco", "tree", "--entry", "1"), "two numbers without commas"),
        (("taco", "new.taco", "tree", "--entry-for", "q"), "No member is named 'q'"),
    ],
)
def test_what_cannot_be_is_a_sentence_and_leaves_nothing(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    status, out, err = run("create", *arguments)

    assert (status, out) == (2, "")
    assert words in err
    assert visible_names(tmp_path) == ["tree"]
    assert (tmp_path / "tree" / "a.txt").read_bytes() == b"hello"


@pytest.mark.parametrize("size", ["", "GB", "-1", "1XB", "1e3", "١GB"])
def test_sizes_that_are_none_are_wrong_usage(run: Run, size: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run("create", "caf", "new.caf", "tree", f"--max-size={size}")

    assert ended.value.code == 2


def test_an_archive_is_overwritten_only_on_a_word(run: Run, tmp_path: Path) -> None:
    for kind in ("caf", "taco"):
        target = tmp_path / f"new.{kind}"
        target.write_bytes(b"old")
        assert run("create", kind, target, "tree")[0] == 2
        assert target.read_bytes() == b"old"
        assert run("create", kind, target, "tree", "--overwrite")[0] == 0
        assert "a.txt" in held(target)


# ---- processes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["caf", "taco"])
def test_a_disk_that_is_full_is_a_sentence_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    plant(tmp_path / "tree", {"large": os.urandom(1 << 20) * 3})

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    done = process("create", kind, tmp_path / "new.x", tmp_path / "tree", preexec_fn=small)

    assert done.returncode == 2
    assert b"new.x cannot be written after " in done.stderr
    assert visible_names(tmp_path) == ["tree"]


@pytest.mark.parametrize(
    ("how", "kind", "step"),
    [
        # Not by threes: the catalogue is taken away at each third call.
        ("killed", "caf", 5),
        ("interrupted", "taco", 5),
        *(in_the_sweep(how, kind, 1) for how in ("killed", "interrupted") for kind in ("caf", "taco")),
    ],
)
def test_a_process_may_end_at_any_call(tmp_path: Path, how: str, kind: str, step: int) -> None:
    driver = [sys.executable, "-m", "tests.operations.create.create_driver", how, kind, str(tmp_path), str(step)]

    done = subprocess.run(driver, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40


def test_what_a_killed_run_has_left_is_said_and_removed_on_the_users_word(run: Run, tmp_path: Path) -> None:
    left = tmp_path / ".old.caf.0123456789abcdef.part"
    left.write_bytes(bytes(2000))

    status, _, err = run("create", "caf", "new.caf", "tree")

    assert status == 0
    assert err.startswith("archive-inspector: 1 unfinished file of a run that was killed is in .: ")
    assert "remove it (--remove-unfinished)" in err
    assert left.exists()
    status, _, err = run("create", "rca", "new.rca", "tree", "--remove-unfinished")
    assert (status, err) == (
        0,
        "archive-inspector: 1 unfinished file of a run that was killed was removed in .: 2.0 KiB.\n",
    )
    assert not left.exists()


def test_what_is_left_of_a_dataset_is_said(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "bucket" / "dataset" / "w" / "datapoints"
    folder.mkdir(parents=True)
    plant(folder, {".0.tar.0123456789abcdef.part": b"1"})
    status, _, err = run("create", "datas3t", "bucket", "--dataset", "w", "--first-key", "1", "tree")
    assert status == 0
    assert "1 unfinished file" in err


def test_without_a_terminal_progress_is_said_only_on_a_word(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[float] = []

    class Told(ProgressBar):
        def __init__(self, progress: Progress, *, log_interval_s: float) -> None:
            said.append(log_interval_s)
            super().__init__(progress, log_interval_s=log_interval_s)

    monkeypatch.setattr("inspector.cli.commands.create.ProgressBar", Told)
    assert run("create", "caf", "a.caf", "tree")[2] == ""
    assert run("create", "caf", "b.caf", "tree", "--progress")[2] == ""  # it does not take ten seconds
    assert said == [0, 10]
