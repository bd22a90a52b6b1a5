"""What is imported with ``logging`` once somebody asked for a log: how records look, and what libraries may log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from inspector.core.names import visible
from inspector.core.program.redaction import redacted

_LOGGER = logging.getLogger("inspector")
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False
logger_of = logging.getLogger


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
def logged(stream: TextIO, prefix: str, *, detailed: bool) -> Iterator[None]:
    """Within the block, write records to ``stream``, each behind ``prefix``; ``detailed``: those for debugging too."""
    level = logging.DEBUG if detailed else logging.INFO
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
