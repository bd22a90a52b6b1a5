"""Repairs of a Chunk Archive: what they fix, what they lose, and that members keep their bytes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import differing
from inspector.core.program.progress import Cancelled, Progress
from inspector.formats.caf import FORMAT
from inspector.formats.caf.write import Writer
from tests.formats.archives import codes
from tests.formats.caf.building import build_archive
from tests.formats.caf.repairing import checked, contents, edits, named, plans, repaired, salvaged, whole
from tests.samples.writers import index_json, ranges_of

FILES = st.dictionaries(
    st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8),
    st.binary(min_size=1, max_size=20),
    min_size=1,
    max_size=5,
)


def archive_of(files: dict[str, bytes], index: bytes | None = None) -> bytes:
    data = b"".join(files.values())
    return build_archive(index_json(ranges_of(files)) if index is None else index, data)


def indented(files: dict[str, bytes], comma: str) -> bytes:
    """An index over many lines, ``comma`` after every last element."""
    entries = [
        f'{json.dumps(name)}: {{\n "start_byte": {start},\n "end_byte": {stop}{comma}\n}}'
        for name, start, stop in ranges_of(files)
    ]
    return f'{{\n"format_version": "1.0",\n"files": {{\n{", ".join(entries)}{comma}\n}}{comma}\n}}'.encode()


@given(FILES)
def test_needless_commas_become_spaces_and_nothing_else_changes(files: dict[str, bytes]) -> None:
    before = checked(archive_of(files, indented(files, ",")))
    assert codes(before) == ["caf-index-not-strict-json"]
    (repair,) = plans(before)
    assert repair.edit is not None
    assert (repair.loses, repair.claim) == ((), "")
    assert all(before.source.read(*_run(span)) == b"," for span in differing(repair.edit))
    after = repaired(before)
    assert whole(after.source) == archive_of(files, indented(files, " "))
    assert contents(after) == contents(before)
    assert not codes(after)


def _run(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] - span[0]


SOUND = build_archive()
INDEX = SOUND[10:-4]
COMMAS = b'{"format_version":"1.0","files":{",}":{"start_byte":0,"end_byte":1,},"\\",]":{"start_byte":1,"end_byte":2}}}'
BEHIND = b'{"files":{"a":{"start_byte":0,"end_byte":1}},"format_ver'
REPAIRED: dict[str, tuple[bytes, tuple[str, ...], bytes]] = {
    "a comma too many, and others in names": (
        *(build_archive(COMMAS, b"xy"), (), build_archive(COMMAS.replace(b"1,}", b"1 }"), b"xy")),
    ),
    "a byte order mark": (build_archive(b"\xef\xbb\xbf" + INDEX), (), build_archive(b"   " + INDEX)),
    **{
        f"the footer {wrong!r}": (build_archive(footer=wrong), (), SOUND)
        for wrong in (0, 1, 2**32 - 1, b"", b"\x01\x02\x03")
    },
    "bytes after the footer": (
        SOUND + b"\xff\xfe\xfd",
        ("The 3 bytes after the footer, which belong to no part of the archive.",),
        SOUND,
    ),
    "bytes before the footer": (
        build_archive(INDEX + b"junk"),
        ("The 4 bytes between the end of the index and the footer.",),
        SOUND,
    ),
    "a version behind the entries": (
        b"x" + BEHIND,
        ('The 13 bytes of the index from byte 44 on, which are not readable entries: },"format_ver',),
        build_archive(BEHIND + b'sion":"1.0"}', b"x"),
    ),
}


@pytest.mark.parametrize("case", REPAIRED)
def test_what_the_archive_itself_proves_is_put_right(case: str) -> None:
    data, loses, expected = REPAIRED[case]
    before = checked(data)
    (repair,) = edits(before)
    after = repaired(before)
    assert (repair.loses, repair.claim) == (loses, "")
    assert whole(after.source) == expected
    assert not codes(after)


@pytest.mark.parametrize("name", ["a\tb", "a\\qb"])
def test_strings_that_are_not_json_are_written_anew(name: str) -> None:
    index = f'{{"format_version":"1.0","files":{{"{name}":{{"start_byte":0,"end_byte":2}}}}}}'
    before = checked(build_archive(index, b"xy"))
    assert "caf-index-not-strict-json" in codes(before)
    after = repaired(before)
    assert set(codes(after)) <= {"caf-name-hazard"}
    assert contents(after) == contents(before)
    json.loads(whole(after.source)[2:-4])


@given(st.integers(0, 2**32 - 1))
def test_any_wrong_footer_is_repaired(wrong: int) -> None:
    assert whole(repaired(checked(build_archive(footer=wrong))).source) == build_archive()


def test_an_index_that_does_not_fit_its_data_waits_for_a_word() -> None:
    (repair,) = edits(checked(b"more" + build_archive(footer=7)))
    assert "this is not proved" in repair.claim
    (repair,) = edits(checked(build_archive(footer=7)))
    assert repair.claim == ""


@given(FILES, st.data())
def test_a_cut_off_archive_keeps_the_first_entries_and_their_bytes(
    files: dict[str, bytes], data: st.DataObject
) -> None:
    archive = archive_of(files)
    start = sum(map(len, files.values()))
    names = [name.encode() for name in files]
    before = checked(archive[: data.draw(st.integers(start, len(archive) - 1))])
    if not edits(before):
        assert archive.find(b"}", start, before.source.size) < 0, "not one entry is closed"
        return
    after = repaired(before)
    kept = named(after)
    assert [name for name, _ in kept] == names[: len(kept)]
    assert all(content == files[name.decode()] for name, content in kept)
    assert set(codes(after)) <= {"caf-gap", "caf-unlisted", "caf-end-byte-inclusive"}
    lossless = len(kept) == len(files)
    assert lossless or any(re.search("lost\\+found", loss) for loss in edits(before)[0].loses)
    rescued = salvaged(before)
    assert rescued is None or (not codes(rescued) and contents(rescued) == kept)


@pytest.mark.parametrize("index", [None, indented({"one": b"1", "two": b"22", "three": b"333"}, "")])
def test_cut_at_every_byte_an_index_gives_all_its_closed_entries(index: bytes | None) -> None:
    files = {"one": b"1", "two": b"22", "three": b"333"}
    archive = archive_of(files, index)
    for size in range(6, len(archive)):
        before = checked(archive[:size])
        closed = min(archive[:size].count(b"}"), len(files))
        assert bool(edits(before)) == bool(closed), size
        if closed:
            after = repaired(before)
            assert named(after) == [(name.encode(), content) for name, content in files.items()][:closed], size
            assert set(codes(after)) == ({"caf-unlisted"} if closed < len(files) else set()), size


@pytest.mark.parametrize(
    ("rest", "lost"),
    [
        (b',"images/tile.bin', ',"images/tile.bin'),
        (b',"b":{"start_byte":1,', ',"b":{"start_byte":1,'),
        (b',"b' + b"c" * 500, "c ..."),
        (b",", ""),
        (b"}", ""),
    ],
)
def test_what_an_index_is_closed_over_is_shown(rest: bytes, lost: str) -> None:
    archive = archive_of({"a": b"1"})
    before = checked(archive[: archive.index(b"}") + 1] + rest)
    losses = [loss for loss in edits(before)[0].loses if "not readable entries" in loss]
    assert [loss.endswith(lost) for loss in losses] == [True] * bool(lost)
    if lost:
        assert f"The {len(rest)} bytes of the index" in losses[0]


def test_a_number_that_is_cut_off_is_no_number() -> None:
    archive = archive_of({"a": b"x" * 30, "b": b"y" * 30})
    at = archive.index(b"60}") + 1
    after = repaired(checked(archive[:at]))
    assert contents(after) == [(b"a", b"x" * 30), (b"lost+found/bytes-30-60", b"y" * 30)]


def test_damage_in_the_middle_costs_the_entries_it_hit() -> None:
    files = {name: name.encode() * 9 for name in "abcdefg"}
    index = index_json(ranges_of(files))
    for name in "bd":
        index = index.replace(b'"%s":{"start_byte"' % name.encode(), b'"%s":{#start_byte"' % name.encode())
    before = checked(archive_of(files, index))
    (repair,) = edits(before)
    assert repair.code == "caf-rewrite-index"
    assert "'b', 'd'" in repair.loses[0]
    after = repaired(before)
    assert contents(after) == [(name.encode(), files[name]) for name in "acefg"]
    assert set(codes(after)) == {"caf-gap"}


def test_bytes_before_the_index_are_not_given_to_lost_entries_unasked() -> None:
    """No entry is lost here: the bytes were inserted, and the member behind them is read from a wrong place."""
    files = {"a": b"a" * 20, "b": b"b" * 20}
    index = index_json(ranges_of(files)).replace(b"{", b"\xfb", 1)
    (repair,) = edits(checked(build_archive(index, files["a"] + b"-" * 9 + files["b"])))
    assert repair.needs_consent
    assert "read from wrong places" in repair.claim


SALVAGED: dict[str, tuple[bytes, list[tuple[bytes, bytes]], tuple[str, ...]]] = {
    "a broken entry": (
        build_archive(INDEX.replace(b'"start_byte": 0', b'"start_byte": 0.5')),
        *(
            [(b"two", b"two-two")],
            ("1 member whose place is not known: 'one'.", "3 bytes of data that belong to no member."),
        ),
    ),
    "members that are not there": (
        build_archive(index_json([("far", 5, 99), ("back", 4, 2), ("ok", 2, 5), ("first", 0, 1)]), b"0123456789"),
        *(
            [(b"first", b"0"), (b"ok", b"234")],
            ("2 members whose place is not known: 'back', 'far'.", "6 bytes of data that belong to no member."),
        ),
    ),
    "equal names, and equal entries": (
        build_archive(
            index_json([("d/a.txt", 0, 1), ("d/a.txt", 1, 3), ("d/a.txt", 0, 1), ("d/a (2).txt", 3, 4)]), b"0123"
        ),
        *(
            [(b"d/a.txt", b"0"), (b"d/a (3).txt", b"12"), (b"d/a (2).txt", b"3")],
            ("The duplicate names of 1 member, which becomes 'd/a (3).txt'.",),
        ),
    ),
    "a hidden name has no suffix": (
        build_archive(index_json([("d/.rc", 0, 1), ("d/.rc", 1, 2)]), b"01"),
        *([(b"d/.rc", b"0"), (b"d/.rc (2)", b"1")], ("The duplicate names of 1 member, which becomes 'd/.rc (2)'.",)),
    ),
    "a name that is not UTF-8": (
        build_archive(index_json([("a?", 0, 1), ("b", 1, 2)]).replace(b"?", b"\xff"), b"xy"),
        [("a\ufffd".encode(), b"x"), (b"b", b"y")],
        ("The unusable names of 1 member, which becomes 'a\ufffd'.",),
    ),
    "members that share bytes": (
        build_archive(index_json([("a", 0, 5), ("b", 4, 6), ("c", 7, 8), ("far", 9, 99)]), b"0123456789"),
        *(
            [(b"a", b"01234"), (b"b", b"45"), (b"c", b"7")],
            (
                "1 member whose place is not known: 'far'.",
                "3 bytes of data that belong to no member.",
                "Certainty about members that share bytes, which are written as the index says: 'a', 'b'.",
            ),
        ),
    ),
}


@pytest.mark.parametrize("case", SALVAGED)
def test_a_new_archive_holds_what_it_says(case: str) -> None:
    data, members, loses = SALVAGED[case]
    before = checked(data)
    *_, plan = plans(before)
    after = salvaged(before)
    assert (plan.code, plan.loses) == ("caf-salvage", loses)
    named_anew = {"caf-name-hazard"} if case == "a name that is not UTF-8" else set()
    assert set(codes(before)) - plan.fixes == named_anew
    assert after is not None
    assert contents(after) == members
    assert not codes(after)


@pytest.mark.parametrize(
    "data",
    [b"", b"abc", b"just some text", b"caff" + bytes(60), SOUND, build_archive(index_json([("a", 4, 6)]), b"moreab")],
)
def test_where_nothing_is_wrong_or_nothing_is_left_nothing_is_planned(data: bytes) -> None:
    """Warnings alone call for no new archive."""
    assert not plans(checked(data))


def test_no_salvage_is_offered_if_an_edit_fixes_everything_without_loss() -> None:
    assert [each.code for each in plans(checked(build_archive(footer=7)))] == ["caf-mend-footer"]


def test_writing_a_new_archive_can_be_cancelled() -> None:
    *_, plan = plans(checked(build_archive(footer=7)[:-20]))
    assert plan.content is not None
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        list(plan.content(progress))


def test_planning_can_be_cancelled() -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        FORMAT.repairs(checked(build_archive(footer=7)), progress)


@given(FILES, st.data())
def test_whatever_bytes_change_repairs_end_and_keep_what_they_list(
    files: dict[str, bytes], data: st.DataObject
) -> None:
    archive = bytearray(archive_of(files))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(sum(map(len, files.values())), len(archive) - 1))
        archive[at] = data.draw(st.sampled_from(b'0,:{}"x\x00\xff'))
    before = checked(bytes(archive))
    for repair in plans(before):
        assert bool(repair.edit) != bool(repair.content)
        assert repair.fixes <= set(codes(before)) or repair.code == "caf-rewrite-index"
    repaired(before)
    rescued = salvaged(before)
    assert rescued is None or set(codes(rescued)) <= {"caf-name-hazard"}


def test_many_members_are_salvaged_in_small_pieces() -> None:
    writer, data = Writer(), bytearray()
    for number in range(8_000):
        writer.member(b"%d" % number, 3, 1 << 30)
        data += b"abc"
    before = checked(bytes(data) + b"".join(writer.finish())[:-60])
    *_, plan = plans(before)
    assert plan.content is not None
    pieces = list(plan.content(Progress()))
    assert max(map(len, pieces)) < 70_000
    assert contents(checked(b"".join(pieces))) == contents(repaired(before))
