"""Time the product against the reference of each limit, side by side.

``python -m tests.benchmarks [--quick] [--json] [WORD ...]``: the suites with these words, or all; ``--quick`` runs
those that take two minutes together on a quiet machine, ``--json`` prints an object a row.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from inspector import __version__
from tests.benchmarks import (
    checking,
    commands,
    comparing,
    entropy,
    formats,
    growth,
    hex_view,
    members,
    peers,
    ranges,
    s3,
    stalls,
    window,
)
from tests.benchmarks.measure import HEADING, Row, Skipped

SUITES: dict[str, Callable[[Path], Iterator[Row | Skipped]]] = {
    "hex": hex_view.rows,
    "formats": formats.rows,
    "zip-check": checking.zip_rows,
    "rca-check": checking.rca_rows,
    "many-check": checking.many_rows,
    "datas3t-check": ranges.datas3t_rows,
    "compare": comparing.rows,
    "entropy": entropy.rows,
    "members": members.rows,
    "s3": s3.rows,
    "start": window.start_rows,
    "commands": commands.rows,
    "peers": peers.rows,
    "growth": growth.rows,
    "stalls": stalls.rows,
    "window": window.rows,
}
QUICK = {**{word: SUITES[word] for word in ("start", "stalls", "hex", "peers")}, "growth": growth.quick_rows}
"""What ``--quick`` runs."""


def main(words: list[str]) -> int:
    """Run the suites that are asked for; print a row as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK)} alone")
    parser.add_argument("--json", action="store_true", help="an object a row")
    parser.add_argument("suites", metavar="WORD", nargs="*", choices=[*SUITES, []], help=", ".join(SUITES))
    options = parser.parse_args(words)
    machine = f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    print(json.dumps({"machine": machine, "version": __version__}) if options.json else f"{machine}\n{HEADING}")
    with tempfile.TemporaryDirectory() as folder:
        suites = QUICK if options.quick else SUITES
        for word in options.suites or suites:
            for row in suites.get(word, SUITES[word])(Path(folder)):
                print(json.dumps(row.values()) if options.json else row.line(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
