"""Read an ar archive from header to header, and find the next one where a size or a header is damaged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.format import MemberError, MemberMetadata, ProbeResult
from inspector.core.kinds import Kind
from inspector.core.member import SPECIAL, UNREADABLE, Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.formats.ar.fields import Entries, archive_fields, symbols_of
from inspector.formats.ar.layout import (
    BAD_MAGIC,
    BAD_SIZE,
    CUT,
    END,
    HEADER,
    HEADER_END,
    IS_THIN,
    LONG_NAME,
    MAGIC,
    NAME_AT,
    NAME_SIZE,
    NAME_TABLE,
    NO_HEADER,
    NUMBER,
    PADDING,
    SIZE_AT,
    SYMBOL_TABLE,
    SYMBOLS,
    THIN,
    decimal,
    is_header,
    wrong_number,
)

MAX_NAME_BYTES = 4096
"""Longer names, of BSD or in the table of long names, are cut."""
MAX_SHOWN_BYTES = 200
"""Bytes of a name that a finding shows."""
ELSEWHERE = "a file beside this thin archive, which only names it"
SEARCH_BYTES = 1 << 18
"""Bytes looked through at a time for the next header."""
PROGRESS_BYTES = 1 << 14
"""Headers no further apart are no progress to show."""
NEAR_BYTES = 4096
"""Headers no further apart are read together."""
MAX_HEADER_SEARCH_BYTES = 256 << 20
"""A header is searched within so many bytes; what follows an archive may have no end."""


def probe(source: Source) -> ProbeResult:
    """Judge ``source`` by its first 8 bytes."""
    return ProbeResult.CERTAIN if source.read(0, len(MAGIC)) in (MAGIC, THIN) else ProbeResult.NO


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Emit members, fields and findings. If it raises SourceError or Cancelled, the fields so far are emitted."""
    emitter.begin_members(Members(sizes=True, heads=True, marks=True))
    entries = emitter.archive.detail = Entries()
    progress.begin("Reading headers", source.size)
    try:
        _Walk(source, emitter, progress, entries).run()
    finally:
        emitter.lay(archive_fields(source, emitter.members, entries))


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member. Raises MemberError for one of a thin archive, or if bytes are missing."""
    member = archive.members[index]
    name = visible(member.path)
    if member.marks & SPECIAL:
        raise MemberError(f"{name} is {ELSEWHERE}.")
    if not member.readable:
        raise MemberError(f"The header of {name} does not give its size.")
    left = member.size
    for piece in blocks(archive.source, *member.spans[0]):
        left -= len(piece)
        yield piece
        progress.advance(len(piece))
    if left > 0:
        raise MemberError(f"{name} is cut off: {grouped(member.size - left)} of {in_bytes(member.size)} are there.")


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """The modification time."""
    data = archive.source.read(archive.members[index].head, HEADER.size)
    return MemberMetadata(changed=decimal(HEADER.piece("ar_date", data)), special=ELSEWHERE)


class _Walk:
    def __init__(self, source: Source, emitter: Emitter, progress: Progress, entries: Entries) -> None:
        self._source, self._emitter, self._progress, self._entries = source, emitter, progress, entries
        self._thin = source.read(0, len(THIN)) == THIN
        self._names = Span(0, 0)
        self._spare_name_bytes = source.size
        """Bytes that names elsewhere than in headers may still have: each stands once, but all may claim the same."""
        self._unnamed = CappedFindings(emitter, LONG_NAME, "headers without a name that can be read")
        self._numbers = CappedFindings(emitter, NUMBER, "headers with a number that is none")
        self._long_names = CappedFindings(emitter, NAME_SIZE, "headers with too long a name")
        self._near, self._near_at = b"", 0
        self._follows = -1

    def run(self) -> None:
        """Read everything."""
        size, at, shown = self._source.size, len(MAGIC), 0
        if self._thin:
            self._emitter.archive.title = "Unix ar archive (thin)"
            message = "This is a thin archive: it only names its members, which are files beside it."
            self._emitter.report(IS_THIN, message, (0, at))
        elif self._source.read(0, at) != MAGIC:
            self._emitter.report(BAD_MAGIC, "The first 8 bytes are not those of an ar archive.", (0, at))
        while at < size:
            data = self._bytes(at)
            if at == self._follows or is_header(data) or self._is_likely(at, data):
                at = self._entry(at, data)
            else:
                start, at = at, self._next_header(at)
                where = "and no other is found" if at == size else f"and the next one begins at byte {at:,}"
                self._entries.strays.append(Span(start, at))
                self._emitter.report(NO_HEADER, f"There is no header at byte {start:,}, {where}.", (start, at))
            if at >= min(shown, size):
                shown = at + PROGRESS_BYTES
                self._progress.advance(min(at, size) - self._progress.done)
        for capped in (self._unnamed, self._numbers, self._long_names):
            capped.close()
        self._check_symbols()

    def _bytes(self, at: int, size: int = HEADER.size) -> bytes:
        """The bytes of a header or a name at ``at``; of members that are small, many are read at once."""
        start = at - self._near_at
        if not 0 <= start <= len(self._near) - size:
            is_near = 0 <= start <= len(self._near) + NEAR_BYTES
            self._near, self._near_at, start = self._source.read(at, SEARCH_BYTES if is_near else size), at, 0
        return self._near[start : start + size]

    def _is_likely(self, at: int, data: bytes) -> bool:
        """Whether a header with a wrong end or size stands here: all else in it fits, or what follows it."""
        numbers = [decimal(HEADER.piece(name, data)) for name in ("ar_date", "ar_uid", "ar_gid")]
        if len(data) < HEADER.size or None in numbers or HEADER.value("ar_mode", data) is None:
            return False
        return HEADER.piece("ar_fmag", data) == END or self._ends_well(at + HEADER.size + (_size(data) or 0))

    def _ends_well(self, stop: int) -> bool:
        """Whether the archive ends at ``stop``, or a header follows there."""
        after = stop + (stop & 1)
        if self._source.size in (stop, after):
            return True
        if is_header(self._bytes(after)):
            self._follows = after
        return self._follows == after

    def _next_header(self, at: int) -> int:
        """The offset of the next header from ``at`` on, or the size of the archive."""
        back = HEADER.size - len(END)
        for start in range(at, min(self._source.size, at + MAX_HEADER_SEARCH_BYTES), SEARCH_BYTES):
            self._progress.advance(0)
            data = self._source.read(start, SEARCH_BYTES + HEADER.size)
            found = data.find(END, back)
            while found >= 0:
                head = found - back
                if not (start + head) & 1 and is_header(data[head : head + HEADER.size]):
                    return start + head
                found = data.find(END, found + 1)
        return self._source.size

    def _entry(self, at: int, data: bytes) -> int:
        """List what the header ``data`` at ``at`` describes; returns where the next header should be."""
        source, start = self._source, at + HEADER.size
        size = _size(data)
        name, table, stated = self._name(start, data[NAME_AT].rstrip(b" "), size)
        kept = stated if size is None else min(stated, size)
        stop = start + (0 if self._thin and table is None else size or 0)
        start += kept
        member = None
        if table is None:
            outside = SPECIAL if self._thin else UNREADABLE if size is None else 0
            whole = (size or 0) - kept
            member = self._emitter.members.append(name, start, max(start, stop), size=whole, head=at, marks=outside)

        def what() -> str:
            return f"of the {table}" if table else f"of {visible(name[:MAX_SHOWN_BYTES])}"

        if stated > kept and not self._long_names.full():
            message = f"The header {what()} states a name of {in_bytes(stated)}, and {in_bytes(kept)} are behind it."
            self._long_names.add(message, ((at, at + 16),), member)
        self._check_header(at, data, what, member)
        if name.startswith(b"/") and member is not None and not self._unnamed.full():
            message = f"The header {what()} names a place that is not in the table of long names."
            if self._spare_name_bytes < 0:
                message = f"The header {what()} names bytes that other headers name too: more than the archive has."
            self._unnamed.add(message, ((at, at + 16),), member)
        stop, end, after = self._end(at, start, stop, what, member, is_known=size is not None)
        if member is not None:
            self._emitter.members.stops[member] = max(start, min(stop, source.size))
        elif table is NAME_TABLE:
            self._names = Span(start, min(stop, source.size))
        self._entries.append(at, start, min(stop, source.size), min(end, source.size), table)
        return after

    def _check_header(self, at: int, data: bytes, what: Callable[[], str], member: int | None) -> None:
        """Report a header that does not end as it should, and a number of a member's that is none."""
        if not data.endswith(END):
            place = (at + HEADER.size - len(END), at + HEADER.size)
            self._emitter.report(HEADER_END, f"The header {what()} does not end as it should.", place, member=member)
        number = "" if member is None else wrong_number(data)
        if number and not self._numbers.full():
            found = HEADER.place(number)
            message = f"The {number} in the header {what()} is no number."
            self._numbers.add(message, ((at + found.start, at + found.stop),), member)

    def _end(
        self, at: int, start: int, stop: int, what: Callable[[], str], member: int | None, *, is_known: bool
    ) -> tuple[int, int, int]:
        """Where data that should end at ``stop`` end, without and with padding, and where the next header is."""
        size, after = self._source.size, stop + (stop & 1)
        if is_known and self._ends_well(stop):
            if stop & 1 and self._source.read(stop, 1) not in (b"\n", b""):
                message = f"The byte of padding after the data {what()} is not a line feed."
                self._emitter.report(PADDING, message, (stop, after), member=member)
            return stop, after, after
        if is_known and stop & 1 and is_header(self._bytes(stop)):
            message = f"The data {what()} have an odd size, and no padding follows."
            self._emitter.report(PADDING, message, (stop - 1, stop), member=member)
            return stop, stop, stop
        # An archive that is a member has headers of its own.
        is_nested = self._source.read(start, len(MAGIC)) == MAGIC
        found = self._next_header(after if is_nested else start)
        if is_known and found == size:
            if stop > size:
                message = f"The archive ends inside the data {what()}: {in_bytes(stop - size)} are missing."
                self._emitter.report(CUT, message, (min(start, size), size), member=member)
            return stop, after, after
        said = f"says {in_bytes(stop - start)}" if is_known else "gives no size"
        ends = "the next one begins" if found < size else "the archive ends"
        message = f"The header {what()} {said}, but {ends} after {in_bytes(found - start)}."
        self._emitter.report(BAD_SIZE, message, (at, at + HEADER.size), member=member)
        stop = min(stop, found) if is_known else found
        return stop, stop, found

    def _name(self, start: int, written: bytes, room: int | None) -> tuple[bytes, Kind | None, int]:
        """The name that a header writes so, the kind of table that it stands for, and the bytes of a BSD name.

        A BSD name is part of the ``room`` bytes behind the header, if their number is known.
        """
        if not written.startswith((b"/", b"#1/", b"__.SYMDEF")):
            return written.removesuffix(b"/"), None, 0
        if written in (b"/", b"/SYM64/") or written.startswith(b"__.SYMDEF"):
            return written, SYMBOL_TABLE, 0
        if written == b"//":
            return written, NAME_TABLE, 0
        if written.startswith(b"#1/") and (length := decimal(written[3:])) is not None:
            if self._spare_name_bytes < 0:
                return b"/" + written, None, length
            most = MAX_NAME_BYTES if room is None else min(room, MAX_NAME_BYTES)
            name = self._kept(self._bytes(start, min(length, most)).rstrip(b"\0"), b"/" + written)
            return name, SYMBOL_TABLE if name.startswith(b"__.SYMDEF") else None, length
        if written.startswith(b"/") and (offset := decimal(written[1:].partition(b":")[0])) is not None:
            if self._spare_name_bytes < 0:
                return written, None, 0
            place = self._names.start + offset
            line = self._source.read(place, max(0, min(MAX_NAME_BYTES, self._names.stop - place)))
            name = line.replace(b"\0", b"\n").partition(b"\n")[0].removesuffix(b"/")
            return self._kept(name or written, written), None, 0
        return written.removesuffix(b"/"), None, 0

    def _kept(self, name: bytes, written: bytes) -> bytes:
        """The name, or what the header itself has if names together are longer than the archive."""
        self._spare_name_bytes -= len(name)
        return name if self._spare_name_bytes >= 0 else written

    def _check_symbols(self) -> None:
        """Compare the symbol tables with where headers are."""
        heads = self._entries.heads
        for head, start, stop in self._entries.tables(SYMBOL_TABLE):
            symbols = symbols_of(self._source, head, start, stop)
            if symbols is None:
                message = f"The symbol table at byte {head:,} cannot be: its numbers do not fit its size."
                self._emitter.report(SYMBOLS, message, (start, stop))
                continue
            lost = [0, 0]
            for place, offset in symbols.offsets(self._source):
                self._progress.advance(0)
                near = bisect_left(heads, offset)
                if near == len(heads) or heads[near] != offset:
                    lost = [lost[0] + 1, lost[1] or place]
            if lost[0]:
                message = (
                    f"{lost[0]:,} of {count(symbols.number, 'symbol')} {verb(lost[0], 'leads', 'lead')} to no header."
                )
                self._emitter.report(SYMBOLS, message, (lost[1], lost[1] + symbols.width))


def _size(data: bytes) -> int | None:
    return decimal(data[SIZE_AT])
