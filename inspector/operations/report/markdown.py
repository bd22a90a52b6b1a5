"""A report as Markdown, with the pictures as inline SVG. No text from a file is markup in it, whoever reads it.

What means something to Markdown is written as a character reference: such a character is text to every reader, while a
backslash or a code span is not where tables and links of GitHub's kind are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from inspector.operations.diagram.drawing import diagram_svg
from inspector.operations.diagram.svg import Shades
from inspector.operations.report.drawing import map_of, structure_of
from inspector.operations.report.facts import COLUMNS, Excerpt, FindingFacts, RepairFacts, ReportFacts, Row, Table

_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~!&@$^\"']|:(?=//)|(?<=www)\.|^(?:[-+=]|\d+(?=[.)]))|  +", re.IGNORECASE)
"""What could begin markup, a link, a mention or a list, and spaces that would be joined."""


def escaped(text: str) -> str:
    """The text so that it reads as itself."""
    return _MARKUP.sub(lambda found: "".join(f"&#{ord(each)};" for each in found[0]), text)


def as_markdown(reports: Sequence[ReportFacts]) -> str:
    """These reports, one below the other."""
    return "\n".join("\n".join(_article(each)) for each in reports)


def _article(report: ReportFacts) -> Iterator[str]:
    yield f"# {escaped(report.title)}\n"
    yield f"**{escaped(report.sentence)}**\n"
    if report.cause:
        yield f"Cause: {escaped(report.cause)}\n"
    yield from _table(Table(("", ""), report.about))
    drawing, shades = report.drawing, Shades()
    if drawing is not None:
        kinds = ", ".join(f"{escaped(label)} ({number:,})" for _, label, number in drawing.kinds)
        yield f"## Map\n\n{map_of(drawing, shades)}\n\n{kinds}\n\n## Structure\n\n{structure_of(drawing, shades)}\n"
    yield from _diagrams(report, shades)
    yield from _section("Ranges", report.ranges)
    yield "## Findings\n"
    for each in report.findings:
        yield from _finding(each)
    if not report.findings:
        yield "None.\n"
    if report.more_findings:
        yield f"{escaped(report.more_findings)}\n"
    if report.repair is not None:
        yield from _repair(report.repair)
    yield from _section("Readers", report.readers)
    yield from _section("Members", report.members)
    yield from _section("Digests", report.digests)


def _diagrams(report: ReportFacts, shades: Shades) -> Iterator[str]:
    if report.diagram is not None:
        yield f"## Diagram\n\n{diagram_svg(report.diagram, shades)}\n"


def _finding(finding: FindingFacts) -> Iterator[str]:
    details = [escaped(finding.code)]
    details += [f"bytes {finding.place}"] if finding.place else []
    details += [escaped(finding.member)] if finding.member else []
    details += [f"repair: {escaped(finding.repair)}"] if finding.repair else []
    beneath = "Because of that: " if finding.beneath else ""
    yield f"**{beneath}{finding.severity.capitalize()}** {escaped(finding.message)}  \n{' · '.join(details)}\n"
    for each in finding.excerpts:
        yield "\n".join(("```text", *_excerpt(each), "```\n"))


def _excerpt(excerpt: Excerpt) -> Iterator[str]:
    """Rows of bytes, and below each what the finding names; a backtick in them would end the block."""
    for row in excerpt.rows:
        digits = " ".join(digit for piece in row.pieces for digit in piece.digits)
        text = "".join(piece.text for piece in row.pieces).replace("`", ".")
        yield f"{row.start:08X}  {digits:<{3 * COLUMNS}} {text}"
        if marks := _marks(row).rstrip():
            yield f"{'':10}{marks}"
    if excerpt.more:
        yield f"… {excerpt.more:,} more bytes"


def _marks(row: Row) -> str:
    return " ".join("^^" if piece.wrong else "  " for piece in row.pieces for _ in piece.digits)


def _repair(repair: RepairFacts) -> Iterator[str]:
    yield f"## Repair\n\n{escaped(repair.sentence)}\n"
    for title, means, code, needs in repair.rows:
        yield f"* {escaped(title)} ({escaped(f'{code} {needs}'.strip())})"
        yield from (f"  * {escaped(each)}" for each in means)
    yield ""


def _section(title: str, table: Table) -> Iterator[str]:
    if table.rows:
        yield f"## {title}\n"
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield _line(table.titles)
    yield _line("---" for _ in table.titles)
    yield from (_line(map(escaped, row)) for row in table.rows)
    yield f"\n{escaped(table.more)}\n" if table.more else ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
