"""What a report shows of bytes: the map of the file and its outermost structures as SVG, and rows of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, islice, pairwise

from inspector.core.field import Field, Run, census, runs
from inspector.core.finding import Severity
from inspector.core.kinds import Family, Kind, Role, family_of
from inspector.core.names import abridged, visible
from inspector.core.numbers import hexadecimal, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError, is_sparing
from inspector.core.span import Span, Spans
from inspector.drawing.colouring import PAINTS, ColourBy, Paint, families_in, landmarks, shown_in
from inspector.operations.diagram.drawing import (
    DAMAGE,
    QUIET,
    RULE,
    SANS,
    TEXT,
    WIDTH,
    Shades,
    line_shade,
    rect,
    shade_in,
    shade_of,
    svg,
    text,
)
from inspector.operations.diagram.shape import families_of
from inspector.operations.open.opening import Opened
from inspector.operations.open.overview import in_kind_order, overview

MAX_DAMAGED = 1_000
"""Findings whose bytes are marked in the map."""
MAP_COLUMNS = 480
"""Stretches of the map."""
COLUMNS = 16
"""Bytes in a row of an excerpt."""
_GROUP = 8
_HEX_WIDTH = 3 * COLUMNS + COLUMNS // _GROUP - 2
"""Characters of the digits of a whole row."""
_MAX_ROWS = 5
_MAX_PLACES = 2
"""Places of one finding whose bytes are shown, and the rows of each."""
_MAX_TOP = 10
"""Structures of the outermost level that are shown; of more, the first and the last ones."""
_LAST_TOP = 3
_FEW_TOP = 3
_MAX_PARTS = 6
_PLAIN_ROLES = frozenset((Role.EXTENT, Role.DIGEST))
_PLAIN_KINDS = frozenset((Kind.SIGNATURE, Kind.NUMBER, Kind.FLAGS, Kind.TIME))
"""The bytes that a redacted report shows: neither names nor content."""
_LANDMARKS_HEIGHT, _MAP_HEIGHT, _DAMAGE_HEIGHT, _AXIS = 8, 40, 8, 18
_ROW, _BAR = 22, 16
_BAR_LEFT, _BAR_WIDTH = 92, 250


def pictures(archive: Opened, shades: Shades, progress: Progress, *, named: bool) -> str:
    """The map and the structure of an archive; empty where it cannot be read."""
    size, sparing = archive.source.size, is_sparing(archive.source)
    try:
        sets = overview(archive.fields, size, MAP_COLUMNS, progress, sparing=sparing)
        kinds = in_kind_order(census(archive.fields, progress.advance), archive)
        top = list(_top(archive.fields))
        rows = [row for at, each in enumerate(top) for row in _structure_row(each, at * _ROW, shades, named=named)]
    except SourceError:
        return ""
    wrong = (each for each in archive.findings if each.severity is not Severity.INFO)
    damage = [span for each in islice(wrong, MAX_DAMAGED) for span in each.spans]
    named_kinds = (
        (
            Paint(ColourBy.STRUCTURE, (kind, unused), 0 if unused else 2),
            f"{kind.label}{', unused' if unused else ''} · {number:,}",
        )
        for (kind, unused), number in kinds.items()
    )
    drawn = _map(sets, damage, size, shades)
    structure = svg(len(top) * _ROW, rows, "The outermost structures in the order of the file")
    return f"<h2>Map</h2>\n{drawn}{_legend(named_kinds, shades)}<h2>Structure</h2>\n{structure}"


def _legend(items: Iterable[tuple[Paint, str]], shades: Shades) -> str:
    """What each colour means: a swatch and words."""
    swatch = '<span class="item"><span class="swatch {}">&nbsp;&nbsp;&nbsp;</span> {}</span>&ensp; '
    found = "".join(swatch.format(shades.of(shade_of(paint)), escape(label)) for paint, label in items)
    return f'\n<p class="legend quiet">{found}</p>\n'


def _map(sets: Sequence[int], damage: Sequence[Span], size: int, shades: Shades) -> str:
    cell = WIDTH / max(1, len(sets))
    top = _LANDMARKS_HEIGHT + 2
    under = top + _MAP_HEIGHT + 2
    parts = [rect(0, top, WIDTH, _MAP_HEIGHT, RULE, shades)]
    at = 0
    for bits, same in groupby(sets):
        number = sum(1 for _ in same)
        shown = shown_in(bits, ColourBy.STRUCTURE)
        for (low, high), each in zip(_shares(top, _MAP_HEIGHT, len(shown)), shown, strict=True):
            parts.append(rect(at * cell, low, number * cell, high - low, shade_in(each), shades))
        at += number
    at = 0
    for bits, same in groupby(landmarks(sets)):
        number = sum(1 for _ in same)
        families = families_in(bits)
        for (low, high), family in zip(_shares(at * cell, number * cell, len(families)), families, strict=True):
            parts.append(rect(low, 0, high - low, _LANDMARKS_HEIGHT, line_shade(family), shades))
        at += number
    for start, stop in damage:
        low = min(start, size - 1) * WIDTH / size
        width = max(3.0, (stop - start) * WIDTH / size)
        parts.append(rect(min(low, WIDTH - width), under, width, _DAMAGE_HEIGHT, DAMAGE, shades))
    foot = under + _DAMAGE_HEIGHT + _AXIS - 4
    parts.append(text(0, foot, "0x0", QUIET, shades))
    parts.append(text(WIDTH // 2, foot, hexadecimal(size // 2), QUIET, shades, "middle"))
    parts.append(text(WIDTH, foot, hexadecimal(size), QUIET, shades, "end"))
    return svg(under + _DAMAGE_HEIGHT + _AXIS, parts, "Map of the file: which structures are where, damage below")


# ---- structure -----------------------------------------------------------------------------------------------------


def _top(fields: Sequence[Field]) -> Iterator[Field | int]:
    """The structures of the outermost level in the order of the file; of a few groups, those that they hold.

    A number stands for so many that are left out.
    """
    owning = len(fields) if len(fields) > _MAX_TOP else sum(bool(each.spans) for each in fields)
    first, last = (owning, 0) if owning <= _MAX_TOP else (_MAX_TOP - _LAST_TOP - 1, _LAST_TOP)
    for at in range(first):
        field = fields[at]
        if owning <= _FEW_TOP and family_of(field.kind) is None and field.children:
            yield from _top(field.children)
        else:
            yield field
    if last:
        yield owning - first - last
    yield from (fields[at] for at in range(owning - last, owning))


def _structure_row(field: Field | int, top: int, shades: Shades, *, named: bool) -> Iterator[str]:
    """Where a structure begins, what is in it, its name and its size."""
    base = top + _BAR - 3
    if isinstance(field, int):
        yield text(_BAR_LEFT + _BAR_WIDTH + 14, base, f"… {field:,} more …", QUIET, shades, font=SANS)
        return
    yield text(_BAR_LEFT - 10, base, hexadecimal(field.start), QUIET, shades, "end")
    families = families_of(field, _MAX_PARTS) or [field.kind.role or Role.DATA]
    # Each has the same width: the map shows how large they are.
    for (low, high), family in zip(_shares(_BAR_LEFT, _BAR_WIDTH, len(families)), families, strict=True):
        yield rect(low, top, high - low - 1, _BAR, shade_in(family), shades)
        line = line_shade(family) if isinstance(family, Family) else DAMAGE
        yield rect(low, top, 3, _BAR, line, shades)
    label = abridged(visible(field.label or field.name if named else field.kind.label))
    label = label if len(label) <= 60 else f"{label[:40]} … {label[-16:]}"
    yield text(_BAR_LEFT + _BAR_WIDTH + 14, base, label, TEXT, shades, font=SANS)
    stop = field.spans[-1].stop if field.spans else field.start
    yield text(WIDTH, base, rounded(stop - field.start), QUIET, shades, "end")


def _shares(start: float, size: float, number: int) -> list[tuple[float, float]]:
    """``number`` equal parts of ``size`` from ``start`` on."""
    return list(pairwise(start + size * at / number for at in range(number + 1))) if number else []


# ---- excerpts ------------------------------------------------------------------------------------------------------


def excerpts(archive: Opened, wrong: Spans, shades: Shades, *, redact: bool) -> Iterator[str]:
    """Some rows of the bytes that a finding names, coloured as in the view, with what the colours mean."""
    reached = -1
    for span in wrong[:_MAX_PLACES]:
        first = max(0, min(span.start, archive.source.size - 1) // COLUMNS * COLUMNS)
        if first <= reached:
            continue
        rows = max(1, min(-(-(span.stop - first) // COLUMNS), _MAX_ROWS))
        stop = min(archive.source.size, first + rows * COLUMNS)
        reached = stop - 1
        try:
            data = archive.source.read(first, stop - first)
            found = runs(archive.fields, first, stop, archive.verdict)
        except SourceError:
            continue
        if data:
            more = max(0, span.stop - stop)
            yield _excerpt(data, first, found, wrong, shades, more, redact=redact)


def _excerpt(
    data: bytes, start: int, found: Sequence[Run], wrong: Spans, shades: Shades, more: int, *, redact: bool
) -> str:
    """Rows of bytes from ``start`` on, which ``more`` follow."""
    legend: dict[Paint, str] = {}
    rows = []
    for first in range(start, start + len(data), COLUMNS):
        digits, texts, width = "", "", 0
        row = Span(first, min(first + COLUMNS, start + len(data)))
        for run, part in _runs_in(found, *row):
            paint = PAINTS[ColourBy.STRUCTURE](run) if run is not None else None
            if run is not None and paint is not None:
                legend.setdefault(paint._replace(shade=0), _paint_label(paint, run))
            plain = run is not None and (run.kind.role in _PLAIN_ROLES or run.kind in _PLAIN_KINDS)
            names = [shades.of(shade_of(paint))] if paint is not None else []
            for (low, high), bad in _split(part, wrong):
                shown = [f"{byte:02X}" for byte in data[low - start : high - start]]
                words = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data[low - start : high - start])
                if redact and not plain:
                    shown, words = ["··"] * (high - low), "·" * (high - low)
                gaps = [" " * (1 + (at % _GROUP == _GROUP - 1)) for at in range(low - first, high - first)]
                gaps[-1] = "" if high == row.stop else gaps[-1]  # a gap after the last byte belongs to none
                body = "".join(digit + gap for digit, gap in zip(shown, gaps, strict=True))
                width += len(body)
                classes = [*names, *(["w"] if bad else [])]
                digits += f"{_span(body.rstrip(' '), classes)}{gaps[-1]}"
                texts += _span(words, classes)
        rows.append(f'<span class="at">{first:08X}</span>  {digits}{" " * (_HEX_WIDTH - width + 2)}{texts}')
    rest = f'\n<span class="at">… {more:,} more bytes</span>' if more else ""
    return f"<pre>{chr(10).join(rows)}{rest}</pre>{_legend(legend.items(), shades)}"


def _span(text: str, classes: Sequence[str]) -> str:
    return f'<span class="{" ".join(classes)}">{escape(text)}</span>' if classes else escape(text)


def _runs_in(found: Sequence[Run], start: int, stop: int) -> Iterator[tuple[Run | None, Span]]:
    """The parts of runs in ``[start, stop)``, and what is between them without one."""
    at = start
    for run in found:
        low, high = max(run.start, at), min(run.stop, stop)
        if low >= high:
            continue
        if at < low:
            yield None, Span(at, low)
        yield run, Span(low, high)
        at = high
    if at < stop:
        yield None, Span(at, stop)


def _split(part: Span, wrong: Spans) -> Iterator[tuple[Span, bool]]:
    """A part in pieces: those that a finding names, and the others."""
    edges = sorted({part.start, part.stop, *(edge for span in wrong for edge in span if part.start < edge < part.stop)})
    for start, stop in pairwise(edges):
        yield Span(start, stop), any(span.start <= start and stop <= span.stop for span in wrong)


def _paint_label(paint: Paint, run: Run) -> str:
    structure = run.structure
    if paint.by is ColourBy.STRUCTURE and structure is not None:
        return f"{structure.kind.label}, unused" if structure.unused else structure.kind.label
    return str(run.role)
