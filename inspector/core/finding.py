"""A Finding: one problem, or one thing worth knowing, at some bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from inspector.core.span import Span, Spans

UNREADABLE = "unreadable"
"""The code of the finding that bytes could not be had, so that nobody knows whether they are as they should be."""


class Severity(StrEnum):
    """error: bytes are wrong or missing; warning: whole, but not as specified, or a hazard; info: neither."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """The position in order of severity; 0 is an error."""
        return list(Severity).index(self)


class FindingType(NamedTuple):
    """What may be found: the stable code, how bad it is, what it means, and what to do about it.

    Where the severity depends on the case, there is a type of the same code for each.
    """

    code: str
    severity: Severity
    meaning: str
    advice: str = ""

    @property
    def explanation(self) -> str:
        """What it means and what to do about it."""
        return f"{self.meaning} {self.advice}".rstrip()

    def finding(self, message: str, spans: Iterable[Span] = (), member: int | None = None) -> Finding:
        """A finding of this type; ``message`` names the cause and the evidence."""
        return Finding(self.severity, self.code, message, tuple(spans), member, advice=self.advice)


CORRECT_WRITER = "Correct the program that wrote it."
EXTRACT_LISTED = "Extract what is listed, and get the archive again."
UNSAFE_NAME = "Do not extract it with a program that does not check names."
"""Advice that several formats give."""


def error(code: str, meaning: str, advice: str) -> FindingType:
    """Declare a type of wrong, missing or contradictory bytes."""
    return FindingType(code, Severity.ERROR, meaning, advice)


def warning(code: str, meaning: str, advice: str = "") -> FindingType:
    """Declare a type of deviations from the specification, or of hazards."""
    return FindingType(code, Severity.WARNING, meaning, advice)


def info(code: str, meaning: str, advice: str = "") -> FindingType:
    """Declare a type of what is worth knowing and no problem."""
    return FindingType(code, Severity.INFO, meaning, advice)


def finding_types(names: Mapping[str, object]) -> tuple[FindingType, ...]:
    """The types among the names of a module, in their order."""
    return tuple(each for each in names.values() if isinstance(each, FindingType))


class Finding(NamedTuple):
    """One finding of a decoder or a check.

    ``code`` is stable (``caf-index-not-strict-json``). ``message`` is for the user: its first sentence names the cause,
    then comes the evidence. ``advice`` says what to do, unless a repair or the cause of the damage has a better answer.
    ``spans`` are file bytes, ``member`` the index of the member concerned.
    """

    severity: Severity
    code: str
    message: str
    spans: Spans = ()
    member: int | None = None
    repair: str | None = None
    advice: str = ""


def first_sentence(message: str) -> str:
    """The first sentence of a finding's message, which names the cause; evidence and advice follow it."""
    return _SENTENCE_END.split(message, maxsplit=1)[0]


_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z0-9'])")


def with_full_stop(sentence: str) -> str:
    """``sentence`` with a full stop at its end, unless it ends with a mark already."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def brief(finding: Finding) -> str:
    """The first sentence of a finding's message, and its code: ``Chunk 1 is truncated [rca-truncated].``."""
    first = first_sentence(finding.message).removesuffix(".")
    return f"{first} [{finding.code}]."
