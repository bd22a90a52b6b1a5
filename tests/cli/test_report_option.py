"""``check --report``: a report beside what is printed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main

Sample = Callable[[str], Path]


def test_a_report_is_written_beside_what_is_printed(
    sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locations = [str(sample("flipped-member-byte.tacozip")), str(sample("journey.caf"))]
    assert main(["check", *locations]) == 1
    printed = capsys.readouterr().out
    for suffix, begin in ((".html", "<!doctype html>"), (".HTM", "<!doctype html>")):
        target = tmp_path / f"report{suffix}"
        assert main(["check", "--report", str(target), *locations]) == 1
        assert capsys.readouterr().out == printed
        text = target.read_text()
        assert text.startswith(begin)
        assert "flipped-member-byte.tacozip" in text
        assert "journey.caf" in text


def test_redacted_it_names_nothing(sample: Sample, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert main(["check", "--redact", "--report", str(target), str(sample("flipped-member-byte.tacozip"))]) == 1
    assert "tile_0001" not in target.read_text()
    assert "member 1" in target.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--report", "r.docx"], "does not say what kind of report"), (["--redact"], "add --report")],
)
def test_what_cannot_be_written_is_refused_before_the_check(
    options: list[str], said: str, sample: Sample, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *options, str(sample("journey.caf"))]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err


def test_a_report_never_replaces_the_archive(
    sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "archive.html"
    path.write_bytes(sample("journey.caf").read_bytes())
    before = path.read_bytes()
    assert main(["check", "--report", str(path), str(path)]) == 2
    assert "is the archive itself" in capsys.readouterr().err
    assert path.read_bytes() == before
