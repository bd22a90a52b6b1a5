"""``append``: more blobs for an RCA archive, in place."""

from __future__ import annotations

import argparse

from inspector.cli.options import add_connection, add_json, add_progress, connection_of
from inspector.cli.output import ProgressBar, print_created
from inspector.cli.write_options import add_rca_options, rca_options
from inspector.core.progress import Progress
from inspector.operations.create.rca_writing import append_rca


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    add_progress(command)
    command.add_argument("target", metavar="TARGET", help="the RCA archive to append to, in place")
    command.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="files, objects, and folders or prefixes with all below them"
    )
    add_json(command, "JSON, one object for the archive")
    command.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=("rca-discard-tail",),
        metavar="CODE",
        help="rca-discard-tail: overwrite blobs of an interrupted append that can be read but are not proved",
    )
    add_rca_options(command)
    add_connection(command)


def run(options: argparse.Namespace) -> None:
    """Append the inputs to an archive and print the result.

    Raises OperationError, EditError and SourceError if nothing was appended.
    """
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        created = append_rca(
            progress, options.target, options.inputs, rca_options(options), connection=connection_of(options)
        )
    print_created(created, as_json=options.json)
