"""Repairs of a range: metadata from the tar, recorded hashes that stay, and the tar's own end and headers."""

from __future__ import annotations

import io
import json
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.format import MemberError
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.repair import Fate
from inspector.formats import datas3t, tar
from tests.formats.archives import codes
from tests.formats.datas3t.range_building import Row, frame, hashed_rows, points, rows_frame, unpadded
from tests.formats.datas3t.range_repairs import Range, checked, made, plans, rows_of
from tests.formats.tar.tar_building import LONG, build, content, decoded, special

POINTS = points(1, 6)
TAR = build(POINTS.items())
ROWS = hashed_rows(TAR)


def range_of(rows: object, data: bytes = TAR) -> Range:
    return Range(data, None if rows is None else rows_frame(rows), 1, 6)


def contents(source: Range) -> list[bytes]:
    """What the members hold; of one that cannot be read, why."""
    archive, found = checked(source), []
    for member in range(len(archive.members)):
        try:
            found.append(content(archive, member, datas3t.FORMAT))
        except MemberError as error:
            found.append(str(error).encode())
    return found


def changed(rows: list[Row], key: int, **values: object) -> list[Row]:
    return [{**row, **values} if row["id"] == str(key) else row for row in rows]


def test_a_sound_range_needs_nothing() -> None:
    assert not plans(range_of(ROWS))


UNPADDED = unpadded(TAR)

WRONG = {
    "missing": None,
    "no rows": [],
    "no JSON": "nonsense",
    "a row missing": [row for row in ROWS if row["id"] != "3"],
    "wrong begin": changed(ROWS, 3, begin_offset="99"),
    "wrong end": changed(ROWS, 6, end_offset="1"),
    "no hash": changed(ROWS, 2, data_hash="?"),
    "another order": ROWS[::-1],
    "numbers": [{**row, "id": int(row["id"])} for row in ROWS],
    "twice": [*ROWS, ROWS[-1]],
    "two readings": [UNPADDED[0], *ROWS[1:]],
}


@pytest.mark.parametrize("rows", WRONG.values(), ids=WRONG)
def test_metadata_is_rebuilt_from_the_tar(rows: object) -> None:
    before = range_of(rows)
    (repair,) = plans(before)
    assert repair.fixes == set(codes(checked(before)))
    assert repair.claim.startswith(("The tar is assumed right and the metadata wrong",) if rows is not None else ("",))
    assert (repair.needs_consent, repair.old is None) == (rows is not None, rows is None)
    after = made(before, repair)
    assert checked(after).findings == []
    assert rows_of(after) == ROWS
    assert contents(after) == list(POINTS.values())


def test_a_repeated_field_is_written_once() -> None:
    text = json.dumps(ROWS).replace('"id": "2"', '"id": "3", "id": "2"')
    before = Range(TAR, frame(text.encode()), 1, 6)
    (repair,) = plans(before)
    assert repair.fixes == {"datas3t-metadata-field-twice"}
    after = made(before, repair)
    assert (checked(after).findings, rows_of(after)) == ([], ROWS)


@given(st.binary(max_size=40))
def test_metadata_of_any_bytes_is_replaced(data: bytes) -> None:
    before = Range(TAR, data, 1, 6)
    (repair,) = plans(before)
    assert rows_of(made(before, repair)) == ROWS


@given(st.permutations(ROWS).flatmap(lambda rows: st.integers(0, 6).map(lambda count: rows[:count])))
def test_any_rows_are_kept_and_the_others_added(rows: list[Row]) -> None:
    before = range_of(rows)
    after = before
    for repair in plans(before):
        after = made(after, repair)
    assert rows_of(after) == ROWS
    assert not plans(after)


LOSSES: dict[str, tuple[Range, str, str]] = {
    "no frame": (
        Range(TAR, b"junk", 1, 6),
        *("The hashes in the unreadable metadata. New ones are computed from the current bytes.", ""),
    ),
    "a broken row": (
        range_of(changed(ROWS, 2, data_hash="?")),
        *("The readable parts of 1 broken row, possibly with recorded hashes.", ""),
    ),
    "a second hash": (
        range_of([*ROWS, {**ROWS[-1], "data_hash": "1"}]),
        *("Extra rows for key 6 with other hashes; the first row for each key stays.", ""),
    ),
    "a row of a missing datapoint": (
        range_of([*ROWS, {"id": "7", "begin_offset": "0", "end_offset": "512", "data_hash": "1"}]),
        "The rows for key 7, with their hashes.",
        "The tar is assumed complete, although the metadata has rows for key 7, which it does not contain.",
    ),
}


@pytest.mark.parametrize("case", LOSSES)
def test_what_is_lost_and_assumed_is_said_before_metadata_is_rebuilt(case: str) -> None:
    before, loss, claim = LOSSES[case]
    (repair,) = plans(before)
    assert repair.loses == (loss,)
    assert repair.claim.endswith(claim)
    # New hashes are those of the bytes as they are.
    assert rows_of(made(before, repair)) == ROWS


def test_a_recorded_hash_is_preserved_on_a_mismatch() -> None:
    rows = changed([row for row in ROWS if row["id"] != "2"], 4, data_hash="abc")
    before = range_of(rows)
    rebuild, trust = plans(before)
    after = made(before, rebuild)
    assert rows_of(after) == changed(ROWS, 4, data_hash="abc")
    assert codes(checked(after)) == ["datas3t-hash-mismatch"]
    assert "the bytes of 1 datapoint unchanged. Nothing" in rebuild.claim
    assert "Nothing in the range proves it" in trust.claim
    assert trust.loses == ("The recorded hash of 1 datapoint.",)
    (again,) = plans(after)
    assert again.code == trust.code
    assert rows_of(made(after, again)) == rows_of(made(before, trust)) == ROWS


def test_end_offsets_without_padding_stay_unpadded() -> None:
    before = range_of([row for row in UNPADDED if row["id"] != "5"])
    (repair,) = plans(before)
    assert rows_of(made(before, repair)) == UNPADDED


def test_metadata_of_a_damaged_tar_is_not_rebuilt() -> None:
    at = int(ROWS[3]["begin_offset"])
    data = TAR[:at] + b"\xff" * 512 + TAR[at + 512 :]
    assert not plans(range_of(ROWS[:5], data))


@pytest.mark.parametrize(
    "members",
    [
        [(f"{1:020d}.a", b"one"), (f"{1:020d}.b", b"two")],
        [(f"{1:020d}.a", b"one"), (special(f"{2:020d}.b", b"2", "x"), b"")],
        [("a.txt", b"no key")],
    ],
)
def test_no_metadata_for_a_tar_without_one_datapoint_per_key(members: list[tuple[str, bytes]]) -> None:
    assert not plans(Range(build(members), None, 1, 2))


def test_the_row_of_a_long_name_starts_at_its_first_header() -> None:
    data = build([(f"{1:020d}.{LONG.replace('/', '_')}", b"x"), (f"{2:020d}.b", b"y")], 2)
    before = Range(data, None, 1, 2)
    (repair,) = plans(before)
    assert rows_of(made(before, repair)) == hashed_rows(data)


@pytest.mark.parametrize("left", [0, 1, 511, 512, 513, 1023])
def test_the_end_of_the_tar_is_written(left: int) -> None:
    before = range_of(ROWS, TAR[: len(TAR) - 1024 + left])
    repair = plans(before)[0]
    assert (repair.code, repair.claim, repair.loses) == ("tar-write-end", "", ())
    after = made(before, repair)
    assert after.read(0, after.size) == TAR
    assert not plans(after)


def test_padding_and_end_that_were_cut_off_are_written() -> None:
    data = build([(f"{1:020d}.a", b"x")])
    before = Range(data[:513], rows_frame(hashed_rows(data)), 1, 1)
    (repair,) = plans(before)
    after = made(before, repair)
    assert after.read(0, after.size) == data


def test_an_end_that_may_hide_a_loss_needs_consent() -> None:
    half = build(list(POINTS.items())[:3])[:-1024]
    repair = plans(range_of(ROWS, half))[0]
    assert repair.code == "tar-write-end"
    assert "Nothing shows" in repair.claim
    assert [each.claim for each in tar.FORMAT.repairs(decoded(half), Progress())] == [repair.claim]


def test_a_cut_off_header_is_replaced_by_the_end_and_listed() -> None:
    half = build(list(POINTS.items())[:3])[:-1024]
    before = decoded(half + TAR[:100])
    (repair,) = tar.FORMAT.repairs(before, Progress())
    assert repair.loses == ("The 100 bytes of a cut-off header, whose member has no data in the file.",)
    assert repair.edit is not None
    assert repair.edit.new_size == len(half) + 1024


def test_nothing_is_written_after_truncated_data() -> None:
    assert not tar.FORMAT.repairs(decoded(build([("a", b"x" * 600)])[:700]), Progress())


def flipped(at: int, bit: int = 4) -> bytes:
    return TAR[:at] + bytes([TAR[at] ^ bit]) + TAR[at + 1 :]


HEAD = int(ROWS[2]["begin_offset"])


@pytest.mark.parametrize(
    ("at", "field"),
    [
        (3, "name"),
        (19, "name"),
        (104, "mode"),
        (110, "uid"),
        (121, "gid"),
        (200, "linkname"),
        (264, "magic and version"),
        (300, "gname"),
        (350, "prefix"),
        (511, "padding"),
        (150, "chksum"),
    ],
)
def test_a_single_field_that_explains_a_header_checksum_is_set(at: int, field: str) -> None:
    before = range_of(ROWS, flipped(HEAD + at, 1))
    repair = next(each for each in plans(before) if each.code == "tar-mend-header")
    assert f"Set the field {field} of the header" in repair.title
    assert repair.claim.startswith(f"Only the field {field} of the header at byte {HEAD:,} has changed")
    after = made(before, repair)
    assert not plans(after)
    if field != "chksum":
        assert after.read(0, after.size) == TAR
    assert contents(after) == list(POINTS.values())


def test_single_fields_of_several_headers_are_set_together() -> None:
    data = bytearray(flipped(HEAD + 104))
    data[int(ROWS[4]["begin_offset"]) + 150] ^= 1
    before = range_of(ROWS, bytes(data))
    (repair,) = plans(before)
    assert repair.title == f"Set the field mode of the header at byte {HEAD:,}, and one field of 1 more header"
    assert not plans(made(before, repair))


def test_two_changed_fields_are_not_repaired() -> None:
    data = bytearray(flipped(HEAD + 104))
    data[HEAD + 110] ^= 1
    assert "tar-mend-header" not in {each.code for each in plans(range_of(ROWS, bytes(data)))}


def test_metadata_and_index_alone_are_not_repaired() -> None:
    for decoder in (datas3t.METADATA, datas3t.INDEX):
        archive = decoded(Range(frame(json.dumps(ROWS).encode()), None, 1, 6), decoder)
        assert not decoder.repairs(archive, Progress())


def test_hashing_can_be_cancelled() -> None:
    (repair,) = plans(range_of(None))
    assert repair.content is not None
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        list(repair.content(progress))


@given(st.data())
def test_repairs_terminate_and_keep_readable_members_for_any_change(data: st.DataObject) -> None:
    changed_tar, changed_rows = bytearray(TAR), bytearray(rows_frame(ROWS))
    for _ in range(data.draw(st.integers(1, 3))):
        target = changed_tar if data.draw(st.booleans()) else changed_rows
        at = data.draw(st.integers(0, len(target) - 1))
        target[at] = data.draw(st.sampled_from(b"\x00 07x\xff"))
    size = data.draw(st.integers(1, len(TAR)) | st.just(len(TAR)))
    source = Range(bytes(changed_tar[:size]), bytes(changed_rows), 1, 6)
    for _ in range(20):
        before = checked(source)
        todo = [each for each in datas3t.FORMAT.repairs(before, Progress()) if not each.is_salvage]
        if not todo:
            return
        after = made(source, todo[0])
        assert todo[0].code == "tar-mend-header" or todo[0].fixes.isdisjoint(codes(checked(after))), todo[0]
        if todo[0].code == "tar-mend-header":  # its member is read again
            assert all(each in contents(after) for each in contents(source))
        elif todo[0].code != "datas3t-name-digits":
            assert contents(after) == contents(source)
        source = after
    raise AssertionError("The repairs never end.")


def test_datapoints_with_wrong_hashes_are_left_out_of_a_new_range() -> None:
    before = range_of(changed(ROWS, 3, data_hash="1"))
    archive = checked(before)
    repair = next(each for each in datas3t.FORMAT.repairs(archive, Progress()) if each.is_salvage)
    assert repair.content is not None
    assert repair.outcomes is not None
    (along,) = repair.along
    new = Range(b"".join(repair.content(Progress())), b"".join(along.content(Progress())), 1, 6)

    assert (repair.code, repair.claim) == ("datas3t-salvage", "")
    assert "datas3t-hash-mismatch" in repair.fixes
    assert contents(new) == [data for number, data in enumerate(contents(before), 1) if number != 3]
    assert "datas3t-hash-mismatch" not in codes(checked(new))
    assert any(bytes(archive.members.path(2)).decode() in sentence for sentence in repair.loses)
    assert [each.fate for each in repair.outcomes()].count(Fate.LOST) == 1


def test_a_header_that_a_new_range_needs_is_written_without_a_date() -> None:
    start = TAR.index(next(iter(POINTS.values())))
    before = range_of(ROWS, TAR[: start - 512] + bytes(512) + TAR[start:])
    repair = next(each for each in datas3t.FORMAT.repairs(checked(before), Progress()) if each.is_salvage)
    assert repair.content is not None
    new = b"".join(repair.content(Progress()))
    with tarfile.open(fileobj=io.BytesIO(new)) as found:
        assert next(iter(found)).mtime == 0
        assert found.getnames() == list(POINTS)
