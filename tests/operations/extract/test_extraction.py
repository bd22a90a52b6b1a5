"""Extracting: what was archived is there, places that are taken stay, links are not made, damage is not kept."""

from __future__ import annotations

import os
import random
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL
from inspector.core.program.progress import Progress
from inspector.operations.extract.selection import all_members
from inspector.operations.open.listing import MemberNotFoundError, load
from inspector.operations.open.reading import Reading
from inspector.operations.protocol.extraction_views import ExtractionOptions, OnConflict
from tests.conftest import SAMPLES
from tests.operations.extract.extracting import BUILD, archive, extract, files, linked_tar, tree
from tests.samples.writers import index_json
from tests.sweeping import each_third

SUFFIXES = {".caf", ".rca", ".zip", ".tar", ".taco", ".tacozip"}
FLIPS = int(os.environ.get("INSPECTOR_FLIPS", "5"))
"""How often every sample is damaged."""
EVERY = sorted(
    path
    for folder in SAMPLES
    for path in folder.iterdir()
    if path.suffix in SUFFIXES or (path.is_dir() and not path.name.startswith("_"))
)
ENTRIES = [("one.txt", b"one"), ("deep/er/two.bin", bytes(range(256))), ("deep/empty", b""), ("three.txt", b"three")]


def whole(location: Path) -> dict[str, bytes]:
    """The members that can be read and are not known to be wrong, by their names, as ``list`` and ``cat`` give them."""
    found: dict[str, bytes] = {}
    for wanted in all_members(str(location), load(str(location), Progress())):
        for member in wanted.archive.members:
            if member.marks & (FOLDER | SPECIAL):
                continue
            reading = Reading(wanted.archive, member.index)
            try:
                content = b"".join(reading.pieces(Progress()))
            except MemberError:
                continue
            if not reading.doubts().wrong:
                found.setdefault(os.fsdecode(wanted.path(member.index)), content)
    return found


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.name)
def test_every_sample_gives_what_cat_gives(tmp_path: Path, path: Path) -> None:
    wanted = whole(path)
    result = extract(path, tmp_path, ExtractionOptions(doubtful=True))
    found = files(tmp_path)

    assert found.items() <= wanted.items()
    assert result.files == len(found)
    assert len(wanted) - len(found) <= result.refused.count
    assert result.size == sum(map(len, found.values()))


parts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=12)
names = st.lists(parts, min_size=1, max_size=6).map("/".join)


@given(
    kind=st.sampled_from(sorted(BUILD)),
    contents=st.dictionaries(names, st.binary(max_size=3000), min_size=1, max_size=9),
)
def test_any_files_come_back_or_are_refused(kind: str, contents: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = archive(folder, kind, list(contents.items()))
        result = extract(path, folder / "to", ExtractionOptions(doubtful=True))
        found = files(folder / "to")
        left = result.refused.count + result.conflicts.count
        assert result.damaged.count == 0
        assert len(found) == len(contents) - left
        assert {os.path.normpath(each): data for each, data in contents.items()}.items() >= found.items()


def test_many_and_large_members(tmp_path: Path) -> None:
    entries = [(f"{number % 7}/{number}.txt", str(number).encode()) for number in range(500)]
    entries.append(("large.bin", os.urandom(3 << 20) + bytes(1 << 20)))
    for kind in BUILD:
        room = tmp_path / kind
        room.mkdir()
        result = extract(archive(room, kind, entries), room / "to")
        assert files(room / "to") == dict(entries)
        assert (result.whole, result.files) == (True, 501)


# ---- what is wanted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BUILD)
def test_members_and_folders_can_be_named(tmp_path: Path, kind: str) -> None:
    path = archive(tmp_path, kind, ENTRIES)
    result = extract(path, tmp_path / "to", names=["three.txt", "deep/er/"])
    assert sorted(files(tmp_path / "to")) == ["deep/er/two.bin", "three.txt"]
    assert result.whole
    with pytest.raises(MemberNotFoundError, match=r"three\.txt"):
        extract(path, tmp_path / "to", names=["thre.txt"])
    with pytest.raises(MemberNotFoundError):
        extract(path, tmp_path / "to", names=["/"])


def test_a_member_without_a_name_is_refused_where_it_is_asked_for(tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("", b"nameless"), ("a", b"")])
    result = extract(path, tmp_path / "to", names=[""])
    assert [problem.path for problem in result.refused.listed] == ["(no name)"]


def test_a_folder_of_ranges_is_extracted_as_it_is_listed(tmp_path: Path, sample: Callable[[str], Path]) -> None:
    extract(sample("weather"), tmp_path / "to")
    found = files(tmp_path / "to")
    ranges = {name.rpartition("/")[0] for name in found}
    assert ranges == {f"dataset/weather/datapoints/{first:020d}-{last:020d}.tar" for first, last in ((1, 4), (5, 6))}
    extract(sample("weather"), tmp_path / "one", names=[sorted(ranges)[1]])
    assert len(files(tmp_path / "one")) == 2


# ---- conflicts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "there", "done"),
    [
        (OnConflict.REFUSE, {"one.txt": b"old"}, False),
        (OnConflict.SKIP, {"one.txt": b"old"}, True),
        (OnConflict.RENAME, {"one.txt": b"old", "one (2).txt": b"one"}, True),
        (OnConflict.OVERWRITE, {"one.txt": b"one"}, True),
    ],
)
@pytest.mark.parametrize("kind", BUILD)
def test_a_file_that_is_there_already(
    tmp_path: Path, kind: str, chosen: OnConflict, there: dict[str, bytes], done: bool
) -> None:
    to = tmp_path / "to"
    to.mkdir()
    (to / "one.txt").write_bytes(b"old")
    result = extract(archive(tmp_path, kind, ENTRIES), to, ExtractionOptions(chosen))
    assert files(to) == {**dict(ENTRIES[1:]), **there}
    assert (result.whole, result.conflicts.count) == (done, 1)
    assert result.conflicts.listed[0].path == "one.txt"


def test_a_folder_in_the_place_of_a_file_is_never_replaced(tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", ENTRIES)
    (tmp_path / "to" / "one.txt").mkdir(parents=True)
    result = extract(path, tmp_path / "to", ExtractionOptions(OnConflict.OVERWRITE))
    assert not result.whole
    assert (tmp_path / "to" / "one.txt").is_dir()


def test_of_members_with_one_name_the_last_stays_where_overwriting_was_said(tmp_path: Path) -> None:
    path = archive(tmp_path, "rca", [("key", b"first"), ("other", b""), ("key", b"second"), ("key", b"third")])
    for _ in ("into nothing", "over what is there"):
        result = extract(path, tmp_path / "to", ExtractionOptions(OnConflict.OVERWRITE))
        assert files(tmp_path / "to") == {"key": b"third", "other": b""}
        assert (result.files, result.whole) == (2, True)
        (tmp_path / "to" / "key").write_bytes(b"old")


def test_a_name_that_was_given_to_another_member_is_taken(tmp_path: Path) -> None:
    path = archive(tmp_path, "rca", [("a", b"1"), ("a", b"2"), ("a (2)", b"3"), ("a", b"4")])
    result = extract(path, tmp_path / "to", ExtractionOptions(OnConflict.RENAME))
    assert files(tmp_path / "to") == {"a": b"1", "a (2)": b"2", "a (2) (2)": b"3", "a (3)": b"4"}
    assert (result.files, result.whole) == (4, True)


@pytest.mark.parametrize("chosen", OnConflict)
def test_the_archive_itself_is_never_replaced(tmp_path: Path, chosen: OnConflict) -> None:
    path = archive(tmp_path, "zip", [("archive.zip", b"bad"), ("good.txt", b"good")])
    before = path.read_bytes()
    extract(path, tmp_path, ExtractionOptions(chosen))
    assert path.read_bytes() == before
    assert (tmp_path / "good.txt").read_bytes() == b"good"


def test_a_link_that_is_there_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "one.txt").write_bytes(b"precious")
    to = tmp_path / "to"
    to.mkdir()
    (to / "one.txt").symlink_to(outside / "one.txt")
    (to / "deep").symlink_to(outside)
    (to / "three.txt").symlink_to(outside / "not-there")
    path = archive(tmp_path, "tar", ENTRIES)
    for chosen in OnConflict:
        result = extract(path, to, ExtractionOptions(chosen))
        assert tree(outside) == {b"one.txt": b"precious"}
        assert result.refused.count == 2
    assert (to / "one.txt").read_bytes() == b"one"
    assert not (to / "one.txt").is_symlink()


# ---- links and special files -----------------------------------------------------------------------------------


def test_links_and_devices_are_not_made(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    path = linked_tar(
        room,
        [
            ("absolute", tarfile.SYMTYPE, "/tmp"),
            ("up", tarfile.SYMTYPE, ".."),
            ("up/through.txt", tarfile.REGTYPE, "through"),
            ("later", tarfile.SYMTYPE, "not-yet"),
            ("chain", tarfile.SYMTYPE, "/".join(["up"] * 300)),
            ("hard", tarfile.LNKTYPE, "/etc/passwd"),
            ("hard-up", tarfile.LNKTYPE, "../../outside"),
            ("fifo", tarfile.FIFOTYPE, ""),
            ("device", tarfile.CHRTYPE, ""),
            ("block", tarfile.BLKTYPE, ""),
            ("plain.txt", tarfile.REGTYPE, "plain"),
        ],
    )
    before = tree(tmp_path)
    result = extract(path, room / "to")

    assert tree(room / "to") == {b"up": None, b"up/through.txt": b"through", b"plain.txt": b"plain"}
    assert {key: value for key, value in tree(tmp_path).items() if not key.startswith(b"room/to")} == before
    assert (result.refused.count, result.whole) == (9, False)
    assert all(not (room / "to" / name).stat().st_mode & 0o7133 for name in ("plain.txt", "up/through.txt"))


def test_a_hard_link_is_a_copy_of_a_file_extracted_with_it(tmp_path: Path) -> None:
    members = [
        ("first", tarfile.REGTYPE, "content"),
        ("second", tarfile.LNKTYPE, "first"),
        ("third", tarfile.LNKTYPE, "./second"),
        ("itself", tarfile.LNKTYPE, "itself"),
    ]
    path = linked_tar(tmp_path, members)
    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {"first": b"content", "second": b"content", "third": b"content"}
    assert [problem.path for problem in result.refused.listed] == ["itself"]
    assert len({(tmp_path / "to" / name).stat().st_ino for name in ("first", "second", "third")}) == 3

    alone = extract(path, tmp_path / "alone", names=["second"])
    assert (alone.files, alone.refused.count) == (0, 1)


# ---- damage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["zip", "rca"])
def test_what_does_not_fit_its_digest_is_not_kept_unless_it_is_said(tmp_path: Path, kind: str) -> None:
    entries = [("a.bin", os.urandom(5000)), ("b.bin", os.urandom(5000)), ("c.bin", os.urandom(5000))]
    path = archive(tmp_path, kind, entries)
    data = bytearray(path.read_bytes())
    at = data.index(entries[1][1][100:200]) + 50
    data[at] ^= 1
    path.write_bytes(data)

    result = extract(path, tmp_path / "to")
    assert "b.bin" not in files(tmp_path / "to")
    assert not result.whole
    assert result.damaged.count >= 1
    assert not [name for name in files(tmp_path / "to") if ".part" in name or "damaged" in name]

    extract(path, tmp_path / "kept", ExtractionOptions(keep_damaged=True))
    assert len(files(tmp_path / "kept")["b.bin.damaged"]) == 5000
    assert "b.bin" not in files(tmp_path / "kept")


def test_hashes_that_were_not_compared_on_opening_are_before_extracting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", 0)
    entries = [(f"{number}.bin", random.Random(number).randbytes(4000)) for number in range(9)]
    path = archive(tmp_path, "rca", entries)
    assert extract(path, tmp_path / "sound").whole

    data = bytearray(path.read_bytes())
    data[data.index(entries[4][1][100:200]) + 50] ^= 1
    path.write_bytes(data)
    result = extract(path, tmp_path / "to")
    assert [problem.path for problem in result.damaged.listed] == ["3.bin", "4.bin", "5.bin"]
    assert files(tmp_path / "to") == {name: content for name, content in entries if name[0] not in "345"}
    assert extract(path, tmp_path / "one", names=["0.bin"]).whole
    assert extract(path, tmp_path / "one", names=["4.bin"]).damaged.count == 1

    path.write_bytes(data[:-3])
    extract(path, tmp_path / "cut")
    assert sorted(files(tmp_path / "cut")) == ["0.bin", "1.bin", "2.bin"]
    extract(path, tmp_path / "word", ExtractionOptions(doubtful=True), names=["6.bin", "7.bin", "8.bin"])
    assert sorted(files(tmp_path / "word")) == ["6.bin", "7.bin"]


def test_a_size_that_cannot_be_true_keeps_no_other_member_back(tmp_path: Path) -> None:
    path = tmp_path / "x.caf"
    index = index_json([("a", 0, 4), ("huge", 4, 10**15)])
    path.write_bytes(b"four" + index + len(index).to_bytes(4, "little"))
    result = extract(path, tmp_path / "caf")
    assert (files(tmp_path / "caf"), result.refused.count) == ({"a": b"four"}, 1)

    path = archive(tmp_path, "zip", [("a", b"four"), ("huge", b"x" * 9)])
    data = bytearray(path.read_bytes())
    for at in (data.rindex(b"PK\1\2") + 10, data.rindex(b"PK\3\4") + 8):
        data[at : at + 2] = b"\x08\0"  # deflated
    for at in (data.rindex(b"PK\1\2") + 24, data.rindex(b"PK\3\4") + 22):
        data[at : at + 4] = b"\xf0\xff\xff\xff"
    path.write_bytes(data)
    result = extract(path, tmp_path / "zip")
    assert (files(tmp_path / "zip"), result.refused.count) == ({"a": b"four"}, 1)
    assert "4.0 GiB" in result.refused.listed[0].sentence


@pytest.mark.parametrize("path", each_third((path for path in EVERY if path.is_file()), lambda path: str(path.name)))
def test_whatever_a_file_holds_extracting_ends_and_stays_inside(tmp_path: Path, path: Path) -> None:
    chance = random.Random(path.name)
    room = tmp_path / "room"
    room.mkdir()
    changed = room / path.name
    for number in range(FLIPS):
        data = bytearray(path.read_bytes())
        for _ in range(chance.randrange(1, 6)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        changed.write_bytes(data)
        to = room / f"{number}"
        result = extract(changed, to, ExtractionOptions(chance.choice(list(OnConflict)), doubtful=True))
        assert (result.files, result.size) == (len(files(to)), sum(map(len, files(to).values())))
        assert list(tmp_path.iterdir()) == [room]
    assert {each.name for each in room.iterdir()} <= {path.name, *map(str, range(FLIPS))}


def test_an_archive_that_is_cut_off_says_that_something_may_be_missing(tmp_path: Path) -> None:
    path = archive(tmp_path, "tar", ENTRIES)
    path.write_bytes(path.read_bytes()[:5000])
    result = extract(path, tmp_path / "to")
    assert not result.whole
    assert any("so something may be missing." in warning for warning in result.warnings)
    alone = extract(path, tmp_path / "alone", names=["one.txt"])
    assert (alone.whole, alone.warnings) == (True, ())
