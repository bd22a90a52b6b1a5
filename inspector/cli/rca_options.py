"""What can be typed about how an RCA archive is written, by ``create rca`` and ``append``."""

from __future__ import annotations

import argparse

from inspector.cli.connecting import add_connecting

CONVENTIONS = ("spec", "rcarch")


def add_append(command: argparse.ArgumentParser) -> None:
    """Add all that ``append`` takes."""
    command.add_argument("target", metavar="TARGET", help="the RCA archive that grows, in place")
    command.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="files, objects, and folders or prefixes for all beneath"
    )
    command.add_argument("--json", action="store_true", help="JSON, one object for the archive")
    command.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=("rca-discard-tail",),
        metavar="CODE",
        help="rca-discard-tail: overwrite blobs of an interrupted append that can be read but are not proved",
    )
    add_rca(command)
    add_connecting(command)


def add_rca(command: argparse.ArgumentParser) -> None:
    """Add what both take."""
    command.add_argument("--level", type=int, metavar="N", help="the zstd level, 1 to 22; 3 by default")
    command.add_argument(
        "--hash-convention",
        choices=CONVENTIONS,
        help="what the hash of a segment covers: as specified, or as rcarch has it; by default as the archive has it, "
        "and as specified in a new one",
    )
    command.add_argument("--no-sync", action="store_true", help="do not wait until the disk holds what was written")
