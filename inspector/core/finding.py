"""A Finding: what is wrong, where, and so what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.span import Spans

UNREADABLE = "unreadable"
"""The code of the finding that bytes could not be had, so that nobody knows whether they are as they should be."""


class Severity(StrEnum):
    """How bad it is: error, bytes are wrong or missing; warning, whole but not as specified, or a hazard; info."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a decoder or a check saw.

    ``code`` is stable (``caf-index-not-strict-json``), ``message`` is a sentence for a person, ``spans`` are file
    bytes, ``member`` is the index of the member concerned.
    """

    severity: Severity
    code: str
    message: str
    spans: Spans = ()
    member: int | None = None
    repair: str | None = None
