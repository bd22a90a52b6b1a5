"""RCA's inner layer: the walk over its blocks (specification: "Inner Layer Format (Blob Layer)").

A block is a little-endian varint and a payload. Bit 0 of the varint tells the type: 0, a blob block whose payload size
is the rest; 1, a control block with its type in bits 1-5 and its payload size in the rest.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum

from inspector.core.program.progress import Progress
from inspector.core.source import SplicedSource
from inspector.formats._zstd import MAGIC

RESET = 0
"""The type of a reset block, a control block."""
BLOB = 32
"""Stands for a blob block among the types, which are 0..31 for control blocks."""
NOT_OPENING = 34
"""Stands for a reset block that opens no segment: one of more than MAX_IMPLAUSIBLE_SEGMENTS without a zstd frame."""
REST = 33
"""Stands for the bytes behind a varint that cannot be read, to the end of the stream."""

HASH_SIZE = 8
"""The size of a reset block's hash in bytes."""
MAX_VARINT_BYTES = 10
"""The longest varint, in bytes: 64 bits, 7 to a byte."""
MAX_BLOCKS = 4_000_000
"""The most blocks that are told apart; the rest is left as it is, so that a file of zeros does not fill memory."""

MAX_IMPLAUSIBLE_SEGMENTS = 1_000
"""Reset blocks without a zstd frame behind them that open a segment, for each segment has a hash to compare."""

_BLOB = bytes((BLOB,))
_FRAME = MAX_VARINT_BYTES + len(MAGIC)
"""The magic of a zstd frame lies within so many bytes behind a reset block that opens a segment."""
_ZEROS = re.compile(rb"\0++")
_MIN_WINDOW_BYTES, _MAX_WINDOW_BYTES = 4096, 512 * 1024


class Convention(Enum):
    """Whether a segment's hash covers the hash bytes of the reset block that opens it."""

    SPECIFICATION = 1
    RCARCH = 2


class Blocks:
    """Columns of blocks; positions are inner ones, in bytes.

    Block ``i`` is ``[edges[i], edges[i + 1])``, its payload begins at ``payloads[i]``. ``segments`` are the numbers of
    the blocks that begin a segment: 0 and every reset block. ``claimed`` is the end that the last block claims, past
    ``edges[-1]`` where bytes are missing; ``left_off`` says whether there were too many to list; ``implausible`` is
    how many reset blocks have no zstd frame behind them.
    """

    def __init__(self) -> None:
        self.edges = array("Q")
        self.payloads = array("Q")
        self.types = bytearray()
        self.segments = array("Q", (0,))
        self.claimed = 0
        self.incomplete = False
        self.implausible = 0

    def __len__(self) -> int:
        return len(self.payloads)

    def append(self, kind: int, start: int, payload: int) -> None:
        """Add a block; its end is the start of the next or what ``close`` is told."""
        if kind == RESET and self.payloads:
            self.segments.append(len(self.payloads))
        self.edges.append(start)
        self.payloads.append(payload)
        self.types.append(kind)

    def extend_empty(self, window: bytes, at: int, limit: int, base: int) -> int:
        """Add the empty blobs, each a 0 byte, of ``window[at:limit]`` up to the first other byte; says how many.

        Space that was reserved and never written is such a blob in every byte, by the million.
        """
        found = _ZEROS.match(window, at, limit)
        count = found.end() - at if found else 0
        self.edges.extend(range(base + at, base + at + count))
        self.payloads.extend(range(base + at + 1, base + at + count + 1))
        return count

    def opens(self, window: bytes, stop: int) -> bool:
        """Whether a reset block that ends at ``stop`` of ``window`` opens a segment: see MAX_IMPLAUSIBLE_SEGMENTS."""
        if stop + _FRAME <= len(window) and window.find(MAGIC, stop, stop + _FRAME) < 0:
            self.implausible += 1
            return self.implausible <= MAX_IMPLAUSIBLE_SEGMENTS
        return True

    def close(self, stop: int, claimed: int) -> None:
        """End the last block at ``stop``, though its varint may say ``claimed``."""
        self.edges.append(stop)
        self.claimed = claimed

    def segment(self, number: int) -> tuple[int, int]:
        """The blocks ``[first, last)`` of a segment."""
        last = self.segments[number + 1] if number + 1 < len(self.segments) else len(self)
        return self.segments[number], last

    def segment_of(self, block: int) -> int:
        """The number of the segment that a block belongs to."""
        return bisect_right(self.segments, block) - 1

    def at_payload(self, start: int) -> int:
        """The block whose payload begins at the inner position ``start``."""
        return bisect_left(self.payloads, start)

    def whole(self, block: int) -> bool:
        return block < len(self) - 1 or self.claimed <= self.edges[-1]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint at ``at`` in ``data`` and where it ends; 0 for the end where it is not whole or too long."""
    value = shift = 0
    for position in range(at, min(len(data), at + MAX_VARINT_BYTES)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value, position + 1) if value < 1 << 64 else (0, 0)
        shift += 7
    return 0, 0


def kind_and_size(value: int) -> tuple[int, int]:
    """The block type and the payload size in bytes that a varint's value says."""
    return (value >> 1 & 31, value >> 6) if value & 1 else (BLOB, value >> 1)


def walk(inner: SplicedSource, progress: Progress, lost: Sequence[tuple[int, int]] = ()) -> Blocks:
    """The blocks of the inner stream; payloads are not read unless they lie within reach of the last read.

    ``lost`` are stretches ``[start, stop)``, each from the end of a block on, that are left out: no block can be told
    in them, and one begins behind each.
    """
    blocks = Blocks()
    progress.begin("Reading blocks", inner.size)
    at = 0
    for start, stop in (*lost, (inner.size, inner.size)):
        at = _walk(blocks, inner, at, start, progress)
        if start < inner.size:
            blocks.append(REST, start, start)
            progress.advance(stop - start)
            at = stop
    if at < inner.size:
        blocks.incomplete = len(blocks) >= MAX_BLOCKS
        blocks.append(REST, at, at)
    if len(blocks):
        blocks.close(inner.size, max(at, inner.size))
    return blocks


def _walk(blocks: Blocks, inner: SplicedSource, at: int, stop: int, progress: Progress) -> int:
    """Add the blocks from ``at`` on that begin before ``stop``; says where the next one begins, or none can be told."""
    reach = _MIN_WINDOW_BYTES
    while at < stop and len(blocks) < MAX_BLOCKS:
        before = len(blocks)
        following = _window(blocks, inner.read(at, min(reach, stop - at)), at, stop)
        if following == at:
            break
        progress.advance(min(following, stop) - at)
        # Reading far ahead pays where blocks are small, and costs where each read meets but one.
        reach = min(reach * 2, _MAX_WINDOW_BYTES) if len(blocks) - before > 4 else max(reach // 2, _MIN_WINDOW_BYTES)
        at = following
    return at


def _window(blocks: Blocks, window: bytes, base: int, size: int) -> int:
    """Add the blocks whose varints lie in ``window``, read at ``base`` of the ``size`` bytes of the stream.

    Says where the next block begins: at ``base`` itself when there is none to be had.
    """
    # The columns are filled here rather than through ``append``: this loop decides how fast large archives open.
    edges, payloads = blocks.edges.append, blocks.payloads.append
    at, known = 0, len(blocks)
    if base + len(window) >= size:
        # So that looking ahead needs no care; a varint that runs into it has no end.
        window += b"\xff" * MAX_VARINT_BYTES
    # A varint that the window may cut off is left for the next window.
    limit = len(window) - MAX_VARINT_BYTES
    while at < limit:
        value, payload = window[at], at + 1
        if value > 0x7F:
            following = window[payload]
            if following < 0x80:
                value, payload = value & 0x7F | following << 7, payload + 1
            else:
                value, payload = varint(window, at)
                if not payload:
                    break
        if value & 1:
            blocks.types.extend(_BLOB * (len(blocks) - known))
            kind, length = kind_and_size(value)
            opens = kind != RESET or blocks.opens(window, payload + length)
            blocks.append(kind if opens else NOT_OPENING, base + at, base + payload)
            known = len(blocks)
        else:
            edges(base + at)
            payloads(base + payload)
            length = value >> 1 if value else blocks.extend_empty(window, payload, limit, base)
        at = payload + length
    blocks.types.extend(_BLOB * (len(blocks) - known))
    return base + at
