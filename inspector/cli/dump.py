"""``dump``: the field tree, as indented text for people or as one JSON object an archive for programs.

Fields are made, written and let go one after another: a tree of a million fields takes no more memory than its
widest branch of records.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from inspector.cli.archives import Part, parts, status_of
from inspector.cli.connecting import connection_of
from inspector.cli.output import Lines, complain, json_text, quoted
from inspector.core.field import Field, locate
from inspector.core.finding import Finding, Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.operations.open.opening import UNKNOWN, Opened

_LONGEST = 160
"""Characters of a value or note in text; JSON has all of them."""
_MARK = 80
"""Characters of what is said of a finding behind a field; standard error has all of it."""
_MARKED = 1_000
"""Findings that are shown behind fields."""
Path = tuple[int, ...]
"""Positions in the tree from the root."""


def run(options: argparse.Namespace) -> int:
    """Write the field tree of ``options.location`` and give the exit status.

    Raises SourceError where it cannot be opened.
    """
    depth = options.depth or sys.maxsize
    opened = parts(options.location, connection_of(options))
    with Lines() as out:
        for part in opened:
            if options.json:
                write_object(out, part.archive.source.name, part, depth)
            else:
                write_text(out, part, depth)
    for part in opened:
        if part.archive.decoder is None:
            complain(f"{part.label}: {UNKNOWN}")
        part.say_findings()
    return status_of(opened)


def write_object(out: Lines, source: str, part: Part, depth: int) -> None:
    """One line: the JSON object of one archive."""
    archive = part.archive
    out.write(f'{{"source": {quoted(source)}, "format": {quoted(archive.format)}, "size": {archive.source.size}')
    out.write(', "fields": [')
    _write_fields(out, archive.fields, depth)
    out.write("]}\n")


def _write_fields(out: Lines, fields: Sequence[Field], depth: int) -> None:
    separator = ""
    for field in fields:
        spans = ", ".join([f"[{start}, {stop}]" for start, stop in field.spans])
        out.write(
            f'{separator}{{"name": {quoted(field.name)}, "kind": "{field.kind}", "spans": [{spans}], '
            f'"value": {json_text(field.value)}, "note": {quoted(field.note)}, "children": ['
        )
        if depth > 1:
            _write_fields(out, field.children, depth - 1)
        out.write("]}")
        separator = ", "


def write_text(out: Lines, part: Part, depth: int) -> None:
    """A line about the archive, then a line a field: bytes, name, value = note, and behind it what is wrong with it."""
    archive = part.archive
    out.write(f"{visible(part.label)}: {archive.title}, {in_bytes(archive.source.size)}\n")
    digits = max(4, len(f"{archive.source.size:x}"))
    _write_lines(out, archive.fields, depth, digits, (), _marks(archive, depth))


def _write_lines(
    out: Lines, fields: Sequence[Field], depth: int, digits: int, path: Path, marks: Mapping[Path, str]
) -> None:
    indent = "  " * len(path)
    for position, field in enumerate(fields):
        own = (*path, position)
        place = " ".join([f"0x{start:0{digits}x}..0x{stop:0{digits}x}" for start, stop in field.spans])
        out.write(f"{place:<{2 * digits + 6}}  {indent}{_sentence(field)}{marks.get(own, '')}\n")
        if depth > 1:
            _write_lines(out, field.children, depth - 1, digits, own, marks)


def _marks(archive: Opened, depth: int) -> dict[Path, str]:
    """What stands behind fields that findings are about, by the fields' positions in the tree.

    Of the fields that are shown it is the innermost that holds the first span of a finding, else the outermost one.
    """
    found: dict[Path, list[Finding]] = {}
    wrong = [finding for finding in archive.findings if finding.spans and finding.severity is not Severity.INFO]
    for finding in wrong[:_MARKED]:
        start, stop = finding.spans[0]
        chain = locate(archive.fields, min(start, archive.source.size - 1))[:depth]
        holding = [at for at, (_, field) in enumerate(chain) if any(a <= start and stop <= b for a, b in field.spans)]
        path = tuple(position for position, _ in chain[: max(holding, default=0) + 1])
        found.setdefault(path, []).append(finding)
    return {path: _mark(findings) for path, findings in found.items()}


def _mark(findings: Sequence[Finding]) -> str:
    worst = min(findings, key=lambda finding: finding.severity.rank)
    more = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
    return f"  <- {worst.severity}: {_short(worst.message, _MARK)}{more}"


def _sentence(field: Field) -> str:
    """``size 0x8000 = 32,768 bytes``; the name alone where there is nothing to say."""
    value, note = _short(field.shown), _short(field.note)
    name = visible(field.name)
    if value and note:
        return f"{name} {value} = {note}"
    return f"{name} {value}" if value else f"{name}: {note}" if note else name


def _short(text: str, longest: int = _LONGEST) -> str:
    shown = visible(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
