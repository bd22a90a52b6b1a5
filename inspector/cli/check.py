"""``check``: whether archives are right, and if not, what is wrong and where."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing

from inspector.cli import checksums
from inspector.cli.connecting import connection_of
from inspector.cli.exit_codes import CUT_OFF, FINE, NOT_SOUND, UNREADABLE
from inspector.cli.output import Lines, close_output, complain
from inspector.cli.progress_bar import ProgressBar
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.check.many import check_many
from inspector.operations.open.folders import expanded
from inspector.operations.protocol.check_views import Outcome, ReportKind

_NAMED = 3


def run(options: argparse.Namespace) -> int:
    """Check every location and give the exit status: that of the worst of them."""
    if options.by_checksum:
        return checksums.run(options)
    kind = ReportKind.JSON if options.json else ReportKind.TEXT
    progress = Progress()
    worst, checked, left_out = Worst(), 0, 0
    passed: list[str] = []
    wanted = expanded(options.locations, connection_of(options), passed)
    with (
        worst,
        Lines() as out,
        closing(check_many(wanted, kind, progress)) as outcomes,
    ):
        for outcome in _watched(outcomes, progress, options.progress):
            if outcome.left_out:
                left_out += 1
                continue
            checked += 1
            worst.meet(status_of(outcome.state, options.strict))
            out.write(outcome.report)
            out.flush()
    if worst.cut_off:
        return worst.status
    if left_out:
        verb = "was" if left_out == 1 else "were"
        complain(f"{count(left_out, 'file')} of no known format in these folders {verb} left out.")
    say_passed(passed)
    if not checked:
        complain("There is no archive in these folders, so nothing was checked.")
        return UNREADABLE
    return worst.status


def say_passed(passed: Sequence[str]) -> None:
    """Say what in folders is no regular file, a pipe or a link that leads nowhere perhaps: nobody can check that."""
    if passed:
        more = f" and {len(passed) - _NAMED:,} more" if len(passed) > _NAMED else ""
        names = ", ".join(map(visible, passed[:_NAMED])) + more
        what, verb = ("entry", "was") if len(passed) == 1 else ("entries", "were")
        complain(f"{len(passed):,} {what} in these folders {verb} left out, being no regular files: {names}.")


class Worst:
    """The exit status of several archives: that of the worst of them.

    A context manager that ends the work where nobody reads on (``cut_off``). What was wrong until then still counts,
    and where nothing was it is CUT_OFF, for not all may have been checked.
    """

    def __init__(self) -> None:
        self.status = FINE
        self.cut_off = False

    def meet(self, status: int) -> None:
        """Count one archive."""
        self.status = max(self.status, status)

    def __enter__(self) -> Worst:
        return self

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, BrokenPipeError):
            return False
        close_output()
        self.cut_off = True
        self.status = self.status or CUT_OFF
        return True


def _watched(outcomes: Iterator[Outcome], progress: Progress, logged: float) -> Iterator[Outcome]:
    """The outcomes, with a bar while the next one is waited for."""
    while True:
        with ProgressBar(progress, logged=logged):
            outcome = next(outcomes, None)
        if outcome is None:
            return
        yield outcome


def status_of(state: State, strict: bool) -> int:
    """The exit status for an archive in this state; ``strict``: warnings count."""
    if state is State.UNREADABLE:
        return UNREADABLE
    fine = state is State.SOUND if strict else state.fine
    return FINE if fine else NOT_SOUND
