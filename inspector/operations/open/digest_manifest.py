"""Digest manifests: text files with digests of files, as ``sha256sum``, ``b2sum`` and ``xxhsum`` write and read them.

A line is ``<hex>  <name>`` (``*`` before the name: read as binary), or with ``--tag`` ``SHA256 (<name>) = <hex>``. A
backslash before a line says that backslashes, line feeds and carriage returns in the name are escaped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Protocol

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.source import HiddenError, Source
from inspector.operations.protocol.check_views import ALGORITHMS, SUFFIXES, Algorithm

MAX_LINE_BYTES = 1 << 17
"""Longer lines are cut off; a name of 65,535 bytes fits even if all of it is escaped."""

_READ_BYTES = 1 << 20
_TEXT = re.compile(rb"([0-9A-Fa-f]+)(?: [ *]?(.+))?", re.DOTALL)
_TAGGED = re.compile(rb"([A-Za-z0-9]+) ?\((.+)\) = ([0-9A-Fa-f]+)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([\\nr])")
_ESCAPED = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_BY_TAG = {known.tag.lower(): known for known in ALGORITHMS}
XXH64 = _BY_TAG["xxh64"]


class Hash(Protocol):
    """The interface of hashlib's objects."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """The digest in hex."""


def new_hash(algorithm: Algorithm) -> Hash:
    """A new hash object."""
    if algorithm.tag == "XXH64":
        import xxhash  # here because most archives do not need it

        made: Hash = xxhash.xxh64()
        return made
    return hashlib.new(algorithm.tag.lower(), usedforsecurity=False)


class ManifestEntry(Struct, frozen=True):
    """One line: ``digest`` in lower-case hex; ``name`` is None on a line with only a digest."""

    line: int
    algorithm: Algorithm
    digest: str
    name: bytes | None


class DigestManifest(Struct, frozen=True):
    """A manifest beside an archive; ``algorithm`` follows from its suffix."""

    source: Source
    algorithm: Algorithm

    @property
    def name(self) -> str:
        """Its printable file name."""
        return visible(PurePath(self.source.name).name)

    def entries(self) -> Iterator[ManifestEntry | int]:
        """Its entries, and the number of each line that is not one; comments and empty lines are skipped."""
        for number, line in enumerate(_lines(self.source), 1):
            text = line.rstrip(b"\r")
            if not text.strip() or text.startswith(b"#"):
                continue
            yield self._entry(number, text) or number

    def _entry(self, number: int, text: bytes) -> ManifestEntry | None:
        escaped = text.startswith(b"\\")
        text, algorithm, name = text[escaped:], self.algorithm, None
        if found := _TEXT.fullmatch(text):
            digest, name = found.groups()
        elif (found := _TAGGED.fullmatch(text)) and (known := _BY_TAG.get(found[1].decode().lower())):
            algorithm, name, digest = known, found[2], found[3]
        else:
            return None
        if len(digest) != 2 * algorithm.size:
            return None
        if escaped and name is not None:
            name = _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], name)
        return ManifestEntry(number, algorithm, digest.decode().lower(), name)


def _lines(source: Source) -> Iterator[bytes]:
    """The lines of a file, cut off after MAX_LINE_BYTES."""
    rest, at = b"", 0
    while data := source.read(at, _READ_BYTES):
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        yield from (line[:MAX_LINE_BYTES] for line in lines)
        rest = rest[:MAX_LINE_BYTES]
    if rest:
        yield rest


def manifests(source: Source) -> Iterator[DigestManifest]:
    """The manifests beside a source, as far as it is told which there are. Raises SourceError."""
    for suffix, algorithm in SUFFIXES.items():
        try:
            beside = source.sibling(suffix)
        except HiddenError:
            continue  # nothing makes one likely
        if beside is not None:
            yield DigestManifest(beside, algorithm)
