"""A journal is read back as it was written, or it is seen that it was not."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, EditError, Patch
from inspector.sources.local.changes import journal
from inspector.sources.local.changes.journal import (
    BrokenJournal,
    Journal,
    decode,
    encode,
    find,
    load,
    save,
)
from inspector.sources.local.changes.journal_paths import journal_paths, may_have_journal
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import Identity
from tests.sources.disks import EDITS, Watched

NUMBERS = st.integers(0, 2**64 - 1)
LENGTH = 40


@st.composite
def journals(draw: st.DrawFn) -> Journal:
    """Any journal of a small file: patches in any order, its end cut off, added to or left."""
    cut = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=6)))
    old = draw(st.binary(min_size=LENGTH, max_size=LENGTH))
    spans = list(zip(cut[::2], cut[1::2], strict=False))
    patches = [
        Patch(start, old[start:stop], draw(st.binary(min_size=stop - start, max_size=stop - start)))
        for start, stop in draw(st.permutations(spans))
    ]
    size = draw(st.integers(max((stop for _, stop in spans), default=0), LENGTH + 5))
    if size > LENGTH:
        patches.append(Patch(LENGTH, b"", draw(st.binary(min_size=size - LENGTH, max_size=size - LENGTH))))
    identity = Identity(draw(NUMBERS), draw(NUMBERS), LENGTH, draw(st.integers(-(2**63), 2**63 - 1)))
    label = draw(st.text(st.characters(), max_size=9))
    path = os.fsdecode(draw(st.binary(max_size=9)))
    dropped = draw(st.sampled_from([old[size:], None]))
    return Journal(path, identity, Edit(label, tuple(patches), LENGTH, size), dropped)


ONE = Journal("/a", Identity(1, 2, 700, 3), EDITS["three"], b"")


@given(journals())
def test_a_journal_survives_its_file(each: Journal) -> None:
    assert decode(encode(each)) == each


@given(st.integers(0, len(encode(ONE)) - 1), st.integers(1, 255))
def test_any_damage_is_seen(at: int, change: int) -> None:
    data = bytearray(encode(ONE))
    data[at] ^= change
    with pytest.raises(BrokenJournal):
        decode(bytes(data))


def sealed(body: bytes) -> bytes:
    """What a stranger may leave there: anything, with the right digest."""
    return body + journal._digest(body)


@given(st.binary(max_size=200), st.booleans())
def test_whatever_a_stranger_seals_is_a_sentence(body: bytes, magic: bool) -> None:
    with pytest.raises(ValueError, match="Another"):
        decode(sealed(journal._MAGIC + body if magic else body))


@given(st.integers(0, (len(encode(ONE)) - 40) // 8), st.sampled_from([-1, 2**62, 2**63 - 1, 0, 1, 699, 701]))
def test_wrong_numbers_with_the_right_digest_are_a_sentence_or_a_journal(slot: int, number: int) -> None:
    body = bytearray(encode(ONE)[:-32])
    body[8 + slot * 8 : 16 + slot * 8] = struct.pack("<q", number)
    try:
        found = decode(sealed(bytes(body)))
    except ValueError:
        return
    assert found.edit.old_size >= 0
    assert found.edit.new_size >= 0
    assert all(patch.offset >= 0 for patch in found.edit.patches)


def test_a_journal_is_its_owners_alone_and_safe_before_anything_else(path: Path) -> None:
    disk = Watched()
    place = save(ONE, path, disk)
    assert place == path.with_name(".archive.tacozip.aij")
    assert place.stat().st_mode & 0o777 == 0o600
    assert [name for name, _ in disk.log] == ["lstat", "open", "write", "sync", "close", "sync_folder"]
    assert load(place, Disk()) == ONE
    with pytest.raises(FileExistsError):
        save(ONE, path, disk)
    assert load(place, Disk()) == ONE


def test_the_second_place_is_known_by_the_path() -> None:
    central = {journal_paths(Path(name))[1] for name in ("/a/x.zip", "/b/x.zip", "/a/x.zip/", "/a/\udcff.zip")}
    assert len(central) == 3
    assert all(each.suffix == ".aij" and each.is_absolute() and each.name.isascii() for each in central)


def test_what_is_no_regular_file_is_no_journal(path: Path) -> None:
    place = journal_paths(path)[0]
    os.mkfifo(place)
    with pytest.raises(EditError, match=r"not a regular file, not a journal of this program\..* moved away"):
        load(place, Disk())
    place.unlink()
    place.symlink_to(path)
    with pytest.raises(EditError, match="a symbolic link, not a journal"):
        load(place, Disk())
    place.unlink()
    place.mkdir()
    with pytest.raises(EditError, match="a folder, not a journal"):
        load(place, Disk())


def test_a_journal_of_impossible_size_is_not_read(path: Path) -> None:
    place = journal_paths(path)[0]
    with place.open("wb") as file:
        file.truncate(journal.MAX_JOURNAL_BYTES + 1)
    with pytest.raises(BrokenJournal):
        load(place, Disk())


def test_a_file_may_have_a_journal_wherever_one_is_found(tmp_path: Path) -> None:
    path, other = tmp_path / "a.zip", tmp_path / "other.zip"
    path.write_bytes(b"content")
    assert not may_have_journal(path)
    for place in journal_paths(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        assert find(path, Disk()) == place
        assert may_have_journal(path)
        place.unlink()
    assert not may_have_journal(path)
    link = tmp_path / "link.zip"
    link.symlink_to(path)
    journal_paths(path)[0].touch()
    assert may_have_journal(link)
    journal_paths(path)[0].unlink()
    other.hardlink_to(path)
    assert may_have_journal(path)  # the journal may be of the other name
    assert may_have_journal(tmp_path / "missing.zip")


@pytest.mark.parametrize("state", ["", "/var/state", "relative", "/with space/state"])
def test_the_state_folder_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", state)
    central = platformdirs.user_state_path("archive-inspector", appauthor=False) / "journals"
    assert journal_paths(Path("/a/x.zip"))[1].parent == central
