from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.hex.beside.data_inspector import (
    ALL_ROWS,
    DEFAULT_ROWS,
    READ_BYTES,
    DataInspector,
    ReadingsModel,
    ValueRefusedError,
    encoded,
    readings,
)


def values(data: bytes) -> dict[str, str]:
    return dict(readings(data))


def test_integers_of_every_width_and_order() -> None:
    found = values(b"\xfe\xff\x01\x02\x03\x04\x05\x86")

    assert found["binary"] == "11111110"
    assert (found["u8"], found["i8"]) == ("254", "-2")
    assert (found["u16 LE"], found["u16 BE"]) == ("65,534", "65,279")
    assert (found["i16 LE"], found["i16 BE"]) == ("-2", "-257")
    assert (found["u24 LE"], found["i24 BE"]) == ("131,070", "-65,791")
    assert found["u32 BE"] == f"{0xFEFF0102:,}"
    assert found["i32 LE"] == f"{0x0201FFFE:,}"
    assert found["u64 LE"] == f"{0x860504030201FFFE:,}"
    assert found["i64 BE"] == f"{0xFEFF010203040586 - (1 << 64):,}"


@pytest.mark.parametrize(("letter", "name"), [("e", "f16"), ("f", "f32"), ("d", "f64")])
@given(number=st.floats(width=16))
def test_floats_can_be_read_back(letter: str, name: str, number: float) -> None:
    for order, word in (("<", "LE"), (">", "BE")):
        data = struct.pack(order + letter, number)
        shown = float(values(data)[f"{name} {word}"])
        assert struct.pack(order + letter, shown) == data or number != number


def test_times() -> None:
    found = values(struct.pack("<I", 1_700_000_000) + bytes(4))
    assert found["Unix time 32 LE"] == found["Unix time 64 LE"] == "2023-11-14 22:13:20 UTC"
    assert values(struct.pack(">q", -1))["Unix time 64 BE"] == "1969-12-31 23:59:59 UTC"
    assert values(b"\xff" * 7 + b"\x7f")["Unix time 64 LE"] == ""
    assert (
        values(struct.pack("<HH", 21 << 11 | 30 << 5 | 5, 43 << 9 | 12 << 5 | 31))["DOS time, date"]
        == "2023-12-31 21:30:10"
    )
    assert values(bytes(4))["DOS time, date"] == ""


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x05\xff", "5 (1 byte)"),
        (b"\xac\x02", "300 (2 bytes)"),
        (b"\xff" * 9 + b"\x01", f"{(1 << 64) - 1:,} (10 bytes)"),
        (b"\xff" * 9 + b"\x02", ""),
        (b"\xff" * 16, ""),
        (b"\x80", ""),
        (b"", ""),
    ],
)
def test_varints(data: bytes, text: str) -> None:
    assert values(data)["varint (LEB128)"] == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Az", "A  U+0041 (1 byte)"),
        ("ü".encode(), "ü  U+00FC (2 bytes)"),
        ("🙂".encode(), "🙂  U+1F642 (4 bytes)"),
        (b"\n", "\\n  U+000A (1 byte)"),
        ("\u202e".encode(), "‹U+202E›  U+202E (3 bytes)"),
        (b"\xff\xfe", ""),
    ],
)
def test_characters(data: bytes, text: str) -> None:
    assert values(data)["UTF-8"] == text


@given(st.binary(max_size=READ_BYTES))
def test_any_bytes_have_the_same_readings(data: bytes) -> None:
    found = readings(data)

    assert [name for name, _ in found] == [name for name, _ in readings(b"")]
    known = {name for name, text in found if text}
    assert ("u8" in known, "i32 BE" in known, "u64 LE" in known) == (len(data) >= 1, len(data) >= 4, len(data) >= 8)


def test_of_no_bytes_nothing_is_known() -> None:
    assert {text for _, text in readings(b"")} == {""}


@pytest.mark.usefixtures("qapp")
def test_the_model_is_sound_and_says_when_there_is_no_value(qtmodeltester: ModelTester) -> None:
    model = ReadingsModel()
    qtmodeltester.check(model, force_py=True)

    model.setBytes(b"\x07")

    rows = {model.index(row, 0).data(): model.index(row, 1).data() for row in range(model.rowCount())}
    assert rows["u8"] == "7"
    assert rows["u16 LE"] == "–"
    assert [model.headerData(at, Qt.Orientation.Horizontal) for at in (0, 1)] == ["Read as", "Value"]


def test_a_value_is_copied_with_the_usual_key(qtbot: QtBot) -> None:
    panel = DataInspector()
    qtbot.addWidget(panel)
    panel.readings.setBytes(b"\x07\x01")
    panel.setCurrentIndex(panel.model().index(1, 1))

    QTest.keyClick(panel, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert QGuiApplication.clipboard().text() == "7"


def test_all_rows_have_room_without_scrolling(qtbot: QtBot) -> None:
    panel = DataInspector()
    qtbot.addWidget(panel)
    panel.resize(300, panel.sizeHint().height())
    with qtbot.waitExposed(panel):
        panel.show()

    assert panel.verticalScrollBar().maximum() == 0
    assert panel.horizontalScrollBar().maximum() == 0


# ---- typing values -------------------------------------------------------------------------------------------------


@given(st.binary(min_size=READ_BYTES, max_size=READ_BYTES))
def test_a_reading_typed_as_it_is_shown_stands_for_the_same_bytes(data: bytes) -> None:
    for name, text in readings(data):
        if not text or name == "UTF-8" or "nan" in text:
            continue
        try:
            new = encoded(name, text, data)
        except ValueRefusedError:
            assert name == "varint (LEB128)", "a varint that is longer than it needs to be"
            continue
        assert new == data[: len(new)] or name[0] == "f"
        assert dict(readings(new + data[len(new) :]))[name] == text


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("u32 LE", "0x4d2", b"\xd2\x04\0\0"),
        ("i16 BE", "-2", b"\xff\xfe"),
        ("f32 BE", "1.5", b"\x3f\xc0\0\0"),
        ("Unix time 32 LE", "1970-01-02 00:00:00", b"\x80\x51\x01\0"),
        ("DOS time, date", "1980-01-01 00:00:02", b"\x01\0\x21\0"),
        ("varint (LEB128)", "300", b"\xac\x02"),
        ("binary", "101", b"\x05"),
        ("UTF-8", "ü", b"\xc3\xbc"),
    ],
)
def test_a_typed_value_becomes_its_bytes(name: str, text: str, expected: bytes) -> None:
    here = "é".encode() if name == "UTF-8" else b"\x80\x01" + bytes(14)
    assert encoded(name, text, here) == expected


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("u8", "256", "256 is no value for u8"),
        ("u8", "", "Nothing is no value"),
        ("i16 BE", "40,000", "no value for i16 BE"),
        ("f32 BE", "1e99", "no value for f32 BE"),
        ("binary", "102", "no value for binary"),
        ("varint (LEB128)", "5", "takes 1 byte, and here are 2"),
        ("varint (LEB128)", str(1 << 64), "no value for varint"),
        ("varint (LEB128)", "-1", "no value for varint"),
        ("DOS time, date", "1979-01-01 00:00:00", "no value for DOS time"),
        ("DOS time, date", "1980-01-01 00:00:01", "no value for DOS time"),
        ("Unix time 32 LE", "soon", "no value for Unix time"),
        ("UTF-8", "é", "takes 2 bytes, and here are 1"),
        ("u64 LE", "1", "do not fit before the end"),
    ],
)
def test_what_cannot_stand_there_is_said(name: str, text: str, why: str) -> None:
    data = b"\x80\x01" if name == "u64 LE" else b"\x80\x01" + bytes(14)
    with pytest.raises(ValueRefusedError, match=why):
        encoded(name, text, data)


def test_a_few_rows_are_shown_until_others_are_chosen(qtbot: QtBot) -> None:
    inspector = DataInspector()
    qtbot.addWidget(inspector)
    assert inspector.shown_rows() == DEFAULT_ROWS
    before = inspector.sizeHint().height()
    menu = inspector.rows_menu()
    next(entry for entry in menu.actions() if entry.text() == "f32 BE").trigger()
    assert inspector.shown_rows() == DEFAULT_ROWS | {"f32 BE"}
    assert inspector.sizeHint().height() > before
    inspector.show_rows(["no such reading"])
    assert inspector.shown_rows() == frozenset(ALL_ROWS)
