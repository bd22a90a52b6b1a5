"""The options of ``audit``."""

from __future__ import annotations

import argparse

from inspector.cli.connecting import add_connecting


def add_audit(command: argparse.ArgumentParser) -> None:
    """Add the options to the sub-command."""
    command.add_argument("location", metavar="LOCATION", help="a folder or a prefix, with all that is beneath it")
    command.add_argument("--workers", type=_one_or_more, default=0, metavar="N", help="processes to use")
    command.add_argument("--dask", metavar="ADDRESS", help="use a Dask cluster, tcp://HOST:PORT being its scheduler")
    command.add_argument("--shards", type=_one_or_more, default=0, metavar="N", help="with --dask: N results files")
    command.add_argument("--results", metavar="FILE", help="keep results here, and do not check what is in it again")
    command.add_argument("--merge", action="append", default=[], metavar="FILE", help="take over these results first")
    command.add_argument("--quick", action="store_true", help="look at the structure only, and read no content")
    command.add_argument("--sample", type=_per_cent, default=100.0, metavar="P", help="only P per cent of them")
    command.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="only part I of N, from 1")
    command.add_argument("--csv", metavar="FILE", help="write the results for a spreadsheet")
    command.add_argument("--strict", action="store_true", help="warnings count: exit with 1 for them too")
    command.add_argument("--json", action="store_true", help="JSON, one object a line: the archives, then the summary")
    add_connecting(command)


def _one_or_more(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it is 1 or more")
    return number


def _per_cent(text: str) -> float:
    number = float(text.removesuffix("%"))
    if not 0 < number <= 100:
        raise argparse.ArgumentTypeError("a sample is more than 0 and at most 100 per cent")
    return number


def _shard(text: str) -> tuple[int, int]:
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError("a shard is I/N, I being 1 to N")
    return number, count
