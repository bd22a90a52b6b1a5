"""What a check found: text for a terminal, a line of JSON for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Any

from msgspec import Struct

from inspector.core.finding import Finding
from inspector.core.names import brief, decoded, visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.verdict import State, Verdict
from inspector.formats._causes.blocks import members_with
from inspector.formats._causes.diagnosis import Placed, folded
from inspector.operations.check.checking import CheckReport, own_state
from inspector.operations.check.tracing import row_lines, row_object
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import ReaderRow, ReportKind

_MAX_NAMES = 20
"""Members that are named because they are not verified; the rest are counted."""

_MAX_LISTED = 3
"""Findings with one code, and places of one finding, that are listed in text; the rest are counted."""


class FindingRow(Struct, frozen=True):
    """A finding of a report, and of one of its archives if it is about one.

    ``label`` begins it with its archive's path inside a folder; ``member`` is a number and a name.
    """

    placed: Placed
    label: str = ""
    archive: Opened | None = None
    member: tuple[int, bytes] | None = None

    @property
    def finding(self) -> Finding:
        return self.placed.finding

    @property
    def message(self) -> str:
        return self.label + self.placed.message

    @property
    def details(self) -> list[str]:
        """Where it is, and in which member; the first few places only."""
        spans = [f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in self.finding.spans]
        more = f" and {len(spans) - _MAX_LISTED:,} more" if len(spans) > _MAX_LISTED else ""
        places = [f"bytes {' '.join(spans[:_MAX_LISTED])}{more}"] if spans else []
        return places if self.member is None else [*places, f"member {brief(self.member[1]) or '(no name)'}"]


def finding_rows(report: CheckReport) -> Iterator[FindingRow]:
    """The findings of a report, those of an archive with its cause first."""
    yield from (FindingRow(Placed(finding)) for finding in report.findings)
    for archive in report.archives:
        label = f"{where}: " if (where := inside(report.location, archive.source.name)) else ""
        for placed in folded(archive.findings, archive.diagnosis):
            at = archive.known_member(placed.finding.member)
            yield FindingRow(placed, label, archive, None if at is None else (at, archive.members.path(at)))


def _summary(report: CheckReport) -> str:
    """``rca, 66,204 bytes, 11 members: 8 verified, 3 not checkable``."""
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.verdicts.items())
    words = f"{report.format or 'no known format'}, {in_bytes(report.size)}, {count(report.members, 'member')}"
    return f"{words}: {verdicts}" if verdicts else words


def _unverified(report: CheckReport) -> list[str]:
    """Lines that name the members that are not verified, so that the others are known to be whole.

    If no member is verified, only those known to be wrong are named.
    """
    kinds = [Verdict.MISMATCH]
    if report.verdicts.get(Verdict.VERIFIED):
        kinds += [Verdict.DOUBTFUL, Verdict.NOT_CHECKABLE, Verdict.NOT_CHECKED]
    total = sum(report.verdicts.get(kind, 0) for kind in kinds)
    named = chain.from_iterable(_with_verdict(report, kind) for kind in kinds)
    lines = [f"{kind}: {name}" for kind, name in islice(named, _MAX_NAMES)]
    return lines + _more(total)


def _more(total: int) -> list[str]:
    """The line after as many as are named; none if that are all."""
    return [f"... and {total - _MAX_NAMES:,} more"] if total > _MAX_NAMES else []


def _with_verdict(report: CheckReport, verdict: Verdict) -> Iterator[tuple[Verdict, str]]:
    """The printable names of the members with this verdict."""
    for archive in report.archives:
        label = inside(report.location, archive.source.name)
        for member in members_with(archive, verdict):
            name = brief(archive.members.path(member)) or "(no name)"
            yield verdict, f"{visible(label)}/{name}" if label else name


def _repairable(report: CheckReport) -> str:
    """The line that says how many findings a repair answers; empty if none."""
    number = sum(row.finding.repair is not None and not row.placed.explains for row in finding_rows(report))
    said = f"{count(number, 'finding')} can be repaired: repair --dry-run shows how, and what is lost or assumed."
    return said if number else ""


def range_state(archive: Opened) -> str:
    """The state of a range by itself in a word."""
    state = own_state(archive)
    return str(state) if archive.checked or state is not State.SOUND else Verdict.NOT_CHECKED


def _range_lines(report: CheckReport) -> list[str]:
    """How many ranges have each state, and which are not sound; empty for a single range."""
    named = ((inside(report.location, each.source.name), each) for each in report.archives)
    ranges = [(label, range_state(each)) for label, each in named if label]
    if len(ranges) < 2:
        return []
    counted = Counter(state for _, state in ranges)
    parts = ", ".join(f"{counted[state]:,} {state}" for state in (*State, Verdict.NOT_CHECKED) if counted[state])
    wrong = [f"{state}: {visible(label)}" for label, state in ranges if state not in (State.SOUND, Verdict.NOT_CHECKED)]
    return [f"{count(len(ranges), 'range')}: {parts}", *wrong[:_MAX_NAMES], *_more(len(wrong))]


def as_text(report: CheckReport) -> str:
    """The report as lines of text; every name is printable."""
    if not report.archives and [each.message for each in report.findings] == [report.sentence]:
        # Nothing was opened, so there is nothing to sum up.
        where = "" if report.sentence.startswith(report.location) else f"{visible(report.location)}: "
        return f"{where}{visible(report.sentence)} [{report.findings[0].code}]\n"
    lines = [f"{visible(report.location)}: {visible(report.sentence)}", f"  {_summary(report)}"]
    lines += (*(f"  {line}" for line in (*_range_lines(report), *_unverified(report))), *_finding_lines(report))
    if dropped := sum(archive.findings_dropped for archive in report.archives):
        lines.append(f"  {count(dropped, 'more finding')} of the same kinds.")
    if repairable := _repairable(report):
        lines.append(f"  {repairable}")
    for label, rows in archive_readers(report):
        lines += [f"  readers{f' of {visible(label)}' if label else ''}:", *(f"    {line}" for line in row_lines(rows))]
    return "\n".join(lines) + "\n"


def archive_readers(report: CheckReport) -> Iterator[tuple[str, Sequence[ReaderRow]]]:
    """What the readers make of each archive, with its path inside the location."""
    for archive, rows in zip(report.archives, report.readers, strict=False):
        if rows:
            yield inside(report.location, archive.source.name), rows


def kinds_of(findings: Iterable[FindingRow]) -> Iterator[list[FindingRow]]:
    """Findings of one kind together where they are many, the others one by one; those of one cause beneath it."""
    for _, rows in groupby(findings, lambda row: row.placed.beneath):
        kinds: dict[tuple[object, ...], list[FindingRow]] = {}
        for row in rows:
            kinds.setdefault((*row.finding[:2], row.finding.repair, row.placed.explains), []).append(row)
        for alike in kinds.values():
            yield from [alike] if len(alike) > _MAX_LISTED else ([row] for row in alike)


def _finding_lines(report: CheckReport) -> Iterator[str]:
    for alike in kinds_of(finding_rows(report)):
        yield from (f"{'    ' if alike[0].placed.beneath else '  '}{line}" for line in _kind_lines(alike))


def _kind_lines(alike: Sequence[FindingRow]) -> Iterator[str]:
    """One finding, or the number of several with one code and the first of them; a cause says the repair beneath it."""
    placed, finding = alike[0].placed, alike[0].finding
    if len(alike) == 1:
        yield f"{finding.severity}: {visible(alike[0].message)} [{', '.join((finding.code, *alike[0].details))}]"
    else:
        advice = "" if placed.beneath or placed.repair else f" {finding.advice}".rstrip()
        yield f"{finding.severity}: {len(alike):,} findings of one kind.{advice} [{finding.code}]"
        for row in alike[:_MAX_LISTED]:
            yield f"  {visible(row.label + row.finding.message)} [{', '.join(row.details) or finding.code}]"
        yield f"  ... and {len(alike) - _MAX_LISTED:,} more; --json lists them"
    if placed.repair and not placed.beneath:
        yield f"  repair: {placed.repair} answers {'these' if alike[1:] else 'this'}"


def as_json(report: CheckReport) -> str:
    """The report as one line of JSON in ASCII."""
    return json.dumps(as_object(report)) + "\n"


def as_object(report: CheckReport) -> dict[str, Any]:
    """The report as the object of ``check --json``."""
    findings = [
        {
            "severity": row.finding.severity,
            "code": row.finding.code,
            "message": row.message,
            "spans": row.finding.spans,
            "member": None if row.member is None else decoded(row.member[1])[0],
            "repair": row.finding.repair,
        }
        for row in finding_rows(report)
    ]
    found = {
        "source": report.location,
        "format": report.format,
        "state": report.state,
        "members": report.members,
        "bytes": report.size,
        "findings": findings,
    }
    if report.readers:
        found["readers"] = [
            {"archive": label or None, **row_object(row)} for label, rows in archive_readers(report) for row in rows
        ]
    return found


RENDERED = {ReportKind.TEXT: as_text, ReportKind.JSON: as_json}
"""The function that renders each kind of report that a terminal prints."""
