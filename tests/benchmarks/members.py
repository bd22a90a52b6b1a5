"""Arranging and searching a million members, against the barest numpy and re that do the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import inspector
from inspector.core.program.progress import Progress
from inspector.operations.open.ask import Question
from inspector.operations.open.asked import members_table
from inspector.operations.open.listing import load
from inspector.operations.protocol.views import SortKey
from inspector.operations.session.archive_session import ArchiveSession
from tests.benchmarks import inputs
from tests.benchmarks.formats import COUNT
from tests.benchmarks.measure import Row, paired

SEARCHED = 1 << 30


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    path = inputs.caf(folder, COUNT)
    yield Row(
        f"open {COUNT:,} members by the library, with their sizes / as commands do",
        *paired(lambda: load(str(path), Progress(), sparing=True), lambda: len(inspector.open(path).members.sizes)),
        1.1,
    )

    def opened_and_asked() -> None:
        question = Question("size > 50 and start < 0x100000")
        question.rows(members_table(load(str(path), Progress(), sparing=True)[0]))

    yield Row(
        f"two conditions over {COUNT:,} members / opening",
        *paired(lambda: load(str(path), Progress(), sparing=True), opened_and_asked),
        1.3,
    )
    session = ArchiveSession(str(path))
    session.decode(Progress())
    starts = np.arange(COUNT, dtype=np.uint64)
    sizes = np.random.default_rng(1).integers(0, 2**40, COUNT, dtype=np.uint64)
    names = b"".join(b"dataset/%05d/image_%08d.jpeg" % (number // 1000, number) for number in range(COUNT))
    yield Row(
        f"sort {COUNT:,} members by size / argsort",
        *paired(lambda: np.argsort(sizes), lambda: session.arrange(Progress(), "", SortKey.SIZE, False)),
        2.0,
    )
    yield Row(
        f"filter {COUNT:,} members by a word / re.finditer over the names",
        *paired(
            lambda: sum(1 for _ in re.finditer(b"_0012", names)),
            lambda: session.arrange(Progress(), "_0012", SortKey.ARCHIVE, False),
        ),
        2.0,
    )
    session.arrange(Progress(), "", SortKey.ARCHIVE, False)
    yield Row(
        f"map of {COUNT:,} members in 1,000 rows / numpy sort of the extents",
        *paired(lambda: np.sort(np.concatenate([starts, sizes])), lambda: session.overview(Progress(), 0, 1000)),
        2.0,
    )
    yield from _search(folder)


def _search(folder: Path) -> Iterator[Row]:
    path = inputs.sparse_caf(folder, SEARCHED)
    session = ArchiveSession(str(path))
    session.decode(Progress())
    needle = b"\xffneedle"

    def reference() -> None:
        window = 4 << 20
        with path.open("rb", buffering=0) as file:
            tail = b""
            while block := file.read(window):
                re.search(re.escape(needle), tail + block)
                tail = block[-len(needle) :]

    yield Row(
        "search 1 GiB in cache / re in overlapping windows",
        *paired(reference, lambda: session.search(Progress(), 0, needle, 0, False, False), 3),
        1.25,
    )
