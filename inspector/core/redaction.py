"""Text without what lets others in: sentences name locations, and a location may be signed."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)(?:[^/?#\s@]*@|[^/:?#\s@]*:(?!\d+(?:/|$))[^?#\s@]*@)")
"""A user before a host; secret keys may hold slashes, ports are numbers."""
_SECRET = re.compile(
    r"(?i)([?&;](?:X-Amz-[A-Za-z-]+|Signature|AWSAccessKeyId|Expires|security-token|x-amz-security-token)=)[^&;\s'\"]+"
)
_QUERY = re.compile(
    r"(?i)(\bhttps?:/+[^\s?#]+)\?(?!\*\*\*(?:#\d+)?(?:!/@[-\d]+)?(?![^\s'\",;:.)\]\\]))\S*?(?=['\")\]]?[.,;:]?(?:\s|$))"
)
"""The query of a web address. Any part of it may be a token, whatever it is called."""
_KEY = re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b")
_FIELD = re.compile(
    r"(?i)(x-amz-security-token|aws_secret_access_key|aws_session_token|secret_?key|session_?token|authorization|"
    r"credential|signature)((?:\\?['\"])?\s*[:=]\s*(?:b?\\?['\"])?)[^\s,'\"}&]+"
)
_HEADER = re.compile(r"(?is)(invalid header value ?:?) .*")


def strip_user(text: str) -> str:
    """The text without a user before a host."""
    return _USER.sub("", text)


def strip_credentials(text: str) -> str:
    """The text without a user before a host, the signed parts of a query, and the queries of web addresses."""
    return _SECRET.sub(r"\1***", _QUERY.sub(r"\1?***", strip_user(text)))


def redacted(text: str) -> str:
    """The text without access keys, tokens and signatures."""
    return _HEADER.sub(r"\1 ***", _FIELD.sub(r"\1\2***", _KEY.sub("***", strip_credentials(text))))


def is_about_a_header(text: str) -> bool:
    """Whether a library reports an invalid header value, such as a token with a line break."""
    return _HEADER.search(text) is not None
