"""``create``: new archives of files and folders."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from inspector.cli.append import rca_options
from inspector.cli.connecting import connection_of
from inspector.cli.progress_bar import ProgressBar
from inspector.cli.results import say
from inspector.cli.unfinished import tidy, tidy_beside
from inspector.core.progress import Progress
from inspector.operations.create.creating import Created
from inspector.operations.create.creating_caf import DEFAULT_SIZE, create_caf
from inspector.operations.create.creating_taco import create_taco
from inspector.operations.create.datas3t_packing import PER_RANGE, PackingOptions, create_datas3t, holders
from inspector.operations.create.rca_writing import create_rca
from inspector.operations.protocol.header_draft import parse_entry
from inspector.sources.s3.address import is_s3


def run(options: argparse.Namespace) -> None:
    """Make the archive that the options ask for, and say what was made.

    Raises OperationError, SourceError and MemberError where nothing was made.
    """
    if options.kind == "datas3t" and not is_s3(options.target):
        tidy(holders(Path(options.target), options.dataset), options)
    else:
        tidy_beside(options.target, options)
    with ProgressBar(Progress(), logged=options.progress) as progress:
        made = _MAKE[options.kind](progress, options)
    say(made, json_wanted=options.json)


def _caf(progress: Progress, options: argparse.Namespace) -> Created:
    limit = DEFAULT_SIZE if options.max_size is None else options.max_size
    return create_caf(
        progress,
        options.target,
        options.inputs,
        max_size=limit,
        catalog=options.catalog,
        overwrite=options.overwrite,
        connection=connection_of(options),
    )


def _rca(progress: Progress, options: argparse.Namespace) -> Created:
    how = rca_options(options)
    reached = connection_of(options)
    return create_rca(progress, options.target, options.inputs, how, overwrite=options.overwrite, connection=reached)


def _datas3t(progress: Progress, options: argparse.Namespace) -> Created:
    per_range = PER_RANGE if options.per_range is None else options.per_range
    how = PackingOptions(options.dataset, options.first_key, per_range)
    return create_datas3t(progress, options.target, options.inputs, how, connection=connection_of(options))


def _taco(progress: Progress, options: argparse.Namespace) -> Created:
    entries = [each if isinstance(each, str) else parse_entry(*each) for each in options.entries]
    return create_taco(
        progress,
        options.target,
        options.inputs,
        entries=entries,
        overwrite=options.overwrite,
        connection=connection_of(options),
    )


_MAKE: dict[str, Callable[[Progress, argparse.Namespace], Created]] = {
    "caf": _caf,
    "rca": _rca,
    "taco": _taco,
    "datas3t": _datas3t,
}
