"""Where a tar stands says what it should be: among ranges it has to be one."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.operations.open.opening import Opened, decode, start
from inspector.sources.local.file import FileSource
from tests.formats.archives import codes
from tests.formats.datas3t.range_building import hashed_rows, points, rows_frame
from tests.formats.tar.tar_building import build

DATA = build(points(1, 3).items())


def opened(folder: Path, name: str, data: bytes = DATA, *, described: bool = True) -> Opened:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    if described:
        path.with_name(name + ".metadata").write_bytes(rows_frame(hashed_rows(data)))
    archive = start(FileSource(path))
    decode(archive, Progress())
    return archive


@pytest.mark.parametrize("holder", ["datapoints", "dataranges"])
@pytest.mark.parametrize(
    "name", ["data.tar", "0000000000000000001-3.TAR", "\u0661" * 20 + "-" + "\u0663" * 20 + ".tar"]
)
def test_a_tar_in_a_range_folder_without_a_range_name(tmp_path: Path, holder: str, name: str) -> None:
    archive = opened(tmp_path / "dataset" / "a" / holder, name)
    (finding,) = archive.findings
    assert (finding.code, finding.severity) == ("datas3t-object-name", Severity.WARNING)


def test_elsewhere_a_tar_may_have_any_name(tmp_path: Path) -> None:
    (finding,) = opened(tmp_path / "datapoints" / "mine", "data.tar").findings
    assert (finding.code, finding.severity) == ("datas3t-object-name", Severity.INFO)
    assert opened(tmp_path, "2023-2024.tar", described=False).format == "tar"


@pytest.mark.parametrize("name", ["data.tar", "1-3.tar"])
def test_any_tar_in_a_range_folder_needs_metadata(tmp_path: Path, name: str) -> None:
    archive = opened(tmp_path / "datapoints", name, described=False)
    assert archive.format == "datas3t"
    assert codes(archive) == ["datas3t-metadata-missing", "datas3t-object-name"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_datapoint_that_is_not_a_regular_file(tmp_path: Path, kind: bytes) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as out:
        out.addfile(tarfile.TarInfo(f"{1:020d}.json"))
        odd = tarfile.TarInfo(f"{2:020d}.json")
        odd.type, odd.linkname = kind, f"{1:020d}.json"
        out.addfile(odd)
    archive = opened(tmp_path, f"{1:020d}-{2:020d}.tar", buffer.getvalue(), described=False)
    (finding,) = (each for each in archive.findings if each.code == "datas3t-datapoint-kind")
    assert (finding.severity, finding.member) == (Severity.ERROR, 1)


@pytest.mark.parametrize(("key", "words"), [(2**64 - 1, ""), (2**64, "more than 64 bits"), (10**20, "20 digits")])
def test_a_key_that_is_too_large(tmp_path: Path, key: int, words: str) -> None:
    data = build([(f"{key:020d}.json", b"x")])
    archive = opened(tmp_path, f"{key:020d}-{key:020d}.tar", data)
    named = [each.message for each in archive.findings if each.code == "datas3t-datapoint-name"]
    assert [words in each for each in named] == [True] * bool(words)
