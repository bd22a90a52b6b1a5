"""Members: names (APPNOTE.TXT appendix D), attributes (4.4.15), times (4.4.6), contents and decompression (4.4.5).

Every decoder gives its output in pieces of bounded size and takes bounded memory, whatever the data asks for.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.format import MemberError, MemberMetadata, RefusedMemberError, needs_too_much_memory
from inspector.core.member import SPECIAL, Codec, Member
from inspector.core.names import brief, decoded, hazards
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, blocks_of, expect, is_sparing
from inspector.formats._zip import codes
from inspector.formats._zip.extra import TIMESTAMP, extra_records
from inspector.formats._zip.records import (
    DOS_FOLDER,
    ENCRYPTED,
    MASKED,
    STRONG,
    UTF_8,
    method_text,
    read_local,
)


def path_of(name: bytes, flags: int) -> bytes:
    """The name as UTF-8: unchanged if the bytes or the flag say UTF-8, else converted from code page 437."""
    if flags & UTF_8 or name.isascii() or decoded(name)[1]:
        return name
    return name.decode("cp437").encode()


def name_note(name: bytes, flags: int) -> str:
    """How the bytes of a name were decoded; empty for plain ASCII."""
    if name.isascii():
        return ""
    if not decoded(name)[1]:
        if flags & UTF_8:
            return "Flagged as UTF-8, but it is not."
        return f"Not UTF-8, read as code page 437: {brief(path_of(name, flags))}"
    return "UTF-8" if flags & UTF_8 else "UTF-8 without the UTF-8 flag."


def report_name(emitter: Emitter, name: bytes, flags: int, span: tuple[int, int], member: int) -> None:
    """Report hazards and the encoding of a name."""
    path = path_of(name, flags)
    if not name.isascii() and not decoded(name)[1]:
        what, words = codes.NAME_CP437, f"is not UTF-8 and is read as code page 437: {brief(path)}"
        if flags & UTF_8:
            what, words = codes.NAME_NOT_UTF_8, "is flagged as UTF-8 but is not UTF-8; it is shown with escapes"
        emitter.report(what, f"The name of member {member} {words}.", span, member=member)
    elif not name.isascii() and not flags & UTF_8:
        words = "is UTF-8 but not flagged so; strict readers show other characters"
        emitter.report(codes.NAME_UNMARKED_UTF_8, f"The name {brief(name)} {words}.", span, member=member)
    for words in hazards(path):
        if words != "is not UTF-8":
            emitter.report(
                codes.NAME_HAZARD, f"The name of member {member}, {brief(path)}, {words}.", span, member=member
            )


_UNIX_SYSTEMS = frozenset((3, 19))
"""Systems whose external attributes hold a UNIX mode: UNIX and OS X."""
_HAS_UNIX_MODE = 0x8000
"""The bit by which 7-Zip marks that there is a UNIX mode, whatever the system."""
PLAIN_TYPES = frozenset((0, 8))
"""No type, regular file."""
_FIFO, _FOLDER, _LINK = 1, 4, 10
_SEPARATORS = (b"/", b"\\")
_UNSET = 0xFFFF
"""The UNIX mode that Maven writes where it knows none."""
_TYPES = {_FIFO: "FIFO", 2: "character device", 6: "block device", _LINK: "symbolic link", 12: "socket"}
SET_ID = 0x0C00_0000
"""The set-user-ID and set-group-ID bits."""
EXTERNAL_OFFSET = 38
"""Where the external attributes stand in a central directory header."""
_MAX_TARGET_BYTES = 4096
"""Bytes of a link's target that are read to show it."""
_MAX_LINK = 64 << 10
"""Bytes of the longest target of a link that any system has (Windows: 32,767 UTF-16 units)."""
_DAYS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""The most days that a month may have."""


def impossible_time(date: int, time: int) -> str:
    """What is impossible about a DOS date and time, as a predicate; empty if nothing is.

    Two zeros are no date, which is what programs write that know none.
    """
    if not date and not time:
        return ""
    year, month, day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    if not 1 <= month <= 12:
        return f"has the month {month}"
    short = month == 2 and (year % 4 or year == 2100)
    if not 1 <= day <= _DAYS[month] - bool(short):
        return f"has the day {day} in month {month} of {year}"
    hour, minute, second = time >> 11, time >> 5 & 63, time % 32 * 2
    return f"has the time {hour}:{minute:02}:{second:02}" if hour > 23 or minute > 59 or second > 59 else ""


class AttributeCheck:
    """Reports links, devices and set-ID bits in external attributes, and attributes that contradict the entry."""

    def __init__(self, source: Source, emitter: Emitter) -> None:
        self._source = source
        self._emitter = emitter
        self._capped = {
            what: CappedFindings(emitter, what, subjects)
            for what, subjects in (
                (codes.SPECIAL, "links, devices and the like"),
                (codes.SPECIAL_WITH_CONTENT, "devices and the like with content"),
                (codes.ATTRIBUTES, "members whose attributes contradict them"),
                (codes.SET_ID, "members with a set-user-ID or set-group-ID bit"),
            )
        }

    def check(self, made_by: int, external: int, start: int, member: int) -> None:
        """Examine ``member``, whose central directory header begins at ``start``."""
        number, members = external >> 28, self._emitter.members
        if number in PLAIN_TYPES and not external & (SET_ID | DOS_FOLDER):
            return
        path, size, place = members.path(member), members.size(member), start + EXTERNAL_OFFSET
        name, slash, spans = brief(path), path.endswith(_SEPARATORS), ((place, place + 4),)
        is_folder = bool(external & DOS_FOLDER) and not slash
        # Info-ZIP records its standard input as the FIFO that it is, with the content read from it.
        has_mode = made_by >> 8 in _UNIX_SYSTEMS or bool(external & _HAS_UNIX_MODE)
        has_mode = has_mode and not is_folder and not (number == _FIFO and size)
        if not has_mode and not is_folder:
            return
        kind, wrong = _TYPES.get(number) if has_mode else None, ""
        if is_folder or (number == _FOLDER and (size or not slash)):
            but = f"has {in_bytes(size)}" if size else "its name has no slash at the end"
            wrong = f"is a folder by its attributes, but {but}"
        elif number == _LINK and size > _MAX_LINK:
            wrong = f"{in_bytes(size)} are too many for its target"
        elif kind is not None and number != _LINK and size:
            wrong = f"it has {in_bytes(size)}"
        elif kind is None and number not in (*PLAIN_TYPES, _FOLDER) and external >> 16 != _UNSET:
            wrong = f"has the file type {number} in its attributes, which does not exist"
        special = codes.SPECIAL_WITH_CONTENT if wrong else codes.SPECIAL
        found = self._capped[codes.ATTRIBUTES if kind is None else special]
        if kind is not None:
            assert members.marks is not None
            members.marks[member] |= SPECIAL
        if (kind is not None or wrong) and not found.full():
            message = f"{name} {wrong}. It is extracted as a file."
            if kind is not None:
                what = f"{kind}{self._target(member) if number == _LINK else ''}, not a regular file"
                message = f"{name} is a {what}{f', but {wrong}' if wrong else ''}. It is listed but not extracted."
            found.add(message, spans, member)
        if has_mode and external & SET_ID and not self._capped[codes.SET_ID].full():
            self._capped[codes.SET_ID].add(
                f"The permissions of {name} ({external >> 16 & 0o7777:o}) let it run with the rights of its owner or "
                "group. Do not restore them when extracting.",
                spans,
                member,
            )

    def close(self) -> None:
        """Report how many findings were dropped."""
        for each in self._capped.values():
            each.close()

    def _target(self, index: int) -> str:
        """The target of a link, which is its content; empty if that cannot be read."""
        member = self._emitter.members[index]
        if (
            is_sparing(self._source)
            or not member.readable
            or member.codec is Codec.UNKNOWN
            or max(member.size, member.stored) > _MAX_TARGET_BYTES
        ):
            return ""
        try:
            return f" to {brief(b''.join(content(member, blocks_of(self._source, member.spans))))}"
        except MemberError:
            return ""


_HAS_CHANGED = 1


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """The modification time, and where a link leads.

    The time is an extended timestamp, or the DOS date, which has no time zone and is taken as local.
    """
    members = archive.members
    local = read_local(archive.source, members.head_of(index))
    if local is None:
        return MemberMetadata()
    header, extra = local.local, local.extra
    if members.marks_of(index) & SPECIAL:
        size = members.size(index)
        central = archive.detail.central if archive.detail is not None else ()
        at = central[index] + EXTERNAL_OFFSET if index < len(central) else archive.source.size
        # A device may have content too, which leads nowhere.
        is_link = int.from_bytes(archive.source.read(at, 4), "little") >> 28 == _LINK
        has_target = is_link and 0 < size <= _MAX_TARGET_BYTES
        try:
            return MemberMetadata(target=b"".join(read_member(archive, index, Progress())) if has_target else None)
        except MemberError:  # where a damaged link leads is unknown
            return MemberMetadata()
    for identifier, _, held in extra_records(extra):
        if identifier == TIMESTAMP and len(held) >= 5 and held[0] & _HAS_CHANGED:
            return MemberMetadata(changed=int.from_bytes(held[1:5], "little", signed=True))
    from datetime import datetime  # listing asks for no times

    date, time = header.date, header.time
    try:
        day = datetime(1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, time % 32 * 2)  # noqa: DTZ001
        return MemberMetadata(changed=int(day.timestamp()))
    except (ValueError, OverflowError, OSError):
        return MemberMetadata()


def read_member(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the content of a member in pieces of at most 512 KiB, never more than its declared size.

    The CRC-32 is not compared: damaged content is worth seeing. Raises MemberError before the first piece if the member
    cannot be read, and after the last good one if the content is shorter or longer than declared.
    """
    source, members = archive.source, archive.members
    if is_sparing(source) and members.heads is not None:  # its local header was not read
        head, size = members.heads[index], members.stored(index)
        expect(source, head, members.stops[index])
        if (found := read_local(source, head)) is not None:
            start = found.begin
            members.starts[index], members.stops[index] = min(start, source.size), min(start + size, source.size)
    member = members[index]
    if not member.readable:
        raise MemberError(f"{brief(member.path)} has no local header, so the place of its data is unknown.")
    if member.codec is Codec.UNKNOWN:
        raise MemberError(_why_unreadable(source, member))
    progress.begin(f"Reading {brief(member.path)}", member.size)
    for piece in content(member, blocks_of(source, member.spans)):
        yield piece
        progress.advance(len(piece))


def content(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a member from its ``stored`` bytes, as ``read_member`` does."""
    given = 0
    for piece in stored if member.codec is Codec.STORED else decompressed(member, stored):
        kept = piece[: member.size - given]
        given += len(kept)
        if kept:
            yield kept
        if len(kept) < len(piece):
            raise MemberError(f"{brief(member.path)} is longer than the {in_bytes(member.size)} it should have.")
    if given < member.size:
        raise MemberError(f"{brief(member.path)} ends after {in_bytes(given)} but should have {in_bytes(member.size)}.")


def _why_unreadable(source: Source, member: Member) -> str:
    found, name = read_local(source, member.head), brief(member.path)
    if found is None:
        return f"{name} cannot be read: its local header is cut off."
    if found.local.flags & (ENCRYPTED | STRONG | MASKED):
        return f"{name} is encrypted, which this program does not read."
    method = f"{found.local.method} ({method_text(found.local.method)})"
    return f"{name} uses compression method {method}, which this program does not read."


# ---- decompression ---------------------------------------------------------------------------------------------------

_NAMES = {Codec.DEFLATE: "deflate stream", Codec.BZIP2: "bzip2 data", Codec.LZMA: "LZMA data", Codec.XZ: "xz data"}
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
    return _zstd(member, stored) if member.codec is Codec.ZSTD else _unpacked(member, stored)


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
    import lzma  # listing unpacks nothing

    name, what = brief(member.path), _NAMES[member.codec]
    given, over = 0, b""
    try:
        decoder, first, marked = _opened(member, stored)
        for piece in _bounded(decoder, chain((first,), stored)):
            room = len(piece) if marked else max(0, member.size - given)
            given += len(piece)
            yield piece[:room]
            over += piece[room:]
            if len(over) > _MAX_OVER_BYTES:
                break
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, MemoryError) as error:
        if needs_too_much_memory(error):
            raise RefusedMemberError(f"The {what} of {name} needs too much memory.") from error
        raise MemberError(f"The {what} of {name} is damaged: {str(error).rstrip('.')}.") from error
    if decoder.eof or len(over) > _MAX_OVER_BYTES:
        yield over
    rest = len(decoder.unused_data) + sum(map(len, stored)) if decoder.eof else 0
    if rest:
        ends = f"ends {in_bytes(rest)} before its compressed size"
        raise MemberError(f"The {what} of {name} {ends}. Readers ignore the rest.")
    if not decoder.eof and (marked or given < member.size):
        raise MemberError(f"The {what} of {name} does not end within its {in_bytes(member.stored)}.")


def _bounded(decoder: Any, stored: Iterator[bytes]) -> Iterator[bytes]:
    """What ``stored`` decodes to, in pieces of at most BLOCK bytes."""
    for data in stored:
        left, piece = data, b""
        # A full piece may leave output in the decoder even if no input is left.
        while not decoder.eof and (left or len(piece) == BLOCK or not getattr(decoder, "needs_input", True)):
            piece = decoder.decompress(left, BLOCK)
            left = getattr(decoder, "unconsumed_tail", b"")  # of zlib; the others keep it
            yield piece
        if decoder.eof:
            return


def _opened(member: Member, stored: Iterator[bytes]) -> tuple[Any, bytes, bool]:
    """The decoder of a member, data that was read, and whether the data says where it ends.

    Raises MemberError, and what lzma raises.
    """
    if member.codec is Codec.DEFLATE:
        return zlib.decompressobj(-zlib.MAX_WBITS), b"", True
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
