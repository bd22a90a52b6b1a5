"""``check``: whether archives are sound, and if not, what is wrong and where.

``check --by-checksum`` reads no member: it compares what an archive on S3 records with the checksum that S3 keeps of
the whole object.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from inspector.cli.archives import Condition, condition, standard_input
from inspector.cli.bootstrap import CUT_OFF, FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import CONNECTION, JSON, PROGRESS, STANDARD_INPUT, Option, connection_of, where
from inspector.cli.output import (
    ProgressBar,
    close_output,
    complain,
    emit,
    flush,
    json_text,
    paced_line,
    painted_report,
    remark,
    show,
    wants_colour,
)
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.audit.audit import check_many
from inspector.operations.audit.targets import expanded
from inspector.operations.check.proof import Proof, prove
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import NO_ARCHIVE, UNCHECKED
from inspector.operations.protocol.check_views import CheckTarget, ReportKind

if TYPE_CHECKING:
    from inspector.operations.report.writing import ReportFile

_MAX_NAMES = 3
"""Names in one message; the rest are counted."""
_PROOF_STATUS = {Proof.PROVED: FINE, Proof.CONTRADICTED: NOT_SOUND, Proof.IMPOSSIBLE: UNREADABLE}


OPTIONS = (
    Option(
        "locations", metavar="LOCATION", nargs="+", help="a file, a folder, or s3://bucket/key; - is standard input"
    ),
    Option("--strict", action="store_true", help="warnings count: exit with 1 for them too"),
    Option(
        "--by-checksum",
        action="store_true",
        help="read no member: compare what the archive records with the CRC-32 that S3 keeps of the whole object",
    ),
    Option(
        "--report",
        metavar="FILE",
        help="also write a report to hand over: FILE.html or FILE.pdf; a file of that name is replaced",
    ),
    Option("--redact", action="store_true", help="of the report: without names and without content"),
    Option(
        "--format",
        choices=("sarif", "junit", "github"),
        help="print what watches over builds: SARIF, the XML of JUnit, or annotations of GitHub Actions",
    ),
    Option("--readers", action="store_true", help="also say what each known reader makes of each archive (see trace)"),
    PROGRESS,
    where("'severity == \"error\" and start < 0x5000'"),
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Check every location and return the exit status: that of the worst one."""
    if options.by_checksum:
        return _run_by_checksum(options)
    holds, kind = _asked(options)
    progress = Progress()
    report = _report_file(options)
    worst, checked, left_out = WorstStatus(), 0, 0
    skipped: list[str] = []
    coloured = kind is ReportKind.TEXT and wants_colour(sys.stdout)
    objects: list[dict[str, Any]] = []
    targets = (replace(target, readers=options.readers) for target in _targets(options, skipped))
    # What was read from standard input is in this process only.
    workers = 1 if STANDARD_INPUT in options.locations else 0
    checking = report.check(targets, kind, progress) if report else check_many(targets, kind, progress, workers)
    line = paced_line()  # of all bars together: the rate is that of the whole check
    with worst, closing(checking) as outcomes:
        while True:
            with ProgressBar(progress, line, options.progress):
                outcome = next(outcomes, None)
            if outcome is None:
                break
            if outcome.result.state == NO_ARCHIVE:
                left_out += 1
                continue
            checked += 1
            worst.add(status_of(outcome.result.state, options.strict))
            if options.format:
                objects.append(json.loads(outcome.report))
                continue
            if holds:
                _show_findings(json.loads(outcome.report), holds, options)
                continue
            emit(painted_report(outcome.report) if coloured else outcome.report)
            flush()
        if options.format:
            from inspector.cli.machines import MACHINES  # most checks are read by people

            emit(MACHINES[options.format](objects, strict=options.strict))
    if report is not None:
        with ProgressBar(progress):
            report.write(progress)
    if worst.cut_off:
        return worst.status
    if left_out:
        verb = "was" if left_out == 1 else "were"
        remark(f"{count(left_out, 'file')} of no known format in these folders {verb} left out.")
    report_skipped(skipped)
    if not checked:
        complain("There is no archive in these folders, so nothing was checked.")
        return UNREADABLE
    return worst.status


def _asked(options: argparse.Namespace) -> tuple[Condition | None, ReportKind]:
    """Which findings are asked for, and the reports that they are taken from. Raises AskError and OperationError."""
    holds = condition(options.where, "FINDING_NAMES")
    if holds and options.format:
        raise OperationError("--where is about what check prints itself: leave out --format.")
    return holds, ReportKind.JSON if options.json or options.format or holds else ReportKind.TEXT


def _show_findings(found: dict[str, Any], holds: Condition, options: argparse.Namespace) -> None:
    """Print the findings of an archive that a condition is true of."""
    found["findings"] = [each for each in found["findings"] if holds(each)]
    if options.json:
        emit(f"{json_text(found)}\n")
        return
    for each in found["findings"]:
        line = f"{visible(found['source'])}: {each['severity']}: {visible(each['message'])} [{each['code']}]\n"
        emit(painted_report(line) if wants_colour(sys.stdout) else line)


def _report_file(options: argparse.Namespace) -> ReportFile | None:
    """The report to write, if one is asked for. Raises OperationError."""
    if options.report is None:
        if options.redact:
            raise OperationError("--redact is about the report: add --report FILE.html or FILE.pdf.")
        return None
    from inspector.operations.report.writing import ReportFile  # a check without a report need not wait for it

    return ReportFile(options.report, redact=options.redact)


def _targets(options: argparse.Namespace, skipped: list[str]) -> Iterator[CheckTarget]:
    """What to check at the locations; standard input is read to its end first, because it may be the first of them."""
    given = CheckTarget(STANDARD_INPUT)
    if STANDARD_INPUT in options.locations:
        try:
            with ProgressBar(Progress()) as progress:
                source = standard_input(STANDARD_INPUT, progress)
            given = CheckTarget(STANDARD_INPUT, place=source, size=source.size if source else None)
        except SourceError as error:
            given = CheckTarget(STANDARD_INPUT, why=str(error))
    connection = connection_of(options)
    return chain.from_iterable(
        [given] if each == STANDARD_INPUT else expanded([each], connection, skipped) for each in options.locations
    )


def report_skipped(skipped: Sequence[str]) -> None:
    """Print which entries of folders are not regular files (pipes, broken links), so that they were not checked."""
    if skipped:
        more = f" and {len(skipped) - _MAX_NAMES:,} more" if len(skipped) > _MAX_NAMES else ""
        names = ", ".join(map(visible, skipped[:_MAX_NAMES])) + more
        what, verb = ("entry", "was") if len(skipped) == 1 else ("entries", "were")
        remark(f"{len(skipped):,} {what} in these folders {verb} left out, being no regular files: {names}.")


class WorstStatus:
    """The exit status of several archives: that of the worst one.

    A context manager that swallows BrokenPipeError and sets ``cut_off``. The statuses added until then count; if all
    were FINE it becomes CUT_OFF, because some archives may not have been checked.
    """

    def __init__(self) -> None:
        self.status = FINE
        self.cut_off = False

    def add(self, status: int) -> None:
        """Add the status of one archive."""
        self.status = max(self.status, status)

    def __enter__(self) -> WorstStatus:
        return self

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, BrokenPipeError):
            return False
        close_output()
        self.cut_off = True
        self.status = self.status or CUT_OFF
        return True


def status_of(state: str, strict: bool) -> int:
    """The exit status for an archive in this state of a Result; with ``strict``, warnings count."""
    if state == State.UNREADABLE:
        return UNREADABLE
    fine = state in (State.SOUND, UNCHECKED, NO_ARCHIVE) or (state == State.WARNING and not strict)
    return FINE if fine else NOT_SOUND


# ---- by checksum -------------------------------------------------------------------------------------------------


def _run_by_checksum(options: argparse.Namespace) -> int:
    """Compare checksums at every location and return the exit status: that of the worst one. Raises SourceError."""
    status = FINE
    for location in options.locations:
        with ProgressBar(Progress()) as progress:
            result = prove(location, progress, connection_of(options))
        status = max(status, _PROOF_STATUS[result.proof])
        found = {
            "source": location,
            "proof": str(result.proof),
            "sentence": result.sentence,
            "members": result.members,
            "kept": None if result.server_crc32 is None else f"crc32:{result.server_crc32:08x}",
            "made": None if result.archive_crc32 is None else f"crc32:{result.archive_crc32:08x}",
            "read": result.bytes_read,
            "requests": result.requests,
        }
        show(found, visible(result.sentence))
        flush()
    return status
