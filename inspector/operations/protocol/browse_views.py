"""Values about S3 besides archives: entries of listings, the cost of requests, and what to do if they fail."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from inspector.sources.s3.request_log import Totals


class EntryKind(StrEnum):
    """The kind of an entry of a listing."""

    BUCKET = "bucket"
    PREFIX = "prefix"
    OBJECT = "object"


class RemoteEntry(Struct, frozen=True):
    """One entry of a listing. ``location`` is complete and can be opened; a bucket's or prefix's ends with a slash.

    ``name`` is its last part as visible text, ``size`` is in bytes and ``modified`` in seconds since 1970; both are 0
    for buckets and prefixes.
    """

    kind: EntryKind
    name: str
    location: str
    size: int = 0
    modified: float = 0.0


class RemotePage(Struct, frozen=True):
    """One page of a listing; ``following`` is the token of the next page, empty on the last one.

    ``totals`` are those of all requests of this browser.
    """

    entries: tuple[RemoteEntry, ...]
    following: str
    totals: Totals


class ErrorAction(StrEnum):
    """What a user can do about an S3 error."""

    UNSIGNED = "unsigned"
    CONNECTION = "connection"
    REGION = "region"
    RELOAD = "reload"
    RETRY = "retry"
    BROWSE = "browse"


class S3Problem(Struct, frozen=True):
    """An S3 error and what to do about it, the best action first; ``region`` is the one the server names."""

    sentence: str
    actions: tuple[ErrorAction, ...]
    region: str = ""


class RemoteState(Struct, frozen=True):
    """The cost of reading a location on S3 so far; ``size`` is its total size in bytes.

    ``trouble`` is the current problem, None without one. ``in_flight`` requests have been sent and have not finished;
    ``waiting`` of them have no response yet. ``used`` says how the server is reached, as the end of a sentence.
    """

    totals: Totals
    size: int
    trouble: S3Problem | None = None
    in_flight: int = 0
    waiting: int = 0
    used: str = ""
