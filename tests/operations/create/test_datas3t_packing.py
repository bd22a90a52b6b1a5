"""Packing files into the ranges of a dataset."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.finding import Severity
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.formats.datas3t.write import MAX_DATAPOINT_BYTES
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.create.datas3t_packing import PackingOptions, create_datas3t, pack, plan
from inspector.operations.create.inputs import Input
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import load
from inspector.sources.local.atomic import FolderObjects
from tests.formats.datas3t.range_building import hashed_rows
from tests.operations.create.rca_appends import Given

DATASET = PackingOptions("weather")
HOLDER = Path("dataset", "weather", "datapoints")


def files(folder: Path, *names: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode() * 100)
    return str(folder)


def numbered(*keys: int, extension: str = ".json") -> list[Input]:
    return [Given(b"%d%s" % (key, extension.encode()), b"%d" % key * 50) for key in keys]


def objects(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def state(root: Path) -> str:
    archives = load(str(root), Progress())
    for archive in archives:
        check_archive(archive, Progress())
    assert [finding for archive in archives for finding in archive.findings if finding.severity >= Severity.INFO] == []
    return str(state_of(archives))


def keys_of(root: Path) -> list[tuple[int, int]]:
    names = [Path(name).name for name in objects(root) if name.endswith(".tar")]
    return [(int(name[:20]), int(name[21:41])) for name in names]


def make(root: Path, inputs: list[Input], options: PackingOptions = DATASET) -> None:
    pack(plan(inputs, options), options.dataset, str(root), FolderObjects(root), Progress())


def rows(path: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()))
    return found


# ---- what is made ------------------------------------------------------------------------------------------------


def test_numbered_files_become_ranges_under_the_specified_keys(tmp_path: Path) -> None:
    given = files(tmp_path / "in", "0003.json", "1.json", "2.json.zst", "004", "7.bin")
    root, progress = tmp_path / "root", Progress()

    made = create_datas3t(progress, str(root), [given], PackingOptions("weather", per_range=2))

    names = [f"{HOLDER}/{first:020d}-{last:020d}.tar" for first, last in ((1, 2), (3, 4), (7, 7))]
    assert objects(root) == sorted([*names, *(f"{name}.metadata" for name in names)])
    assert [(each.path, each.members) for each in made.archives] == [
        (f"{root}/{name}", members) for name, members in zip(names, (2, 2, 1), strict=True)
    ]
    assert [each.size for each in made.archives] == [(root / name).stat().st_size for name in names]
    assert progress.done == progress.total == sum(path.stat().st_size for path in Path(given).iterdir())
    with tarfile.open(root / names[0]) as archived:
        assert archived.getnames() == [f"{1:020d}.json", f"{2:020d}.json.zst"]
        one = archived.extractfile(f"{1:020d}.json")
        assert one is not None
        assert one.read() == b"1.json" * 100
        assert archived.getmembers()[0].mtime == int((Path(given) / "1.json").stat().st_mtime)


def test_a_root_of_ranges_is_sound(tmp_path: Path) -> None:
    make(tmp_path, numbered(*range(1, 26)), PackingOptions("weather", per_range=10))

    assert state(tmp_path) == "sound"
    for path in tmp_path.rglob("*.tar"):
        assert rows(path.with_name(f"{path.name}.metadata")) == hashed_rows(path.read_bytes())


def test_any_files_are_numbered_in_their_order_from_the_first_key(tmp_path: Path) -> None:
    given = files(tmp_path / "in", "a/photo.JPG", "a/data.json.zst", "b/notes v1.2", "b/.hidden", "17.txt")
    create_datas3t(Progress(), str(tmp_path / "root"), [given], PackingOptions("any", first_key=100))

    (path,) = (tmp_path / "root").rglob("*.tar")
    with tarfile.open(path) as archived:
        assert archived.getnames() == [
            f"{100:020d}.txt", f"{101:020d}.json.zst", f"{102:020d}.JPG", f"{103:020d}", f"{104:020d}.2",
        ]  # fmt: skip
    assert state(tmp_path / "root") == "sound"


@given(
    st.lists(st.binary(max_size=1_500), min_size=1, max_size=8),
    st.sampled_from([0, 1, 95, (1 << 64) - 8]),
    st.integers(1, 5),
)
def test_what_was_packed_comes_out(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], first: int, per_range: int
) -> None:
    root = tmp_path_factory.mktemp("root")
    inputs: list[Input] = [Given(b"name.bin", data) for data in contents]
    make(root, inputs, PackingOptions("weather", first, per_range))

    found = []
    for name in objects(root):
        if name.endswith(".tar"):
            with tarfile.open(root / name) as archived:
                found += [archived.extractfile(each).read() for each in archived]  # type: ignore[union-attr]
    assert found == contents
    assert keys_of(root) == [
        (first + at, first + min(at + per_range, len(contents)) - 1) for at in range(0, len(contents), per_range)
    ]
    assert state(root) == "sound"


def test_a_gap_between_ranges_is_allowed(tmp_path: Path) -> None:
    make(tmp_path, numbered(1, 2, 7, 8, 11), PackingOptions("weather", per_range=5))

    assert keys_of(tmp_path) == [(1, 2), (7, 8), (11, 11)]


def test_further_ranges_are_added_to_a_dataset(tmp_path: Path) -> None:
    root = tmp_path / "root"
    create_datas3t(Progress(), str(root), [files(tmp_path / "one", "1", "2")], DATASET)
    create_datas3t(Progress(), str(root), [files(tmp_path / "two", "3", "4")], DATASET)
    create_datas3t(Progress(), str(root), [files(tmp_path / "two", "3", "4")], PackingOptions("other"))

    assert keys_of(root) == [(3, 4), (1, 2), (3, 4)]
    assert state(root) == "sound"


# ---- what is refused, before anything is written -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "options", "said"),
    [
        (numbered(1, 2, 5), DATASET, r"keys 3 to 4 are missing inside a range"),
        (numbered(1, 3), DATASET, r"key 2 is missing inside a range"),
        ([*numbered(1), Given(b"sub/01.txt", b"")], DATASET, r"The key 1 occurs twice"),
        ([Given(b"one.json", b"")], DATASET, r"does not have a number as its name.*a first key"),
        (numbered(1 << 64), DATASET, r"does not have a number as its name"),
        ([], DATASET, r"nothing to pack"),
        (numbered(1, 2), PackingOptions("weather", (1 << 64) - 1), r"more files than keys"),
        (numbered(1), PackingOptions("weather", -1), r"A key must be from 0 to"),
        (numbered(1), PackingOptions("weather", per_range=0), r"at least one key"),
        (numbered(1), PackingOptions(""), r"is empty"),
        (numbered(1), PackingOptions("a/b"), "a single folder"),
        (numbered(1), PackingOptions(".."), r"leads out"),
        (numbered(1, extension="." + "x" * 100), DATASET, r"longer than the 100 bytes"),
        (numbered(1, extension=".\x1b[31m"), DATASET, r"control characters"),
    ],
)
def test_what_no_range_may_hold_is_refused(inputs: list[Input], options: PackingOptions, said: str) -> None:
    with pytest.raises(OperationError, match=said):
        plan(inputs, options)


def test_a_datapoint_that_no_header_can_hold_is_refused() -> None:
    @dataclass(frozen=True)
    class Huge(Given):
        @property
        def size(self) -> int:
            return MAX_DATAPOINT_BYTES + 1

    with pytest.raises(OperationError, match="can hold at most"):
        plan([Huge(b"1", b"")], DATASET)


@pytest.mark.parametrize(
    "there",
    [
        HOLDER / f"{2:020d}-{5:020d}.tar",
        HOLDER / f"{0:020d}-{1:020d}.tar.metadata",
        HOLDER / "3-9.tar",
        Path("datas3t", "weather", "dataranges", f"{1:020d}-{9:020d}-000000000001.index"),
    ],
    ids=lambda path: path.name,
)
def test_keys_that_the_dataset_has_are_refused(tmp_path: Path, there: Path) -> None:
    files(tmp_path / "root", str(there), str(HOLDER / f"{50:020d}-{60:020d}.tar"))
    before = objects(tmp_path / "root")

    with pytest.raises(OperationError, match=rf"overlap with those of {there.name}"):
        create_datas3t(Progress(), str(tmp_path / "root"), [files(tmp_path / "in", "1", "2", "3")], DATASET)
    assert objects(tmp_path / "root") == before


def test_a_range_around_a_small_one_is_refused_though_others_lie_between(tmp_path: Path) -> None:
    there = [(1, 900), (2, 3), (5, 6), (2_000, 3_000)]
    files(tmp_path / "root", *(str(HOLDER / f"{first:020d}-{last:020d}.tar") for first, last in there))
    given = files(tmp_path / "in", "800")

    with pytest.raises(OperationError, match="1 to 900"):
        create_datas3t(Progress(), str(tmp_path / "root"), [given], DATASET)
    (Path(given) / "800").rename(Path(given) / "901")
    create_datas3t(Progress(), str(tmp_path / "root"), [given], DATASET)
    assert (901, 901) in keys_of(tmp_path / "root")


@pytest.mark.parametrize(
    ("root", "said"), [("in/1", "not a folder"), ("x" * 300, "not a usable path"), ("a\0", "not a usable")]
)
def test_a_root_that_cannot_be_a_folder_is_refused(tmp_path: Path, root: str, said: str) -> None:
    given = files(tmp_path / "in", "1")

    with pytest.raises(OperationError, match=said):
        create_datas3t(Progress(), f"{tmp_path}/{root}", [given], DATASET)


def test_what_is_no_bucket_is_not_taken_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = files(tmp_path / "in", "1")

    with pytest.raises(OperationError, match="neither a local folder nor s3"):
        create_datas3t(Progress(), "gs://bucket/prefix", [given], DATASET)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


# ---- what fails on the way ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failing(Given):
    """An input whose end cannot be read, or that is shorter than it was."""

    error: Exception | None = None

    @property
    def size(self) -> int:
        return len(self.data) + 1

    def pieces(self) -> Iterator[bytes]:
        yield self.data
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        (SourceError("It cannot be read."), SourceError, "It cannot be read"),
        (None, SourceError, "became smaller"),
        (Cancelled(), Cancelled, None),
    ],
    ids=["unreadable", "smaller", "cancelled"],
)
def test_nothing_is_left_of_what_could_not_be_finished(
    tmp_path: Path, error: Exception | None, raised: type[Exception], said: str | None
) -> None:
    root = tmp_path / "root"
    inputs = [*numbered(*range(1, 9)), Failing(b"9", b"data", error=error), *numbered(10)]
    with pytest.raises(raised, match=said):
        make(root, inputs, PackingOptions("weather", per_range=3))
    assert not root.exists()

    make(root, numbered(100))
    with pytest.raises(raised, match=said):
        make(root, inputs, PackingOptions("weather", per_range=3))
    assert keys_of(root) == [(100, 100)]


def test_nothing_is_written_over_that_comes_into_the_place_meanwhile(tmp_path: Path) -> None:
    place = tmp_path / HOLDER / f"{1:020d}-{1:020d}.tar"

    @dataclass(frozen=True)
    class Slow(Given):
        def pieces(self) -> Iterator[bytes]:
            place.write_bytes(b"precious")
            yield self.data

    with pytest.raises(SourceError, match="something is there already"):
        make(tmp_path, [Slow(b"1", b"data")])
    assert place.read_bytes() == b"precious"
    assert objects(tmp_path) == [place.relative_to(tmp_path).as_posix()]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "dataset").write_bytes(b"a file")

    with pytest.raises(SourceError, match="cannot be created"):
        make(tmp_path, numbered(1))
    assert objects(tmp_path) == ["dataset"]


def test_times_that_no_header_can_hold_are_bounded(tmp_path: Path) -> None:
    given = Path(files(tmp_path / "in", "1", "2"))
    os.utime(given / "1", (-5, -5))
    os.utime(given / "2", (8**11 + 5, 8**11 + 5))
    create_datas3t(Progress(), str(tmp_path / "root"), [str(given)], DATASET)

    (path,) = (tmp_path / "root").rglob("*.tar")
    with tarfile.open(path) as archived:
        assert [each.mtime for each in archived] == [0, 8**11 - 1]


def test_a_time_that_is_not_known_is_the_first_that_a_header_can_hold(tmp_path: Path) -> None:
    make(tmp_path, [Given(b"1", b"", modified=1_700_000_000_999_999_999), Given(b"2", b"")])

    (path,) = tmp_path.rglob("*.tar")
    with tarfile.open(path) as archived:
        assert [each.mtime for each in archived] == [1_700_000_000, 0]
