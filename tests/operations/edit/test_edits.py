"""Edits of a TACO header as a face shows and changes it, and edits as patch files."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.source import BytesSource
from inspector.operations.edit.edits import (
    MAX_PATCH_BYTES,
    decoded,
    encoded,
    header_draft,
    header_view,
    member_target,
    preview,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open import opening
from inspector.operations.protocol.header_draft import (
    EMPTY,
    EntryTarget,
    HeaderDraft,
    move,
    parse_cell,
    parse_entry,
    parse_number,
    remove,
    set_count,
    set_entry,
    with_changes,
)
from tests.formats import archives

A, B, C = (1, 10), (2, 20), (3, 30)


def draft(*entries: tuple[int, int], unused: tuple[tuple[int, int], ...] = ()) -> HeaderDraft:
    seven = (*entries, *unused, *[EMPTY] * 7)[:7]
    return HeaderDraft(len(entries), seven)


def opened(data: bytes) -> opening.Opened:
    return archives.opened(BytesSource(data, "x.tacozip"))


@pytest.fixture
def archive(sample: Callable[[str], Path]) -> opening.Opened:
    return opened(sample("two-entries.tacozip").read_bytes())


def test_a_header_is_shown_with_where_its_entries_lead(archive: opening.Opened) -> None:
    view = header_view(archive)
    assert (view.count, view.why_not, view.changed) == (2, "", frozenset())
    assert [entry.used for entry in view.entries] == [True, True, *[False] * 5]
    first = view.entries[0]
    assert (first.pointing, first.words) == (EntryTarget.MEMBER, "the data of METADATA/level0.parquet")
    assert view.entries[6].pointing is EntryTarget.NOWHERE
    assert pickle.loads(pickle.dumps(view)) == view


@pytest.mark.parametrize(
    ("entry", "pointing", "doubtful"),
    [
        (EMPTY, EntryTarget.NOWHERE, False),
        ((160, 1), EntryTarget.ELSEWHERE, False),
        ((0, 5), EntryTarget.HEADER, True),
        ((41, 116), EntryTarget.MEMBER, False),
        ((200, 2**64 - 1), EntryTarget.OUTSIDE, True),
        ((2**64 - 1, 2**64 - 1), EntryTarget.OUTSIDE, True),
    ],
)
def test_entries_that_lead_astray_are_marked_while_they_are_typed(
    archive: opening.Opened, entry: tuple[int, int], pointing: EntryTarget, doubtful: bool
) -> None:
    view = header_view(archive, set_entry(header_draft(archive), 0, entry))
    assert (view.entries[0].pointing, view.entries[0].doubtful) == (pointing, doubtful)
    assert view.changed == {0}
    unused = header_view(archive, with_changes(header_draft(archive), {5: entry}, 2))
    assert (unused.entries[5].pointing, unused.entries[5].doubtful) == (pointing, False)


@pytest.mark.parametrize(
    ("text", "number"),
    [("5000", 5000), (" 5,000 ", 5000), ("0x1388", 5000), ("0XfF", 255), ("0", 0), ("18446744073709551615", 2**64 - 1)],
)
def test_numbers_are_read_in_decimal_and_in_hex(text: str, number: int) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Type a number"),
        ("five", "five is no number"),
        ("-1", "-1 is no number"),
        ("1.5", "is no number"),
        ("0x", "is no number"),
        ("0x_", "is no number"),
        ("12ab", "is no number"),
        ("157,1000", "is no number"),
        ("1,000,00", "is no number"),
        ("1,,000", "is no number"),
        ("1000,000", "is no number"),
        ("5,000_000", "is no number"),
        ("\u0665", "is no number"),
        ("18446744073709551616", "is too large"),
        ("0x10000000000000000", "is too large"),
        ("9" * 100_000, "is no number"),
        ("\udc80\n", "is no number"),
    ],
)
def test_what_is_no_number_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(OperationError, match=words) as caught:
        parse_number(text)
    assert len(str(caught.value)) < 200


def test_an_entry_is_two_numbers() -> None:
    assert parse_entry("0x10, 20") == (16, 20)
    for wrong in ("16", "1,", ",1", "a,b"):
        with pytest.raises(OperationError):
            parse_entry(wrong)


def test_a_cell_takes_a_pair_where_the_comma_groups_no_digits() -> None:
    assert parse_cell("157,1000") == parse_cell(" 0x9d, 1000 ") == (157, 1000)
    assert parse_cell("1,571,000") == 1_571_000
    for wrong in ("157,", "157,1000,5", "157;1000", "1,571,00"):
        with pytest.raises(OperationError):
            parse_cell(wrong)


def test_drafts() -> None:
    assert set_entry(draft(A, B), 1, (7, 20)) == draft(A, (7, 20))
    assert remove(draft(A, B, C), 0) == draft(B, C)
    assert remove(draft(A), 0) == draft()
    assert move(draft(A, B, C), 0, 2) == draft(B, C, A)
    assert move(draft(A, B, C), 2, 0) == draft(C, A, B)
    assert set_count(draft(A, B, C), 1) == draft(A)


def test_what_stands_in_unused_entries_stays_until_it_is_changed() -> None:
    before = draft(A, unused=(EMPTY, B))
    assert set_entry(before, 0, (5, 1)).entries[2] == B
    assert remove(before, 0).entries == (EMPTY, EMPTY, B, *[EMPTY] * 4)
    assert set_count(before, 0).entries[2] == B
    assert set_count(before, 3) == draft(A, EMPTY, B)


def test_an_entry_that_is_set_comes_into_use_unless_the_count_says_otherwise() -> None:
    assert with_changes(draft(), {0: A}) == draft(A)
    assert with_changes(draft(A), {2: C}) == draft(A, EMPTY, C)
    assert with_changes(draft(A, B), {3: EMPTY}) == draft(A, B)
    assert with_changes(draft(A, B, C), {0: C}, 1) == draft(C)
    assert with_changes(draft(A), {1: B}, 1) == draft(A, unused=(B,))


@pytest.mark.parametrize(
    "operation",
    [
        lambda: set_entry(draft(), 7, A),
        lambda: set_entry(draft(), -1, A),
        lambda: set_entry(draft(), 0, (2**64, 0)),
        lambda: set_entry(draft(), 0, (-1, 0)),
        lambda: remove(draft(A), 1),
        lambda: remove(draft(), 0),
        lambda: move(draft(A, B), 0, 2),
        lambda: set_count(draft(), 8),
        lambda: set_count(draft(), -1),
    ],
)
def test_what_cannot_be_is_refused(operation: Callable[[], HeaderDraft]) -> None:
    with pytest.raises(OperationError, match=r"\.$"):
        operation()


def test_members_and_stretches_become_entries(archive: opening.Opened) -> None:
    member = archive.members[1]
    assert member_target(archive, 1) == (member.spans[0].start, member.stored)
    with pytest.raises(OperationError):
        member_target(archive, 99)


def test_a_preview_is_the_edit_and_changes_nothing(archive: opening.Opened) -> None:
    wanted = with_changes(draft(), {0: member_target(archive, 1), 1: (2**64 - 1, 0)})
    edit = preview(archive, wanted)
    edited = OverlaySource(archive.source, edit)
    again = opened(edited.read(0, edited.size))
    assert header_draft(again) == wanted
    assert tacozip.read_header(edited.read(0, 157)) == list(wanted.entries[:2])
    assert header_draft(archive) != wanted


def test_a_header_that_cannot_be_edited_is_shown_and_refused(sample: Callable[[str], Path]) -> None:
    archive = opened(sample("count-8.tacozip").read_bytes())
    view = header_view(archive)
    assert (view.count, len(view.entries)) == (8, 7)
    assert "its count is 8" in view.why_not
    with pytest.raises(OperationError, match="its count is 8"):
        preview(archive, header_draft(archive))


def test_other_archives_have_no_header(sample: Callable[[str], Path]) -> None:
    with pytest.raises(OperationError, match="not a TACO archive"):
        header_view(opened(sample("plain.zip").read_bytes()))
    cut = struct.pack("<4s22xHH", b"PK\3\4", 11, 100) + b"TACO_HEADER"
    with pytest.raises(OperationError, match="does not begin with a whole local file header"):
        header_view(opened(cut))


DATA = bytes(range(50))
EDIT = Edit("Change", (Patch(40, DATA[40:44], b"wxyz"), Patch(3, DATA[3:5], b"ab")), 50, 45)


def test_a_patch_comes_back_as_it_was() -> None:
    assert decoded(BytesSource(encoded(EDIT)), BytesSource(DATA)) == EDIT


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "unknown kind"),
        ({"version": 2}, "later version"),
        ({"old_size": 51}, "51 bytes"),
        ({"patches": [{"offset": 3, "old": "ffff", "new": "0000"}]}, "the file has other bytes"),
        ({"patches": [{"offset": 3, "old": "0", "new": "00"}]}, "no valid patch"),
        ({"patches": [{"offset": -3, "old": "00", "new": "00"}]}, "no valid patch"),
        ({"patches": [{"offset": 3, "old": "0304", "new": "00"}]}, "no valid patch"),
        ({"extra": 1}, "no valid patch"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], words: str) -> None:
    file = json.loads(encoded(EDIT)) | change
    with pytest.raises(OperationError, match=words):
        decoded(BytesSource(json.dumps(file).encode()), BytesSource(DATA))


def test_a_label_of_a_stranger_is_cut_off() -> None:
    file = json.loads(encoded(EDIT)) | {"label": "x" * 5_000}
    assert decoded(BytesSource(json.dumps(file).encode()), BytesSource(DATA)).label == "x" * 200


def test_a_file_that_is_too_large_is_not_read() -> None:
    class Large(BytesSource):
        def read(self, offset: int, length: int) -> bytes:  # noqa: ARG002 - a Source's
            raise AssertionError("It is read.")

    large = Large(b"", "large.json")
    large.size = MAX_PATCH_BYTES + 1
    with pytest.raises(OperationError, match=r"large\.json is too large"):
        decoded(large, BytesSource(DATA))


@given(st.binary(max_size=200))
def test_any_other_file_is_refused(data: bytes) -> None:
    with pytest.raises(OperationError):
        decoded(BytesSource(data), BytesSource(DATA))
