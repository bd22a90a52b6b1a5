"""What checking found, written out: text for a terminal, a line of JSON for programs, a page for a browser."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any

from inspector.core.finding import Finding
from inspector.core.names import decoded, visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.verdict import VERDICTS, State, Verdict
from inspector.operations.check.checking import Report, own_state
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import ReportKind
from inspector.sources.local.atomic import AtomicFile

_NAMED = 20
"""Members that are named because they are not verified; the rest is counted."""
_OPEN = "not checked"
_STYLE = """
:root { color-scheme: light dark; --line: #ccd; --soft: #f2f3f7; --bad: #b00020; --warn: #8a5a00; --good: #1a6b35 }
@media (prefers-color-scheme: dark) {
  :root { --line: #445; --soft: #22242c; --bad: #ff8a92; --warn: #f0c060; --good: #7fd79a }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h1 { font-size: 1.3rem }
h1, td { overflow-wrap: anywhere; unicode-bidi: isolate }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top }
th { background: var(--soft) }
td.bytes { font-family: ui-monospace, monospace }
.state { font-weight: 600 }
.error, .damaged, .torn, .unreadable { color: var(--bad) }
.warning { color: var(--warn) }
.sound { color: var(--good) }
"""


@dataclass(frozen=True, slots=True)
class _Told:
    """A finding of a report; ``label`` is its archive's path inside a folder, ``member`` is a name."""

    finding: Finding
    label: str
    member: bytes | None

    @property
    def message(self) -> str:
        return f"{self.label}: {self.finding.message}" if self.label else self.finding.message

    @property
    def place(self) -> str:
        return " ".join(f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in self.finding.spans)


def _told(report: Report) -> Iterator[_Told]:
    for finding in report.findings:
        yield _Told(finding, "", None)
    for archive in report.archives:
        label = inside(report.location, archive.source.name)
        for finding in archive.findings:
            member = finding.member
            known = member is not None and member < len(archive.members)
            yield _Told(finding, label, archive.members.path(member) if known and member is not None else None)


def _summary(report: Report) -> str:
    """``rca, 66,204 bytes, 11 members: 8 verified, 3 not checkable``."""
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.verdicts.items())
    words = f"{report.format or 'no known format'}, {in_bytes(report.size)}, {count(report.members, 'member')}"
    return f"{words}: {verdicts}" if verdicts else words


def _unverified(report: Report) -> list[str]:
    """Lines that name members which are not verified: without them it is not known which ones are whole.

    Where no member is verified, only those are named that are known to be wrong.
    """
    kinds = [Verdict.MISMATCH]
    if report.verdicts.get(Verdict.VERIFIED):
        kinds += [Verdict.DOUBTFUL, Verdict.NOT_CHECKABLE, Verdict.NOT_CHECKED]
    total = sum(report.verdicts.get(kind, 0) for kind in kinds)
    judged = chain.from_iterable(_judged(report, kind) for kind in kinds)
    lines = [f"{kind}: {name}" for kind, name in islice(judged, _NAMED)]
    return [*lines, f"... and {total - len(lines):,} more"] if total > len(lines) else lines


def _judged(report: Report, verdict: Verdict) -> Iterator[tuple[Verdict, str]]:
    """The members of which checking has said this, by their visible names."""
    code = VERDICTS.index(verdict)
    for archive in report.archives:
        label = inside(report.location, archive.source.name)
        at = archive.verdicts.find(code)
        while at >= 0:
            name = visible(archive.members.path(at))
            yield verdict, f"{visible(label)}/{name}" if label else name
            at = archive.verdicts.find(code, at + 1)


def _dropped(report: Report) -> str:
    dropped = sum(archive.findings_dropped for archive in report.archives)
    return f"{count(dropped, 'more finding')} of the same kinds." if dropped else ""


def _mendable(report: Report) -> str:
    """That not all is lost, however bad the findings sound."""
    number = sum(told.finding.repair is not None for told in _told(report))
    if not number:
        return ""
    return f"{count(number, 'finding')} can be answered: repair says how, and what is lost or assumed by it."


def _ranges(report: Report) -> list[tuple[str, State | None, Opened]]:
    """Each range of a collection: its path inside of it, and what it is by itself; None where that is not known."""
    named = ((inside(report.location, archive.source.name), archive) for archive in report.archives)
    return [(label, _range_state(archive), archive) for label, archive in named if label]


def _range_state(archive: Opened) -> State | None:
    state = own_state(archive)
    return state if archive.checked or state is not State.SOUND else None


def _range_lines(report: Report) -> list[str]:
    """How many ranges are what, where there are several, and which of them are not sound."""
    ranges = _ranges(report)
    if len(ranges) < 2:
        return []
    counted = Counter(state for _, state, _ in ranges)
    parts = ", ".join(f"{counted[state]:,} {state or _OPEN}" for state in (*State, None) if counted[state])
    wrong = [f"{state}: {visible(label)}" for label, state, _ in ranges if state not in (State.SOUND, None)]
    more = [f"... and {len(wrong) - _NAMED:,} more"] if len(wrong) > _NAMED else []
    return [f"{count(len(ranges), 'range')}: {parts}", *wrong[:_NAMED], *more]


def as_text(report: Report) -> str:
    """Lines for a person; every name is visible text."""
    if not report.archives and [each.message for each in report.findings] == [report.sentence]:
        # Nothing was opened, so there is nothing to sum up.
        return f"{visible(report.location)}: {visible(report.sentence)} [{report.findings[0].code}]\n"
    lines = [f"{visible(report.location)}: {visible(report.sentence)}", f"  {_summary(report)}"]
    lines += [f"  {line}" for line in (*_range_lines(report), *_unverified(report))]
    for told in _told(report):
        member = "" if told.member is None else f"member {visible(told.member)}"
        details = filter(None, (told.finding.code, f"bytes {told.place}" if told.place else "", member))
        lines.append(f"  {told.finding.severity}: {visible(told.message)} [{', '.join(details)}]")
        if told.finding.repair:
            lines.append(f"    repair: {told.finding.repair} answers this")
    if dropped := _dropped(report):
        lines.append(f"  {dropped}")
    if mendable := _mendable(report):
        lines.append(f"  {mendable}")
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> str:
    """One line of ASCII: the object that scripts read."""
    return json.dumps(as_object(report)) + "\n"


def as_object(report: Report) -> dict[str, Any]:
    """The object that scripts read."""
    findings = [
        {
            "severity": told.finding.severity,
            "code": told.finding.code,
            "message": told.message,
            "spans": told.finding.spans,
            "member": None if told.member is None else decoded(told.member)[0],
            "repair": told.finding.repair,
        }
        for told in _told(report)
    ]
    return {
        "source": report.location,
        "format": report.format,
        "state": report.state,
        "members": report.members,
        "bytes": report.size,
        "findings": findings,
    }


def as_html(report: Report) -> str:
    """A page that needs nothing else and runs nothing."""
    name = _escaped(report.location)
    rows = "".join(map(_row, _told(report)))
    heads = "".join(f"<th>{head}</th>" for head in ("Severity", "What was found", "Bytes", "Member", "Code"))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>" if rows else "<p>No findings.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{name}</title>\n<style>{_STYLE}</style></head><body>\n"
        f'<h1>{name}</h1>\n<p class="state {report.state or "open"}">{_escaped(report.sentence)}</p>\n'
        f"<p>{_escaped(_summary(report))}</p>\n{_range_table(report)}{table}\n<p>{_dropped(report)}</p>\n<p>{_mendable(report)}</p>\n</body></html>\n"
    )


def _range_table(report: Report) -> str:
    rows = "".join(
        f'<tr><td class="{state or "open"}">{state or _OPEN}</td><td>{_escaped(label)}</td>'
        f"<td>{len(archive.members):,}</td><td>{archive.source.size:,}</td></tr>\n"
        for label, state, archive in _ranges(report)
    )
    heads = "".join(f"<th>{head}</th>" for head in ("State", "Range", "Members", "Bytes"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n" if rows else ""


def _row(told: _Told) -> str:
    severity = told.finding.severity
    fixes = f"<br>repair: {_escaped(told.finding.repair)}" if told.finding.repair else ""
    return (
        f'<tr><td class="{severity}">{severity}</td><td>{_escaped(told.message)}</td>'
        f'<td class="bytes">{told.place.replace(" ", "<br>")}</td>'
        f"<td>{_escaped(told.member or '')}</td><td>{_escaped(told.finding.code)}{fixes}</td></tr>\n"
    )


def _escaped(text: str | bytes) -> str:
    return escape(visible(text))


RENDERED = {ReportKind.TEXT: as_text, ReportKind.JSON: as_json, ReportKind.HTML: as_html}
"""How a report is written as each kind."""


def write_report(report: Report, path: Path, kind: ReportKind) -> None:
    """Write a report to ``path``, in the place of what is there; raises SourceError where it cannot be written."""
    with AtomicFile(path, replace=True) as target:
        target.write(RENDERED[kind](report).encode("utf-8", "backslashreplace"))
