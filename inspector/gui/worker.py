"""What a document's worker process runs. Importing this is light: what decodes is imported in the worker only."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection


def work(connection: Connection, location: str) -> None:
    """Serve one location until the window hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for the window, which ends its workers

    from inspector.operations.server import serve

    serve(connection, location)
