"""``entropy``: what the bytes of an archive look like, and where zeros and repeats are."""

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
from inspector.cli.output import Lines, ProgressBar
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.drawing.byte_class import ByteClass
from inspector.operations.bytes.classes import alike, bands
from inspector.operations.bytes.places import Places
from inspector.operations.bytes.runs import MIN_REPEAT, MIN_ZEROS, repeats, zero_runs

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
        one_of="what",
        metavar="N",
        type=one_or_more,
        help="N equal stretches; without it, those alike are joined",
    ),
    Option(
        "--runs",
        one_of="what",
        action="store_true",
        help=f"runs of {MIN_ZEROS} zeros and more, and {MIN_REPEAT} bytes and more that occur earlier",
    ),
    PROGRESS,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print a line for each stretch, or for each run, and return the exit status. Raises SourceError."""
    parts = open_parts(options.location, connection_of(options), sparing=True)
    with Lines(as_json=options.json) as out:
        for part in parts:
            out.say(f"{visible(part.label)}: {in_bytes(part.archive.source.size)}")
            with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
                show = _runs if options.runs else _stretches
                show(out, part, options, progress)
    return status_of(parts)


def _stretches(out: Lines, part: LocationPart, options: argparse.Namespace, progress: Progress) -> None:
    source, places = part.archive.source, Places(part.archive)
    for span, bits, shares, exact in _looks(source, options.blocks, progress):
        classes = {NAMES[each]: round(share, 3) for each, share in shares}
        words = ", ".join(each if len(shares) == 1 else f"{each} {share:.0%}" for each, share in shares)
        found = {"source": part.label, "span": span, "entropy": round(bits, 2), "classes": classes, "exact": exact}
        out.row(found, _line(places, span, f"{bits:4.2f} bits/byte  {words}"))


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


def _runs(out: Lines, part: LocationPart, options: argparse.Namespace, progress: Progress) -> None:  # noqa: ARG001
    source, places = part.archive.source, Places(part.archive)
    runs: list[tuple[Span, int | None]] = [(run, None) for run in zero_runs(source, progress)]
    runs += [(Span(each.start, each.stop), each.earlier) for each in repeats(source, progress)]
    if not runs:
        out.say(f"  No run of {MIN_ZEROS} zeros and no repeat of {MIN_REPEAT} bytes was found.")
    for span, earlier in sorted(runs):
        kind, what = ("zeros", "zeros") if earlier is None else ("repeat", f"as at 0x{earlier:08x}")
        field = places.field_text(span.start)
        found = {"source": part.label, "span": span, "kind": kind, "earlier": earlier, "field": field}
        out.row(found, _line(places, span, f"{what:<16}"))


def _line(places: Places, span: Span, words: str) -> str:
    place = f"0x{span.start:08x}..0x{span.stop:08x}"
    return f"  {place}  {span.size:>15,}  {words}  {places.field_text(span.start)}".rstrip()
