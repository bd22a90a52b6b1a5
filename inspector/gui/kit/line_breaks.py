"""Where long words may be broken: paths behind their separators, digests between groups of digits."""

from __future__ import annotations

import re

BREAK = "\u200b"
"""A zero-width space: a place where a word may be broken."""
GROUP = f"\u2009{BREAK}"
"""Between groups of a digest: a thin space, so that two of them can be compared by eye."""
DIGITS = 8
"""Digits of a group."""
LONG_WORD = 19
"""Characters of a word that is left whole where it has no better place; the keys of datapoints have one more."""

_DIGEST = re.compile(r"(?<![0-9A-Za-z])(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{16,}(?![0-9A-Za-z])")
_PLACE = re.compile(r"(?<=\w)([/\\._=:;&?-])(?=\w)")
_REST = re.compile(rf"[^\s{BREAK}]{{{LONG_WORD + 1},}}")


def breakable(text: str) -> str:
    """``text`` with places in its long words where they may be broken; ``whole`` takes them out again."""
    text = _DIGEST.sub(lambda digest: GROUP.join(_pieces(digest[0])), text)
    text = re.sub(r"\S{13,}", lambda word: _PLACE.sub(rf"\1{BREAK}", word[0]), text)
    return _REST.sub(lambda word: BREAK.join(_pieces(word[0])), text)


def whole(text: str) -> str:
    """The text without the places where it may be broken."""
    return text.replace(GROUP, "").replace(BREAK, "")


def _pieces(word: str) -> list[str]:
    return [word[at : at + DIGITS] for at in range(0, len(word), DIGITS)]
