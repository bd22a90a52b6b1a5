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
    decoder, members, wanted = archive.decoder, archive.members, encoded(name)
    found = [index for index in range(len(members)) if members.path(index) == wanted]
    found = found or [index for index in range(len(members)) if visible(members.path(index)) == name]
    if len(found) != 1 or decoder is None:
        why = f"{grouped(len(found))} members are" if found else "no member is"
        raise SourceError(f"{visible(label)} cannot be opened: {why} called {visible(name)}.")
    member = members[found[0]]
    if not member.readable or member.marks & SPECIAL:
        raise SourceError(f"{visible(label)} cannot be opened: it is no file whose bytes are in the archive.")
    if is_stored(archive.source, member):
        return SplicedSource(archive.source, member.spans, label)
    try:
        kept = _kept(decoder.read(archive, member.index, progress), label)
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


def _new_unpacker(method: bytes) -> Callable[[], Any]:
    import bz2  # few files are unpacked
    import lzma
    import zlib

    made: dict[bytes, Callable[[], Any]] = {
        _GZIP: partial(zlib.decompressobj, 31),
        _BZIP2: bz2.BZ2Decompressor,
        _XZ: partial(lzma.LZMADecompressor, memlimit=_MAX_LZMA_BYTES),
    }
    return made[method]


def _unpacked(source: Source, progress: Progress) -> Source:
    method = _method(source)
    if method is None:
        raise SourceError(f"{visible(source.name)} is not compressed by gzip, bzip2, xz or zstd.")
    suffix = next((each for each in _SUFFIXES if source.name.endswith(each)), "")
    name = f"{source.name[: -len(suffix)]}.tar" if source.name.endswith(".tgz") else source.name.removesuffix(suffix)
    progress.begin(f"Unpacking {visible(source.name)}", source.size)
    unpacking = _Unpacking(source, method, progress)
    unpacked = _kept(unpacking.pieces(), name)
    if unpacking.failed is not None and (unpacking.refused or not unpacked.size):
        raise SourceError(f"{visible(source.name)} cannot be unpacked: {unpacking.reason}.") from unpacking.failed
    unpacked.doubt = unpacking.doubt(unpacked.size) or doubt_of(source)
    return unpacked


class _Unpacking:
    """Unpacks as far as it goes. ``failed`` is why it went no further, None if all was unpacked.

    ``refused``: the rest may be right, but is not unpacked here, for it needs too much memory.
    ``behind`` are the bytes of ``source`` behind its compressed data, if there are any that are not zeros.
    """

    def __init__(self, source: Source, method: bytes, progress: Progress) -> None:
        self.failed: Exception | None = None
        self.refused = False
        self.behind: Span | None = None
        self._source = source
        self._method = method
        self._progress = progress
        self._pieces = self._zstd() if method == _ZSTD else self._streams(_new_unpacker(method))

    @property
    def reason(self) -> str:
        """Why it went no further, as the end of a sentence."""
        if isinstance(self.failed, MemoryError):
            return "it needs more memory than there is"
        if self.refused and self._method == _XZ:
            return f"it needs more than {in_bytes(_MAX_LZMA_BYTES)} of memory"
        return str(self.failed).rstrip(".")

    def pieces(self) -> Iterator[bytes]:
        """What comes out."""
        import lzma  # few files are unpacked
        import zlib

        from inspector.formats._zstd import ZstdError, ZstdRefusedError

        try:
            yield from self._pieces
        except (zlib.error, lzma.LZMAError, ZstdError, OSError, ValueError, EOFError, MemoryError) as error:
            self.failed = error
            self.refused = isinstance(error, ZstdRefusedError) or needs_too_much_memory(error)

    def doubt(self, size: int) -> Finding | None:
        """What is wrong, in a finding of the ``size`` bytes that came out; None if nothing is."""
        name, all_of_it = visible(self._source.name), in_bytes(size)
        if isinstance(self.failed, EOFError):
            sentence = f"{name} is cut off: only the first {all_of_it} of what is inside could be unpacked."
            return COMPRESSED_CUT_OFF.finding(sentence)
        if self.failed is not None:
            sentence = f"{name} is damaged: only the first {all_of_it} of what is inside could be unpacked."
            evidence = "Some of them may be wrong, for the checksum at the end of the data could not be compared."
            return COMPRESSED_DAMAGED.finding(f"{sentence} {self.reason}. {evidence}", (Span(0, size),))
        if self.behind is not None:
            follow = verb(self.behind.size, "follows", "follow")
            sentence = f"{in_bytes(self.behind.size)} {follow} the compressed data of {name}."
            return COMPRESSED_FOLLOWED.finding(f"{sentence} The data ends before byte {self.behind.start:,}.")
        return None

    def _zstd(self) -> Iterator[bytes]:
        from inspector.formats._zstd import Stream, ZstdError

        stream = Stream(skippable=True)
        for block in blocks(self._source, 0, self._source.size, _SLICE):
            try:
                yield from stream.feed(block)
            except ZstdError:
                if not stream.whole or _method(self._source, stream.whole) == _ZSTD:
                    raise
                self.behind = Span(stream.whole, self._source.size)
                return
            self._progress.advance(len(block))
        if not stream.ended:
            raise EOFError("it is cut off")

    def _streams(self, new: Callable[[], Any]) -> Iterator[bytes]:
        """The content of compressed streams, one after another; zeros behind them are padding."""
        unpacker, begun, ended = new(), False, False
        at = 0
        for block in blocks(self._source, 0, self._source.size, _SLICE):
            data = block
            at += len(block)
            while data:
                if not begun and not (data := data.lstrip(b"\0")):
                    break
                place = at - len(data)
                if ended and not begun and _method(self._source, place) != self._method:
                    self.behind = Span(place, self._source.size)
                    return
                begun = True
                yield from _fed(unpacker, data)
                if unpacker.eof:
                    data = unpacker.unused_data
                    unpacker, begun, ended = new(), False, True
                else:
                    data = b""
            self._progress.advance(len(block))
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
