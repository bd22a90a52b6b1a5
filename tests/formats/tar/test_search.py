"""Looking for where a tar goes on behind a torn place: the same as block by block, quick over holes, and cancelled."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.formats import tar
from inspector.formats._tar import header as heads
from inspector.formats._tar.header import BLOCK, ZEROS, next_header, parse
from inspector.sources.local.file import FileSource

GIB = 1 << 30


def header(name: str = "name") -> bytes:
    info = tarfile.TarInfo(name)
    return info.tobuf(tarfile.USTAR_FORMAT)


HEADERS = (header(), header("a" * 60), header()[:257] + bytes(255))
BLOCKS = (ZEROS, b"\1" * BLOCK, b"0" * BLOCK, *HEADERS)
"""The third of the headers is that of a tar before POSIX, without a magic and with a checksum that does not fit."""


def one_by_one(data: bytes) -> int:
    """Where the search has to end."""
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    for number, block in enumerate(blocks):
        if len(block) == BLOCK and block != ZEROS and parse(block).fits:
            return number * BLOCK
    kept = len(blocks)
    while kept and blocks[kept - 1] == ZEROS:
        kept -= 1
    return kept * BLOCK if len(blocks) - kept >= 2 else len(data)


@given(st.lists(st.sampled_from(BLOCKS), max_size=12), st.binary(max_size=3), st.integers(1, 5))
def test_it_ends_where_looking_at_every_block_does(blocks: list[bytes], rest: bytes, window: int) -> None:
    data = b"".join(blocks) + rest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "SEARCH_WINDOW_BYTES", window * BLOCK)
        found = next_header(BytesSource(data, "x"), 0, Progress())
        assert (found.stop, found.complete) == (one_by_one(data), True)


def torn(path: Path, size: int, *, goes_on: bool) -> Path:
    """A tar of ``size`` bytes, most of it a hole behind a torn header, with a member at its end if it ``goes_on``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("first"))
    with path.open("wb") as out:
        out.write(buffer.getvalue()[:BLOCK] + b"torn".ljust(BLOCK, b"\xff"))
        out.truncate(size)
        if goes_on:
            out.seek(size - 3 * BLOCK)
            out.write(header("last"))
    return path


def names(archive: Archive) -> list[bytes]:
    return [member.path for member in archive.members]


@pytest.mark.sweep
def test_a_hole_of_gibibytes_is_passed(tmp_path: Path) -> None:
    source = FileSource(torn(tmp_path / "x.tar", 4 * GIB, goes_on=True))
    archive = Archive(source, "tar", "", ())
    tar.FORMAT.decode(source, Emitter(archive), Progress())
    assert names(archive) == [b"first", b"last"]
    assert [each.code for each in archive.findings] == ["tar-checksum"]


def test_the_search_says_so_and_is_cancelled_within_a_window(tmp_path: Path) -> None:
    class Impatient(Progress):
        overrides = 0

        def advance(self, count: int) -> None:
            if self.label.startswith("Searching"):
                self.overrides += 1
                if self.overrides == 3:
                    self.cancel()
            super().advance(count)

    source, progress = FileSource(torn(tmp_path / "x.tar", GIB, goes_on=False)), Impatient()
    with pytest.raises(Cancelled):
        tar.FORMAT.decode(source, Emitter(Archive(source, "tar", "", ())), progress)
    assert progress.overrides == 3
    assert 0 < progress.done < 4 << 20


def test_what_is_done_is_counted_once(tmp_path: Path) -> None:
    source, progress = FileSource(torn(tmp_path / "x.tar", 4 << 20, goes_on=True)), Progress()
    tar.FORMAT.decode(source, Emitter(Archive(source, "tar", "", ())), progress)
    assert progress.done <= progress.total


def test_what_is_far_away_is_not_searched_to_its_end_unasked(tmp_path: Path) -> None:
    class Far(FileSource):
        sparing = True
        most = 0

        def read(self, offset: int, length: int) -> bytes:
            self.most = max(self.most, offset + length)
            return super().read(offset, length)

    source = Far(torn(tmp_path / "x.tar", GIB, goes_on=True))
    archive = Archive(source, "tar", "", ())
    tar.FORMAT.decode(source, Emitter(archive), Progress())
    assert names(archive) == [b"first"]
    assert source.most <= heads.MAX_REMOTE_SEARCH_BYTES + (1 << 20)
    (finding,) = archive.findings
    assert "A check of the archive searches further" in finding.message
