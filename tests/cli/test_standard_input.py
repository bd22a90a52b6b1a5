"""``-`` as a location: an archive that comes through a pipe."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core import limits
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.sources.local import file as files
from tests.cli.running import Run, process

Sample = Callable[[str], Path]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Set what the program reads from standard input."""

    def pipe(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    return pipe


@pytest.mark.parametrize("name", ["journey.caf", "two-chunks.rca", "two-entries.tacozip", "plain.tar", "plain.zip"])
@pytest.mark.parametrize("command", [("list",), ("dump",), ("check",)])
def test_a_pipe_gives_what_the_file_gives(
    name: str, command: tuple[str, ...], run: Run, sample: Sample, piped: Callable[[bytes], None]
) -> None:
    path = sample(name)
    status, wanted, err = run(*command, path, "--json")
    piped(path.read_bytes())
    assert run(*command, "-", "--json") == (status, wanted.replace(json.dumps(str(path)), '"-"'), err)


def test_members_of_a_pipe_are_written_and_extracted(
    run: Run, sample: Sample, piped: Callable[[bytes], None], tmp_path: Path
) -> None:
    piped(sample("journey.caf").read_bytes())
    assert run("cat", "-", "readme.txt") == run("cat", sample("journey.caf"), "readme.txt")
    piped(sample("journey.caf").read_bytes())
    assert run("extract", "-", "readme.txt", "--to", tmp_path / "out")[0] == 0
    assert (tmp_path / "out" / "readme.txt").read_bytes().startswith(b"Three days")


def test_a_pipe_is_one_of_several_locations(run: Run, sample: Sample, piped: Callable[[bytes], None]) -> None:
    piped(sample("flipped-blob-byte.rca").read_bytes())
    status, out, _ = run("check", "--json", sample("journey.caf"), "-")
    assert status == 1
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["sound", "damaged"]


def test_a_real_pipe_is_read_to_its_end(sample: Sample) -> None:
    with subprocess.Popen(["cat", sample("journey.caf")], stdout=subprocess.PIPE) as cat:
        done = process("list", "--names", "-", stdin=cat.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"readme.txt\n" in done.stdout


@pytest.mark.parametrize("command", [("list",), ("dump",), ("cat", "x")])
def test_an_empty_pipe_is_no_archive(command: tuple[str, ...], run: Run, piped: Callable[[bytes], None]) -> None:
    piped(b"")
    assert run(command[0], "-", *command[1:]) == (2, "", "archive-inspector: Standard input is empty.\n")


def test_the_check_of_an_empty_pipe_is_a_line_like_any_other(run: Run, piped: Callable[[bytes], None]) -> None:
    piped(b"")
    status, out, err = run("check", "--json", "-")
    assert (status, err) == (2, "")
    assert json.loads(out)["state"] == "unreadable"


def test_a_keyboard_is_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Keyboard())
    status, _, err = run("list", "-")
    assert status == 2
    assert "is the keyboard" in err


@pytest.mark.parametrize(
    "arguments", [("repair", "-"), ("compare", "a", "-"), ("audit", "-"), ("header", "-"), ("create", "caf", "n", "-")]
)
def test_what_cannot_read_a_pipe_says_what_can(arguments: tuple[str, ...], run: Run) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    able = "list, dump, check, trace, entropy, scan, cat and extract"
    assert f"{arguments[0]} cannot read standard input; {able} can." in err


@pytest.mark.parametrize(
    "arguments",
    [
        *(("extract", "a", "--to", "-"), ("compare", "a", "b", "--to", "-"), ("repair", "a", "--to", "-")),
        *(("experiment", "a", "--to", "-"), ("experiment", "a", "--save-patch", "-"), ("header", "a", "--to", "-")),
        *(("check", "a", "--report", "-"), ("create", "rca", "-", "a")),
    ],
    ids=" ".join,
)
def test_no_file_called_like_standard_output_is_written(
    arguments: tuple[str, ...], run: Run, tmp_path: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(sample("journey.caf").read_bytes())
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "cannot be standard output, where results and messages go. One called - is ./-." in err
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_called_like_standard_output_is_written_by_its_path(
    run: Run, tmp_path: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("extract", str(sample("journey.caf")), "readme.txt", "--to", "./-")[0] == 0
    assert (tmp_path / "-" / "readme.txt").is_file()


def test_a_pipe_is_read_once(run: Run) -> None:
    assert "once only" in run("list", "-", "-")[2]


# ---- where it is kept ----------------------------------------------------------------------------------------------


def test_a_stream_is_kept_on_the_disk() -> None:
    for size in (1_000, 700_000):
        data = bytes(range(250)) * (size // 250)
        source = files.spooled(io.BytesIO(data).read, "-", Progress())
        assert (source.size, source.name) == (size, "-")
        assert source.read(300, size) == data[300:]


def test_more_than_the_limit_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    small = limits.Limit("ARCHIVE_INSPECTOR_INPUT_GIB", 600_000, 1, 1 << 30)
    monkeypatch.setattr(files, "STANDARD_INPUT", small)
    assert files.spooled(io.BytesIO(bytes(600_000)).read, "-", Progress()).size == 600_000
    with pytest.raises(SourceError, match=r"larger than 586 KiB \(600,000 bytes\).*raise ARCHIVE_INSPECTOR_INPUT_GIB"):
        files.spooled(io.BytesIO(bytes(600_001)).read, "-", Progress())


def test_a_stream_that_breaks_is_a_sentence() -> None:
    def broken(_size: int) -> bytes:
        raise OSError(5, "Input/output error")

    with pytest.raises(SourceError, match="Standard input cannot be read: input/output error"):
        files.spooled(broken, "-", Progress())
