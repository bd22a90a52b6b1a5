"""Members that another has swallowed: bytes of its data are gone, a multiple of 512, so its size reaches over them.

The headers that follow then stand inside what counts as its data, and nothing else need be wrong. They are told from
those of a tar that is the member, whole or in pieces: that one begins where the data begins, or has an end of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.program.progress import Progress
from inspector.core.source import Metered, Source, is_remote, zeros_start, zeros_stop
from inspector.formats._tar.header import (
    BLOCK,
    EXTENSIONS,
    ZEROS,
    Header,
    aligned,
    first_leading,
    headers_between,
    parse,
)
from inspector.formats._tar.resync import Cursor, is_usual_end

MAX_BYTES_AT_ONCE = 32 << 20
"""A larger file is searched by a check only; decoding would have to read all of it."""
MAX_HEADERS_INSIDE = 100_000
"""With more headers inside one member, which need memory, it is taken for a tar in the tar."""
MAX_SEARCHED_TIMES = 4
"""How often the bytes of a file are searched, however its members reach over one another."""
_MANY = 2
_MAX_EXTENSIONS = 4
_MAX_PIECES = 64
_MAX_PIECE_BYTES = 64 << 10
_MAX_NAME_DIFFERENCE = 4
"""The last characters in which the names of the pieces of one file differ."""


class _Nested(Struct, frozen=True):
    """Tars in a row inside a member, ``number`` of them: the last begins at ``last`` and ends in zeros at ``zeros``.

    All of it reaches to ``stop``. ``goes_on``: it began in the member before.
    """

    last: int
    zeros: int
    stop: int
    number: int
    goes_on: bool


class Inside:
    """Looks into the data of the members of one tar, in their order."""

    def __init__(self, source: Source, progress: Progress) -> None:
        self._source = source
        self._progress = progress
        self._searched = Metered(source, MAX_SEARCHED_TIMES * source.size)
        self._pieces: list[bytes] = []
        self._tail: int | None = None
        """Where the zeros that end the file begin. Found once: each of many members may point at them."""
        self.end_tells = True
        """Whether nothing is lost elsewhere, so that the size of the file is that of whole records."""
        self._found: tuple[int, int, list[int]] = (0, 0, [])
        """Where headers were looked for last, and those found: members that overlap ask for the same bytes."""
        self._carried = (0, 0)
        """Where the last member ended, and by how many bytes the last of a tar inside it reaches over that."""

    def headers(self, start: int, stop: int) -> list[int]:
        """The offsets of headers in ``[start, stop)`` at whole blocks from ``start``. Raises SourceError, Cancelled."""
        first, last, found = self._found
        if first <= start and stop <= last and not (start - first) % BLOCK and self._searched.left > 0:
            self._searched.left -= min(stop, self._source.size) - start  # it is what the search costs that is bounded
        else:
            between = headers_between(self._searched, start, stop, self._progress, at_blocks=True)
            _, _, found = self._found = start, stop, [at for at, _ in between]
        return found[bisect_left(found, start) : bisect_left(found, stop)]

    def swallowed(self, member: tuple[bytes, int, int], inside: Sequence[int]) -> int | None:
        """The first header that a member has swallowed; None for a tar in it, and where nothing shows it.

        ``member`` is its path and the span of its data; ``inside`` are the headers in that.
        """
        name, start, end = member
        stop = start + aligned(end - start)
        if not inside or stop > self._source.size or len(inside) > MAX_HEADERS_INSIDE:
            return None
        targets = {at: at + BLOCK + aligned(self._header(at).stored) for at in inside}
        nested = self._nested(start, stop, targets)
        first = self._around(inside, targets, stop)
        if first is None and nested.stop >= stop:
            first = self._without_end(name, nested, stop)
        elif first is None:
            behind = {at: target for at, target in targets.items() if at >= nested.stop}
            first = self._leading(name, behind, stop)
            nested = replace(nested, stop=max(behind.values(), default=stop))
        if first is None:
            self._carried = (stop, max(0, nested.stop - stop))
            self._pieces = [*self._pieces[-_MAX_PIECES:], name]
        return first

    def _header(self, at: int) -> Header:
        return parse(self._source.read(at, BLOCK).ljust(BLOCK, b"\1"))

    def _nested(self, start: int, stop: int, targets: dict[int, int]) -> _Nested:
        """How far tars reach that are the member, or go on in it from the member before."""
        before, carried = self._carried
        # Between two pieces of one file stand no more than headers.
        goes_on = carried > 0 and 0 <= start - before <= _MAX_EXTENSIONS * BLOCK and start not in targets
        at = last = start + carried if goes_on else start
        zeros, number = -1, 0
        while at < stop:
            if at in targets:
                last, number = (at, number + 1) if zeros == at or not number else (last, number)
                at = targets[at]
            elif self._source.read(at, BLOCK) == ZEROS:
                begin = at
                at += (zeros_stop(self._source, at, stop, self._progress) - at) // BLOCK * BLOCK
                zeros = at
                if at >= stop:
                    return _Nested(last, begin, at, number, goes_on)
                if at not in targets:
                    break
            else:
                break
        return _Nested(last, at, at, number, goes_on)

    def _without_end(self, name: bytes, nested: _Nested, stop: int) -> int | None:
        """Where the last of the tars in a member begins, if that has no end, although each that is whole has one."""
        if nested.goes_on:
            return None
        if nested.stop > stop or nested.zeros < stop:
            alone = nested.number < _MANY and nested.stop == stop
            ends = not alone and self._is_end(min(stop, nested.zeros)) and not self._has_ends(nested.zeros, stop)
            return nested.last if ends else None
        # A member all of whose data is gone looks like a tar without an end; the names of its neighbours tell.
        is_sibling = name.rpartition(b"/")[0] == self._header(nested.last).name.rpartition(b"/")[0]
        if nested.number < _MANY and (b"tar" in name.lower() or not is_sibling):
            return None
        if self._header(stop).fits:
            return None if self._is_piece(name, stop) else nested.last
        return None if nested.number < _MANY and is_usual_end(stop, self._source.size) else nested.last

    def _leading(self, name: bytes, targets: dict[int, int], stop: int) -> int | None:
        """The first header from which headers lead to the one behind the member, or to the zeros that end the file.

        A tar in the tar has an end of its own before that of the outer one.
        """
        first = first_leading(targets, (stop,))
        if first is not None and self._header(stop).fits and not self._is_piece(name, stop):
            return first
        zeros = max(targets.values(), default=stop)
        first = first_leading(targets, (zeros,)) if self._is_end(zeros) else None
        return None if first is None or self._has_ends(zeros, stop) else first

    def _is_piece(self, name: bytes, at: int) -> bool:
        """Whether a member is one of the pieces of a tar: one that came before, or the next at ``at``, is like it."""
        if any(_alike(name, each) for each in self._pieces):
            return True
        for _ in range(_MAX_EXTENSIONS):
            after = self._header(at)
            if after.typeflag not in EXTENSIONS:
                break
            at += BLOCK + aligned(after.stored)
        start = at + BLOCK
        stop = min(start + aligned(after.stored), start + _MAX_PIECE_BYTES)
        if not _alike(name, after.name):
            return False
        return self._source.read(start, BLOCK) == ZEROS or bool(self.headers(start, stop))

    def _is_end(self, at: int) -> bool:
        """Whether the zeros that end the file begin there."""
        if self._tail is None:
            self._tail = zeros_start(self._source, self._source.size, self._progress)
        return self._tail <= at <= self._source.size - 2 * BLOCK

    def _has_ends(self, zeros: int, stop: int) -> bool:
        """Whether a tar that ends in ``zeros`` has some of them before ``stop``, and the file an end of its own.

        What reaches over ``stop`` may be a tar that was cut off before it was archived.
        """
        return zeros != stop and (not self.end_tells or is_usual_end(stop, self._source.size))

    def _around(self, inside: Sequence[int], targets: dict[int, int], stop: int) -> int | None:
        """A header whose own tar ends where a header follows, although the member ends in the midst of that tar."""
        at = max(inside, key=targets.__getitem__)
        target = targets[at]
        if target <= stop or not (self._header(target).fits or self._is_end(target)):
            return None
        inner = at + BLOCK
        for _ in range(MAX_HEADERS_INSIDE):
            header = self._header(inner)
            if not header.fits or inner >= target:
                break
            inner += BLOCK + aligned(header.stored)
            self._progress.advance(0)
        is_tar = at + BLOCK < inner <= target - 2 * BLOCK and inner > stop
        if not is_tar or any(self._source.read(inner, 2 * BLOCK)):
            return None
        before = first_leading({each: targets[each] for each in inside if each < at}, (at,))
        return at if before is None else before


def _alike(one: bytes, other: bytes) -> bool:
    return len(one) == len(other) and one[:-_MAX_NAME_DIFFERENCE] == other[:-_MAX_NAME_DIFFERENCE]


def may_search(source: Source, *, thorough: bool) -> bool:
    """Whether decoding looks into members."""
    return (thorough or source.size <= MAX_BYTES_AT_ONCE) and not is_remote(source)


def step_back_to_swallowed(cursor: Cursor, look: Inside | None, index: int) -> bool:
    """Step back to the first header that the last member has swallowed, if it has. Raises SourceError, Cancelled."""
    members = cursor.emitter.members
    start, end = members.starts[index], members.stops[index]
    if look is None or end == start:
        return False
    name = members.path(index)
    look.end_tells = cursor.size_tells
    stop = start + aligned(end - start)
    found = look.swallowed((name, start, end), look.headers(start, stop))
    if found is None:
        return False
    lost = "bytes of that member were lost, and other tar programs take the members after it for its content"
    cursor.step_back_to_header(found, stop, f"at byte {stop:,}", lost)
    return True
