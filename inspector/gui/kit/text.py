"""Formatting of texts for cells, tooltips and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from inspector.operations.protocol.views import FieldRow, Stage

ARROW = " › "
MAX_CELL_CHARACTERS = 512
"""The most characters in a cell or tooltip; the byte panel shows more."""


def short(text: str) -> str:
    """``text``, shortened with an ellipsis to fit a cell."""
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"


def plain(text: str) -> str:
    """``text`` for a tooltip, escaped where Qt would take it for HTML."""
    escaped_text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<qt>{escaped_text}</qt>" if "<" in text else text


def escaped(text: str) -> str:
    """``text`` for a menu or tab, with ampersands escaped so that they are no mnemonics."""
    return text.replace("&", "&&")


def path_text(fields: Iterable[FieldRow]) -> str:
    """The names of fields, the outermost first."""
    return ARROW.join(row.name for row in fields)


def loading_text(stage: Stage) -> str:
    """The text of an empty view while an archive opens or after it failed; empty otherwise."""
    return {"opening": "Reading…", "decoding": "Reading…", "failed": "Nothing could be opened."}.get(stage, "")


BREAK = "\u200b"
"""A zero-width space, where a line may break."""
DIGEST_GAP = f"\u2009{BREAK}"
"""The separator of digit groups in a digest: a thin space, and a line break opportunity."""
DIGEST_GROUP = 8
"""Digits per group of a digest."""
MAX_WORD = 19
"""The longest word without a break; the keys of datapoints have one character more."""

_DIGEST = re.compile(r"(?<![0-9A-Za-z])(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{16,}(?![0-9A-Za-z])")
_PLACE = re.compile(r"(?<=\w)([/\\._=:;&?-])(?=\w)")
_REST = re.compile(rf"[^\s{BREAK}]{{{MAX_WORD + 1},}}")


def breakable(text: str) -> str:
    """``text`` with line break opportunities in long words; ``without_breaks`` removes them."""
    text = _DIGEST.sub(lambda digest: DIGEST_GAP.join(_pieces(digest[0])), text)
    text = re.sub(r"\S{13,}", lambda word: _PLACE.sub(rf"\1{BREAK}", word[0]), text)
    return _REST.sub(lambda word: BREAK.join(_pieces(word[0])), text)


def without_breaks(text: str) -> str:
    """The text without added line break opportunities."""
    return text.replace(DIGEST_GAP, "").replace(BREAK, "")


def _pieces(word: str) -> list[str]:
    return [word[at : at + DIGEST_GROUP] for at in range(0, len(word), DIGEST_GROUP)]


def without_marks(text: str) -> str:
    """The text of a menu item without its mnemonic mark."""
    return text.replace("&", "")
