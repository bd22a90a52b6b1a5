"""Files of zeros: an empty tar where the name says so, plain bytes elsewhere, and never read without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats._tar.header import MAX_ZERO_SEARCH_BYTES
from inspector.operations.check.checking import check_archive
from inspector.operations.open.opening import decode, start
from inspector.sources.local.file import FileSource
from tests.formats.tar.tar_building import build

SIZE = 1 << 40


def test_zeros_without_a_tars_name_are_plain_bytes(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(SIZE)

    assert start(FileSource(path)).decoder is None


def test_zeros_after_the_end_are_looked_at_only_so_far(tmp_path: Path) -> None:
    path = tmp_path / "disk.tar"
    with path.open("wb") as file:
        file.truncate(SIZE)
    archive = start(FileSource(path))
    decode(archive, Progress())

    end, padding, rest = archive.fields
    assert (archive.format, end.spans[0], padding.spans[0].size) == ("tar", (0, 1024), MAX_ZERO_SEARCH_BYTES - 1024)
    assert rest.spans == ((MAX_ZERO_SEARCH_BYTES, SIZE),)
    assert [(finding.code, finding.spans) for finding in archive.findings] == [("tar-data-after-end", rest.spans)]


def test_a_whole_record_of_zeros_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "empty.tar"
    path.write_bytes(bytes(10240))
    archive = start(FileSource(path))
    decode(archive, Progress())

    assert not archive.findings


def of_aix(mode: bytes = b"100666 \0") -> bytearray:
    """A tar of one record as AIX writes it: numbers end with a space and a NUL, and its end was never cleared."""
    made = bytearray(build([("text-file.txt", b"")]).ljust(10_240, b"\0"))
    made[100:108] = mode
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    made[4_120:4_128] = bytes.fromhex("3000f11000000c60")
    return made


@pytest.mark.parametrize(
    ("tar", "state"),
    [(of_aix(), "tar-data-after-end"), (of_aix(b"0000666\0"), "tar-zeros-inside")],
    ids=["aix", "another"],
)
def test_a_record_of_aix_has_other_bytes_than_zeros_after_the_end(tar: bytearray, state: str) -> None:
    archive = start(BytesSource(bytes(tar), "a.tar"))
    decode(archive, Progress())
    assert [finding.code for finding in archive.findings] == [state]
    if state == "tar-data-after-end":
        assert archive.findings[0].spans == ((4_120, 4_128),)
        check_archive(archive, Progress())
        assert [finding.code for finding in archive.findings] == [state]


def test_a_header_behind_zeros_is_found_in_a_tar_of_aix_too() -> None:
    tar = of_aix()
    tar[6_144:6_656] = tar[:512]
    archive = start(BytesSource(bytes(tar), "a.tar"))
    decode(archive, Progress())
    assert len(archive.members) == 2
    assert "tar-zeros-inside" in {finding.code for finding in archive.findings}
