"""Probe, decode and check a tar archive, read its members, list the checksums of headers (POSIX.1-2017, pax, ustar).

Data is padded to whole blocks of 512 bytes. ``chksum`` is the sum of all bytes of a header block with its own 8 bytes
taken as spaces; it is the only checksum of a tar, which records nothing of the data.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.field import Computed
from inspector.core.format import MemberError, MemberMetadata, ProbeResult
from inspector.core.member import HOLES, SPECIAL, Member, Members
from inspector.core.names import brief, visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.pieces import RepeatedSource
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks, blocks_of
from inspector.core.span import Span
from inspector.core.verdict import Checksum, Verdict
from inspector.formats._tar import codes
from inspector.formats._tar.extension import MAX_BODY_BYTES, Extension, MapFault, Overrides, sparse_map
from inspector.formats._tar.fields import Extras, archive_fields, no_extras
from inspector.formats._tar.header import (
    BLOCK,
    CHKSUM,
    EXTENSIONS,
    LINKS,
    PLACES,
    TYPES,
    aligned,
    checksums,
    number,
    padded_stop,
    parse,
    text,
)
from inspector.formats._tar.resync import Layout, Recover, layout_of
from inspector.formats._tar.swallowed import Inside, may_search
from inspector.formats._tar.walk import MAX_EXTENSIONS, Walk

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair


_HARD_LINK = b"1"
MAX_SPARSE_BYTES = 1 << 40
"""The size of the largest sparse member that is read, with its holes."""
_MTIME = PLACES["mtime"]


def probe(source: Source) -> ProbeResult:
    """Judge ``source`` by its first two blocks.

    Two blocks of zeros are an empty tar, but also the start of other files: they only count with the suffix of a tar.
    """
    data = source.read(0, 2 * BLOCK)
    if len(data) < BLOCK:
        return ProbeResult.NO
    if not any(data):
        named = source.name.lower().endswith(".tar")
        return ProbeResult.POSSIBLE if named and len(data) == 2 * BLOCK else ProbeResult.NO
    found = parse(data[:BLOCK])
    return ProbeResult.CERTAIN if found.fits or found.ustar else ProbeResult.NO


def decode(
    source: Source,
    emitter: Emitter,
    progress: Progress,
    *,
    digest: str = "",
    extras: Extras = no_extras,
    recover: Recover | None = None,
) -> None:
    """Emit members, fields and findings of a tar. If it raises SourceError or Cancelled, the fields so far are emitted.

    ``digest`` names the digest that metadata outside the archive records for its members; its column is left empty
    here. ``extras`` makes further fields of a member. ``recover`` finds members whose header is lost, and tells where
    members begin according to that metadata: a header there is found however far zeros before it reach.
    """
    emitter.begin_members(_columns(digest))
    layout = Layout()
    emitter.archive.detail = layout
    try:
        layout.looked_inside = may_search(source, thorough=emitter.archive.thorough)
        Walk(source, emitter, progress, layout, recover, looks_inside=layout.looked_inside).run()
    finally:
        emitter.lay(archive_fields(source, emitter.members, layout, extras))
    emitter.archive.checksums = header_checksums(source, emitter.members, layout.headers)


def _columns(digest: str) -> Members:
    return Members(digest=digest, digest_digits=16 if digest else 0, sizes=True, heads=True, marks=True)


def hides_members(archive: Archive, progress: Progress) -> bool:
    """Whether members have swallowed others that decoding, which reads headers only, did not see."""
    layout = layout_of(archive)
    if layout.hides is None:
        layout.hides = _may_hide(archive) and _has_others(archive, layout, progress)
    return layout.hides


def _may_hide(archive: Archive) -> bool:
    return not layout_of(archive).looked_inside and may_search(archive.source, thorough=True)


def _has_others(archive: Archive, layout: Layout, progress: Progress) -> bool:
    """Whether decoding that reads the data of members too finds headers that this one did not."""
    again, found = Archive(archive.source, archive.format, archive.title, ()), Layout()
    again.members = _columns("")
    Walk(archive.source, Emitter(again), progress, found, looks_inside=True).run()
    return not frozenset(found.headers) <= frozenset(layout.headers)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member. Raises MemberError if it is not a regular file or bytes are missing."""
    member = archive.members[index]
    name = visible(member.path)
    if member.marks & SPECIAL:
        raise MemberError(f"{name} is a link or a device, which has no content of its own.")
    if not member.readable:
        raise MemberError(f"The header of {name} does not give its size, or not where its bytes belong.")
    left = member.size
    for piece in (
        _with_holes(archive.source, member) if member.marks & HOLES else blocks_of(archive.source, member.spans)
    ):
        left -= len(piece)
        yield piece
        progress.advance(len(piece))
    if left:
        raise MemberError(f"{name} is cut off: {grouped(member.size - left)} of {in_bytes(member.size)} are there.")


def _with_holes(source: Source, member: Member) -> Iterator[bytes]:
    """The content of a sparse file; it ends where stored bytes are missing. Raises MemberError."""
    name = visible(member.path)
    if member.size > MAX_SPARSE_BYTES:
        raise MemberError(f"{name} has {in_bytes(member.size)} with its holes; more than 1 TiB is not read.")
    own = _own_header(source, member.head)
    if own is None:
        raise MemberError(f"The header of {name} is no longer there.")
    (data,) = member.spans
    place, _, overrides, _ = own
    found = sparse_map(source, (member.head, place), overrides, data, member.size)
    if isinstance(found, MapFault):
        raise MemberError(f"The map of the sparse file {name} {found.problem}.")
    at, place = 0, found.start
    for offset, size in found.extents:
        yield from blocks(RepeatedSource(b"\0", offset - at), 0, offset - at)
        at, place = offset, place + size
        for piece in blocks(source, place - size, place):
            at += len(piece)
            yield piece
        if at < offset + size:
            return
    yield from blocks(RepeatedSource(b"\0", member.size), at, member.size)


def _own_header(source: Source, head: int) -> tuple[int, bytes, Overrides, int | None] | None:
    """The header of the member whose first header is at ``head``. Global extended headers count as its own.

    It is where it begins, its block, and of the extended headers before it what they override and the time.
    """
    overrides, at = Overrides(), head
    changed: int | None = None
    for _ in range(MAX_EXTENSIONS):
        block = source.read(at, BLOCK) if at >= 0 else b""
        if len(block) < BLOCK:
            return None
        header = parse(block)
        if header.typeflag not in EXTENSIONS:
            return at, block, overrides, changed
        body = source.read(at + BLOCK, header.stored) if header.stored <= MAX_BODY_BYTES else b""
        extension = Extension(header.typeflag, body)
        overrides.apply(extension)
        changed = _mtime(extension) if header.typeflag in b"xX" else changed
        at += BLOCK + aligned(header.stored)
    return None


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """Links, what kind of device it is, and modification times."""
    own = _own_header(archive.source, archive.members[index].head)
    if own is None:
        return MemberMetadata()
    _, block, overrides, changed = own
    header = parse(block)
    typeflag = header.typeflag
    target = overrides.target(header.link) if typeflag in LINKS else None
    what = f"a {TYPES.get(typeflag, 'link or a device')}" + (f" to {visible(target)}" if target is not None else "")
    return MemberMetadata(
        target if typeflag == _HARD_LINK else None,
        number(block[_MTIME]) if changed is None else changed,
        f"{what}, which is not extracted",
        target,
    )


def _mtime(extension: Extension) -> int | None:
    """The ``mtime`` in a PAX header, rounded down; None if there is none or it is not a number."""
    for record in extension.records:
        if record.key == b"mtime":
            try:
                return math.floor(float(record.value))
            except (ValueError, OverflowError):
                return None
    return None


# ---- what a check reads ----------------------------------------------------------------------------------------------

WINDOW = 512 * 1024
"""Bytes read at a time: with fewer, reading costs more than hashing; more do not fit the processor's cache."""


def groups(members: Members) -> Iterator[tuple[int, int]]:
    """Yield half-open groups of members in order: neighbours within WINDOW bytes, or a single larger member."""
    first = 0
    while first < len(members):
        last = max(first + 1, bisect_right(members.stops, members.starts[first] + WINDOW, lo=first))
        yield first, last
        first = last


def is_v7(archive: Archive, index: int) -> bool:
    """Whether the header of a member has no magic: programs of that time wrote whole blocks of their buffer."""
    at = archive.members.head_of(index) + PLACES["magic"].start
    return not archive.source.read(at, 6).strip(b"\0")


class Padding:
    """Reports padding between the end of a member's data and the next block that is not zeros.

    Without a digest the data before it is doubtful, because what changed the padding may have changed that too.
    """

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._old, self._new = (
            CappedFindings(emitter, what, "paddings that are not all zeros")
            for what in (codes.PADDING_V7, codes.PADDING)
        )

    def look(self, index: int, padding: bytes) -> None:
        """Check ``padding``, the bytes after the data of the member ``index``."""
        if not padding.strip(b"\0"):
            return
        members, old = self._emitter.members, is_v7(self._emitter.archive, index)
        stop, found = members.stops[index], self._old if old else self._new
        if not old and self._emitter.archive.verdict(index) is Verdict.NOT_CHECKABLE:
            self._emitter.judge(index, Verdict.DOUBTFUL)
        if not found.full():
            why = "It has changed, or it hides something."
            why = "Programs that write such headers leave in it what was in their buffer." if old else why
            what = f"The padding after {brief(members.path(index))}, {in_bytes(len(padding))}, is not all zeros."
            found.add(f"{what} {why}", ((stop, stop + len(padding)),), index)

    def close(self) -> None:
        """Report how many were not reported one by one."""
        self._old.close()
        self._new.close()


def check_padding(archive: Archive, emitter: Emitter, progress: Progress, doubtful: Iterable[int]) -> None:
    """Check the padding of all members; data is not checkable, and that of large members is not read.

    The members ``doubtful`` are so called instead.
    """
    members, source = archive.members, archive.source
    padding = Padding(emitter)
    progress.begin("Reading padding", source.size)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    for index in doubtful:
        emitter.judge(index, Verdict.DOUBTFUL)
    done = 0
    for first, last in groups(members):
        end = padded_stop(members, last - 1)
        start = members.stops[first]
        data = source.read(start, end - start) if end > start else b""
        for index in range(first, last):
            stop = members.stops[index]
            padding.look(index, data[stop - start : padded_stop(members, index) - start])
        progress.advance(min(end, source.size) - done)
        done = min(end, source.size)
    padding.close()
    progress.advance(source.size - done)


def doubt(archive: Archive, index: int, progress: Progress) -> str:
    """Whether the padding of a member is not all zeros, as is usual, or other members may be in its data."""
    members, layout = archive.members, layout_of(archive)
    start, stop = members.stops[index], padded_stop(members, index)
    if index in layout.doubtful:
        return "its header is damaged, or bytes before or in it were lost or inserted"
    if archive.source.read(start, stop - start).strip(b"\0") and not is_v7(archive, index):
        return "the padding after it is not all zeros, so its bytes may have changed too"
    hidden = _may_hide(archive) and Inside(archive.source, progress).headers(members.starts[index], start)
    return "other members are in what counts as the data of one" if hidden and hides_members(archive, progress) else ""


def headers_summary(archive: Archive) -> str:
    """Sum up the checksums of the headers."""
    layout = layout_of(archive)
    if not layout.headers:
        return "It has no members."
    total, unfit = len(layout.headers), layout.unfit
    fitting = (
        f"the checksums of all {count(total, 'header')} match" if total > 1 else "the checksum of its header matches"
    )
    if unfit:
        fitting = f"{unfit:,} of {count(total, 'header checksum')} {'does' if unfit == 1 else 'do'} not match"
    members = count(len(archive.members), "member")
    doubtful = len(layout.doubtful)
    doubts = f" The content of {count(doubtful, 'member')} is doubtful." if doubtful else ""
    return f"{fitting[0].upper()}{fitting[1:]}; tar records no checksum of the data of {members}.{doubts}"


def header_checksums(source: Source, members: Members, headers: Sequence[int]) -> Computed[Checksum]:
    """The checksums of the header blocks at ``headers``, in file order. A row reads its block on access."""
    return Computed(len(headers), lambda row: _header_checksum(source, members, headers[row]))


def _header_checksum(source: Source, members: Members, at: int) -> Checksum:
    block = source.read(at, BLOCK)
    fits = parse(block).fits
    field = block[CHKSUM]
    stored, computed = number(field), checksums(block)[0]
    place = Span(at + CHKSUM.start, at + CHKSUM.stop)
    heads = members.heads
    assert heads is not None
    near = bisect_right(heads, at) - 1
    member = near if near >= 0 and at < members.starts[near] else None
    return Checksum(
        "checksum of a header" if member is None else f"checksum of the header of {visible(members.path(member))}",
        "sum of bytes",
        field.hex() if stored is None else f"{stored:x}",
        # Old programs summed signed bytes: if that sum matches, it is the one they computed.
        f"{stored if fits else computed:x}",
        (place,),
        (Span(at, place.start), Span(place.stop, at + BLOCK)),
        (place,),
        Verdict.VERIFIED if fits else Verdict.MISMATCH,
        "Not an octal number." if stored is None else f"In octal {visible(text(field).strip(b' '))}.",
        member,
    )


# ---- a plain tar -----------------------------------------------------------------------------------------------------


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Check the padding. Decoding has compared the checksums of headers, and no others are recorded."""
    check_padding(archive, emitter, progress, layout_of(archive).doubtful)
    return headers_summary(archive)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs. Nothing shows whether members are missing at the end, so rewriting it needs confirming."""
    # Listing repairs nothing.
    from inspector.formats._tar.repair import repair_end, repair_headers, salvage

    progress.begin("Planning repairs", len(archive.members), "members")
    saved = salvage(archive, layout_of(archive))
    return [*repair_headers(archive), *repair_end(archive, whole=False), *((saved,) if saved is not None else ())]
