"""What ``--json`` prints is what ``schema`` says, for every command that has it; and what ``check --format`` prints."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
import pytest
from sarif_pydantic import Sarif

from inspector.__main__ import main
from inspector.cli.commands.schema import SHAPES, schema
from inspector.cli.parser import COMMANDS
from inspector.cli.run import command_parser

SAMPLES = Path(__file__).parents[2] / "resources" / "samples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the samples, which is the current folder."""
    shutil.copytree(SAMPLES, tmp_path / "samples")
    monkeypatch.chdir(tmp_path / "samples")
    Path("names.txt").write_text("Just text.\n")
    Path("1.txt").write_text("One.\n")
    return tmp_path / "samples"


LINES = {
    "list": [
        "two-chunks.rca plain.tar plain.zip weather",
        "--columns name,size plain.zip",
        "--count-by codec plain.zip",
    ],
    "dump": ["two-entries.tacozip", "--depth 2 journey.caf", "--at 50 two-entries.tacozip", "--raw names.txt"],
    "check": [". names.txt", "--readers two-resets-spec.rca", "--by-checksum plain.zip"],
    "compare": ["two-resets-spec.rca two-resets-rcarch.rca", "weather weather-missing-row", "plain.zip journey.caf"],
    "trace": ["two-chunks.rca", "--reader spec two-entries.tacozip"],
    "experiment": ["--flip 100:3 --damage lost-bytes --zero 20-24 --insert 5:00ff two-chunks.rca --to e.rca"],
    "replay": [
        "--set 0=157,1000 --matrix --at 2 --readers --to r.taco two-entries.tacozip",
        "--segments two-resets-spec.rca",
    ],
    "create": ["caf new.caf names.txt --catalog c.sqlite", "rca new.rca names.txt", "taco new.taco names.txt"],
    "append": ["two-chunks.rca names.txt"],
    "find": ["c.sqlite names.txt"],
    "header": ["two-entries.tacozip", "--set 0=157,100 --dry-run two-entries.tacozip", "--count 1 two-entries.tacozip"],
    "repair": [
        "--dry-run damaged-footer.caf",
        "--dry-run flipped-blob-byte.rca",
        "torn-after-write-2.tacozip",
        "--history torn-after-write-2.tacozip",
        "--take-back torn-after-write-2.tacozip",
        "--accept rca-drop-garbage torn-at-boundary.rca",
        "--dry-run weather-missing-row",
    ],
    "audit": ["."],
    "grep": ["a plain.tar", "-c a plain.tar", "-l --in names a plain.tar"],
    "scan": ["journey.caf"],
    "coverage": ["weather", "weather-later"],
    "entropy": ["two-chunks.rca"],
    "formats": ["", "--fields zip"],
}


def test_every_command_with_json_has_a_shape_and_lines() -> None:
    with_json = {name for name in COMMANDS if "--json" in command_parser(name).format_help()} | {"create"}
    assert with_json - {"help", "schema"} == SHAPES.keys() == LINES.keys()


@pytest.mark.usefixtures("folder")
def test_what_is_printed_has_the_shape_that_the_schema_says(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    schemas = json.loads(capfd.readouterr().out)
    seen: set[tuple[str, str]] = set()
    for name, lines in LINES.items():
        validator = jsonschema.Draft202012Validator(schemas[name])
        validator.check_schema(schemas[name])
        for line in lines:
            for more in ("--json", "--json-lines") if name == "dump" else ("--json",):
                status = main([name, *shlex.split(line), more])
                said = capfd.readouterr()
                assert status in (0, 1) or name == "check", (name, line, said.err)
                for printed in said.out.splitlines():
                    found: dict[str, Any] = json.loads(printed)
                    assert not list(validator.iter_errors(found)), (name, line, printed[:500])
                    fits = [
                        each["$ref"]
                        for each in schemas[name]["anyOf"]
                        if jsonschema.Draft202012Validator(each | {"$defs": schemas[name]["$defs"]}).is_valid(found)
                    ]
                    assert len(fits) == 1, (name, line, fits)
                    seen.add((name, fits[0].rpartition("/")[2]))
    every = {(name, shape.__name__) for name, shapes in SHAPES.items() for shape in shapes}
    assert every - seen == {("repair", "Interrupted")}


def test_a_key_too_many_or_too_few_is_none_of_it() -> None:
    validator = jsonschema.Draft202012Validator(schema("find"))
    line = {"source": "a", "path": "b", "offset": 0, "length": 1}
    assert validator.is_valid(line)
    assert not validator.is_valid(line | {"archive": "a"})
    assert not validator.is_valid({key: value for key, value in line.items() if key != "source"})


@pytest.mark.usefixtures("folder")
def test_sarif(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "sarif", ".", "s p#%.caf"]) == 2
    text = capfd.readouterr().out
    (run,) = Sarif.model_validate_json(text).runs
    assert main(["check", "--json", ".", "s p#%.caf"]) == 2
    checked = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert run.artifacts is not None
    assert run.results is not None
    assert len(run.artifacts) == len(checked)
    found = json.loads(text)["runs"][0]
    expected = [(each["source"], finding) for each in checked for finding in each["findings"]]
    states = {each["source"]: each["state"] for each in checked}
    levels: dict[str, list[str]] = {}
    rules = found["tool"]["driver"]["rules"]
    for result, (source, finding) in zip(found["results"], expected, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["code"]
        assert result["message"]["text"] == finding["message"]
        levels.setdefault(source, []).append(result["level"])
        assert result["level"] in (finding["severity"].replace("info", "note"), "error")
        places = [each["physicalLocation"] for each in result["locations"]]
        regions = [each["region"] for each in places if "region" in each]
        assert [[each["byteOffset"], each["byteOffset"] + each["byteLength"]] for each in regions] == finding["spans"]
        assert {each["artifactLocation"]["uri"] for each in places} == {
            source.replace(" ", "%20").replace("#%.", "%23%25.")
        }
    for source, told in levels.items():  # what makes the command fail is an error for those who read its levels
        assert ("error" in told) == (states[source] in ("torn", "damaged", "unreadable")), source
    assert {each["id"]: each for each in rules}["caf-footer"]["help"]["text"]
    assert all("shortDescription" in each for each in rules)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("more", "failing"), [([], {"damaged", "torn"}), (["--strict"], {"damaged", "torn", "warning"})]
)
def test_junit(capfd: pytest.CaptureFixture[str], tmp_path: Path, more: list[str], failing: set[str]) -> None:
    main(["check", "--json", ".", "nothing.caf"])
    checked = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    main(["check", "--format", "junit", ".", "nothing.caf", *more])
    (tmp_path / "out.xml").write_text(capfd.readouterr().out, encoding="utf-8")
    suites = junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml"))
    assert (suites.tests, suites.errors) == (len(checked), 1)
    assert suites.failures == sum(each["state"] in failing for each in checked)
    cases = [case for suite in suites for case in suite]
    for each, case in zip(checked, cases, strict=True):
        assert case.name == each["source"]
        assert (not case.is_passed) == (each["state"] in failing | {"unreadable"})


def test_a_hostile_name_breaks_neither_xml_nor_annotations(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a,b:c%\x01\n::error::<&.caf"
    path.write_bytes((SAMPLES / "gap.caf").read_bytes())
    assert main(["check", "--format", "github", str(path)]) == 0
    line, other = capfd.readouterr().out.splitlines()
    assert "title=member-content-broken::" in other
    assert line.startswith("::warning file=")
    assert "a%2Cb%3Ac%25" in line
    assert "%0A%3A%3Aerror" in line
    main(["check", "--format", "junit", str(path)])
    (tmp_path / "out.xml").write_text(capfd.readouterr().out, encoding="utf-8")
    assert junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml")).tests == 1
    main(["check", "--format", "sarif", str(path)])
    assert Sarif.model_validate_json(capfd.readouterr().out).runs
