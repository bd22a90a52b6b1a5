"""Texts as the window shows them."""

from __future__ import annotations

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
