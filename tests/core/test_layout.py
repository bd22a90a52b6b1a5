"""Records of fixed-size parts, whole and cut off."""

from __future__ import annotations

from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of, unsigned_be
from inspector.core.span import Span

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
        ("sum", (Span(12, 16),), "0x000000FF", ""),
    ]


def test_a_part_that_is_cut_off_has_no_value() -> None:
    fields = fields_of(PARTS, b"\1\2\0\0\0", 10)
    assert (fields[2].value, fields[2].spans) == (None, (Span(12, 15),))
    assert fields[2].note == "Cut off: 3 of 4 bytes are there."
    fields = fields_of(PARTS, b"", 10)
    assert [(field.name, field.value) for field in fields] == [("name", "")]
