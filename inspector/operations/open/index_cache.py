"""The index cache: members of archives that took long to decode, so that they are listed at once the next time.

It is for listing and showing alone. What checks, repairs, reads or compares an archive decodes it.

A file holds the columns of ``Members`` as they are, and what decoding found. It is used only while all of this is the
same: what the source says of its state (name, device, inode, size and both times of a file; server, address, ETag,
version and size of an object), the format, the version of this program and of the layout below, and, of a file, a hash
of the bytes of its own structure that can be found without decoding: those that ``Format.structure`` names, and the
records of some members in between. Of an object its ETag stands for all bytes, which are not asked for again.

Whatever else is in a file, loading it raises nothing, and nothing of it is used::

    offset  size  what
    0       8     MAGIC
    8       16    XXH3-128 of all that follows, big-endian
    24      8     the size of the header, little-endian
    32            the header: _Header as JSON
                  the columns that it names, one after another, in the byte order of the machine
                  all names, one after another
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from operator import le

from msgspec import Struct

from inspector import __version__
from inspector.core.finding import UNREADABLE, Finding, Severity
from inspector.core.format import MemberError
from inspector.core.limits import INDEX_CACHE
from inspector.core.member import SPECIAL, Codec, Members
from inspector.core.program.log import Log
from inspector.core.source import Source, SourceError, SplicedSource, blocks, fingerprint_of, is_remote
from inspector.core.span import Span
from inspector.operations.open.opening import Opened

MAGIC = b"AIINDEX1"
MIN_SECONDS = 0.2
MIN_MEMBERS = 20_000
"""An archive is kept if decoding took so long, or if it has more members than that."""
MIN_SHOWN_SECONDS = 1.0
"""What is decoded in less is not worth the delay in a window, which decodes it meanwhile anyway."""
MIN_BYTES = 64 << 10
"""Smaller files are decoded at once, whatever is in them."""
MAX_FINDINGS = 1_000
MAX_LINKS = 10_000
"""An archive with more of them is not kept: each has to be looked at."""
_SAMPLES = 64
_SAMPLE_BYTES = 512
"""So many records of members are hashed, so many bytes of each."""
_MANY = 500_000
"""Numbers of a column that are compared by numpy."""
_HASH_BYTES = 16
_FIXED_BYTES = len(MAGIC) + _HASH_BYTES + 8
_COLUMNS = {"path_stops": "Q", "starts": "Q", "stops": "Q", "sizes": "Q", "digests": "Q", "heads": "Q"} | {
    "codecs": "B",
    "marks": "B",
}
_ALWAYS = ("path_stops", "starts", "stops")

_LOG = Log(__name__)


class _Header(Struct, frozen=True):
    """What is in a file besides columns and names. ``key`` and ``structure`` are hexadecimal."""

    key: str
    structure: str
    members: int
    path_bytes: int
    columns: tuple[str, ...]
    codec: Codec
    digest: str
    digest_digits: int
    stream: tuple[Span, ...] | None
    stream_name: str
    findings: tuple[Finding, ...]
    findings_dropped: int
    targets: dict[int, bytes | None]
    decode_seconds: float


class _UnusableError(Exception):
    """What was kept is not what it should be; the message says why, for the log."""


# ---- what it is kept under -------------------------------------------------------------------------------------------


def _key(archive: Opened) -> str:
    """What an archive is kept under, in hexadecimal; empty for what is not kept. Nothing can be told from it."""
    source, decoder = archive.source, archive.decoder
    if decoder is None or source.size < MIN_BYTES or archive.unreadable or archive.given_findings:
        return ""
    told = fingerprint_of(source)
    if not told:
        return ""
    import hashlib  # small files need neither this nor what else is imported where it is used

    parts = (*told, decoder.name, __version__, sys.byteorder, MAGIC.decode())
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _structure(archive: Opened, members: Members) -> str:
    """A hash of the structure's own bytes; empty if they cannot be found. Raises SourceError."""
    if is_remote(archive.source):
        return "remote"
    assert archive.decoder is not None
    import xxhash

    spans = archive.decoder.structure(archive.source)
    if not spans:
        return ""
    found = xxhash.xxh3_128()
    for start, stop in (*spans, *_samples(archive.source, members)):
        found.update(b"%d-%d:" % (start, stop))
        for piece in blocks(archive.source, start, stop):
            found.update(piece)
    return found.hexdigest()


def _samples(source: Source, members: Members) -> Iterator[Span]:
    """Where the records of some members lie."""
    places = members.starts if members.heads is None or members.stream is not None else members.heads
    for at in range(0, len(members), max(1, len(members) // _SAMPLES)):
        for span in members.place(places[at], places[at] + _SAMPLE_BYTES):
            yield span.clipped(0, source.size)


# ---- keeping ---------------------------------------------------------------------------------------------------------


def keep(archive: Opened) -> bool:
    """Keep the members of a decoded archive if that is worth it, and if it is sound; says whether they are kept.

    An archive with errors is decoded each time. Raises nothing.
    """
    members = archive.members
    if not archive.complete or archive.cut_short or archive.checking or archive.checked:
        return False
    if archive.decode_seconds < MIN_SECONDS and len(members) <= MIN_MEMBERS:
        return False
    if archive.findings_dropped or len(archive.findings) > MAX_FINDINGS or not len(members):
        return False
    if any(each.severity is Severity.ERROR or each.code == UNREADABLE for each in archive.findings):
        return False
    if any(map(members.unread, range(len(members) if members.reader is not None else 0))):
        return False
    try:
        return _keep(archive)
    except (SourceError, MemberError, OverflowError) as error:
        _LOG.info("%s: its index is not kept: %s", archive.source.name, error)
        return False


def _keep(archive: Opened) -> bool:
    import msgspec
    import xxhash

    from inspector.operations.jobs import index_store

    if not INDEX_CACHE.value:
        index_store.clear()
        return False
    members, key = archive.members, _key(archive)
    structure = _structure(archive, members) if key else ""
    targets = _targets(archive) if structure else None
    if targets is None:
        return False
    paths, stops = memoryview(members.paths), members.path_stops
    if not members.as_appended:
        names = [members.path(index) for index in range(len(members))]
        paths, stops = memoryview(b"".join(names)), array("Q")
        for name in names:
            stops.append(len(name) + (stops[-1] if stops else 0))
    columns = [name for name in _COLUMNS if getattr(members, name) is not None]
    stream = members.stream
    header = _Header(
        key=key,
        structure=structure,
        members=len(members),
        path_bytes=len(paths),
        columns=tuple(columns),
        codec=members.codec,
        digest=members.digest,
        digest_digits=members.digest_digits,
        stream=None if stream is None else stream.spans,
        stream_name="" if stream is None else stream.name,
        findings=tuple(archive.findings),
        findings_dropped=archive.findings_dropped,
        targets=targets,
        decode_seconds=archive.decode_seconds,
    )
    encoded = msgspec.json.encode(header)
    pieces: list[bytes | memoryview] = [len(encoded).to_bytes(8, "little"), encoded]
    pieces += [memoryview(stops if name == "path_stops" else getattr(members, name)).cast("B") for name in columns]
    pieces.append(paths)
    found = xxhash.xxh3_128()
    for piece in pieces:
        found.update(piece)
    data = b"".join((MAGIC, found.digest(), *pieces))
    try:
        _index(data, *_head(data), archive.source)  # what would not be used need not be kept
    except _UnusableError as error:
        _LOG.info("%s: its index is not kept: %s", archive.source.name, error)
        return False
    return index_store.write(key, [data])


def _targets(archive: Opened) -> dict[int, bytes | None] | None:
    """Where the links among the members lead; None if there are too many. Raises SourceError and MemberError."""
    marks = archive.members.marks
    links = [] if marks is None or not any(each & SPECIAL for each in set(marks)) else _special(marks)
    if len(links) > MAX_LINKS or archive.decoder is None:
        return None
    return {index: archive.decoder.member_metadata(archive, index).target for index in links}


def _special(marks: array[int]) -> list[int]:
    return [index for index, each in enumerate(marks) if each & SPECIAL]


# ---- using -----------------------------------------------------------------------------------------------------------


class Index(Struct, frozen=True):
    """What was kept of an archive."""

    members: Members
    findings: tuple[Finding, ...]
    findings_dropped: int
    targets: dict[int, bytes | None]


def find(archive: Opened, least_seconds: float = 0.0) -> Index | None:
    """What was kept of an archive that is not decoded yet, and took so long to decode; None if nothing can be trusted.

    Raises nothing.
    """
    key = _key(archive)
    if not key:
        return None
    from inspector.operations.jobs import index_store

    data = index_store.read(key)
    if not data:
        return None
    try:
        header, at = _head(data)
        if header.decode_seconds < least_seconds:
            return None
        index = _index(data, header, at, archive.source)
        if header.key != key or header.structure != _structure(archive, index.members) or not header.structure:
            raise _UnusableError("it is of another state of the archive")
    except (_UnusableError, SourceError) as error:
        _LOG.info("%s: its kept index is not used: %s", archive.source.name, error)
        index_store.forget(key)
        return None
    return index


def show_from_cache(archive: Opened) -> bool:
    """Show the members that were kept of an archive until it is decoded; says whether there are any."""
    index = find(archive, MIN_SHOWN_SECONDS)
    archive.listed = None if index is None else index.members
    return index is not None


def list_from_cache(archive: Opened) -> bool:
    """Make an archive that is not decoded one that can be listed, and for nothing else; says whether it can be."""
    index = find(archive)
    if index is None:
        return False
    archive.listed = archive.members = index.members
    archive.targets = index.targets
    archive.findings = [*index.findings]
    archive.findings_dropped = index.findings_dropped
    return True


def _head(data: bytes) -> tuple[_Header, int]:
    """The header of a file, and where its columns begin. Raises _UnusableError."""
    import xxhash

    size = int.from_bytes(data[_FIXED_BYTES - 8 : _FIXED_BYTES], "little")
    if data[: len(MAGIC)] != MAGIC or size > len(data) - _FIXED_BYTES:
        raise _UnusableError("it is no index")
    hashed = memoryview(data)[len(MAGIC) + _HASH_BYTES :]
    if xxhash.xxh3_128(hashed).digest() != data[len(MAGIC) : len(MAGIC) + _HASH_BYTES]:
        raise _UnusableError("it is damaged")
    return _header(data[_FIXED_BYTES : _FIXED_BYTES + size]), _FIXED_BYTES + size


def _index(data: bytes, header: _Header, at: int, source: Source) -> Index:
    """What a file says of an archive in ``source``. Raises _UnusableError."""
    stream = None if header.stream is None else _stream(header, source)
    members = Members(
        codec=header.codec,
        digest=header.digest,
        digest_digits=header.digest_digits,
        **{name: name in header.columns for name in ("sizes", "codecs", "heads", "marks")},
        stream=stream,
    )
    for name in header.columns:
        column = array(_COLUMNS[name])
        stop = at + header.members * column.itemsize
        if stop > len(data):
            raise _UnusableError("columns are missing")
        column.frombytes(memoryview(data)[at:stop])
        setattr(members, name, column)
        at = stop
    members.paths += memoryview(data)[at:]
    _require_consistent(header, members, source.size if stream is None else stream.size)
    return Index(members, header.findings, header.findings_dropped, header.targets)


def _header(data: bytes) -> _Header:
    import msgspec

    try:
        header = msgspec.json.decode(data, type=_Header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise _UnusableError("its header cannot be read") from error
    known = [name for name in _COLUMNS if name in header.columns]
    if list(header.columns) != known or not set(_ALWAYS) <= set(known) or ("digests" in known) != bool(header.digest):
        raise _UnusableError("its columns are others")
    if header.members <= 0 or not 0 <= header.digest_digits <= 64 or header.findings_dropped < 0:
        raise _UnusableError("its numbers cannot be")
    return header


def _stream(header: _Header, source: Source) -> SplicedSource:
    spans = header.stream or ()
    if not spans or any(not 0 <= start < stop <= source.size for start, stop in spans):
        raise _UnusableError("its stream lies outside the file")
    return SplicedSource(source, spans, header.stream_name)


def _require_consistent(header: _Header, members: Members, size: int) -> None:
    """Raise _UnusableError unless every member's name and bytes are within what there is."""
    stops = members.path_stops
    rising = len(stops) == header.members and _in_order(stops[:-1], stops[1:])
    if not rising or stops[-1] != header.path_bytes or len(members.paths) != header.path_bytes:
        raise _UnusableError("its names do not fit")
    if not _in_order(members.starts, members.stops) or not _in_order(members.stops, array("Q", (size,)) * len(stops)):
        raise _UnusableError("its members lie outside the file")
    if members.codecs is not None and max(members.codecs) >= len(Codec):
        raise _UnusableError("its codecs are unknown")
    special = [] if members.marks is None or max(members.marks) < SPECIAL else _special(members.marks)
    if special != sorted(header.targets):
        raise _UnusableError("its links do not fit")


def _in_order(first: array[int], second: array[int]) -> bool:
    """Whether each number is at most that at the same place of the other column."""
    if len(first) < _MANY:
        return all(map(le, first, second))
    import numpy as np  # loading it takes as long as half a million comparisons

    return bool((np.frombuffer(first, np.uint64) <= np.frombuffer(second, np.uint64)).all())
