"""Reports as text and JSON, and findings in few words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.finding import Finding, Severity, brief, with_full_stop
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check.checking import check_location, with_readers
from inspector.operations.check.report import as_json, as_text
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.session.archive_session import ArchiveSession
from tests.operations.archives import caf, opened

Sample = Callable[[str], Path]
HOSTILE = "../<script>alert('x')</script>&\u202egpj.\x1b[31m\n\"'>.txt"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return caf(tmp_path / "<b>&hostile.caf", {HOSTILE: b"data", HOSTILE + "2": b"more"})


def test_text_holds_names_as_visible_text(hostile: Path) -> None:
    text = as_text(check_location(str(hostile), Progress()))
    assert not set("\x1b\u202e") & set(text)
    assert all(line.startswith("  ") for line in text.splitlines()[1:])


def test_json_is_one_line_of_ascii(hostile: Path) -> None:
    line = as_json(check_location(str(hostile), Progress()))
    assert line.isascii()
    assert line.count("\n") == 1
    found = json.loads(line)
    assert list(found) == ["source", "format", "state", "members", "bytes", "findings"]
    assert {name for finding in found["findings"] for name in finding} == {
        *("severity", "code", "message", "spans", "member", "repair"),
    }
    assert HOSTILE in {finding["member"] for finding in found["findings"]}


@pytest.mark.parametrize("name", ["flipped-member-byte.tacozip", "journey.caf", "weather-missing-row"])
def test_what_the_window_exports_is_what_the_terminal_prints(name: str, sample: Sample, tmp_path: Path) -> None:
    session = opened(sample(name))
    session.check(Progress())
    report = check_location(str(sample(name)), Progress())
    for kind, written in ((ReportKind.JSON, as_json), (ReportKind.TEXT, as_text)):
        target = tmp_path / str(kind)
        session.export(Progress(), str(target), kind)
        assert target.read_bytes() == written(report).encode()
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_before_a_check_a_report_does_not_say_sound(sample: Sample, tmp_path: Path) -> None:
    target = tmp_path / "report"
    session = opened(sample("journey.caf"))
    session.export(Progress(), str(target), ReportKind.JSON)
    assert json.loads(target.read_text())["state"] is None
    for kind in (ReportKind.TEXT, ReportKind.HTML):
        session.export(Progress(), str(target), kind)
        assert "ontents are not verified" in target.read_text()
        assert "Sound" not in target.read_text()


def test_the_archive_itself_is_never_written_over(tmp_path: Path) -> None:
    path = caf(tmp_path / "small.caf")
    before = path.read_bytes()
    other = tmp_path / "other.txt"
    other.symlink_to(path)
    session = opened(path)
    for target in (path, other):
        with pytest.raises(OperationError, match="the archive itself"):
            session.export(Progress(), str(target), ReportKind.TEXT)
    assert path.read_bytes() == before


def test_a_report_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    session: ArchiveSession = opened(caf(tmp_path / "small.caf"))
    with pytest.raises(SourceError, match="cannot be written"):
        session.export(Progress(), str(tmp_path / "no" / "report.txt"), ReportKind.TEXT)
    with pytest.raises(SourceError, match="cannot be written"):
        session.export(Progress(), str(tmp_path), ReportKind.TEXT)


def test_text_says_which_findings_can_be_answered(sample: Sample, tmp_path: Path) -> None:
    """Also where checking alone sounds as if nothing could be done."""
    path = tmp_path / "wrong.rca"
    path.write_bytes(b"\x90" + sample("two-resets-spec.rca").read_bytes()[1:])
    report = check_location(str(path), Progress())
    text = as_text(report).splitlines()
    assert text[-1] == "  1 finding can be repaired: repair --dry-run shows how, and what is lost or assumed."
    assert "    repair: rca-mend-chunk-size answers this" in text


def test_where_there_is_no_repair_none_is_promised(sample: Sample) -> None:
    report = check_location(str(sample("journey.caf")), Progress())
    assert "repair" not in as_text(report)


def test_of_a_collection_each_range_has_a_result(sample: Sample, tmp_path: Path) -> None:
    shutil.copytree(sample("weather-overlap"), tmp_path / "weather")
    first, second = sorted((tmp_path / "weather").rglob("*.tar"))
    data = bytearray(second.read_bytes())
    data[512] ^= 1
    second.write_bytes(data)
    report = check_location(str(tmp_path / "weather"), Progress())
    names = [path.relative_to(tmp_path / "weather").as_posix() for path in (first, second)]
    lines = as_text(report).splitlines()
    assert lines[2:4] == ["  2 ranges: 1 sound, 1 damaged", f"  damaged: {names[1]}"]
    assert set(json.loads(as_json(report))) == {"source", "format", "state", "members", "bytes", "findings"}


def test_ranges_that_were_not_checked_are_not_called_sound(sample: Sample, tmp_path: Path) -> None:
    target = tmp_path / "report"
    session = opened(sample("weather-gap"))
    session.export(Progress(), str(target), ReportKind.TEXT)
    assert "  2 ranges: 2 not checked" in target.read_text().splitlines()


def test_readers_are_listed_when_asked(sample: Callable[[str], Path]) -> None:
    report = check_location(str(sample("two-resets-spec.rca")), Progress())

    assert "readers" not in as_text(report)
    text = as_text(with_readers(report, Progress()))
    assert "rejects at step 16: final checksum mismatch" in text
    assert "rcarch expects" in text


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Chunk 1 is truncated. 312 bytes are missing.", "Chunk 1 is truncated [code]."),
        ("It is cut off. Nothing more is known.", "It is cut off [code]."),
        ("It is at 1.5 s. 'a' is meant.", "It is at 1.5 s [code]."),
        ("No full stop", "No full stop [code]."),
    ],
)
def test_the_first_sentence_of_a_finding_and_its_code(message: str, said: str) -> None:
    assert brief(Finding(Severity.ERROR, "code", message)) == said


@pytest.mark.parametrize("end", [".", "?", "!"])
def test_a_sentence_ends_once(end: str) -> None:
    assert with_full_stop(f"It is so{end}") == f"It is so{end}"
    assert with_full_stop("It is so") == "It is so."
