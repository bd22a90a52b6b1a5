"""Findings in few words, for places that say many of them."""

from __future__ import annotations

import re

from inspector.core.finding import Finding

_END = re.compile(r"(?<=\.) (?=[A-Z'])")


def whole(sentence: str) -> str:
    """A sentence with something at its end: a full stop where it has nothing there."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def brief(finding: Finding) -> str:
    """The first sentence of what a finding says, and its code, as in ``Chunk 1 is truncated [rca-truncated].``."""
    first = _END.split(finding.message, maxsplit=1)[0].removesuffix(".")
    return f"{first} [{finding.code}]."
