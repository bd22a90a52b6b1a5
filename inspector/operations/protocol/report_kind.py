"""What a report can be written as: in a file of its own, for a process that only checks needs none of the views."""

from __future__ import annotations

from enum import StrEnum


class ReportKind(StrEnum):
    """What a report is written as."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
