"""Rewrite the central directory and the end records in place (APPNOTE.TXT 4.3.12 to 4.3.16).

Complete headers of the central directory are kept; members that only have local headers get new ones. Writing starts at
the first byte that differs.

Members are found by their local headers: offsets and sizes lead from one to the next, or the end of a deflate stream if
the size is recorded after the data. Stored data is never searched for signatures, because an archive stored inside the
archive has the same ones.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from isal.isal_zlib import crc32
from msgspec import Struct, field

from inspector.core.edit import Edit, Patch
from inspector.core.member import LARGEST, Codec
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, SourceError, blocks
from inspector.core.span import Span
from inspector.formats._zip.compression import CODECS, METHODS
from inspector.formats._zip.directory import Directory, is_split
from inspector.formats._zip.eocd import Eocd, eocd_after, is_header_of
from inspector.formats._zip.extra import extra_faults, zip64
from inspector.formats._zip.headers import (
    FORMS,
    MAX_MEMBERS,
    central_headers,
    codec_of,
    form_of,
    local_sizes,
    read_local,
)
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    END,
    END_SIZE,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    Local,
    make_central_header,
    make_end_records,
)

_OFFSET_FIELD = (42, 46)
"""The field of a central directory header with the offset of the local header."""


_COMPARED_BYTES = 4096


_MAX_BLANK_BYTES = 64 << 20
"""Bytes after the members that are read to see whether they are zeros; more are taken to be data."""


_EMPTY = Span(0, 0)


class _WholeHeader(NamedTuple):
    """A complete central directory header: its bytes, its member's name, and the file offset of the local header.

    ``form`` is the stored size, the decoded size and the codec.
    """

    data: bytes
    name: bytes
    head: int
    form: tuple[int, int, Codec]


class _DirectoryPlace(Struct, frozen=True):
    """Where the directory will begin: after unknown bytes ``rest``, or in place of a member ``cut_off``."""

    start: int
    rest: Span = _EMPTY
    cut_off: ScannedMember | None = None


class Rebuilt(Struct, frozen=True):
    """The new end of an archive.

    ``edit`` writes it; the directory begins at ``start``. It has ``kept`` old headers, then new ones for the members
    ``made``; ``gone`` headers of members that are not in the file are dropped. ``cut_off`` is a member that the file
    ends in, which is dropped too; ``doubtful`` if its size may be wrong. ``rest`` are unknown bytes before the
    directory, which stay; ``trailing`` are bytes after the archive, which are dropped. ``uncommented``: whether the
    archive had a comment is unknown.
    """

    edit: Edit
    start: int
    kept: int
    made: tuple[ScannedMember, ...]
    gone: int
    cut_off: ScannedMember | None
    doubtful: bool
    rest: Span
    trailing: Span
    uncommented: bool


def rebuild(
    source: Source, directory: Directory, verified: Verified, progress: Progress, *, follow: bool = False
) -> Rebuilt | None:
    """Plan to rewrite the end of the archive; None if that changes nothing or the archive has several disks.

    ``verified`` has the numbers of members whose content matched in a check. With ``follow``, local headers are
    followed even if the directory is complete. Raises SourceError and Cancelled.
    """
    eocd = directory.eocd
    if directory.capped or is_split(eocd):
        return None
    shift = eocd.shift if eocd is not None else 0
    base = max(0, shift)
    place, found = _find_place(source, directory, base, verified, progress, follow=follow)
    limit = eocd.anchor if eocd is not None else source.size
    other = (eocd.displacement if not shift else -shift) if eocd is not None else 0
    entries = [
        _redirected(source, header, other, base, verified)
        for header in _whole_entries(source, place.start, limit, shift)
    ]
    trusted = _trusted(source, entries, place.start, limit, found)
    kept = _retained(list(_uncontradicted(source, trusted, found, progress)), found, place.start, verified)
    known = {header.head for header in kept}
    made = tuple(each for each in found.members if each.head not in known and each.stop <= place.start)
    if not kept and not made and (eocd is None or eocd.entries):
        return None
    new = b"".join(_with_offset(header, header.head - base) for header in kept)
    new += b"".join(make_central_header(each.local, each.name, each.extra, each.head - base) for each in made)
    if eocd is None:
        eocd = eocd_after(source, place.start)
    comment = _comment(source, eocd, place.start + sum(len(header.data) for header in entries))
    new += make_end_records(len(kept) + len(made), len(new), place.start - base, comment or b"")
    edit = _edit(source, place.start, new)
    if edit is None:
        return None
    doubtful = place.cut_off is not None and _has_signature(source, Span(place.cut_off.begin, source.size))
    trailing = Span(eocd.record.stop, source.size) if eocd is not None else _EMPTY
    return Rebuilt(
        edit=edit,
        start=place.start,
        kept=len(kept),
        made=made,
        gone=len(entries) - len(kept) - len({each.head for each in made} & {each.head for each in entries}),
        cut_off=place.cut_off,
        doubtful=doubtful,
        rest=place.rest,
        trailing=trailing,
        uncommented=comment is None,
    )


def _find_place(
    source: Source, directory: Directory, base: int, verified: Verified, progress: Progress, *, follow: bool
) -> tuple[_DirectoryPlace, ScanResult]:
    """Where the directory will begin, and the members found by local headers; none if the directory is complete."""
    eocd, span = directory.eocd, directory.span
    if eocd is not None and span is not None and _is_complete(directory, eocd):
        found = scan_members(source, base, verified, progress) if follow else ScanResult()
        return _DirectoryPlace(span.start), found if found.stop == span.start else ScanResult()
    found = scan_members(source, base, verified, progress)
    return (
        _place_without_eocd(source, found) if eocd is None else _place_before_eocd(source, eocd, span, found)
    ), found


def _is_complete(directory: Directory, eocd: Eocd) -> bool:
    """Whether the directory is readable to its end and has as many entries as the end record counts, at least one."""
    entries = len(directory.central)
    counted = eocd.entries in (entries, entries & 0xFFFF)
    return directory.stop == eocd.anchor and counted and entries > 0


def _place_before_eocd(source: Source, eocd: Eocd, span: Span | None, found: ScanResult) -> _DirectoryPlace:
    """The place before existing end records; ``span`` is where the directory was found."""
    if span is not None:
        return _DirectoryPlace(span.start, Span(min(found.stop, span.start), span.start))
    if source.read(found.stop, 4) == CENTRAL or _is_blank(source, Span(found.stop, eocd.anchor)):
        return _DirectoryPlace(min(found.stop, eocd.anchor))
    return _DirectoryPlace(eocd.anchor, Span(min(found.stop, eocd.anchor), eocd.anchor))


def _place_without_eocd(source: Source, found: ScanResult) -> _DirectoryPlace:
    """The place in a file without end records: after the last member, or after unknown bytes."""
    if found.cut_off is not None:
        return _DirectoryPlace(found.cut_off.head, cut_off=found.cut_off)
    head = source.read(found.stop, 4)
    cut_off = head == LOCAL and read_local(source, found.stop) is None
    remnant = any(head[:4] == signature[: len(head)] for signature in (LOCAL, CENTRAL, END)) and len(head) < 4
    if cut_off or remnant or head in (CENTRAL, END) or _is_blank(source, Span(found.stop, source.size)):
        return _DirectoryPlace(found.stop)
    return _DirectoryPlace(source.size, Span(found.stop, source.size))


def _trusted(
    source: Source, entries: list[_WholeHeader], start: int, limit: int, found: ScanResult
) -> list[_WholeHeader]:
    """The headers, without the last if its own lengths prove it wrong and a local header has its member."""
    stop = start + sum(len(header.data) for header in entries)
    if not entries or stop >= limit or source.read(stop, 4) == CENTRAL:
        return entries
    data, name, head, _ = entries[-1]
    local = next((member for member in found.members if member.head == head), None)
    extra = data[CENTRAL_SIZE + len(name) :][: int.from_bytes(data[30:32], "little")]
    wrong = local is not None and (name != local.name or CENTRAL in data[4:] or bool(extra_faults(extra, local=False)))
    return entries[:-1] if wrong else entries


def _uncontradicted(
    source: Source, entries: list[_WholeHeader], found: ScanResult, progress: Progress
) -> Iterator[_WholeHeader]:
    """Yield the headers that no local header proves wrong.

    A header is wrong if the content matches the numbers of the local header, and the header has other sizes, or another
    name than a second header with the same offset.
    """
    members = {member.head: member for member in found.members}
    right = {(header.head, header.name) for header in entries}
    for header in entries:
        local = members.get(header.head)
        if local is not None:
            other = header.name != local.name and (local.head, local.name) in right
            numbers = (local.local.stored, local.local.size, codec_of(local.local.method, local.local.flags))
            if (other or numbers != header.form) and content_fits(source, local, progress):
                continue
        yield header


def _retained(entries: list[_WholeHeader], found: ScanResult, start: int, verified: Verified) -> list[_WholeHeader]:
    """The headers to keep in a directory that begins at ``start``.

    As far as local headers were followed, a header has to point to one; if it does not, it gets the offset of the only
    unlisted member with its name. A header with other sizes or another codec than the verified content is dropped. A
    wrong CRC-32 alone is repaired later.
    """
    heads = {member.head for member in found.members}
    reach = (LARGEST if found.stop >= start else found.stop) if heads else 0
    left = heads - {header.head for header in entries}
    names = Counter(member.name for member in found.members if member.head in left)
    places = {member.name: member.head for member in found.members if member.head in left and names[member.name] == 1}
    kept = []
    for header in entries:
        if header.head not in heads and header.head not in verified and header.head < reach:
            # If the offset is in ZIP64 information, the member gets a new header instead.
            place = places.pop(header.name, -1) if _narrow(header.data) else -1
            header = header._replace(head=place)  # noqa: PLW2901 - the same header with another offset
        whole = verified.get(header.head)
        if header.head >= 0 and (whole is None or header.head not in heads or whole[1:] == header.form):
            kept.append(header)
    return kept


def _narrow(header: bytes) -> bool:
    """Whether a header has its offset in its own 32-bit field."""
    return header[slice(*_OFFSET_FIELD)] != b"\xff" * 4


def _whole_entries(source: Source, start: int, limit: int, shift: int) -> Iterator[_WholeHeader]:
    """Yield the complete headers from ``start`` on."""
    for at, header, _, name, extra, stop in central_headers(source, start, limit):
        stored, size, offset = header[8], header[9], header[16]
        wide = zip64(extra, size == FULL_32, stored == FULL_32, offset == FULL_32)
        size = size if wide.size is None else wide.size
        stored = stored if wide.stored is None else wide.stored
        offset = offset if wide.offset is None else wide.offset
        yield _WholeHeader(
            source.read(at, stop - at), name, offset + shift, (stored, size, codec_of(header[4], header[3]))
        )


def _redirected(source: Source, header: _WholeHeader, other: int, base: int, verified: Verified) -> _WholeHeader:
    """The header, with its offset changed by ``other`` bytes if its member is there.

    Members after a place where bytes were inserted or lost are displaced, those before it are not.
    """
    here, there = header.head, header.head + other
    if not other or there < base or not _narrow(header.data) or is_header_of(source, here, header.name):
        return header
    # Small members stand at equal distances, so that the header at a wrong offset may be another member's.
    goes = is_header_of(source, there, header.name) or (there in verified and here not in verified)
    return header._replace(head=there) if goes else header


def _with_offset(header: _WholeHeader, offset: int) -> bytes:
    """The header with another offset, if its 32-bit field holds it."""
    if not _narrow(header.data) or offset >= FULL_32:
        return header.data
    start, stop = _OFFSET_FIELD
    return header.data[:start] + offset.to_bytes(4, "little") + header.data[stop:]


def _comment(source: Source, eocd: Eocd | None, stop: int) -> bytes | None:
    """The comment of the archive; None if it is unknown. The directory ends at ``stop``.

    An end record with a damaged signature is recognised by its comment, which ends with the file.
    """
    if eocd is not None:
        start = eocd.record.start + END_SIZE
        return source.read(start, eocd.record.stop - start)
    end = source.read(stop, END_SIZE)
    size = source.size - stop - END_SIZE
    known = len(end) == END_SIZE and int.from_bytes(end[-2:], "little") == size
    return source.read(stop + END_SIZE, size) if known else None


def _edit(source: Source, start: int, new: bytes) -> Edit | None:
    """The Edit that makes the file end with ``new`` from ``start`` on; None if it does already. Raises SourceError."""
    size = source.size
    old = source.read(start, min(len(new), size - start))
    if len(old) < min(len(new), size - start):
        raise SourceError("The file has become shorter since it was opened; open it again.")
    same = _common_prefix(old, new)
    end = start + len(new)
    patches = (Patch(start + same, old[same:], new[same:]),) if same < len(new) else ()
    return Edit("Rebuild the central directory", patches, size, end) if patches or end != size else None


def _common_prefix(old: bytes, new: bytes) -> int:
    """The number of equal bytes at the start; ``new`` is not shorter."""
    at = 0
    while at < len(old) and old[at : at + _COMPARED_BYTES] == new[at : at + min(_COMPARED_BYTES, len(old) - at)]:
        at += _COMPARED_BYTES
    at = min(at, len(old))
    return at + next((i for i, (one, other) in enumerate(zip(old[at:], new[at:], strict=False)) if one != other), 0)


def _is_blank(source: Source, span: Span) -> bool:
    """Whether there are only zeros, and not too many to be read."""
    return span.size <= _MAX_BLANK_BYTES and not any(any(piece) for piece in blocks(source, *span))


def _has_signature(source: Source, span: Span) -> bool:
    """Whether a signature of a record occurs, which makes it doubtful that the bytes are one member's data."""
    tail = b""
    for piece in blocks(source, *span):
        window = tail + piece
        if LOCAL in window or CENTRAL in window:
            return True
        tail = window[-3:]
    return False


_DESCRIPTOR_BYTES = 28
"""Bytes read for a data descriptor: the longest form, and the signature of the next record."""


class ScannedMember(Struct, frozen=True):
    """A member found by its local header; ``[head, stop)`` are its bytes from header to data descriptor.

    ``local`` has its true CRC-32 and sizes, wherever they are recorded; its data begins at ``begin``.
    """

    local: Local
    name: bytes
    extra: bytes
    head: int
    begin: int
    stop: int


class ScanResult(Struct):
    """Members in file order; the last ends at ``stop``. ``cut_off`` is a member that the file ends in."""

    members: list[ScannedMember] = field(default_factory=list)
    stop: int = 0
    cut_off: ScannedMember | None = None


class VerifiedNumbers(NamedTuple):
    """The numbers of a member whose content matches them."""

    crc: int
    stored: int
    size: int
    codec: Codec


Verified = Mapping[int, VerifiedNumbers]
"""Members whose content matched in a check, by the offsets of their local headers."""


def scan_members(source: Source, start: int, verified: Verified, progress: Progress) -> ScanResult:
    """The members whose local headers follow one another from ``start`` on.

    ``verified`` numbers take precedence over a local header. Raises SourceError and Cancelled.
    """
    found = ScanResult(stop=start)
    progress.begin("Following local headers", source.size - start)
    while len(found.members) < MAX_MEMBERS:
        member = scan_member(source, found.stop, verified, progress)
        if member is None:
            break
        if member.stop > source.size:
            found.cut_off = member
            break
        progress.advance(member.stop - start - progress.done)
        found.members.append(member)
        found.stop = member.stop
    return found


def scan_member(source: Source, head: int, verified: Verified, progress: Progress) -> ScannedMember | None:
    """The member with a local header at ``head``; None if its size is unknown. Raises SourceError and Cancelled."""
    found = read_local(source, head)
    if found is None:
        return None
    header, name, extra = found
    begin = head + LOCAL_SIZE + len(name) + len(extra)
    local = _with_numbers(source, header, extra, begin, verified.get(head), progress)
    if local is None:
        return None
    local, stop = _with_descriptor(source, local, begin + local.stored)
    return ScannedMember(local, name, extra, head, begin, stop)


def _with_numbers(
    source: Source, local: Local, extra: bytes, begin: int, verified: VerifiedNumbers | None, progress: Progress
) -> Local | None:
    """The header with its true numbers; None if they are unknown."""
    sizes = local_sizes(local, extra)
    if verified is not None and not _claims_nothing(source, local, begin, verified, sizes, progress):
        same = CODECS.get(local.method) is verified.codec
        method = local.method if same else METHODS.get(verified.codec, local.method)
        return local._replace(method=method, crc=verified.crc, stored=verified.stored, size=verified.size)
    if sizes is None:
        return _measured_by_data(source, local, begin, progress)
    return local._replace(stored=sizes[0], size=sizes[1])


def _claims_nothing(
    source: Source,
    local: Local,
    begin: int,
    verified: VerifiedNumbers,
    sizes: tuple[int, int] | None,
    progress: Progress,
) -> bool:
    """Whether ``verified`` is an empty content while the local header has one that matches.

    An empty content matches the CRC-32 of nothing everywhere, so zeros in a directory prove nothing.
    """
    if verified.stored or sizes == (0, 0):
        return False
    numbers = local._replace(stored=sizes[0], size=sizes[1]) if sizes else None
    numbers = numbers or _measured_by_data(source, local, begin, progress)
    return numbers is not None and _fits_numbers(source, numbers, begin, progress)


def content_fits(source: Source, member: ScannedMember, progress: Progress) -> bool:
    """Whether a member's content matches its numbers; False if its method cannot be read.

    Raises SourceError and Cancelled.
    """
    return _fits_numbers(source, member.local, member.begin, progress)


def _fits_numbers(source: Source, local: Local, begin: int, progress: Progress) -> bool:
    codec = codec_of(local.method, local.flags)
    stop = begin + local.stored
    if stop > source.size:
        return False
    if codec is Codec.DEFLATE:
        numbers = _inflated(source, begin, progress)
        local, _ = _with_descriptor(source, local, stop)
        return numbers == (local.crc, local.stored, local.size)
    crc = 0
    for piece in blocks(source, begin, stop) if codec is Codec.STORED else ():
        crc = crc32(piece, crc)
        progress.advance(0)
    local, _ = _with_descriptor(source, local, stop)
    return codec is Codec.STORED and (crc, local.stored) == (local.crc, local.size)


def _with_descriptor(source: Source, local: Local, at: int) -> tuple[Local, int]:
    """The header with the CRC-32 of the data descriptor at ``at``, if there is one, and where that ends."""
    if not local.flags & HAS_DESCRIPTOR:
        return local, at
    data = source.read(at, _DESCRIPTOR_BYTES)
    values = (local.crc, int.from_bytes(data[4:8], "little"), int.from_bytes(data[:4], "little"))
    for crc in values:
        size = form_of(data, crc, local.stored, local.size)
        if size:
            return local._replace(crc=crc), at + size
    return local, at


def _measured_by_data(source: Source, local: Local, begin: int, progress: Progress) -> Local | None:
    """The header with numbers measured from the data; None if the data descriptor does not confirm them.

    An empty member and a deflate stream mark their own end. If the file ends before a stream does, the stored size is
    set to more than is left.
    """
    codec = codec_of(local.method, local.flags)
    numbers: tuple[int, int, int] | None = None
    if codec is Codec.STORED:
        numbers = (0, 0, 0)
    elif codec is Codec.DEFLATE:
        numbers = _inflated(source, begin, progress)
    if numbers is None:
        return None
    crc, stored, size = numbers
    data = source.read(begin + stored, _DESCRIPTOR_BYTES)
    if form_of(data, *numbers):
        return local._replace(crc=crc, stored=stored, size=size)
    cut_off = codec is Codec.DEFLATE and len(data) < max(FORMS)
    return local._replace(stored=source.size - begin + 1) if cut_off else None


def _inflated(source: Source, begin: int, progress: Progress) -> tuple[int, int, int] | None:
    """CRC-32, stored and decoded size of the deflate stream at ``begin``, as far as the file has it.

    None if it is not a deflate stream.
    """
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    crc = size = 0
    at = begin
    try:
        for piece in blocks(source, begin, source.size):
            at += len(piece)
            data, content = piece, b""
            while not decoder.eof and (data or len(content) == BLOCK):
                content = decoder.decompress(data, BLOCK)
                data = decoder.unconsumed_tail
                crc, size = crc32(content, crc), size + len(content)
                progress.advance(0)
            if decoder.eof:
                return crc, at - len(decoder.unused_data) - begin, size
    except zlib.error:
        return None
    return crc, source.size - begin, size
