"""``check``: whether archives are right, and if not, what is wrong and where."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from inspector.cli.output import Lines, json_text, quoted
from inspector.cli.progress_bar import ProgressBar
from inspector.core.archive import Archive
from inspector.core.finding import Finding
from inspector.core.names import decoded, visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.checking import Report, check_location, expanded

FINE = 0
NOT_SOUND = 1
UNREADABLE = 2


def run(options: argparse.Namespace) -> int:
    """Check every location and give the exit status: that of the worst of them."""
    status = FINE
    with Lines() as out:
        for location in expanded(options.locations):
            with ProgressBar(Progress()) as progress:
                report = check_location(location, progress)
            status = max(status, _status(report.state, options.strict))
            (_write_object if options.json else _write_text)(out, report)
            out.flush()
    return status


def _status(state: State, strict: bool) -> int:
    if state is State.UNREADABLE:
        return UNREADABLE
    fine = (State.SOUND,) if strict else (State.SOUND, State.WARNING)
    return FINE if state in fine else NOT_SOUND


def _findings(report: Report) -> Iterator[tuple[str, Archive | None, Finding]]:
    """Every finding with the archive it is about; its label is empty unless there are several."""
    for finding in report.findings:
        yield "", None, finding
    for archive in report.archives:
        label = Path(archive.source.name).name if len(report.archives) > 1 else ""
        for finding in archive.findings:
            yield label, archive, finding


def _member(archive: Archive | None, finding: Finding) -> bytes | None:
    if archive is None or finding.member is None or finding.member >= len(archive.members):
        return None
    return archive.members.path(finding.member)


def _write_object(out: Lines, report: Report) -> None:
    findings = ", ".join([_finding_object(*found) for found in _findings(report)])
    out.write(
        f'{{"source": {quoted(report.location)}, "format": {json_text(report.format)}, "state": "{report.state}", '
        f'"members": {report.members}, "bytes": {report.size}, "findings": [{findings}]}}\n'
    )


def _finding_object(label: str, archive: Archive | None, finding: Finding) -> str:
    spans = ", ".join([f"[{start}, {stop}]" for start, stop in finding.spans])
    name = _member(archive, finding)
    message = f"{label}: {finding.message}" if label else finding.message
    return (
        f'{{"severity": "{finding.severity}", "code": {quoted(finding.code)}, "message": {quoted(message)}, '
        f'"spans": [{spans}], "member": {json_text(None if name is None else decoded(name)[0])}, '
        f'"repair": {json_text(finding.repair)}}}'
    )


def _write_text(out: Lines, report: Report) -> None:
    kind = report.format or "no known format"
    out.write(f"{visible(report.location)}: {visible(report.sentence)}\n")
    out.write(f"  {kind}, {in_bytes(report.size)}, {count(report.members, 'member')}")
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.verdicts.items())
    out.write(f": {verdicts}\n" if verdicts else "\n")
    for label, archive, finding in _findings(report):
        place = " ".join(f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in finding.spans)
        out.write(f"  {finding.severity}: {visible(f'{label}: ' if label else '')}{visible(finding.message)}")
        name = _member(archive, finding)
        details = [f"bytes {place}" if place else "", f"member {visible(name)}" if name is not None else ""]
        shown = ", ".join([finding.code, *filter(None, details)])
        out.write(f" [{shown}]\n")
    dropped = sum(archive.findings_dropped for archive in report.archives)
    if dropped:
        out.write(f"  {count(dropped, 'more finding')} of the same archive.\n")
