"""What keeps a datapoint from being extracted, and what does not: only doubts about its content do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.open.listing import load
from inspector.operations.open.reading import Reading
from inspector.operations.protocol.extraction_views import ExtractionOptions
from tests.formats.datas3t.range_building import Row, hashed_rows, points, put, rows_frame
from tests.formats.tar.tar_building import build
from tests.formats.zip.test_overlaps import quoting
from tests.operations.extract.extracting import extract, files

POINTS = points(1, 5)
THIRD = f"{3:020d}.json"


def placed(folder: Path, entries: Mapping[str, bytes], change: Callable[[list[Row]], object] | None = None) -> Path:
    data = build(entries.items())
    rows = hashed_rows(data)
    if change is not None:
        change(rows)
    return put(folder, data, rows_frame(rows), 1, 5)


def without(name: str) -> dict[str, bytes]:
    return {each: content for each, content in POINTS.items() if each != name}


@pytest.mark.parametrize(
    ("entries", "change"),
    [
        (without(THIRD), None),
        ({name.replace(THIRD, "3.json"): content for name, content in POINTS.items()}, None),
        (POINTS, lambda rows: rows[2].update(begin_offset="99")),
        (POINTS, lambda rows: rows[2].update(end_offset="99")),
    ],
    ids=["another key is missing", "its name is short", "its begin is wrong", "its end is wrong"],
)
def test_a_datapoint_that_fits_its_hash_is_extracted(
    tmp_path: Path, entries: Mapping[str, bytes], change: Callable[[list[Row]], object] | None
) -> None:
    result = extract(placed(tmp_path / "range", entries, change), tmp_path / "to")
    assert files(tmp_path / "to") == entries
    assert result.whole


@pytest.mark.parametrize(
    "change",
    [lambda rows: rows.pop(2), lambda rows: rows[2].update(data_hash="xyz"), lambda rows: rows[2].update(id="x")],
    ids=["it has no row", "its hash cannot be read", "its key cannot be read"],
)
def test_a_datapoint_of_which_no_hash_is_known_needs_a_word(
    tmp_path: Path, change: Callable[[list[Row]], object]
) -> None:
    path = placed(tmp_path / "range", POINTS, change)
    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == without(THIRD)
    assert not result.whole
    extract(path, tmp_path / "word", ExtractionOptions(doubtful=True))
    assert files(tmp_path / "word") == POINTS


def test_a_datapoint_that_does_not_fit_its_hash_is_not_extracted(tmp_path: Path) -> None:
    path = placed(tmp_path / "range", POINTS, lambda rows: rows[2].update(data_hash="abc"))
    result = extract(path, tmp_path / "to", ExtractionOptions(doubtful=True))
    assert files(tmp_path / "to") == without(THIRD)
    assert not result.whole


def test_members_that_share_bytes_need_a_word_and_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "quoting.zip"
    path.write_bytes(quoting(2))
    (loaded,) = load(str(path), Progress())
    readings = [Reading(loaded, index) for index in range(5)]
    contents = [b"".join(reading.pieces(Progress())) for reading in readings]

    assert [bool(reading.doubts().unproved) for reading in readings] == [False, True, True, True, False]
    assert not any(reading.doubts().wrong for reading in readings)
    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {"n00000": b"alone", "n00004": b"last"}
    assert (result.doubtful.count, result.whole) == (3, False)
    assert "also claims some of its bytes" in result.doubtful.listed[0].sentence
    assert extract(path, tmp_path / "word", ExtractionOptions(doubtful=True)).whole
    assert files(tmp_path / "word") == {f"n{at:05d}": each for at, each in enumerate(contents)}
