"""Worker processes: what they run, and the process that they are forked from, which has imported what each needs.

The window imports this for its first paint, so all else is imported in the functions.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inspector.core.limits import calculate_in_one_thread
from inspector.core.program.hints import Hint, HintTexts, use_hints
from inspector.core.program.log import log_in_worker
from inspector.sources.web.address import is_remote, learn

if TYPE_CHECKING:  # Windows has only one of the two
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext

SESSIONS = {
    "ArchiveRequests": "session.archive_session:ArchiveSession",
    "CompareRequests": "worker.compare_session:Comparer",
    "CreateRequests": "worker.create_session:CreateSession",
    "BrowseRequests": "session.remote:Browser",
    "AuditRequests": "worker.audit_server:Auditor",
}
"""The class of ``inspector.operations`` that answers the requests of each kind."""


def context() -> ForkServerContext | SpawnContext:
    """The start method: a fork server with preloaded modules where the system has one, spawn otherwise."""
    import multiprocessing  # not for the first paint to wait for

    if getattr(sys, "frozen", False) or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["inspector.operations.worker.preloaded"])
    return found


def warm_up() -> None:
    """Start the fork server, if there is one, so that it imports beside the window; else the first worker does."""
    if context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        with suppress(OSError):  # out of processes: the first worker says so
            forkserver.ensure_running()


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
    from multiprocessing import current_process

    from inspector.operations.protocol import requests
    from inspector.operations.worker.server import Server

    if kind == "AuditRequests":
        current_process().daemon = False  # daemons may not start processes; those of an audit end with this one
    module, name = SESSIONS[kind].split(":")
    session = getattr(import_module(f"inspector.operations.{module}"), name)(*arguments)
    far = kind == "CompareRequests" or (kind == "ArchiveRequests" and is_remote(arguments[0]))
    Server(connection, session, requests.requests_of(getattr(requests, kind)), far=far).run()


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
