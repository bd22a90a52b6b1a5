"""Archives that lost or gained bytes: what is in doubt, what is extracted, and that no copy called sound is wrong."""

from __future__ import annotations

import random
import re
import struct
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.core.format import MemberError
from inspector.core.member import MISPLACED, SHARED
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats._damage import find_doubled
from inspector.formats._signatures import has_signature
from inspector.formats.caf import FORMAT
from inspector.formats.caf.shift import is_text_mode
from inspector.operations.edit.plan_repairs import plan
from tests.formats import archives
from tests.formats.archives import codes
from tests.formats.caf.building import build_archive
from tests.formats.caf.repairing import checked, contents, plans, repaired
from tests.formats.caf.shifting import PREFIX, Case, cases, outcome
from tests.operations.extract.extracting import extract, files
from tests.samples.writers import Files, index_json, ranges_of

PNG = b"\x89PNG\r\n\x1a\n"
FILES = {f"{number}.png": PNG + bytes([number + 65]) * (300 + 7 * number) for number in range(8)}
DATA = b"".join(FILES.values())
START = {name: start for name, start, _ in ranges_of(FILES)}


def shifted(data: bytes, files: Files = FILES) -> bytes:
    """The index of the files behind other data than theirs."""
    return build_archive(index_json(ranges_of(files)), data)


def lost(at: int, size: int) -> bytes:
    return shifted(DATA[:at] + DATA[at + size :])


def inserted(at: int, what: bytes) -> bytes:
    return shifted(DATA[:at] + what + DATA[at:])


def offered(data: bytes) -> dict[str, Repair]:
    return {each.code: each for each in plans(checked(data))}


def written(repair: Repair) -> dict[str, bytes]:
    """The members of the new archive, which has to be sound."""
    assert repair.content is not None
    after = checked(b"".join(repair.content(Progress())))
    assert not codes(after)
    return {name.decode(): content for name, content in contents(after)}


# ---- any damage -------------------------------------------------------------------------------------------------


def _assert_truth(case: Case) -> Counter[str]:
    """Nothing wrong is called right, whatever is accepted; returns how many members come out by which repair."""
    archive = checked(case.data)
    assert codes(archive) in (["caf-shifted"], ["caf-end-byte-inclusive"]), case
    if archive.members.marks is None and codes(archive) == ["caf-shifted"]:
        assert archive.detail.shift.front
    right: Counter[str] = Counter()
    for index, (name, content) in enumerate(contents_in_place(archive)):
        if not (archive.members.marks or bytes(len(archive.members)))[index] & MISPLACED:
            assert case.files[name] == content or codes(archive) != ["caf-shifted"], (case.seed, case.kind, name)
            right["in place"] += 1
    for repair in plans(archive):
        if repair.content is None:
            assert codes(archive) == ["caf-end-byte-inclusive"]
            continue
        found = outcome(case, repair)
        assert found.findings == (), (case.seed, case.kind, found)
        assert found.wrong == 0, (case.seed, case.kind, found)
        right[repair.code] += found.right
    return right


def contents_in_place(archive: object) -> list[tuple[str, bytes]]:
    """What the index points at, as far as it is there."""
    members, source = archive.members, archive.source  # type: ignore[attr-defined]
    return [(member.path.decode(), source.read(member.spans[0].start, member.size)) for member in members]


def test_no_copy_that_checks_sound_holds_a_wrong_member() -> None:
    right: Counter[str] = Counter()
    for case in cases(0, 260):
        right += _assert_truth(case)
    assert min(right.values()) > 100
    assert set(right) == {
        "in place",
        "caf-salvage",
        "caf-realign",
        "caf-leave-out-doubled",
        "caf-undo-text-mode",
        "caf-salvage-doubtful",
    }


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(260, 20_260, 1_000))
def test_no_copy_that_checks_sound_holds_a_wrong_member_of_many(first: int) -> None:
    for case in cases(first, first + 1_000):
        _assert_truth(case)


def _with_a_wrong_number(case: Case) -> tuple[str, bytes]:
    """The archive with one number of its index wrong too, but not the last end, and what was done to which."""
    rng = random.Random(case.seed)
    index = index_json(ranges_of(case.files))
    numbers = list(re.finditer(rb"(?<=_byte\":)\d+", index))
    assert case.data[-len(index) - 4 : -4] == index
    digit = rng.choice([at for each in numbers[:-1] for at in range(*each.span())])
    value = rng.choice([each for each in b"0123456789x" if each != index[digit]])
    return f"{index[:digit]!r} then {value:c}", build_archive(
        index[:digit] + bytes((value,)) + index[digit + 1 :], case.data[: -len(index) - 4]
    )


@pytest.mark.parametrize("first", [0, pytest.param(260, marks=pytest.mark.sweep)])
def test_a_wrong_number_hides_no_lost_or_inserted_bytes(first: int) -> None:
    right = 0
    for case in cases(first, first + 260):
        if len([each for each in case.files.values() if each]) < 6:
            continue
        what, data = _with_a_wrong_number(case)
        archive = checked(data)
        for member in archive.members:
            if member.marks & (MISPLACED | SHARED):
                continue
            with suppress(MemberError):
                content = b"".join(FORMAT.read(archive, member.index, Progress()))
                assert case.files[member.path.decode()] == content, (case.seed, case.kind, what, member.path)
                right += 1
    assert right > 300


# ---- what is said -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 100])
def test_members_before_a_loss_are_in_place_and_the_others_in_doubt(size: int) -> None:
    archive = checked(lost(START["4.png"] + 50, size))
    (found,) = archive.findings
    assert found.code == "caf-shifted"
    assert found.message.startswith(f"{size} byte{'s' * (size > 1)} w{'ere' if size > 1 else 'as'} lost before the ")
    assert "4 members before that are in their place" in found.message
    assert "3 members after that begin" in found.message
    assert found.spans[0] == (START["4.png"], START["5.png"] - size)
    verdicts = [archive.verdict(member) for member in range(8)]
    assert verdicts == [Verdict.NOT_CHECKABLE] * 4 + [Verdict.DOUBTFUL] * 4


@pytest.mark.parametrize(
    ("inside", "lost"),
    [
        ({name: b"%04d" % number * 100 for number, name in enumerate("abc")}, 1),
        # Where a whole member is lost, every other begins like the one whose place it took.
        ({f"{number}.png": PNG + bytes([number]) * 92 for number in range(6)}, 100),
    ],
    ids=["no signatures", "equal ones"],
)
def test_where_nothing_shows_the_place_everything_is_in_doubt(inside: Files, lost: int) -> None:
    archive = checked(shifted(b"".join(inside.values())[lost:], inside))
    assert "Nothing shows where" in archive.findings[0].message
    assert {archive.verdict(member) for member in range(len(inside))} == {Verdict.DOUBTFUL}
    (repair,) = plans(archive)
    assert repair.code == "caf-salvage-doubtful"
    assert set(written(repair)) <= {f"{name}.doubtful" for name in inside}


def test_an_empty_member_is_never_in_doubt() -> None:
    files = {"a": b"0123456789", "empty": b"", "b": b"abc"}
    archive = checked(shifted(b"0123456789", files))
    assert [archive.verdict(each.index) for each in archive.members if not each.size] == [Verdict.NOT_CHECKABLE]


def test_members_of_the_second_archive_are_in_doubt_too() -> None:
    first = build_archive(index_json([("a", 0, 1)]), b"x")
    archive = checked(first + shifted(DATA))
    assert codes(archive) == ["caf-two-archives"]
    assert archive.verdict(0) is Verdict.DOUBTFUL


def test_a_byte_after_every_member_is_still_the_habit_of_a_writer() -> None:
    ranges = [(name, start, stop - 1) for name, start, stop in ranges_of(FILES)]
    assert codes(checked(build_archive(index_json(ranges), DATA))) == ["caf-end-byte-inclusive"]
    archive = checked(build_archive(index_json(ranges), DATA + b"five!"))
    assert archive.findings[0].message.startswith("5 bytes were inserted")


# ---- what is offered --------------------------------------------------------------------------------------------


def test_members_behind_a_loss_are_written_from_where_they_are() -> None:
    repairs = offered(lost(START["4.png"] + 50, 33))
    whole = {name: content for name, content in FILES.items() if name != "4.png"}
    assert written(repairs["caf-realign"]) == whole
    assert written(repairs["caf-salvage"]) == {name: FILES[name] for name in list(FILES)[:4]}
    assert repairs["caf-realign"].claim
    assert "'4.png'" in repairs["caf-realign"].loses[0]


def test_a_header_of_http_in_front_is_left_out() -> None:
    text = {"a.txt": b"some text\n" * 9, "b.txt": b"more of it\n"}
    repairs = offered(shifted(PREFIX + b"".join(text.values()), text))
    assert written(repairs["caf-realign"]) == text
    assert "caf-salvage-doubtful" not in repairs


@pytest.mark.parametrize("size", [64, 777])
@pytest.mark.parametrize("at", [0, 500, len(DATA) - 777])
def test_a_doubled_block_is_left_out(at: int, size: int) -> None:
    files = {**FILES, "0.png": PNG + bytes(range(256)) * 4, "7.png": bytes(range(250, 0, -1)) * 8 + b"end"}
    data = b"".join(files.values())
    archive = checked(shifted(data[: at + size] + data[at:], files))
    found = next((each for each in archive.findings if each.code == "caf-doubled"), None)
    doubled = data[at : at + size]
    if (doubled + doubled).find(doubled, 1) < size:
        assert found is None, "a shorter piece that is repeated is no evidence"
        return
    assert found is not None
    assert written({each.code: each for each in plans(archive)}["caf-leave-out-doubled"]) == files


def test_doubled_bytes_are_found_over_the_edges_of_windows() -> None:
    data = bytearray(b"".join(struct.pack("<I", number * 2_654_435_761 % 2**32) for number in range(900_000)))
    size, at = 1_500_000, 300_000
    data[at + size : at + size] = data[at : at + size]
    found = find_doubled(BytesSource(bytes(data)), size, len(data), Progress())
    assert found is not None
    assert (found.start, found.size) == (at, size)


def test_two_doubled_blocks_are_no_explanation() -> None:
    one, two = bytes(range(100)), bytes(range(100, 200))
    assert find_doubled(BytesSource(one * 2 + b"-" + two * 2), 100, 401, Progress()) is None
    assert find_doubled(BytesSource(one * 2 + b"-" + two), 100, 301, Progress()) is not None


def test_a_copy_in_text_mode_is_undone() -> None:
    text = {"a.csv": b"1,2,3\n" * 20, "b.bin": b"\r\n\n\r" * 3, "c": b"\n"}
    data = b"".join(text.values())
    repairs = offered(shifted(data.replace(b"\n", b"\r\n"), text))
    assert written(repairs["caf-undo-text-mode"]) == text
    assert is_text_mode(BytesSource(b"a\r\nb"), 1, 4, Progress())
    assert not is_text_mode(BytesSource(b"a\nb\r\n"), 1, 5, Progress())


def test_duplicate_names_become_different_in_what_is_written() -> None:
    ranges = [("same", start, stop) for _, start, stop in ranges_of(FILES)]
    data = build_archive(index_json(ranges), DATA[: START["4.png"] + 50] + DATA[START["4.png"] + 83 :])
    assert len(written(offered(data)["caf-salvage-doubtful"])) == len(FILES)


@pytest.mark.parametrize("in_place", [True, False])
def test_nothing_is_repaired_unless_accepted(in_place: bool) -> None:
    archive = archives.checked(BytesSource(inserted(START["2.png"] + 9, DATA[:64]), "a.caf"))
    planned = plan(archive, Progress(), in_place=in_place)
    assert not planned.repairs
    assert planned.salvage is not None
    assert planned.salvage.code == "caf-salvage"
    assert {each.code for each in planned.waiting} == {"caf-realign", "caf-salvage-doubtful"}
    accepted = plan(archive, Progress(), ("caf-realign",), in_place=in_place)
    assert not accepted.repairs
    assert accepted.salvage is not None
    assert accepted.salvage.code == "caf-realign"


def test_an_index_that_was_closed_over_lost_entries_puts_nothing_in_doubt() -> None:
    whole = shifted(DATA)
    after = repaired(checked(whole[: whole.index(b'"6.png"')]))
    assert codes(after) == ["caf-unlisted"]
    assert "entries were lost" in after.findings[0].message
    *kept, (_, rest) = contents(after)
    assert kept == [(name.encode(), FILES[name]) for name in list(FILES)[:6]]
    assert rest == b"".join(FILES[name] for name in list(FILES)[6:])
    again = checked(b"x" + after.source.read(0, after.source.size))
    assert codes(again) == ["caf-shifted", "caf-unlisted"]


# ---- extracting -------------------------------------------------------------------------------------------------


def test_members_in_doubt_are_extracted_only_after_confirming(tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(lost(START["4.png"] + 50, 33))
    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {name: FILES[name] for name in list(FILES)[:4]}
    assert result.doubtful.count == 4
    assert "bytes were lost or inserted" in result.doubtful.listed[0].sentence
    assert not result.whole


def test_signatures_need_four_bytes() -> None:
    assert has_signature(PNG)
    assert has_signature(bytes(257) + b"ustar")
    assert not has_signature(b"BM")
    assert not has_signature(b"")


def test_data_of_an_archive_without_members_is_damage() -> None:
    archive = checked(build_archive(index_json([]), b"some data"))
    (found,) = archive.findings
    assert found.code == "caf-shifted"
    assert "lists no members" in found.message
    assert not plans(archive)


def test_members_seen_to_be_moved_are_in_doubt_though_the_index_is_not_whole() -> None:
    moved = bytearray(shifted(DATA[:100] + b"x" * 699 + DATA[100:]))
    moved[len(DATA) + 699] = 0xF0
    archive = archives.opened(BytesSource(bytes(moved), "moved.caf"))

    assert {each.path.decode() for each in archive.members if each.marks & MISPLACED} == set(FILES)
