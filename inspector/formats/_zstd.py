"""Zstandard (RFC 8878) for the formats that hold it: compressing, and decoding with bounded output.

The only home of the zstandard library, which by itself bounds neither the output of one call nor the window a frame
asks for. Compressed data is therefore handed to it block by block: a block decodes to at most 128 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import zstandard
from msgspec import Struct

from inspector.core.numbers import in_bytes

MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of every frame."""

HEADER = 18
"""The size of the largest frame header, magic number included, in bytes."""

WINDOW = 128 * 1024 * 1024
"""The largest window, in bytes, that a frame may ask for: it is memory."""
_LARGEST_WINDOW = 1 << 31
"""What ``zstd --long=31`` asks for. No program writes more, so a header that asks for it is damaged."""

BLOCK = 128 * 1024
"""The most bytes that one block decodes to, or holds."""

PIECE = 8 * BLOCK
"""The most bytes that are decoded in one call."""

BLOCK_HEADER = 3
"""The size of a block header in bytes."""

LEVEL = 3
"""The compression level of zstd itself and of the published writers."""

TYPES = ("raw", "RLE", "compressed", "reserved")
"""The block types by their numbers."""
RLE, RESERVED = 1, 3

_SKIPPABLE_HEADER = 8
"""The size of the header of a skippable frame in bytes: its magic number, and how many bytes follow."""

_SKIPPABLE_REST = b"\x2a\x4d\x18"
"""The last three bytes of its magic number; the first is 0x50 to 0x5f."""

_SMALL = 4096
"""The largest payload, in bytes, whose block header is looked up."""


class ZstdError(Exception):
    """Data is not the zstd it should be; the message is a sentence for a person."""


class ZstdRefusedError(ZstdError):
    """Data that may be right, and is not decoded here: it asks for too much memory."""


class FrameHeader(Struct, frozen=True):
    """What a frame header says. ``size`` is its own, ``content`` the recorded content size or None, all in bytes."""

    descriptor: int
    size: int
    window: int
    dictionary: int
    content: int | None
    checksum: bool


def header_size(descriptor: int) -> int:
    """The size in bytes of a frame header, magic number included (RFC 8878, 3.1.1.1)."""
    return 5 + (not descriptor >> 5 & 1) + (0, 1, 2, 4)[descriptor & 3] + content_digits(descriptor)


def content_digits(descriptor: int) -> int:
    """The size in bytes of the content size in a frame header."""
    return (descriptor >> 5 & 1, 2, 4, 8)[descriptor >> 6]


def is_skippable(data: bytes) -> bool:
    """Whether ``data`` begins a skippable frame, as far as it reaches (RFC 8878, 3.1.2)."""
    return data[:1] >= b"\x50" and data[:1] < b"\x60" and _SKIPPABLE_REST.startswith(data[1:4])


def frame_header(data: bytes) -> FrameHeader:
    """The frame header at the beginning of ``data``; raises ZstdError where there is none that can be decoded."""
    if not data.startswith(MAGIC):
        raise ZstdError(f"This is no zstd data: it begins with {data[:4].hex(' ')}, not with 28 b5 2f fd.")
    if len(data) < 5 or len(data) < header_size(data[4]):
        raise ZstdError("The zstd frame header is cut off.")
    descriptor = data[4]
    if descriptor & 8:
        raise ZstdError("The zstd frame header has its reserved bit set.")
    digits, size = content_digits(descriptor), header_size(descriptor)
    at = size - digits
    content = int.from_bytes(data[at:size], "little") + (256 if digits == 2 else 0) if digits else None
    dictionary = int.from_bytes(data[at - (0, 1, 2, 4)[descriptor & 3] : at], "little")
    if descriptor >> 5 & 1:
        window = content or 0
    else:
        base = 1 << 10 + (data[5] >> 3)
        window = base + base // 8 * (data[5] & 7)
    return FrameHeader(descriptor, size, window, dictionary, content, bool(descriptor & 4))


@cache
def _headers() -> Sequence[tuple[bytes, ...]]:
    """By the size of a payload that is one block: its first bytes, of a raw block or a compressed one, not the last."""
    return [
        tuple(
            (size - BLOCK_HEADER << 3 | kind).to_bytes(BLOCK_HEADER, "little")
            for kind in (0, 4)
            if size >= BLOCK_HEADER
        )
        for size in range(_SMALL + 1)
    ]


def _checked(data: bytes) -> FrameHeader:
    header = frame_header(data)
    if header.window > WINDOW:
        kind = ZstdRefusedError if header.window <= _LARGEST_WINDOW else ZstdError
        raise kind(
            f"The zstd frame asks for a window of {in_bytes(header.window)}; more than {in_bytes(WINDOW)} is refused."
        )
    if header.dictionary:
        raise ZstdError(f"The zstd frame needs the dictionary {header.dictionary}, which is not here.")
    return header


class Stream:
    """Frames that arrive in slices of any size, decoded in pieces of at most PIECE bytes.

    With ``skippable``, skippable frames (RFC 8878, 3.1.2) are frames without content; else they are errors.
    ``frames`` counts the frames begun; ``aligned`` says whether the next byte is a block header, and ``ended`` whether
    the data so far ends with a whole frame; ``whole`` is how many of the bytes fed belong to whole frames. After an
    error it is of no more use; ``reset`` makes it new.
    """

    def __init__(self, *, skippable: bool = False) -> None:
        self._skippable = skippable
        # One decompressor for all frames: a new one for each is five times as expensive.
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next byte begins a frame."""
        self.frames = self.whole = self._fed = 0
        self._end_frame()

    def _end_frame(self) -> None:
        self._object = self._decompressor.decompressobj()
        self._step = self._behind = self._in_header
        self._held = b""
        self._left = 0
        self._checksum = False
        self.ended = self.frames > 0

    @property
    def aligned(self) -> bool:
        """Whether the next byte is the first of a block header."""
        return self._step == self._in_block_header and not self._held

    def blocks(self, payloads: Sequence[bytes], decoded: list[bytes]) -> None:
        """Append what ``payloads`` decode to, up to the first that is not exactly one block; only while ``aligned``.

        The short way for very many small payloads; the last block of a frame is not taken either. Raises ZstdError.
        """
        decompress, append, unsigned = self._object.decompress, decoded.append, int.from_bytes
        sizes = list(map(len, payloads))
        try:
            if max(sizes, default=0) <= _SMALL and all(
                map(bytes.startswith, payloads, map(_headers().__getitem__, sizes))
            ):
                decoded.extend(map(decompress, payloads))  # what comes before an error stays
                return
            for data in payloads:
                header = unsigned(data[:BLOCK_HEADER], "little")
                # Bit 0: the last block; bits 1-2: its type, of which raw and compressed leave bit 1 clear.
                if header & 3 or header >> 3 != len(data) - BLOCK_HEADER:
                    return
                append(decompress(data))
        except (zstandard.ZstdError, MemoryError) as error:
            raise _translated(error) from error

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._object.decompress(data)
        except (zstandard.ZstdError, MemoryError) as error:
            raise _translated(error) from error

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode ``data``; raises ZstdError. Every piece is at most PIECE bytes and may be empty."""
        at = begin = blocks = 0
        while at < len(data):
            at = self._step(data, at)
            finished = self._step == self._in_header and not self._held
            blocks += 1
            if finished or blocks == PIECE // BLOCK:
                yield self._decompress(data[begin:at])
                begin, blocks = at, 0
            if finished:
                self.whole = self._fed + at
                self._end_frame()
        self._fed += len(data)
        if begin < at:
            yield self._decompress(data[begin:at])

    def _hold(self, data: bytes, at: int, wanted: int) -> int:
        """Add bytes to what is held until there are ``wanted``."""
        taken = data[at : at + max(0, wanted - len(self._held))]
        self._held += taken
        return at + len(taken)

    def _in_header(self, data: bytes, at: int) -> int:
        if not self._held:
            self.frames += 1
            self.ended = False
        at = self._hold(data, at, 5)
        if self._skippable and is_skippable(self._held):
            at = self._hold(data, at, _SKIPPABLE_HEADER)
            if len(self._held) < _SKIPPABLE_HEADER:
                return at
            self._left, self._held = int.from_bytes(self._held[4:], "little"), b""
            return self._pass_over(data, at)
        if not MAGIC.startswith(self._held[:4]):
            frame_header(self._held)
        if len(self._held) >= 5:
            size = header_size(self._held[4])
            at = self._hold(data, at, size)
            if len(self._held) == size:
                self._checksum = _checked(self._held).checksum
                self._step, self._held = self._in_block_header, b""
        return at

    def _in_block_header(self, data: bytes, at: int) -> int:
        at = self._hold(data, at, BLOCK_HEADER)
        if len(self._held) < BLOCK_HEADER:
            return at
        number = int.from_bytes(self._held, "little")
        self._held = b""
        last, kind, size = number & 1, number >> 1 & 3, number >> 3
        if kind == RESERVED or size > BLOCK:
            raise ZstdError(f"The zstd data is damaged: a block header reads {TYPES[kind]}, {in_bytes(size)}.")
        self._left = (1 if kind == RLE else size) + 4 * (last and self._checksum)
        self._behind = self._in_header if last else self._in_block_header
        return self._pass_over(data, at)

    def _pass_over(self, data: bytes, at: int) -> int:
        """What is left of a block, of the last one with the checksum of its frame, or of what a skippable one holds."""
        taken = min(self._left, len(data) - at)
        self._left -= taken
        self._step = self._pass_over if self._left else self._behind
        return at + taken


def _translated(error: Exception) -> ZstdError:
    if isinstance(error, MemoryError):
        return ZstdRefusedError("The zstd data needs more memory than there is.")
    return ZstdError(f"The zstd data is damaged: {str(error).rpartition(': ')[2].rstrip('.')}.")


def decompress(data: bytes, cap: int) -> bytes:
    """The content of ``data``, which is exactly one frame, when that is at most ``cap`` bytes; raises ZstdError."""
    stream = Stream()
    pieces: list[bytes] = []
    size = 0
    for piece in stream.feed(data):
        pieces.append(piece)
        size += len(piece)
        if size > cap:
            raise ZstdRefusedError(f"The zstd data decodes to more than {in_bytes(cap)}, which is refused.")
    if not stream.ended:
        raise ZstdError("The zstd data is cut off: its frame has no end.")
    if stream.frames > 1:
        raise ZstdError("The zstd data goes on after the end of its frame.")
    return b"".join(pieces)


def compress(data: bytes, level: int = LEVEL) -> bytes:
    """``data`` as one frame with content size and checksum."""
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(data)


class Compressor:
    """One frame that is never ended, without content size and checksum; what is compressed is given up at a flush."""

    def __init__(self, level: int = LEVEL) -> None:
        parameters = zstandard.ZstdCompressor(level=level, write_content_size=False, write_checksum=False)
        self._object = parameters.compressobj()

    def add(self, data: bytes) -> bytes:
        """Take ``data``; gives what is compressed so far, often nothing."""
        return self._object.compress(data)

    def flush(self) -> bytes:
        """The rest of what is compressed so far, which then ends with a whole block."""
        return self._object.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
