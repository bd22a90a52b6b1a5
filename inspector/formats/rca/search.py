"""Finding segments again where damage hides them (RCA: "Reset blocks (block type 0)").

A block states only its length, so after a wrong varint every later block is misread. A hash still identifies a
segment: from its start, blocks are followed and hashed. If the hash so far equals the 8 bytes that follow the next two
bytes, a reset block follows and the segment is proved, whatever those two bytes are.
Where blocks stop making sense, a varint may be wrong: if exactly one other value makes the hash match, that value is
restored. Otherwise the next segment is searched for by the zstd frame that it starts with, and accepted only if a hash
proves it.

Time is linear in the bytes searched, whatever they are: ``Budget`` counts bytes hashed and decoded, and blocks and
candidates examined, and limits both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2s
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import Struct

from inspector.core.archive import Archive, Emitter
from inspector.core.member import Codec, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, total
from inspector.core.verdict import Verdict
from inspector.formats._signatures import found_outside
from inspector.formats._zstd import BLOCK, BLOCK_HEADER, HEADER, MAGIC, RESERVED, RLE, Stream, ZstdError, header_size
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.blocks import BLOB, HASH_SIZE, MAX_VARINT_BYTES, RESET, kind_and_size, varint, walk
from inspector.formats.rca.chunks import ChunkLayer, Layout, ReadAhead
from inspector.formats.rca.hashes import Hashes
from inspector.formats.rca.write import varint as written

RESET_HEAD = b"\x81\x04"
"""The varint of a reset block whose payload is only a hash."""
MIN_BYTES = 1 << 20
"""Bytes that a search hashes and decodes in any case, however small the archive."""
MAX_PASSES = 32
"""How often a search hashes and decodes each byte of the archive, on average."""
MIN_STEPS = 50_000
"""Blocks and candidates that a search looks at in any case: about 10 to 20 microseconds each."""
BYTES_PER_STEP = 64
"""A search looks at one more block or candidate for so many bytes of the archive."""
TENTATIVE_SHARE = 4
"""Trials of other varints may cost this fraction of the budget beyond it: 4 for a quarter."""
MAX_UNALIGNED_BLOCKS = 4_096
"""Blocks of one segment that are followed behind the first that hardly any writer makes."""
MAX_EMPTY_SEGMENTS = 64
"""Segments in a row without a right hash and without a blob that decodes, before they count as one damaged stretch."""
_FRAME = re.compile(
    re.escape(MAGIC) + b"(?=[" + re.escape(bytes(each for each in range(256) if not each & 0x0B)) + rb"]|\Z)"
)
"""A frame: bits are 0 in the byte behind its magic, the reserved one, and those of a dictionary, never used."""
MAX_OPEN_SEARCH_BYTES = 256 << 20
"""How far behind lost blocks the next segment is searched for in an archive whose headers do not say where it ends."""
MAX_EXTRA_BYTES = 256
"""How far before a blob block a reset block is searched for, in bytes."""
_ENDS = 4096
"""Zstd blocks of one blob whose varint is being restored: 512 MiB of content."""
MAX_TRIALS = 32
"""Values of one varint that are tried."""


class Budget:
    """What one search has cost and may cost: ``bytes`` hashed and decoded, and ``steps``, blocks and candidates."""

    def __init__(self, size: int, share: int = 1) -> None:
        """For an archive of ``size`` bytes of blob layer, divided by ``share``."""
        self.bytes = self.steps = 0
        self.max_bytes = (MIN_BYTES + MAX_PASSES * size) // share
        self.max_steps = (MIN_STEPS + size // BYTES_PER_STEP) // share

    @property
    def left(self) -> bool:
        """Whether the search may go on."""
        return self.bytes <= self.max_bytes and self.steps <= self.max_steps


Fix = tuple[int, bytes]
"""An inner position, and the bytes that a hash proves to belong there."""


class _Segment(Struct):
    """How far a segment can be followed.

    ``closed`` is where a hash proves that it ends. Otherwise ``reset`` is where a reset block or the end of the stream
    follows, and ``lost`` is where blocks stop making sense; if both are set, ``lost`` is the first block that no known
    writer makes. ``last`` are the starts of blocks whose varints may be wrong. ``empty``: no blob in it decodes.
    """

    closed: int | None = None
    reset: int | None = None
    lost: int | None = None
    last: tuple[int, ...] = ()
    empty: bool = False


class Follower:
    """Follows the blocks of segments in a stream of bytes, and hashes and decodes them, within a budget."""

    def __init__(self, inner: SplicedSource, progress: Progress, budget: Budget) -> None:
        self._inner = inner
        self._reader = ReadAhead(inner)
        self._progress = progress
        self.budget = self._spent = budget

    def _spend(self, size: int, steps: int = 1) -> bool:
        """Charge bytes and blocks about to be followed; False if the budget is exhausted."""
        self._spent.bytes += size
        self._spent.steps += steps
        self._progress.advance(0)
        return self._spent.left

    def _block(self, at: int) -> tuple[int, int, int] | None:
        """The type, payload start and end of the block at ``at``; None if no block is there."""
        size = self._inner.size
        value, length = varint(self._reader.read(at, min(at + MAX_VARINT_BYTES, size)), 0)
        kind, payload = kind_and_size(value)
        stop = at + length + payload
        # A blob has at least the 0 byte that ends its name: an empty one is never written.
        if not length or stop > size or (kind == BLOB and not payload) or not self._spend(length):
            return None
        return kind, at + length, stop

    def _stored(self, at: int) -> bytes:
        """The hash in the reset block at ``at``; nothing where there is no such block."""
        block = self._block(at) if at < self._inner.size else None
        if block is None or block[0] != RESET or block[2] - block[1] < HASH_SIZE:
            return b""
        return self._reader.read(block[1], block[1] + HASH_SIZE)

    def _closes(self, edge: int, digests: Collection[bytes]) -> bool:
        """Whether one of the hashes equals the one stored after ``edge``."""
        if edge >= self._inner.size:
            return False
        there = self._reader.read(edge, min(edge + len(RESET_HEAD) + HASH_SIZE, self._inner.size))
        # A reset block may have more than a hash.
        return there[len(RESET_HEAD) :] in digests or (there[0] & 0x3F == 1 and self._stored(edge) in digests)

    def _digests(self, at: int) -> list[_Digest]:
        """Empty hashes for a segment that starts at ``at``: one for each convention."""
        block = self._block(at)
        if block is None or block[0] != RESET:
            return [_new_digest()]
        return [_new_digest(), _new_digest(block[1], min(block[1] + HASH_SIZE, block[2]))]

    def _hash(self, digests: list[_Digest], start: int, stop: int) -> None:
        for piece in self._reader.pieces(start, stop):
            for digest in digests:
                digest.update(start, piece)
            start += len(piece)
            self._progress.advance(0)

    def _blocks_from(self, at: int) -> Iterator[tuple[int, int, int, int]]:
        """Where each block from ``at`` on begins, and what it is; up to the end, or to where there is none."""
        while at < self._inner.size and (block := self._block(at)):
            yield at, *block
            at = block[2]

    def follow(self, at: int) -> _Segment:
        """Follow, hash and decode a segment from ``at`` to where a hash closes it or it ends otherwise."""
        # The first block, the last, and the first odd one: a varint that is wrong is one of theirs, or of what follows.
        digests, stream, end, last = self._digests(at), Stream(), at, [at, at]
        odd: int | None = None
        unaligned, empty = 0, True
        for edge, kind, payload, stop in self._blocks_from(at):
            unaligned += odd is not None
            goes_on = unaligned <= MAX_UNALIGNED_BLOCKS and self._spend(stop - edge)
            if goes_on and kind == RESET and edge > at:
                return _Segment(reset=edge, lost=odd, last=tuple(last), empty=empty)
            if not goes_on or (kind == BLOB and not self._decodes(stream, payload, stop)):
                break
            empty &= kind != BLOB
            if odd is None and (not stream.aligned if kind == BLOB else kind != RESET):
                odd = edge
                last.append(odd)
            self._hash(digests, edge, stop)
            last[1:2] = [edge]
            end = stop
            if self._closes(end, {digest.value for digest in digests}):
                return _Segment(closed=end)
        if end < self._inner.size:
            return _Segment(lost=end if odd is None else odd, last=(*last, end), empty=empty)
        return _Segment(reset=end, lost=odd, last=tuple(last))

    def _decodes(self, stream: Stream, payload: int, stop: int) -> bool:
        try:
            for piece in self._reader.pieces(payload, stop):
                for _ in stream.feed(piece):
                    self._progress.advance(0)
        except ZstdError:
            return False
        return True

    def _starts(self, frame: int, low: int, *, bare: bool = False) -> Iterator[int]:
        """Possible starts of the segment whose frame is at ``frame``: of its reset block; ``bare``: of its blob too."""
        low = max(low, frame - MAX_EXTRA_BYTES)
        data = self._inner.read(low, frame - low)
        for length in range(1, MAX_VARINT_BYTES + 1):
            blob = len(data) - length
            value, stop = varint(data, blob) if blob >= 0 else (0, 0)
            kind, size = kind_and_size(value)
            if stop != len(data) or kind != BLOB or frame + size > self._inner.size:
                continue
            for at in range(blob - len(RESET_HEAD) - HASH_SIZE, -1, -1):
                if data[at] & 0x3F == 1:
                    value, payload = varint(data, at)
                    kind, size = kind_and_size(value)
                    if payload and kind == RESET and size >= HASH_SIZE and payload + size == blob:
                        yield low + at
            if bare:
                yield low + blob


class Search(Follower):
    """Searches segments whose hashes do not match. The results are ``lost``, ``fix`` and ``end``.

    ``lost`` are stretches to skip. ``fix`` is a varint to correct before searching again. ``end`` is the last inner
    position at which the hash in the chunk header proves that the archive ends, where no size records it.
    ``budget`` and ``tentative`` count the work.
    """

    def __init__(self, layout: Layout, hashes: Hashes, progress: Progress) -> None:
        self.lost: list[Span] = []
        self.fix: Fix | None = None
        self.end: int | None = None
        super().__init__(layout.inner, progress, Budget(layout.inner.size))
        self._layout = layout
        self._hashes = hashes
        self.tentative = Budget(layout.inner.size, TENTATIVE_SHARE)

    def run(self) -> Search:
        """Search every doubtful region, or up to the first fix."""
        self._progress.begin("Searching for segments", self._inner.size)
        for start, stop in self._in_doubt():
            self._region(start, stop)
            if self.fix is not None:
                break
        return self

    def _in_doubt(self) -> Iterator[tuple[int, int]]:
        """The inner bytes ``[start, stop)`` of runs of segments without a matching hash."""
        hashes = self._hashes
        rows = (row for row in range(len(hashes)) if hashes.segment(row) >= 0)
        for known, run in groupby(rows, lambda row: hashes.proved(row) or hashes.verdict(row) is Verdict.NOT_CHECKED):
            bounds = list(map(hashes.bounds, run))
            if not known and bounds[0][0] < bounds[-1][1]:
                yield bounds[0][0], bounds[-1][1]

    def _region(self, at: int, stop: int) -> None:
        following: int | None = at
        empty: list[int] = []  # where segments begin in which no blob decodes, one behind the other
        while following is not None and following < stop and self.fix is None:
            at, found = following, self.follow(following)
            following = found.reset
            empty = [*empty, at] if found.empty and found.closed is None else []
            if found.closed is not None:
                following = found.closed
                if following < self._inner.size and not self._stored(following):
                    self.fix = following, RESET_HEAD
            elif len(empty) > MAX_EMPTY_SEGMENTS:
                following = self._behind(empty[0], stop, None)
            elif found.lost is not None:
                self.fix = self._restored(at, found.last)
                if self.fix is None:
                    following = self._behind(found.lost, stop, found.reset or self._next_reset(found.lost))

    def _behind(self, lost: int, stop: int, goes_on: int | None) -> int | None:
        """Where the next segment starts after ``lost``, where blocks stop making sense; None if there is none.

        If blocks seem to continue at ``goes_on``, a hidden segment counts only if everything from it to there is
        proved: anything else may be part of an archive inside a blob.
        """
        hidden = self._hidden(lost, stop, goes_on)
        if hidden is None and goes_on is not None:
            return goes_on
        if hidden is None and stop < self._inner.size:
            hidden = stop  # where a segment begins that is proved
        if hidden is not None:
            self.lost.append(Span(lost, hidden))
        return hidden

    # ---- following blocks ------------------------------------------------------------------------------------------

    @contextmanager
    def _tentative(self) -> Iterator[None]:
        """Charge trials to a budget of their own, so that failed ones leave enough for finding segments."""
        self._spent = self.tentative
        try:
            yield
        finally:
            self._spent = self.budget

    def _closes(self, edge: int, digests: Collection[bytes]) -> bool:
        """The same, or whether one of them is that of the end of the archive."""
        if super()._closes(edge, digests):
            return True
        chunks = self._layout.chunks
        if not chunks.open:
            return edge == self._inner.size and self._ends and chunks.chunks[-1].metadata in digests
        place = self._inner.outer(edge - 1, edge)[0].start
        chunk = next(each for each in chunks.chunks if place < each.stop)
        if any(chunk.metadata) and chunk.metadata in digests:
            self.end = max(edge, self.end or 0)
            return edge == self._inner.size
        return False

    @property
    def _ends(self) -> bool:
        chunks = self._layout.chunks
        return not (chunks.truncated or chunks.corrupt or chunks.open)

    def _next_reset(self, lost: int) -> int | None:
        """Where the next segment starts if the blocks from ``lost`` on are real."""
        with self._tentative():
            kinds = ((at, stop) for at, kind, _, stop in self._blocks_from(lost) if kind == RESET and at > lost)
            at, stop = next(kinds, (0, self._inner.size))
            following = self._block(stop) if stop < self._inner.size else None
        if following is None or following[0] != BLOB:
            return None
        return at if self._reader.read(following[1], following[1] + len(MAGIC)) == MAGIC else None

    # ---- what is hidden --------------------------------------------------------------------------------------------

    def _hidden(self, start: int, stop: int, goes_on: int | None) -> int | None:
        """The next proved segment after ``start``; if ``goes_on``, all segments up to there must be proved too."""
        if self._layout.chunks.open:
            stop = min(stop, start + MAX_OPEN_SEARCH_BYTES)
        for at in self._frames(start + 1, goes_on or stop):
            proved = at
            while proved < (goes_on or at + 1) and (closed := self.follow(proved).closed) is not None:
                proved = closed
            if proved == goes_on or (goes_on is None and proved > at):
                return at
        return None

    def _frames(self, start: int, stop: int) -> Iterator[int]:
        """Starts of reset blocks in ``[start, stop)`` that a blob with a new zstd frame follows."""
        for at in range(start, stop, BLOCK):
            size = min(BLOCK, stop - at)
            window = self._inner.read(at, size + len(MAGIC))
            for found in _FRAME.finditer(window):
                if found.start() < size:
                    if not self._spend(0):
                        return
                    yield from self._starts(at + found.start(), start)
            if not self._spend(size):
                return

    # ---- a varint that is wrong ------------------------------------------------------------------------------------

    def _restored(self, at: int, suspects: Iterable[int]) -> Fix | None:
        """The corrected varint of the segment at ``at``, if exactly one other value makes the hash match."""
        with self._tentative():
            found = (self._value(at, suspect) for suspect in sorted(set(suspects), reverse=True))
            return next(filter(None, found), None)

    def _value(self, at: int, suspect: int) -> Fix | None:
        """The only other varint at ``suspect`` that makes the hash of the segment match; None unless there is one."""
        found: set[Fix] = set()
        digests: list[_Digest] | None = None
        trials = 0
        for head, following in self._values(suspect, opens=suspect == at):
            end = self._segment_end(following)
            if end is None or not self._spend(end - at):
                continue
            if digests is None:
                digests = self._digests(at)
                self._hash(digests, at, suspect)
            if self._fits(digests, suspect, head, end):
                found.add((suspect, head))
            trials += 1
            if trials == MAX_TRIALS:
                break
        return found.pop() if len(found) == 1 else None

    def _fits(self, digests: list[_Digest], at: int, head: bytes, end: int) -> bool:
        trial = [each._replace(hash=each.hash.copy()) for each in digests]
        if head == RESET_HEAD:
            trial = [_new_digest(), _new_digest(at + len(head), at + len(head) + HASH_SIZE)]
        for digest in trial:
            digest.update(at, head)
        self._hash(trial, at + len(head), end)
        wanted = self._stored(end) if end < self._inner.size else self._layout.chunks.chunks[-1].metadata
        return wanted in {digest.value for digest in trial}

    def _segment_end(self, at: int) -> int | None:
        """Where the segment with its next block at ``at`` ends; None if no stored hash follows it."""
        for edge, kind, payload, stop in self._blocks_from(at):
            if kind == RESET:
                return edge if stop - payload >= HASH_SIZE else None
            at = stop
        return at if at >= self._inner.size and self._ends else None

    def _values(self, at: int, *, opens: bool) -> Iterator[tuple[bytes, int]]:
        """Candidates for the varint at ``at``, each with the start of the block after it.

        The block that ``opens`` a segment may be a reset block. A blob ends at the end of a zstd block.
        """
        if opens and at:
            yield RESET_HEAD, at + len(RESET_HEAD) + HASH_SIZE
        there = self._inner.read(at, 5)
        for length in range(1, 6):
            payload = at + length
            for stop in self._zstd_ends(payload):
                head = written(stop - payload << 1)
                if len(head) == length and head != there[:length]:
                    yield head, stop

    def _zstd_ends(self, at: int) -> Iterator[int]:
        """The ends of the zstd blocks from ``at`` on, after a frame header if there is one."""
        head = self._inner.read(at, HEADER)
        if head.startswith(MAGIC) and len(head) > len(MAGIC):
            at += header_size(head[len(MAGIC)])
        for _ in range(_ENDS):
            head = self._reader.read(at, at + BLOCK_HEADER)
            number = int.from_bytes(head, "little")
            kind, size = number >> 1 & 3, number >> 3
            if len(head) < BLOCK_HEADER or kind == RESERVED or not 0 < size <= BLOCK or not self._spend(BLOCK_HEADER):
                return
            at += BLOCK_HEADER + (1 if kind == RLE else size)
            if at > self._inner.size:
                return
            yield at


class _Digest(NamedTuple):
    """The hash of inner bytes that leaves out ``[start, stop)``."""

    hash: Any
    start: int
    stop: int

    @property
    def value(self) -> bytes:
        return bytes(self.hash.digest())

    def update(self, at: int, data: bytes) -> None:
        """Take the bytes that begin at the inner position ``at``."""
        self.hash.update(data[: max(self.start - at, 0)])
        self.hash.update(data[max(self.stop - at, 0) :])


def _new_digest(start: int = 0, stop: int = 0) -> _Digest:
    return _Digest(blake2s(digest_size=HASH_SIZE), start, stop)


# ---- whole segments anywhere in the file, whatever the chunks say ----------------------------------------------------


BUDGET_SHARE = 4
"""The fraction of the budget of a search that following segments may cost: 4 for a quarter."""
MAX_STRAYS = 10_000
"""Segments that are kept."""
MAX_SEARCHED_BYTES = 64 << 20
"""Bytes that are searched."""
MAX_SCANS = 4
"""Times that the file is searched for the hash of its last segment."""
_WINDOW_BYTES = 1 << 20


class Stray(Struct, frozen=True):
    """A proved segment: its first blob begins at ``start``, and it ends at ``stop``; the names of its blobs."""

    start: int
    stop: int
    names: tuple[bytes, ...]


def find_strays(
    source: Source, taken: Sequence[Span], known: frozenset[bytes], progress: Progress
) -> tuple[tuple[Stray, ...], bool]:
    """The proved segments outside the spans ``taken`` with a name that is not ``known``, and whether all was searched.

    Raises SourceError and Cancelled.
    """
    found: list[Stray] = []
    loose = _Loose(source, progress)
    names = set(known)
    free = 0
    progress.begin("Looking for whole segments", min(source.size, MAX_SEARCHED_BYTES))
    for frame in found_outside(source, MAGIC, taken, MAX_SEARCHED_BYTES, progress):
        if frame < free:
            continue
        if not loose.budget.left or len(found) == MAX_STRAYS:
            break
        stray = loose.segment(frame)
        if stray is not None and not names.issuperset(stray.names):
            found.append(stray)
            names.update(stray.names)
            free = stray.stop
    complete = loose.budget.left and len(found) < MAX_STRAYS and source.size - total(taken) <= MAX_SEARCHED_BYTES
    return tuple(found), complete and loose.scans >= 0


class _Loose(Follower):
    """Follows segments in a file as it is, wherever they begin."""

    def __init__(self, source: Source, progress: Progress) -> None:
        inner = SplicedSource(source, [Span(0, source.size)], source.name)
        super().__init__(inner, progress, Budget(min(source.size, MAX_SEARCHED_BYTES), BUDGET_SHARE))
        self.scans = MAX_SCANS

    def segment(self, frame: int) -> Stray | None:
        """The segment whose first zstd frame is at ``frame``, if a hash proves it."""
        for at in self._starts(frame, 0, bare=True):
            if (stop := self.follow(at).closed) is not None and (names := self._names(at, stop)):
                block = self._block(at)
                return Stray(block[2] if block is not None and block[0] == RESET else at, stop, names)
        return None

    def _names(self, start: int, stop: int) -> tuple[bytes, ...]:
        inner = SplicedSource(self._inner, [Span(start, stop)], self._inner.name)
        layout = Layout(ChunkLayer((), (), False), inner, walk(inner, self._progress), inner)
        members = decoded(layout, inner, self._progress).members
        return tuple(bytes(members.path(each)) for each in range(len(members)))

    def _closes(self, edge: int, digests: Collection[bytes]) -> bool:
        """The same, or whether one of them stands in the file: that of the last segment is in a chunk header."""
        return super()._closes(edge, digests) or (edge == self._inner.size and self._is_recorded(digests))

    def _is_recorded(self, digests: Collection[bytes]) -> bool:
        self.scans -= 1
        if self.scans < 0:
            return False
        for at in range(0, self._inner.size, _WINDOW_BYTES):
            data = self._inner.read(at, _WINDOW_BYTES + HASH_SIZE)
            self._progress.advance(0)
            if any(each in data for each in digests):
                return True
        return False


def decoded(layout: Layout, source: Source, progress: Progress, first: int = 0) -> Archive:
    """The blobs of the segments from ``first`` on, as an archive in ``source``."""
    emitter = Emitter(Archive(source, "rca", "", (), detail=layout))
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, stream=layout.inner))
    Decoding(layout, emitter, progress).run(first)
    return emitter.archive
