"""What worker processes run. Importing this is light: what decodes is imported in the worker only."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection


def work(connection: Connection, *arguments: str) -> None:
    """Serve one location until the window hangs up."""
    _begin()

    from inspector.operations.server import serve

    serve(connection, *arguments)


def check(connection: Connection, *arguments: str) -> None:  # noqa: ARG001 - what to check comes through the pipe
    """Check one location after another until the window hangs up."""
    _begin()

    from inspector.operations.check_server import serve_checks

    serve_checks(connection)


def make(connection: Connection, *arguments: str) -> None:  # noqa: ARG001 - what to make comes through the pipe
    """Look at what archives would hold, and make them, until the window hangs up."""
    _begin()

    from inspector.operations.server import serve_methods
    from inspector.operations.workshop import JOBS, Workshop

    serve_methods(connection, Workshop(), frozenset(), JOBS)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for the window, which ends its workers
