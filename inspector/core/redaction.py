"""Text without what lets others in: sentences name locations, and a location may be signed."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)(?:[^/?#\s@]*@|[^/:?#\s@]*:(?!\d+(?:/|$))[^?#\s@]*@)")
"""A user before a host; secret keys may hold slashes, ports are numbers."""
_SECRET = re.compile(
    r"(?i)([?&;](?:X-Amz-[A-Za-z-]+|Signature|AWSAccessKeyId|Expires|security-token|x-amz-security-token)=)[^&;\s'\"]+"
)
_QUERY = re.compile(r"(?i)(\bhttps?:/+[^\s?#'\"]+)\?[^\s'\"]*")
"""The query of a web address. Any part of it may be a token, whatever it is called."""


def strip_credentials(text: str) -> str:
    """The text without a user before a host, the signed parts of a query, and the queries of web addresses."""
    return _SECRET.sub(r"\1***", _QUERY.sub(r"\1?***", _USER.sub("", text)))
