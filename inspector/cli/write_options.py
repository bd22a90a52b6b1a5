"""Options of the sub-commands that write: what killed runs have left, and how RCA blobs are written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inspector.cli.options import Option, connection_of
from inspector.cli.output import remark
from inspector.operations.jobs.unfinished import remove_unfinished, remove_uploads, report_unfinished, report_uploads
from inspector.sources.s3.address import is_s3, parse

# ---- unfinished files and uploads --------------------------------------------------------------------------------


OVERWRITE = Option("--overwrite", action="store_true", help="replace a file or object that exists already")
"""What a user made is never replaced without it."""
REMOVE_UNFINISHED = Option(
    "--remove-unfinished",
    action="store_true",
    help="remove unfinished files and uploads that killed runs have left there",
)


def handle_unfinished_beside(target: str, options: argparse.Namespace) -> None:
    """As ``handle_unfinished``, for the folder that ``target`` is written into, or its bucket. Raises SourceError."""
    if is_s3(target):
        handle = remove_uploads if options.remove_unfinished else report_uploads
        for sentence in handle(parse(target), connection_of(options)):
            remark(sentence)
    else:
        handle_unfinished([Path(target).parent], options)


def handle_unfinished_around(location: str, options: argparse.Namespace) -> None:
    """As ``handle_unfinished_beside``, for an archive that is changed in place. Raises SourceError.

    Unfinished local files are only handled with ``--remove-unfinished``: a change in place leaves none behind.
    """
    if is_s3(location):
        handle_unfinished_beside(location, options)
    elif options.remove_unfinished:
        path = Path(location)
        handle_unfinished([path if path.is_dir() else path.parent], options)


def handle_unfinished(folders: Iterable[Path], options: argparse.Namespace) -> None:
    """Report unfinished files in these folders, or with ``--remove-unfinished`` remove them."""
    handle = remove_unfinished if options.remove_unfinished else report_unfinished
    for sentence in handle(folders):
        remark(sentence)


# ---- RCA ---------------------------------------------------------------------------------------------------------


RCA_OPTIONS = (
    Option("--level", type=int, metavar="N", help="the zstd level, 1 to 22; default 3"),
    Option(
        "--hash-convention",
        choices=("spec", "rcarch"),
        help="what the hash of a segment covers: as the specification says, or as rcarch does; default: as in the "
        "archive, and spec for a new one",
    ),
)
"""How blobs are written, for ``rca_options`` of creating_rca."""
