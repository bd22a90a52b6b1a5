"""Bytes that were lost or inserted in the data section, which moved everything behind them.

CAF.md, section 1: members follow one another without padding, and the index follows the last. So an index that begins
before or after the end of its members shows that bytes were lost or inserted somewhere before it, not where. Where a
member begins with a well-known signature, either at its place or moved, that bounds the place; everything between the
bounds is in doubt.

What was inserted may be a copy of the bytes before it, or carriage returns. Both are found in one pass over the data,
in time linear in its size, whatever the bytes.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct

from inspector.core.member import LARGEST, UNREADABLE, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks, gather, is_sparing
from inspector.core.span import Span
from inspector.formats._damage import TAIL_TEXT_BYTES, is_text
from inspector.formats._extents import Rows
from inspector.formats._signatures import HEAD_BYTES, has_signature
from inspector.formats.caf.locate import FOOTER_SIZE, OPENING, head
from inspector.formats.caf.scan import BYTE_ORDER_MARK

# ---- what was inserted -----------------------------------------------------------------------------------------------

MIN_LINE_FEEDS = 16
"""With fewer of them it may be chance that each follows a carriage return."""


def is_text_mode(source: Source, size: int, stop: int, progress: Progress) -> bool:
    """Whether the ``size`` inserted bytes are a carriage return before every line feed before ``stop``.

    A copy in text mode makes CR LF of each LF. Reading ends at the first that shows otherwise. Raises SourceError and
    Cancelled.
    """
    progress.begin("Looking at line feeds", stop)
    found, last = 0, b""
    for piece in blocks(source, 0, stop):
        feeds = piece.count(b"\n")
        pairs = piece.count(b"\r\n") + (last == b"\r" and piece[:1] == b"\n")
        found += feeds
        if feeds != pairs or found > size:
            return False
        last = piece[-1:]
        progress.advance(len(piece))
    return found == size


# ---- what was moved by it --------------------------------------------------------------------------------------------

_MAX_END = 64 << 30
"""An ``end_byte`` past this, twice the largest archive that is allowed, is a wrong number rather than lost bytes."""
_MAX_BROKEN = 3
"""Places where one wrong number of an index can keep members from meeting: its own two, and where it belongs."""
_MAX_PROBES = 1_024
"""Members looked at in one round; each round narrows the bounds to what lies between two of them."""
_MAX_SEARCHED_BYTES = 16 << 20
"""Bytes searched for CR LF, which occurs every 64 KiB in random bytes."""
_MIN_TEXT_BYTES = 16
"""Fewer bytes may be text by chance: so many random ones are it once in a million million times."""
_MIN_ZEROS = 16
"""Fewer zeros in front may be the beginning of the first member."""
_MAX_HEADER_BYTES = 64 << 10
"""Longer headers in front of the members are not recognised."""
_HEADERS = re.compile(
    rb"(?!\r?\n)(?:(?:HTTP/|From )[^\r\n]{0,2000}\r?\n)?"
    rb"(?:(?:[A-Za-z][\w-]{0,100}:|[ \t])[^\r\n]{0,2000}\r?\n){0,200}\r?\n"
)
"""Headers of HTTP or of a mail, with the empty line behind them (RFC 9112, RFC 5322)."""


class Shift(Struct, frozen=True):
    """Bytes lost from or inserted into the data section.

    ``size`` is how many were inserted, negative for lost ones; ``end`` is where the members end by the index. What was
    lost or inserted lies within ``bounds``, in file bytes. Members before ``first`` are where the index says, those
    from ``last`` on begin ``size`` bytes later than it says; those between are in doubt. ``front``: the bytes
    precede the first member, so all are read where they are.
    """

    size: int
    end: int
    first: int
    last: int
    bounds: Span
    front: bool = False


def find_shift(source: Source, members: Members, rows: Rows, progress: Progress) -> Shift | None:
    """The shift of an archive; None if its members end where the index begins, or contradict one another.

    ``rows`` are the members laid out up to the index. Raises SourceError and Cancelled.
    """
    end = _end(members, rows)
    if end is None or rows.stop == end or end > max(rows.stop, _MAX_END):
        return None
    size = rows.stop - end
    placed, last = _bounds(source, members, size, rows.stop, progress)
    low = members.starts[placed] if placed >= 0 else 0
    high = members.starts[last] + size if last < len(members) else rows.stop
    front = size > 0 and last == 0 and not first_archive_size(source, rows)
    return Shift(size, end, max(0, placed), last, Span(low, max(low, high)), front)


def first_archive_size(source: Source, rows: Rows) -> int:
    """The size of an archive that precedes the one the members in ``rows`` belong to; 0 if there is none.

    Two archives were concatenated (CAF.md, "Fast File Lookup"): the footer leads to the second index, whose offsets
    count from where the second archive begins. So the data section is too long by the size of the first archive, and
    the file begins with that many bytes ending in a footer that leads to an index. If a member ends exactly there,
    the first archive is a member.
    """
    if not len(rows.gaps):
        return 0
    row = rows.gaps[-1]
    size = rows.stop - rows.starts[row]
    if row != len(rows.starts) - 1 or not FOOTER_SIZE < size < rows.stop:
        return 0
    if rows.starts[bisect_left(rows.starts, size, hi=row)] == size and size != rows.starts[row]:
        return 0
    stop = size - FOOTER_SIZE
    claimed = int.from_bytes(source.read(stop, FOOTER_SIZE), "little")
    index = Span(stop - claimed, stop)
    return size if 0 < claimed <= stop and OPENING.match(head(source, index)) else 0


def inclusive_ends(members: Members, rows: Rows) -> array[int] | None:
    """Where members end whose writer took ``end_byte`` as inclusive; None where that is not clear.

    Each then leaves exactly one byte before the next, and the last before the index; an empty one may leave none.
    """
    starts = members.starts
    if not (len(rows.gaps) and len(starts)) or starts[0] or any(mark & UNREADABLE for mark in members.marks or ()):
        return None
    ends = starts[1:]
    ends.append(rows.stop)
    before = (-1, -1)
    for start, stop, end in zip(starts, members.stops, ends, strict=True):
        taken = stop + 1 == end
        # Of two empty ones at a place, nothing says which of them has the byte.
        if start > end or not (taken or start == stop == end) or (taken and start == stop and before == (start, stop)):
            return None
        before = (start, stop)
    return ends


def _end(members: Members, rows: Rows) -> int | None:
    """Where the index should begin; None if its numbers contradict one another, or one that says nothing may reach it.

    A number that is wrong breaks up to three of the places where members meet; what more of them break shows no order.
    A writer that takes ``end_byte`` as inclusive leaves a byte after every member, the last one included.
    """
    if not len(members):
        return 0
    if members.stops[-1] == rows.stop:
        return rows.stop
    marks = members.marks
    end = filled = spaced = broken = overlapping = aside = reach = 0
    for member, (start, stop) in enumerate(zip(members.starts, members.stops, strict=True)):
        if start > stop or (marks is not None and marks[member] & UNREADABLE):
            aside += 1
            reach = max(reach, stop if stop < LARGEST else 0)
            continue
        if start < stop:
            spaced += filled > 0 and start == end + 1
            filled += 1
        broken += start != end
        overlapping += start < end
        end = stop
    if aside or overlapping:
        if max(each for each in (0, *members.stops) if each < LARGEST) == rows.stop:
            return rows.stop
        if broken > _MAX_BROKEN or 2 * (broken + aside) >= filled + aside:
            return None
    if aside and not broken and end < rows.stop:  # what is left of the data may be that of those members
        return reach if reach > end else None
    return end + 1 if filled > 1 and spaced == filled - 1 else end


def _bounds(source: Source, members: Members, size: int, stop: int, progress: Progress) -> tuple[int, int]:
    """The last member that begins where the index says, and the first that is moved, as far as signatures show.

    They are -1 and the number of members where none shows it.
    """
    nothing = low, high = -1, len(members)
    front = is_in_front(source, members, size, progress, surely=True)
    if is_sparing(source):
        return (-1, 0) if front else nothing  # it would take a request for each member
    if size > 0 and is_text_mode(source, size, stop, progress):
        return nothing  # then members are moved by different numbers of bytes
    # A copy in text mode that makes LF of each CR LF leaves none of them, and loses bytes in between.
    pieces = blocks(source, 0, min(stop, _MAX_SEARCHED_BYTES))
    spread = size < 0 and not any(b"\r\n" in piece for piece in pieces)
    while True:
        placed, moved = low, high
        step = max(1, -(-(high - low - 1) // _MAX_PROBES))
        for member, is_moved in _looked_at(source, members, size, stop, range(low + 1, high, step), spread=spread):
            progress.advance(0)
            placed, moved = (placed, min(moved, member)) if is_moved else (member, moved)
        if (placed, moved) == (low, high):
            return (-1, 0) if front and low < 0 else (low, high)
        if placed >= moved:
            return nothing  # the signatures contradict one another
        low, high = placed, moved


def _looked_at(
    source: Source, members: Members, size: int, stop: int, which: Iterable[int], *, spread: bool
) -> Iterator[tuple[int, bool]]:
    """Of those members whose first bytes tell: whether each begins ``size`` bytes later than the index says.

    They do not tell where another member may begin at the same place: its signature could be taken for this one's.
    ``spread``: each may be moved by a part of ``size``, as bytes were lost in between.
    """
    starts, far = members.starts, abs(size)

    def may_be_another(member: int) -> bool:
        start = starts[member]
        if spread:
            others = (starts[each] for each in (member - 1, member + 1) if 0 <= each < len(starts))
            return any(abs(other - start) <= far for other in others)
        places = ((each, bisect_left(starts, each)) for each in (start - far, start + far))
        return any(each in starts[at : at + 1] for each, at in places)

    def head_at(member: int, moved: int) -> Span:
        """The first bytes of a member, if it is moved so far; empty if they would lie outside the data."""
        start = starts[member] + moved
        end = min(start + min(HEAD_BYTES, members.stored(member)), stop)
        return Span(start, end) if 0 <= start < end else Span(0, 0)

    telling = [each for each in which if members.stored(each) and not may_be_another(each)]
    heads = map(has_signature, gather(source, [head_at(each, moved) for each in telling for moved in (0, size)]))
    for member, here, there in zip(telling, heads, heads, strict=False):
        if here != there:
            yield member, there


# ---- what is in front of the first member ----------------------------------------------------------------------------


def is_in_front(source: Source, members: Members, size: int, progress: Progress, *, surely: bool) -> bool:
    """Whether the first ``size`` bytes of the file are seen to precede the first member; or may, if not ``surely``.

    They are headers or a byte order mark, or they are no text and the first member is from there on, or they may be
    zeros. What ends where the first member would may be that member. So may what begins as a file of a known type; and
    where the file begins with a byte of text, that may be the first of the member, and others inserted after it.
    """
    first = next((each for each in range(len(members)) if members.stored(each)), None)
    if size <= 0 or (first is not None and size == members.stops[first]):
        return False
    head = source.read(0, min(size, _MAX_HEADER_BYTES))
    after = source.read(size, _MIN_TEXT_BYTES)
    if (head == BYTE_ORDER_MARK and not is_text(after)) or (len(head) == size and _HEADERS.fullmatch(head)):
        return True
    text = b""
    if first is not None:
        text = source.read(members.starts[first] + size, min(HEAD_BYTES, members.stored(first)))
    is_text_behind = len(text) >= _MIN_TEXT_BYTES and is_text(text)
    if surely:
        before = source.read(max(0, size - _MIN_TEXT_BYTES), min(size, _MIN_TEXT_BYTES))
        return is_text_behind and not is_text(head[:1]) and not is_text(before)
    if has_signature(head[:HEAD_BYTES]):
        return False
    if is_text_behind and not is_text(head[:TAIL_TEXT_BYTES]):
        return True
    for piece in blocks(source, 0, size):
        progress.advance(0)
        if piece.strip(b"\0"):
            return False
    return size >= _MIN_ZEROS and bool(after[:1].strip(b"\0"))
