from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from inspector.core.archive import Archive
from inspector.core.field import Field
from inspector.formats import recognise
from inspector.sources.local.file import FileSource
from tests.formats.archives import codes
from tests.formats.datas3t.range_building import index_row, index_rows, points
from tests.formats.tar.tar_building import build, decoded

NAME = f"{1:020d}-{4:020d}-{7:012d}.tar"
SOUND = build(points(1, 4).items())
LONG = f"{2:020d}.{'e' * 100}"


def infos(data: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.getmembers()


def as_published(data: bytes) -> list[bytes]:
    """The rows as the published writer has them: it takes every header to be one block."""
    rows, at = [], 0
    for each in infos(data):
        rows.append(index_row(at, 1, each.size))
        at += 512 + -(-each.size // 512) * 512
    return rows


def opened(folder: Path, data: bytes, rows: list[bytes]) -> Archive:
    (folder / NAME).write_bytes(data)
    (folder / NAME).with_suffix(".index").write_bytes(b"".join(rows))
    source = FileSource(folder / NAME)
    decoder = recognise(source)
    assert decoder is not None
    return decoded(source, decoder)


def facts(archive: Archive, member: int) -> list[Field]:
    """What stands beside the tar about a member."""
    return [each for each in archive.fields[0].children[member].children if not each.spans]


def heads(data: bytes, *members: int) -> tuple[tuple[int, int], ...]:
    found = infos(data)
    return tuple((found[at].offset, found[at].offset_data) for at in members)


def test_an_index_that_agrees(tmp_path: Path) -> None:
    archive = opened(tmp_path, SOUND, index_rows(SOUND))
    assert archive.findings == []


@pytest.mark.parametrize(
    ("names", "wrong", "early"),
    [
        ([LONG, f"{3:020d}.json", f"{4:020d}.json"], (1, 2, 3), "up to 1,024 bytes too low"),
        ([LONG, LONG.replace("2.", "3."), f"{4:020d}.json"], (1, 2, 3), "up to 2,048 bytes too low"),
        ([f"{2:020d}.json", f"{3:020d}.json", LONG.replace("2.", "4.")], (3,), "1 of 4 rows disagree with the tar. "),
    ],
)
def test_the_known_writer_bug_is_one_finding(
    tmp_path: Path, names: list[str], wrong: tuple[int, ...], early: str
) -> None:
    entries = [(name, b"x" * 700) for name in [f"{1:020d}.json", *names]]
    data = build(entries, tarfile.PAX_FORMAT)
    archive = opened(tmp_path, data, as_published(data))
    (finding,) = archive.findings
    assert finding.code == "datas3t-index-offset"
    assert "counts every header as one block" in finding.message
    assert early in finding.message
    assert finding.spans == heads(data, *wrong)


def test_other_wrong_rows_are_not_attributed_to_that_bug(tmp_path: Path) -> None:
    rows = index_rows(SOUND)
    archive = opened(tmp_path, SOUND, [rows[1], rows[0], *rows[2:]])
    assert codes(archive) == ["datas3t-index-offset"] * 2
    assert [each.member for each in archive.findings] == [0, 1]
    assert not any("one block" in each.message for each in archive.findings)


@pytest.mark.parametrize("missing", range(4))
def test_a_missing_row_makes_no_other_row_wrong(tmp_path: Path, missing: int) -> None:
    rows = index_rows(SOUND)
    archive = opened(tmp_path, SOUND, rows[:missing] + rows[missing + 1 :])
    (finding,) = archive.findings
    assert finding.code == "datas3t-index-count"
    assert f"No row gives the offset of {missing + 1:020d}.json." in finding.message
    assert finding.spans == heads(SOUND, missing)


def test_an_extra_row(tmp_path: Path) -> None:
    rows = index_rows(SOUND)
    archive = opened(tmp_path, SOUND, [*rows, index_row(len(SOUND) - 1024, 1, 0)])
    (finding,) = archive.findings
    assert finding.code == "datas3t-index-count"
    assert "Row 4 is extra" in finding.message


def test_an_index_that_is_cut_off(tmp_path: Path) -> None:
    archive = opened(tmp_path, SOUND, [b"".join(index_rows(SOUND))[:-20]])
    assert codes(archive) == ["datas3t-index-count", "datas3t-index-cut"]
