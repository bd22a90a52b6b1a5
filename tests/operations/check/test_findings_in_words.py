"""Findings in few words, and sentences that end as sentences do."""

from __future__ import annotations

import pytest

from inspector.core.finding import Finding, Severity, brief, with_full_stop


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Chunk 1 is truncated. 312 bytes are missing.", "Chunk 1 is truncated [code]."),
        ("It is cut off. Nothing more is known.", "It is cut off [code]."),
        ("It is at 1.5 s. 'a' is meant.", "It is at 1.5 s [code]."),
        ("No full stop", "No full stop [code]."),
    ],
)
def test_the_first_sentence_of_a_finding_and_its_code(message: str, said: str) -> None:
    assert brief(Finding(Severity.ERROR, "code", message)) == said


@pytest.mark.parametrize("end", [".", "?", "!"])
def test_a_sentence_ends_once(end: str) -> None:
    assert with_full_stop(f"It is so{end}") == f"It is so{end}"
    assert with_full_stop("It is so") == "It is so."
