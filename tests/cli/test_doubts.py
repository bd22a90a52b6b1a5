"""What a check doubts is not extracted unasked, whatever the format and whatever happened to the archive."""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

import pytest

from inspector.core.member import FOLDER
from inspector.core.program.progress import Progress
from inspector.core.verdict import Verdict
from inspector.operations.check.checking import check_archive
from inspector.operations.extract.extraction import Extraction
from inspector.operations.extract.selection import all_members
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import load
from inspector.operations.protocol.extraction_views import ExtractionOptions, OnConflict
from inspector.operations.protocol.views import Chosen
from inspector.resources import samples
from tests.cli.running import Run
from tests.damage import generator
from tests.formats.tar.tar_building import build
from tests.operations.archives import opened as session_of
from tests.samples import writers
from tests.sweeping import each_nth

MADE = Path(__file__).parents[1] / "samples"
SAMPLES = [*samples(), *sorted(each for each in MADE.iterdir() if each.suffix != ".py" and each.name != "__pycache__")]
FILES = {f"{number}.bin": Random(number).randbytes(5_000) for number in range(9)}
NEWER = {f"new-{number}.bin": Random(number + 100).randbytes(4_000) for number in range(3)}


def assert_nothing_doubted_comes_out(location: Path, folder: Path) -> set[bytes]:
    """Returns the members that a check doubts, or that a digest contradicts."""
    wrong: set[bytes] = set()
    fine: set[bytes] = set()
    for selection in all_members(str(location), load(str(location), Progress())):
        archive = selection.archive
        check_archive(archive, Progress())
        for member in range(len(archive.members)):
            doubted = archive.verdict(member) in (Verdict.DOUBTFUL, Verdict.MISMATCH)
            (wrong if doubted and not archive.members.marks_of(member) & FOLDER else fine).add(selection.path(member))
    selections = all_members(str(location), load(str(location), Progress()))
    result = Extraction(selections, folder, ExtractionOptions(OnConflict.RENAME)).run(Progress())
    files = {bytes(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}
    assert not (wrong - fine) & files
    assert not (wrong and result.whole)
    return wrong


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.name)
def test_of_a_sample(sample: Path, tmp_path: Path) -> None:
    assert_nothing_doubted_comes_out(sample, tmp_path / "out")


@pytest.mark.parametrize("damage", each_nth(9, generator.kinds_of_formats(), lambda each: f"{each[1]} {each[0].name}"))
def test_of_a_damaged_archive(damage: tuple[generator.Kind, str], tmp_path: Path) -> None:
    case = generator.damaged(*damage, seed=8)
    path = tmp_path / generator.NAMES[case.format]
    path.write_bytes(case.data)
    if case.metadata is not None:
        path.with_name(path.name + ".metadata").write_bytes(case.metadata)
    assert_nothing_doubted_comes_out(path, tmp_path / "out")


def overwritten(path: Path, newer: bytes) -> Path:
    older = writers.caf(FILES)
    path.write_bytes(newer + older[len(newer) :])
    return path


@pytest.mark.parametrize("streamed", [None, False])
def test_a_shorter_archive_over_a_caf_lets_nothing_out(streamed: bool | None, run: Run, tmp_path: Path) -> None:
    newer = writers.caf(NEWER) if streamed is None else writers.zipped(NEWER, streamed=streamed)
    path = overwritten(tmp_path / "a.caf", newer)
    assert len(assert_nothing_doubted_comes_out(path, tmp_path / "out")) == len(FILES)
    status, out, err = run("extract", path, "--to", tmp_path / "to")
    assert (status, out) == (1, f"0 files, 0 B, were extracted to {tmp_path}/to.\n")
    assert "another archive is where the first members were" in err
    status, out, err = run("cat", path, "0.bin")
    assert (status, out) == (1, "")
    assert "Nothing of 0.bin was written: another archive is where the first members were" in err
    assert run("extract", path, "--to", tmp_path / "to", "--doubtful")[0] == 0
    assert run("cat", path, "0.bin", "--doubtful")[1] != ""


def test_a_first_member_that_goes_on_behind_an_archive_is_not_let_out_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(writers.caf({"first": writers.caf(NEWER) + b"more", "other": bytes(5_000)}))
    assert assert_nothing_doubted_comes_out(path, tmp_path / "out") == {b"first", b"other"}


def test_padding_of_a_tar_that_is_not_zeros_doubts_the_member_before_it(run: Run, tmp_path: Path) -> None:
    data = bytearray(build([("a.txt", b"alpha"), ("b.txt", b"beta")]))
    data[600] = 1
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    assert assert_nothing_doubted_comes_out(path, tmp_path / "out") == {b"a.txt"}
    status, out, err = run("extract", path, "--to", tmp_path / "to")
    assert (status, out) == (1, f"1 file, 4 B, was extracted to {tmp_path}/to.\n")
    assert "a.txt" in err
    assert (run("cat", path, "a.txt")[0], run("cat", path, "a.txt")[1]) == (1, "")
    assert run("cat", path, "a.txt", "--doubtful")[1] == "alpha"


def test_a_member_that_a_digest_beside_the_archive_contradicts_is_not_let_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(writers.caf(FILES))
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in FILES.items()]
    (tmp_path / "a.caf.sha256").write_text("".join(lines).replace(lines[3], f"{'0' * 64}  3.bin\n"))
    assert assert_nothing_doubted_comes_out(path, tmp_path / "out") == {b"3.bin"}
    status, _, err = run("cat", path, "3.bin")
    assert status == 1
    assert "a.caf.sha256" in err


def test_the_windows_session_lets_nothing_out_either(tmp_path: Path) -> None:
    path = overwritten(tmp_path / "a.caf", writers.caf(NEWER))
    session = session_of(path)
    result = session.extract(Progress(), None, str(tmp_path / "to"))
    assert (result.files, result.whole, result.unproved.count) == (0, False, len(FILES))
    with pytest.raises(OperationError, match="another archive is where the first members were"):
        session.export_members(Progress(), Chosen((0,)), str(tmp_path))  # dragged out
    result = session.extract(Progress(), None, str(tmp_path / "to"), doubtful=True)
    assert (result.files, result.whole) == (len(FILES), True)
