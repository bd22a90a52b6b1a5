"""A Finding: one problem, or one thing worth knowing, at some bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from inspector.core.span import Spans

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


@dataclass(frozen=True, slots=True)
class FindingType:
    """What a format may find: the stable code, how bad it is, and what to do, which every such message ends with.

    ``changed``: it shows that other bytes stand there than were written, as a digest that does not match does.
    """

    code: str
    severity: Severity
    advice: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a decoder or a check.

    ``code`` is stable (``caf-index-not-strict-json``). ``message`` is for the user: its first sentence names the cause,
    then come the evidence and what to do. ``spans`` are file bytes, ``member`` the index of the member concerned.
    """

    severity: Severity
    code: str
    message: str
    spans: Spans = ()
    member: int | None = None
    repair: str | None = None


def first_sentence(message: str) -> str:
    """The first sentence of a finding's message, which names the cause; evidence and advice follow it."""
    return _SENTENCE_END.split(message, maxsplit=1)[0]


_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z0-9'])")
