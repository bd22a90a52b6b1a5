"""``find``: where a member is, according to a catalogue."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import JSON, Option
from inspector.cli.output import complain, say, show
from inspector.core.names import visible
from inspector.operations.create import catalogue

_TABLE = "{:>16}  {:>14}  {:<24}  {}"


OPTIONS = (
    Option("catalogue", metavar="CATALOGUE", help="a catalogue made with create caf --catalog"),
    Option("name", metavar="NAME", help="a member's name, or its beginning and a *"),
    JSON,
)


def run(options: argparse.Namespace) -> int:
    """Print where the members called ``options.name`` are, and return the exit status: NOT_SOUND if there is none.

    Raises SourceError and OperationError if there is no catalogue.
    """
    found = 0
    for place in catalogue.find(Path(options.catalogue), options.name):
        if not found:
            say(_TABLE.format("offset", "length", "archive", "name"))
        found += 1
        archive, name = visible(place.archive), visible(place.path)
        show(
            {"source": place.archive, "path": place.path, "offset": place.offset, "length": place.length},
            _TABLE.format(f"{place.offset:,}", f"{place.length:,}", archive, name),
        )
    if not found:
        beginning = options.name.endswith("*")
        condition = f"has a name that begins with “{options.name[:-1]}”" if beginning else f"is called “{options.name}”"
        complain(f"No member in {visible(options.catalogue)} {visible(condition)}.")
        return NOT_SOUND
    return FINE
