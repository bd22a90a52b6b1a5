"""The rows of an index, as the later layout has it, against the datapoints of its tar.

An index row is 16 bytes, big-endian: 8 header offset in bytes, 2 header size in blocks of 512 bytes, 6 data size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.archive import Emitter
from inspector.core.capped_findings import MAX_FINDINGS_PER_KIND
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats.datas3t.datapoints import NONE, Beside, headers
from inspector.formats.datas3t.rows import INDEX_ROW, IndexRows

OFFSET = "datas3t-index-offset"
COUNT = "datas3t-index-count"


def check_index(emitter: Emitter, beside: Beside) -> None:
    """The index rows against the datapoints of a decoded range."""
    rows, members = beside.index, beside.members
    if rows is None:
        return
    wrong = [at for at, row in enumerate(beside.index_rows) if row != NONE and beside.index_error(at)]
    if len(rows) != len(members):
        _tell_count(emitter, beside, rows)
    if rows.rest:
        emitter.error("datas3t-index-cut", f"The index ends inside a row: {rows.rest} of {INDEX_ROW} bytes are there.")
    if len(rows) == len(members) and wrong and _counts_one_block(rows, members):
        _tell_one_block(emitter, members, wrong, rows)
        return
    for at in wrong:
        words = f"The index row of {visible(members.path(at))} is wrong. {beside.index_error(at)}"
        emitter.error(OFFSET, words, headers(members, at), member=at)


def _tell_count(emitter: Emitter, beside: Beside, rows: IndexRows) -> None:
    """How many rows there are, and of which datapoints and rows the others are missing."""
    members = beside.members
    bare = [at for at, row in enumerate(beside.index_rows) if row == NONE]
    used = set(beside.index_rows)
    over = [row for row in range(len(rows)) if row not in used]
    words = f"The index has {count(len(rows), 'row')}, the tar has {count(len(members), 'datapoint')}."
    if bare:
        words += f" No row gives the offset of {visible(members.path(bare[0]))}{_more(bare)}."
    if over:
        words += f" Row {grouped(over[0])}{_more(over)} is left over: no other datapoint has its header there."
    emitter.error(COUNT, words, *(headers(members, at) for at in islice(bare, MAX_FINDINGS_PER_KIND)))


def _more(others: Sequence[int]) -> str:
    return f" and {len(others) - 1:,} more" if len(others) > 1 else ""


def _as_one_block(members: Members) -> Iterator[tuple[int, int, int]]:
    """The rows of a writer that takes every header to be one block, also after an extended one."""
    at = 0
    for member in range(len(members)):
        size = members.stored(member)
        yield at, 1, size
        at += BLOCK + aligned(size)


def _counts_one_block(rows: IndexRows, members: Members) -> bool:
    return all(rows[at] == said for at, said in enumerate(_as_one_block(members)))


def _tell_one_block(emitter: Emitter, members: Members, wrong: Sequence[int], rows: IndexRows) -> None:
    """What a known writer does, once: it puts every row off that stands after the first long name."""
    assert members.heads is not None
    early = max(members.heads[at] - rows[at][0] for at in wrong)
    far = f", and give offsets up to {in_bytes(early)} too low" if early else ""
    name = visible(members.path(wrong[0]))
    words = (
        f"The index counts every header as one block, also an extended one like that of {name}: {len(wrong):,} of "
        f"{count(len(rows), 'row')} disagree with the tar{far}. A published writer makes this mistake. "
        "The tar does not suffer from it; a reader that goes by the index is given wrong bytes."
    )
    emitter.error(OFFSET, words, *(headers(members, at) for at in islice(wrong, MAX_FINDINGS_PER_KIND)))
