"""What can be typed after ``create``."""

from __future__ import annotations

import argparse

from inspector.cli.connecting import add_connecting
from inspector.cli.progress_option import add_progress
from inspector.cli.rca_options import add_rca
from inspector.cli.unfinished_option import add_unfinished
from inspector.core.numbers import size_in

KINDS = {
    "caf": "a Chunk Archive, and further ones where the size limit is met",
    "rca": "an RCA archive, which append can make grow",
    "taco": "a TACO archive: a ZIP, all stored, of at most 65,533 members and 4 GB; its header has up to seven entries",
    "datas3t": "ranges of numbered files, each a tar with its metadata, under the keys of a dataset",
}
"""The kinds of archives that can be made and what each is."""


def add_create(command: argparse.ArgumentParser) -> None:
    """Add the kinds, each with its options; ``kind`` is the one chosen."""
    kinds = command.add_subparsers(dest="kind", required=True, metavar="KIND")
    added = {name: kinds.add_parser(name, help=what, description=what) for name, what in KINDS.items()}
    for name in ("caf", "rca", "taco"):
        added[name].add_argument("target", metavar="TARGET", help="the file or object to be made")
        added[name].add_argument("--overwrite", action="store_true", help="replace what is there already")
    added["datas3t"].add_argument("target", metavar="ROOT", help="the folder, bucket or prefix that the keys begin in")
    for each in added.values():
        _add_common(each)
    _add_caf(added["caf"])
    add_rca(added["rca"])
    _add_taco(added["taco"])
    _add_datas3t(added["datas3t"])
    for each in added.values():
        add_connecting(each)


def _add_common(kind: argparse.ArgumentParser) -> None:
    kind.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="files, objects, and folders or prefixes for all beneath them"
    )
    kind.add_argument("--json", action="store_true", help="JSON, one object for each archive that was made")
    add_unfinished(kind)
    add_progress(kind)


def _add_caf(kind: argparse.ArgumentParser) -> None:
    kind.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="begin TARGET-0001.caf, ... where an archive would be larger; 30GiB by default, at most 32GiB",
    )
    kind.add_argument("--catalog", metavar="FILE.sqlite", default="", help="keep up a catalogue of where members are")


def _add_taco(kind: argparse.ArgumentParser) -> None:
    # Both options go into one list, because their order is that of the header's entries.
    for option, kind_of, metavar, what in (
        ("--entry", _numbers, "OFFSET,LENGTH", "the header's next entry"),
        ("--entry-for", str, "MEMBER", "the header's next entry: where a member's data are"),
    ):
        kind.add_argument(option, action="append", dest="entries", default=[], type=kind_of, metavar=metavar, help=what)


def _add_datas3t(kind: argparse.ArgumentParser) -> None:
    kind.add_argument("--dataset", required=True, metavar="NAME", help="the dataset that the ranges belong to")
    kind.add_argument(
        "--first-key",
        type=int,
        metavar="N",
        help="number the files in their order from N on; by default their names are their numbers",
    )
    kind.add_argument("--per-range", type=int, metavar="N", help="how many keys a range is for; 1,000 by default")


def _size(text: str) -> int:
    try:
        return size_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _numbers(text: str) -> tuple[str]:
    """Text that is not the name of a member: what it means is for the command to say."""
    return (text,)
