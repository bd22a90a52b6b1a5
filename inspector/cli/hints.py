"""How the terminal calls what sentences point to: the options of the sub-command."""

from __future__ import annotations

import argparse

from inspector.core.hints import Way, Words

WORDS: Words = {
    Way.PROFILE: "--profile NAME",
    Way.REGION: "--region NAME",
    Way.ENDPOINT: "--endpoint-url URL",
    Way.UNSIGNED: "--no-sign-request",
    Way.AGAIN: "",
    Way.OVERWRITE: "--overwrite",
    Way.REMOVE_UNFINISHED: "--remove-unfinished",
    Way.WHOLE: "--whole",
    Way.FIRST_KEY: "--first-key N",
}
"""Those of all sub-commands."""


def words_for(options: argparse.Namespace) -> Words:
    """Those that the sub-command has."""
    return {way: word for way, word in WORDS.items() if word and hasattr(options, _attribute(word))}


def _attribute(word: str) -> str:
    return word.split()[0].removeprefix("--").replace("-", "_")
