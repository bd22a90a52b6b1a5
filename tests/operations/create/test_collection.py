import os
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.core.collection import Collection, Fate
from inspector.core.finding import Severity, first_sentence
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.audit.targets import archives_in, expanded
from inspector.operations.check import sharing
from inspector.operations.check.checking import check_location, read_names
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import gap_in, open_collection
from inspector.operations.open.listing import AmbiguousMemberError, find_member, load
from inspector.operations.protocol.views import Stage
from inspector.operations.session.archive_session import ArchiveSession
from tests.formats.tar.tar_building import build


def put(folder: Path, ranges: Sequence[tuple[int, int]], counter: str = "", beside: str = ".tar.metadata") -> None:
    folder.mkdir(parents=True)
    for first, last in ranges:
        name = f"{first:020d}-{last:020d}{counter}"
        (folder / f"{name}.tar").write_bytes(build([(f"{key:020d}.txt", b"x") for key in range(first, last + 1)]))
        (folder / f"{name}{beside}").write_bytes(b"")


def collected(folder: Path) -> Collection:
    found = open_collection(folder)
    assert found is not None
    return found


def keys(collection: Collection) -> list[tuple[str, int, int]]:
    return [(each.dataset, each.first, each.last) for each in collection.ranges]


def test_a_bucket_opens_from_its_root_and_from_every_folder_on_the_way(tmp_path: Path) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", [(11, 12), (1, 10)])
    for folder in ("", "dataset", "dataset/weather", "dataset/weather/datapoints"):
        found = collected(tmp_path / folder)
        assert found.datasets == ("weather",)
        assert keys(found) == [("weather", 1, 10), ("weather", 11, 12)]
        assert found.findings == ()
        assert found.title == "1 dataset, 2 ranges"
        assert found.prefix(0) == b"weather/" + b"%020d-%020d.tar/" % (1, 10)


def test_the_later_layout(tmp_path: Path) -> None:
    put(tmp_path / "datas3t" / "weather" / "dataranges", [(1, 10)], "-000000000007", ".index")
    for folder in ("", "datas3t", "datas3t/weather", "datas3t/weather/dataranges"):
        found = collected(tmp_path / folder)
        assert keys(found) == [("weather", 1, 10)]
        assert found.ranges[0].beside.endswith("-000000000007.index")


def test_datasets_are_sorted(tmp_path: Path) -> None:
    for name in ("wind", "rain"):
        put(tmp_path / "dataset" / name / "datapoints", [(1, 2)])
    found = collected(tmp_path)
    assert found.datasets == ("rain", "wind")
    assert found.title == "2 datasets, 2 ranges"


def test_a_folder_opens_as_one_archive_a_range(tmp_path: Path) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", [(1, 2), (6, 8)])
    archives = load(str(tmp_path), Progress())
    assert [archive.format for archive in archives] == ["datas3t", "datas3t"]
    assert [member.path for member in archives[1].members] == [b"%020d.txt" % key for key in (6, 7, 8)]
    assert [archive.source.size for archive in archives] == [each.size for each in collected(tmp_path).ranges]
    assert archives[0].findings[0].code == "datas3t-range-gap"


def test_a_session_shows_datasets_ranges_and_datapoints(tmp_path: Path) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", [(1, 2), (3, 5)])
    session = ArchiveSession(str(tmp_path))
    session.decode(Progress())
    status = session.status()
    assert (status.collection, status.members) == (True, 5)
    assert status.sentence.startswith("1 dataset, 2 ranges, ")
    assert session.member(4).name == "weather/" + f"{3:020d}-{5:020d}.tar/{5:020d}.txt"


def test_a_folder_without_ranges_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="without datas3t ranges"):
        load(str(tmp_path), Progress())
    folder = tmp_path / "datapoints"
    put(folder, [(1, 2)])
    (folder / f"{1:020d}-{2:020d}.tar").unlink()
    with pytest.raises(SourceError, match="orphan"):
        load(str(tmp_path), Progress())


@pytest.mark.parametrize("beside", [".tar.metadata", ".index"])
def test_a_dataset_of_which_only_metadata_is_left_is_damaged(tmp_path: Path, beside: str) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", [(1, 2), (5, 6)], beside=beside)
    for tar in tmp_path.rglob("*.tar"):
        tar.unlink()
    (wanted,) = expanded([str(tmp_path)])
    report = check_location(wanted.location, Progress())
    assert (report.state, report.format, report.no_archive) == (State.DAMAGED, "datas3t", False)
    assert [each.code for each in report.findings] == ["datas3t-metadata-orphan"] * 2
    assert report.sentence.startswith("Damaged: ")
    session = ArchiveSession(str(tmp_path))
    session.decode(Progress())
    status = session.status()
    assert (status.stage, status.state, status.sentence) == (Stage.FAILED, State.DAMAGED, report.sentence)
    (shown,) = session.datasets()
    assert [(each.first, each.last) for each in shown.orphans] == [(1, 2), (5, 6)]
    with pytest.raises(OperationError, match="contains no range"):
        session.check(Progress())
    with pytest.raises(OperationError, match="No range holds key 5"):
        session.find_datapoint(Progress(), "key 5")


@pytest.mark.parametrize(
    ("ranges", "severity", "words"),
    [
        ([(1, 20), (15, 34)], Severity.ERROR, "overlap"),
        ([(1, 20), (2, 3), (20, 30)], Severity.ERROR, "share key 20"),
        ([(1, 10), (21, 30)], Severity.INFO, "gap between ranges"),
        ([(1, 10), (12, 30)], Severity.INFO, "key 11"),
    ],
)
def test_overlaps_and_gaps_between_ranges(
    tmp_path: Path, ranges: Sequence[tuple[int, int]], severity: Severity, words: str
) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", ranges)
    found = collected(tmp_path)
    findings = [*found.findings, *(overlap.finding for overlap in found.overlaps)]
    assert {finding.severity for finding in findings} == {severity}
    assert any(words in finding.message for finding in findings)


@pytest.mark.parametrize(
    ("ranges", "sentence"),
    [
        ([(1, 10), (11, 30)], ""),
        ([(1, 10), (21, 30)], "No range of the dataset weather has the keys 11 to 20."),
        ([(1, 2), (4, 5), (7, 8)], "No range of the dataset weather has key 3, and there is 1 more gap."),
        ([(1, 2), (4, 5), (7, 8), (10, 11)], "No range of the dataset weather has key 3, and there are 2 more gaps."),
    ],
)
def test_the_first_sentence_names_the_keys_that_are_missing(
    tmp_path: Path, ranges: Sequence[tuple[int, int]], sentence: str
) -> None:
    put(tmp_path / "dataset" / "weather" / "datapoints", ranges)
    gap = gap_in(collected(tmp_path))
    assert (first_sentence(gap.message) if gap is not None else "") == sentence


def test_an_overlap_leads_to_the_headers_of_the_shared_keys(tmp_path: Path) -> None:
    put(tmp_path / "dataset" / "rain" / "datapoints", [(1, 9)])
    put(tmp_path / "dataset" / "weather" / "datapoints", [(1, 5), (4, 7), (8, 9)])
    archives = load(str(tmp_path), Progress())
    found = [[each for each in archive.findings if each.code == "datas3t-range-overlap"] for archive in archives]
    assert [len(each) for each in found] == [0, 0, 1, 0]
    data = Path(archives[2].source.name).read_bytes()
    assert [data[start : start + 20] for start, _ in found[2][0].spans] == [b"%020d" % key for key in (4, 5)]
    assert {span.size for span in found[2][0].spans} == {512}


def test_an_overlap_that_only_the_names_tell_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "dataset" / "weather" / "datapoints"
    put(folder, [(1, 5), (4, 7)])
    (folder / f"{4:020d}-{7:020d}.tar").write_bytes(bytes(1_024))
    (found,) = (each for each in load(str(tmp_path), Progress())[1].findings if each.code == "datas3t-range-overlap")
    assert found.spans == ()
    assert found.message.endswith("This follows from their names: this one has no member with such a key.")


def uploads(root: Path, *names: tuple[int, int, int], dataset: str = "weather", content: str = "x") -> list[Path]:
    """Uploads of the later layout: first key, last key, counter."""
    folder = root / "datas3t" / dataset / "dataranges"
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for first, last, upload in names:
        made.append(folder / f"{first:020d}-{last:020d}-{upload:012d}.tar")
        keys = range(first, last + 1)
        made[-1].write_bytes(build([(f"{key:020d}.txt", content.encode()) for key in keys]))
        rows = (struct.pack(">QH", 1024 * at, 1) + len(content).to_bytes(6, "big") for at, _ in enumerate(keys))
        made[-1].with_suffix(".index").write_bytes(b"".join(rows))
    return made


@pytest.mark.parametrize(
    ("names", "fates"),
    [
        ([(1, 20, 3), (1, 10, 1), (11, 20, 2)], ["superseded 3", "live None", "superseded 3"]),
        ([(1, 20, 3), (1, 10, 1)], ["live None", "live None"]),  # the aggregate has more than it replaces
        ([(1, 20, 1), (1, 10, 2), (11, 20, 3)], ["live None", "live None", "live None"]),
        ([(1, 10, 1), (1, 10, 2)], ["repeated 2", "live None"]),
        ([(1, 5, 1), (1, 5, 2), (6, 9, 3), (1, 9, 4)], ["superseded 4", "superseded 4", "live None", "superseded 4"]),
        (
            [(1, 2, 1), (3, 4, 2), (1, 4, 3), (5, 6, 4), (1, 6, 5)],
            ["superseded 5"] * 2 + ["live None"] + ["superseded 5"] * 2,
        ),
        ([(1, 10, 1), (8, 20, 2)], ["live None", "live None"]),
    ],
)
def test_what_names_tell_of_uploads(tmp_path: Path, names: list[tuple[int, int, int]], fates: list[str]) -> None:
    uploads(tmp_path, *names)
    assert [f"{each.fate} {each.by}" for each in collected(tmp_path).ranges] == fates


def test_an_aggregate_and_what_it_replaced_are_no_damage(tmp_path: Path) -> None:
    uploads(tmp_path, (1, 2, 1), (3, 4, 2), (1, 4, 3), (5, 6, 4), (5, 6, 5))
    report = check_location(str(tmp_path), Progress())
    said = [each for archive in report.archives for each in archive.findings]
    assert report.state is State.SOUND
    assert {(each.code, each.severity) for each in said} == {("datas3t-range-superseded", Severity.INFO)}
    assert sum("Their contents are equal." in each.message for each in said) == 3
    assert not any("remove" in f"{each.message} {each.advice}" for each in said)
    assert {each.overlaps for each in archives_in(str(tmp_path))} == {""}


def test_only_contents_that_differ_are_a_conflict(tmp_path: Path) -> None:
    uploads(tmp_path, (1, 2, 1))
    uploads(tmp_path, (1, 2, 2), content="y")
    assert read_names(str(tmp_path)).state is State.SOUND
    report = check_location(str(tmp_path), Progress())
    (conflict,) = (each for archive in report.archives for each in archive.findings if each.severity is Severity.ERROR)
    assert (report.state, conflict.code) == (State.DAMAGED, "datas3t-range-conflict")
    assert "different contents under key 1, and under 1 more" in conflict.message
    assert len(conflict.spans) == 2


def test_uploads_that_share_some_keys_are_not_decided_by_their_names(tmp_path: Path) -> None:
    uploads(tmp_path, (1, 3, 1), (3, 4, 2))
    report = check_location(str(tmp_path), Progress())
    (said,) = (each for archive in report.archives for each in archive.findings)
    assert (report.state, said.code) == (State.WARNING, "datas3t-range-overlap")
    assert said.message.endswith("share key 3. Their contents are equal.")
    assert read_names(str(tmp_path)).state is State.WARNING


def test_what_could_not_be_read_is_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads(tmp_path, (1, 2, 1), (1, 2, 2))

    def unread(*_: object) -> bool:
        raise SourceError("The server is silent.")

    monkeypatch.setattr(sharing, "same_content", unread)
    report = check_location(str(tmp_path), Progress())
    said = [each.message for archive in report.archives for each in archive.findings]
    assert report.state is State.SOUND
    assert not any("equal" in each or "different" in each for each in said)


def test_an_upload_of_which_half_is_there_may_be_in_progress(tmp_path: Path) -> None:
    first, second = uploads(tmp_path, (1, 2, 1), (3, 4, 2))
    first.with_suffix(".index").unlink()
    second.unlink()
    os.utime(second.with_suffix(".index"), (0, 86_400))
    found = collected(tmp_path)
    assert [each.fate for each in found.ranges] == [Fate.UNFINISHED]
    report = check_location(str(tmp_path), Progress())
    assert report.state is State.WARNING
    said = [each for archive in report.archives for each in archive.findings if each.severity is Severity.WARNING]
    assert [each.code for each in said] == ["datas3t-metadata-orphan", "datas3t-metadata-missing"]
    assert "last written 1970-01-02 00:00 UTC, is in progress, or was given up" in said[0].message
    first.unlink()
    assert check_location(str(tmp_path), Progress()).state is State.WARNING
    session = ArchiveSession(str(tmp_path))
    session.decode(Progress())
    assert (session.status().state, session.status().sentence[:8]) == (State.WARNING, "Warning:")


def test_a_dataset_that_the_service_cannot_import_is_named(tmp_path: Path) -> None:
    uploads(tmp_path, (1, 2, 1), dataset="rain.tar")
    (said,) = collected(tmp_path).findings
    assert (said.severity, said.code) == (Severity.WARNING, "datas3t-dataset-name")


def test_a_datapoint_is_taken_from_the_latest_of_equal_uploads(tmp_path: Path) -> None:
    uploads(tmp_path, (1, 2, 1), (1, 2, 2))
    uploads(tmp_path, (3, 4, 3))
    uploads(tmp_path, (3, 4, 4), content="y")
    uploads(tmp_path, (1, 2, 9), dataset="wind")
    archives = load(str(tmp_path / "datas3t" / "weather"), Progress())
    assert find_member(archives, f"{1:020d}.txt")[0].source.name.endswith(f"{2:012d}.tar")
    with pytest.raises(AmbiguousMemberError):
        find_member(archives, f"{3:020d}.txt")
    with pytest.raises(AmbiguousMemberError):
        find_member(load(str(tmp_path), Progress()), f"{1:020d}.txt")


def test_ranges_of_different_datasets_may_share_keys(tmp_path: Path) -> None:
    for name in ("wind", "rain"):
        put(tmp_path / "dataset" / name / "datapoints", [(1, 2)])
    assert collected(tmp_path).findings == ()


def test_metadata_without_its_tar_is_an_orphan(tmp_path: Path) -> None:
    folder = tmp_path / "dataset" / "weather" / "datapoints"
    put(folder, [(1, 2), (3, 4)])
    (folder / f"{1:020d}-{2:020d}.tar").unlink()
    for place in (tmp_path, folder):
        found = collected(place)
        assert keys(found) == [("weather", 3, 4)]
        assert [finding.code for finding in found.findings] == ["datas3t-metadata-orphan"]


def test_a_range_without_metadata_has_nothing_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "dataset" / "weather" / "datapoints"
    put(folder, [(1, 2)])
    (folder / f"{1:020d}-{2:020d}.tar.metadata").unlink()
    assert collected(tmp_path).ranges[0].beside == ""


def test_other_folders_are_no_collection(tmp_path: Path) -> None:
    assert open_collection(tmp_path) is None
    (tmp_path / "dataset" / "empty" / "datapoints").mkdir(parents=True)
    (tmp_path / "notes.tar").write_bytes(b"")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert open_collection(tmp_path) is None
