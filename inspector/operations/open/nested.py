"""An archive inside another, ``OUTER!/MEMBER``, and inside compressed bytes, ``FILE.tar.gz!/``; to any depth up to 16.

A stored member is a view of the file around it. What is compressed is unpacked once, into memory or a nameless
temporary file, and only up to the limit for contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from inspector.core.format import MemberError
from inspector.core.limits import CONTENT
from inspector.core.member import HOLES, SPECIAL, Codec, Member
from inspector.core.names import encoded, visible
from inspector.core.numbers import grouped, in_bytes, rounded, verb
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, BytesSource, Source, SourceError, SplicedSource, blocks
from inspector.core.span import Span
from inspector.operations.open.opening import SECTION, Opened, around, decode, open_place, start
from inspector.sources.local.file import TemporarySource
from inspector.sources.local.folder import Folder, LocalFolder
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # a file of this machine needs neither
    from inspector.sources.s3.prefix import S3Prefix
    from inspector.sources.s3.responses import Seen

MAX_DEPTH = 16
"""Archives that may lie in each other; compressed bytes count as one."""
_MAX_IN_MEMORY_BYTES = 32 << 20
_MAX_LZMA_BYTES = 256 << 20
"""Memory that unpacking xz may take."""


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
    inner = outer
    depth = 0
    for name in names:
        archive = _decoded(inner, progress)
        while archive is None or not name:
            depth = _deeper(depth, inner)
            inner = _unpacked(inner, progress)
            if not name:
                break
            archive = _decoded(inner, progress)
        else:
            depth = _deeper(depth, inner)
            inner = _content(archive, name, f"{inner.name}!/{name}", progress)
    return inner


def _deeper(depth: int, inner: Source) -> int:
    if depth == MAX_DEPTH:
        raise SourceError(f"{visible(inner.name)} lies {MAX_DEPTH} archives deep; what is in it is not opened.")
    return depth + 1


def _decoded(source: Source, progress: Progress) -> Opened | None:
    """The decoded archive; None if it is compressed. A CAF, say, may begin with a compressed member."""
    archive = start(source)
    if archive.decoder is not None:
        decode(archive, progress)
    return None if not len(archive.members) and _method(source) is not None else archive


def _content(archive: Opened, name: str, label: str, progress: Progress) -> Source:
    decoder, members, wanted = archive.decoder, archive.members, encoded(name)
    found = [index for index in range(len(members)) if members.path(index) == wanted]
    found = found or [index for index in range(len(members)) if visible(members.path(index)) == name]
    if len(found) != 1 or decoder is None:
        why = f"{grouped(len(found))} members are" if found else "no member is"
        raise SourceError(f"{visible(label)} cannot be opened: {why} called {visible(name)}.")
    member = members[found[0]]
    if not member.readable or member.marks & SPECIAL:
        raise SourceError(f"{visible(label)} cannot be opened: it is no file whose bytes are in the archive.")
    if _is_stored(archive.source, member):
        return SplicedSource(archive.source, member.spans, label)
    try:
        return _kept(decoder.read(archive, member.index, progress), label)
    except MemberError as error:
        raise SourceError(f"{visible(label)} cannot be opened. {error}") from error


def _is_stored(source: Source, member: Member) -> bool:
    inside = all(span.stop <= source.size for span in member.spans)
    plain = member.codec is Codec.STORED and not member.marks & HOLES
    return plain and inside and sum(span.size for span in member.spans) == member.size


def _kept(pieces: Iterable[bytes], label: str) -> Source:
    """All the bytes, in memory or in a temporary file."""
    held = bytearray()
    file: TemporarySource | None = None
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > CONTENT.value:
            raise SourceError(
                f"{visible(label)} is larger than {rounded(CONTENT.value)} when unpacked, so it is not opened. Extract "
                f"it and open the file, or raise {CONTENT.variable}."
            )
        if file is None and size > _MAX_IN_MEMORY_BYTES:
            file = TemporarySource(label)
            file.append(bytes(held))
            held.clear()
        if file is None:
            held += piece
        else:
            file.append(piece)
    return file or BytesSource(bytes(held), label)


# ---- compressed bytes --------------------------------------------------------------------------------------------


class _Unpacker(Protocol):
    """What zlib, bz2 and lzma have in common."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def unused_data(self) -> bytes:
        """What comes after it."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """At most so many bytes of what is inside."""


_GZIP, _BZIP2, _XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _method(source: Source) -> bytes | None:
    """The first bytes of the compression that a source has; None if it is not known here."""
    head = source.read(0, 6)
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] < 0x60:
        return _ZSTD  # it begins with a skippable frame (RFC 8878, 3.1.2)
    return next((each for each in (_GZIP, _BZIP2, _XZ, _ZSTD) if head.startswith(each)), None)


def _new_unpacker(method: bytes) -> Callable[[], _Unpacker]:
    if method == _GZIP:
        import zlib

        return lambda: zlib.decompressobj(31)
    if method == _BZIP2:
        import bz2

        return bz2.BZ2Decompressor
    import lzma

    return lambda: lzma.LZMADecompressor(memlimit=_MAX_LZMA_BYTES)


def _unpacked(source: Source, progress: Progress) -> Source:
    import lzma  # few files are unpacked
    import zlib

    from inspector.formats._zstd import ZstdError

    method = _method(source)
    if method is None:
        raise SourceError(f"{visible(source.name)} is not compressed by gzip, bzip2, xz or zstd.")
    suffix = next((each for each in _SUFFIXES if source.name.endswith(each)), "")
    name = f"{source.name[: -len(suffix)]}.tar" if source.name.endswith(".tgz") else source.name.removesuffix(suffix)
    progress.begin(f"Unpacking {visible(source.name)}", source.size)
    pieces = _zstd(source, progress) if method == _ZSTD else _streams(source, _new_unpacker(method), progress)
    try:
        return _kept(pieces, name)
    except (zlib.error, lzma.LZMAError, ZstdError, OSError, ValueError, EOFError) as error:
        raise SourceError(f"{visible(source.name)} cannot be unpacked: {str(error).rstrip('.')}.") from error


def _zstd(source: Source, progress: Progress) -> Iterator[bytes]:
    from inspector.formats._zstd import Stream

    stream = Stream(skippable=True)
    for block in blocks(source, 0, source.size):
        yield from stream.feed(block)
        progress.advance(len(block))
    if not stream.ended:
        raise EOFError("it is cut off")


def _streams(source: Source, new: Callable[[], _Unpacker], progress: Progress) -> Iterator[bytes]:
    """The content of compressed streams, one after another; zeros behind them are padding."""
    unpacker, begun, ended = new(), False, False
    at = 0
    for block in blocks(source, 0, source.size):
        data = block
        at += len(block)
        while data:
            if not begun and not (data := data.lstrip(b"\0")):
                break
            behind = Span(at - len(data), source.size) if ended and not begun else None
            yield _begun(unpacker, data, behind)
            begun = True
            data = getattr(unpacker, "unconsumed_tail", b"")
            while not unpacker.eof and (data or not getattr(unpacker, "needs_input", True)):
                yield unpacker.decompress(data, BLOCK)
                data = getattr(unpacker, "unconsumed_tail", b"")
            if unpacker.eof:
                data = unpacker.unused_data
                unpacker, begun, ended = new(), False, True
        progress.advance(len(block))
    if begun:
        raise EOFError("it is cut off")


def _begun(unpacker: _Unpacker, data: bytes, behind: Span | None) -> bytes:
    """The first of what ``data`` holds. ``behind``: these are the first bytes behind the end of a stream."""
    import lzma
    import zlib

    try:
        return unpacker.decompress(data, BLOCK)
    except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError) as error:
        if behind is None:
            raise
        raise ValueError(
            f"its compressed data ends before byte {behind.start:,}. The last {in_bytes(behind.size)} "
            f"{verb(behind.size, 'is', 'are')} something else, which other programs ignore. Cut them off in a copy"
        ) from error
