"""Repairs of TACO archives: an interrupted update, a damaged header, a lost directory, salvage."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.formats.taco.write import payload_of, why_not_editable
from inspector.operations.check.checking import state_of
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.open.opening import Opened
from tests.formats import archives
from tests.formats.archives import after, salvaged
from tests.formats.taco.taco_building import updated, written
from tests.formats.zip.zip_building import patched
from tests.sweeping import every, places

A = b"0123456789" * 5
B = bytes(range(200))
AT_A, AT_B = (197, 50), (278, 200)


@pytest.fixture(scope="session")
def data() -> bytes:
    """A sound archive of a header and two members, with an entry for each."""
    made = written({"DATA/a.bin": A, "b": B}, [AT_A, AT_B])
    assert made[AT_A[0] :].startswith(A)
    assert made[AT_B[0] :].startswith(B)
    return made


def checked(data: bytes) -> Opened:
    return archives.checked(BytesSource(data, "x.tacozip"))


def planned(data: bytes, *accepted: str) -> Plan:
    return archives.planned(BytesSource(data, "x.tacozip"), *accepted)


def codes(repairs: tuple[Repair, ...]) -> list[str]:
    return [repair.code for repair in repairs]


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


NEW = payload_of([(160, 100), AT_A, AT_B])


@pytest.mark.parametrize("local", [False, True])
def test_an_update_that_was_cut_off_is_finished(data: bytes, local: bool) -> None:
    """After the second write the local header has the CRC-32 of the payload; before it nothing proves the payload."""
    finished = updated(data, NEW, local=True, central=True)
    broken = updated(data, NEW, local=local, central=False)
    asked = planned(broken)
    assert codes(asked.repairs if local else asked.waiting) == ["taco-finish-update"]
    assert bool(asked.repairs) is local
    result = planned(broken, "taco-finish-update")
    assert (codes(result.repairs), result.waiting, result.state) == (["taco-finish-update"], (), State.SOUND)
    assert after(result) == finished
    assert tacozip.read_header(after(result)) == [(160, 100), AT_A, AT_B]
    assert bool(result.repairs[0].loses) is not local
    # The payload is not written again, and no other byte.
    assert result.edit is not None
    assert {len(patch.new) for patch in result.edit.patches} == {4}


def test_the_shipped_torn_archive_is_finished(sample: Callable[[str], Path]) -> None:
    result = planned(sample("torn-after-write-2.tacozip").read_bytes())
    assert result.state is State.SOUND
    assert len(unzipped(after(result))) == len(result.before.members)


PAYLOADS = st.builds(
    payload_of, st.lists(st.tuples(st.integers(0, 600), st.integers(0, 600)), max_size=7), st.integers(0, 7)
)


def agrees(data: bytes) -> bool:
    """Whether the payload has the CRC-32 that both records have."""
    crc = struct.pack("<I", zlib.crc32(data[41:157]))
    return crc == data[14:18] == data[data.index(b"PK\1\2") + 16 :][:4]


@given(PAYLOADS)
def test_an_update_inside_the_file_is_finished_or_taken_back_only_on_a_word(data: bytes, payload: bytes) -> None:
    broken = updated(data, payload, local=False, central=False)
    if payload == data[41:157]:
        return
    asked = planned(broken)
    assert (asked.repairs, after(asked)) == ((), broken)
    assert "taco-finish-update" in codes(asked.waiting)
    finished = after(planned(broken, "taco-finish-update"))
    assert finished == updated(data, payload, local=True, central=True)
    if "taco-restore-payload" in codes(asked.waiting):
        assert after(planned(broken, "taco-restore-payload")) == data


@given(st.binary(min_size=116, max_size=116), st.sampled_from(["mixed", "noise", "flips"]), st.randoms())
def test_no_payload_is_made_right_by_writing_its_crc_unasked(
    data: bytes, noise: bytes, kind: str, rng: random.Random
) -> None:
    """Whatever the damage: what plain repair writes over both records or over the payload, a record proved before."""
    payload = bytearray(data[41:157])
    if kind == "noise":
        payload[:] = noise
    elif kind == "mixed":
        payload[: rng.randrange(116)] = NEW[: rng.randrange(116)]
        payload = bytearray(bytes(payload)[:116].ljust(116, b"\0"))
    else:
        for _ in range(rng.randrange(1, 6)):
            payload[rng.randrange(116)] ^= 1 << rng.randrange(8)
    broken = patched(data, 41, bytes(payload))
    left = after(planned(broken))
    assert left in (broken, data)
    assert agrees(left) is (left == data)


@given(st.integers(41, 156), st.integers(1, 255))
def test_a_single_wrong_byte_of_the_header_is_set_back(data: bytes, at: int, bits: int) -> None:
    broken = patched(data, at, bytes((data[at] ^ bits,)))
    asked, result = planned(broken), planned(broken, "taco-restore-payload")
    assert after(result) == data
    assert codes(result.repairs) == ["taco-restore-payload"]
    sensible = broken[41] <= 7 and not any(broken[42:45])
    assert codes(asked.waiting) == ["taco-restore-payload", "taco-finish-update"] * sensible
    assert bool(result.repairs[0].claim) is sensible


@given(st.integers(41 * 8, 157 * 8 - 1), st.integers(41 * 8, 157 * 8 - 1))
def test_two_flipped_bits_of_the_header_are_found(data: bytes, one: int, other: int) -> None:
    broken = bytearray(data)
    broken[one // 8] ^= 1 << one % 8
    broken[other // 8] ^= 1 << other % 8
    assert after(planned(bytes(broken), "taco-restore-payload")) == data


def test_every_error_of_two_bits_changes_the_crc_in_its_own_way() -> None:
    none = zlib.crc32(bytes(116))
    singles = [zlib.crc32((1 << bit).to_bytes(116, "little")) ^ none for bit in range(928)]
    pairs = {one ^ other for at, one in enumerate(singles) for other in singles[:at]}
    assert len(pairs | set(singles) - {0}) == 431_056
    assert 0 not in pairs


def test_a_small_update_and_two_flipped_bits_are_told_with_what_speaks_for_each(data: bytes) -> None:
    """The same bytes: an entry that led to a member and was changed, or damage that leads nowhere."""
    payload = payload_of([AT_A, (AT_B[0] ^ 2, AT_B[1] ^ 1)])
    broken = updated(data, payload, local=False, central=False)
    restore, finish = planned(broken).waiting
    for each in (restore, finish):
        assert "Entry 0 is 197 and 50 bytes, the data of DATA/a.bin." in each.claim
        assert (
            "Entry 1 is 276 and 201 bytes, elsewhere in this file; it was 278 and 200 bytes, the data of b."
            in each.claim
        )
    assert "no update of the header was interrupted" in restore.claim
    assert "nothing is damaged" in finish.claim
    assert after(planned(broken, "taco-restore-payload")) == data
    assert after(planned(broken, "taco-finish-update")) == updated(data, payload, local=True, central=True)


@pytest.mark.parametrize(
    "payload",
    [
        payload_of([(5, 700)]),
        payload_of([(2**64 - 1, 2**64 - 1), (3, 3)]),
        payload_of([]),
        payload_of([(160, 0), (7, 8)]),
        payload_of([(160, 9), (170, 8)], 1),
    ],
)
def test_a_payload_that_does_not_convince_is_finished_only_after_confirming(data: bytes, payload: bytes) -> None:
    broken = updated(data, payload, local=False, central=False)
    result = planned(broken)
    assert result.repairs == ()
    assert codes(result.waiting) == ["taco-finish-update"]
    assert "are as written" in result.waiting[0].claim
    assert after(planned(broken, "taco-finish-update")) == updated(data, payload, local=True, central=True)


@pytest.mark.parametrize("payload", [b"\x20" * 116, b"\1\2\3\4" + bytes(112), bytes(range(100, 216))])
def test_what_no_program_writes_is_not_finished(data: bytes, payload: bytes) -> None:
    result = planned(updated(data, payload, local=False, central=False), "taco-finish-update")
    assert (result.repairs, result.waiting) == ((), ())
    assert result.state is State.DAMAGED
    assert result.salvage is not None


def test_a_wrong_crc_in_the_local_header_is_set_to_what_the_other_record_says(data: bytes) -> None:
    result = planned(patched(data, 14, b"\1\2\3\4"))
    assert after(result) == data
    assert (codes(result.repairs), result.repairs[0].claim) == (["taco-set-local-crc"], "")


@pytest.mark.parametrize("place", [30, -1])
def test_a_wrong_name_of_the_header_is_set_right(data: bytes, place: int) -> None:
    at = place if place > 0 else data.index(b"PK\1\2") + 46
    result = planned(patched(data, at, b"TACO_HEADEX"))
    assert after(result) == data
    assert codes(result.repairs) == ["taco-set-name"]


def test_a_truncated_archive_is_whole_again(sample: Callable[[str], Path]) -> None:
    broken = sample("truncated.tacozip").read_bytes()
    result = planned(broken)
    assert (codes(result.repairs), result.state) == (["zip-rebuild-end"], State.SOUND)
    assert set(unzipped(after(result))) == {each.path.decode() for each in result.before.members}
    assert tacozip.read_header(after(result)) == tacozip.read_header(broken)


@every(3)
def test_an_archive_cut_off_anywhere_after_its_first_member_is_repaired(data: bytes, step: int) -> None:
    for size in places(AT_A[0] + len(A), len(data), step, [AT_B[0], AT_B[0] + len(B), data.index(b"PK\1\2")]):
        result = planned(data[:size])
        assert result.state is State.SOUND, size
        names = ["TACO_HEADER", "DATA/a.bin"] + (["b"] if size >= AT_B[0] + len(B) else [])
        assert list(unzipped(after(result))) == names
        assert tacozip.read_header(after(result)) == [AT_A, AT_B]


def test_an_entry_that_leads_to_a_lost_member_is_named(data: bytes) -> None:
    losses = " ".join(planned(data[: AT_B[0] + 10]).repairs[0].loses)
    assert "b, which is incomplete" in losses
    assert "target of entry 1 of the TACO header" in losses
    assert "entry 0" not in losses


def test_a_truncated_archive_with_a_torn_header_is_repaired_in_both(data: bytes) -> None:
    torn = updated(data, NEW, local=False, central=False)
    asked = planned(torn[: data.index(b"PK\1\2")])
    assert (codes(asked.repairs), codes(asked.waiting)) == (["zip-rebuild-end"], ["taco-finish-update"])
    assert asked.state is State.TORN
    result = planned(torn[: data.index(b"PK\1\2")], "taco-finish-update")
    assert codes(result.repairs) == ["zip-rebuild-end", "taco-finish-update"]
    assert result.state is State.SOUND
    assert unzipped(after(result))["TACO_HEADER"] == NEW


def test_the_header_alone_is_no_archive_to_be_repaired(data: bytes) -> None:
    """As one range request brings it."""
    result = planned(data[:157])
    assert (result.repairs, result.waiting, result.salvage) == ((), (), None)


def test_salvage_moves_the_entries_with_their_members(data: bytes) -> None:
    result = planned(patched(data, AT_A[0], b"X"))
    assert codes(result.waiting) == ["zip-accept-content-1"]
    new = salvaged(result)
    assert {name: content for name, content in unzipped(new).items() if name != "TACO_HEADER"} == {"b": B}
    first, (offset, length) = tacozip.read_header(new)
    assert first == (0, 0)  # what it leads to is not there any more, and other bytes are in its place
    assert "entry 0: its member" in " ".join(result.salvage.loses if result.salvage else ())
    assert new[offset : offset + length] == B
    assert state_of([checked(new)]) is State.SOUND


@pytest.mark.parametrize("bit", range(32))
def test_a_disk_number_in_the_end_record_is_repaired_and_every_member_extracted(data: bytes, bit: int) -> None:
    at = data.rindex(b"PK\5\6") + 4 + bit // 8
    broken = patched(data, at, bytes((1 << bit % 8,)))
    assert all(each is Verdict.VERIFIED for each in map(checked(broken).verdict, range(3)))
    result = planned(broken)
    assert (codes(result.repairs), result.repairs[0].needs_consent) == (["zip-rebuild-end"], False)
    assert after(result) == data


def test_a_salvage_has_one_header_where_the_directory_does_not_lead_to_the_old_one(data: bytes) -> None:
    """The directory has the other members on disk 1 and the header on another: its entry leads nowhere."""
    end = data.rindex(b"PK\5\6")
    broken = patched(data, end + 4, b"\1")
    at = broken.index(b"PK\1\2", broken.index(b"PK\1\2") + 4)
    while 0 <= at < end:
        broken = patched(broken, at + 34, b"\1")
        at = broken.find(b"PK\1\2", at + 4)
    result = planned(broken)
    saved = salvaged(result)
    assert [each.path for each in checked(saved).members] == [b"TACO_HEADER", b"DATA/a.bin", b"b"]
    assert unzipped(saved)["b"] == B
    for (offset, length), content in zip(tacozip.read_header(saved), (A, B), strict=False):
        assert saved[offset : offset + length] == content
    assert result.salvage is not None
    assert result.salvage.outcomes is not None
    assert sorted(each.path for each in result.salvage.outcomes()) == [b"DATA/a.bin", b"TACO_HEADER", b"b"]


def test_salvage_of_a_damaged_header_has_none_of_its_entries(data: bytes) -> None:
    broken = patched(data, 50, b"\xff\xff\xff\xff")
    result = planned(broken)
    new = salvaged(result)
    assert tacozip.read_header(new) == []
    assert {name: content for name, content in unzipped(new).items() if name != "TACO_HEADER"} == {
        "DATA/a.bin": A,
        "b": B,
    }
    assert "match no CRC-32" in " ".join(result.salvage.loses if result.salvage else ())


def test_salvage_of_a_header_with_an_impossible_count_checks(data: bytes) -> None:
    head = bytearray(data[: data.index(b"PK\1\2")])
    head[41] = 8
    head[14:18] = zlib.crc32(head[41:157]).to_bytes(4, "little")
    result = planned(bytes(head[:-1]))
    new = salvaged(result)
    assert state_of([checked(new)]) is State.SOUND
    assert new[41] == 7
    assert "count of the TACO header, 8" in " ".join(result.salvage.loses if result.salvage else ())


def test_the_older_layout_is_finished_and_rebuilt_too(sample: Callable[[str], Path]) -> None:
    ghost = sample("ghost.taco").read_bytes()
    central = ghost.index(b"PK\1\2")
    assert after(planned(patched(ghost, central + 16, b"\1\2\3\4"))) == ghost
    assert unzipped(after(planned(ghost[:central]))) == unzipped(ghost)


@given(st.data())
def test_whatever_is_wrong_ends_in_words(data: bytes, choice: st.DataObject) -> None:
    broken = bytearray(data)
    for _ in range(choice.draw(st.integers(1, 6))):
        broken[choice.draw(st.integers(0, len(data) - 1))] = choice.draw(st.integers(0, 255))
    archive = checked(bytes(broken[: choice.draw(st.integers(0, len(data)))]))
    result = plan(archive, Progress())
    everything = plan(archive, Progress(), codes(result.waiting))
    assert len(everything.repairs) < 20
    for repair in (*everything.repairs, *result.waiting):
        assert repair.title
        assert repair.fixes
    if result.salvage is not None:
        new = checked(salvaged(result))
        assert state_of([new]) in (State.SOUND, State.WARNING)


def test_a_torn_header_that_the_directory_does_not_know_is_finished_only_on_a_word(data: bytes) -> None:
    """As where an archive stands in front of another one."""
    torn = updated(data, NEW, local=False, central=False)
    both = torn[: data.index(b"PK\1\2")] + data
    result = planned(both)
    assert codes(result.repairs) == []
    assert "taco-finish-update" in codes(result.waiting)
    claim = next(each.claim for each in result.waiting if each.code == "taco-finish-update")
    assert "the central directory has no entry for it" in claim
    (finding,) = (each for each in result.before.findings if each.code == "taco-crc")
    assert finding.member is None


def test_padding_that_was_written_so_is_cleared_with_its_crcs(data: bytes) -> None:
    """What an edit of the header would write, without a change of its entries."""
    payload = data[41:42] + b"\0\7\0" + data[45:157]
    crc = struct.pack("<I", zlib.crc32(payload))
    at = data.index(b"PK\1\2") + 16

    result = planned(data[:14] + crc + data[18:41] + payload + data[157:at] + crc + data[at + 4 :])

    assert codes(result.repairs) == ["taco-clear-padding"]
    assert result.repairs[0].fixes == {"taco-padding"}
    assert "00 07 00. The CRC-32 shows that they were written so" in result.repairs[0].loses[0]
    assert (result.state, after(result)) == (State.SOUND, data)


@pytest.mark.parametrize("lost", [1, 4, 40])
@pytest.mark.parametrize("at", [41, 60, 116])
def test_a_header_that_lost_bytes_is_not_repaired_with_those_of_the_member_after_it(
    data: bytes, at: int, lost: int
) -> None:
    torn = data[:at] + data[at + lost :]

    before, result = checked(torn), planned(torn)

    assert state_of([before]) is State.DAMAGED
    assert not any(code.startswith("taco-") for code in codes((*result.repairs, *result.waiting)))
    members = result.after.members
    assert [result.after.verdict(index) for index in (1, 2)] == [Verdict.VERIFIED] * 2
    assert [members.path(index) for index in (1, 2)] == [b"DATA/a.bin", b"b"]
    assert why_not_editable(before)
