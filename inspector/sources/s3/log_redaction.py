"""Remove secrets from logs: the libraries that sign requests log what they sign with."""

from __future__ import annotations

import logging

from inspector.core.redaction import redacted

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
