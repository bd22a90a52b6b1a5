"""Time the product against the reference of each limit, side by side: ``python -m tests.benchmarks [WORD ...]``."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tests.benchmarks import checking, comparing, entropy, formats, hex_view, members, ranges, s3, window
from tests.benchmarks.measure import HEADING, Row

SUITES: dict[str, Callable[[Path], Iterator[Row]]] = {
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
    "window": window.rows,
}


def main(words: list[str]) -> int:
    """Run the suites named by ``words``, or all of them; print a row as soon as it is there."""
    unknown = set(words) - set(SUITES)
    if unknown:
        print(f"No such suite: {', '.join(sorted(unknown))}. There are {', '.join(SUITES)}.", file=sys.stderr)
        return 2
    print(HEADING)
    with tempfile.TemporaryDirectory() as folder:
        for word in words or SUITES:
            for row in SUITES[word](Path(folder)):
                print(row.line(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
