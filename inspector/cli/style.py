"""Colour for terminals that want it: of words that say as much without it."""

from __future__ import annotations

import os
import re
from typing import TextIO

_RED, _YELLOW, _GREEN, _BLUE = "31", "33", "32", "34"
_COLOURS = {
    "error": _RED,
    "mismatch": _RED,
    "damaged": _RED,
    "torn": _RED,
    "unreadable": _RED,
    "warning": _YELLOW,
    "doubtful": _YELLOW,
    "info": _BLUE,
    "sound": _GREEN,
}
"""The colour of each severity, state and verdict that stands out, as an ANSI attribute."""
_WORDS = "|".join(_COLOURS)
_AT_START = re.compile(rf"(?m)^( {{2,}})({_WORDS})(?=: )")
"""A line of a report beneath the first: indented, the word, a colon."""
_JUDGEMENT = re.compile(rf"(?i)^(\S.*?: )({_WORDS})(?=[:;.])")
"""The first line of a report: the location and the state."""
_IN_MESSAGE = re.compile(r"(: )(error|warning|info)(?=: )")
"""The severity in a message on standard error."""


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what is written to ``stream``.

    NO_COLOR (https://no-color.org) forbids it, CLICOLOR_FORCE (https://bixense.com/clicolors) asks for it in a pipe
    too; otherwise a terminal that is not ``dumb`` gets it.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(word: str) -> str:
    """The word in its colour; one that has none stays as it is."""
    colour = _COLOURS.get(word.lower())
    return f"\x1b[{colour}m{word}\x1b[0m" if colour else word


def painted_report(text: str) -> str:
    """A report of ``check`` with its state, severities and verdicts in colour."""
    return _JUDGEMENT.sub(_paint, _AT_START.sub(_paint, text), count=1)


def painted_message(text: str) -> str:
    """A message on standard error with its severity in colour."""
    return _IN_MESSAGE.sub(_paint, text, count=1)


def _paint(found: re.Match[str]) -> str:
    return found[1] + painted(found[2])
