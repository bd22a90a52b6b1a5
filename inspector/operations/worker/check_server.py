"""The loop of a worker process that checks one location after another, as it is asked to.

``("expand", locations, connection)`` is answered with a list: the ``Wanted`` they stand for; ``connection`` says how S3
is reached. A ``Wanted`` is answered with its ``Outcome``; a mistake in the program is told in a ``Report`` before it.
Closing the pipe ends the loop; to stop at once, the process is ended: checking only reads.
"""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection

from inspector.core.crash_report import Report, report
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.many import check_one
from inspector.operations.open.folders import expanded
from inspector.operations.protocol.check_views import Outcome, Wanted
from inspector.operations.protocol.report_kind import ReportKind
from inspector.sources.s3.connection import Connection as S3Connection


def serve_checks(connection: Connection) -> None:
    """Answer until the pipe closes."""
    while True:
        try:
            message = connection.recv()
            if isinstance(message, Wanted):
                connection.send(_checked(message, connection))
            else:
                connection.send(_expanded(*message[1:]))
        except (EOFError, OSError):
            return


def _expanded(locations: list[str], connection: S3Connection) -> list[Wanted]:
    """What is to be checked; a prefix that cannot be listed stands for itself, since checking it says why."""
    try:
        return list(expanded(locations, connection))
    except SourceError:
        return [Wanted(location, connection=connection) for location in locations]


def _checked(wanted: Wanted, connection: Connection) -> Outcome:
    try:
        return check_one(wanted, ReportKind.TEXT, Progress())
    except Exception as error:  # noqa: BLE001 - the border of the process: a mistake in one must not end the others
        traceback.print_exc()
        connection.send(Report(report(error, "worker, checking")))
        sentence = f"Unreadable: this could not be checked because of a mistake in the program: {error!r}."
        return Outcome(wanted.location, State.UNREADABLE, sentence, "")
