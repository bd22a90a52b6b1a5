from __future__ import annotations

import pytest

from inspector.core.span import Span
from inspector.gui.hex.layout import CopyFormat, Layout, formatted, pieces_of, row_text


def test_hex() -> None:
    assert formatted(b"\x00\xffA", CopyFormat.HEX) == "00 FF 41"


@pytest.mark.parametrize(
    ("data", "text"), [("grün".encode(), "grün"), (b"a\xffb", "a�b"), (b"a\0b", "a�b"), (b"a\nb", "a\nb")]
)
def test_text(data: bytes, text: str) -> None:
    assert formatted(data, CopyFormat.TEXT) == text


# ---- the characters of a row ---------------------------------------------------------------------------------------


def test_a_whole_row() -> None:
    text = row_text([(0, b"PK\x03\x04 tile~\x7f.bin\x80")], Span(0, 16), 16)

    assert text == "50 4B 03 04 20 74 69 6C  65 7E 7F 2E 62 69 6E 80  PK.. tile~..bin."


def test_a_short_row_keeps_its_text_in_place() -> None:
    text = row_text([(32, b"abc")], Span(32, 35), 16)

    assert text.index("abc") == Layout(35, 16).text_start - Layout(35, 16).hex_start


def test_bytes_that_have_not_arrived_are_dashes() -> None:
    assert row_text([], Span(0, 8), 8) == "-- -- -- -- -- -- -- --" + " " * 10
    assert row_text([(2, b"AB"), (6, b"\0")], Span(0, 8), 8) == "-- -- 41 42 -- -- 00 --    AB  . "


def test_the_selected_part_of_a_row_is_a_piece_of_hex_and_a_piece_of_text() -> None:
    layout = Layout(100, 16)

    assert pieces_of(layout, Span(32, 48), 32) == [(10, 58, True), (58, 60, False), (60, 76, True)]
    assert pieces_of(layout, Span(33, 34), 32) == [
        (10, 13, False),
        (13, 15, True),
        (15, 61, False),
        (61, 62, True),
        (62, 76, False),
    ]
