"""Values about checks: locations and outcomes, kinds of reports, and the digests that manifests name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from inspector.core.source import Source
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.responses import Seen

if TYPE_CHECKING:  # a snapshot imports this module
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
