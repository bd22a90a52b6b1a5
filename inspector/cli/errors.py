"""A mistake in the program while a sub-command runs: one sentence, and a report where the user asks for one."""

from __future__ import annotations

import os
from pathlib import Path

from inspector.cli.output import complain
from inspector.core import crash_report

REPORT = "ARCHIVE_INSPECTOR_REPORT"
"""The environment variable that names the file a report is written to."""


def tell(error: BaseException) -> None:
    """Say on standard error what ended the work and where; write a report if one is asked for."""
    kind = type(error).__name__
    complain(f"A mistake in the program ended the work: {kind} in {crash_report.raised_at(error)}. {_report(error)}")


def _report(error: BaseException) -> str:
    name = os.environ.get(REPORT, "")
    if not name:
        return f"With {REPORT}=FILE in the environment a report is written that names no files of yours."
    try:
        Path(name).write_text(crash_report.report(error, "terminal") + "\n", encoding="utf-8")
    except OSError as refusal:
        return f"The report could not be written to {name}: {refusal.strerror}."
    return f"A report that names no files of yours was written to {name}."
