"""Findings in few words, for places that list many of them."""

from __future__ import annotations

from inspector.core.finding import Finding, first_sentence


def with_full_stop(sentence: str) -> str:
    """``sentence`` with a full stop at its end, unless it ends with a mark already."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def brief(finding: Finding) -> str:
    """The first sentence of a finding's message, and its code: ``Chunk 1 is truncated [rca-truncated].``."""
    first = first_sentence(finding.message).removesuffix(".")
    return f"{first} [{finding.code}]."
