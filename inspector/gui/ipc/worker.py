"""What worker processes run. Importing this is light: what decodes is imported in the worker only."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import current_process
from multiprocessing.connection import Connection
from typing import Any

from inspector.core.hints import Hint, HintTexts, use_hints
from inspector.operations.protocol.requests import AuditRequests, BrowseRequests, CheckRequests, CreateRequests


def begin(environment: dict[str, str], target: Callable[..., None], connection: Connection, *arguments: Any) -> None:
    """Run ``target`` in the environment of the window: a forked worker has that of when the first one was started."""
    os.environ.clear()
    os.environ.update(environment)
    target(connection, *arguments)


def archive(connection: Connection, *arguments: Any) -> None:
    """Answer for one location, given with how S3 is reached, until the window hangs up."""
    _begin()

    from inspector.operations.worker.server import serve

    serve(connection, *arguments)


def check(connection: Connection) -> None:
    """Check one location after another until the window hangs up."""
    _begin()

    from inspector.operations.worker.check_server import Checker
    from inspector.operations.worker.server import serve_requests

    session: CheckRequests = Checker()
    serve_requests(connection, session, CheckRequests)


def create(connection: Connection) -> None:
    """Look at what archives would hold, and make them, until the window hangs up."""
    _begin()

    from inspector.operations.worker.create_session import CreateSession
    from inspector.operations.worker.server import serve_requests

    session: CreateRequests = CreateSession()
    serve_requests(connection, session, CreateRequests)


def browse(connection: Connection) -> None:
    """Look around on S3, and take objects home, until the window hangs up."""
    _begin()

    from inspector.operations.worker.browsing import Browser
    from inspector.operations.worker.server import serve_requests

    session: BrowseRequests = Browser()
    serve_requests(connection, session, BrowseRequests)


def audit(connection: Connection) -> None:
    """Audit what is asked for, in processes of its own, until the window hangs up."""
    _begin()
    current_process().daemon = False  # a daemon may not start processes; those of an audit end with this one

    from inspector.operations.worker.audit_server import Auditor
    from inspector.operations.worker.server import serve_requests

    session: AuditRequests = Auditor()
    serve_requests(connection, session, AuditRequests)


def _begin() -> None:
    use_hints(HINT_TEXTS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for the window, which ends its workers


HINT_TEXTS: HintTexts = {
    Hint.PROFILE: "File > Open Location",
    Hint.REGION: "File > Open Location",
    Hint.ENDPOINT: "File > Open Location",
    Hint.UNSIGNED: "Do not sign requests, in File > Open Location",
    Hint.AGAIN: "File > Reload",
    Hint.OVERWRITE: "Replace existing files",
    Hint.WHOLE: "Send All of It",
    Hint.REMOVE_UNFINISHED: "Remove unfinished files of killed runs",
    Hint.FIRST_KEY: "Number the files in order",
}
