"""What a face is shown of S3 besides archives: entries of listings, what a request cost, what helps when it fails."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.sources.s3.ledger import Totals


class EntryKind(StrEnum):
    """What an entry of a listing is."""

    BUCKET = "bucket"
    PREFIX = "prefix"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """One entry of a listing. ``location`` is whole and opens it; that of a bucket or a prefix ends with a slash.

    ``name`` is its last part as visible text, ``size`` is in bytes and ``modified`` in seconds since 1970; both are 0
    for what is no object.
    """

    kind: EntryKind
    name: str
    location: str
    size: int = 0
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class RemotePage:
    """One page of a listing; ``following`` leads to the next one, empty where there is none.

    ``totals`` are those of all requests that were made with this connection by this browser.
    """

    entries: tuple[RemoteEntry, ...]
    following: str
    totals: Totals


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What a download came to, in words; ``count`` files of ``size`` bytes in all were written."""

    count: int
    size: int
    sentence: str


class ErrorAction(StrEnum):
    """What may help when S3 does not give what is asked."""

    UNSIGNED = "unsigned"
    CONNECTION = "connection"
    REGION = "region"
    RELOAD = "reload"
    RETRY = "retry"
    BROWSE = "browse"


@dataclass(frozen=True, slots=True)
class S3Problem:
    """What went wrong with S3, and what may help, the best first; ``region`` is the one that the server names."""

    sentence: str
    remedies: tuple[ErrorAction, ...]
    region: str = ""


@dataclass(frozen=True, slots=True)
class RemoteState:
    """What reading a location on S3 has cost until now; ``size`` is how many bytes there are in all.

    ``trouble`` is what stands in the way now, None where nothing does.
    """

    totals: Totals
    size: int
    trouble: S3Problem | None = None
