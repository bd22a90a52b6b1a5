"""Two archives one behind the other in one file (CAF.md, "Fast File Lookup").

The footer leads to the index of the second one, whose numbers count from where that begins: read from the beginning of
the file, they lead into the first.
"""

from __future__ import annotations

from bisect import bisect_left

from inspector.core.archive import Emitter
from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._extents import Rows
from inspector.formats.caf.locate import head
from inspector.formats.caf.search import FOOTER, OPENING

TWO_ARCHIVES = "caf-two-archives"


def first_archive(source: Source, rows: Rows) -> int:
    """The size of the archive that stands before the one that the members in ``rows`` belong to; 0 where none does.

    So much too long is the data section then, and with so many bytes, which end in a footer that leads to an index,
    does the file begin. Where a member ends with them, they are an archive among the members.
    """
    if not len(rows.gaps):
        return 0
    row = rows.gaps[-1]
    size = rows.stop - rows.starts[row]
    if row != len(rows.starts) - 1 or not FOOTER < size < rows.stop:
        return 0
    if rows.starts[bisect_left(rows.starts, size, hi=row)] == size and size != rows.starts[row]:
        return 0
    stop = size - FOOTER
    claimed = int.from_bytes(source.read(stop, FOOTER), "little")
    index = Span(stop - claimed, stop)
    return size if 0 < claimed <= stop and OPENING.match(head(source, index)) else 0


def report_two_archives(emitter: Emitter, rows: Rows) -> None:
    """Say so where the members are looked for in the first of two archives."""
    size = first_archive(emitter.archive.source, rows)
    if size:
        emitter.error(
            TWO_ARCHIVES,
            f"Two archives stand one behind the other: the first has {in_bytes(size)}, and the members listed are "
            f"those of the second, from byte {grouped(size)} on. Its index does not know that, so what is read for "
            f"every member lies {in_bytes(size)} before its data.",
            (0, size),
        )
