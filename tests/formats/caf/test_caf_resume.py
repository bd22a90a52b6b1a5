"""What is still listed of an index of which a few bytes are wrong."""

from __future__ import annotations

from contextlib import suppress

import pytest

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.formats.caf import FORMAT
from inspector.formats.caf.locate import first_entry
from tests.formats.caf.building import decode_archive
from tests.formats.caf.repairing import checked, codes, contents, edits, repaired, salvaged
from tests.samples.writers import index_json, ranges_of
from tests.sweeping import every

FILES = {"a/one": b"1", "b.two": b"22", 'c"3': b"", "d,é}": b"4444"}
DATA = b"".join(FILES.values())
INDEX = index_json(ranges_of(FILES))
WHOLE = [(name.encode(), content) for name, content in FILES.items()]


def with_index(index: bytes) -> bytes:
    return DATA + index + len(index).to_bytes(4, "little")


def readable(archive: Archive) -> list[tuple[bytes, bytes]]:
    """The members that can be read, with what they hold."""
    found = []
    for member in archive.members:
        with suppress(MemberError):
            found.append((member.path, b"".join(FORMAT.read(archive, member.index, Progress()))))
    return found


def is_wrong(archive: Archive) -> bool:
    return any(finding.severity is Severity.ERROR for finding in archive.findings)


@every(3)
def test_one_flipped_bit_costs_one_member_at_most(step: int) -> None:
    for bit in range(0, 8 * len(INDEX), step):
        index = bytearray(INDEX)
        index[bit // 8] ^= 1 << bit % 8
        there = readable(decode_archive(with_index(bytes(index))))
        assert sum(member in there for member in WHOLE) >= len(WHOLE) - 1, bytes(index)


def test_one_byte_that_is_missing_costs_one_member_at_most() -> None:
    for at in range(len(INDEX)):
        there = readable(decode_archive(with_index(INDEX[:at] + INDEX[at + 1 :])))
        assert sum(member in there for member in WHOLE) >= len(WHOLE) - 1, INDEX[at:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((b'{"a', new) for new in (b'{,"a', b'{ ,\n"a', b'{,,"a')),
        *((b'},"b', new) for new in (b'},,"b', b'}"b', b'}, , "b')),
    ],
)
def test_a_wrong_comma_costs_nothing(old: bytes, new: bytes) -> None:
    archive = decode_archive(with_index(INDEX.replace(old, new)))
    assert is_wrong(archive)
    assert contents(archive) == WHOLE
    after = repaired(archive)
    assert contents(after) == WHOLE
    assert not codes(after)


FRAMES = [
    (b'{"format', b'["format', "caf-index-malformed"),
    (b'{"format', b'\0"format', "caf-index-malformed"),
    (b'"1.0",', b'"1.0"', "caf-index-malformed"),
    (b'"files":{', b'"files"{', "caf-index-malformed"),
    (b'"files":{', b'"files":[', "caf-index-malformed"),
    (b'"files"', b'"filer"', "caf-index-no-files"),
]


@pytest.mark.parametrize(("old", "new", "code"), FRAMES)
def test_members_are_listed_and_saved_although_the_frame_around_them_is_damaged(
    old: bytes, new: bytes, code: str
) -> None:
    data = with_index(INDEX.replace(old, new))
    before = checked(decode_archive(data).source)
    assert code in codes(before)
    assert contents(before) == WHOLE
    after = repaired(before) if edits(before) else salvaged(before)
    assert after is not None
    assert contents(after) == WHOLE
    assert not codes(after)


@pytest.mark.parametrize("rest", [b"", b"\0\0\0", b' "x', b" 3}}}"])
def test_a_number_that_is_cut_off_is_no_number(rest: bytes) -> None:
    """Of ``12`` only ``1`` may be there: a member that ends where that says would be a wrong one."""
    start = INDEX.rindex(b'"end_byte"') + len(b'"end_byte":') + 1
    archive = decode_archive(with_index(INDEX[:start] + rest))
    assert is_wrong(archive)
    assert readable(archive) == WHOLE[:3]


def test_where_reading_goes_on_is_reported() -> None:
    index = INDEX.replace(b'},"b', b'}"b')
    archive = decode_archive(with_index(index))
    (finding,) = archive.findings
    place = len(DATA) + index.index(b'"b.two')
    assert finding.spans == ((place, place + 1),)
    assert f"continues with the entry at byte {place}" in finding.message


def test_an_object_that_only_resembles_entries_adds_no_members() -> None:
    index = b'{"format_version":"1.0","kept":{"x":{"start_byte":0,"end_byte":1}},"files":{}}'
    assert not len(decode_archive(with_index(index)).members)


@pytest.mark.parametrize("zeros", [1, 5, 600])
@pytest.mark.parametrize("cut", [5, 40, 100])
def test_an_index_that_ends_in_zeros_is_one_that_is_cut_off(cut: int, zeros: int) -> None:
    """As after a crash: the file has its size, and its last blocks were never written."""
    shorter = decode_archive(DATA + INDEX[:-cut])
    archive = decode_archive(DATA + INDEX[:-cut] + b"\0" * zeros)
    assert is_wrong(archive)
    assert readable(archive) == readable(shorter)
    assert len(archive.members)


def test_a_footer_of_zeros_and_zeros_after_it_do_not_hide_the_index() -> None:
    archive = decode_archive(DATA + INDEX + b"\0" * 512)
    assert is_wrong(archive)
    assert contents(archive) == WHOLE
    assert not codes(repaired(archive))


@pytest.mark.parametrize("after", [b"\n", b"\0" * 9, b"HTTP/1.1 200 OK"])
def test_what_follows_the_footer_is_what_is_marked(after: bytes) -> None:
    data = with_index(INDEX)
    (finding,) = decode_archive(data + after).findings
    assert finding.spans == ((len(data), len(data) + len(after)),)


@pytest.mark.parametrize("after", [b"\n", b"\xff" * 600, b"HTTP/1.1 200 OK"])
@pytest.mark.parametrize("footer", [b"", b"\0\0\0\0", b"\0\0\1\0"])
def test_an_index_is_found_by_where_its_members_end(footer: bytes, after: bytes) -> None:
    """A wrong footer, or none, and something after it."""
    archive = decode_archive(DATA + INDEX + footer + after)
    assert is_wrong(archive)
    assert contents(archive) == WHOLE
    after = repaired(archive)
    assert contents(after) == WHOLE
    assert not codes(after)


@pytest.mark.parametrize("index", [b"\0" * len(INDEX), b"[]", INDEX.decode().encode("utf-16")])
def test_where_no_index_begins_is_marked_beside_the_footer(index: bytes) -> None:
    data = with_index(index)
    (finding,) = decode_archive(data).findings
    assert finding.spans == (Span(len(data) - 4, len(data)), Span(len(DATA), len(DATA) + 1))


@pytest.mark.parametrize(
    ("data", "start"),
    [
        (b'"a":{"start_byte":0', 0),
        (b'x"a" : { "end_byte":0', 1),
        (b'"a\\"b":{"start_byte":0', 0),
        (b'"a\\\\":{"start_byte":0', 0),
        (b'\\"a":{"start_byte":0', None),
        (b'"end_byte:5},"a":{"start_byte":0', 13),
        (b'":{"start_byte":1},"a":{"start_byte":0', 19),
        (b'"a":{"size":0', None),
        (b'\\"' * 1000, None),
    ],
)
def test_the_first_entry(data: bytes, start: int | None) -> None:
    assert first_entry(data) == start


def test_an_index_that_is_not_strict_in_two_ways_is_made_strict_at_once() -> None:
    before = checked(with_index(INDEX.replace(b'"b.two"', b'"b\ttwo"').replace(b"}}}", b"},}}")))
    (repair,) = edits(before)
    assert repair.code == "caf-rewrite-index"
    assert codes(repaired(before)) == ["caf-name-hazard"]
