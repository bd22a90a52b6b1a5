"""The log for whoever looks for a fault: what each process does and how long that takes, without secrets.

Modules log to ``logging.getLogger(__name__)``; nothing is written unless somebody asked for it, with ``--debug`` or in
the environment, which workers inherit. It names files and members, unlike a crash report; it never has keys, tokens or
the query of an address. Nor do the logs of the libraries that sign requests: they log what they sign with.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from inspector import __version__
from inspector.core.names import visible
from inspector.core.program.redaction import redacted

VARIABLE = "ARCHIVE_INSPECTOR_DEBUG"
"""The environment variable that names the log's file; STANDARD_ERROR for standard error."""
STANDARD_ERROR = "-"
_FIRST_LINE = "# Archive Inspector's log\n"
"""What a log begins with: nothing else is appended to, such as an archive that was named by mistake."""
_LOGGER = logging.getLogger("inspector")
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False


class LogError(Exception):
    """The log cannot be written; the message is a sentence."""


class _Plain(logging.Formatter):
    """Redacted text without control characters, ``prefix`` before each record."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"{prefix}%(message)s", datefmt="%Y-%m-%dT%H:%M:%S")
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter, which keeps the text of an exception from whoever formatted the record first."""
        own = logging.makeLogRecord(record.__dict__)
        own.exc_text = None
        return super().format(own)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The record as one line, whatever names are in it."""
        return visible(redacted(super().formatMessage(record)))

    def formatException(self, ei: Any) -> str:
        """The lines of an exception, indented: none looks like a record."""
        return "\n".join(f"  {visible(line)}" for line in redacted(super().formatException(ei)).splitlines())


class _Handler(logging.StreamHandler[TextIO]):
    """Writes each record at once; one that cannot be written is lost, because the work matters more."""

    def handleError(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""


@contextmanager
def logging_to(target: str, where: str) -> Iterator[None]:
    """Within the block, log everything to ``target``, a file or STANDARD_ERROR, here and in processes started here.

    ``where`` is the part of the program, such as ``terminal``; with an empty ``target`` nothing is logged. Raises
    LogError if the file cannot be written, or holds something else than a log.
    """
    if not target:
        yield
        return
    path = target if target == STANDARD_ERROR else str(Path(target).absolute())
    stream = _stream(path)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = path
    try:
        with _handled(stream, logging.DEBUG, f"%(asctime)s.%(msecs)03dZ {where} %(process)d %(name)s: "):
            import platform

            _LOGGER.debug("Archive Inspector %s, Python %s, %s", __version__, platform.python_version(), _system())
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
    with _handled(sys.stderr, logging.INFO, prefix):
        yield


@contextmanager
def _handled(stream: TextIO, level: int, prefix: str) -> Iterator[None]:
    handler = _Handler(stream)
    handler.setLevel(level)
    handler.setFormatter(_Plain(prefix))
    before = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(min(level, before or level))
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)


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


# ---- logs of libraries -----------------------------------------------------------------------------------------------

LOGGERS = ("boto3", "botocore", "s3transfer", "urllib3")


class Redacting(logging.Filter):
    """Removes secrets from log records, exception texts included."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redacted(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redacted(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


_REDACTING = Redacting()


def redact_logs() -> None:
    """Limit these libraries to warnings, and redact those."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    # A filter sees only records logged to its own logger, not those of child loggers.
    for name in (*LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in LOGGERS:
            logging.getLogger(name).addFilter(_REDACTING)
