"""The session that audits many locations: it runs as a job while its results are read page by page."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Plan, Todo, prepare, run
from inspector.operations.audit.results import Results, Run, as_text, page, summary
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import (
    NO_ARCHIVE,
    STATES,
    Amount,
    AuditRequest,
    AuditStatus,
    Query,
    Result,
)
from inspector.operations.protocol.views import Page


class Auditor:
    """Runs one audit at a time and keeps its results until the next one starts. Answers AuditRequests."""

    def __init__(self) -> None:
        self._results: Results | None = None
        self._todo = Todo(Amount(), Amount())
        self._done = Amount()
        self._started = time.monotonic()
        self._seconds = 0.0
        self._running = False

    def audit(self, progress: Progress, request: AuditRequest) -> AuditStatus:
        """Audit what is not done yet. Raises SourceError, OperationError and Cancelled; finished results are kept."""
        if self._running:
            raise OperationError("An audit is running. Cancel it before starting another one.")
        self._running = True
        try:
            results = self._open(request.results)
            plan = Plan(request.places, request.quick, request.connection, datasets=True)
            self._todo = prepare(plan, results, progress)
            self._started = time.monotonic()
            with closing(run(plan, results, progress, request.workers)) as work:
                for result in work:
                    self._seconds = time.monotonic() - self._started
                    self._done = Amount(self._done.files + 1, self._done.size + result.read)
        finally:
            self._running = False
        return self.status()

    def _open(self, path: str) -> Results:
        fresh = Results(Path(path) if path else None)
        if self._results is not None:
            self._results.connection.close()
        self._results = fresh
        self._todo, self._done, self._seconds = Todo(Amount(), Amount()), Amount(), 0.0
        return fresh

    def page(self, query: Query, first: int, count: int) -> Page[Result]:
        """Results ``[first, first + count)``; none before an audit has started."""
        if self._results is None:
            return Page(0, 0, ())
        return page(self._results, query, first, count)

    def status(self) -> AuditStatus:
        """How far the audit is; raises OperationError if the results cannot be read."""
        results = self._results
        if results is None or not results.requested:
            return AuditStatus()
        states, formats = _counts(results, "state"), _counts(results, "format")
        others = states.pop(NO_ARCHIVE, 0)
        return AuditStatus(
            results.amount(done=True),
            results.amount(done=False),
            self._todo.earlier,
            tuple((state, states[state]) for state in STATES if state in states),
            tuple(sorted(filter(None, formats))),
            others,
            "" if self._running else as_text(summary(results, Run(self._done, self._seconds, self._todo.earlier))),
        )


def _counts(results: Results, column: str) -> dict[str, int]:
    return dict(results.rows(f"SELECT {column}, count(*) FROM chosen GROUP BY {column}"))  # noqa: S608 - own names
