"""Hints: what the user can do next, named in the words of the front end.

Messages are written far below the front ends, and the terminal has options where the window has actions. A process
serves one front end, which registers its texts at start; without them a message leaves the hint out and stays whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum


class Hint(StrEnum):
    """Something a message may point to."""

    PROFILE = "name another profile"
    REGION = "name the region"
    ENDPOINT = "name the endpoint"
    UNSIGNED = "send unsigned requests"
    AGAIN = "open it again"
    OVERWRITE = "overwrite what is there"
    WHOLE = "send all of an object"
    UNCONDITIONAL = "write although someone else's change could be lost"
    REMOVE_UNFINISHED = "remove unfinished uploads and files"
    DROP_JOURNAL = "set a damaged journal aside"
    FIRST_KEY = "number files in order"


HintTexts = Mapping[Hint, str]
"""A front end's text for each hint; empty for what it does not offer."""

_texts: HintTexts = {}


def use_hints(texts: HintTexts) -> None:
    """Use these texts from now on, in the whole process."""
    global _texts  # noqa: PLW0603 - a process serves one front end
    _texts = texts


@contextmanager
def using_hints(texts: HintTexts) -> Iterator[None]:
    """Use these texts inside the ``with`` block."""
    before = _texts
    use_hints(texts)
    try:
        yield
    finally:
        use_hints(before)


def hint(what: Hint) -> str:
    """The front end's text in brackets after a space (`` (--overwrite)``); empty if it has none."""
    text = _texts.get(what, "")
    return f" ({text})" if text else ""


def already_exists(what: str, name: str = "name") -> str:
    """The message that ``what`` exists already; ``name`` is what the user can choose another one of."""
    overwrite = hint(Hint.OVERWRITE)
    instead = f", or ask for it to be overwritten{overwrite}" if overwrite else ""
    return f"{what} is there already. Choose another {name}{instead}."
