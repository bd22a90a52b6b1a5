"""``dump``: the field tree, as indented text for people or as one JSON object per archive for programs.

Fields are created, written and released one after another: a tree of a million fields takes no more memory than its
widest branch of records.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Iterable, Mapping, Sequence

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.options import (
    A_LOCATION_TO_READ,
    CONNECTION,
    JSON,
    Option,
    connection_of,
    location,
    one_or_more,
    where,
)
from inspector.cli.output import emit, json_text, painted, quoted, wants_colour
from inspector.core.archive import member_at
from inspector.core.field import Field, Scope, locate, scope_of
from inspector.core.finding import Finding, Severity
from inspector.core.names import visible
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.ask import Question
from inspector.operations.open.asked import FIELD_NAMES, FoundField, every_field, fields_where, known_names
from inspector.operations.open.expressions import place_in
from inspector.operations.open.opening import UNKNOWN_FORMAT, Opened

_MAX_VALUE_CHARS = 160
"""Characters of a value or note in text; JSON has all of them."""
_MAX_MARK_CHARS = 80
"""Characters of a finding that are shown after a field; standard error has all of it."""
_MAX_MARKS = 1_000
"""Findings that are shown after fields."""
Path = tuple[int, ...]
"""Positions in the tree from the root."""


OPTIONS = (
    location(A_LOCATION_TO_READ),
    Option("--depth", type=one_or_more, metavar="N", help="show only the outer N levels of the tree"),
    Option(
        "--at",
        metavar="PLACE",
        help="only what is at a place, as Go To takes it: 0x5000, end-4, footer, entry[3], member:NAME",
    ),
    Option(
        "--diagram",
        metavar="FILE.svg",
        help="instead, draw the archive's shape, what leads where and what is wrong; a file of that name is replaced",
    ),
    Option("--raw", action="store_true", help="also a file of no known format, as bytes"),
    where("'chunk.size > 30000'"),
    JSON,
    Option("--json-lines", action="store_true", help="JSON, one object a field, parents before what is in them"),
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print the field tree of ``options.location`` and return the exit status.

    Raises SourceError if it cannot be opened.
    """
    depth = options.depth or sys.maxsize
    opened = open_parts(options.location, connection_of(options))
    if not options.raw and all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{options.location}: {UNKNOWN_FORMAT}")
    if options.at is not None:
        return _at(opened, options)
    if options.diagram is not None:
        return _diagram(opened, pathlib.Path(options.diagram))
    if options.where is not None:
        return _where(opened, depth, options)
    for part in opened:
        archive = part.archive
        source, size = part.source, archive.source.size
        if options.json_lines:
            _write_objects(quoted(source), every_field(archive, depth))
        elif options.json:
            emit(f'{{"source": {quoted(source)}, "format": {quoted(archive.format)}, "size": {size}')
            emit(', "fields": [')
            _write_fields(archive.fields, depth, scope_of(archive.format))
            emit("]}\n")
        else:
            emit(f"{visible(part.label)}: {archive.title}, {in_bytes(size)}\n")
            _write_lines(archive.fields, depth, _digits(archive), (), _marks(archive, depth))
    for part in opened:
        part.report_findings()
    return status_of(opened)


def _where(opened: Sequence[LocationPart], depth: int, options: argparse.Namespace) -> int:
    """Print the fields that a condition is true of, and return the exit status. Raises AskError."""
    known = set(FIELD_NAMES)
    if missing := Question(options.where).names - known:
        for part in opened:
            known |= known_names(part.archive, missing)
    question = Question(options.where, sorted(known))
    for part in opened:
        found = fields_where(part.archive, question, depth)
        if options.json or options.json_lines:
            _write_objects(quoted(part.source), found)
            continue
        digits, marks = _digits(part.archive), _marks(part.archive, depth)
        for each in found:
            _write_line(each.field, digits, each.path, marks)
    for part in opened:
        part.report_findings()
    return status_of(opened)


def _at(opened: Sequence[LocationPart], options: argparse.Namespace) -> int:
    """Print the fields around a place, the outermost first, and the member it belongs to; return the exit status."""
    if len(opened) != 1:
        several = f"{visible(options.location)} has {len(opened):,}"
        raise OperationError(f"A place is in one archive, and {several}: name one.")
    archive = opened[0].archive
    at = place_in(archive, options.at)
    chain, member = locate(archive.fields, at)[: options.depth], member_at(archive, at)
    name = None if member is None else visible(archive.members.path(member))
    if options.json or options.json_lines:
        emit(f'{{"source": {quoted(opened[0].source)}, "at": {at}, ')
        emit(f'"member": {json_text(name)}, "fields": [')
        scope = scope_of(archive.format)
        for number, (_, field) in enumerate(chain):
            _write_fields((field,), 1, scope, ", " if number else "")
            scope = scope.typed(field)[1]
        emit("]}\n")
        return status_of(opened)
    emit(f"{visible(opened[0].label)}: byte {at:,} ({hexadecimal(at)}): {_in_member(archive, at)}\n")
    digits, marks = _digits(archive), _marks(archive, len(chain))
    for level, (_, field) in enumerate(chain, 1):
        _write_line(field, digits, tuple(position for position, _ in chain[:level]), marks)
    return status_of(opened)


def _in_member(archive: Opened, at: int) -> str:
    """Which member a byte stands in, and where in it."""
    number = member_at(archive, at)
    if number is None:
        return "in no member"
    member, before = archive.members[number], 0
    for start, stop in member.spans:
        if start <= at < stop:
            return f"in {visible(member.path)}, byte {before + at - start:,} of {member.stored:,}"
        before += stop - start
    return f"in a record of {visible(member.path)}"


def _diagram(opened: Sequence[LocationPart], target: pathlib.Path) -> int:
    """Draw the shape, say in words what the picture shows, and return the exit status.

    Raises OperationError and SourceError.
    """
    from inspector.operations.diagram.drawing import (  # dumping fields need not wait for it
        Shades,
        description,
        diagram_svg,
    )
    from inspector.operations.diagram.shape import diagram_of_all
    from inspector.operations.report.writing import require_other_file, write

    archives = [part.archive for part in opened]
    require_other_file(target, archives)
    diagram = diagram_of_all(archives)
    if diagram is None:
        raise OperationError("There is nothing to draw.")
    write(target, diagram_svg(diagram, Shades(), alone=True).encode("utf-8", "backslashreplace"))
    emit(f"{description(diagram)}.\n")
    return status_of(opened)


def _object(field: Field, kind: str) -> str:
    """A field as JSON without its end, by hand: json.dumps takes twice as long for millions of them."""
    spans = ", ".join([f"[{start}, {stop}]" for start, stop in field.spans])
    return (
        f'"name": {quoted(field.name)}, "kind": {quoted(field.kind)}, "type": "{kind}", "spans": [{spans}], '
        f'"value": {json_text(field.value)}, "note": {quoted(field.note)}'
    )


def _write_fields(fields: Sequence[Field], depth: int, scope: Scope, separator: str = "") -> None:
    for field in fields:
        kind, inside = scope.typed(field)
        line = f'{separator}{{{_object(field, kind)}, "children": ['
        separator = ", "
        below = field.below if depth > 1 else ()
        if not below:
            emit(f"{line}]}}")
            continue
        emit(line)
        _write_fields(below, depth - 1, inside)
        emit("]}")


def _write_objects(source: str, fields: Iterable[FoundField]) -> None:
    """One object a field, parents first, each with its own number and its parent's."""
    for each in fields:
        parent = "null" if each.parent is None else each.parent
        place = f'"id": {each.number}, "parent": {parent}, "depth": {len(each.path)}'
        emit(f'{{"source": {source}, {place}, {_object(each.field, each.type)}}}\n')


def _digits(archive: Opened) -> int:
    """How many hex digits the longest offset has."""
    return max(4, len(f"{archive.source.size:x}"))


def _write_lines(fields: Sequence[Field], depth: int, digits: int, path: Path, marks: Mapping[Path, str]) -> None:
    for position, field in enumerate(fields):
        own = (*path, position)
        _write_line(field, digits, own, marks)
        if depth > 1:
            _write_lines(field.below, depth - 1, digits, own, marks)


def _write_line(field: Field, digits: int, path: Path, marks: Mapping[Path, str]) -> None:
    indent = "  " * (len(path) - 1)
    place = " ".join([f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in field.spans])
    emit(f"{place:<{2 * digits + 6}}  {indent}{_sentence(field)}{marks.get(path, '')}\n")


def _marks(archive: Opened, depth: int) -> dict[Path, str]:
    """What is shown after fields that have findings, by the fields' positions in the tree.

    A finding belongs to the innermost field shown that contains its first span, or else to the outermost one.
    """
    found: dict[Path, list[Finding]] = {}
    wrong = [finding for finding in archive.findings if finding.spans and finding.severity is not Severity.INFO]
    for finding in wrong[:_MAX_MARKS]:
        start, stop = finding.spans[0]
        chain = locate(archive.fields, min(start, archive.source.size - 1))[:depth]
        containing = [
            at for at, (_, field) in enumerate(chain) if any(a <= start and stop <= b for a, b in field.spans)
        ]
        path = tuple(position for position, _ in chain[: max(containing, default=0) + 1])
        found.setdefault(path, []).append(finding)
    return {path: _mark(findings) for path, findings in found.items()}


def _mark(findings: Sequence[Finding]) -> str:
    worst = min(findings, key=lambda finding: finding.severity.rank)
    word = painted(worst.severity) if wants_colour(sys.stdout) else worst.severity
    more = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
    return f"  <- {word}: {_short(worst.message, _MAX_MARK_CHARS)}{more}"


def _sentence(field: Field) -> str:
    """``size 0x8000 = 32,768 bytes``, or the name alone."""
    value, note = _short(field.shown), _short(field.note)
    name = visible(field.name)
    if value and note:
        return f"{name} {value} = {note}"
    return f"{name} {value}" if value else f"{name}: {note}" if note else name


def _short(text: str, max_chars: int = _MAX_VALUE_CHARS) -> str:
    shown = visible(text[: max_chars + 1])
    return shown if len(shown) <= max_chars else shown[: max_chars - 1] + "…"
