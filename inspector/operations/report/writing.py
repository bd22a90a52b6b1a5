"""Writing a report: its format by the suffix, whole or not at all, and a PDF by another process."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from inspector.core.archive import Archive
from inspector.core.limits import own_command
from inspector.core.names import visible
from inspector.core.program.log import Log
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Job, JobOutcome, examine
from inspector.operations.check.checking import CheckReport
from inspector.operations.check.report import RENDERED
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.check_views import REPORT_SUFFIXES, CheckTarget, ReportKind
from inspector.operations.report import RENDER_PDF
from inspector.operations.report.page import Page
from inspector.sources.local.atomic import atomic_file

_POLL_S = 0.1
_MAX_PDF_PROBLEM = 300

_LOG = Log(__name__)


def kind_of(path: Path) -> ReportKind:
    """The format of a report by the suffix of its path; raises OperationError for another one."""
    kind = REPORT_SUFFIXES.get(path.suffix.lower())
    if kind is None:
        known = ", ".join(REPORT_SUFFIXES)
        raise OperationError(f"{visible(path.name)} does not say what kind of report to write. Use one of {known}.")
    return kind


def require_other_file(path: Path, archives: Iterable[Archive]) -> None:
    """Raise OperationError if a report would replace one of these archives."""
    for archive in archives:
        own = Path(archive.source.name)
        with contextlib.suppress(OSError, ValueError):  # a location that is no path
            if path.exists() and own.exists() and path.samefile(own):
                raise OperationError(f"{visible(path.name)} is the archive itself. Choose another name for the report.")


def write_report(
    report: CheckReport,
    path: Path,
    kind: ReportKind,
    progress: Progress,
    *,
    redact: bool = False,
    note: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write a report with the user's notes, replacing what is there. Raises SourceError, OperationError, Cancelled."""
    if kind in RENDERED:
        data = RENDERED[kind](report).encode("utf-8", "backslashreplace")
    else:
        page = Page(redact=redact)
        page.add(report, progress, note=note, notes=notes)
        data = rendered(page, kind, progress)
    write(path, data)


class ReportFile:
    """A report on several locations in one file. Raises OperationError if its name does not say in which format."""

    def __init__(self, path: str, *, redact: bool) -> None:
        self._path = Path(path)
        self._kind = kind_of(self._path)
        self._page = Page(redact=redact)

    def check(self, targets: Iterable[CheckTarget], kind: ReportKind, progress: Progress) -> Generator[JobOutcome]:
        """Check targets one after another for the report, and yield what ``check_many`` does.

        Raises OperationError if one of them is the file of the report, and Cancelled.
        """

        def see(report: CheckReport) -> None:
            require_other_file(self._path, report.archives)
            if not (target.found and report.no_archive):
                self._page.add(report, progress)

        for target in targets:
            yield examine(Job(target, report=kind), progress, see)

    def write(self, progress: Progress) -> None:
        """Write the file if anything was checked. Raises SourceError, OperationError and Cancelled."""
        if self._page:
            write(self._path, rendered(self._page, self._kind, progress))


def write(path: Path, data: bytes) -> None:
    """Write a whole file, or nothing; raises SourceError."""
    with atomic_file(path, replace=True) as target:
        target.write(data)


def rendered(page: Page, kind: ReportKind, progress: Progress) -> bytes:
    """A page in one of the formats to hand over. Raises OperationError and Cancelled."""
    if kind is ReportKind.PDF:
        return _pdf(page.html(for_print=True), progress)
    return page.html().encode("utf-8", "backslashreplace")


def _pdf(page: str, progress: Progress) -> bytes:
    """The page as a PDF, made by a process of its own: this one has no window's library. Raises as ``rendered``."""
    progress.begin("Making the PDF", 0)
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            [*own_command(), RENDER_PDF], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
    except OSError as error:
        raise OperationError(f"The PDF was not made: no process could be started ({error.strerror}).") from error
    try:
        data, said = _answer(process, page.encode("utf-8", "backslashreplace"), progress)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode or not data.startswith(b"%PDF"):
        problem = said.decode("utf-8", "replace")[-_MAX_PDF_PROBLEM:].strip()
        _LOG.debug("making a PDF ended with %d: %s", process.returncode, problem)
        raise OperationError("The PDF was not made: the process that draws it failed. Write an .html report instead.")
    return data


def _answer(process: subprocess.Popen[bytes], page: bytes, progress: Progress) -> tuple[bytes, bytes]:
    given: bytes | None = page
    while True:
        progress.advance(0)
        try:
            return process.communicate(given, timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            given = None
