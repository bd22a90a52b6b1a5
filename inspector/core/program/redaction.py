"""Text without what lets others in: sentences name locations, and a location may be signed."""

from __future__ import annotations

import re

# Strings, which ``re`` compiles when they are first used: most commands print no message.
_USER = r"(?<=://)(?:[^/?#\s@]*@|[^/:?#\s@]*:(?!\d+(?:/|$))[^?#\s@]*@)"
"""A user before a host; secret keys may hold slashes, ports are numbers."""
_SIGNED = (
    r"(?i)([?&;](?:X-Amz-[A-Za-z-]+|Signature|AWSAccessKeyId|Expires|security-token|x-amz-security-token)=)[^&;\s'\"]+"
)
_QUERY = (
    r"(?i)(\bhttps?:/+[^\s?#]+)\?(?!\*\*\*(?:#\d+)?(?:!/@[-\d]+)?(?![^\s'\",;:.)\]\\]))\S*?(?=['\")\]]?[.,;:]?(?:\s|$))"
)
"""The query of a web address. Any part of it may be a token, whatever it is called."""
_KEY = r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b"
_FIELD = (
    r"(?i)(x-amz-security-token|aws_secret_access_key|aws_session_token|secret_?key|session_?token|authorization|"
    r"credential|signature)((?:\\?['\"])?\s*[:=]\s*(?:b?\\?['\"])?)[^\s,'\"}&]+"
)
_HEADER = r"(?is)(invalid header value ?:?) .*"


def strip_user(text: str) -> str:
    """The text without a user before a host."""
    return re.sub(_USER, "", text)


def strip_credentials(text: str) -> str:
    """The text without a user before a host, the signed parts of a query, and the queries of web addresses."""
    return re.sub(_SIGNED, r"\1***", re.sub(_QUERY, r"\1?***", strip_user(text)))


def redacted(text: str) -> str:
    """The text without access keys, tokens and signatures."""
    return re.sub(_HEADER, r"\1 ***", re.sub(_FIELD, r"\1\2***", re.sub(_KEY, "***", strip_credentials(text))))


def is_about_a_header(text: str) -> bool:
    """Whether a library reports an invalid header value, such as a token with a line break."""
    return re.search(_HEADER, text) is not None
