"""The program as a process: usage, standard output that is cut off, interrupts, and a machine without a screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main
from tests.cli.running import ROOT, process, started
from tests.sweeping import in_the_sweep

Sample = Callable[[str], Path]


@pytest.mark.parametrize("arguments", [["list"], ["dump", "x", "--depth", "0"], ["list", "--wrong", "x"]])
def test_wrong_usage_ends_with_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2


def test_the_version_is_the_projects(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("archive-inspector 0.")


def test_without_a_screen_the_window_is_refused_with_a_sentence(sample: Sample) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    del environment["QT_QPA_PLATFORM"]

    done = process(sample("journey.caf"), env=environment)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"There is no screen" in done.stderr


def test_help_names_the_sub_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in ("list", "dump", "check", "cat", "formats"))


def test_a_location_named_like_a_sub_command_is_reached_through_its_folder(tmp_path: Path, sample: Sample) -> None:
    (tmp_path / "list").write_bytes(sample("journey.caf").read_bytes())

    done = process("list", "./list", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})

    assert done.returncode == 0
    assert b"readme.txt" in done.stdout


def test_a_reader_that_stops_early_is_no_error(big_archive: Path) -> None:
    with started("list", "--json", big_archive) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        err = running.stderr.read()
        status = running.wait()

    assert (status, err) == (0, b"")


def test_an_interrupt_ends_with_status_130(big_archive: Path) -> None:
    with started("list", "--json", big_archive) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()  # it is writing now, and waits for us to read on
        running.send_signal(signal.SIGINT)
        running.stdout.read()
        err = running.stderr.read()
        status = running.wait()

    assert (status, err) == (130, b"archive-inspector: Interrupted.\n")


@pytest.fixture
def big_archive(tmp_path: Path) -> Path:
    """A CAF whose list is longer than any pipe holds."""
    entries = ",".join(
        f'"a name of some length/{number:06d}":{{"start_byte":0,"end_byte":0}}' for number in range(20_000)
    )
    index = f'{{"format_version":"1.0","files":{{{entries}}}}}'.encode()
    path = tmp_path / "big.caf"
    path.write_bytes(index + len(index).to_bytes(4, "little"))
    return path


@pytest.mark.parametrize("arguments", [("list",), in_the_sweep(("cat", "readme.txt"))])
def test_an_output_that_takes_nothing_is_a_sentence(arguments: tuple[str, ...]) -> None:
    command, *names = arguments
    with Path("/dev/full").open("wb") as full:
        done = process(command, "resources/samples/journey.caf", *names, stdout=full)

    assert done.returncode == 2
    assert b"Standard output could not be written: no space left on device." in done.stderr
    assert b"Traceback" not in done.stderr


def test_being_told_to_end_takes_away_what_is_half_made(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "large").write_bytes(os.urandom(1 << 20))
    code = (
        "import os, signal, sys\n"
        "from inspector.operations.create import inputs\n"
        "def pieces(self):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    yield b''\n"
        "inputs.FileInput.pieces = pieces\n"
        "from inspector.__main__ import main\n"
        f"sys.exit(main(['create', 'rca', {str(tmp_path / 'new.rca')!r}, {str(tmp_path / 'tree')!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)

    assert (done.returncode, done.stderr.decode().strip()) == (130, "archive-inspector: Interrupted.")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["tree"]


def in_a_shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell with the program as ``$0``."""
    python = f"{sys.executable} -m inspector"
    return subprocess.run(["bash", "-c", line.replace("$0", python)], cwd=ROOT, capture_output=True, check=False)


@pytest.mark.parametrize(
    "command", [in_the_sweep("list {} 2>&-"), "check {} --progress 2>&-", in_the_sweep("list {} 2>&- <&-")]
)
def test_with_standard_error_closed_the_work_is_done_quietly(command: str, sample: Sample) -> None:
    done = in_a_shell(f"$0 {command.format(sample('journey.caf'))}")

    assert done.returncode == 0
    assert b"mistake" not in done.stdout
    assert b"journey" in done.stdout or b"readme.txt" in done.stdout


def test_with_standard_error_closed_no_sentence_gets_among_the_data(tmp_path: Path) -> None:
    done = in_a_shell(f"$0 list {tmp_path / 'none.caf'} 2>&-")

    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


@pytest.mark.parametrize("command", [in_the_sweep("list {}"), in_the_sweep("check {}"), "cat {} readme.txt"])
def test_with_standard_output_closed_what_was_asked_for_could_not_be_given(command: str, sample: Sample) -> None:
    done = in_a_shell(f"$0 {command.format(sample('journey.caf'))} >&-")

    assert done.returncode == 2
    assert done.stderr.startswith(b"archive-inspector: Standard output could not be written: ")
    assert done.stderr.count(b"\n") == 1


def test_with_standard_output_closed_an_archive_is_made_all_the_same(tmp_path: Path, sample: Sample) -> None:
    done = in_a_shell(f"$0 create rca {tmp_path / 'new.rca'} {sample('journey.caf')} >&-")

    assert (done.returncode, done.stderr) == (0, b"")
    assert in_a_shell(f"$0 check {tmp_path / 'new.rca'}").returncode == 0


def test_an_interrupt_while_libraries_are_loaded_ends_without_a_traceback(sample: Sample) -> None:
    code = (
        "import builtins, os, signal, sys\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'inspector.core.verdict':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return load(name, *rest)\n"
        "from inspector.__main__ import main\n"
        "builtins.__import__ = interrupted\n"
        f"sys.exit(main(['list', {str(sample('journey.caf'))!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"archive-inspector: Interrupted.\n")


def cut_off(*arguments: object) -> tuple[int, bytes]:
    """The exit status and what is said where nobody reads standard output any more."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(*arguments, stdout=writing)
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", [("check",), in_the_sweep(("audit", "--json"))])
def test_a_reader_that_stops_early_does_not_hide_what_was_wrong(
    command: tuple[str, ...], tmp_path: Path, sample: Sample
) -> None:
    (tmp_path / "damaged.rca").write_bytes(sample("flipped-blob-byte.rca").read_bytes())

    assert cut_off(*command, tmp_path) == (1, b"")


def test_a_reader_that_stops_early_does_not_make_sound_what_was_not_checked(sample: Sample) -> None:
    assert cut_off("check", sample("two-chunks.rca"), sample("journey.caf")) == (141, b"")


@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        ("boto3", ["list", "s3://bucket/a.caf"], "An s3:// location needs boto3, which is not installed"),
        ("botocore", ["list", "https://localhost:1/a.caf"], "An s3:// or https:// location needs botocore"),
        ("PySide6", ["--screenshot", "out.png"], "The window needs PySide6, which is not installed"),
    ],
)
def test_a_library_that_is_missing_is_named(tmp_path: Path, missing: str, arguments: list[str], said: str) -> None:
    absent = f"import sys; sys.modules[{missing!r}] = None"
    script = f"{absent}; from inspector.__main__ import main; sys.exit(main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
