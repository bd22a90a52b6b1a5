"""Reporting what is wrong with an index while it is read (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

from inspector.core.finding import Severity
from inspector.core.numbers import grouped
from inspector.core.span import Span
from inspector.formats.caf.index import MEMBERS, PROBLEMS, Index, Problem
from inspector.formats.caf.scan import KEPT, Malformed, Scanner


class Reporter:
    """Turns places in ``data``, which stands at ``base`` of the file, into the problems of an index."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data = data
        self.base = base
        self.scanner = Scanner(data)
        self.index = Index(Span(base, base + len(data)))

    def span(self, start: int, stop: int) -> Span:
        """The span of the file that a span of ``data`` is."""
        return Span(self.base + start, self.base + stop)

    def place(self, at: int) -> str:
        """Where something stands in the file, for a sentence."""
        return grouped(self.base + at)

    def report(
        self,
        severity: Severity,
        code: str,
        message: str,
        start: int,
        stop: int,
        entry: int | None = None,
        *others: Span,
    ) -> None:
        """Report what ``[start, stop)`` of ``data`` is about; ``others`` are spans of the file."""
        if len(self.index.problems) < PROBLEMS:
            spans = (self.span(start, stop), *others)
            self.index.problems.append(Problem(severity, code, message, spans, entry))

    def error(self, code: str, message: str, where: Span, entry: int | None = None, *others: Span) -> None:
        """Report an error, as ``report`` does."""
        self.report(Severity.ERROR, code, message, *where, entry, *others)

    def malformed(self, problem: Malformed, resume: int | None = None) -> None:
        """Report where the index cannot be followed, and where reading goes on if it does."""
        where = Span(problem.at, min(problem.at + 1, len(self.data)))
        after = " The entries before it are listed." if len(self.index) else ""
        if resume is not None:
            after = f" Reading goes on with the entry at byte {self.place(resume)}."
        self.error(
            "caf-index-malformed",
            f"The index is not JSON: at byte {self.place(problem.at)} it {problem.message}.{after}",
            where,
        )

    def full(self) -> None:
        """Report that no more members are listed."""
        rest = Span(self.scanner.at, len(self.data))
        self.index.unread = self.span(*rest)
        self.report(
            Severity.WARNING,
            "caf-too-many-members",
            f"The index lists more than {MEMBERS:,} members: showing the first {len(self.index):,}.",
            *rest,
        )

    def departures(self) -> None:
        """Report what is readable and not strict JSON."""
        for departure, places in self.scanner.lax.items():
            first = self.place(places[0].start)
            least = "at least " if len(places) == KEPT else ""
            times = "" if len(places) == 1 else f", {least}{len(places):,} times in all"
            message = (
                f"The index is not strict JSON: it has {departure} at byte {first}{times}. Most readers refuse it."
            )
            if len(self.index.problems) < PROBLEMS:
                spans = tuple(self.span(*place) for place in places)
                self.index.problems.append(Problem(Severity.WARNING, "caf-index-not-strict-json", message, spans))
