"""Which stored bytes of a member decode to which bytes: zstd block by block, gzip and deflate as a whole."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime

from inspector.core.format import MemberError, one_group
from inspector.core.limits import CONTENT
from inspector.core.member import HOLES, Codec, Member
from inspector.core.names import visible
from inspector.core.numbers import grouped, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, SplicedSource, blocks
from inspector.formats._zstd import (
    BLOCK_HEADER,
    HEADER,
    MAGIC,
    RLE,
    TYPES,
    FrameHeader,
    Stream,
    ZstdError,
    frame_header,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.bytes_views import Piece
from inspector.sources.local.file import TemporarySource

GZIP = b"\x1f\x8b\x08"
MAX_NAME_BYTES = 200
"""Bytes of a name in a gzip header that are told."""
MAX_PIECES = 50_000
"""Pieces of one member that are told: memory."""
_CUT = "The data is cut off."


class Decoded:
    """A member's decoded bytes, the pieces they come from, and what is missing in a sentence.

    A compressed member is decoded; of a stored one, what its bytes are compressed with, gzip or zstd. Of a blob that
    shares a zstd frame with those before it, these are decoded first; its own bytes begin with what stands in front of
    its content. At most the user's limit of content is kept. Raises OperationError for a member that is not compressed,
    SourceError and Cancelled.
    """

    def __init__(self, archive: Opened, index: int, progress: Progress) -> None:
        member = archive.members[index]
        self.name = visible(member.path)
        if not member.readable or member.marks & HOLES:
            raise OperationError(f"The bytes of {self.name} do not follow each other in the archive.")
        self.source = TemporarySource(self.name)
        self.pieces: list[Piece] = []
        self.sentence = ""
        self._begin = self._stop = 0
        self._raw = SplicedSource(archive.source, member.spans, self.name)
        progress.begin(f"Decoding {self.name}", self._raw.size)
        try:
            for start, stop, data, label in self._parts(archive, member, progress):
                self._add(start, stop, data, label)
                if self.source.size > CONTENT.value or len(self.pieces) >= MAX_PIECES:
                    self.sentence = f"Only the first {rounded(self.source.size)} are decoded."
                    break
        except (ZstdError, zlib.error, MemberError, EOFError) as error:
            self.sentence = str(error)

    def _parts(self, archive: Opened, member: Member, progress: Progress) -> Iterator[_Part]:
        head = self._raw.read(0, 4)
        if member.codec is Codec.ZSTD or (member.codec is Codec.STORED and head == MAGIC):
            stream, checksum = Stream(), False
            if head != MAGIC and member.codec is Codec.ZSTD:
                checksum = _decode_before(archive, member.index, stream, progress)
            # A frame that blobs share ends with the last of them, or not at all.
            shared = archive.decoder is not None and archive.decoder.decode_group is not one_group
            shared = shared and member.codec is Codec.ZSTD
            return _zstd(self._raw, stream, progress, checksum=checksum, shared=shared)
        if member.codec is Codec.STORED and head.startswith(GZIP):
            return _gzip(self._raw, progress)
        if member.codec is Codec.STORED:
            raise OperationError(f"{self.name} is not compressed: its bytes are its content.")
        return _whole(archive, member, self._raw.size, progress)

    def _add(self, start: int, stop: int, data: bytes, label: str) -> None:
        first = self.source.size
        self.source.append(data)
        if self.pieces and self.pieces[-1].label == label and self._stop == start:
            first = self.pieces.pop().start
        else:
            self._begin = start
        self._stop = stop
        self.pieces.append(Piece(self._raw.outer(self._begin, stop), first, self.source.size, label))


_Part = tuple[int, int, bytes, str]
"""Stored bytes ``[start, stop)``, what they give, and what they are; neighbours that are the same are one piece."""


def _decode_before(archive: Opened, index: int, stream: Stream, progress: Progress) -> bool:
    """Decode the members that a member shares a frame with and that come before it; whether the frame has a checksum.

    Raises ZstdError.
    """
    decoder = archive.decoder
    first = index
    group = decoder.decode_group(archive, index) if decoder is not None else index
    while first > 0 and decoder is not None and decoder.decode_group(archive, first - 1) == group:
        first -= 1
    checksum = False
    for at in range(first, index):
        raw = SplicedSource(archive.source, archive.members[at].spans, "")
        if at == first:
            checksum = frame_header(raw.read(0, HEADER)).checksum
        for block in blocks(raw, 0, raw.size):
            for _ in stream.feed(block):
                progress.advance(0)
    if not stream.aligned:
        raise ZstdError("It does not begin at a zstd block: the member before it ends inside one.")
    return checksum


def _zstd(raw: Source, stream: Stream, progress: Progress, *, checksum: bool, shared: bool) -> Iterator[_Part]:
    at, number, in_frame = 0, 0, stream.aligned
    while at < raw.size:
        if not in_frame:
            header = frame_header(raw.read(at, HEADER))
            _feed(stream, raw.read(at, header.size))
            yield at, at + header.size, b"", f"zstd frame header: {_said(header)}"
            at, number, in_frame, checksum = at + header.size, 0, True, header.checksum
        head = int.from_bytes(raw.read(at, BLOCK_HEADER), "little")
        kind, is_last = head >> 1 & 3, bool(head & 1)
        size = BLOCK_HEADER + (1 if kind == RLE else head >> 3)
        data = raw.read(at, size)
        decoded = _feed(stream, data)
        number += 1
        last = ", the last" if is_last else ""
        yield at, at + len(data), decoded, f"zstd block {number}, {TYPES[kind]}{last}"
        progress.advance(len(data))
        if len(data) < size:
            raise EOFError(_CUT)
        at += size
        if is_last:
            in_frame = False
            if checksum:
                _feed(stream, raw.read(at, 4))
                yield at, min(raw.size, at + 4), b"", "zstd content checksum (XXH64, low 32 bits)"
                at += 4
    if at > raw.size or (in_frame and not shared):
        raise EOFError(_CUT)


def _said(header: FrameHeader) -> str:
    size = "no content size" if header.content is None else f"content size {grouped(header.content)}"
    return f"window {rounded(header.window)}, {size}, {'a checksum' if header.checksum else 'no checksum'}"


def _feed(stream: Stream, data: bytes) -> bytes:
    return b"".join(stream.feed(data))


def _gzip(raw: Source, progress: Progress) -> Iterator[_Part]:
    """RFC 1952: members, each a header, deflate data and a trailer; what follows them is no part of it."""
    at = 0
    while raw.read(at, 3) == GZIP:
        stop, said = _gzip_header(raw, at)
        yield at, stop, b"", f"gzip header{said}"
        at = stop
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        crc = length = 0
        while not inflate.eof:
            data = raw.read(at, BLOCK)
            if not data:
                raise EOFError(_CUT)
            size = len(data)
            while data and not inflate.eof:
                given = inflate.decompress(data, BLOCK)
                crc, length = zlib.crc32(given, crc), length + len(given)
                yield at, at, given, "deflate data"
                data = inflate.unconsumed_tail
            size -= len(inflate.unused_data)
            yield at, at + size, b"", "deflate data"
            at += size
            progress.advance(size)
        trailer = raw.read(at, 8)
        yield at, at + len(trailer), b"", "gzip trailer: CRC-32 and size of the content"
        if len(trailer) < 8:
            raise EOFError(_CUT)
        if trailer != struct.pack("<II", crc, length & 0xFFFFFFFF):
            raise EOFError("The CRC-32 or the size in the gzip trailer is not that of the content.")
        at += 8
    if at < raw.size:
        yield at, raw.size, b"", "after the gzip data"


def _gzip_header(raw: Source, start: int) -> tuple[int, str]:
    """Where the header of a gzip member ends, and what it says (RFC 1952, 2.3). Raises EOFError."""
    head = raw.read(start, 10)
    if len(head) < 10:
        raise EOFError(_CUT)
    flags, at, said = head[3], start + 10, ""
    if changed := int.from_bytes(head[4:8], "little"):
        said = f": changed {datetime.fromtimestamp(changed, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if flags & 4:
        at += 2 + int.from_bytes(raw.read(at, 2), "little")
    for bit, what in ((8, "name"), (16, "comment")):
        if flags & bit:
            text = raw.read(at, BLOCK)
            if b"\0" not in text:
                raise EOFError(_CUT)
            end = text.index(b"\0")
            said += f"{',' if said else ':'} {what} {visible(text[: min(end, MAX_NAME_BYTES)])}"
            at += end + 1
    return at + (2 if flags & 2 else 0), said


def _whole(archive: Opened, member: Member, size: int, progress: Progress) -> Iterator[_Part]:
    """A member of which only all bytes give all of its content."""
    label = f"{member.codec} data"
    begun = False
    for piece in content(archive, member.index, progress):
        yield (size if begun else 0), size, piece, label
        begun = True
