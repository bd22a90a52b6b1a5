"""A report as a page for a browser: one file without scripts, links or anything to load. A PDF is made of it too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from inspector.core.verdict import State, Verdict
from inspector.drawing.colouring import Paint
from inspector.drawing.palette import COLOURS, MARKS, Mark, Scheme
from inspector.operations.diagram.drawing import diagram_svg
from inspector.operations.diagram.svg import Shades, shade_of
from inspector.operations.report.drawing import colours_of, map_of, structure_of
from inspector.operations.report.facts import (
    COLUMNS,
    Excerpt,
    FindingFacts,
    Piece,
    RepairFacts,
    ReportFacts,
    Row,
    Table,
)

_GROUP = 8
_GOOD = frozenset((State.SOUND, Verdict.VERIFIED))
_BAD = frozenset((State.DAMAGED, State.TORN, State.UNREADABLE, Verdict.MISMATCH))
_MEANS = {State.WARNING: "warning", Verdict.DOUBTFUL: "warning"}


def _named(scheme: Scheme) -> dict[str, str]:
    marks = MARKS[scheme]
    colours = colours_of(COLOURS[scheme])
    return colours | {"good": marks[Mark.GOOD], "warn": marks[Mark.WARNING], "info": marks[Mark.INFO]}


_RULES = """
body {{ background-color: {base}; color: {text} }}
h2, th, .key, .quiet, .at {{ color: {quiet} }}
h2, td, th {{ border-color: {rule} }}
.bad {{ color: {bad} }} .warning {{ color: {warn} }} .good {{ color: {good} }} .info {{ color: {info} }}
.w {{ border-color: {bad} }} .plain, pre {{ color: {text} }}
"""
_SCREEN = """
:root { color-scheme: light dark }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 1.6rem auto 3rem; max-width: 64rem;
  padding: 0 1.2rem }
h1 { font-size: 1.45rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere }
h2 { font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; margin: 1.5rem 0 .5rem;
  padding-bottom: .2rem; border-bottom: 1px solid }
h1, td, p, pre { unicode-bidi: isolate }
p { margin: .2rem 0; overflow-wrap: anywhere }
.state { font-size: 1.05rem; font-weight: 600 }
.cause { font-size: 1.05rem }
svg { display: block; height: auto; width: 100%; margin: .4rem 0 }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid; padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top;
  overflow-wrap: anywhere }
th { font-weight: 600; font-size: .85rem }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.about td { border: 0; padding-top: 0 } .key { white-space: nowrap; width: 7rem }
code, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em }
.finding { border-left: 3px solid; padding-left: .8rem; margin: .8rem 0 }
.beneath { margin-left: 1.6rem }
pre { line-height: 1.5; margin: .3rem 0; overflow-x: auto }
pre span { padding: .1em 0 }
.w { border-bottom: 2px solid; font-weight: 700 }
.swatch { display: inline-block; width: 1em; height: 1em; border-radius: 2px; vertical-align: -.15em;
  margin-right: .35em; overflow: hidden }
.legend span.item { margin-right: 1.1em; white-space: nowrap }
article + article { margin-top: 3rem }
@media print { body { margin: 0; max-width: none; font-size: 10pt } .finding, svg { break-inside: avoid } }
"""
_PRINT = """
body { font-family: "DejaVu Sans", sans-serif; font-size: 9pt }
h1 { font-size: 15pt; margin-top: 0; margin-bottom: 4px }
h2 { font-size: 10pt; margin-top: 14px; margin-bottom: 4px }
p { margin-top: 2px; margin-bottom: 2px }
.state, .cause { font-size: 10.5pt }
.state { font-weight: bold }
td, th { padding: 2px 10px 2px 0 }
th { font-weight: bold }
code, pre, .mono { font-family: "DejaVu Sans Mono", monospace; font-size: 8pt }
.beneath { margin-left: 16px }
.w { text-decoration: underline; font-weight: bold }
"""
"""What QTextDocument understands, which has neither variables nor media queries."""


def as_html(reports: Sequence[ReportFacts], *, for_print: bool = False) -> str:
    """One page about these reports; ``for_print``: for the PDF, which is light and knows less of style."""
    shades = Shades()
    title = reports[0].title if len(reports) == 1 else f"{len(reports):,} archives"
    body = "".join(_article(each, shades) for each in reports)
    light = _RULES.format(**_named(Scheme.LIGHT))
    if for_print:
        style = f"{_PRINT}{light}{shades.rules().split('@media', 1)[0]}"
    else:
        dark = _RULES.format(**_named(Scheme.DARK))
        style = f"{_SCREEN}{light}@media screen and (prefers-color-scheme: dark) {{{dark}}}\n{shades.rules()}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head><body>\n{body}</body></html>\n"
    )


def _article(report: ReportFacts, shades: Shades) -> str:
    parts = [
        f"<h1>{escape(report.title)}</h1>\n",
        f'<p class="state {_class(report.state)}">{escape(report.sentence)}</p>\n',
        f'<p class="cause">Cause: {escape(report.cause)}</p>\n' if report.cause else "",
        _about(report.about),
    ]
    drawing = report.drawing
    if drawing is not None:
        parts += [
            "<h2>Map</h2>\n",
            map_of(drawing, shades),
            _legend(((paint, f"{label} · {number:,}") for paint, label, number in drawing.kinds), shades),
            "<h2>Structure</h2>\n",
            structure_of(drawing, shades),
        ]
    if report.diagram is not None:
        parts += ["<h2>Diagram</h2>\n", diagram_svg(report.diagram, shades)]
    parts.append(_table("Ranges", report.ranges))
    parts.append("\n<h2>Findings</h2>\n")
    parts += [_finding(each, shades) for each in report.findings]
    if not report.findings:
        parts.append("<p>None.</p>\n")
    if report.more_findings:
        parts.append(f'<p class="quiet">{escape(report.more_findings)}</p>\n')
    parts.append(_repair(report.repair))
    parts.append(_table("Readers", report.readers))
    parts.append(_table("Members", report.members))
    parts.append(_table("Digests", report.digests))
    return f"<article>\n{''.join(parts)}</article>\n"


def _class(value: str | None) -> str:
    if value in _GOOD:
        return "good"
    return "bad" if value in _BAD else next((name for each, name in _MEANS.items() if each == value), "")


def _about(rows: Iterable[tuple[str, str]]) -> str:
    found = "".join(
        f'<tr><td class="key">{escape(name)}</td><td>{_mono(value) if name == "SHA-256" else escape(value)}</td></tr>\n'
        for name, value in rows
    )
    return f'<table class="about">{found}</table>\n'


def _mono(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _legend(items: Iterable[tuple[Paint, str]], shades: Shades) -> str:
    """What each colour means: a swatch and words."""
    swatch = '<span class="item"><span class="swatch {}">&nbsp;&nbsp;&nbsp;</span> {}</span>&ensp; '
    found = "".join(swatch.format(shades.of(shade_of(paint)), escape(label)) for paint, label in items)
    return f'\n<p class="legend quiet">{found}</p>\n'


def _finding(finding: FindingFacts, shades: Shades) -> str:
    kind = {"error": "bad"}.get(finding.severity, finding.severity)
    details = [f"<code>{escape(finding.code)}</code>"]
    if finding.place:
        details.append(f"bytes {_mono(finding.place)}")
    if finding.member:
        details.append(f"in {_mono(finding.member)}")
    if finding.repair:
        details.append(f"repair: {_mono(finding.repair)}")
    beneath = " beneath" if finding.beneath else ""
    return (
        f'<div class="finding{beneath} {kind}">\n<p><b class="{kind}">{escape(finding.severity.capitalize())}</b> '
        f'<span class="plain">{escape(finding.message)}</span></p>\n'
        f'<p class="quiet">{" · ".join(details)}</p>\n'
        f"{''.join(_excerpt(each, shades) for each in finding.excerpts)}</div>\n"
    )


def _excerpt(excerpt: Excerpt, shades: Shades) -> str:
    rows = "\n".join("".join(_row(each, shades)) for each in excerpt.rows)
    more = f'\n<span class="at">… {excerpt.more:,} more bytes</span>' if excerpt.more else ""
    return f"<pre>{rows}{more}</pre>{_legend(excerpt.legend, shades)}"


def _row(row: Row, shades: Shades) -> Iterator[str]:
    yield f'<span class="at">{row.start:08X}</span>  '
    at = 0
    for index, piece in enumerate(row.pieces):
        last = index == len(row.pieces) - 1
        digits = "".join(
            f"{digit}{_gap(at + number) if not (last and number == len(piece.digits) - 1) else ''}"
            for number, digit in enumerate(piece.digits)
        )
        # A gap after the last byte of a piece belongs to none.
        body = digits.rstrip(" ")
        yield f"{_span(piece, body, shades)}{digits[len(body) :]}"
        at += len(piece.digits)
    yield " " * (_width(COLUMNS) - _width(at) + 2)
    for piece in row.pieces:
        yield _span(piece, piece.text, shades)


def _gap(at: int) -> str:
    """What stands after the digits of a byte of a row."""
    return "  " if at % _GROUP == _GROUP - 1 else " "


def _width(count: int) -> int:
    """The characters that the digits of so many bytes take."""
    return sum(2 + len(_gap(at)) for at in range(count)) - len(_gap(count - 1)) if count else 0


def _span(piece: Piece, text: str, shades: Shades) -> str:
    names = [shades.of(shade_of(piece.paint))] if piece.paint is not None else []
    names += ["w"] if piece.wrong else []
    return f'<span class="{" ".join(names)}">{escape(text)}</span>' if names else escape(text)


def _repair(repair: RepairFacts | None) -> str:
    if repair is None:
        return ""
    rows = "".join(
        f"<tr><td>{escape(title)}{''.join(f'<br><span class=quiet>{escape(each)}</span>' for each in means)}</td>"
        f"<td>{_mono(code)}{f'<br><span class=quiet>{_mono(needs)}</span>' if needs else ''}</td></tr>\n"
        for title, means, code, needs in repair.rows
    )
    return f"<h2>Repair</h2>\n<p>{escape(repair.sentence)}</p>\n<table>{rows}</table>\n"


_NUMBERS = frozenset(("Bytes", "Stored", "Members"))
_MONO = frozenset(("Recorded", "Computed"))


def _table(title: str, table: Table) -> str:
    if not table.rows:
        return ""
    heads = "".join(f"<th{_align(name)}>{escape(name)}</th>" for name in table.titles)
    rows = "".join(f"<tr>{''.join(map(_cell, table.titles, row))}</tr>\n" for row in table.rows)
    more = f'<p class="quiet">{escape(table.more)}</p>\n' if table.more else ""
    return f"<h2>{title}</h2>\n<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n{more}"


def _align(title: str) -> str:
    return ' class="n" align="right"' if title in _NUMBERS else ""


def _cell(title: str, text: str) -> str:
    if title in ("Verdict", "State"):
        return f'<td class="{_class(text)}">{escape(text)}</td>'
    return f"<td{_align(title)}>{_mono(text) if title in _MONO else escape(text)}</td>"
