"""Opening a location as an archive: open the bytes, recognise the format, decode."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from inspector.core import codes
from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import UNREADABLE, Finding
from inspector.core.format import Format
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.log import Log
from inspector.core.program.progress import Cancelled, Progress, cancelling
from inspector.core.source import Source, SourceError, SplicedSource, doubt_of, expect, is_sparing
from inspector.core.source import is_remote as is_far
from inspector.core.span import Span
from inspector.core.verdict import Checksum
from inspector.formats import SEQUENTIAL_SUFFIXES, recognise
from inspector.formats._causes.diagnosis import NO_DIAGNOSIS, Diagnosis, what_it_is
from inspector.formats._signatures import with_inside
from inspector.formats.datas3t import range_name
from inspector.operations.jobs.local_paths import local_path
from inspector.sources.local.file import FileSource, Folder, LocalFolder
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.web.address import is_remote, is_web

if TYPE_CHECKING:  # a file of this machine needs neither
    from inspector.sources.s3.prefix import S3Prefix
    from inspector.sources.s3.responses import Seen

DATASET_ROOTS = ("dataset", "datas3t")
"""Names of folders in a bucket's root that contain datasets."""

RANGE_FOLDERS = ("datapoints", "dataranges")
"""Names of folders in a dataset that contain ranges."""

_DATASET = re.compile(rf"/(?:{'|'.join(DATASET_ROOTS)})/[^/]+/?$")
"""Matches the end of a dataset's location."""

UNKNOWN_FORMAT = "This is not a known archive format."

MAX_SCANNED_BYTES = 16 << 20
"""Bytes of a file of no known format that are searched for archives when it is opened."""
_MAX_PLACES = 8

MAX_READ_ONCE_BYTES = 32 << 20
"""Larger archives are read twice, for their structure and for their content, rather than held in memory."""

_LOG = Log(__name__)


class Opened(Archive):
    """An archive and the format that decodes it and reads its members; ``decoder`` is None for plain bytes.

    ``unreadable`` says why it could not be opened, and is empty otherwise. ``decoded_findings`` is the number of
    findings that decoding made, ``decoded_dropped`` how many more it only counted: later ones are from a check.
    ``decoded_checksums`` are those from decoding. ``given_findings`` come from the names of its collection, or from
    compressed data around it, and are added before decoding, those of ``late_findings`` after it; findings with
    ``suppressed_codes`` are left out, because another archive of the collection has them. ``cut_short``: decoding could
    not read all of its bytes, so it cannot be checked. ``checking``: a check is running, ``checked``: one is complete.
    ``diagnosis`` has the causes that a check found, which stand before all other findings.
    """

    def __init__(
        self,
        source: Source,
        format: str,  # noqa: A002 - as in Archive
        title: str,
        fields: Sequence[Field],
        *,
        decoder: Format | None = None,
        given_findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(source, format, title, fields)
        self.decoder = decoder
        self.unreadable = ""
        self.decoded_findings = 0
        self.decoded_dropped = 0
        self.decoded_checksums: Sequence[Checksum] = ()
        self.given_findings = given_findings
        self.late_findings: Callable[[], Iterable[Finding]] = tuple
        self.suppressed_codes: frozenset[str] = frozenset()
        self.checking = False
        self.checked = False
        self.cut_short = False
        self.diagnosis: Diagnosis = NO_DIAGNOSIS


def open_place(
    location: str, connection: Connection = DEFAULT, *, sparing: bool = False, seen: Seen | None = None
) -> Source | LocalFolder | S3Prefix:
    """The bytes or the folder at ``location``; raises SourceError if there is neither.

    ``connection`` is for S3. ``sparing``: decode remote archives with few requests, see S3Source. ``seen`` is what a
    listing on S3 said about it. ``FILE!/@START-STOP`` are the bytes ``[START, STOP)`` of a file, one archive of several
    that are joined in it. What lies inside an archive is opened by ``nested.open_nested``.
    """
    section = SECTION.search(location)
    if section is not None:
        return _section(location, section, open_place(location[: section.start()], connection))
    tail = not location.endswith(SEQUENTIAL_SUFFIXES)
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
            holders=RANGE_FOLDERS,
            inside=_DATASET.search(location) is not None,
        )
    if is_web(location):
        from inspector.sources.web.client import open_web  # loads botocore

        return open_web(location, sparing=sparing, sequential=SEQUENTIAL_SUFFIXES)
    path = local_path(location)
    return LocalFolder(path.resolve()) if path.is_dir() else FileSource(path)


_INSIDE = "!/"
"""Separates a member from the archive that it is in."""

SECTION = re.compile(r"!/@(0x[0-9a-fA-F]{1,16}|\d{1,20})(?:-(0x[0-9a-fA-F]{1,16}|\d{1,20}))?$")
"""The end of a location that names a part of a file."""


def is_section(location: str) -> bool:
    """Whether a location names a part of a file, or an archive inside another."""
    return SECTION.search(location) is not None or bool(around(location)[1])


def around(location: str) -> tuple[str, list[str]]:
    """The outermost file of a location, and the names of members that lead from it to an archive inside.

    A file whose own name has the separator is that file.
    """
    first, *names = location.split(_INSIDE)
    if is_remote(location):
        while names and "/" not in first.partition("://")[2]:  # no bucket or host is an archive
            first = _INSIDE.join((first, names.pop(0)))
        return first, names
    while names and _is_no_file(first) and _INSIDE.join((first, names[0])) != location:
        first = _INSIDE.join((first, names.pop(0)))
    if names and not _is_no_file(location):
        return location, []
    return first, names


def _is_no_file(location: str) -> bool:
    try:
        return not local_path(location).is_file()
    except SourceError:
        return True


def _section(location: str, found: re.Match[str], whole: Source | LocalFolder | S3Prefix) -> Source:
    """The bytes of a file that a location names. Raises SourceError if it has none such."""
    if isinstance(whole, Folder):
        raise SourceError(f"{visible(location)}: a part of a file is named, and that is a folder.")
    start, stop = (int(each, 16 if each.startswith("0x") else 10) for each in (found[1], found[2] or str(whole.size)))
    if not start < stop <= whole.size:
        raise SourceError(f"{visible(location)}: the file has {whole.size:,} bytes, so it has no such part.")
    return SplicedSource(whole, [Span(start, stop)], whole.name)


def start(source: Source) -> Opened:
    """The archive before decoding: its format is known, its only field is all of its bytes.

    Raises SourceError if the source cannot be read.
    """
    decoder = recognise(source)
    span = Span(0, source.size)
    _LOG.info("%s: %s, %s", source.name, decoder.title if decoder else "no known format", in_bytes(source.size))
    doubt = doubt_of(source)
    given = (doubt,) if doubt is not None else ()
    if decoder is None:
        whole = with_inside(Field("bytes", Kind.BYTES, (span,)), source, source.name)
        return Opened(source, "bytes", "plain bytes", (whole,), given_findings=given)
    whole = Field("bytes", Kind.BYTES, (span,), note="Not decoded yet.")
    return Opened(source, decoder.name, decoder.title, (whole,), decoder=decoder, given_findings=given)


def not_read(archives: Iterable[Archive]) -> bool:
    """Whether some of their bytes could not be read."""
    return any(finding.code == UNREADABLE for archive in archives for finding in archive.findings)


def decode(archive: Opened, progress: Progress) -> None:
    """Decode an archive from ``start``. Raises Cancelled; what was decoded by then stays.

    A source that cannot be read any further becomes a finding.
    """
    began = time.monotonic()
    emitter = Emitter(archive)
    with cancelling(progress):
        archive.findings.extend(archive.given_findings)
        if archive.unreadable:
            emitter.report(codes.NOT_READ, archive.unreadable)
        elif archive.decoder is None:
            emitter.report(codes.UNKNOWN_FORMAT, f"{UNKNOWN_FORMAT}{_scanned(archive.source, progress)}")
        else:
            try:
                archive.decoder.decode(archive.source, emitter, progress)
            except SourceError as error:
                archive.cut_short = True
                emitter.report(codes.NOT_READ, f"{error} What follows could not be decoded.")
        if archive.suppressed_codes:
            archive.findings = [each for each in archive.findings if each.code not in archive.suppressed_codes]
        archive.findings.extend(archive.late_findings())
        _identify(archive)
    archive.decoded_findings = len(archive.findings)
    archive.decoded_dropped = archive.findings_dropped
    archive.decoded_checksums = archive.checksums
    archive.complete = True
    members, findings = count(len(archive.members), "member"), count(len(archive.findings), "finding")
    _LOG.info("%s: decoded in %.2f s: %s, %s", archive.source.name, time.monotonic() - began, members, findings)


def decoded(source: Source, progress: Progress) -> Opened:
    """A source as an archive, decoded. Raises SourceError and Cancelled."""
    archive = start(source)
    decode(archive, progress)
    return archive


def decode_anew(archive: Opened, progress: Progress) -> None:
    """Decode again what was decoded without reading everything, this time reading it.

    Raises Cancelled, and SourceError if not everything could be read; then the archive stays as it was.
    """
    source: Any = archive.source
    was_sparing = is_sparing(source)
    if was_sparing:
        source.sparing = False
    if source.size <= MAX_READ_ONCE_BYTES:
        expect(source, 0, source.size)
    try:
        again = start(source)
        again.given_findings, again.late_findings = archive.given_findings, archive.late_findings
        again.checking, again.thorough = archive.checking, True
        decode(again, progress)
        if again.cut_short:
            raise SourceError(next(each.message for each in again.findings if each.code == UNREADABLE))
    except (Cancelled, SourceError):
        if was_sparing:
            source.sparing = True
        raise
    vars(archive).update(vars(again))


def learn(archive: Opened, indices: Iterable[int], progress: Progress) -> bool:
    """Read the headers of these members that were skipped to save requests.

    If they differ from what was assumed, the archive is decoded again. Returns whether it was. Raises SourceError and
    Cancelled.
    """
    members = archive.members
    with cancelling(progress):
        members.learn(indices)
    if members.misled and archive.members is members:  # a check may have decoded it again meanwhile
        decode_anew(archive, progress)
    return archive.members is not members


def _scanned(source: Source, progress: Progress) -> str:
    """What a scan of the first bytes finds, as another sentence; nothing is read again of what is far away."""
    if is_far(source):
        return ""
    from inspector.formats._causes.joined import archives  # a file of a known format needs none of it

    try:
        found = archives(source, progress, MAX_SCANNED_BYTES)
    except SourceError as error:
        return f" {error} So it was not searched for archives."
    places = [each.words for each in found.parts if each.whole]
    if not places:
        return ""
    bound = f" (its first {in_bytes(found.stop)} were searched)" if found.stop < source.size else ""
    more = f", and {len(places) - _MAX_PLACES:,} more" if len(places) > _MAX_PLACES else ""
    return f" In it is {'; '.join(places[:_MAX_PLACES])}{more}{bound}: scan tells of each, and writes them to files."


def _identify(archive: Opened) -> None:
    """Say first what the file really is, where it is not what it should be."""
    try:
        causes = what_it_is(archive).causes
    except SourceError as error:
        Emitter(archive).report(codes.NOT_READ, f"{error} What it really is could not be found out.")
    else:
        archive.findings = [*causes, *archive.findings]
