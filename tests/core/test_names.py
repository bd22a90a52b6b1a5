import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.names import MAX_NAME, brief, decoded, encoded, listed, visible


@given(st.binary())
def test_a_visible_name_is_one_line_of_printable_text(name: bytes) -> None:
    text = visible(name)
    assert all(character.isprintable() for character in text)
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain name.txt", "plain name.txt"),
        ("größe/文件", "größe/文件"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("nul\0", "nul␀"),
        ("exe\u202egpj", "exe‹U+202E›gpj"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("<img src=x>", "<img src=x>"),
        (b"\xff", "\\xff"),
        ("\ud800", "‹U+D800›"),
        ("photo\u3164.exe", "photo‹U+3164›.exe"),
        ("❤\ufe0f", "❤‹U+FE0F›"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(name: str | bytes, shown: str) -> None:
    assert visible(name) == shown


IGNORABLE = (
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)),
    *range(0xE0000, 0xE1000),
)
"""Default_Ignorable_Code_Point of Unicode 16, DerivedCoreProperties.txt: what a renderer shows nothing for."""


def test_a_name_of_more_characters_than_are_remembered_is_escaped_like_each_of_them() -> None:
    text = "".join(map(chr, range(0x3000)))
    assert visible(text * 2) == "".join(map(visible, text)) * 2


def test_everything_a_renderer_may_leave_out_is_made_visible() -> None:
    assert [f"{code:04X}" for code in IGNORABLE if visible(chr(code)) != f"‹U+{code:04X}›"] == []


@given(st.text(st.characters(codec="utf-8")))
def test_text_names_survive(name: str) -> None:
    assert decoded(encoded(name)) == (name, True)


def test_undecodable_names_say_that_something_was_lost() -> None:
    assert decoded(b"a\xffb") == ("a�b", False)
    assert decoded(encoded("\ud800"))[1] is False


@pytest.mark.parametrize(
    ("paths", "number", "said"),
    [
        ([], 0, ""),
        ([], 3, ""),
        ([b"a"], 1, "'a'"),
        ([b"a" * 90], 1, f"'{'a' * 80}'"),
        ([b"a", b"b"], 2, "'a', 'b'"),
        ([b"a", b"b", b"c"], 3, "'a', 'b' and 1 more"),
        ([b"\x1b", b"b"], 5_000, "'\N{SYMBOL FOR ESCAPE}', 'b' and 4,998 more"),
    ],
)
def test_of_many_names_the_first_are_listed(paths: list[bytes], number: int, said: str) -> None:
    assert listed(paths, number, most=2) == said


@given(st.binary(max_size=2_000))
def test_a_name_in_a_sentence_is_short_and_one_that_is_short_is_whole(name: bytes) -> None:
    shown = brief(name)

    assert len(shown) <= MAX_NAME + 1
    assert shown == visible(name) or (len(visible(name)) > MAX_NAME and "…" in shown)
