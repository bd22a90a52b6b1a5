"""Entry points of worker processes. The window imports this too, so decoders are imported in the functions."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from importlib import import_module
from multiprocessing import current_process
from multiprocessing.connection import Connection
from typing import Any

from inspector.core.limits import calculate_in_one_thread
from inspector.core.program.hints import Hint, HintTexts, use_hints
from inspector.core.program.log import log_in_worker
from inspector.operations.protocol import requests
from inspector.operations.protocol.requests import requests_of
from inspector.sources.web.address import is_remote, learn

SESSIONS = {
    "ArchiveRequests": "session.archive_session:ArchiveSession",
    "CompareRequests": "worker.compare_session:Comparer",
    "CreateRequests": "worker.create_session:CreateSession",
    "BrowseRequests": "worker.browsing:Browser",
    "AuditRequests": "worker.audit_server:Auditor",
}
"""The class of ``inspector.operations`` that answers the requests of each kind."""


def run(
    environment: Mapping[str, str], addresses: Mapping[str, str], connection: Connection, kind: str, *arguments: Any
) -> None:
    """Serve the requests of a kind until the window closes the pipe; the arguments are those of its session.

    ``environment`` is the window's: the fork server still has that of when it started. ``addresses`` are those that the
    window knows, see ``sources.web.address``.
    """
    learn(addresses)
    os.environ.clear()
    os.environ.update(environment)
    calculate_in_one_thread()  # not in the window, whose variables the programs that it opens files with inherit
    log_in_worker("worker")
    use_hints(HINT_TEXTS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal ends the window, which ends its workers
    if kind == "AuditRequests":
        current_process().daemon = False  # daemons may not start processes; those of an audit end with this one

    from inspector.operations.worker.server import Server

    module, name = SESSIONS[kind].split(":")
    session = getattr(import_module(f"inspector.operations.{module}"), name)(*arguments)
    far = kind == "CompareRequests" or (kind == "ArchiveRequests" and is_remote(arguments[0]))
    Server(connection, session, requests_of(getattr(requests, kind)), far=far).run()


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
