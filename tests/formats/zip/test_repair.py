"""Repairs of CRC-32 records of ZIP members, and the salvage of whole members."""

from __future__ import annotations

import pytest

from inspector.core.format import MemberError
from inspector.core.member import Member
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.edit.plan_repairs import plan
from tests.formats.archives import after, codes, salvaged
from tests.formats.zip.zip_building import (
    FILES,
    PLAIN,
    STREAMED,
    WHOLE,
    checked,
    contents,
    directory_of,
    made,
    patched,
    planned,
    verified,
    written,
    zip64_archive,
)


def flipped_content() -> bytes:
    return patched(PLAIN, PLAIN.index(b"content of b"), b"K")


def test_a_wrong_crc_is_set_only_after_confirming() -> None:
    result = planned(flipped_content())
    assert result.repairs == ()
    assert [each.code for each in result.waiting] == ["zip-accept-content-1"]
    assert "Nothing in the archive proves that" in result.waiting[0].claim
    accepted = planned(flipped_content(), "zip-accept-content-1")
    assert accepted.state is State.SOUND
    assert contents(after(accepted))["b.txt"] == b"Kontent of b"


@pytest.mark.parametrize("place", ["local", "central"])
def test_a_wrong_record_is_set_to_what_content_and_the_other_record_say(place: str) -> None:
    at = 14 if place == "local" else directory_of(PLAIN) + 16
    result = planned(patched(PLAIN, at, b"\1\2\3\4"))
    assert after(result) == PLAIN
    assert made(result) == ["zip-set-records"]
    assert result.repairs[0].claim == ""


@pytest.mark.parametrize("at", [34, 36, 40, 44])
def test_sizes_in_zip64_information_are_left_alone(at: int) -> None:
    """Narrow sizes over the placeholders would change what the ZIP64 information says."""
    data, _, _ = zip64_archive()
    broken = patched(data, at, b"\7")
    assert verified(checked(broken)) == verified(planned(broken).after)


def test_salvage_copies_what_is_whole_as_it_is() -> None:
    data = written(dict(FILES, broken=b"0123456789" * 3))
    at = data.index(b"broken") + 6
    result = planned(patched(data, at, b"\xff\xff"))
    new = salvaged(result)
    assert contents(new) == {name: content for name, content in contents(data).items() if name != "broken"}
    assert state_of([checked(new)]) is State.SOUND
    (lost,) = result.salvage.loses if result.salvage else ()
    assert lost.startswith("1 member of 6")
    assert lost.endswith(": 'broken'.")
    stored = checked(data)
    copied = checked(new)
    for one, other in zip(stored.members, copied.members, strict=False):
        assert stored.source.read(*_bytes(one)) == copied.source.read(*_bytes(other))


def _bytes(member: Member) -> tuple[int, int]:
    span = member.spans[0]
    return span.start, span.size


def test_salvage_takes_the_numbers_that_were_verified() -> None:
    broken = patched(patched(STREAMED, 14, b"\1\2\3\4"), STREAMED.index(b"folder/b.bin") + 12, b"\xff")
    archive = checked(broken)
    new = salvaged(plan(archive, Progress()))
    assert verified(checked(new)) == verified(archive)
    assert b"PK\7\x08" not in new


def test_salvage_stops_where_the_file_has_become_shorter() -> None:
    result = planned(flipped_content())
    result.after.source = BytesSource(PLAIN[:40])
    with pytest.raises(MemberError, match="shorter"):
        salvaged(result)


def test_nothing_whole_gives_no_salvage() -> None:
    data = written({"a": b"0123456789"}, method=0)
    result = planned(patched(data, data.index(b"0123"), b"X"))
    assert result.salvage is None


@pytest.mark.parametrize("data", [WHOLE, STREAMED, written(comment=b"a comment")])
@pytest.mark.parametrize("at", range(4, 8))
@pytest.mark.parametrize("bit", [0, 5, 7])
def test_a_wrong_disk_number_is_read_as_zero_and_repaired_without_consent(data: bytes, at: int, bit: int) -> None:
    at += data.rindex(b"PK\5\6")
    broken = patched(data, at, bytes((1 << bit,)))
    archive = checked(broken)
    assert (codes(archive), len(verified(archive))) == (["zip-disk-number"], len(contents(data)))
    result = planned(broken)
    assert not result.repairs[0].needs_consent
    assert (made(result), after(result)) == (["zip-rebuild-end"], data)


def test_a_member_said_to_begin_on_another_disk_is_set_right_where_its_content_is_here() -> None:
    broken = patched(WHOLE, directory_of(WHOLE) + 34, b"\4\0")
    result = planned(broken)
    assert "zip-other-disk" in codes(checked(broken))
    assert (made(result), result.repairs[0].needs_consent, after(result)) == (["zip-set-headers"], False, WHOLE)


@pytest.mark.parametrize("disks", [b"\1\0", b"\0\0\1\0"])
@pytest.mark.parametrize("entry_says", [b"\0\0", b"\1\0"])
def test_a_part_of_several_disks_is_left_alone(disks: bytes, entry_says: bytes) -> None:
    """Either the first member is not in this file, or its entry says that it begins on another disk."""
    broken = patched(WHOLE, WHOLE.rindex(b"PK\5\6") + 4, disks)
    broken = patched(broken, directory_of(WHOLE) + 34, entry_says)
    if entry_says == b"\0\0":
        broken = patched(broken, 30, b"z.txt")
    assert (planned(broken).repairs, "zip-several-disks" in codes(checked(broken))) == ((), True)
