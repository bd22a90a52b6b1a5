"""``entropy``: what the bytes of an archive look like, and where zeros and repeats are."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from typing import Any

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
from inspector.core.drawing.byte_class import ByteClass
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.operations.bytes.classes import alike, bands
from inspector.operations.bytes.places import Places
from inspector.operations.bytes.runs import MIN_REPEAT, MIN_ZEROS, repeats, zero_runs
from inspector.operations.protocol.bytes_views import Bands

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
    with Lines() as out:
        for part in parts:
            if not options.json:
                out.write(f"{visible(part.label)}: {in_bytes(part.archive.source.size)}\n")
            show = _runs if options.runs else _stretches
            for line in show(part, options, several=len(parts) > 1):
                out.write(line)
    return status_of(parts)


def _stretches(part: LocationPart, options: argparse.Namespace, *, several: bool) -> Iterator[str]:
    source = part.archive.source
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        groups: Iterable[_Group] = _alike(source, progress)
        exact = True
        if options.blocks:
            found = bands(source, Span(0, source.size), min(options.blocks, max(1, source.size)), progress)
            groups, exact = _each(found), found.exact
        yield from _lines(part, groups, options, exact=exact, several=several)


_Group = tuple[Span, float, list[tuple[ByteClass, float]]]


def _alike(source: Source, progress: Progress) -> Iterator[_Group]:
    for span, look in alike(source, progress):
        yield span, look.entropy, [(look.byte_class, 1.0)]


def _each(found: Bands) -> Iterator[_Group]:
    if found.stop > found.start:
        for row in range(found.rows):
            yield found.span(row), found.entropy(row), found.classes(row)


def _lines(
    part: LocationPart, groups: Iterable[_Group], options: argparse.Namespace, *, exact: bool, several: bool
) -> Iterator[str]:
    places = Places(part.archive)
    for span, bits, shares in groups:
        if options.json:
            classes = {NAMES[each]: round(share, 3) for each, share in shares}
            value = {"span": list(span), "entropy": round(bits, 2), "classes": classes, "exact": exact}
            yield _json(value, part, several=several)
        else:
            words = ", ".join(each if len(shares) == 1 else f"{each} {share:.0%}" for each, share in shares)
            yield _line(places, span, f"{bits:4.2f} bits/byte  {words}")


def _runs(part: LocationPart, options: argparse.Namespace, *, several: bool) -> Iterator[str]:
    source, places = part.archive.source, Places(part.archive)
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        found: list[tuple[Span, int | None]] = [(run, None) for run in zero_runs(source, progress)]
        found += [(Span(each.start, each.stop), each.earlier) for each in repeats(source, progress)]
    if not found and not options.json:
        yield f"  No run of {MIN_ZEROS} zeros and no repeat of {MIN_REPEAT} bytes was found.\n"
    for span, earlier in sorted(found):
        if options.json:
            kind = "zeros" if earlier is None else "repeat"
            value: dict[str, object] = {
                "span": list(span),
                "kind": kind,
                "earlier": earlier,
                "field": places.field_text(span.start),
            }
            yield _json(value, part, several=several)
        else:
            what = "zeros" if earlier is None else f"as at 0x{earlier:08x}"
            yield _line(places, span, f"{what:<16}")


def _line(places: Places, span: Span, words: str) -> str:
    place = f"0x{span.start:08x}..0x{span.stop:08x}"
    return f"  {place}  {span.size:>15,}  {words}  {places.field_text(span.start)}".rstrip() + "\n"


def _json(value: dict[str, Any], part: LocationPart, *, several: bool) -> str:
    if several:
        value["source"] = part.key
    return f"{json.dumps(value)}\n"
