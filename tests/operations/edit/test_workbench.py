"""A session that changes its archive: previews, writing, taking back, checksums that follow."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.edit_views import WayOut
from inspector.operations.protocol.header_draft import HeaderDraft, set_entry
from inspector.operations.session.archive_session import ArchiveSession

Make = Callable[[str], tuple[ArchiveSession, Path]]


@pytest.fixture
def workbench(tmp_path: Path, sample: Callable[[str], Path]) -> Make:
    """Open a copy of a sample, and give its path too."""

    def make(name: str) -> tuple[ArchiveSession, Path]:
        path = tmp_path / name
        shutil.copyfile(sample(name), path)
        bench = ArchiveSession(str(path))
        bench.decode(Progress())
        return bench, path

    return make


def change(bench: ArchiveSession, offset: int) -> Edit:
    size = bench.status().size
    old = bench.read(0, offset, 1)
    return Edit("Change a byte", (Patch(offset, old, bytes((old[0] ^ 0xFF,))),), size, size)


def test_a_preview_shows_what_a_change_breaks_and_writes_nothing(workbench: Make) -> None:
    bench, path = workbench("two-entries.tacozip")
    before = path.read_bytes()
    member = next(row for row in bench.member_rows(0, 10).rows if row.size > 10 and "HEADER" not in row.name)
    offset = bench.place(member.index).spans[0].start + 3
    generation = bench.status().generation
    bench.preview(Progress(), change(bench, offset))
    assert bench.read(0, offset, 1) == bytes((before[offset] ^ 0xFF,))
    status = bench.status()
    assert (status.state, status.generation > generation) == (State.DAMAGED, True)
    bench.preview(Progress(), None)
    assert (bench.status().state, bench.read(0, offset, 1)) == (None, before[offset : offset + 1])
    assert path.read_bytes() == before


def test_checksums_that_depend_on_a_change_are_repaired_with_it(workbench: Make) -> None:
    bench, path = workbench("two-entries.tacozip")
    before = path.read_bytes()
    repaired = bench.repair_checksums(Progress(), change(bench, 50))
    assert len(repaired[1]) == 2  # the header's CRC stands in the local header and in the central directory
    result = bench.write(Progress(), repaired[0])
    assert ArchiveSession(str(path)).check(Progress()).state in (State.SOUND, State.WARNING)
    assert result.revert is not None
    bench.write(Progress(), result.revert)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["two-entries.tacozip", "plain.zip", "streamed.zip"])
def test_the_checksum_of_a_member_is_repaired_wherever_it_stands(workbench: Make, name: str) -> None:
    bench, path = workbench(name)
    state = ArchiveSession(str(path)).check(Progress()).state
    stored = (row for row in bench.member_rows(0, 10).rows if row.codec == "stored" and "HEADER" not in row.name)
    member = next(row for row in stored if row.size)
    repaired = bench.repair_checksums(Progress(), change(bench, bench.place(member.index).spans[0].start))
    assert len(repaired[1]) == 1
    bench.write(Progress(), repaired[0])
    assert ArchiveSession(str(path)).check(Progress()).state is state


@pytest.mark.parametrize("name", ["plain.tar", "two-resets-spec.rca", "two-resets-rcarch.rca", "plain.zip"])
def test_any_format_gets_its_checksums_repaired(workbench: Make, name: str) -> None:
    bench, _ = workbench(name)
    checksum = next(row for row in bench.checksums(0, 10).rows if row.covers and row.covers[0].size)
    edit = change(bench, checksum.covers[0].start + (0 if name.endswith("tar") else checksum.covers[0].size - 1))
    repaired = bench.repair_checksums(Progress(), edit)
    bench.preview(Progress(), repaired[0])
    assert repaired[1]
    left = [row.name for row in bench.checksums(0, 100).rows if row.stored != row.computed]
    assert not set(left) & set(repaired[1])


def test_what_was_changed_by_others_is_not_overwritten(workbench: Make) -> None:
    bench, path = workbench("plain.zip")
    edit = change(bench, 3)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"x")
    with pytest.raises(EditError, match="Open it again"):
        bench.write(Progress(), edit)
    assert path.read_bytes() == data[:-1] + b"x"


def test_a_header_is_edited_through_its_draft(workbench: Make) -> None:
    bench, path = workbench("two-entries.tacozip")
    view, size = bench.header(None), path.stat().st_size
    draft = HeaderDraft(view.count, tuple((entry.offset, entry.length) for entry in view.entries))
    target = bench.header_target(1)
    edit = bench.header_edit(set_entry(draft, 6, target))
    assert [patch.offset for patch in edit.patches][:2] == [41, 14]
    bench.preview(Progress(), edit)
    assert bench.header(None).count == 7
    bench.write(Progress(), edit)
    assert bench.header(None).entries[6].words.startswith("the data of ")
    assert bench.status().state is None
    assert path.stat().st_size == size


def test_what_is_no_taco_has_no_header(workbench: Make) -> None:
    bench, _ = workbench("plain.tar")
    with pytest.raises(OperationError, match="no TACO"):
        bench.header(None)


def test_a_copy_is_never_the_archive_itself(workbench: Make, tmp_path: Path) -> None:
    bench, path = workbench("plain.zip")
    edit = change(bench, 3)
    with pytest.raises(Exception, match="is the archive itself"):
        bench.save_copy(Progress(), edit, str(path), True)
    bench.save_copy(Progress(), edit, str(tmp_path / "copy.zip"), False)
    copy = (tmp_path / "copy.zip").read_bytes()
    assert copy[3:4] == edit.patches[0].new
    assert copy[4:] == path.read_bytes()[4:]


def test_nothing_is_interrupted_where_nothing_was_written(workbench: Make) -> None:
    bench, _ = workbench("plain.zip")
    assert bench.interrupted() is None
    assert "is waiting to be finished" in bench.recover(Progress(), WayOut.FINISH).sentence


def test_an_edit_of_the_header_is_one_of_the_disk_whatever_is_shown(workbench: Make) -> None:
    bench, path = workbench("two-entries.tacozip")
    before = path.read_bytes()
    draft = HeaderDraft(1, ((200, 64),) + ((0, 0),) * 6)
    bench.preview(Progress(), change(bench, 50))
    edit = bench.header_edit(draft)
    assert [patch.old for patch in edit.patches] == [before[patch.offset : patch.span.stop] for patch in edit.patches]
    bench.write(Progress(), edit)
    assert path.read_bytes() != before


def test_a_preview_names_the_checksums_that_break(workbench: Make) -> None:
    bench, _ = workbench("two-entries.tacozip")
    broken = bench.preview(Progress(), change(bench, 50))
    assert broken is not None
    assert len(broken) == 2
    assert all("TACO_HEADER" in name for name in broken)
    assert bench.preview(Progress(), None) is None
