"""``formats``: the known formats and their limitations."""

from __future__ import annotations

import argparse
import textwrap

from inspector.cli.options import JSON
from inspector.cli.output import show
from inspector.core.format import Format
from inspector.formats import FORMATS

_INDENT = max(len(known.name) for known in FORMATS) + 2
"""Characters of the column of names."""


OPTIONS = (JSON,)


def run(_: argparse.Namespace) -> None:
    """Print a paragraph or a JSON object per format."""
    for known in FORMATS:
        found = {"name": known.name, "title": known.title, "suffixes": known.suffixes}
        show({**found, "limitations": known.limitations}, *_paragraph(known))


def _paragraph(known: Format) -> list[str]:
    lines = [f"{known.name:<{_INDENT}}{known.title} ({' '.join(known.suffixes) or 'recognised by content alone'})"]
    for limitation in known.limitations:
        lines += textwrap.wrap(
            limitation, 100, initial_indent=" " * _INDENT + "- ", subsequent_indent=" " * (_INDENT + 2)
        )
    return lines
