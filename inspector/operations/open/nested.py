"""An archive inside another, ``OUTER!/MEMBER``, and inside compressed bytes, ``FILE.tar.gz!/``; to any depth up to 16.

A stored member is a view of the file around it. What is compressed is unpacked once, into memory or a nameless
temporary file, and only up to the limit for contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.core.codes import COMPRESSED_CUT_OFF, COMPRESSED_DAMAGED, COMPRESSED_FOLLOWED
from inspector.core.finding import Finding
from inspector.core.format import MemberError, needs_too_much_memory
from inspector.core.limits import CONTENT
from inspector.core.member import HOLES, SPECIAL, Codec, Member
from inspector.core.names import encoded, visible
from inspector.core.numbers import grouped, in_bytes, rounded, verb
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, BytesSource, Source, SourceError, SplicedSource, blocks, doubt_of
from inspector.core.span import Span
from inspector.operations.open.opening import SECTION, Opened, around, decode, open_place, start
from inspector.sources.local.file import Folder, LocalFolder, TemporarySource
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # a file of this machine needs neither
    from inspector.sources.s3.prefix import S3Prefix
    from inspector.sources.s3.responses import Seen

MAX_DEPTH = 16
"""Archives that may lie in each other; compressed bytes count as one."""
_MAX_IN_MEMORY_BYTES = 32 << 20
_MAX_LZMA_BYTES = 256 << 20
"""Memory that unpacking xz may take."""
_SLICE = 16 << 10
"""Bytes unpacked at a time: what bzip2, xz and zstd make of those that an error lies in is lost."""


def open_nested(
    location: str, connection: Connection = DEFAULT, *, sparing: bool = False, seen: Seen | None = None
) -> Source | LocalFolder | S3Prefix:
    """The bytes or the folder at a location, as ``open_place``, also of an archive inside another.

    Raises SourceError if there is neither, or if what is around it cannot be read.
    """
    outer, names = around(location)
    if not names or SECTION.search(location) is not None:
        return open_place(location, connection, sparing=sparing, seen=seen)
    whole = open_place(outer, connection)
    if isinstance(whole, Folder):
        raise SourceError(f"{visible(location)} names a member of an archive, and {visible(outer)} is a folder.")
    return open_inside(whole, names, Progress())


def open_inside(outer: Source, names: Iterable[str], progress: Progress) -> Source:
    """The content of the member with the first name, inside that the one with the second, and so on.

    An empty name is the content of compressed bytes; in front of any other name they are unpacked unasked. Raises
    SourceError for what is not there or cannot be unpacked, and Cancelled.
    """
    inner, waiting = outer, list(names)
    for _ in range(MAX_DEPTH):
        if not waiting:
            return inner
        archive = _decoded(inner, progress) if waiting[0] else None
        if archive is not None:
            name = waiting.pop(0)
            inner = _content(archive, name, f"{inner.name}!/{name}", progress)
        else:
            inner = _unpacked(inner, progress)
            waiting = waiting[1:] if not waiting[0] else waiting
    if waiting:
        raise SourceError(f"{visible(inner.name)} lies {MAX_DEPTH} archives deep; what is in it is not opened.")
    return inner


def _decoded(source: Source, progress: Progress) -> Opened | None:
    """The decoded archive; None if it is compressed. A CAF, say, may begin with a compressed member."""
    archive = start(source)
    if archive.decoder is not None:
        decode(archive, progress)
    return None if not len(archive.members) and _method(source) is not None else archive


def _content(archive: Opened, name: str, label: str, progress: Progress) -> Source:
    members, wanted = archive.members, encoded(name)
    found = [index for index in range(len(members)) if members.path(index) == wanted]
    found = found or [index for index in range(len(members)) if visible(members.path(index)) == name]
    if len(found) != 1:
        why = f"{grouped(len(found))} members are" if found else "no member is"
        raise SourceError(f"{visible(label)} cannot be opened: {why} called {visible(name)}.")
    return content_of(archive, members[found[0]], label, progress)


def content_of(archive: Opened, member: Member, label: str, progress: Progress) -> Source:
    """The decoded content of a member, to be read anywhere; unpacked first if it is compressed.

    Raises SourceError and Cancelled.
    """
    if archive.decoder is None or not member.readable or member.marks & SPECIAL:
        raise SourceError(f"{visible(label)} cannot be opened: it is no file whose bytes are in the archive.")
    if is_stored(archive.source, member):
        return SplicedSource(archive.source, member.spans, label)
    try:
        kept = _kept(archive.decoder.read(archive, member.index, progress), label)
    except MemberError as error:
        raise SourceError(f"{visible(label)} cannot be opened. {error}") from error
    kept.doubt = doubt_of(archive.source)
    return kept


def is_stored(source: Source, member: Member) -> bool:
    """Whether the bytes of a member are its content, all of it."""
    inside = all(0 <= span.start <= span.stop <= source.size for span in member.spans)
    plain = member.codec is Codec.STORED and not member.marks & HOLES
    return plain and inside and sum(span.size for span in member.spans) == member.size


def _kept(pieces: Iterable[bytes], label: str) -> BytesSource | TemporarySource:
    """All the bytes, in memory or in a temporary file."""
    held, size = bytearray(), 0
    file: TemporarySource | None = None
    for piece in pieces:
        held += piece
        size += len(piece)
        if size > CONTENT.value:
            raise SourceError(
                f"{visible(label)} is larger than {rounded(CONTENT.value)} when unpacked, so it is not opened. Extract "
                f"it and open the file, or raise {CONTENT.variable}."
            )
        if size > _MAX_IN_MEMORY_BYTES:
            file = file or TemporarySource(label)
            file.append(bytes(held))
            held.clear()
    return file or BytesSource(bytes(held), label)


# ---- compressed bytes --------------------------------------------------------------------------------------------


_GZIP, _BZIP2, _XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _method(source: Source, at: int = 0) -> bytes | None:
    """The first bytes of the compression that begins at ``at`` in a source; None if none is known that does."""
    head = source.read(at, 6)
    if len(head) < 4:
        return None
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] < 0x60:
        return _ZSTD  # it begins with a skippable frame (RFC 8878, 3.1.2)
    return next((each for each in (_GZIP, _BZIP2, _XZ, _ZSTD) if head.startswith(each)), None)


class _FollowedError(Exception):
    """Other bytes than zeros follow the compressed data, from byte ``args[0]`` on."""


def _unpacked(source: Source, progress: Progress) -> Source:
    method = _method(source)
    if method is None:
        raise SourceError(f"{visible(source.name)} is not compressed by gzip, bzip2, xz or zstd.")
    suffix = next((each for each in _SUFFIXES if source.name.endswith(each)), "")
    name = f"{source.name[: -len(suffix)]}.tar" if source.name.endswith(".tgz") else source.name.removesuffix(suffix)
    progress.begin(f"Unpacking {visible(source.name)}", source.size)
    ends: list[Exception] = []
    pieces = _zstd(source, progress) if method == _ZSTD else _streams(source, method, progress)
    unpacked = _kept(_as_far_as_it_goes(pieces, ends), name)
    unpacked.doubt = doubt_of(source) if not ends else _doubt(source, method, ends[0], unpacked.size)
    return unpacked


def _as_far_as_it_goes(pieces: Iterator[bytes], ends: list[Exception]) -> Iterator[bytes]:
    """What comes out; ``ends`` gets why it goes no further."""
    import lzma  # few files are unpacked
    import zlib

    from inspector.formats._zstd import ZstdError

    try:
        yield from pieces
    except (zlib.error, lzma.LZMAError, ZstdError, OSError, ValueError, EOFError, MemoryError, _FollowedError) as error:
        ends.append(error)


def _doubt(source: Source, method: bytes, end: Exception, size: int) -> Finding:
    """What is wrong, in a finding of the ``size`` bytes that came out before the end.

    Raises SourceError if there are none, or if the rest may be right, but needs too much memory to be unpacked here.
    """
    from inspector.formats._zstd import ZstdRefusedError

    name = visible(source.name)
    if isinstance(end, _FollowedError):
        (stop,) = end.args
        follow = verb(source.size - stop, "follows", "follow")
        sentence = f"{in_bytes(source.size - stop)} {follow} the compressed data of {name}."
        return COMPRESSED_FOLLOWED.finding(f"{sentence} The data ends before byte {stop:,}.")
    refused, reason = isinstance(end, ZstdRefusedError) or needs_too_much_memory(end), str(end).rstrip(".")
    if isinstance(end, MemoryError):
        reason = "it needs more memory than there is"
    elif refused and method == _XZ:
        reason = f"it needs more than {in_bytes(_MAX_LZMA_BYTES)} of memory"
    if refused or not size:
        raise SourceError(f"{name} cannot be unpacked: {reason}.") from end
    only = f"only the first {in_bytes(size)} of what is inside could be unpacked."
    if isinstance(end, EOFError):
        return COMPRESSED_CUT_OFF.finding(f"{name} is cut off: {only}")
    evidence = "Some of them may be wrong, for the checksum at the end of the data could not be compared."
    return COMPRESSED_DAMAGED.finding(f"{name} is damaged: {only} {reason}. {evidence}", (Span(0, size),))


def _zstd(source: Source, progress: Progress) -> Iterator[bytes]:
    from inspector.formats._zstd import Stream, ZstdError

    stream = Stream(skippable=True)
    for block in blocks(source, 0, source.size, _SLICE):
        try:
            yield from stream.feed(block)
        except ZstdError:
            if not stream.whole or _method(source, stream.whole) == _ZSTD:
                raise
            raise _FollowedError(stream.whole) from None
        progress.advance(len(block))
    if not stream.ended:
        raise EOFError("it is cut off")


def _streams(source: Source, method: bytes, progress: Progress) -> Iterator[bytes]:
    """The content of compressed streams, one after another; zeros behind them are padding."""
    import bz2  # few files are unpacked
    import lzma
    import zlib

    unpackers: dict[bytes, Callable[[], Any]] = {
        _GZIP: partial(zlib.decompressobj, 31),
        _BZIP2: bz2.BZ2Decompressor,
        _XZ: partial(lzma.LZMADecompressor, memlimit=_MAX_LZMA_BYTES),
    }
    unpacker, begun, at = unpackers[method](), False, 0
    for block in blocks(source, 0, source.size, _SLICE):
        data, at = block, at + len(block)
        progress.advance(len(block))
        while data:
            if not begun and not (data := data.lstrip(b"\0")):
                break
            if not begun and _method(source, at - len(data)) != method:
                raise _FollowedError(at - len(data))
            begun = True
            yield from _fed(unpacker, data)
            data = unpacker.unused_data
            if unpacker.eof:
                unpacker, begun = unpackers[method](), False
    if begun:
        raise EOFError("it is cut off")


def _fed(unpacker: Any, data: bytes) -> Iterator[bytes]:
    """What comes out for these bytes; for gzip, all that comes out before an error."""
    import zlib

    while True:
        before = unpacker.copy() if hasattr(unpacker, "copy") else None
        try:
            piece = unpacker.decompress(data, BLOCK)
        except zlib.error:
            if before is None:
                raise
            for each in data:  # the error comes again, behind the last good byte
                yield before.decompress(bytes((each,)))
            raise
        yield piece
        data = getattr(unpacker, "unconsumed_tail", b"")
        if unpacker.eof or (not data and getattr(unpacker, "needs_input", True)):
            return
