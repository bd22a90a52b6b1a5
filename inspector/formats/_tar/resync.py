"""The position of a walk, and how it continues without a header: at zeros, at the end of the archive, after damage.

Damage of one kind is gathered and reported once at the end of the walk, with all its places. The content of a member
is in doubt if it ends in zeros that go on behind it, or if the next header is not where the member's size puts it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from msgspec import Struct, field

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import FindingType
from inspector.core.kinds import Kind
from inspector.core.names import brief
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source, is_sparing, zeros_stop
from inspector.core.span import Span
from inspector.formats._kinds import TAR_END
from inspector.formats._tar import codes
from inspector.formats._tar.header import (
    BLOCK,
    EXTENSIONS,
    MAX_REMOTE_SEARCH_BYTES,
    MAX_ZERO_SEARCH_BYTES,
    PLACES,
    ZEROS,
    Header,
    SearchResult,
    aligned,
    first_leading,
    headers_between,
    next_header,
    number,
    padded_stop,
    parse,
)

HEADER_WINDOW_BYTES = 64 * 1024
"""Bytes read at a time when headers are read one by one."""
RECORD_BYTES = 20 * BLOCK
"""The size to which tar programs fill an archive with zeros, unless they are told another."""
_FIRST_TYPE = 0o010000
"""The least mode that has the type of a file in it; permissions alone are less."""
MAX_PLACES_REPORTED = 10_000
"""Places of one kind of damage whose bytes a finding shows; the rest are counted."""


class Stray(Struct, frozen=True):
    """Bytes between or after the members that belong to none."""

    name: str
    kind: Kind
    span: Span
    note: str


class Layout(Struct):
    """What the walk finds besides members, which fill all the rest up to the last of them.

    ``headers`` are the offsets of header blocks in file order; ``unfit`` of them have a wrong checksum. ``doubtful``
    are the members whose content may be wrong, ``recovered`` those without a readable header; both ascending.
    ``looked_inside``: the data of members was read too; ``hides``: others are in it, None where that was not asked.
    """

    strays: list[Stray] = field(default_factory=list)
    headers: array[int] = field(default_factory=lambda: array("Q"))
    unfit: int = 0
    doubtful: list[int] = field(default_factory=list)
    recovered: list[int] = field(default_factory=list)
    looked_inside: bool = False
    hides: bool | None = None


def layout_of(archive: Archive) -> Layout:
    """What the walk found of a tar, or of a range with metadata."""
    found = getattr(archive.detail, "layout", archive.detail)
    return found if isinstance(found, Layout) else Layout()


class Proved(NamedTuple):
    """A member whose header is lost, and whose content ``[start, stop)`` a digest outside the tar proves."""

    path: bytes
    head: int
    start: int
    stop: int


class Recover:
    """What metadata outside the tar says of its members, and what its digests prove: nothing, unless there are some."""

    def recorded(self) -> Sequence[int]:
        """The offsets where members begin, in ascending order."""
        return ()

    def between(self, start: int, stop: int, progress: Progress) -> Sequence[Proved]:  # noqa: ARG002
        """The members that are proved to lie in the bytes ``[start, stop)``, in order and disjoint."""
        return ()

    def at(self, head: int, stop: int, progress: Progress) -> Proved | None:  # noqa: ARG002
        """The member that is proved to lie behind its header at ``head``, perhaps up to the next one at ``stop``."""
        return None


class Cursor:
    """The position ``at`` of a walk. ``ended`` is set when the walk is over.

    It moves forward, but for ``step_back`` into the data of the last member. ``base`` is where the current archive
    begins, of several that are joined.
    """

    def __init__(
        self,
        source: Source,
        emitter: Emitter,
        progress: Progress,
        layout: Layout,
        recover: Recover | None = None,
    ) -> None:
        self.source = source
        self.emitter = emitter
        self.progress = progress
        self.layout = layout
        self.recover = recover or Recover()
        self.at = 0
        self.base = 0
        self.ended = False
        self._damaged: dict[FindingType, tuple[str, list[tuple[tuple[int, int], ...]]]] = {}
        self._buffer = b""
        self._buffer_start = 0

    def block(self, at: int) -> bytes:
        """The block at ``at``; shorter at the end of the file."""
        inner = at - self._buffer_start
        if inner < 0 or inner + BLOCK > len(self._buffer):
            self._buffer, self._buffer_start, inner = self.source.read(at, HEADER_WINDOW_BYTES), at, 0
        return self._buffer[inner : inner + BLOCK]

    def stray(self, name: str, kind: Kind, stop: int, note: str) -> None:
        """Move to ``stop``; the bytes up to it belong to no member."""
        stop = min(stop, self.source.size)
        if stop > self.at:
            self.layout.strays.append(Stray(name, kind, Span(self.at, stop), note))
        self.at = max(self.at, stop)

    def pass_end(self, stop: int, note: str = "Zeros that fill the last record, usually up to 10,240 bytes.") -> None:
        """Move over the blocks that end an archive, and over the padding up to ``stop``."""
        self.stray("end of archive", TAR_END, self.at + 2 * BLOCK, "Two blocks of zeros end the archive.")
        self.stray("padding", Kind.PADDING, stop, note)

    def step_back(self, to: int) -> None:
        """Move back to ``to``, in the data of the last member, which ends there."""
        members = self.emitter.members
        members.stops[-1] = min(members.stops[-1], to)
        self.at = to

    def step_back_to_header(self, at: int, stop: int, where: str, lost: str) -> None:
        """Step back to a header at ``at`` in the data of the last member, which should end at ``stop``, and report it.

        ``where`` says that in words, and ``lost`` what was lost.
        """
        doubts = self.doubt(len(self.emitter.members) - 1)
        self.step_back(at)
        self.damage(
            codes.SHIFT,
            f"The header at byte {at:,} is too early. It lies {in_bytes(stop - at)} inside the data of "
            f"{self.last_name}, which should end {where}: {lost}. Its content is doubtful. Fetch the archive again.",
            (at, at + BLOCK),
            *((low, min(high, at)) for low, high in doubts),
        )

    def lost_before(self, at: int) -> bool:
        """Whether the bytes before ``at`` belong to no member, or to one that ends early."""
        strays, members = self.layout.strays, self.emitter.members
        gap = bool(strays) and strays[-1].span.stop == at and strays[-1].kind is not TAR_END
        return gap or (len(members) > 1 and members.stops[-2] == at)

    def last_member(self) -> int | None:
        """The member that ends at the position, with its padding; None if none does."""
        index = len(self.emitter.members) - 1
        return index if index >= 0 and padded_stop(self.emitter.members, index) == self.at else None

    @property
    def last_name(self) -> str:
        """The name of the last member, for the user."""
        return brief(self.emitter.members.path(len(self.emitter.members) - 1))

    def ends_in_zeros(self) -> bool:
        """Whether a member ends at the position, and the last byte of its data is zero."""
        index, members = self.last_member(), self.emitter.members
        if index is None or members.starts[index] >= members.stops[index]:
            return False
        return self.source.read(members.stops[index] - 1, 1) == b"\0"

    def doubt_zeros(self) -> tuple[tuple[int, int], ...]:
        """Call the content of the member that ends at the position doubtful if it ends in zeros: as ``doubt``."""
        return self.doubt(self.last_member()) if self.ends_in_zeros() else ()

    def doubt(self, index: int | None) -> tuple[tuple[int, int], ...]:
        """Call the content of a member doubtful; returns the span of its data."""
        members, doubtful = self.emitter.members, self.layout.doubtful
        if index is None or members.starts[index] == members.stops[index]:
            return ()
        if not doubtful or doubtful[-1] != index:
            doubtful.append(index)
        return ((members.starts[index], members.stops[index]),)

    def damage(self, what: FindingType, message: str, *spans: tuple[int, int]) -> None:
        """Note damage in a place, whose first span is the damage itself: one finding has all places of a kind."""
        self._damaged.setdefault(what, (message, []))[1].append(spans)

    @property
    def size_tells(self) -> bool:
        """Whether nothing was lost or inserted so far, so that the size of the file is that of whole records."""
        return not self._damaged.keys() & {codes.ZEROS_INSIDE, codes.LONE_ZERO_BLOCK, codes.SHIFT}

    def report_damage(self) -> None:
        """Report what was noted."""
        for what in (codes.ZEROS_INSIDE, codes.LONE_ZERO_BLOCK, codes.SHIFT, codes.DATA_AFTER_END):
            message, places = self._damaged.get(what, ("", []))
            others = [grouped(spans[0][0]) for spans in places[1:7]]
            if others:
                listed = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
                more = count(len(places) - 1, "more place")
                message += f" The same was found in {more}: at byte {listed}."
            if places:
                self.emitter.report(what, message, *chain.from_iterable(places[:MAX_PLACES_REPORTED]))


_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2"}
_MAX_OFFSETS_TRIED = 1_000
"""Recorded offsets that are tried."""


def header_at(cursor: Cursor, at: int) -> Header | None:
    """The header at ``at``; None if there is none.

    A header with a wrong checksum is accepted, with a finding, if it leads exactly to another header.
    """
    block = cursor.block(at)
    if len(block) < BLOCK or block == ZEROS:
        return None
    found = parse(block)
    if found.fits:
        return found
    if not found.ustar or found.size is None or found.size < 0 or not _leads_on(cursor, at, found):
        return None
    cursor.layout.unfit += 1
    cursor.emitter.report(
        codes.CHECKSUM,
        f"The header at byte {at:,} ({brief(found.name)}) does not match its checksum. Some of its bytes are wrong, "
        "but it leads to the next header, so its member is listed.",
        (at, at + BLOCK),
        member=None if found.typeflag in EXTENSIONS else len(cursor.emitter.members),
    )
    return found


def _leads_on(cursor: Cursor, at: int, found: Header) -> bool:
    target = at + BLOCK + aligned(found.stored)
    if target >= cursor.source.size:
        return target == cursor.source.size
    block = cursor.source.read(target, BLOCK)
    return block == ZEROS or (len(block) == BLOCK and parse(block).fits)


# ---- damage --------------------------------------------------------------------------------------------------------


def skip_to_next_header(cursor: Cursor) -> None:
    """Report a missing header, and search for the next one: in the data of the last member, then behind it."""
    start, size = cursor.at, cursor.source.size
    compression = next((name for magic, name in _COMPRESSION_MAGIC.items() if cursor.block(0).startswith(magic)), "")
    if compression and start == 0:
        cursor.emitter.report(codes.COMPRESSED, f"The file is compressed ({compression}).")
        cursor.stray("compressed data", Kind.GARBAGE, size, f"This looks like {compression}.")
        cursor.ended = True
        return
    if step_back_to_header(cursor, start):
        return
    header_like = parse(cursor.block(start)).ustar
    if header_like:
        cursor.layout.headers.append(start)
        cursor.layout.unfit += 1
    result = next_header(cursor.source, start, cursor.progress)
    if result.found and (result.stop - start) % BLOCK and not header_like:
        _report_late_header(cursor, result.stop)
        return
    # If the block is nothing like a header, the damage may have begun before it.
    doubts = () if header_like else cursor.doubt(cursor.last_member())
    at = result.stop
    skipped = f"{in_bytes(at - start)} {verb(at - start, 'is', 'are')} skipped, "
    skipped += "up to the next header or the end of the archive" if at < size else "up to the end of the file"
    if not result.complete:
        skipped = f"The {in_bytes(at - start)} after it have no other header. A check of the archive searches further"
        at, cursor.ended = size, True
    cursor.emitter.report(
        codes.CHECKSUM,
        f"There is no tar header at byte {start:,}: the checksum does not match. {skipped}.",
        (start, start + BLOCK),
        *doubts,
    )
    note = "A header belongs here, but its checksum does not match."
    _pass_gap(cursor, (Stray("garbage", Kind.GARBAGE, Span(start, at), note),))


def _report_late_header(cursor: Cursor, at: int) -> None:
    """Report bytes that were inserted before the header at ``at``, and pass them."""
    start = cursor.at
    late = in_bytes(at - start)
    precedes = (
        f"{late} {verb(at - start, 'precedes', 'precede')} the archive: its first header is at byte {at:,}. Tar "
        "programs expect it at byte 0. Cut them off, or download the archive again."
    )
    message = (
        f"The header at byte {at:,} is {late} too late. Bytes were inserted or lost before it, in the member that ends "
        "there or after it; the content of that member is doubtful. Compare it with another copy."
    )
    note = "No header is here; the next one is not a multiple of 512 bytes away."
    message, note = (message, note) if start else (precedes, "Bytes before the first header.")
    index = cursor.last_member()
    if index is not None:
        _step_back_to_proved(cursor, index, at)
    cursor.damage(codes.SHIFT, message, (start, at), *cursor.doubt(index))
    _pass_gap(cursor, (Stray("garbage", Kind.GARBAGE, Span(cursor.at, at), note),))


def _step_back_to_proved(cursor: Cursor, index: int, stop: int) -> None:
    """Step back to a member that is proved to begin in the data of the last one, unless that is proved itself."""
    members, progress = cursor.emitter.members, cursor.progress
    if cursor.recover.at(members.head_of(index), stop, progress) is None:
        first = next(iter(cursor.recover.between(members.starts[index], stop, progress)), None)
        if first is not None and first.head < cursor.at:
            cursor.step_back(first.head)


def step_back_to_header(cursor: Cursor, stop: int) -> bool:
    """Step back to a header in the data of the last member, if bytes of that were lost; ``stop`` is where it ends.

    Headers of a tar that is the member do not count: those that follow count only if they lead exactly to a header at
    ``stop`` or behind it, or to the zeros that end the file.
    """
    index = len(cursor.emitter.members) - 1
    members = cursor.emitter.members
    if index < 0 or cursor.at != min(padded_stop(members, index), cursor.source.size):
        return False
    start = members.starts[index]
    at = _lost_header(cursor, start, stop)
    if at is None:
        return False
    where = "after the end of the file" if stop >= cursor.source.size else f"at byte {stop:,}"
    cursor.step_back_to_header(at, stop, where, "bytes of that member, and perhaps of others, were lost")
    return True


def _lost_header(cursor: Cursor, start: int, stop: int) -> int | None:
    """The first header in ``[start, stop)`` from which headers lead on to ``stop``; None if there is none."""
    source = cursor.source
    low = max(start, stop - (MAX_REMOTE_SEARCH_BYTES if is_sparing(source) else MAX_ZERO_SEARCH_BYTES))
    if stop <= low or (low > start and parse(source.read(start, BLOCK).ljust(BLOCK, b"\1")).fits):
        return None
    targets = {at: at + BLOCK + aligned(size) for at, size in headers_between(source, low, stop, cursor.progress)}
    nested = start
    while nested in targets:
        nested = targets[nested]
    last = max(targets, default=0)
    behind = {at: target for at, target in targets.items() if at >= nested}
    return first_leading(behind, (each for each in behind.values() if each > last and _goes_on(cursor, each, stop)))


def _goes_on(cursor: Cursor, at: int, stop: int) -> bool:
    """Whether a header is at ``at``, or the zeros that end the file."""
    source = cursor.source
    block = source.read(at, BLOCK)
    if len(block) < BLOCK:
        return False
    if any(block):
        return at >= stop and parse(block).fits
    end = min(source.size, max(stop, at + 2 * BLOCK))
    return source.size - at >= 2 * BLOCK and zeros_stop(source, at, end, cursor.progress) == end


def _pass_gap(cursor: Cursor, strays: Sequence[Stray]) -> None:
    """Pass adjacent strays from the position on; members that are proved to lie in them are listed."""
    stop = strays[-1].span.stop
    for path, head, start, end in cursor.recover.between(cursor.at, stop, cursor.progress):
        _pass_strays(cursor, strays, head)
        cursor.layout.recovered.append(cursor.emitter.members.append(path, start, end, head=head))
        cursor.at = min(stop, start + aligned(end - start))
    _pass_strays(cursor, strays, stop)


def _pass_strays(cursor: Cursor, strays: Sequence[Stray], stop: int) -> None:
    for each in strays:
        if cursor.at < each.span.stop:
            cursor.stray(each.name, each.kind, min(stop, each.span.stop), each.note)


# ---- the end -------------------------------------------------------------------------------------------------------


def report_cut_header(cursor: Cursor, block: bytes) -> None:
    """Report that the file ends inside a block that should be a header."""
    zero = not any(block)
    size = cursor.source.size
    if not zero and step_back_to_header(cursor, cursor.at):
        return
    cursor.emitter.report(
        codes.TRUNCATED_HEADER,
        f"The {'block of zeros' if zero else 'header'} at byte {cursor.at:,} is cut off: "
        f"only {len(block)} of {BLOCK} bytes are in the file.",
        (cursor.at, size),
        *(cursor.doubt_zeros() if zero else ()),
    )
    kind = Kind.PADDING if zero else Kind.GARBAGE
    cursor.stray("cut-off block", kind, size, "The file ends inside this block.")
    cursor.ended = True


def pass_zeros(cursor: Cursor) -> None:
    """Handle a block of zeros: the end of the archive, or a hole in it. What follows the zeros tells."""
    source, start = cursor.source, cursor.at
    most = MAX_REMOTE_SEARCH_BYTES if is_sparing(source) else MAX_ZERO_SEARCH_BYTES
    limit = min(source.size, start + most)
    stop = zeros_stop(source, start, limit, cursor.progress)
    if stop == source.size:
        _end(cursor)
    elif stop == limit:
        _pass_far_zeros(cursor, limit)
    elif stop == source.size - 1 and stop - start >= 2 * BLOCK - 1 and source.read(stop, 1) == b"\n":
        message = "The zeros that end the archive end with a line feed, as archives of Plexus may. Nothing follows it."
        cursor.emitter.report(codes.END_SHORT, message, (stop, source.size))
        cursor.stray("end of archive", TAR_END, source.size, "Blocks of zeros, and a line feed.")
        cursor.ended = True
    else:
        _pass_zeros_before_bytes(cursor, stop, limit)


def _end(cursor: Cursor) -> None:
    """Handle zeros up to the end of the file."""
    start, size = cursor.at, cursor.source.size
    cursor.ended = True
    # The two blocks that end an archive may begin a record of their own.
    if (size - start) % BLOCK and size - start < RECORD_BYTES + 2 * BLOCK and _report_odd_end(cursor):
        cursor.ended = False
        return
    _report_lost_end(cursor)
    if size - start < 2 * BLOCK:
        cursor.emitter.report(
            codes.END_SHORT,
            f"The archive ends with {in_bytes(size - start)} of zeros instead of two blocks of {BLOCK} bytes.",
            (start, size),
        )
        cursor.stray("end of archive", TAR_END, size, "Two complete blocks of zeros belong here.")
        return
    used = start - cursor.base + 2 * BLOCK
    record = cursor.base + -(-used // RECORD_BYTES) * RECORD_BYTES
    if size > max(record, start + RECORD_BYTES):
        message = (
            f"The archive ends with {in_bytes(size - start)} of zeros, more than fill its last record. Members may "
            "have been there, for example if a download left a hole."
        )
        doubts, what = cursor.doubt_zeros(), codes.ZEROS_AFTER_END
        if doubts:
            message += f" {cursor.last_name}, the last member, ends in zeros too, so its content is doubtful."
            what = codes.ZEROS_INSIDE
        cursor.emitter.report(what, message, (start, size), *doubts)
    cursor.pass_end(size)


def is_usual_end(at: int, size: int) -> bool:
    """Whether zeros from ``at`` to the end of a file are as tar programs write them: two blocks, or up to a record."""
    zeros = size - at
    records = (RECORD_BYTES, BLOCK, *(BLOCK << power for power in range(3, 12)))
    return any(size % record == 0 and 2 * BLOCK <= zeros < record + 2 * BLOCK for record in records)


def _report_lost_end(cursor: Cursor) -> None:
    """Report a member that ends in zeros before an end that no tar program writes: it took those of the end."""
    start, size = cursor.at, cursor.source.size
    if cursor.base or not cursor.size_tells:
        return  # the size of the file tells nothing
    if is_usual_end(start, size) or size - start >= RECORD_BYTES or not cursor.ends_in_zeros():
        return
    cursor.damage(
        codes.SHIFT,
        f"The archive ends with {in_bytes(size - start)} of zeros, which is no whole record, and "
        f"{cursor.last_name}, the member before them, ends in zeros too. Bytes of it were lost, so that its "
        "size reaches into those of the end; or the end is cut off. Its content is doubtful.",
        (start, size),
        *cursor.doubt_zeros(),
    )


def _report_odd_end(cursor: Cursor) -> bool:
    """Report bytes lost or inserted in the last member, if zeros at the end that are not whole blocks show it.

    Returns whether a header was found in its data, so that the walk goes on there.
    """
    index, start = cursor.last_member(), cursor.at
    if index is None:
        return False
    members = cursor.emitter.members
    padding = cursor.source.read(members.stops[index], start - members.stops[index])
    in_zeros = cursor.ends_in_zeros()
    if (in_zeros or any(padding)) and step_back_to_header(cursor, start):
        return True
    if in_zeros:
        why = "The member before them ends in zeros, so bytes of it were probably lost"
    elif any(padding):
        why = "The padding of the member before them is not zeros, so bytes were probably inserted in it"
    else:
        return False
    size = cursor.source.size
    cursor.damage(
        codes.SHIFT,
        f"The archive ends with {in_bytes(size - start)} of zeros, which are not whole blocks. {why}. Its content is "
        "doubtful.",
        (start, size),
        *cursor.doubt(index),
    )
    return False


def recorded_after(cursor: Cursor, start: int) -> int | None:
    """The first header after ``start`` at an offset recorded outside the tar; None if there is none."""
    recorded = cursor.recover.recorded()
    first = bisect_right(recorded, start)
    for at in recorded[first : first + _MAX_OFFSETS_TRIED]:
        block = cursor.source.read(at, BLOCK)
        if len(block) == BLOCK and parse(block).fits:
            return at
    return None


def _pass_far_zeros(cursor: Cursor, limit: int) -> None:
    """Handle zeros that go on up to ``limit``, which is as far as is searched."""
    start, size = cursor.at, cursor.source.size
    recorded = recorded_after(cursor, start)
    if recorded is not None and recorded >= limit:
        # Very many zeros would take hours to read; the price is members between here and that header.
        cursor.damage(
            codes.ZEROS_INSIDE,
            f"Zeros inside the archive at byte {start:,} end it for other programs. They fill the first "
            f"{in_bytes(limit - start)} of {in_bytes(recorded - start)}; the metadata says "
            f"that a member begins at byte {recorded:,}, and there is a header.",
            (start, recorded),
        )
        cursor.stray("zeros", Kind.PADDING, recorded, "Zeros inside the archive: members may have been lost here.")
        return
    cursor.ended = True
    cursor.pass_end(limit, "Zeros after the end of the archive.")
    again = " A check of the archive searches further." if is_sparing(cursor.source) else ""
    cursor.emitter.report(
        codes.DATA_AFTER_END,
        f"{in_bytes(size - limit)} {verb(size - limit, 'is', 'are')} too far after the end of the archive to be read. "
        f"The {in_bytes(limit - start)} before them are zeros, more than fill a record; the search for members stopped "
        f"there.{again}",
        (limit, size),
    )
    cursor.stray("bytes after the end", Kind.GARBAGE, size, "Too far after the end to be read.")


def _pass_zeros_before_bytes(cursor: Cursor, stop: int, limit: int) -> None:
    """Handle zeros that end at ``stop``, before other bytes; headers are searched for up to ``limit``."""
    start, size = cursor.at, cursor.source.size
    block = start + (stop - start) // BLOCK * BLOCK
    result = next_header(cursor.source, block, cursor.progress, limit)
    if not result.found:
        _pass_bytes_after_end(cursor, block, result.stop if result.complete else size, searched=result)
    elif result.stop <= stop and _is_joined(cursor, result.stop):
        cursor.damage(
            codes.DATA_AFTER_END,
            f"{in_bytes(size - result.stop)} follow the end of the archive. A tar header comes first, so another "
            f"archive is joined to it at byte {result.stop:,}. Its members are listed too; most programs stop before "
            "it, unless told otherwise (tar -i).",
            (result.stop, result.stop + BLOCK),
        )
        cursor.pass_end(result.stop)
        cursor.base = result.stop
    elif step_back_to_header(cursor, start):
        return
    else:
        _pass_hole(cursor, block, result.stop)


def _is_joined(cursor: Cursor, at: int) -> bool:
    """Whether a header at ``at``, after zeros only, is where another archive would begin.

    Where a block of data before the zeros is zeros, a hole more probably reaches into the member.
    """
    zeros, index, members = at - cursor.at, cursor.last_member(), cursor.emitter.members
    at_record = (at - cursor.base) % RECORD_BYTES == 0 and 2 * BLOCK <= zeros < RECORD_BYTES + 2 * BLOCK
    if zeros != 2 * BLOCK and not at_record:
        return False
    start, stop = (0, 0) if index is None else (members.starts[index], members.stops[index])
    return start >= stop or any(cursor.source.read(max(start, stop - BLOCK), min(BLOCK, stop - start)))


def _pass_hole(cursor: Cursor, block: int, at: int, what: str = "the next header is") -> None:
    """Report zeros inside the archive, which end in the block at ``block``; ``what`` is at ``at``."""
    start = cursor.at
    zeros = max(block, start + BLOCK) if at != block else block
    if at - start == BLOCK:
        cursor.damage(
            codes.LONE_ZERO_BLOCK,
            f"A single block of zeros at byte {start:,} is inside the archive. Many programs stop reading here. A "
            "header may have been overwritten.",
            (start, at),
            *cursor.doubt_zeros(),
        )
        note = "A single block of zeros does not end a tar."
        _pass_gap(cursor, (Stray("zero block", Kind.PADDING, Span(start, at), note),))
        return
    doubts = cursor.doubt(cursor.last_member()) if (at - start) % BLOCK else cursor.doubt_zeros()
    more = f" The content of {cursor.last_name}, which ends there, is doubtful." if doubts else ""
    lost = f", after {in_bytes(at - zeros)} that belong to no member" if at > zeros else ""
    cursor.damage(
        codes.ZEROS_INSIDE,
        f"Zeros inside the archive at byte {start:,} end it for other programs. They fill {in_bytes(zeros - start)}; "
        f"{what} at byte {at:,}{lost}. Members may have been lost here.{more}",
        (start, zeros),
        *doubts,
    )
    note = "Zeros inside the archive: members may have been lost here."
    _pass_gap(
        cursor,
        (
            Stray("zeros", Kind.PADDING, Span(start, zeros), note),
            Stray("garbage", Kind.GARBAGE, Span(zeros, at), "The rest of a member whose header is lost."),
        ),
    )


def _pass_bytes_after_end(cursor: Cursor, block: int, stop: int, *, searched: SearchResult) -> None:
    """Handle bytes without a header, from the block at ``block`` on, that follow zeros."""
    start, size = cursor.at, cursor.source.size
    unused = _is_unused_record(cursor, block)
    irregular = not unused and (block - start < 2 * BLOCK or not _is_joined(cursor, block))
    if irregular and stop < size:
        # The end of the archive follows, so the zeros are not its end.
        _pass_hole(cursor, block, stop, "the archive ends")
        return
    cursor.ended = True
    if block - start < 2 * BLOCK:
        cursor.damage(
            codes.LONE_ZERO_BLOCK,
            f"A single block of zeros at byte {start:,} is inside the archive, and no header follows it. A header may "
            "have been overwritten.",
            (start, block),
            *cursor.doubt_zeros(),
        )
        cursor.stray("zero block", Kind.PADDING, block, "A single block of zeros does not end a tar.")
    else:
        cursor.pass_end(block)
    far = "" if searched.complete else f" The search for members stopped at byte {searched.stop:,}."
    low, high = block, size
    if unused:
        rest = cursor.source.read(block, size - block)
        low, high = size - len(rest.lstrip(b"\0")), block + len(rest.rstrip(b"\0"))
        far += (
            " The tar of AIX fills its last record with what was in memory, and its headers look like those here; the "
            "rest of a member whose header is lost would look the same."
        )
    cursor.emitter.report(
        codes.DATA_AFTER_END,
        f"{in_bytes(high - low)} {verb(high - low, 'follows', 'follow')} the end of the archive. They hold no tar "
        f"header.{far}",
        (low, high),
    )
    _pass_gap(cursor, (Stray("garbage", Kind.GARBAGE, Span(block, size), "Bytes after the end of the archive."),))


def _is_unused_record(cursor: Cursor, block: int) -> bool:
    """Whether bytes from ``block`` on, behind zeros, are in the last record of a writer that leaves there what it had.

    Such a writer, of the System V family, records the type of a file in the mode too (``100644``), and ends numbers
    with a space and a NUL. What follows the end is not defined (POSIX.1-2017, pax, ustar Interchange Format).
    """
    start, size = cursor.at, cursor.source.size
    end = cursor.base + -(-(start + 2 * BLOCK - cursor.base) // RECORD_BYTES) * RECORD_BYTES
    if block - start < 2 * BLOCK or size != end or not cursor.layout.headers:
        return False
    mode = cursor.source.read(cursor.layout.headers[-1], BLOCK)[PLACES["mode"]]
    return mode.endswith(b" \0") and (number(mode) or 0) >= _FIRST_TYPE


def report_missing_end(cursor: Cursor) -> None:
    """Report that the file ends without the end blocks."""
    size = cursor.source.size
    if not size:
        message = "The file is empty: it lacks the two blocks of zeros that end a tar."
        cursor.emitter.report(codes.EMPTY, message, (size, size))
        return
    doubts = cursor.doubt_zeros()
    more = f" {cursor.last_name} ends in zeros, which may be those: it is doubtful." if doubts else ""
    cursor.emitter.report(
        codes.END_MISSING,
        "The two blocks of zeros that end a tar are missing. It may be cut off, and members lost." + more,
        (size, size),
        *doubts,
    )
