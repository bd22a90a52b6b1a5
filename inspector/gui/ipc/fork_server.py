"""The process that workers are forked from: it has imported what each of them needs."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Windows has only one of the two
    from multiprocessing.context import ForkServerContext, SpawnContext


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
