"""What an interrupted change has left, said before anything is done, and the ways out of it."""

from __future__ import annotations

import contextlib
import errno
import os
from itertools import product
from pathlib import Path

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.span import Span
from inspector.sources.local.changes import journal
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.journal import ChangeState
from inspector.sources.local.changes.journal_paths import journal_paths
from inspector.sources.local.changes.recovery import finish, forget, pending, roll_back
from inspector.sources.local.disk_calls import Disk
from tests.sources.disks import CONTENT, Stopped, Watched, after, killing, names, refusing
from tests.sources.interruptions import GROWING, SHRINKING, THREE, interrupted, some, waiting


@pytest.mark.parametrize("chosen", list(product([False, True], repeat=3)))
@pytest.mark.parametrize("way", [finish, roll_back], ids=lambda each: each.__name__)
def test_any_of_three_writes_may_have_been_made(chosen: tuple[bool, ...], way: object, path: Path) -> None:
    interrupted(path, THREE, some(THREE, chosen))
    kind = ChangeState.FINISHED if all(chosen) else ChangeState.MIXED if any(chosen) else ChangeState.NOT_BEGUN
    found = waiting(path, kind)
    assert found.spans == tuple(
        sorted(patch.span for patch, there in zip(THREE.patches, chosen, strict=True) if not there)
    )
    assert found.finish
    assert found.roll_back
    assert "can be finished (new bytes) or rolled back" in found.story
    assert bool(found.forget) == (kind is not ChangeState.MIXED)
    if kind is ChangeState.MIXED:
        with pytest.raises(EditError, match="The journal cannot be removed"):
            forget(path)
    if way is finish:
        assert finish(path) == "archive.tacozip has its new bytes."
    else:
        assert roll_back(path) == "archive.tacozip is as it was before the change."
    assert path.read_bytes() == (after(THREE) if way is finish else CONTENT)
    assert names(path) == [path.name]
    assert pending(path) is None
    for again in (finish, roll_back, forget):
        assert again(path) == "No change of archive.tacozip is waiting to be finished."


def test_a_broken_journal_means_that_nothing_was_touched(path: Path) -> None:
    place = interrupted(path, THREE, CONTENT)
    place.write_bytes(place.read_bytes()[:-1])
    found = waiting(path, ChangeState.BROKEN)
    assert "before it started" in found.story
    for way in (finish, roll_back):
        with pytest.raises(EditError, match="before it started"):
            way(path)
    forget(path)
    assert names(path) == [path.name]
    assert path.read_bytes() == CONTENT


DAMAGE = {
    "a bit": lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
    "a bit of its head": lambda whole: whole[:72] + bytes([whole[72] ^ 64]) + whole[73:],
    "no bytes of its own": lambda _: b'{"a":1}',
    "zeros": lambda whole: bytes(len(whole)),
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("content", [CONTENT, some(THREE, (True, False, False))], ids=["untouched", "torn"])
def test_a_journal_that_cannot_be_read_is_kept_whatever_is_chosen(how: str, content: bytes, path: Path) -> None:
    place = interrupted(path, THREE, content)
    damaged = DAMAGE[how](place.read_bytes())
    place.write_bytes(damaged)
    story = waiting(path, ChangeState.UNREADABLE).story
    assert "cannot be read" in story
    assert "before it started" not in story
    for way in (finish, roll_back):
        with pytest.raises(EditError, match="cannot be read"):
            way(path)
    assert place.read_bytes() == damaged
    for name in (".archive.tacozip.aij.kept", ".archive.tacozip.aij.kept-2"):
        place.write_bytes(damaged)
        assert name in forget(path)
        assert path.with_name(name).read_bytes() == damaged
    assert path.read_bytes() == content
    assert pending(path) is None


def test_a_journal_cut_off_later_is_not_taken_for_an_unfinished_one(path: Path) -> None:
    """It says what stood in the file, and that is not what stands there."""
    place = interrupted(path, THREE, some(THREE, (True, False, False)))
    place.write_bytes(place.read_bytes()[:-1])
    waiting(path, ChangeState.UNREADABLE)


@pytest.mark.parametrize("size", [0, 5, 40, 150])
def test_a_journal_that_was_begun_is_a_change_that_was_not(size: int, path: Path) -> None:
    place = interrupted(path, THREE, CONTENT)
    place.write_bytes(place.read_bytes()[:size])
    waiting(path, ChangeState.BROKEN)
    forget(path)
    assert names(path) == [path.name]


def test_the_journal_of_a_file_that_was_replaced_waits_for_it(path: Path) -> None:
    place = interrupted(path, THREE, some(THREE, (True, False, False)))
    torn = path.read_bytes()
    path.write_bytes(b"another file")
    forget(path)
    path.write_bytes(torn)
    place.with_name(f"{place.name}.kept").rename(place)
    finish(path)
    assert path.read_bytes() == after(THREE)


def test_foreign_bytes_are_shown_and_never_written_over(path: Path) -> None:
    content = bytearray(some(THREE, (True, False, False)))
    for at in (15, 60, 61, 643):
        content[at] = next(byte for byte in range(256) if byte not in (CONTENT[at], after(THREE)[at]))
    interrupted(path, THREE, bytes(content))
    found = waiting(path, ChangeState.FOREIGN)
    assert found.spans == (Span(15, 16), Span(60, 62), Span(643, 644))
    assert "[15, 16), [60, 62), [643, 644)" in found.story
    for way in (finish, roll_back):
        with pytest.raises(EditError, match="neither old nor new"):
            way(path)
    assert path.read_bytes() == content
    forget(path)
    assert path.read_bytes() == content
    assert names(path) == [".archive.tacozip.aij.kept", path.name]


@pytest.mark.parametrize("size", [0, 600, 701, 5000])
def test_a_file_of_a_size_that_the_change_does_not_know_is_another(size: int, path: Path) -> None:
    interrupted(path, THREE, after(THREE))
    os.truncate(path, size)
    found = waiting(path, ChangeState.OTHER_FILE)
    assert f"has {size:,} bytes, not 700" in found.story
    with pytest.raises(EditError, match="Nothing is written"):
        finish(path)
    forget(path)
    assert path.stat().st_size == size


def test_another_file_in_the_same_place_is_left_alone(path: Path) -> None:
    interrupted(path, THREE, CONTENT)
    other = path.with_name("other")
    other.write_bytes(bytes(700))
    other.replace(path)
    found = waiting(path, ChangeState.OTHER_FILE)
    assert "had its name then" in found.story
    assert "has other bytes" in found.story


def test_a_file_moved_with_its_journal_is_recovered_by_what_it_holds(path: Path) -> None:
    place = interrupted(path, THREE, some(THREE, (True, False, False)))
    moved = path.with_name("moved.zip")
    moved.write_bytes(path.read_bytes())
    place.rename(journal_paths(moved)[0])
    path.unlink()
    assert f"then {path}," in waiting(moved, ChangeState.MIXED).story
    finish(moved)
    assert moved.read_bytes() == after(THREE)


def test_a_file_that_is_gone_leaves_a_journal_to_forget(path: Path) -> None:
    interrupted(path, THREE, CONTENT)
    path.unlink()
    assert "no longer there" in waiting(path, ChangeState.OTHER_FILE).story
    with pytest.raises(EditError, match="no longer there"):
        finish(path)
    forget(path)
    assert names(path) == [".archive.tacozip.aij.kept"]


def test_a_symbolic_link_leads_to_the_journal_of_its_file(path: Path) -> None:
    interrupted(path, THREE, some(THREE, (True, False, False)))
    (path.parent / "deeper").mkdir()
    link = path.parent / "deeper" / "link"
    link.symlink_to(path)
    assert waiting(link, ChangeState.MIXED).path == path
    roll_back(link)
    assert path.read_bytes() == CONTENT
    assert link.is_symlink()


@pytest.mark.parametrize("size", range(700, 791, 15))
@pytest.mark.parametrize("zeros", [0, 9])
def test_a_file_that_had_not_grown_yet_all_the_way(size: int, zeros: int, path: Path) -> None:
    """A crash may leave the new size and not the new bytes: zeros there are of nobody."""
    done = after(GROWING)
    content = done[:size] if not zeros else (done[: size - zeros] + bytes(zeros) if size > 709 else CONTENT)
    for way, wanted in ((finish, done), (roll_back, CONTENT)):
        path.write_bytes(CONTENT)
        interrupted(path, GROWING, content)
        assert waiting(
            path,
            ChangeState.FINISHED
            if content == done
            else ChangeState.NOT_BEGUN
            if content == CONTENT
            else ChangeState.MIXED,
        )
        way(path)
        assert path.read_bytes() == wanted


@pytest.mark.parametrize("dropped", [True, False])
def test_before_the_end_is_cut_off_both_ways_are_open(dropped: bool, path: Path) -> None:
    interrupted(path, SHRINKING, some(SHRINKING, (True,)), dropped=dropped)
    assert "cut off the last 80 bytes" in waiting(path, ChangeState.MIXED).finish
    roll_back(path)
    assert path.read_bytes() == CONTENT
    interrupted(path, SHRINKING, CONTENT, dropped=dropped)
    finish(path)
    assert path.read_bytes() == after(SHRINKING)


def test_an_end_that_is_off_comes_back_from_the_journal_only(path: Path) -> None:
    interrupted(path, SHRINKING, after(SHRINKING))
    assert "90 in 2 places" in waiting(path, ChangeState.FINISHED).roll_back
    roll_back(path)
    assert path.read_bytes() == CONTENT
    interrupted(path, SHRINKING, after(SHRINKING), dropped=False)
    assert waiting(path, ChangeState.FINISHED).roll_back == ""
    with pytest.raises(EditError, match="after the last write"):
        roll_back(path)
    finish(path)
    assert path.read_bytes() == after(SHRINKING)


def test_an_end_that_came_back_as_zeros_is_written_again(path: Path) -> None:
    """A crash while rolling back may have left the old size and not the old bytes."""
    interrupted(path, SHRINKING, CONTENT[:650] + bytes(50))
    waiting(path, ChangeState.MIXED)
    roll_back(path)
    assert path.read_bytes() == CONTENT


def test_a_size_between_is_of_another_program_where_the_end_is_not_kept(path: Path) -> None:
    interrupted(path, SHRINKING, CONTENT[:660], dropped=False)
    assert "660 bytes, not 700 or 620" in waiting(path, ChangeState.OTHER_FILE).story


def test_a_large_change_is_judged_byte_by_byte(path: Path) -> None:
    size = (1 << 20) + 5
    edit = Edit("Fill", (Patch(0, bytes(size), b"\1" * size),), size, size)
    interrupted(path, edit, b"\1" * (size - 3) + bytes(3))
    assert waiting(path, ChangeState.MIXED).spans == (Span(1 << 20, size),)
    path.write_bytes(b"\1" * ((1 << 20) - 1) + b"\2\2" + bytes(4))
    assert waiting(path, ChangeState.FOREIGN).spans == (Span((1 << 20) - 1, (1 << 20) + 1),)


def test_names_and_labels_of_strangers_are_made_visible(path: Path) -> None:
    edit = Edit("\u202egnp.exe\n", THREE.patches, 700, 700)
    interrupted(path, edit, CONTENT)
    story = waiting(path, ChangeState.NOT_BEGUN).story
    assert story.isprintable()


def test_a_file_that_became_read_only_says_so_and_keeps_its_journal(path: Path) -> None:
    place = interrupted(path, THREE, some(THREE, (True, False, False)))
    path.chmod(0o444)
    waiting(path, ChangeState.MIXED)
    with pytest.raises(EditError, match="read-only"):
        finish(path)
    assert place.exists()


def test_what_cannot_be_read_is_a_sentence(path: Path) -> None:
    place = interrupted(path, THREE, CONTENT)
    place.unlink()
    place.symlink_to(path)
    for look in (pending, finish, roll_back, forget):
        with pytest.raises(EditError, match="not a journal of this program"):
            look(path)
    assert place.is_symlink()


def test_a_journal_of_another_version_is_left_to_that(path: Path) -> None:
    place = interrupted(path, THREE, CONTENT)
    body = place.read_bytes()[:7] + b"\2" + place.read_bytes()[8:-32]
    place.write_bytes(body + journal._digest(body))
    for look in (pending, finish, roll_back, forget):
        with pytest.raises(EditError, match="another version"):
            look(path)
    assert place.exists()


def test_bytes_are_safe_before_the_journal_that_stands_in_for_them_goes(path: Path) -> None:
    """After a crash of the program alone, the new bytes are in the system's memory only."""
    for way in (finish, roll_back, forget):
        interrupted(path, THREE, after(THREE))
        disk = Watched()
        way(path, disk)
        order = [name for name, _ in disk.log if name in ("sync", "unlink", "sync_folder")]
        assert order == ["sync", "unlink", "sync_folder"]


def test_a_file_system_without_locks_is_no_obstacle(path: Path) -> None:
    interrupted(path, THREE, some(THREE, (True, False, False)))
    disk = Watched(refusing("lock", errno.ENOLCK))
    assert pending(path, disk) is not None
    finish(path, disk)
    assert path.read_bytes() == after(THREE)


def test_looking_writes_nothing(path: Path) -> None:
    interrupted(path, THREE, some(THREE, (True, False, False)))
    disk = Watched()
    pending(path, disk)
    assert not disk.named("write", "truncate", "unlink", "make_folder")
    assert all(flags == os.O_RDONLY for _, flags in disk.named("open"))
    assert isinstance(disk.beneath, Disk)


@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize("finished", [False, True])
def test_a_change_under_one_hard_link_is_seen_under_the_other(path: Path, central: bool, finished: bool) -> None:
    interrupted(path, THREE, some(THREE, (True, False, False)))
    (path.parent / "elsewhere").mkdir()
    other = path.parent / "elsewhere" / "other" if central else path.with_name("other")
    if central:
        beside, in_state = journal_paths(path)
        in_state.parent.mkdir(parents=True, exist_ok=True)
        beside.rename(in_state)
    os.link(path, other)

    with pytest.raises(EditError, match="an earlier change was interrupted"):
        write(other, THREE, None)
    found = pending(other)
    assert found is not None
    assert found.kind is ChangeState.MIXED
    (finish if finished else roll_back)(other)
    assert path.read_bytes() == (after(THREE) if finished else CONTENT)
    assert pending(path) is None


@pytest.mark.parametrize("name", ["archive.tacozip", "renamed", "", "b/y"], ids=lambda each: each or "one name only")
@pytest.mark.parametrize("damage", ["none", "cut", "zeros", "a bit of its head"])
def test_a_change_is_seen_under_every_other_name_of_the_file(path: Path, name: str, damage: str) -> None:
    """The first name may be gone or changed; nothing is written, and the way out leads to one of the two states."""
    (path.parent / "b").mkdir()
    other = path.parent / "b" / "y"
    os.link(path, other)

    with contextlib.suppress(Stopped):
        write(path, THREE, None, Watched(killing(lambda _, called, given: called == "write" and given[2] == 14)))
    torn = other.read_bytes()
    assert torn not in (CONTENT, after(THREE))
    place = journal_paths(path)[0]
    whole = place.read_bytes()
    place.write_bytes({"none": whole, "cut": whole[:300], "zeros": bytes(300)}.get(damage, b"?" + whole[1:]))
    if name == "renamed":
        path.rename(path.with_name("renamed"))
    elif not name:
        path.unlink()

    with pytest.raises(EditError, match="an earlier change was interrupted"):
        write(other, Edit("Another", (Patch(0, torn[:2], b"??"),), len(torn), len(torn)), None)
    found = pending(other)
    assert found is not None
    assert other.read_bytes() == torn
    if damage == "none":
        assert finish(other)
        assert other.read_bytes() == after(THREE)
    else:
        assert found.kind is ChangeState.UNREADABLE
        assert "kept" in forget(other)
        assert other.read_bytes() == torn
    assert pending(other) is None


@pytest.mark.parametrize("damage", ["cut", "zeros"])
def test_a_broken_journal_in_the_folder_may_be_of_a_file_with_several_names(path: Path, damage: str) -> None:
    """One that an earlier version wrote: no entry leads to it, and its own name is gone."""
    place = interrupted(path, THREE, some(THREE, (True, False, False)))
    torn = path.read_bytes()
    os.link(path, path.with_name("other"))
    path.rename(path.with_name("renamed"))
    place.write_bytes(place.read_bytes()[:300] if damage == "cut" else bytes(300))
    for name in ("other", "renamed"):
        with pytest.raises(EditError, match="an earlier change was interrupted"):
            write(path.with_name(name), THREE, None)
        assert path.with_name(name).read_bytes() == torn
    alone = path.with_name("alone")
    alone.write_bytes(CONTENT)
    write(alone, THREE, None)
    assert alone.read_bytes() == after(THREE)


def test_what_leads_to_a_journal_goes_with_it(path: Path) -> None:
    os.link(path, path.with_name("other"))
    write(path, THREE, None)
    assert not list(journal_paths(path)[1].parent.glob("*"))
    assert pending(path.with_name("other")) is None
