"""Remove secrets from logs: the libraries that sign requests log what they sign with."""

from __future__ import annotations

import logging
import re

from inspector.core.redaction import strip_credentials

LOGGERS = ("boto3", "botocore", "s3transfer", "urllib3")

_KEY = re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b")
_FIELD = re.compile(
    r"(?i)(x-amz-security-token|aws_secret_access_key|aws_session_token|secret_?key|session_?token|authorization|"
    r"credential|signature)((?:\\?['\"])?\s*[:=]\s*(?:b?\\?['\"])?)[^\s,'\"}&]+"
)
_HEADER = re.compile(r"(?is)(invalid header value ?:?) .*")


def redacted(text: str) -> str:
    """The text without access keys, tokens and signatures."""
    return _HEADER.sub(r"\1 ***", _FIELD.sub(r"\1\2***", _KEY.sub("***", strip_credentials(text))))


def is_about_a_header(text: str) -> bool:
    """Whether a library reports an invalid header value, such as a token with a line break."""
    return _HEADER.search(text) is not None


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
