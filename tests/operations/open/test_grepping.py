"""Patterns of ``grep``, and where they occur in windows, held against ``re`` over all of it."""

from __future__ import annotations

import re
import struct

import pytest

from inspector.operations.open import grepping
from inspector.operations.open.ask import AskError
from inspector.operations.open.grepping import matches, pattern_of


@pytest.mark.parametrize("text", ["ab", "a+b?", "^b", "b$", r"\Aa", "(?<=a)b", "", "[ab]{3}"])
def test_windows_find_what_re_finds_in_all_of_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grepping, "_WINDOW_BYTES", 16)
    monkeypatch.setattr(grepping, "_OVERLAP_BYTES", 8)
    data = b"aab\nbabbb\nab aabab\n" * 9
    pattern = re.compile(text.encode(), re.MULTILINE)
    expected = [(each.start(), each[0]) for each in pattern.finditer(data)]
    for size in (1, 7, 16, 40, 1_000):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(matches(pattern, pieces)) == expected, size


def test_patterns_are_bytes_numbers_or_expressions() -> None:
    assert pattern_of("50 4b ?? 04").fullmatch(b"PK\n\x04")
    assert pattern_of("0x504B").fullmatch(b"PK")
    assert pattern_of("u32le = 1000").fullmatch(struct.pack("<I", 1000))
    assert pattern_of("i16be=-2").fullmatch(struct.pack(">h", -2))
    assert pattern_of("f64 = 0.5").fullmatch(struct.pack("<d", 0.5))
    assert pattern_of("u8 = 0x2E", fixed=True).fullmatch(b"u8 = 0x2E")
    assert pattern_of("STRASSE", ignore_case=True).fullmatch(b"strasse")
    for text in ("(", "u8 = 256", "u32 = 0.5", "", "a{99999999999}"):
        with pytest.raises(AskError):
            pattern_of(text)


def test_an_expression_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grepping, "MAX_MATCHING_S", 0.05)
    with pytest.raises(AskError, match="was ended"):
        list(matches(re.compile(rb"(a+)+$"), [b"a" * 60 + b"b"]))
