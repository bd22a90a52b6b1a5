from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.core.collection import Collection
from inspector.core.finding import Severity, first_sentence
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.audit.targets import expanded
from inspector.operations.check.checking import check_location
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import gap_in, open_collection
from inspector.operations.open.listing import load
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
