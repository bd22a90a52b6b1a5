"""From a location to an archive: open the bytes, recognise the format, decode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import fields as attributes_of
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import UNREADABLE, Finding
from inspector.core.format import Format
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import Source, SourceError, expect
from inspector.core.span import Span
from inspector.core.verdict import Checksum
from inspector.formats import recognise
from inspector.formats.datas3t.keys import range_name
from inspector.sources.local.disk_calls import unusable
from inspector.sources.local.file import FileSource
from inspector.sources.local.folder import LocalFolder
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Seen

ROOTS = ("dataset", "datas3t")
"""The folders in a bucket's root that hold datasets."""

HOLDERS = ("datapoints", "dataranges")
"""The folders in a dataset that hold ranges."""

_DATASET = re.compile(rf"/(?:{'|'.join(ROOTS)})/[^/]+/?$")
"""How the location of a dataset ends."""

UNKNOWN = "This is no archive format that is known here."
AT_ONCE = 32 << 20
"""Bytes: what is larger is read twice, for its structure and its content, and is not kept from one to the other."""

FROM_THE_START = (".rca", ".tar", ".metadata", ".index")
"""The endings of names of archives that are read from their beginning; others have an index at their end."""


@dataclass(slots=True)
class Opened(Archive):
    """An archive and the format that decodes it and reads its members; None for plain bytes.

    ``unreadable`` says why there is nothing in it, empty where that is not so; ``decoded_findings`` are how many
    findings decoding made, ``decoded_dropped`` how many more it only counted: those after them are a check's.
    ``decoded_checksums`` are those that decoding gave. ``foretold`` is what is known of it from other archives before
    it is decoded, ``told`` gives what is known once it is, ``said`` are codes of findings that are made once for all of
    them. ``cut_short``: its bytes could not be had while it was decoded, so there is nothing to check it by.
    ``checking``: a check of it is going on, ``checked``: one is over.
    """

    decoder: Format | None = None
    unreadable: str = ""
    decoded_findings: int = 0
    decoded_dropped: int = 0
    decoded_checksums: Sequence[Checksum] = ()
    foretold: Sequence[Finding] = ()
    told: Callable[[], Iterable[Finding]] = tuple
    said: frozenset[str] = frozenset()
    checking: bool = False
    checked: bool = False
    cut_short: bool = False


def local_path(location: str) -> Path:
    """The path of this machine that a location names: a path or a ``file://`` URL.

    Raises SourceError for anything else, and where nothing is there.
    """
    path = _from_url(location) if "://" in location else Path(location).expanduser()
    try:
        there = path.exists()
        leads_nowhere = not there and path.is_symlink()
    except (OSError, ValueError) as error:  # a name too long, or with a NUL
        raise SourceError(unusable(location, error)) from error
    if leads_nowhere:
        raise SourceError(f"{visible(location)} is a symbolic link that leads nowhere.")
    if not there:
        raise SourceError(f"{visible(location)} does not exist.")
    return path


def _from_url(location: str) -> Path:
    try:
        url = urlsplit(location)
    except ValueError as error:
        raise SourceError(f"{visible(location)} is no usable address: {error}.") from error
    if url.scheme.lower() != "file" or url.netloc not in ("", "localhost"):
        raise SourceError(f"{visible(location)} is not on this machine, and has to be a file or a folder here.")
    return Path(unquote(url.path))


def open_place(
    location: str, connection: Connection = DEFAULT, *, sparing: bool = False, seen: Seen | None = None
) -> Source | LocalFolder | S3Prefix:
    """The bytes or the folder at ``location``; raises SourceError where there is neither.

    ``connection`` says how S3 is reached. ``sparing``: what is far away is decoded with few requests, see S3Source.
    ``seen`` is what a listing on S3 told of it.
    """
    tail = not location.endswith(FROM_THE_START)
    if is_s3(location) and seen is not None:
        from inspector.sources.s3.opening import open_seen  # loads boto3

        if found := open_seen(location, connection, seen, tail=tail):
            return found
    if is_s3(location):
        from inspector.sources.s3.opening import open_s3  # loads boto3

        return open_s3(
            location,
            connection,
            sparing=sparing,
            tail=tail,
            listed=range_name(location) is not None,
            holders=HOLDERS,
            inside=_DATASET.search(location) is not None,
        )
    path = local_path(location)
    return LocalFolder(path.resolve()) if path.is_dir() else FileSource(path)


def start(source: Source) -> Opened:
    """The archive before decoding: its format is known, its fields are still one stretch of bytes.

    Raises SourceError when the source cannot be read.
    """
    decoder = recognise(source)
    span = Span(0, source.size)
    if decoder is None:
        return Opened(source, "bytes", "plain bytes", (Field("bytes", Kind.BYTES, (span,)),))
    note = "Not decoded yet."
    fields = (Field("bytes", Kind.BYTES, (span,), note=note),)
    return Opened(source, decoder.name, decoder.title, fields, decoder=decoder)


def not_read(archives: Iterable[Archive]) -> bool:
    """Whether bytes of them could not be had."""
    return any(finding.code == UNREADABLE for archive in archives for finding in archive.findings)


def decode(archive: Opened, progress: Progress) -> None:
    """Decode what ``start`` gave. Raises Cancelled; what was decoded until then stays.

    A source that cannot be read any further is a finding.
    """
    with cancelling(progress):
        _decode(archive, progress)


def decode_anew(archive: Opened, progress: Progress) -> None:
    """Decode again what was decoded sparingly, this time with all there is to read.

    Raises Cancelled, and SourceError where that cannot be read; the archive stays as it was then.
    """
    source: Any = archive.source
    source.sparing = False
    if source.size <= AT_ONCE:
        expect(source, 0, source.size)
    try:
        again = start(source)
        again.foretold, again.told, again.checking = archive.foretold, archive.told, archive.checking
        decode(again, progress)
        if again.cut_short:
            raise SourceError(next(each.message for each in again.findings if each.code == UNREADABLE))
    except (Cancelled, SourceError):
        source.sparing = True
        raise
    for each in attributes_of(Opened):
        setattr(archive, each.name, getattr(again, each.name))


def learn(archive: Opened, indices: Iterable[int], progress: Progress) -> bool:
    """Read the headers of these members that were left out to spare requests.

    Where they are not what they were taken for, all is decoded anew, which the answer says. Raises SourceError and
    Cancelled.
    """
    members = archive.members
    with cancelling(progress):
        members.learn(indices)
    if members.misled and archive.members is members:  # a check may have decoded it anew meanwhile
        decode_anew(archive, progress)
    return archive.members is not members


def _decode(archive: Opened, progress: Progress) -> None:
    archive.findings.extend(archive.foretold)
    emitter = Emitter(archive)
    if archive.unreadable:
        emitter.error(UNREADABLE, archive.unreadable)
    elif archive.decoder is None:
        emitter.info("unknown-format", UNKNOWN)
    else:
        try:
            archive.decoder.decode(archive.source, emitter, progress)
        except SourceError as error:
            archive.cut_short = True
            emitter.error(UNREADABLE, f"{error} What follows could not be decoded.")
    if archive.said:
        archive.findings = [each for each in archive.findings if each.code not in archive.said]
    archive.findings.extend(archive.told())
    archive.decoded_findings = len(archive.findings)
    archive.decoded_dropped = archive.findings_dropped
    archive.decoded_checksums = archive.checksums
    archive.complete = True
