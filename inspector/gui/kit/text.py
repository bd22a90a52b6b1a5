"""Texts as the window shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.operations.protocol.views import FieldRow, Stage

ARROW = " › "
LONGEST = 512
"""The most characters of a text that a cell or a tooltip holds; the byte panel says more."""


def short(text: str) -> str:
    """``text`` with an ellipsis where it is longer than a cell should hold."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def plain(text: str) -> str:
    """``text`` for a tooltip, which would take what looks like HTML for HTML."""
    return f"<qt>{_escaped(text)}</qt>" if "<" in text else text


def paragraphs(texts: Iterable[str]) -> str:
    """Texts one beneath the other, for a tooltip or an explanation."""
    return "<qt>" + "".join(f"<p>{_escaped(text)}</p>" for text in texts) + "</qt>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped(text: str) -> str:
    """``text`` for a menu or a tab: an ampersand in it is no mnemonic."""
    return text.replace("&", "&&")


def path_text(fields: Iterable[FieldRow]) -> str:
    """The names of fields from the outermost in."""
    return ARROW.join(row.name for row in fields)


def not_there_yet(stage: Stage) -> str:
    """Why a view is empty before there is anything to show in any of them; empty once there may be."""
    return {"opening": "Reading…", "decoding": "Reading…", "failed": "Nothing could be opened."}.get(stage, "")


BREAK = "\u200b"
"""A zero-width space: a place where a word may be broken."""
DIGEST_GAP = f"\u2009{BREAK}"
"""Between groups of a digest: a thin space, so that two of them can be compared by eye."""
DIGEST_GROUP = 8
"""Digits of a group."""
MAX_WORD = 19
"""Characters of a word that is left whole where it has no better place; the keys of datapoints have one more."""

_DIGEST = re.compile(r"(?<![0-9A-Za-z])(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{16,}(?![0-9A-Za-z])")
_PLACE = re.compile(r"(?<=\w)([/\\._=:;&?-])(?=\w)")
_REST = re.compile(rf"[^\s{BREAK}]{{{MAX_WORD + 1},}}")


def breakable(text: str) -> str:
    """``text`` with places in its long words where they may be broken; ``whole`` takes them out again."""
    text = _DIGEST.sub(lambda digest: DIGEST_GAP.join(_pieces(digest[0])), text)
    text = re.sub(r"\S{13,}", lambda word: _PLACE.sub(rf"\1{BREAK}", word[0]), text)
    return _REST.sub(lambda word: BREAK.join(_pieces(word[0])), text)


def whole(text: str) -> str:
    """The text without the places where it may be broken."""
    return text.replace(DIGEST_GAP, "").replace(BREAK, "")


def _pieces(word: str) -> list[str]:
    return [word[at : at + DIGEST_GROUP] for at in range(0, len(word), DIGEST_GROUP)]
