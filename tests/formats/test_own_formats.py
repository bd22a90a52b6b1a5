"""Formats of one's own: the manual's example, what is wrong with one, and that nothing of it ends the program."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inspector
from inspector.__main__ import main
from inspector.core.kinds import Kind
from inspector.core.limits import FORMAT_FILES
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import _own, formats, recognise
from inspector.operations.open.opening import decode, start

PAGE = Path(__file__).parents[2] / "resources" / "manual" / "own-format.md"
FILES = [(b"maps/e1m1.bsp", b"x" * 1000), (b"progs.dat", bytes(range(70))), (b"empty", b"")]


def pak(files: list[tuple[bytes, bytes]]) -> bytes:
    """A PAK, made without the program."""
    at, data, entries = 12, b"", b""
    for name, content in files:
        entries += struct.pack("<56sII", name, at + len(data), len(content))
        data += content
    return b"PACK" + struct.pack("<II", at + len(data), len(entries)) + data + entries


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual's example as a file."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path_factory.mktemp("own") / "pak.py"
    path.write_text(found[1], encoding="utf-8")
    return path


@pytest.fixture
def known(written: Path) -> Iterator[None]:
    """The manual's example is known."""
    with _own.using([str(written)]):
        yield


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "id1.pak"
    path.write_bytes(pak(FILES))
    return path


@pytest.mark.usefixtures("known")
def test_the_example_reads_what_others_wrote(sample: Path, tmp_path: Path) -> None:
    with inspector.open(sample) as archive:
        assert archive.format == "pak"
        assert [(each.path, each.read()) for each in archive.members] == FILES
        assert archive.check().state is inspector.State.SOUND
        for offset in range(archive.size):
            assert not archive.at(offset)[-1].children
    assert main(["extract", str(sample), "--to", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "progs.dat").read_bytes() == FILES[1][1]


def damaged(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + struct.pack("<I", number) + data[at + 4 :]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: data[:600], "pak-directory"),
        (lambda data: damaged(data, 8, 100), "pak-directory-size"),
        (lambda data: damaged(data, data.index(b"progs") + 56, 5_000), "pak-out-of-range"),
        (lambda data: damaged(data, data.index(b"progs") + 56, 500), "pak-overlap"),
        (lambda data: damaged(data, data.index(b"progs") + 60, 60), "pak-gap"),
        (lambda data: damaged(data, data.index(b"maps") + 56, 4), "pak-overlap"),
        (lambda data: b"PAKC" + data[4:], "pak-magic"),
    ],
)
def test_what_is_wrong_is_found(sample: Path, damage: Callable[[bytes], bytes], code: str) -> None:
    sample.write_bytes(damage(pak(FILES)))
    with inspector.open(sample) as archive:
        assert code in {each.code for each in archive.check().findings}
        assert sum(span.size for field in archive.fields for span in field.spans) == archive.size


@pytest.mark.usefixtures("known")
@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_any_bytes_are_a_result(tail: bytes, at: int, number: int) -> None:
    for data in (b"PACK" + tail, damaged(pak(FILES), at, number)):
        archive = start(BytesSource(data, "some.pak"))
        decode(archive, Progress())
        leaves = [each for each in archive.fields if not each.children]
        assert all(span.stop <= len(data) for field in leaves for span in field.spans)
        assert "own-format-failed" not in {each.code for each in archive.findings}


def test_without_being_named_it_is_not_known(sample: Path, written: Path) -> None:
    beside = sample.with_name("pak.py")
    beside.write_bytes(written.read_bytes())
    assert inspector.open(sample).format is None
    assert main(["check", "--format-file", str(written), str(sample)]) == 0
    assert inspector.open(sample).format is None
    assert not os.environ.get(FORMAT_FILES)


@pytest.mark.usefixtures("known")
def test_own_formats_never_change_what_the_program_knows() -> None:
    sound = Path(__file__).parents[2] / "resources" / "samples" / "two-chunks.rca"
    found = recognise(BytesSource(sound.read_bytes(), "some.pak"))
    assert found is not None
    assert found.name == "rca"
    assert [each.name for each in formats()[-1:]] == ["pak"]


BROKEN = {
    "FORMAT = 1": "has no FORMAT",
    "import nothing_of_that_name": "line 1: No module named",
    "x = 1\ny = x / 0": "ZeroDivisionError in line 2",
    "def (": "SyntaxError in line 1",
    "raise SystemExit(3)": "SystemExit",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_one_sentence(
    sample: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text, encoding="utf-8")
    assert main(["check", "--format-file", str(path), str(sample)]) == 2
    said = capsys.readouterr().err
    assert BROKEN[text] in said
    assert "Traceback" not in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["probe", "decode", "read", "check", "repairs", "member_metadata", "prove"])
def test_what_fails_in_it_is_a_sentence(sample: Path, written: Path, tmp_path: Path, name: str) -> None:
    text = written.read_text(encoding="utf-8")
    path = tmp_path / "failing.py"
    path.write_text(f"{text}\ndef fail(*_):\n    raise ValueError('no')\n\nFORMAT = FORMAT._replace({name}=fail)\n")
    with _own.using([str(path)]), inspector.open(sample) as archive:
        report = archive.check()
        failed = "own-format-failed" in {each.code for each in report.findings}
        assert failed == (name in ("decode", "check"))
        assert archive.format == "pak"  # by its suffix, where the content cannot be asked
        if name == "read":
            with pytest.raises(inspector.Unreadable, match="The format pak failed"):
                archive.members[0].read()


def test_what_it_leaves_out_is_said(
    sample: Path, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["formats", "--test", str(written), str(sample)]) == 0
    assert "nothing is missing" in capsys.readouterr().out
    sample.write_bytes(damaged(pak(FILES), pak(FILES).index(b"progs") + 60, 60))
    assert main(["formats", "--test", str(written), str(sample)]) == 1
    assert "nothing says what the bytes 1,072 to 1,082 are (gap)" in capsys.readouterr().out
    other = tmp_path / "id1.bin"
    other.write_bytes(pak(FILES)[1:])
    assert main(["formats", "--test", str(written), str(other)]) == 1
    assert capsys.readouterr().out.startswith("suffixes: the sample is id1.bin, and they are .pak.\nprobe: ")


def test_a_new_one_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--new", "Boxes"]) == 0
    path = tmp_path / "boxes.py"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    known = _own.load_file(path)
    assert (known.name, known.suffixes) == ("boxes", (".boxes",))
    assert Kind.GAP not in known.kinds


def test_other_processes_know_it_too(sample: Path, written: Path) -> None:
    command = [sys.executable, "-m", "inspector", "check", "--json", "--format-file", str(written)]
    done = subprocess.run([*command, str(sample), str(sample)], capture_output=True, check=True)
    assert done.stdout.count(b'"format": "pak", "state": "sound"') == 2


def written_of(tmp_path: Path, number: int) -> Path:
    """The page's example of this number, as a file."""
    path = tmp_path / "example.py"
    path.write_text(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[number])
    return path


def box(items: list[tuple[bytes, bytes]]) -> bytes:
    """A box as the page describes it, made without the program."""
    data = b"BOX1"
    for name, content in items:
        data += struct.pack("<4s16sI", b"ITEM", name, len(content)) + content + bytes(-len(content) % 4)
    return data


ITEMS = [(b"one.txt", b"12345"), (b"two.txt", b"x" * 200), (b"three", b"abc")]


def test_a_chain_finds_a_lost_header_and_keeps_its_neighbours(tmp_path: Path) -> None:
    sound = box(ITEMS)
    path = tmp_path / "some.box"
    path.write_bytes(sound)
    with _own.using([str(written_of(tmp_path, 1))]):
        assert inspector.open(path).check().state is inspector.State.SOUND
        lost = sound.index(b"ITEM", 10)
        path.write_bytes(sound.replace(b"ITEMtwo", b"JTEMtwo"))
        with inspector.open(path) as archive:
            (finding,) = (each for each in archive.check().findings if each.code.startswith("box"))
            assert (finding.code, finding.spans[0].start, finding.member) == ("box-no-header", lost, None)
            assert [(each.path, each.read()) for each in archive.members] == [ITEMS[0], ITEMS[2]]


def test_a_directory_that_counts_and_files_that_begin_in_two_ways(tmp_path: Path, written: Path) -> None:
    text = written.read_text(encoding="utf-8").replace('b"PACK",\n    HEADER', '(b"IWAD", b"PWAD"),\n    HEADER')
    path = tmp_path / "wad.py"
    path.write_text(
        text.replace('at="diroffset"', 'counted=True, at="diroffset"')
        .replace(', "a Quake', ', "a')
        .replace('b"PACK", ', 'b"IWAD", ')
    )
    sample = tmp_path / "some.pak"
    data = pak(FILES)
    counted = data[:8] + struct.pack("<I", len(FILES)) + data[12:]
    with _own.using([str(path)]):
        for magic in (b"IWAD", b"PWAD"):
            sample.write_bytes(magic + counted[4:])
            with inspector.open(sample) as archive:
                assert archive.check().state is inspector.State.SOUND
                assert [(each.path, each.read()) for each in archive.members] == FILES


@pytest.mark.usefixtures("known")
def test_the_diagram_knows_it(sample: Path, tmp_path: Path) -> None:
    assert main(["dump", "--diagram", str(tmp_path / "out.svg"), str(sample)]) == 0
    assert (tmp_path / "out.svg").read_text().count("<rect") > 5


def test_a_value_that_fails_is_a_note(sample: Path, written: Path, tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text(written.read_text(encoding="utf-8").replace("Kind.NAME, padded_text", "Kind.NAME, lambda _: 1 / 0"))
    with _own.using([str(path)]), inspector.open(sample) as archive:
        assert "ZeroDivisionError" in archive.at(archive.size - 64)[-1].note
    assert main(["formats", "--test", str(path), str(sample)]) == 0


def test_a_failure_names_the_line_of_the_file(sample: Path, written: Path, tmp_path: Path) -> None:
    text = written.read_text(encoding="utf-8")
    path = tmp_path / "failing.py"
    path.write_text(f"{text}\ndef fail(*_):\n    raise ValueError('no')\n\nFORMAT = FORMAT._replace(decode=fail)\n")
    line = path.read_text().splitlines().index("    raise ValueError('no')") + 1
    with _own.using([str(path)]), inspector.open(sample) as archive:
        assert f"ValueError in line {line}: no" in archive.findings[0].message
