"""What worker processes run. Importing this is light: what decodes is imported in the worker only."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import current_process
from multiprocessing.connection import Connection
from typing import Any

from inspector.core.hints import speak
from inspector.gui.ipc.hints import WORDS


def begin(environment: dict[str, str], target: Callable[..., None], connection: Connection, *arguments: Any) -> None:
    """Run ``target`` in the environment of the window: a forked worker has that of when the first one was started."""
    os.environ.clear()
    os.environ.update(environment)
    target(connection, *arguments)


def work(connection: Connection, *arguments: Any) -> None:
    """Serve one location, given with how S3 is reached, until the window hangs up."""
    _begin()

    from inspector.operations.worker.server import serve

    serve(connection, *arguments)


def check(connection: Connection, *arguments: Any) -> None:  # noqa: ARG001 - what to check comes through the pipe
    """Check one location after another until the window hangs up."""
    _begin()

    from inspector.operations.worker.check_server import serve_checks

    serve_checks(connection)


def make(connection: Connection, *arguments: Any) -> None:  # noqa: ARG001 - what to make comes through the pipe
    """Look at what archives would hold, and make them, until the window hangs up."""
    _begin()

    from inspector.operations.worker.create_session import JOBS, Workshop
    from inspector.operations.worker.server import serve_methods

    serve_methods(connection, Workshop(), frozenset(), JOBS)


def browse(connection: Connection, *arguments: Any) -> None:  # noqa: ARG001 - what to list comes through the pipe
    """Look around on S3, and take objects home, until the window hangs up."""
    _begin()

    from inspector.operations.worker.browsing import JOBS, Browser
    from inspector.operations.worker.server import serve_methods

    serve_methods(connection, Browser(), frozenset(), JOBS)


def audit(connection: Connection, *arguments: Any) -> None:  # noqa: ARG001 - what to audit comes through the pipe
    """Audit what is asked for, in processes of its own, until the window hangs up."""
    _begin()
    current_process().daemon = False  # a daemon may not start processes; those of an audit end with this one

    from inspector.operations.worker.audit_server import JOBS, QUICK, Auditor
    from inspector.operations.worker.server import serve_methods

    serve_methods(connection, Auditor(), QUICK, JOBS)


def _begin() -> None:
    speak(WORDS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for the window, which ends its workers
