"""An audit: everything once, nothing twice, and one bad archive harms no other."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.audit import audit
from inspector.operations.audit.audit import Job, Plan, Todo, examine, prepare, run
from inspector.operations.audit.results import Results
from inspector.operations.audit.targets import archives_in
from inspector.operations.check.checking import check_location
from inspector.operations.protocol.audit_views import NO_ARCHIVE, UNCHECKED, Amount, Result
from tests.formats.datas3t.range_building import points, put_range
from tests.operations.archives import caf
from tests.operations.extract.extracting import tar, zipped
from tests.operations.jobs import bad_workers

Sample = Callable[[str], Path]
NAMES = ("journey.caf", "gap.caf", "flipped-member-byte.tacozip", "two-chunks.rca", "plain.tar")


@pytest.fixture
def place(tmp_path: Path, sample: Sample) -> Path:
    """A folder of archives, one a folder deeper, and a text that is none."""
    folder = tmp_path / "place"
    (folder / "deeper").mkdir(parents=True)
    for name in NAMES:
        shutil.copy(sample(name), folder)
    shutil.copy(sample("torn-at-boundary.rca"), folder / "deeper")
    (folder / "notes.txt").write_text("no archive")
    return folder


def audited(place: Path, results: Results, **options: object) -> tuple[Todo, list[Result]]:
    """What there was to do, and what came of it."""
    plan = Plan((str(place),), **options)  # type: ignore[arg-type]
    progress = Progress()
    todo = prepare(plan, results, progress)
    came = list(run(plan, results, progress, 2))
    assert progress.done == progress.total
    return todo, came


def states(results: Results) -> dict[str, str]:
    return {Path(each.location).name: each.state for each in results.results()}


def attempts(results: Results) -> dict[str, int]:
    return {Path(each.location).name: each.attempts for each in results.results()}


def test_every_archive_of_a_folder_is_checked(place: Path) -> None:
    with Results() as results:
        todo, came = audited(place, results)
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        assert todo == Todo(Amount(), Amount(7, size))
        assert sorted(each.location for each in came) == sorted(each.location for each in results.results())
        assert states(results) == {
            "journey.caf": "sound",
            "gap.caf": "warning",
            "flipped-member-byte.tacozip": "damaged",
            "two-chunks.rca": "sound",
            "plain.tar": "sound",
            "torn-at-boundary.rca": "torn",
            "notes.txt": NO_ARCHIVE,
        }
        (damaged,) = (each for each in results.results() if each.state == "damaged")
        assert (damaged.format, damaged.members, damaged.errors, damaged.code) == ("taco", 5, 1, "cause-flipped-bit")
        assert damaged.as_object()["findings"][0]["severity"] == Severity.ERROR


@pytest.mark.usefixtures("in_this_process")
def test_what_is_finished_is_not_done_again(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    with Results(file) as results:
        audited(place, results)
        before = {each.location: each.finished for each in results.results()}
    with Results(file) as results:
        todo, came = audited(place, results)
        assert (todo.earlier.files, todo.left, came) == (7, Amount(), [])
        assert {each.location: each.finished for each in results.results()} == before


@pytest.mark.usefixtures("in_this_process")
def test_an_audit_that_is_stopped_goes_on_where_it_was(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    plan = Plan((str(place),))
    with Results(file) as results:
        prepare(plan, results, Progress())
        work = run(plan, results, Progress(), 1)
        first = {next(work).location, next(work).location}
        work.close()
    with Results(file) as results:
        todo, came = audited(place, results)
        assert (todo.earlier.files, todo.left.files) == (2, 5)
        assert not first & {each.location for each in came}
        assert set(attempts(results).values()) == {1}


@pytest.mark.usefixtures("in_this_process")
def test_what_has_changed_is_done_again(place: Path, tmp_path: Path) -> None:
    with Results(tmp_path / "results.sqlite") as results:
        audited(place, results)
        caf(place / "journey.caf")
        state = (place / "gap.caf").stat()
        os.utime(place / "gap.caf", ns=(state.st_atime_ns, state.st_mtime_ns + 1))
        (place / "plain.tar.sha256").write_text("0" * 64 + "  readme.txt\n")
        (place / "two-chunks.rca").unlink()
        _, came = audited(place, results)
        assert {Path(each.location).name for each in came} == {"journey.caf", "gap.caf", "plain.tar"}
        assert attempts(results)["journey.caf"] == 2
        assert "two-chunks.rca" not in states(results), "what is gone is no part of this audit"


@pytest.mark.usefixtures("in_this_process")
def test_what_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    missing = tmp_path / "place" / "gone.caf"
    missing.parent.mkdir()
    with Results(tmp_path / "results.sqlite") as results:
        plan = Plan((str(missing.parent),))
        caf(missing)
        prepare(plan, results, Progress())
        kept = missing.rename(tmp_path / "elsewhere")
        (came,) = run(plan, results, Progress())
        assert (came.state, came.code, came.again) == ("unreadable", "unreadable", True)
        kept.rename(missing)
        assert [each.state for each in audited(missing.parent, results)[1]] == ["sound"]


@pytest.mark.usefixtures("in_this_process")
def test_a_quick_audit_reads_the_structure_and_calls_nothing_sound(place: Path, tmp_path: Path) -> None:
    with Results(tmp_path / "results.sqlite") as results:
        audited(place, results, quick=True)
        quick = Counter(states(results).values())
        assert quick == {UNCHECKED: 4, "warning": 1, "torn": 1, NO_ARCHIVE: 1}
        _, came = audited(place, results)
        assert len(came) == 7, "a whole audit does not rest on a quick one"
        assert audited(place, results, quick=True)[1] == [], "but a quick one rests on a whole one"
        assert states(results)["journey.caf"] == "sound"


@pytest.mark.usefixtures("in_this_process")
def test_where_a_place_is_called_otherwise_the_names_are_the_same(place: Path) -> None:
    moved = place.rename(place.with_name("moved"))
    assert {each.name for each in archives_in(str(moved))} == {*NAMES, "deeper/torn-at-boundary.rca", "notes.txt"}


def test_an_archive_that_ends_its_process_is_a_result(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_work", bad_workers.end_with_a_gap)
    with Results(tmp_path / "results.sqlite") as results:
        audited(place, results)
        found = {Path(each.location).name: each for each in results.results()}
        assert Counter(each.state for each in found.values())["unreadable"] == 2
        assert "SIGKILL" in found["gap.caf"].sentence
        assert "memory" in found["plain.tar"].sentence
        assert found["two-chunks.rca"].state == "sound"
        monkeypatch.undo()
        assert audited(place, results)[1] == [], "it is not tried again, since it would end the process again"


def test_an_archive_that_comes_no_further_is_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_work", bad_workers.hang_with_a_gap)
    with Results() as results:
        plan = Plan((str(place),))
        prepare(plan, results, Progress())
        list(run(plan, results, Progress(), 2, patience=3.0))
        assert states(results)["gap.caf"] == "unreadable"
        assert Counter(states(results).values())["unreadable"] == 1


@pytest.mark.usefixtures("in_this_process")
def test_only_the_worst_findings_are_kept_and_all_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_STORED_FINDINGS", 2)
    contents = {f"../{number}": b"x" for number in range(5)}
    found = next(archives_in(str(caf(tmp_path / "a.caf", contents, gap=b"gap"))))
    result = examine(Job(found), Progress()).result
    assert len(result.as_object()["findings"]) == 2
    assert result.errors + result.warnings + result.infos > 2


@pytest.mark.usefixtures("in_this_process")
def test_a_name_that_is_no_text_is_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    path = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.caf"))
    caf(path)
    with Results(tmp_path / "results.sqlite") as results:
        (came,) = audited(folder, results)[1]
        assert (came.location, came.state) == (str(path), "sound")
        assert [each.location for each in results.results()] == [str(path)]
        assert audited(folder, results)[1] == []


@pytest.mark.usefixtures("in_this_process")
def test_what_the_audit_writes_is_no_part_of_it(place: Path) -> None:
    with Results(place / "results.sqlite") as results:
        _, came = audited(place, results)
        assert len(came) == 7


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    with Results() as results, pytest.raises(SourceError, match="does not exist"):
        prepare(Plan((str(tmp_path / "nothing"),)), results, Progress())


@pytest.mark.usefixtures("in_this_process")
def test_one_file_is_a_place_too(sample: Sample) -> None:
    with Results() as results:
        (came,) = audited(sample("journey.caf"), results)[1]
        assert came.state == "sound"


@pytest.mark.usefixtures("in_this_process")
def test_ranges_that_share_keys_are_damaged_as_in_a_check_of_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "dataset" / "weather" / "datapoints"
    paths = [put_range(folder, points(1, 20)), put_range(folder, points(15, 34)), put_range(folder, points(40, 44))]
    assert check_location(str(tmp_path), Progress()).state is State.DAMAGED
    with Results() as results:
        audited(tmp_path, results)
        assert states(results) == {paths[0].name: "damaged", paths[1].name: "damaged", paths[2].name: "sound"}
        (code,) = {each.code for each in results.results() if each.state == "damaged"}
        assert code == "datas3t-range-overlap"
        assert all("the keys 15 to 20" in each.findings for each in results.results() if each.errors)


@pytest.mark.usefixtures("in_this_process")
def test_a_range_is_judged_again_once_another_shares_its_keys(tmp_path: Path) -> None:
    folder, stored = tmp_path / "datapoints", tmp_path / "audit.sqlite"
    first = put_range(folder, points(1, 20))
    with Results(stored) as results:
        audited(folder, results)
        assert states(results) == {first.name: "sound"}
    second = put_range(folder, points(20, 22))
    with Results(stored) as results:
        assert len(audited(folder, results)[1]) == 2
        assert states(results) == {first.name: "damaged", second.name: "damaged"}
    second.unlink()
    second.with_name(second.name + ".metadata").unlink()
    with Results(stored) as results:
        assert len(audited(folder, results)[1]) == 1
        assert states(results) == {first.name: "sound"}


@pytest.mark.usefixtures("in_this_process")
def test_an_overlap_adds_to_what_is_wrong_with_a_range(tmp_path: Path) -> None:
    first = put_range(tmp_path, points(1, 20))
    put_range(tmp_path, points(20, 22))
    data = first.read_bytes()
    first.write_bytes(data.replace(b"point 3", b"p0int 3", 1))
    with Results() as results:
        audited(tmp_path, results)
        (worse,) = (each for each in results.results() if each.location == str(first))
    assert worse.errors == 2
    assert "19 of 20 datapoints are verified" in worse.sentence
    assert "overlap" in worse.sentence


@pytest.mark.usefixtures("in_this_process")
def test_an_archive_inside_another_is_audited_by_itself(tmp_path: Path) -> None:
    outer = tmp_path / "outer.tar"
    outer.write_bytes(tar([("deep/inner.zip", zipped([("a", b"alpha")])), ("other", b"no archive")]))
    inside = f"{outer}!/deep/inner.zip"
    with Results() as results:
        _, came = audited(Path(inside), results)
    assert [(each.location, each.state) for each in came] == [(inside, "sound")]
    stamps = [next(archives_in(inside)).stamp]
    outer.write_bytes(outer.read_bytes() + bytes(512))
    os.utime(outer, ns=(1, 1))
    assert next(archives_in(inside)).stamp not in stamps
