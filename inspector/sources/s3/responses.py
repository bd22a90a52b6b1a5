"""Requested ranges and responses as typed values: boto3's dictionaries end here."""

from __future__ import annotations

import contextlib
import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import Struct

from inspector.sources.s3.request_log import OPEN_END

_PARTIAL = 206
"""The status of a response with a range."""
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_PAGES = ("text/html", "application/xhtml")
_OF_OBJECTS = ("x-amz-", "x-goog-", "x-rgw-", "x-minio-")


class ByteRange(NamedTuple):
    """The requested bytes: ``[start, stop)``, or the last ``-start`` bytes if ``start`` is negative."""

    start: int
    stop: int = 0

    @property
    def size(self) -> int:
        """In bytes."""
        return -self.start if self.start < 0 else self.stop - self.start

    @property
    def header(self) -> str:
        """The value of the Range header."""
        if self.stop == OPEN_END:
            return f"bytes={self.start}-"
        return f"bytes={self.start}" if self.start < 0 else f"bytes={self.start}-{self.stop - 1}"


NO_BYTES = ByteRange(0)
"""Of a request that is about no bytes."""


class Head(Struct, frozen=True):
    """What a response says of an object. ``size`` is in bytes, -1 if unknown.

    If ``partial``, ``[start, stop)`` are the bytes in the body, empty if unknown; ``length`` is the size of the body.
    ``etag`` includes its quotes; ``modified`` is in seconds since 1970, 0 if unknown.
    """

    size: int
    etag: str = ""
    version: str = ""
    modified: float = 0.0
    partial: bool = False
    start: int = 0
    stop: int = 0
    length: int = 0


class Seen(Struct, frozen=True):
    """A listed object, and its listed siblings by location."""

    head: Head
    beside: tuple[tuple[str, Head], ...] = ()


class Page(Struct, frozen=True):
    """One page of a listing, objects by their keys.

    ``prefixes`` end with a slash; ``following`` is the token of the next page, or empty.
    """

    objects: Mapping[str, Head]
    prefixes: tuple[str, ...]
    following: str


def head_of(answer: Any) -> Head:
    """The head in a response to GET or HEAD."""
    length = int(answer.get("ContentLength") or 0)
    etag = str(answer.get("ETag") or "")
    version = str(answer.get("VersionId") or "").replace("null", "")
    modified = seconds_of(answer.get("LastModified"))
    value = answer.get("ContentRange")
    status = (answer.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    if value is None and status != _PARTIAL:
        return Head(length, etag, version, modified, length=length)
    if (found := _RANGE.fullmatch(str(value).strip())) is None:
        return Head(-1, etag, version, modified, True, length=length)
    first, last, total = found.groups()
    size = -1 if total == "*" else int(total)
    return Head(size, etag, version, modified, True, int(first), int(last) + 1, length)


def is_web_page(answer: Any) -> bool:
    """Whether the response is a web page, such as the sign-in page of a network.

    Objects may be web pages too, but come with headers that only object stores send.
    """
    headers: Any = (answer.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    kind = str(headers.get("content-type") or "").lower()
    return kind.startswith(_PAGES) and not any(str(name).lower().startswith(_OF_OBJECTS) for name in headers)


def crc32_of(answer: Any) -> int | None:
    """The CRC-32 of all bytes of an object, if the response has it.

    A COMPOSITE checksum, made from those of parts, is a different number. Without a type it is a full one for objects
    that were sent at once, whose ETag has no hyphen.
    """
    kind, value = str(answer.get("ChecksumType") or ""), str(answer.get("ChecksumCRC32") or "")
    if kind != "FULL_OBJECT" and (kind or "-" in str(answer.get("ETag") or "-")):
        return None
    try:
        data = b64decode(value, validate=True)
    except ValueError:
        return None
    return int.from_bytes(data, "big") if len(data) == 4 else None


def page_of(answer: Any) -> Page:
    """The page in a response."""
    objects = {
        str(each["Key"]): Head(
            int(each.get("Size") or 0), str(each.get("ETag") or ""), modified=seconds_of(each.get("LastModified"))
        )
        for each in answer.get("Contents") or ()
    }
    prefixes = tuple(str(each["Prefix"]) for each in answer.get("CommonPrefixes") or ())
    following = str(answer.get("NextContinuationToken") or "") if answer.get("IsTruncated") else ""
    return Page(objects, prefixes, following)


def seconds_of(moment: Any) -> float:
    """A moment in seconds since 1970; 0 where there is none that a clock could show."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return float(moment.timestamp()) if isinstance(moment, datetime) else 0.0
    return 0.0
