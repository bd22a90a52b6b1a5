"""``append``: more blobs for an RCA archive, in place."""

from __future__ import annotations

import argparse

from inspector.cli.connecting import connection_of
from inspector.cli.progress_bar import ProgressBar
from inspector.cli.results import say
from inspector.core.progress import Progress
from inspector.operations.create.rca_writing import CONVENTIONS, RcaOptions, append_rca


def run(options: argparse.Namespace) -> None:
    """Add what the options say to an archive, and say what it has become.

    Raises OperationError, EditError and SourceError where nothing was added.
    """
    with ProgressBar(Progress(), logged=options.progress) as progress:
        how = rca_options(options)
        grown = append_rca(progress, options.target, options.inputs, how, connection=connection_of(options))
    say(grown, json_wanted=options.json)


def rca_options(options: argparse.Namespace) -> RcaOptions:
    """How to write blobs, as it was typed."""
    default = RcaOptions()
    level = default.level if options.level is None else options.level
    accept = frozenset(getattr(options, "accept", ()))
    return RcaOptions(level, CONVENTIONS.get(options.hash_convention), not options.no_sync, accept)
