import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.names import decoded, encoded, visible


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
    ],
)
def test_what_cannot_be_seen_is_made_visible(name: str | bytes, shown: str) -> None:
    assert visible(name) == shown


@given(st.text(st.characters(codec="utf-8")))
def test_text_names_survive(name: str) -> None:
    assert decoded(encoded(name)) == (name, True)


def test_undecodable_names_say_that_something_was_lost() -> None:
    assert decoded(b"a\xffb") == ("a�b", False)
    assert decoded(encoded("\ud800"))[1] is False
