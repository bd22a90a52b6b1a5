"""The terminal's texts for the hints in messages: the options of the sub-command that runs."""

from __future__ import annotations

import argparse

from inspector.core.hints import Hint, HintTexts

HINT_TEXTS: HintTexts = {
    Hint.PROFILE: "--profile NAME",
    Hint.REGION: "--region NAME",
    Hint.ENDPOINT: "--endpoint-url URL",
    Hint.UNSIGNED: "--no-sign-request",
    Hint.AGAIN: "",
    Hint.OVERWRITE: "--overwrite",
    Hint.REMOVE_UNFINISHED: "--remove-unfinished",
    Hint.WHOLE: "--whole",
    Hint.FIRST_KEY: "--first-key N",
}
"""The options of all sub-commands."""


def hint_texts_for(options: argparse.Namespace) -> HintTexts:
    """The options that the sub-command has."""
    return {hint: text for hint, text in HINT_TEXTS.items() if text and hasattr(options, _attribute(text))}


def _attribute(text: str) -> str:
    return text.split()[0].removeprefix("--").replace("-", "_")
