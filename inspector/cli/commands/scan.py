"""``scan``: archives and fragments of them in any bytes, each with its place and its state."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector.cli.archives import standard_input
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import CONNECTION, JSON, PROGRESS, Option, connection_of, non_empty_name
from inspector.cli.output import ProgressBar, complain, remark, show
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check.scanning import Scan, write

OPTIONS = (
    Option(
        "locations",
        metavar="LOCATION",
        nargs="+",
        help="a file or an object; - is standard input",
    ),
    Option(
        "--extract",
        metavar="FOLDER",
        type=non_empty_name,
        help="write what is found to new files there",
    ),
    PROGRESS,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print what is found at each location; returns NOT_SOUND where nothing is, UNREADABLE where that is not known."""
    found, status = 0, FINE
    for number, location in enumerate(options.locations, 1):
        prefix = f"{number}-" if len(options.locations) > 1 else ""
        try:
            found += _scan(options, location, prefix)
        except SourceError as error:
            complain(str(error))
            status = UNREADABLE
    return status or (FINE if found else NOT_SOUND)


def _scan(options: argparse.Namespace, location: str, prefix: str) -> int:
    """Scan one location; returns how much was found. Raises SourceError."""
    found = 0
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        scan = Scan(location, connection_of(options), standard_input(location, progress))
        for hit in scan.hits(progress):
            found += 1
            show(hit.as_object(location), hit.text)
            if options.extract:
                write(scan, hit, Path(options.extract), prefix, progress)
    if scan.limit:
        remark(f"{visible(location)}: {scan.limit}")
    if not found:
        complain(f"No archive was found in {visible(location)}.")
    return found
