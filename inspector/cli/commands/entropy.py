"""``entropy``: what the bytes of an archive look like."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.options import (
    A_LOCATION_TO_READ,
    CONNECTION,
    JSON,
    PROGRESS,
    Option,
    connection_of,
    location,
    one_or_more,
)
from inspector.cli.output import ProgressBar, say, show
from inspector.core.names import visible
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.drawing.byte_class import ByteClass
from inspector.operations.open.byte_classes import alike, bands
from inspector.operations.open.expressions import Places

NAMES = {
    ByteClass.ZEROS: "zeros",
    ByteClass.REPEATED: "repeated",
    ByteClass.TEXT: "ascii",
    ByteClass.UTF8: "utf-8",
    ByteClass.RANDOM: "random",
    ByteClass.OTHER: "other",
}
"""The names of the classes in JSON."""


OPTIONS = (
    location(A_LOCATION_TO_READ),
    Option(
        "--blocks",
        metavar="N",
        type=one_or_more,
        help="N equal stretches; without it, those alike are joined",
    ),
    PROGRESS,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print a line for each stretch, and return the exit status. Raises SourceError."""
    parts = open_parts(options.location, connection_of(options), sparing=True)
    for part in parts:
        say(f"{visible(part.label)}: {in_bytes(part.archive.source.size)}")
        with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
            _stretches(part, options.blocks, progress)
    return status_of(parts)


def _stretches(part: LocationPart, blocks: int | None, progress: Progress) -> None:
    source, places = part.archive.source, Places(part.archive.fields)
    for span, bits, shares, exact in _looks(source, blocks, progress):
        classes = {NAMES[each]: round(share, 3) for each, share in shares}
        words = ", ".join(each if len(shares) == 1 else f"{each} {share:.0%}" for each, share in shares)
        found = {"source": part.source, "span": span, "entropy": round(bits, 2), "classes": classes, "exact": exact}
        place = f"{f'{hexadecimal(span.start)}..{hexadecimal(span.stop)}':<22}  {span.size:>15,}"
        show(found, f"  {place}  {bits:4.2f} bits/byte  {words}  {places.most_text(span)}".rstrip())


def _looks(
    source: Source, blocks: int | None, progress: Progress
) -> Iterator[tuple[Span, float, Sequence[tuple[ByteClass, float]], bool]]:
    """Stretches with their bits a byte, the shares of their classes, and whether all of their bytes were read."""
    if not blocks:
        for span, look in alike(source, progress):
            yield span, look.entropy, [(look.byte_class, 1.0)], True
        return
    found = bands(source, Span(0, source.size), min(blocks, max(1, source.size)), progress)
    for row in range(found.rows if found.stop > found.start else 0):
        yield found.span(row), found.entropy(row), found.classes(row), found.exact
