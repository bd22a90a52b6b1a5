"""Decompress the content of members (APPNOTE.TXT 4.4.5): deflate, bzip2, LZMA, xz and Zstandard.

Every decoder gives its output in pieces of bounded size and takes bounded memory, whatever the data asks for.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from inspector.core.format import MemberError, RefusedMemberError, needs_too_much_memory
from inspector.core.member import Codec, Member
from inspector.core.names import brief
from inspector.core.numbers import in_bytes
from inspector.core.source import BLOCK

if TYPE_CHECKING:
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

CODECS = {
    0: Codec.STORED,
    8: Codec.DEFLATE,
    12: Codec.BZIP2,
    14: Codec.LZMA,
    20: Codec.ZSTD,  # the number for a few months of 2020
    93: Codec.ZSTD,
    95: Codec.XZ,
}
"""The compression methods that are read."""
METHODS = {codec: method for method, codec in CODECS.items()}
"""The method to record for a codec."""
_NAMES = {Codec.BZIP2: "bzip2", Codec.LZMA: "LZMA", Codec.XZ: "xz"}
_MAX_DICTIONARY_BYTES = 128 << 20
"""The largest dictionary or window, which is memory."""
_MIN_DICTIONARY_BYTES = 4096
_MAX_OVER_BYTES = 4096
"""What the last bytes of an LZMA stream without a mark may decode to, past the size that ends it (5.8.9)."""
_LZMA_HEADER = 4
"""Bytes before the properties of LZMA (5.8.8): the version of the SDK, and their size."""
_LZMA_PROPERTIES = 5


def decompressed(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what the ``stored`` bytes of a member decode to, in pieces of at most 512 KiB.

    Raises MemberError if the data is damaged or ends in the wrong place.
    """
    if member.codec is Codec.DEFLATE:
        return _inflated(member, stored)
    return _zstd(member, stored) if member.codec is Codec.ZSTD else _unpacked(member, stored)


def _inflated(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for piece in stored:
            yield from _pieces(decoder, piece)
            if decoder.eof:
                break
    except zlib.error as error:
        raise MemberError(f"The deflate stream of {brief(member.path)} is damaged: {error}.") from error
    if not decoder.eof:
        raise MemberError(
            f"The deflate stream of {brief(member.path)} does not end within its {in_bytes(member.stored)}."
        )
    _refuse_rest("deflate stream", member, len(decoder.unused_data) + sum(map(len, stored)))


def _refuse_rest(what: str, member: Member, rest: int) -> None:
    if rest:
        raise MemberError(
            f"The {what} of {brief(member.path)} ends {in_bytes(rest)} before its compressed size. Readers ignore "
            "the rest."
        )


def _pieces(decoder: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    while not decoder.eof:
        piece = decoder.decompress(data, BLOCK)
        if piece:
            yield piece
        data = decoder.unconsumed_tail
        # A full piece may leave output in the decoder even if no input is left.
        if not data and len(piece) < BLOCK:
            return


def _zstd(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    # Imported here because few archives need it.
    from inspector.formats._zstd import Stream, ZstdError, ZstdRefusedError

    stream = Stream(skippable=True)
    try:
        for data in stored:
            for piece in stream.feed(data):
                yield from (piece[at : at + BLOCK] for at in range(0, len(piece), BLOCK))
    except ZstdError as error:
        kind = RefusedMemberError if isinstance(error, ZstdRefusedError) else MemberError
        raise kind(f"{brief(member.path)} cannot be decompressed. {error}") from error
    if not stream.ended:
        raise MemberError(
            f"The Zstandard data of {brief(member.path)} does not end within its {in_bytes(member.stored)}."
        )


def _unpacked(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    import lzma

    name, what = brief(member.path), f"{_NAMES[member.codec]} data"
    given, over = 0, b""
    try:
        decoder, rest, marked = _opened(member, stored)
        for piece in _bounded(decoder, chain((rest,), stored)):
            room = len(piece) if marked else max(0, member.size - given)
            given += len(piece)
            yield piece[:room]
            over += piece[room:]
            if len(over) > _MAX_OVER_BYTES:
                break
    except (OSError, EOFError, ValueError, lzma.LZMAError, MemoryError) as error:
        if needs_too_much_memory(error):
            raise RefusedMemberError(f"The {what} of {name} needs too much memory.") from error
        raise MemberError(f"The {what} of {name} is damaged: {str(error).rstrip('.')}.") from error
    if decoder.eof or len(over) > _MAX_OVER_BYTES:
        yield over
    if decoder.eof:
        _refuse_rest(what, member, len(decoder.unused_data) + sum(map(len, stored)))
    elif marked or given < member.size:
        raise MemberError(f"The {what} of {name} does not end within its {in_bytes(member.stored)}.")


def _bounded(decoder: BZ2Decompressor | LZMADecompressor, stored: Iterator[bytes]) -> Iterator[bytes]:
    """What ``stored`` decodes to, in pieces of at most BLOCK bytes."""
    for data in stored:
        piece = decoder.decompress(data, BLOCK)
        while piece or not (decoder.eof or decoder.needs_input):
            yield piece
            piece = b"" if decoder.eof else decoder.decompress(b"", BLOCK)
        if decoder.eof:
            return


def _opened(member: Member, stored: Iterator[bytes]) -> tuple[BZ2Decompressor | LZMADecompressor, bytes, bool]:
    """The decoder of a member, data that was read, and whether the data says where it ends.

    Raises MemberError, and what lzma raises.
    """
    import bz2  # few archives need either
    import lzma

    if member.codec is Codec.BZIP2:
        return bz2.BZ2Decompressor(), b"", True
    if member.codec is Codec.XZ:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * _MAX_DICTIONARY_BYTES), b"", True
    data = b""
    while len(data) < _LZMA_HEADER + _LZMA_PROPERTIES and (piece := next(stored, b"")):
        data += piece
    size = int.from_bytes(data[2:_LZMA_HEADER], "little")
    properties = data[_LZMA_HEADER : _LZMA_HEADER + size]
    if size != _LZMA_PROPERTIES or len(properties) < size:
        raise MemberError(f"The LZMA header of {brief(member.path)} is damaged or cut off.")
    # What is decoded is never longer than the member, so neither does the dictionary need to be.
    dictionary = max(_MIN_DICTIONARY_BYTES, min(int.from_bytes(properties[1:], "little"), member.size))
    if dictionary > _MAX_DICTIONARY_BYTES:
        raise RefusedMemberError(
            f"The LZMA data of {brief(member.path)} needs a dictionary of {in_bytes(dictionary)}; the limit is "
            f"{in_bytes(_MAX_DICTIONARY_BYTES)}."
        )
    rest, literal_context = divmod(properties[0], 9)
    position, literal_position = divmod(rest, 5)
    filters = {
        "id": lzma.FILTER_LZMA1,
        "dict_size": dictionary,
        "lc": literal_context,
        "lp": literal_position,
        "pb": position,
    }
    decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[filters])
    # Bit 1 of the flags says whether there is a mark at the end; without one the size says where that is.
    return decoder, data[_LZMA_HEADER + size :], False
