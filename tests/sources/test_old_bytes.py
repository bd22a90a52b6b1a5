"""The store of old bytes: what a change takes away is there before it goes, and can be put back to the byte."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, EditError, Patch
from inspector.sources.local.changes import old_bytes
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.old_bytes import store_folder, stored_changes
from inspector.sources.local.changes.recovery import (
    describe_last_change,
    finish,
    forget,
    forget_changes,
    past_changes,
    pending,
    undo_last_change,
)
from inspector.sources.local.disk_calls import Disk
from tests.sources.disks import CONTENT, EDITS, Memory, Stopped, Watched, after, failing, names, refusing, stopping
from tests.sweeping import every

PATH = Path("/archives/a.tacozip")
CUT = EDITS["shrinking"]
each_edit = pytest.mark.parametrize("name", EDITS)
each_size = pytest.mark.usefixtures("_size")


@pytest.fixture(params=["in the state folder", "beside the archive"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bytes are kept that were cut off."""
    if request.param == "beside the archive":
        monkeypatch.setattr(old_bytes, "MAX_INLINE_BYTES", 79)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Any edit of CONTENT."""
    size = len(CONTENT)
    journal_paths = sorted(draw(st.lists(st.integers(0, size - 1), max_size=4, unique=True)))
    patches = []
    for at, stop in pairwise([*journal_paths, size]):
        old = CONTENT[at : draw(st.integers(at + 1, stop))]
        patches.append(Patch(at, old, draw(st.binary(min_size=len(old), max_size=len(old)))))
    end = max((patch.span.stop for patch in patches), default=0)
    more = draw(st.binary(max_size=40))
    if more:
        return Edit("Change", (*patches, Patch(size, b"", more)), size, size + len(more))
    return Edit("Change", tuple(patches), size, draw(st.integers(end, size)))


def settle(disk: Disk) -> None:
    """Finish a change that was interrupted, or remove a journal that was."""
    found = pending(PATH, disk)
    if found is not None:
        (finish if found.finish else forget)(PATH, disk)


@given(edits(), st.sampled_from([10, 1 << 20]))
def test_any_change_is_taken_back_to_the_byte(edit: Edit, small: int) -> None:
    disk = Memory({PATH: CONTENT})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(old_bytes, "MAX_INLINE_BYTES", small)
        write(PATH, edit, None, disk)
        assert disk.files()[PATH] == after(edit)
        if after(edit) != CONTENT:
            assert undo_last_change(PATH, disk).startswith("a.tacozip is as it was before")
    assert disk.files() == {PATH: CONTENT}
    with pytest.raises(EditError, match="no change of it is stored"):
        undo_last_change(PATH, disk)


def test_one_change_after_another_is_taken_back(path: Path) -> None:
    write(path, EDITS["three"], None)
    second = Edit("Cut", (), len(CONTENT), 100)
    write(path, second, None)
    assert describe_last_change(path) == f"The last change of {path.name} would be undone: Cut."
    undo_last_change(path)
    assert path.read_bytes() == after(EDITS["three"])
    undo_last_change(path)
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_what_is_cut_off_is_named_and_its_owners_alone(path: Path) -> None:
    found = write(path, CUT, None).kept
    assert found is not None
    place, dropped = Path(found.path), CONTENT[CUT.new_size :]
    assert place.parent == store_folder()
    assert place.read_bytes()[found.offset : found.offset + found.length] == dropped
    assert found.sha256 == hashlib.sha256(dropped).hexdigest()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(store_folder().stat().st_mode) == 0o700


def test_more_than_the_state_folder_is_for_stands_beside_the_archive(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_bytes, "MAX_INLINE_BYTES", 79)
    path.with_name(f"{path.name}.cut").write_text("another's")
    found = write(path, CUT, None).kept
    assert found is not None
    assert (Path(found.path), found.offset) == (path.with_name(f"{path.name}-1.cut"), 0)
    assert Path(found.path).read_bytes() == CONTENT[CUT.new_size :]
    undo_last_change(path)
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name, f"{path.name}.cut"]


def test_where_nothing_can_be_kept_nothing_is_cut(path: Path) -> None:
    disk = Watched(refusing("open", errno.EACCES, where=lambda each: each[0].suffix in (".old", ".cut")))
    with pytest.raises(EditError, match="cannot be kept"):
        write(path, CUT, None, disk)
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_without_a_state_folder_the_end_is_kept_beside_and_an_edit_is_a_warning(path: Path) -> None:
    disk = Watched(refusing("open", errno.EROFS, where=lambda each: each[0].suffix == ".old"))
    written = write(path, EDITS["three"], None, disk)
    assert "is not kept" in written.warnings[0]
    path.write_bytes(CONTENT)
    written = write(path, CUT, None, disk)
    assert written.kept is not None
    assert Path(written.kept.path).read_bytes() == CONTENT[CUT.new_size :]


@each_size
def test_a_full_disk_leaves_the_archive_untouched(path: Path) -> None:
    class Full(Watched):
        """Everything but the archive is on a disk with room for 20 bytes."""

        def call(self, name: str, *arguments: object) -> object:
            if name == "write" and arguments[0] != self.named("lock")[0][0]:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().call(name, *arguments)

    before = list(stored_changes(path, Disk()))
    with pytest.raises(EditError, match="no space left"):
        write(path, CUT, None, Full())
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]
    assert list(stored_changes(path, Disk())) == before


@each_edit
@each_size
def test_a_program_that_ends_before_the_first_write_has_changed_nothing(name: str) -> None:
    """The entry that it leaves in the store does no harm."""
    edit, chance = EDITS[name], random.Random(5)
    for at in range(200):
        disk = Memory({PATH: CONTENT})
        watched = Watched(stopping(at), disk)
        try:
            write(PATH, edit, None, watched)
        except Stopped:
            pass
        else:
            break
        disk = disk.cut(chance)
        if pending(PATH, disk) is None and disk.files()[PATH] == CONTENT:
            with pytest.raises(EditError, match="no change of it is stored"):
                undo_last_change(PATH, disk)
            assert disk.files()[PATH] == CONTENT
            write(PATH, edit, None, disk)
        else:
            settle(disk)
    else:
        raise AssertionError("A writing has less than 200 calls.")


@each_edit
@each_size
@every(3)
@pytest.mark.parametrize("kind", ["power", "fault"])
def test_taking_back_may_be_cut_short_and_taken_up_again(name: str, kind: str, step: int) -> None:
    edit, chance = EDITS[name], random.Random(6)
    for at in range(0, 200, step):
        disk = Memory({PATH: CONTENT})
        write(PATH, edit, None, disk)
        try:
            undo_last_change(PATH, Watched(stopping(at) if kind == "power" else failing(at, errno.EIO), disk))
        except (Stopped, EditError):
            if kind == "power":
                disk = disk.cut(chance)
        else:
            if kind == "power":
                break
        settle(disk)
        if disk.files()[PATH] != CONTENT:
            undo_last_change(PATH, disk)
        assert disk.files()[PATH] == CONTENT


def test_bytes_of_another_program_are_not_written_over(path: Path) -> None:
    write(path, CUT, None)
    for other in (after(CUT) + b"grown", b"x" + after(CUT)[1:300] + b"y" * 10 + after(CUT)[310:]):
        path.write_bytes(other)
        with pytest.raises(EditError, match="was not changed"):
            undo_last_change(path)
        assert path.read_bytes() == other


def test_what_was_kept_and_has_changed_is_not_put_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_bytes, "MAX_INLINE_BYTES", 79)
    found = write(path, CUT, None).kept
    assert found is not None
    Path(found.path).write_bytes(bytes(found.length))
    with pytest.raises(EditError, match="no longer contains the bytes"):
        undo_last_change(path)
    assert path.read_bytes() == after(CUT)


def test_the_oldest_entries_go_and_never_the_newest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_bytes, "MAX_ENTRIES", 3)
    other = path.with_name("other")
    for number in range(5):
        other.write_bytes(CONTENT)
        write(other, Edit(f"Cut {number}", (), len(CONTENT), number), None)
    assert [entry.edit.label for entry in stored_changes(other, Disk())] == ["Cut 4", "Cut 3", "Cut 2"]
    monkeypatch.setattr(old_bytes, "MAX_TOTAL_BYTES", 10)
    write(path, CUT, None)
    assert [entry.edit.label for entry in stored_changes(path, Disk())] == [CUT.label]
    assert list(stored_changes(other, Disk())) == []


# ---- the history -----------------------------------------------------------------------------------------------------


@each_size
def test_what_was_written_is_listed_newest_first_and_the_last_can_be_undone(path: Path) -> None:
    first = Edit("First", (Patch(0, CONTENT[:2], b"XY"),), len(CONTENT), len(CONTENT))
    write(path, first, None)
    write(path, Edit("Second", (), len(CONTENT), 20), None)
    past = past_changes(path)
    assert [(each.edit.label, each.can_undo) for each in past] == [("Second", True), ("First", False)]
    assert past[0].written_ns >= past[1].written_ns > 0
    undo_last_change(path)
    assert [(each.edit.label, each.can_undo) for each in past_changes(path)] == [("First", True)]


def test_where_other_bytes_stand_now_nothing_can_be_undone(path: Path) -> None:
    write(path, Edit("First", (Patch(0, CONTENT[:2], b"XY"),), len(CONTENT), len(CONTENT)), None)
    path.write_bytes(b"ab" + CONTENT[2:])
    assert [each.can_undo for each in past_changes(path)] == [False]


def test_listing_neither_locks_nor_needs_to_write(path: Path) -> None:
    write(path, CUT, None)
    path.chmod(0o400)
    assert [each.can_undo for each in past_changes(path)] == [True]


@each_size
def test_cleared_nothing_is_left_and_the_archive_is_as_it_was(path: Path) -> None:
    write(path, CUT, None)
    other = path.with_name("other.tacozip")
    other.write_bytes(CONTENT)
    write(other, CUT, None)
    content = path.read_bytes()
    assert forget_changes(path) == 1
    assert (path.read_bytes(), past_changes(path), forget_changes(path)) == (content, (), 0)
    assert not path.with_name(f"{path.name}.cut").exists()
    assert len(past_changes(other)) == 1
    with pytest.raises(EditError, match="no change of it is stored"):
        undo_last_change(path)


def test_an_end_that_cannot_be_read_whole_is_not_cut(path: Path) -> None:
    class Short(Watched):
        """Reads stop a byte before the end, as if the file had shrunk."""

        def call(self, name: str, *arguments: Any) -> Any:
            if name != "read":
                return super().call(name, *arguments)
            descriptor, size, offset = arguments
            return super().call(name, descriptor, max(0, min(size, len(CONTENT) - 1 - offset)), offset)

    with pytest.raises(EditError, match="ends before the bytes to be kept"):
        write(path, CUT, None, Short())
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_an_end_that_grew_back_as_zeros_was_not_undone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash while undoing may leave the old size and not the old bytes."""
    monkeypatch.setattr(old_bytes, "MAX_INLINE_BYTES", 10)
    write(path, Edit("Cut", (), 700, 620), None)
    os.truncate(path, 700)
    undo_last_change(path)
    assert path.read_bytes() == CONTENT
