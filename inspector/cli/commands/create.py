"""``create``: new archives of files and folders."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.cli.options import CONNECTION, PROGRESS, Option, connection_of, json_option
from inspector.cli.output import ProgressBar, print_created
from inspector.cli.write_options import (
    OVERWRITE,
    RCA_OPTIONS,
    REMOVE_UNFINISHED,
    handle_unfinished,
    handle_unfinished_beside,
)
from inspector.core.numbers import size_in
from inspector.core.program.progress import Progress
from inspector.sources.s3.address import is_s3

if TYPE_CHECKING:  # each kind of archive imports what it needs
    from inspector.operations.create.creating import Created

# ---- options -----------------------------------------------------------------------------------------------------


def _size(text: str) -> int:
    try:
        return size_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _numbers(text: str) -> tuple[str]:
    """Text that is not the name of a member; ``run`` parses it."""
    return (text,)


_TARGET = (
    Option("target", metavar="TARGET", help="the file or object to create"),
    OVERWRITE,
)
_COMMON = (
    Option("inputs", metavar="INPUT", nargs="+", help="files, objects, and folders or prefixes with all below them"),
    json_option("JSON, one object for each archive that was created"),
    REMOVE_UNFINISHED,
    PROGRESS,
)
_ENTRIES: dict[str, Any] = {"action": "append", "dest": "entries", "default": []}
"""Options of one list, because their order is that of the header's entries."""

OPTIONS: tuple[Option, ...] = ()
KINDS = {
    "caf": (
        "a Chunk Archive, and further ones beyond the size limit",
        (
            *_TARGET,
            *_COMMON,
            Option(
                "--max-size",
                type=_size,
                metavar="SIZE",
                help="continue in TARGET-0001.caf, ... when an archive would exceed SIZE; default 30GiB, at most 32GiB",
            ),
            Option("--catalog", metavar="FILE.sqlite", default="", help="record where members are in a catalogue"),
            *CONNECTION,
        ),
    ),
    "rca": (
        "an RCA archive, to which append can add",
        (*_TARGET, *_COMMON, *RCA_OPTIONS, *CONNECTION),
    ),
    "taco": (
        "a TACO archive: a stored ZIP of at most 65,533 members and 4 GiB; its header has up to seven entries",
        (
            *_TARGET,
            *_COMMON,
            Option("--entry", type=_numbers, metavar="OFFSET,LENGTH", help="the header's next entry", **_ENTRIES),
            Option(
                "--entry-for", metavar="MEMBER", help="the header's next entry: where a member's data are", **_ENTRIES
            ),
            *CONNECTION,
        ),
    ),
    "datas3t": (
        "ranges of numbered files, each a tar with its metadata, under the keys of a dataset",
        (
            Option("target", metavar="ROOT", help="the folder, bucket or prefix that the keys begin in"),
            *_COMMON,
            Option("--dataset", required=True, metavar="NAME", help="the dataset that the ranges belong to"),
            Option(
                "--first-key",
                type=int,
                metavar="N",
                help="number the files in their order from N on; by default their names are their numbers",
            ),
            Option("--per-range", type=int, metavar="N", help="keys per range; default 1,000"),
            *CONNECTION,
        ),
    ),
}
"""The kinds of archives that can be created: what each is, and its options."""

# ---- work --------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    """Create the archive that the options describe, and print the result.

    Raises OperationError, SourceError and MemberError if nothing was created.
    """
    if options.kind == "datas3t" and not is_s3(options.target):
        from inspector.operations.create.datas3t_packing import holders

        handle_unfinished(holders(Path(options.target), options.dataset), options)
    else:
        handle_unfinished_beside(options.target, options)
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        created = _CREATE[options.kind](progress, options)
    print_created(created)


def _caf(progress: Progress, options: argparse.Namespace) -> Created:
    from inspector.operations.create.creating import DEFAULT_MAX_BYTES, create_caf

    return create_caf(
        progress,
        options.target,
        options.inputs,
        max_size=DEFAULT_MAX_BYTES if options.max_size is None else options.max_size,
        catalog=options.catalog,
        overwrite=options.overwrite,
        connection=connection_of(options),
    )


def _rca(progress: Progress, options: argparse.Namespace) -> Created:
    from inspector.operations.create.creating_rca import create_rca, rca_options

    return create_rca(
        progress,
        options.target,
        options.inputs,
        rca_options(options.level, options.hash_convention),
        overwrite=options.overwrite,
        connection=connection_of(options),
    )


def _taco(progress: Progress, options: argparse.Namespace) -> Created:
    from inspector.operations.create.creating import create_taco
    from inspector.operations.protocol.header_draft import parse_entry

    return create_taco(
        progress,
        options.target,
        options.inputs,
        entries=[each if isinstance(each, str) else parse_entry(*each) for each in options.entries],
        overwrite=options.overwrite,
        connection=connection_of(options),
    )


def _datas3t(progress: Progress, options: argparse.Namespace) -> Created:
    from inspector.operations.create.datas3t_packing import DEFAULT_KEYS_PER_RANGE, PackingOptions, create_datas3t

    per_range = DEFAULT_KEYS_PER_RANGE if options.per_range is None else options.per_range
    packing = PackingOptions(options.dataset, options.first_key, per_range)
    return create_datas3t(progress, options.target, options.inputs, packing, connection=connection_of(options))


_CREATE: dict[str, Callable[[Progress, argparse.Namespace], Created]] = {
    "caf": _caf,
    "rca": _rca,
    "taco": _taco,
    "datas3t": _datas3t,
}
