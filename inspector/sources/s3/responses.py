"""What a server is asked for and answers, as values: boto3's dictionaries end here."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

_PARTIAL = 206
"""The status of an answer that has some of the bytes."""
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_PAGES = ("text/html", "application/xhtml")
_OF_OBJECTS = ("x-amz-", "x-goog-", "x-rgw-", "x-minio-")


class Asked(NamedTuple):
    """Which bytes of an object are wanted: ``[start, stop)``, or the last ``-start`` of them where that is negative."""

    start: int
    stop: int = 0

    @property
    def header(self) -> str:
        """The range as a request says it."""
        return f"bytes={self.start}" if self.start < 0 else f"bytes={self.start}-{self.stop - 1}"


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of an object. ``size`` is in bytes, -1 where the answer does not say.

    ``[start, stop)`` are the bytes of the body that came with it, if it is ``partial``, and empty where the answer does
    not say which they are; ``length`` is how many the body has. ``etag`` stands as it came, with its quotes;
    ``modified`` is in seconds since 1970, 0 where unknown.
    """

    size: int
    etag: str = ""
    version: str = ""
    modified: float = 0.0
    partial: bool = False
    start: int = 0
    stop: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """One object in a listing; ``size`` in bytes, ``modified`` in seconds since 1970."""

    key: str
    size: int
    etag: str
    modified: float

    @property
    def head(self) -> Head:
        """The same as an answer about the object would say."""
        return Head(self.size, self.etag, modified=self.modified)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a listing has told of an object, and of those beside it that belong to it, by their locations."""

    head: Head
    beside: tuple[tuple[str, Head], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing. ``prefixes`` end with a slash; ``following`` leads to the next page, empty: none."""

    objects: tuple[Listed, ...]
    prefixes: tuple[str, ...]
    following: str


class Begun(NamedTuple):
    """An upload that was begun and not ended."""

    key: str
    id: str


def begun_of(answer: Any) -> tuple[Begun, ...]:
    """What the answer to a list of uploads says."""
    return tuple(Begun(str(each["Key"]), str(each["UploadId"])) for each in answer.get("Uploads") or ())


def head_of(answer: Any) -> Head:
    """What the answer to a get or a head says."""
    length = int(answer.get("ContentLength") or 0)
    etag = str(answer.get("ETag") or "")
    version = str(answer.get("VersionId") or "").replace("null", "")
    modified = _seconds(answer.get("LastModified"))
    said = answer.get("ContentRange")
    status = (answer.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    if said is None and status != _PARTIAL:
        return Head(length, etag, version, modified, length=length)
    found = _RANGE.fullmatch(str(said).strip())
    if found is None:
        return Head(-1, etag, version, modified, True, length=length)
    first, last, total = found.groups()
    size = -1 if total == "*" else int(total)
    return Head(size, etag, version, modified, True, int(first), int(last) + 1, length)


def is_web_page(answer: Any) -> bool:
    """Whether a web page came in the place of an answer: the sign-in page of a network, perhaps.

    Objects may be web pages too, and are given with headers that only servers of objects send.
    """
    headers: Any = (answer.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    kind = str(headers.get("content-type") or "").lower()
    return kind.startswith(_PAGES) and not any(str(name).lower().startswith(_OF_OBJECTS) for name in headers)


def is_listing(answer: Any) -> bool:
    """Whether the answer to a list is one: other XML would be read as an empty listing."""
    return any(name in answer for name in ("Name", "KeyCount", "IsTruncated", "Contents"))


def crc32_of(answer: Any) -> int | None:
    """The CRC-32 of all bytes of an object, where an answer has it.

    One that was made of those of parts, COMPOSITE, is another number. Servers that do not say which it is make none of
    parts for an object that was sent at once, whose ETag has no hyphen.
    """
    kind, said = str(answer.get("ChecksumType") or ""), str(answer.get("ChecksumCRC32") or "")
    if kind != "FULL_OBJECT" and (kind or "-" in str(answer.get("ETag") or "-")):
        return None
    try:
        data = b64decode(said, validate=True)
    except ValueError:
        return None
    return int.from_bytes(data, "big") if len(data) == 4 else None


def page_of(answer: Any) -> Page:
    """What the answer to a list says."""
    objects = tuple(
        Listed(
            str(each["Key"]),
            int(each.get("Size") or 0),
            str(each.get("ETag") or ""),
            _seconds(each.get("LastModified")),
        )
        for each in answer.get("Contents") or ()
    )
    prefixes = tuple(str(each["Prefix"]) for each in answer.get("CommonPrefixes") or ())
    following = str(answer.get("NextContinuationToken") or "") if answer.get("IsTruncated") else ""
    return Page(objects, prefixes, following)


def _seconds(moment: Any) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else 0.0
