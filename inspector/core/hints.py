"""What a user can do about something: a code in sentences, which each face puts into its own words.

Sentences are made far beneath both faces, and a terminal has options where a window has actions. A process serves one
face, which says at its beginning how it calls them; until then they are not named, and a sentence is whole without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum


class Way(StrEnum):
    """What a sentence may point to."""

    PROFILE = "name another profile"
    REGION = "name the region"
    ENDPOINT = "name the endpoint"
    UNSIGNED = "ask without signing"
    AGAIN = "open it again"
    OVERWRITE = "replace what is there"
    WHOLE = "send all of an object"
    REMOVE_UNFINISHED = "remove what was never finished"
    FIRST_KEY = "number files in their order"


Words = Mapping[Way, str]
"""How a face calls what it offers; empty for what it does not have."""

_words: Words = {}


def speak(words: Words) -> None:
    """Use these words from now on, in all of this process."""
    global _words  # noqa: PLW0603 - a process has one face
    _words = words


@contextmanager
def speaking(words: Words) -> Iterator[None]:
    """Use these words meanwhile."""
    before = _words
    speak(words)
    try:
        yield
    finally:
        speak(before)


def by(way: Way) -> str:
    """How the face calls it, in brackets after a space: to be put behind the words for it; empty where it does not."""
    word = _words.get(way, "")
    return f" ({word})" if word else ""


def taken(what: str, name: str = "name") -> str:
    """The sentence about a place where something is already; ``name`` is what the user can choose another one of."""
    way = by(Way.OVERWRITE)
    instead = f", or ask for it to be overwritten{way}" if way else ""
    return f"{what} is there already. Choose another {name}{instead}."
