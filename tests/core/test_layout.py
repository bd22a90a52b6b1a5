"""Records of fixed-size parts, whole and cut off: one table is the size, the values, the fields and the packed form."""

from __future__ import annotations

import pytest

from inspector.core.kinds import Kind
from inspector.core.layout import Part, Record, fields_of, packed, padded_text, unsigned_be
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK, PLACES
from inspector.formats._zip import records

PARTS = (
    Part("size", 2, Kind.LENGTH, note=lambda size: f"{size} bytes"),
    Part("name", 0, Kind.NAME, bytes.decode),
    Part("sum", 4, Kind.DIGEST, unsigned_be, digits=8),
)


def test_every_part_has_its_bytes_and_an_empty_one_its_place() -> None:
    fields = fields_of(PARTS, b"\1\2\0\0\0\xff", 10)
    assert [field.value for field in fields] == [0x201, "", 255]
    assert [(field.name, field.spans, field.shown, field.note) for field in fields] == [
        ("size", (Span(10, 12),), "513", "513 bytes"),
        ("name", (Span(12, 12),), "", ""),
        ("sum", (Span(12, 16),), "0x000000ff", ""),
    ]


def test_a_part_that_is_cut_off_has_no_value() -> None:
    fields = fields_of(PARTS, b"\1\2\0\0\0", 10)
    assert (fields[2].value, fields[2].spans) == (None, (Span(12, 15),))
    assert fields[2].note == "Cut off: 3 of 4 bytes are there."
    fields = fields_of(PARTS, b"", 10)
    assert [(field.name, field.value) for field in fields] == [("name", "")]


# ---- records ---------------------------------------------------------------------------------------------------------

POINT = Record(
    Part("mark", 2, Kind.SIGNATURE, padded_text), Part("x", 4, Kind.NUMBER), Part("label", 6, Kind.TEXT, padded_text)
)
DATA = b"PT\1\2\0\0ab \0\0\0"


def test_values_and_fields_follow_from_the_parts() -> None:
    assert POINT.size == len(DATA)
    assert (POINT.value("mark", DATA), POINT.number("x", DATA), POINT.value("label", DATA)) == ("PT", 0x201, "ab")
    assert [(field.name, field.value, field.spans) for field in POINT.fields(DATA, 100)] == [
        ("mark", "PT", (Span(100, 102),)),
        ("x", 0x201, (Span(102, 106),)),
        ("label", "ab", (Span(106, 112),)),
    ]


def test_a_record_that_is_cut_off_has_what_is_there() -> None:
    fields = POINT.fields(DATA[:4], 0)

    assert [field.spans for field in fields] == [(Span(0, 2),), (Span(2, 4),)]
    assert fields[1].note == "Cut off: 2 of 4 bytes are there."
    assert POINT.number("label", DATA[:4]) == 0


@pytest.mark.parametrize(
    ("form", "names", "size"),
    [
        (records.LOCAL_STRUCT, records.Local, records.LOCAL_SIZE),
        (records.CENTRAL_STRUCT, records.Central, records.CENTRAL_SIZE),
        (records.END_STRUCT, records.End, records.END_SIZE),
        (records.ZIP64_END_STRUCT, records.Zip64End, records.ZIP64_END_SIZE),
    ],
)
def test_the_packed_form_has_a_value_for_each_name(form: object, names: type[tuple[object, ...]], size: int) -> None:
    assert form.size == size  # type: ignore[attr-defined]
    assert len(form.unpack(bytes(size))) == len(names._fields)  # type: ignore[attr-defined]


def test_packed_reads_what_the_fields_show() -> None:
    parts = (Part("mark", 2, Kind.SIGNATURE), Part("x", 4, Kind.NUMBER), Part("y", 2, Kind.NUMBER))

    assert packed(parts).unpack(b"PT\1\2\0\0\3\0") == (b"PT", 0x201, 3)


def test_the_fields_of_a_tar_header_fill_a_block() -> None:
    assert list(PLACES.values())[-1].stop == BLOCK
    assert PLACES["prefix"] == slice(345, 500)
