"""Long words get line breaks at readable places; copying them leaves the breaks out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.gui.kit.text import BREAK, DIGEST_GAP, DIGEST_GROUP, MAX_WORD, breakable, without_breaks

TEXTS = st.text(st.characters(exclude_characters=BREAK), max_size=200)


@given(TEXTS)
def test_what_is_broken_is_whole_again(text: str) -> None:
    assert without_breaks(breakable(text)) == text


@given(TEXTS)
def test_no_word_stays_too_long(text: str) -> None:
    assert max((len(word) for word in breakable(text).replace(BREAK, " ").split()), default=0) <= MAX_WORD


@given(st.binary(min_size=16, max_size=64))
def test_digests_are_groups_of_digits(digest: bytes) -> None:
    text = "a0" + digest.hex()
    groups = breakable(f"hash {text}.").removeprefix("hash ").removesuffix(".").split(DIGEST_GAP)
    assert "".join(groups) == text
    assert {len(group) for group in groups[:-1]} == {DIGEST_GROUP}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("specification", ["specification"]),
        ("incomprehensibility", ["incomprehensibility"]),
        ("a/folder/with/a-name.caf", ["a/", "folder/", "with/", "a-", "name.", "caf"]),
        ("0x0123456789abcdef0", ["0x0123456789abcdef0"]),
        ("1234567890123456789", ["1234567890123456789"]),
    ],
)
def test_words_are_broken_behind_separators_only(text: str, pieces: list[str]) -> None:
    assert breakable(text).split(BREAK) == pieces
