"""A CAF that a program wrote in another way: the way is proved by all members, and a copy as specified is offered."""

from __future__ import annotations

import json
from random import Random

import pytest

from inspector.core.cause import CONVERT_CODE, Cause
from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.edit.plan_repairs import plan
from tests.damage.generator import KINDS, Case, Memory, appended, damaged, make
from tests.damage.measure import contents, copies
from tests.formats.archives import checked, opened
from tests.samples import writers

KINDS_OF_INDEX = [each for each in KINDS if each.truth == {"cause-other-writer"}]
FILES = {"a.txt": b"one\n" * 30, "b.bin": Random(1).randbytes(900), "c.bin": Random(2).randbytes(70)}


def said(data: bytes) -> tuple[str, str, str | None]:
    first = checked(Memory.of("caf", data)).findings[0]
    return first.code, first.message.split(". ", 1)[0], first.repair


@pytest.mark.parametrize("kind", KINDS_OF_INDEX, ids=lambda kind: kind.name)
def test_the_copy_holds_every_member(kind: object) -> None:
    case = damaged(kind, "caf", 41)  # type: ignore[arg-type]
    archive = checked(case.source)
    first = archive.findings[0]

    assert first.code == Cause.OTHER_WRITER
    assert "its 406 members fill the data without a gap." in first.message
    assert first.repair == CONVERT_CODE
    accepted = [CONVERT_CODE] if "perhaps" in first.message else []
    salvage = plan(archive, Progress(), accepted, in_place=False).salvage
    assert salvage is not None
    assert salvage.content is not None
    assert salvage.code == CONVERT_CODE
    copy = checked(Memory.of("caf", b"".join(salvage.content(Progress()))))
    assert state_of((copy,)) is State.SOUND
    names = {name.decode().replace("Geräusch", "noise"): data for name, data in contents(copy)}
    assert names == {name.decode(): data for name, data in contents(opened(Memory.of("caf", case.original)))}


@pytest.mark.parametrize("name", ["byte-order-mark-in-front", "headers-of-a-mail-in-front", "response"])
def test_every_member_is_read_behind_what_stands_in_front(name: str) -> None:
    case: Case = damaged(next(each for each in KINDS if each.name == name), "caf", 42)
    archive = checked(case.source)
    whole = contents(opened(Memory.of("caf", case.original)))

    assert contents(archive) == whole
    assert ", which has no error without " in archive.findings[0].message
    assert sorted(contents(opened(copies(case, archive)[0]))) == sorted(whole)


def test_a_mark_before_binary_members_and_a_status_line_alone_are_in_front() -> None:
    data = writers.caf({"b.bin": b"\x00\x01" * 900, "c.bin": Random(2).randbytes(70)})
    for front in (b"\xef\xbb\xbf", b"HTTP/1.0 200 OK\r\n\r\n", b"From a Mon\nTo: b\n c\nX: \n\n"):
        assert contents(opened(Memory.of("caf", front + data))) == contents(opened(Memory.of("caf", data)))


@pytest.mark.parametrize("times", [1, 3])
def test_what_was_appended_on_top_is_not_lost(times: int) -> None:
    data, new = make("caf", Random(5)).data, []
    for number in range(times):
        new.append((b"z%d" % number, writers.caf({"inner.txt": b"x" * 99}) if number else b"new\n" * 40))
        data = appended(data, new[-1][0].decode(), new[-1][1])
    archive = checked(Memory.of("caf", data))
    first = archive.findings[0]

    assert state_of((archive,)) is State.WARNING
    assert (first.code, first.repair) == (Cause.APPENDED, "unwrap-archive")
    assert first.message.startswith(f"{times} member{'s were' if times > 1 else ' was'} appended behind ")
    assert {each.code for each in archive.findings} == {Cause.APPENDED, "caf-gap"}
    every = contents(archive)
    assert set(new) < set(every)
    (copy,) = copies(Case("", "caf", data, frozenset()), archive)
    again = checked(copy)
    assert (sorted(contents(again)), again.findings) == (sorted(every), [])


def test_a_member_that_was_replaced_by_appending_is_named_as_lost() -> None:
    for content in (b"new", writers.caf({"inner.txt": b"x" * 99})):
        archive = checked(Memory.of("caf", appended(make("caf", Random(5)).data, "small.bin", content)))
        first = archive.findings[0]
        assert first.message.startswith(
            "1 member was appended behind an earlier index, and the last leaves out 900 bytes that it lists."
        )
        salvage = plan(archive, Progress(), in_place=False).salvage
        assert salvage is not None
        assert salvage.loses == (
            "900 bytes of members that were replaced or deleted: only an earlier index listed them.",
        )
        assert (b"small.bin", content) in contents(archive)


def test_an_index_that_lists_other_places_is_not_an_earlier_one() -> None:
    longer = make("caf", Random(7), 300_000).data
    shorter = make("caf", Random(5)).data
    archive = checked(Memory.of("caf", shorter + longer[len(shorter) :]))
    assert "caf-overwritten" in {each.code for each in archive.findings}

    size = int.from_bytes(shorter[-4:], "little")
    files = json.loads(shorter[-4 - size : -4])["files"]
    files["small.bin"]["end_byte"] -= 1
    index = json.dumps({"format_version": "1.0", "files": files}).encode()
    assert Cause.APPENDED not in {
        each.code for each in checked(Memory.of("caf", shorter + index + len(index).to_bytes(4, "little"))).findings
    }


def with_index(index: bytes) -> bytes:
    return writers.caf(FILES, index)


def entries(**changed: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(writers.index_json(sorted(writers.ranges_of(FILES))))["files"]
    return found | changed


def test_what_does_not_make_all_members_fit_is_not_told() -> None:
    short = entries() | {"c.bin": {"start_byte": "1020", "end_byte": "1089"}}  # it ends at 1,090
    for wrong in (short, entries(extra={"start_byte": "3", "end_byte": "4"}), entries(extra=[]), {}):
        index = json.dumps({"format_version": "1.0", "files": wrong}).encode()
        for data in (index, index.decode().encode("utf-16")):
            assert all(each.code != Cause.OTHER_WRITER for each in checked(Memory.of("caf", with_index(data))).findings)


def test_one_byte_that_is_not_utf8_is_a_flipped_bit_and_two_are_perhaps_latin1() -> None:
    index = writers.index_json(sorted(writers.ranges_of(FILES)))
    one, two = index.replace(b"a.txt", b"\xe9.txt"), index.replace(b"a.txt", b"\xe9.t\xe9t")

    assert said(with_index(one))[0] == Cause.FLIPPED_BIT
    assert said(with_index(two)) == (
        Cause.OTHER_WRITER,
        "The index is perhaps Latin-1: read so, its 3 members fill the data without a gap",
        CONVERT_CODE,
    )


@pytest.mark.parametrize(
    "index",
    [b"{" * 5_000, b"{'files': " + b"[" * 9_000, b"\x1f\x8b\x08" + bytes(90), b"\xff\xfe{", b'{"files": {"a": 1}}'],
)
def test_what_cannot_be_read_in_any_way_is_no_error(index: bytes) -> None:
    assert checked(Memory.of("caf", with_index(index))).findings[0].code != Cause.OTHER_WRITER


def test_a_sound_archive_is_not_asked() -> None:
    assert checked(Memory.of("caf", make("caf", Random(1)).data)).findings == []
