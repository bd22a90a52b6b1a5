"""The log for whoever looks for a fault: what each process does and how long that takes, without secrets.

Modules tell a ``Log``; nothing is written unless somebody asked for it, with ``--debug`` or in the environment, which
workers inherit. It names files and members, unlike a crash report; it never has keys, tokens or the query of an
address. Nor do the logs of the libraries that sign requests: they log what they sign with.

``logging`` is imported only where somebody asked: that takes as long as all else that a short command does.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, TextIO

from inspector import __version__
from inspector.core.names import visible

if TYPE_CHECKING:
    from logging import Logger

VARIABLE = "ARCHIVE_INSPECTOR_DEBUG"
"""The environment variable that names the log's file; STANDARD_ERROR for standard error."""
STANDARD_ERROR = "-"
_FIRST_LINE = "# Archive Inspector's log\n"
"""What a log begins with: nothing else is appended to, such as an archive that was named by mistake."""


class LogError(Exception):
    """The log cannot be written; the message is a sentence."""


class Log:
    """Passes on what a module says to the logger of its name, once logging is set up."""

    logger_of: ClassVar[Callable[[str], Logger] | None] = None

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def logger(self) -> Logger | None:
        """Where it goes; None before logging is set up."""
        logger_of = Log.logger_of
        return logger_of and logger_of(self._name)

    def debug(self, text: str, *values: object, exc_info: bool = False) -> None:
        if logger := self.logger:
            logger.debug(text, *values, exc_info=exc_info)

    def info(self, text: str, *values: object) -> None:
        if logger := self.logger:
            logger.info(text, *values)


def redact_logs() -> None:
    """Limit the libraries that sign requests to warnings, and redact those."""
    _set_up().redact_logs()


def _set_up() -> ModuleType:
    from inspector.core.program import log_handlers

    Log.logger_of = log_handlers.logger_of
    return log_handlers


@contextmanager
def logging_to(target: str, where: str) -> Iterator[None]:
    """Within the block, log everything to ``target``, a file or STANDARD_ERROR, here and in processes started here.

    ``where`` is the part of the program, such as ``terminal``; with an empty ``target`` nothing is logged. Raises
    LogError if the file cannot be written, or holds something else than a log.
    """
    if not target:
        yield
        return
    logged = _set_up().logged
    path = target if target == STANDARD_ERROR else str(Path(target).absolute())
    stream = _stream(path)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = path
    try:
        with logged(stream, f"%(asctime)s.%(msecs)03dZ {where} %(process)d %(name)s: ", detailed=True):
            import platform

            Log("inspector").debug(
                "Archive Inspector %s, Python %s, %s", __version__, platform.python_version(), _system()
            )
            yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
        if stream is not sys.stderr:
            stream.close()


@contextmanager
def remarks_on_standard_error(prefix: str) -> Iterator[None]:
    """Within the block, print on standard error what is opened and how long it takes."""
    with _set_up().logged(sys.stderr, prefix, detailed=False):
        yield


def log_in_worker(where: str) -> None:
    """Log to where the process that started this one logs, until this one ends; nothing if that does not log."""
    with suppress(LogError):  # the process that started this one has said so
        _until_exit.enter_context(logging_to(os.environ.get(VARIABLE, ""), where))


_until_exit = ExitStack()


def _stream(path: str) -> TextIO:
    if path == STANDARD_ERROR:
        return sys.stderr
    shown = visible(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except (OSError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error).lower()
        raise LogError(f"The log cannot be written to {shown}: {why}.") from error
    size = os.fstat(descriptor).st_size
    is_log = stat.S_ISREG(os.fstat(descriptor).st_mode) and (
        not size or os.read(descriptor, len(_FIRST_LINE)) == _FIRST_LINE.encode()
    )
    if not is_log:
        os.close(descriptor)
        raise LogError(f"{shown} exists and is no log of this program, so nothing is written to it.")
    stream = os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
    if not size:
        stream.write(_FIRST_LINE)
        stream.flush()
    return stream


def _system() -> str:
    import platform

    return f"{platform.system()} {platform.release()} {platform.machine()}"
