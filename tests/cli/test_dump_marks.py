"""What ``dump`` writes behind the fields that are wrong, and that its JSON is untouched by it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli.commands.dump import _marks
from inspector.core.field import Field, parent
from inspector.core.finding import Finding, Severity
from inspector.core.kinds import Kind
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.formats._kinds import INDEX
from inspector.operations.open.opening import Opened
from tests.cli.running import Run

Sample = Callable[[str], Path]
Dump = Callable[..., str]


@pytest.fixture
def dump(capfd: pytest.CaptureFixture[str], sample: Sample) -> Dump:
    def call(name: str, *options: str) -> str:
        assert main(["dump", *options, str(sample(name))]) == 0
        return capfd.readouterr().out

    return call


@pytest.mark.parametrize(
    ("name", "field", "words"),
    [
        ("overlap.caf", "file data photos/tile_0001.png", "<- error: 'photos/tile_0001.png' and"),
        ("wrong-reset-hash.rca", "hash 1810065ac7ccc159", "<- error: Hash mismatch"),
        ("wrong-name.tacozip", "file name TACO_HEADER", "<- error: The local header and the central directory"),
        ("hostile-name.caf", "name ", "(and 1 more)"),
    ],
)
def test_a_finding_stands_behind_the_innermost_field_it_is_about(name: str, field: str, words: str, dump: Dump) -> None:
    (line,) = [line for line in dump(name).splitlines() if words in line]
    assert line.split(maxsplit=1)[1].startswith(field)


def test_of_the_fields_that_are_shown_the_innermost_is_marked(dump: Dump) -> None:
    marked = [line for line in dump("wrong-reset-hash.rca", "--depth", "1").splitlines() if "<- error" in line]
    assert len(marked) == 1
    assert marked[0].count("blob layer") >= 1


def test_what_no_field_holds_is_marked_behind_the_outermost() -> None:
    inner = Field("inner", Kind.DATA, (Span(0, 4),))
    fields = [parent("outer", INDEX, (Span(0, 6),), [inner]), Field("next", Kind.DATA, (Span(6, 9),))]
    archive = Opened(BytesSource(bytes(9)), "x", "x", fields)
    archive.findings.append(Finding(Severity.ERROR, "code", "Across both.", (Span(2, 8),)))
    assert _marks(archive, 9) == {(0,): "  <- error: Across both."}


def test_so_many_findings_are_marked_and_no_more(dump: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dump("wrong-name.tacozip").count(" <- ") == 2
    monkeypatch.setattr("inspector.cli.commands.dump._MAX_MARKS", 1)
    assert dump("wrong-name.tacozip").count(" <- ") == 1


def test_nothing_is_marked_where_nothing_is_wrong(dump: Dump) -> None:
    for name in ("journey.caf", "two-chunks.rca", "plain.zip", "weather"):
        assert " <- " not in dump(name)


def test_json_is_not_marked(dump: Dump) -> None:
    text = dump("wrong-reset-hash.rca", "--json")
    assert "<-" not in text
    assert list(json.loads(text)) == ["source", "format", "size", "fields"]


def test_a_diagram_is_written_instead_and_told_in_words(dump: Dump, tmp_path: Path) -> None:
    target = tmp_path / "shape.svg"
    assert dump("gap.caf", "--diagram", str(target)) == "Diagram of the archive: File (11), Index (8); wrong: gap.\n"
    assert target.read_text(encoding="utf-8").startswith("<svg ")


def test_a_diagram_never_replaces_its_archive(
    tmp_path: Path, sample: Sample, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journey.caf"
    path.write_bytes(sample("journey.caf").read_bytes())
    assert main(["dump", "--diagram", str(path), str(path)]) == 2
    assert "is the archive itself" in capfd.readouterr().err
    assert path.read_bytes() == sample("journey.caf").read_bytes()


@pytest.mark.parametrize("name", ["torn-at-boundary.rca", "damaged-footer.caf"])
def test_what_check_prints_of_a_place_is_found_in_dump(sample: Sample, run: Run, name: str) -> None:
    checked = run("check", sample(name))[1]
    dumped = run("dump", sample(name))[1]

    places = re.findall(r"0x[0-9a-fA-F]+\.\.0x[0-9a-fA-F]+", checked)
    assert places
    assert all(place in dumped for place in places)
