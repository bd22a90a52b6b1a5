"""Names that collide, in every format alike."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Finding, Severity
from inspector.core.member import FOLDER, Members
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.operations.check import name_rules
from inspector.operations.check.checking import CheckReport, check_location
from inspector.operations.check.name_rules import report_names

Builder = Callable[[Path, list[str]], Path]


def reported(names: list[bytes], folders: tuple[int, ...] = ()) -> list[Finding]:
    members = Members(marks=True)
    for index, name in enumerate(names):
        members.append(name, index, index + 1, marks=FOLDER if index in folders else 0)
    archive = Archive(BytesSource(bytes(len(names))), "x", "x", (), members)
    report_names(archive, Emitter(archive), Progress())
    return archive.findings


def codes(found: list[Finding]) -> list[tuple[str, int | None]]:
    return [(finding.code, finding.member) for finding in found]


@pytest.fixture(params=[0, 10**9], ids=["numpy", "plain"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of comparing hashes."""
    monkeypatch.setattr(name_rules, "_MAX_WITHOUT_NUMPY", request.param)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("names", "code", "words"),
    [
        (["a", "A"], "name-collision", "only in case"),
        (["caf\u00e9", "cafe\u0301"], "name-collision", "only in Unicode normalisation"),
        (["a/b", "./A//b"], "name-collision", "only in case or in notation"),
        (["a", "b", "a"], "name-duplicate", "more than once"),
        (["a", "b", "a/b/c"], "name-file-and-folder", "'a/b/c' needs it to be a folder"),
        (["a/B", "a/b/c"], "name-file-and-folder", "needs it to be a folder"),
        (["a", "a/"], "name-file-and-folder", "needs it to be a folder"),
    ],
)
def test_names_that_collide_are_a_warning(names: list[str], code: str, words: str) -> None:
    (finding,) = reported([name.encode() for name in names])
    assert (finding.severity, finding.code) == (Severity.WARNING, code)
    assert words in finding.message
    assert len(finding.spans) == 2


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "names",
    [
        [],
        [""],
        ["a", "b"],
        ["a/b", "a/c", "A/d"],
        ["a/", "a/b"],
        ["a/", "a/"],
        ["a/", "A/", "a/x"],
        ["a", "a!", "ab/c"],
    ],
)
def test_names_that_do_not_collide_are_no_finding(names: list[str]) -> None:
    assert reported([name.encode() for name in names]) == []


def test_a_folder_told_by_its_mark_is_a_folder() -> None:
    assert reported([b"a", b"a/b"], folders=(0,)) == []
    assert codes(reported([b"a", b"a"], folders=(0,))) == [("name-file-and-folder", 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_collisions_are_found_across_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_rules, "_MEMBERS_PER_BLOCK", size)
    names = [b"x/1", b"b", b"A", b"d", b"a", b"d/e", b"f", b"g:h"]
    assert sorted(codes(reported(names)), key=str) == [
        ("name-collision", 4),
        ("name-file-and-folder", 3),
    ]


def test_the_findings_of_one_kind_are_bounded() -> None:
    found = reported([b"same"] * 3_000)
    assert len(found) == 1_001
    assert "1,999 more" in found[-1].message


def test_comparing_can_be_cancelled() -> None:
    progress = Progress()
    progress.cancel()
    archive = Archive(BytesSource(b""), "x", "x", ())
    with pytest.raises(Cancelled):
        report_names(archive, Emitter(archive), progress)


def caf(folder: Path, names: list[str]) -> Path:
    path = folder / "names.caf"
    files = {name: {"start_byte": at, "end_byte": at + 1} for at, name in enumerate(names)}
    index = json.dumps({"format_version": "1.0", "files": files}, ensure_ascii=False).encode()
    path.write_bytes(b"x" * len(names) + index + len(index).to_bytes(4, "little"))
    return path


def zipped(folder: Path, names: list[str]) -> Path:
    path = folder / "names.zip"
    with zipfile.ZipFile(path, "w") as target:
        for name in names:
            target.writestr(name, b"x")
    return path


def tarred(folder: Path, names: list[str]) -> Path:
    path = folder / "names.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as target:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 1
            target.addfile(info, io.BytesIO(b"x"))
    return path


def check(path: Path) -> CheckReport:
    return check_location(str(path), Progress())


each_builder = pytest.mark.parametrize("builder", [caf, zipped, tarred])


@each_builder
def test_collisions_lead_to_the_names_in_every_format(builder: Builder, tmp_path: Path) -> None:
    path = builder(tmp_path, ["docs/Readme", "docs/other", "docs/README"])
    report = check(path)
    (finding,) = (finding for finding in report.archives[0].findings if finding.code == "name-collision")
    data = path.read_bytes()
    assert [data[start:stop].strip(b'"\0') for start, stop in finding.spans] == [b"docs/Readme", b"docs/README"]
    assert finding.member == 2
    assert report.state is State.WARNING


def test_what_decoding_said_is_not_said_again(tmp_path: Path) -> None:
    path = tmp_path / "twice.caf"
    entry = '{"start_byte": 0, "end_byte": 1}'
    index = f'{{"format_version": "1.0", "files": {{"a": {entry}, "a": {entry}}}}}'.encode()
    path.write_bytes(b"x" + index + len(index).to_bytes(4, "little"))
    found = {finding.code for finding in check(path).archives[0].findings}
    assert "caf-duplicate-name" in found
    assert "name-duplicate" not in found
