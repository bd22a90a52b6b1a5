"""README and manual keep their promises: the table of formats, the examples, the commands, the keys, the links.

``pytest tests/test_docs.py --golden`` rewrites the tables and the output of the examples.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli.commands.help import shown_by
from inspector.cli.parser import COMMANDS as SUB_COMMANDS
from inspector.core import codes
from inspector.core.finding import FindingType
from inspector.core.program.progress import Progress
from inspector.formats import FORMATS
from inspector.gui.app.actions.actions import ACTIONS
from inspector.operations.diagram.drawing import Shades, diagram_svg
from inspector.operations.diagram.shape import diagram_of_all
from inspector.operations.open.listing import load
from inspector.operations.protocol.experiment_views import DAMAGES
from inspector.resources import manual_pages, samples

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
MAX_README_BYTES = 12_000
"""Three minutes of reading; what takes longer goes into the manual."""
MANUAL = ROOT / "resources" / "manual"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(MANUAL.glob("*.md"))]
EXAMPLE = re.compile(r"(?<=```console\n)\$ archive-inspector (.*)\n((?:.*\n)*?)(?=```)")
FINDINGS = re.compile(r"(?<=<!-- findings -->\n)((?:.*\n)*?)(?=<!-- /findings -->)")
TABLE = re.compile(r"(?<=<!-- formats -->\n)((?:.*\n)*?)(?=<!-- /formats -->)")

BYTES = re.compile(r"<!-- bytes: (\S+) -->\n((?:\|.*\n)+)")
PICTURES = MANUAL / "pictures"
PICTURE_WIDTH = 700
"""What the manual has room for in the window."""
DRAWN = {
    "rca": "two-chunks.rca",
    "rca-torn": "torn-at-boundary.rca",
    "caf": "journey.caf",
    "caf-gap": "gap.caf",
    "taco": "two-entries.tacozip",
    "taco-torn": "torn-after-write-2.tacozip",
    "datas3t": "weather",
    "datas3t-missing-row": "weather-missing-row",
}
"""The pictures of the manual, and the samples that they show."""

Output = Callable[[str], str]
Written = Callable[[Path, str], None]


@pytest.fixture
def output(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Output:
    """What the program writes to standard output for a line of arguments, run beside the resources."""
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        words = shlex.split(line)
        # Examples of two equal files, of readers that agree, and of changes that damage nothing would show nothing.
        assert main(words) == (words[0] in ("compare", "trace", "experiment"))
        return capfd.readouterr().out

    return run


def everything() -> str:
    """The text of all pages."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_the_table_of_formats_is_what_the_program_knows(output: Output, written: Written) -> None:
    rows = ["| name | format | suffixes | limitations |", "|---|---|---|---|"]
    for line in output("formats --json").splitlines():
        known = json.loads(line)
        suffixes = " ".join(f"`{suffix}`" for suffix in known["suffixes"])
        rows.append(f"| `{known['name']}` | {known['title']} | {suffixes} | {' '.join(known['limitations'])} |")
    table = "\n".join(rows) + "\n"
    page = MANUAL / "formats.md"

    written(page, TABLE.sub(lambda _: table, page.read_text(encoding="utf-8")))


def test_the_page_of_findings_has_every_one_that_is_declared(written: Written) -> None:
    formats: dict[FindingType, list[str]] = {}
    for known in FORMATS:
        for each in known.findings:
            formats.setdefault(each, []).append(known.title)
    tables: dict[str, list[FindingType]] = {"In any archive": [*codes.FINDINGS]}
    for each, titles in formats.items():
        tables.setdefault(", ".join(titles), []).append(each)
    lines = []
    for heading, found in tables.items():
        lines += [f"## {heading}", "", "| code | severity | what it means, and what to do |", "|---|---|---|"]
        lines += [f"| `{each.code}` | {each.severity} | {each.explanation} |" for each in found]
        lines.append("")
    text = "\n".join(lines)
    page = MANUAL / "findings.md"

    written(page, FINDINGS.sub(lambda _: text, page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_print_what_they_show(page: Path, output: Output, written: Written) -> None:
    text = page.read_text(encoding="utf-8")

    written(page, with_outputs(text, output))


def test_the_command_that_help_names_for_a_code_shows_it(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``--golden``, samples and damages of them are tried until each code that one shows has a command."""
    monkeypatch.chdir(ROOT / "resources" / "samples")

    def codes_of(words: list[str]) -> set[str]:
        capfd.readouterr()
        main([*words, "--json"])
        found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        return {each["code"] for found_object in found for each in found_object.get("findings", ())}

    kept = ROOT / "resources" / "manual" / "shown.txt"
    if request.config.getoption("--golden"):
        made: dict[str, list[str]] = {}
        for words in shows():
            for code in codes_of(words):
                made.setdefault(code, words)
        kept.write_text("".join(f"{code}\t{shlex.join(words)}\n" for code, words in sorted(made.items())))
    for code, words in shown_by().items():
        assert code in codes_of(words), code


def shows() -> Iterator[list[str]]:
    """Commands that show damage: of the samples as they are, and of each file in them with one damage."""
    yield from (["check", path.name] for path in samples())
    files = [path for path in sorted(Path().rglob("*")) if path.is_file() and path.suffix != ".md"]
    steps = [["--damage", f"{name}:{seed}"] for seed in range(6) for name in DAMAGES]
    steps += [["--cut", "0"], ["--cut", "end-1"], ["--insert", "0:00"], ["--zero", "0-4"], ["--zero", "end-4-end"]]
    steps += [["--duplicate", "0-"], ["--insert", "0:efbbbf"], ["--flip", "end-1:7"], ["--flip", "end-4:0"]]
    yield from (["experiment", str(path), *step] for step in steps for path in files)


def with_outputs(text: str, output: Output) -> str:
    """A page whose examples show what they print; the fence stands on a line of its own also behind an unended line."""

    def shown(found: re.Match[str]) -> str:
        printed = output(found[1])
        return f"$ archive-inspector {found[1]}\n{printed}" + "\n" * (printed[-1:] not in ("", "\n"))

    return EXAMPLE.sub(shown, text)


@pytest.mark.parametrize("printed", ["", "one", "one\n"])
def test_an_example_does_not_swallow_its_fence(printed: str) -> None:
    page = "before\n```console\n$ archive-inspector cat A B\nold\n```\nafter\n"
    once = with_outputs(page, lambda _: printed)
    assert once.endswith("\n```\nafter\n")
    assert with_outputs(once, lambda _: printed) == once


def test_every_shipped_sample_is_described() -> None:
    described = re.findall(
        r"^\| `([^`]+)` \|", (ROOT / "resources" / "samples" / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert sorted(described) == sorted(path.name for path in samples())


def test_bytes_that_are_explained_are_those_of_the_sample() -> None:
    explained = 0
    for page in PAGES:
        for name, table in BYTES.findall(page.read_text(encoding="utf-8")):
            data = (ROOT / "resources" / "samples" / name).read_bytes()
            for offset, wanted in re.findall(r"^\| 0x([0-9a-f]{4}) \| `([0-9A-F ]+)` \|", table, re.MULTILINE):
                found = bytes.fromhex(wanted)
                assert data[int(offset, 16) :][: len(found)] == found, (page.name, offset)
                explained += 1
    assert explained == sum(page.read_text(encoding="utf-8").count("\n| 0x") for page in PAGES) >= 30


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_of_the_manual_are_what_the_program_draws(name: str, written: Written) -> None:
    diagram = diagram_of_all(load(str(ROOT / "resources" / "samples" / DRAWN[name]), Progress()))
    assert diagram is not None
    written(PICTURES / f"{name}.svg", diagram_svg(diagram, Shades(), width=PICTURE_WIDTH, alone=True))
    assert f"(pictures/{name}.svg)" in everything()


def test_there_are_no_other_pictures_and_they_are_small() -> None:
    assert {path.stem for path in PICTURES.iterdir()} == set(DRAWN)
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 100_000


def test_there_are_examples() -> None:
    assert len(EXAMPLE.findall(everything())) >= 8


def test_every_sub_command_is_named() -> None:
    text = everything()

    assert [name for name in SUB_COMMANDS if f"archive-inspector {name}" not in text] == []


def test_the_keys_are_the_windows() -> None:
    text = everything()
    named = set(re.findall(r"(?:(?:Ctrl|Alt|Shift)\+)+\w+|\bF\d+\b", text))
    standard = {"Ctrl+O", "Ctrl+N", "Ctrl+W", "Ctrl+Q", "Ctrl+F", "Ctrl+C", "Ctrl+S", "Ctrl+Z", "Alt+Left", "Alt+Right"}
    own = {key for command in ACTIONS for key in command.keys if isinstance(key, str)}

    assert named - standard <= own


def test_the_readme_takes_three_minutes() -> None:
    assert README.stat().st_size <= MAX_README_BYTES


def test_both_commands_are_there_once() -> None:
    text = README.read_text(encoding="utf-8")

    assert text.count("\n<!-- command: run -->\n```sh\n") == 1
    assert text.count("\n<!-- command: test -->\n```sh\n") == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_pages_that_the_manual_links_to_are_in_it() -> None:
    pages = {page.name for page in manual_pages()}
    linked = {found for page in MANUAL.glob("*.md") for found in re.findall(r"\]\((\w+\.md)\)", page.read_text())}

    assert linked <= pages == {page.name for page in MANUAL.glob("*.md")}


def test_files_that_contributors_are_sent_to_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:inspector|tests|resources|\.ci)/[\w./-]*)`", text))

    assert named
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_variable_of_the_program_is_in_the_manual() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "inspector").rglob("*.py"))
    rows = re.findall(
        r"^\| `(ARCHIVE_INSPECTOR_[A-Z_]+)` \|", (MANUAL / "terminal.md").read_text("utf-8"), re.MULTILINE
    )

    assert sorted(rows) == sorted(set(re.findall(r'"(ARCHIVE_INSPECTOR_[A-Z_]+)"', sources)))
