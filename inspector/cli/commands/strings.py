"""``strings``: the strings in the bytes of an archive, with the field and the member each stands in."""

from __future__ import annotations

import argparse
import json

from inspector.cli.archives import open_parts, status_of
from inspector.cli.options import (
    A_LOCATION_TO_READ,
    add_connection,
    add_json,
    add_location,
    add_progress,
    connection_of,
    one_or_more,
)
from inspector.cli.output import Lines, ProgressBar
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.operations.bytes.places import Places
from inspector.operations.bytes.strings import MAX_MINIMUM, MIN_CHARACTERS, strings
from inspector.operations.protocol.bytes_views import Encoding, Text


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    add_location(command, A_LOCATION_TO_READ)
    command.add_argument(
        "--min",
        metavar="N",
        type=_shortest,
        default=MIN_CHARACTERS,
        help=f"strings of at least N characters (default {MIN_CHARACTERS}, at most {MAX_MINIMUM:,})",
    )
    command.add_argument(
        "--encoding",
        choices=[each.value for each in Encoding],
        action="append",
        help="an encoding to look for, several times for several (default ascii and utf-8)",
    )
    command.add_argument("--filter", metavar="TEXT", default="", help="only strings that hold TEXT, in any case")
    add_progress(command)
    add_json(command)
    add_connection(command)


def run(options: argparse.Namespace) -> int:
    """Print a line for each string and return the exit status. Raises SourceError."""
    encodings = [Encoding(each) for each in options.encoding or (Encoding.ASCII, Encoding.UTF8)]
    parts = open_parts(options.location, connection_of(options), sparing=True)
    with Lines() as out, ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        for part in parts:
            if len(parts) > 1 and not options.json:
                out.write(f"{visible(part.label)}:\n")
            places = Places(part.archive)
            key = part.key if len(parts) > 1 else None
            for text in strings(part.archive.source, encodings, options.min, progress, options.filter):
                out.write(_object(text, places, key) if options.json else _line(text, places))
    return status_of(parts)


def _line(text: Text, places: Places) -> str:
    field = places.field_text(text.start)
    return f"0x{text.start:08x}  {text.encoding:<8}  {visible(text.text)}" + (f"  [{field}]" if field else "") + "\n"


def _object(text: Text, places: Places, key: str | None) -> str:
    value = {
        "span": [text.start, text.stop],
        "encoding": text.encoding,
        "characters": text.characters,
        "text": text.text,
        "field": places.field_text(text.start),
        "member": places.name(text.start),
    }
    if key is not None:
        value["source"] = key
    return f"{json.dumps(value)}\n"


def _shortest(text: str) -> int:
    """A number of characters; raises ArgumentTypeError."""
    number = one_or_more(text)
    if number > MAX_MINIMUM:
        raise argparse.ArgumentTypeError(f"it must be {MAX_MINIMUM:,} or less")
    return number
