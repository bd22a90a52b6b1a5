"""Editing the TACO header: byte for byte what tacozip writes, and nothing where the layout is another."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.formats.taco.write import header_edit, payload_of, why_not_editable
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.open.opening import Opened
from tests.formats import archives
from tests.formats.taco.taco_building import updated, written
from tests.formats.zip.zip_building import patched

NUMBER = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 400), st.just(2**64 - 1))
ENTRIES = st.lists(st.tuples(NUMBER, NUMBER), max_size=7)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the archives of these tests are written."""
    return tmp_path_factory.mktemp("taco-edit")


@pytest.fixture(scope="session")
def data() -> bytes:
    """An archive of three members as tacozip writes it."""
    return written({"DATA/a.bin": b"0123456789" * 5, "e": b""}, [(197, 50), (1, 2)])


def opened(data: bytes) -> Opened:
    return archives.opened(BytesSource(data, "x.tacozip"))


def after(data: bytes, edit: Edit) -> bytes:
    source = OverlaySource(BytesSource(data), edit)
    return source.read(0, source.size)


def torn(data: bytes, writes: int) -> bytes:
    """The archive after the first ``writes`` writes of an update."""
    payload = payload_of([(5000, 1000)])
    return updated(data, payload, local=writes > 1, central=writes > 2) if writes else data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ENTRIES, entries=ENTRIES, writes=st.integers(0, 3))
def test_an_edit_is_what_tacozip_writes(
    data: bytes, folder: Path, before: list[tuple[int, int]], entries: list[tuple[int, int]], writes: int
) -> None:
    target = folder / "reference.tacozip"
    target.write_bytes(data)
    tacozip.update_header(str(target), before)
    original = torn(target.read_bytes(), writes)
    edit = header_edit(opened(original), entries)
    target.write_bytes(original)
    tacozip.update_header(str(target), entries)
    edited = after(original, edit)
    assert edited == target.read_bytes()
    used = sum(entry != (0, 0) for entry in entries)
    assert tacozip.read_header(edited) == [*entries, *[(0, 0)] * 7][:used]
    directory = original.index(b"PK\1\2")
    assert [(patch.offset, len(patch.new)) for patch in edit.patches] == [(41, 116), (14, 4), (directory + 16, 4)]
    assert edit.old_size == edit.new_size == len(original)


def test_a_count_that_is_asked_for_is_written(data: bytes) -> None:
    edited = after(data, header_edit(opened(data), [(1, 2), (0, 0), (3, 4)], 3))
    assert tacozip.read_header(edited) == [(1, 2), (0, 0), (3, 4)]
    with zipfile.ZipFile(io.BytesIO(edited)) as reference:
        assert reference.testzip() is None


@pytest.mark.parametrize("writes", [1, 2])
def test_an_edit_makes_a_torn_header_whole(data: bytes, writes: int) -> None:
    broken = torn(data, writes)
    edited = opened(after(broken, header_edit(opened(broken), [(197, 50)])))
    check_archive(edited, Progress())
    assert state_of([edited]) is State.SOUND


@pytest.mark.parametrize(
    ("entries", "count", "words"),
    [
        ([(2**64, 0)], None, "offset of entry 0"),
        ([(0, 0), (0, -1)], None, "length of entry 1"),
        ([(1, 1)] * 8, None, "not for 8"),
        ([], 8, "8 is not"),
        ([], -1, "-1 is not"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_in_words(
    data: bytes, entries: list[tuple[int, int]], count: int | None, words: str
) -> None:
    with pytest.raises(EditError, match=words):
        header_edit(opened(data), entries, count)


def with_extra_field(data: bytes) -> bytes:
    """The archive with an extra field of 4 bytes in the header's local header."""
    at = data.index(b"PK\1\2")
    moved = data[:28] + b"\4\0" + data[30:41] + b"\x99\x99\0\0" + data[41:]
    end = moved.index(b"PK\5\6")
    return patched(moved, end + 16, struct.pack("<I", at + 4))


def central(data: bytes) -> int:
    return data.index(b"PK\1\2")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_extra_field, "an extra field of 4 bytes"),
        (lambda data: patched(data, 8, b"\x08\0"), "it is compressed"),
        (lambda data: patched(data, 18, b"\xff" * 8), "its sizes are not 116 bytes"),
        (lambda data: patched(data, central(data) + 20, b"\xff" * 8), "ZIP64 extra field"),
        (lambda data: patched(data, central(data) + 10, b"\x08\0"), "compressed according to the central directory"),
        (lambda data: patched(data, 6, b"\x08\0"), "its flags are 0x0008"),
        (lambda data: patched(data, 41, b"\x08"), "its count is 8"),
        (lambda data: patched(data, central(data) + 46, b"TACO_OTHERS"), "names it TACO_OTHERS"),
        (lambda data: data[: central(data)], "Rebuild the central directory first"),
        (lambda data: data[:100], "the payload is cut off"),
    ],
)
def test_another_layout_is_refused_and_reported(data: bytes, change: Callable[[bytes], bytes], words: str) -> None:
    archive = opened(change(data))
    assert words in why_not_editable(archive)
    with pytest.raises(EditError, match="cannot be edited"):
        header_edit(archive, [(1, 2)])


def test_the_older_layout_is_refused(sample: Callable[[str], Path]) -> None:
    archive = opened(sample("ghost.taco").read_bytes())
    assert "older layout" in why_not_editable(archive)


def test_a_file_that_became_shorter_is_refused(data: bytes) -> None:
    archive = opened(data)
    archive.source = BytesSource(data[:150])
    with pytest.raises(EditError, match="become shorter"):
        header_edit(archive, [(1, 2)])
