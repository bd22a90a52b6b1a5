"""``find``: where a member is, from a catalogue."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from inspector.cli.exit_codes import FINE, NOT_SOUND
from inspector.cli.output import Lines, complain
from inspector.core.names import visible
from inspector.operations.create import catalogue

_TABLE = "{:>16}  {:>14}  {:<24}  {}\n"


def run(options: argparse.Namespace) -> int:
    """Write the places of all that ``options.name`` finds, and give the exit status: NOT_SOUND where it finds none.

    Raises SourceError and OperationError where there is no catalogue.
    """
    found = 0
    with Lines() as out:
        for place in catalogue.find(Path(options.catalogue), options.name):
            if not found and not options.json:
                out.write(_TABLE.format("offset", "length", "archive", "name"))
            found += 1
            if options.json:
                out.write(f"{json.dumps(asdict(place))}\n")
            else:
                archive, name = visible(place.archive), visible(place.path)
                out.write(_TABLE.format(f"{place.offset:,}", f"{place.length:,}", archive, name))
    if not found:
        beginning = options.name.endswith("*")
        words = f"has a name that begins with {options.name[:-1]!r}" if beginning else f"is called {options.name!r}"
        complain(f"No member in {visible(options.catalogue)} {visible(words)}.")
        return NOT_SOUND
    return FINE
