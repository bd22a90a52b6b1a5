"""Entry points of worker processes. The window imports this too, so decoders are imported in the functions."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from multiprocessing import current_process
from multiprocessing.connection import Connection
from typing import Any

from inspector.core.limits import calculate_in_one_thread
from inspector.core.program.hints import Hint, HintTexts, use_hints
from inspector.core.program.log import log_in_worker
from inspector.operations.protocol.requests import (
    ArchiveRequests,
    AuditRequests,
    BrowseRequests,
    CompareRequests,
    CreateRequests,
    requests_of,
)
from inspector.sources.s3.connection import DEFAULT
from inspector.sources.s3.connection import Connection as S3Connection
from inspector.sources.web.address import is_remote, learn


def run(
    environment: dict[str, str],
    addresses: Mapping[str, str],
    target: Callable[..., None],
    connection: Connection,
    *arguments: Any,
) -> None:
    """Run ``target`` with the window's environment: the fork server still has that of when it started.

    ``addresses`` are those that the window knows, see ``sources.web.address``.
    """
    learn(addresses)
    os.environ.clear()
    os.environ.update(environment)
    target(connection, *arguments)


def archive(connection: Connection, location: str, s3: S3Connection = DEFAULT) -> None:
    """Serve one location, reached on S3 as ``s3`` says, until the window closes the pipe."""
    _set_up()

    from inspector.operations.session.archive_session import ArchiveSession
    from inspector.operations.worker.server import serve_requests

    serve_requests(connection, ArchiveSession(location, s3), requests_of(ArchiveRequests), far=is_remote(location))


def compare(connection: Connection) -> None:
    """Compare two locations until the window closes the pipe."""
    _set_up()

    from inspector.operations.worker.compare_session import Comparer
    from inspector.operations.worker.server import serve_requests

    serve_requests(connection, Comparer(), requests_of(CompareRequests), far=True)


def create(connection: Connection) -> None:
    """Inspect input files and create archives until the window closes the pipe."""
    _set_up()

    from inspector.operations.worker.create_session import CreateSession
    from inspector.operations.worker.server import serve_requests

    serve_requests(connection, CreateSession(), requests_of(CreateRequests))


def browse(connection: Connection) -> None:
    """List and download S3 objects until the window closes the pipe."""
    _set_up()

    from inspector.operations.worker.browsing import Browser
    from inspector.operations.worker.server import serve_requests

    serve_requests(connection, Browser(), requests_of(BrowseRequests))


def audit(connection: Connection) -> None:
    """Audit archives in further processes until the window closes the pipe."""
    _set_up()
    current_process().daemon = False  # daemons may not start processes; those of an audit end with this one

    from inspector.operations.worker.audit_server import Auditor
    from inspector.operations.worker.server import serve_requests

    serve_requests(connection, Auditor(), requests_of(AuditRequests))


def _set_up() -> None:
    calculate_in_one_thread()  # not in the window, whose variables the programs that it opens files with inherit
    log_in_worker("worker")
    use_hints(HINT_TEXTS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal ends the window, which ends its workers


HINT_TEXTS: HintTexts = {
    Hint.PROFILE: "File > Open Location",
    Hint.REGION: "File > Open Location",
    Hint.ENDPOINT: "File > Open Location",
    Hint.UNSIGNED: "Do not sign requests, in File > Open Location",
    Hint.AGAIN: "File > Reload",
    Hint.OVERWRITE: "Replace existing files",
    Hint.WHOLE: "Send All of It",
    Hint.UNCONDITIONAL: "Send Anyway",
    Hint.REMOVE_UNFINISHED: "Remove unfinished files of killed runs",
    Hint.DROP_JOURNAL: "open it again and choose Decide",
    Hint.FIRST_KEY: "Number the files in order",
}
