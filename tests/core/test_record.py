"""One table of parts is the size, the values, the fields and the packed form of a record."""

from __future__ import annotations

import pytest

from inspector.core.kinds import Kind
from inspector.core.layout import Part, Record, packed, padded_text
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK, PLACES
from inspector.formats._zip import records

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
