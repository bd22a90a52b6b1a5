"""The loop of a worker process that checks one location after another, as it is asked to.

``("expand", locations)`` is answered with a list: the ``Wanted`` they stand for; a ``Wanted`` with its ``Outcome``.
Closing the pipe ends the loop; to stop at once, the process is ended: checking only reads.
"""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection

from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.folders import Wanted, expanded
from inspector.operations.many import Outcome, check_one
from inspector.operations.views import ReportKind


def serve_checks(connection: Connection) -> None:
    """Answer until the pipe closes."""
    while True:
        try:
            message = connection.recv()
            connection.send(_checked(message) if isinstance(message, Wanted) else list(expanded(message[1])))
        except (EOFError, OSError):
            return


def _checked(wanted: Wanted) -> Outcome:
    try:
        return check_one(wanted, ReportKind.TEXT, Progress())
    except Exception as error:  # noqa: BLE001 - the border of the process: a mistake in one must not end the others
        traceback.print_exc()
        sentence = f"Unreadable: this could not be checked because of a mistake in the program: {error!r}."
        return Outcome(wanted.location, State.UNREADABLE, sentence, "")
