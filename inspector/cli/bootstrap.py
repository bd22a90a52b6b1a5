"""What holds before anything heavy is loaded: three standard streams, and an interrupt that ends with a sentence."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from inspector.cli.exit_codes import INTERRUPTED

_WORDS = "archive-inspector: Interrupted.\n"


def stand_in(*, output_needed: bool) -> None:
    """Put something in the place of standard streams that were closed (``2>&-``), or files would get their numbers.

    What is said goes nowhere then. Where ``output_needed``, the stand-in for standard output refuses what is written
    to it, so that nobody takes output that went nowhere for output.
    """
    if sys.stdin is None:
        _fill(0, os.O_RDONLY)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        _fill(1, os.O_RDONLY if output_needed else os.O_WRONLY)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        _fill(2, os.O_WRONLY)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def _fill(number: int, mode: int) -> None:
    null = os.open(os.devnull, mode)
    if null != number:
        os.dup2(null, number)
        os.close(null)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """While libraries are loaded nothing is half made, and an exception in the midst of it could be lost there."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, _WORDS.encode())
    os._exit(INTERRUPTED)


def say_interrupted() -> int:
    """Say it, and give the exit status."""
    sys.stderr.write(_WORDS)
    return INTERRUPTED
