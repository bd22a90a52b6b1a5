"""``append``: more blobs for an RCA archive, in place."""

from __future__ import annotations

import argparse

from inspector.cli.options import CONNECTION, PROGRESS, Option, connection_of, json_option
from inspector.cli.output import ProgressBar, print_created
from inspector.cli.write_options import RCA_OPTIONS
from inspector.core.program.progress import Progress
from inspector.operations.create.creating_rca import rca_options
from inspector.operations.create.rca_writing import append_rca

OPTIONS = (
    PROGRESS,
    Option("target", metavar="TARGET", help="the RCA archive to append to, in place"),
    Option("inputs", metavar="INPUT", nargs="+", help="files, objects, and folders or prefixes with all below them"),
    json_option("JSON, one object for the archive"),
    Option(
        "--accept",
        action="append",
        default=[],
        choices=("rca-discard-tail",),
        metavar="CODE",
        help="rca-discard-tail: overwrite blobs of an interrupted append that can be read but are not proved",
    ),
    *RCA_OPTIONS,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> None:
    """Append the inputs to an archive and print the result.

    Raises OperationError, EditError and SourceError if nothing was appended.
    """
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        created = append_rca(
            progress,
            options.target,
            options.inputs,
            rca_options(options.level, options.hash_convention, options.accept),
            connection=connection_of(options),
        )
    print_created(created)
