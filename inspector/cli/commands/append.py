"""``append``: more blobs for an RCA archive, in place."""

from __future__ import annotations

import argparse
import sys

from msgspec.structs import replace

from inspector.cli.options import CONNECTION, PROGRESS, Option, connection_of, json_option
from inspector.cli.output import ProgressBar, complain, print_created
from inspector.cli.write_options import NO_SYNC, RCA_OPTIONS, rca_options
from inspector.core.program.progress import Progress
from inspector.formats.rca.blocks import Convention
from inspector.operations.create.creating import Created
from inspector.operations.create.creating_rca import CONVENTIONS, RcaOptions
from inspector.operations.create.rca_writing import UndecidedError, append_rca
from inspector.operations.jobs.operation_error import OperationError

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
    NO_SYNC,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> None:
    """Append the inputs to an archive and print the result.

    Raises OperationError, EditError and SourceError if nothing was appended.
    """
    how = replace(rca_options(options), ask=sys.stdin.isatty() and sys.stderr.isatty())
    try:
        created = _append(options, how)
    except UndecidedError as error:
        created = _append(options, replace(how, convention=_asked(error)))
    print_created(created, as_json=options.json)


def _append(options: argparse.Namespace, how: RcaOptions) -> Created:
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        return append_rca(progress, options.target, options.inputs, how, connection=connection_of(options))


def _asked(error: UndecidedError) -> Convention:
    """The convention that the user names; raises the error again if that is none."""
    complain(str(error))
    print(f"Hash convention, {' or '.join(CONVENTIONS)}: ", end="", file=sys.stderr, flush=True)
    answer = CONVENTIONS.get(sys.stdin.readline().strip())
    if answer is None:
        raise OperationError("Nothing was added: no hash convention was chosen.") from error
    return answer
