"""What is needed before anything heavy is loaded: exit statuses, the standard streams, and Ctrl+C during start-up.

Imports the standard library only, because every start of the program passes through here.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

FINE = 0
NOT_SOUND = 1
"""Something is wrong with an archive, or not everything that was asked for was done."""
UNREADABLE = 2
"""Wrong usage, or something could not be read or written."""
INTERRUPTED = 130
CUT_OFF = 141
"""What a shell reports for a program that a closed pipe ended."""

_COMMON = ("-q", "--quiet", "-v", "--verbose", "--json", "--debug", "--color")
"""Options that may stand before a command too."""
_INTERRUPTED_MESSAGE = "archive-inspector: Interrupted.\n"


def command_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with common options that stand before a word moved behind all others, before a ``--``."""
    words = list(arguments)
    begin = next((at for at, word in enumerate(words) if word.split("=")[0] not in _COMMON), len(words))
    if begin == len(words) or words[begin].startswith("-"):
        return words
    end = words.index("--") if "--" in words else len(words)
    return [*words[begin:end], *words[:begin], *words[end:]]


def open_missing_streams(*, output_needed: bool) -> None:
    """Open a substitute for each standard stream that was closed (``2>&-``), or the next file gets its number.

    Messages to a substitute are lost. With ``output_needed``, writing to the substitute for standard output fails, so
    that lost output is never taken for success.
    """
    streams = (
        ("stdin", os.O_RDONLY, "r", "strict"),
        ("stdout", os.O_RDONLY if output_needed else os.O_WRONLY, "w", "strict"),
        ("stderr", os.O_WRONLY, "w", "backslashreplace"),
    )
    for number, (name, flags, mode, errors) in enumerate(streams):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, flags)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Exit at once on Ctrl+C while libraries load: an exception raised inside an import can be swallowed there."""
    on_main_thread = threading.current_thread() is threading.main_thread()
    if not on_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit(_number: int, _frame: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, _INTERRUPTED_MESSAGE.encode())
    os._exit(INTERRUPTED)


def report_interrupt() -> int:
    """Print that the program was interrupted, and return the exit status."""
    sys.stderr.write(_INTERRUPTED_MESSAGE)
    return INTERRUPTED
