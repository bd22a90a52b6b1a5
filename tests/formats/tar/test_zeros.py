"""Files of zeros: an empty tar where the name says so, plain bytes elsewhere, and never read without end."""

from __future__ import annotations

from pathlib import Path

from inspector.core.progress import Progress
from inspector.formats._tar.search import MAX_ZERO_SEARCH_BYTES
from inspector.operations.open.opening import decode, start
from inspector.sources.local.file import FileSource

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
