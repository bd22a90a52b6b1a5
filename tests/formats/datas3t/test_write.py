"""Writing a range: what it emits is a tar to others, and a range without findings to us."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.datas3t.write import MAX_DATAPOINT_BYTES, Row, WriteError, Writer, header, metadata
from tests.formats.datas3t.range_building import hashed_rows
from tests.formats.datas3t.range_repairs import Range, checked, rows_of

CONTENTS = st.lists(st.binary(max_size=1_500), min_size=1, max_size=6)


def written(first: int, contents: list[bytes]) -> Range:
    writer, out = Writer(first), bytearray()
    for content in contents:
        out += writer.begin(".bin", len(content), 1_700_000_000)
        for start in range(0, len(content), 700):
            writer.add(content[start : start + 700])
        out += content + writer.end()
        assert writer.size == len(out) + 1024
    out += writer.finish()
    assert writer.size == len(out)
    made = Range(bytes(out), metadata(writer.rows), first, first + len(contents) - 1)
    assert made.name == writer.name
    return made


@given(st.integers(0, 10**19), CONTENTS)
def test_the_written_range_is_sound(first: int, contents: list[bytes]) -> None:
    made = written(first, contents)
    archive = checked(made)
    assert archive.findings == []
    assert [member.size for member in archive.members] == [len(content) for content in contents]
    assert rows_of(made) == hashed_rows(made.read(0, made.size))
    with tarfile.open(fileobj=io.BytesIO(made.read(0, made.size))) as archived:
        assert [info.name for info in archived] == [f"{first + at:020d}.bin" for at in range(len(contents))]


def test_a_header_is_laid_out_as_in_go() -> None:
    block = header(b"00000000000000000017.json", 5, 1_700_000_000)
    assert block[:100] == b"00000000000000000017.json".ljust(100, b"\0")
    assert block[100:148] == b"0000644\x000000000\x000000000\x0000000000005\x0014524770400\0"
    assert block[148:157] == b"%06o\0 0" % (sum(block) - sum(block[148:156]) + 8 * 0x20)
    assert block[157:265] == bytes(100) + b"ustar\x0000"
    assert block[265:] == bytes(64) + b"0000000\x000000000\0" + bytes(167)


def test_values_too_large_for_a_header_are_refused() -> None:
    assert len(header(b"n" * 100, MAX_DATAPOINT_BYTES, 0)) == 512
    with pytest.raises(WriteError, match="can hold at most"):
        header(b"n", MAX_DATAPOINT_BYTES + 1, 0)
    with pytest.raises(WriteError, match="longer than the 100 bytes"):
        header(b"n" * 101, 1, 0)


@pytest.mark.parametrize(("said", "word"), [(3, "larger"), (5, "smaller")])
def test_a_datapoint_that_changes_during_writing_is_refused(said: int, word: str) -> None:
    writer = Writer(1)
    writer.begin(".bin", said, 0)
    with pytest.raises(WriteError, match=f"became {word}"):  # noqa: PT012 - one of the two tells
        writer.add(b"1234")
        writer.end()


def test_a_hash_has_no_leading_zeros_and_numbers_are_strings() -> None:
    made = Range(b"", metadata([Row(17, 8192, 9728, 0x9A)]), 17, 17)
    assert rows_of(made) == [{"id": "17", "begin_offset": "8192", "end_offset": "9728", "data_hash": "9a"}]


def test_no_rows_are_an_empty_array() -> None:
    assert rows_of(Range(b"", metadata([]), 1, 1)) == []
