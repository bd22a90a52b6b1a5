"""Values about checks and readers: locations, kinds of reports, digests that manifests name, and what readers do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from inspector.core.source import Source
from inspector.core.span import Spans
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.responses import Seen

if TYPE_CHECKING:  # the window loads what its panels need
    from inspector.core.reader import Reader, ReaderKind, ReaderOutcome
    from inspector.sources.s3.prefix import S3Prefix


class CheckTarget(Struct, frozen=True):
    """A location to check. ``found``: it was found in a folder, so it may be no archive.

    ``beside`` are the sibling files that belong to it, if a folder was listed. ``seen`` is what an S3 listing said
    about it; ``place`` is its open source or prefix, if expanding it opened that. ``why`` is the error of expanding it,
    which makes it unreadable. ``size`` is in bytes, None if unknown.

    An audit also knows its ``name`` (the path relative to the audited location), a ``stamp`` that changes when the file
    does or a sibling that is checked with it, and ``overlaps``, a sentence that says which other range of its dataset
    shares keys with it. ``names_only``: it is a dataset whose ranges are checked for themselves.
    ``readers``: what each known reader makes of it is asked for, too.
    """

    location: str
    found: bool = False
    beside: tuple[str, ...] = ()
    connection: Connection = DEFAULT
    seen: Seen | None = None
    place: Source | S3Prefix | None = None
    why: str = ""
    name: str = ""
    size: int | None = None
    stamp: str = ""
    overlaps: str = ""
    names_only: bool = False
    readers: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Open sources stay in their process."""
        values = (None if name == "place" else getattr(self, name) for name in self.__struct_fields__)
        return CheckTarget, tuple(values)


class ReportKind(StrEnum):
    """The format of a report."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    PDF = "pdf"


REPORT_SUFFIXES = {
    ".html": ReportKind.HTML,
    ".htm": ReportKind.HTML,
    ".pdf": ReportKind.PDF,
}
"""The formats of a report to hand over, by the suffix of its file."""


class Algorithm(Struct, frozen=True):
    """A digest algorithm: its name, its name in tagged (BSD) manifests, and suffixes of manifests, the usual one first.

    ``size`` is that of a digest in bytes.
    """

    name: str
    tag: str
    size: int
    suffixes: tuple[str, ...]


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm("SHA-256", "SHA256", 32, (".sha256", ".sha256sum")),
    Algorithm("SHA-512", "SHA512", 64, (".sha512", ".sha512sum")),
    Algorithm("SHA-1", "SHA1", 20, (".sha1", ".sha1sum")),
    Algorithm("MD5", "MD5", 16, (".md5", ".md5sum")),
    Algorithm("BLAKE2b", "BLAKE2b", 64, (".b2", ".b2sum", ".blake2b")),
    Algorithm("XXH64", "XXH64", 8, (".xxh64", ".xxhsum", ".xxh", ".xxh64sum")),
)
"""All known algorithms, the most common one first."""
SUFFIXES: dict[str, Algorithm] = {suffix: known for known in ALGORITHMS for suffix in known.suffixes}
"""The suffixes that turn the name of an archive into that of its manifest."""


# ---- what readers make of an archive: a row for each, and the way of one through it ----------------------------------


class ReaderVerdict(StrEnum):
    """What a reader makes of an archive."""

    ACCEPTS = "accepts"
    WRONG = "reads wrongly"
    REJECTS = "rejects"
    UNKNOWN = "not known"
    ABSENT = "not installed"


class NamedReader(Struct, frozen=True):
    """A reader; ``about`` says what it is, ``why_not`` why it cannot run here (empty if it can)."""

    name: str
    title: str
    kind: ReaderKind
    about: str
    why_not: str

    @classmethod
    def of(cls, reader: Reader) -> NamedReader:
        """A reader without its function."""
        return cls(reader.name, reader.title, reader.kind, reader.about, reader.present())


class ReaderRow(Struct, frozen=True):
    """What one reader makes of an archive; where it is not installed, the outcome's message says so."""

    reader: NamedReader
    verdict: ReaderVerdict
    outcome: ReaderOutcome


class TraceResult(Struct, frozen=True):
    """A reader's way through an archive, whose bytes are ``layer``.

    ``steps`` are kept, ``folded`` more were taken. ``reads`` were made, of ``total`` bytes in all. ``never`` are the
    first of the bytes not read at all, ``never_bytes`` how many there are; ``twice_bytes`` were read more than once.
    """

    reader: NamedReader
    outcome: ReaderOutcome
    steps: int
    folded: int
    reads: int
    total: int
    twice_bytes: int
    never: Spans
    never_bytes: int
    layer: int
