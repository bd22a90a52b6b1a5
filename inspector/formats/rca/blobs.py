"""RCA's blobs: names and contents out of the zstd frames, one frame a segment.

The decompressed data of a blob is its name in UTF-8, a 0 byte and the content. Blob k of a segment cannot be had
without those before it; segments are independent, so damage in one does not stop the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, repeat
from operator import sub

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.finding import FindingType
from inspector.core.format import MemberError
from inspector.core.names import hazards, visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import blocks as pieces
from inspector.core.span import Spans
from inspector.formats._zstd import Stream, ZstdError, ZstdRefusedError
from inspector.formats.rca import codes
from inspector.formats.rca.blocks import BLOB, REST
from inspector.formats.rca.chunks import PIECE_BYTES, Cursor, Layout, ReadAhead

MAX_NAME_BYTES = 65_535
"""The longest name that is kept, in bytes."""

MAX_BATCH_BLOBS = 256

_SHORT_NAME_BYTES = 255
"""A name of so many bytes at most can be neither too long nor too deep, in bytes."""
_CAPPED_TYPES = {
    codes.ZSTD: "segments that cannot be decoded whole",
    codes.ZSTD_NOT_READ: "segments that are not decoded",
    codes.ZSTD_FRAMES: "segments of more than one zstd frame",
    codes.ZSTD_UNALIGNED: "blobs that end inside a zstd block",
    codes.NAME_UNTERMINATED: "stretches without a name",
    codes.NAME_TOO_LONG: "names that are too long",
    codes.NAME_NOT_UTF_8: "names that are not UTF-8",
    codes.NAME_EMPTY: "empty names",
    codes.NAME_HAZARD: "hazardous names",
}
_PLAIN = re.compile(rb"(?:[0-9A-Za-z_][0-9A-Za-z_. -]*+(?:/[0-9A-Za-z_][0-9A-Za-z_. -]*+)*\n)*")


class Content:
    """Takes the name off the decoded data of one blob. ``name`` is None until its terminator has been seen."""

    def __init__(self) -> None:
        self.name: bytes | None = None
        self.name_size = 0
        self._started = bytearray()

    @property
    def seen(self) -> bytes:
        """The name as far as it has been seen."""
        return bytes(self._started)

    def take(self, piece: bytes) -> bytes:
        """The part of ``piece`` that is content."""
        return piece[len(piece) - self.count(piece) :]

    def count(self, piece: bytes) -> int:
        """How many bytes of ``piece`` are content: those behind the name. Taking them would copy them."""
        if self.name is not None:
            return len(piece)
        cut = piece.find(0)
        part = piece if cut < 0 else piece[:cut]
        self.name_size += len(part)
        self._started += part[: MAX_NAME_BYTES - len(self._started)]
        if cut < 0:
            return 0
        self.name = bytes(self._started)
        return len(piece) - cut - 1


def _whole(parts: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The pieces of a payload of ``size`` bytes; raises ZstdError where the file has become shorter."""
    for data in parts:
        yield data
        size -= len(data)
    if size:
        raise ZstdError("The file has become shorter since it was opened.")


class Decoding:
    """One pass over all segments that appends every blob to the members as it is decoded."""

    def __init__(self, layout: Layout, emitter: Emitter, progress: Progress) -> None:
        self._layout = layout
        self._blocks = layout.blocks
        self._inner = layout.inner
        self._reader = ReadAhead(layout.inner)
        self._ahead = MAX_BATCH_BLOBS
        self._members = emitter.members
        self._progress = progress
        self._stream = Stream()
        self._at = 0
        self._capped = {what: CappedFindings(emitter, what, things) for what, things in _CAPPED_TYPES.items()}

    def run(self, first: int = 0) -> None:
        """Decode everything that can be decoded, from the segment ``first`` on."""
        self._progress.begin("Decoding names", self._inner.size)
        for number in range(first, len(self._blocks.segments)):
            self._segment(number)
        self._reached(self._inner.size)
        for kept in self._capped.values():
            kept.close()

    def _segment(self, number: int) -> None:
        block, last = self._blocks.segment(number)
        if not self._layout.blobs(block, last) and REST not in self._blocks.types[block:last]:
            return
        self._stream.reset()
        try:
            while block < last:
                block = self._next(block, last)
                self._reached(self._blocks.edges[block])
        except _DamageError as damage:
            self._layout.damaged[number] = damage.block
            if damage.refused:
                self._layout.refused.add(number)
            self._report_damage(number, damage, last)
        self._reached(self._blocks.edges[last] if last else 0)
        if self._stream.frames > 1 and not self._capped[codes.ZSTD_FRAMES].full():
            self._capped[codes.ZSTD_FRAMES].add(
                f"Segment {number + 1} holds {self._stream.frames} zstd frames. The blobs of a segment share one, and "
                "other readers may stop at the end of the first.",
                self._inner.outer(self._blocks.edges[self._blocks.segments[number]], self._blocks.edges[last]),
            )

    def _next(self, block: int, last: int) -> int:
        """Decode what begins at ``block``; says at which block that ended."""
        following = self._batch(block, last) if self._stream.aligned else block
        if following > block:
            return following
        if self._blocks.types[block] == REST and block + 1 < len(self._blocks):
            raise _DamageError("", block)
        if self._blocks.types[block] != BLOB:
            return block + 1
        if self._blocks.payloads[block] == self._blocks.edges[block + 1] and self._blocks.whole(block):
            return self._empty(block, last)
        self._blob(block)
        return block + 1

    def _empty(self, block: int, last: int) -> int:
        """Pass over neighbouring blobs without a payload, as one: a file of zeros is a blob in every byte."""
        types, payloads, edges = self._blocks.types, self._blocks.payloads, self._blocks.edges
        stop = last if self._blocks.whole(last - 1) else last - 1
        others = (at for at in range(block, stop) if payloads[at] != edges[at + 1] or types[at] != BLOB)
        following = next(others, stop)
        self._unterminated(block, following)
        return following

    def _unterminated(self, first: int, last: int) -> None:
        """Report the blobs ``[first, last)``, none of which has a name."""
        kept = self._capped[codes.NAME_UNTERMINATED]
        if kept.full():
            return
        message = f"{self._where(first)} has no name: no 0 byte ends one. It is not listed."
        if last - first > 1:
            message = (
                f"{self._where(first)} and the {count(last - first - 1, 'blob')} after it hold nothing. No 0 byte ends "
                "a name in them, so they have no name and are not listed."
            )
        kept.add(message, self._inner.outer(self._blocks.edges[first], self._blocks.edges[last]))

    def _reached(self, position: int) -> None:
        """Everything before the inner ``position`` is done."""
        self._progress.advance(position - self._at)
        self._at = position

    def _report_damage(self, number: int, damage: _DamageError, last: int) -> None:
        if damage.member is None and not self._blocks.whole(damage.block):
            return  # that it reaches past the end has been said, and there is no member to mark
        capped = self._capped[codes.ZSTD_NOT_READ if damage.refused else codes.ZSTD]
        if not str(damage) or capped.full():
            return
        left = self._layout.blobs(damage.block + 1, last)
        lost = f" {count(left, 'further blob')} of segment {number + 1} cannot be decoded without it." if left else ""
        message = f"{self._where(damage.block)} {damage}{lost}"
        capped.add(message, self._spans(damage.block), damage.member)

    def _spans(self, block: int) -> Spans:
        return self._inner.outer(self._blocks.edges[block], self._blocks.edges[block + 1])

    def _where(self, block: int) -> str:
        return f"The blob at byte {grouped(self._layout.outer_start(block))}"

    def _batch(self, block: int, last: int) -> int:
        """Decode neighbouring small blobs that are one zstd block each; says at which block that ended."""
        edges = self._blocks.edges
        first = edges[block]
        stop = min(last, block + self._ahead, bisect_right(edges, first + PIECE_BYTES, block) - 1)
        if self._blocks.types.count(BLOB, block, stop) < stop - block or not self._blocks.whole(stop - 1):
            stop = block + 1 if self._blocks.types[block] == BLOB and self._blocks.whole(block) else block
        if stop <= block:
            return block
        window = self._inner.read(first, edges[stop] - first)
        decoded: list[bytes] = []
        bounds = zip(self._blocks.payloads[block:stop], edges[block + 1 : stop + 1], strict=True)
        try:
            self._stream.blocks([window[start - first : end - first] for start, end in bounds], decoded)
        except ZstdError as error:
            damaged = block + len(decoded)
            self._append(block, decoded)
            raise _DamageError(f"cannot be decoded. {error}", damaged, error) from error
        self._append(block, decoded)
        # Where few are taken, few more are tried: taking many apart in vain costs more than one by one.
        self._ahead = min(MAX_BATCH_BLOBS, max(1, 2 * len(decoded)))
        return block + len(decoded)

    def _append(self, block: int, decoded: list[bytes]) -> None:
        """Add the blobs from ``block`` on, whose whole decoded data is at hand."""
        if not (cuts := list(map(bytes.find, decoded, repeat(0)))):
            return
        names = [data[:cut] for data, cut in zip(decoded, cuts, strict=True)]
        lines = b"\n".join(names) + b"\n"
        if (
            min(cuts) < 0
            or max(cuts) > _SHORT_NAME_BYTES
            or lines.count(b"\n") > len(names)
            or not _PLAIN.fullmatch(lines)
        ):
            for number, data in enumerate(decoded, block):
                content = Content()
                self._add(number, content, len(content.take(data)))
            return
        # Straight into the columns, the number of members last: one call a blob would cost half as much as decoding it.
        members, last = self._members, block + len(decoded)
        sizes, heads, base = members.sizes, members.heads, len(members.paths)
        assert sizes is not None
        assert heads is not None
        members.paths += lines.replace(b"\n", b"")
        members.starts.extend(self._blocks.payloads[block:last])
        members.stops.extend(self._blocks.edges[block + 1 : last + 1])
        sizes.fromlist(list(map(sub, map(sub, map(len, decoded), cuts), repeat(1))))
        heads.fromlist(self._layout.outer_starts(block, last))
        members.path_stops.fromlist(list(accumulate(cuts, initial=base))[1:])

    def _blob(self, block: int) -> None:
        """Decode one blob in pieces of bounded size."""
        content, size = Content(), 0
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        at = payload
        try:
            for data in _whole(self._reader.pieces(payload, stop), stop - payload):
                for piece in self._stream.feed(data):
                    size += content.count(piece)
                    self._progress.advance(0)
                at += len(data)
                self._reached(at)
            if not self._blocks.whole(block):
                raise ZstdError(f"Its payload is missing {in_bytes(self._blocks.claimed - stop)}.")
        except ZstdError as error:
            member = None if content.name is None else self._add(block, content, size)
            message = f"cannot be decoded{' whole' if size else ''}. {error}"
            raise _DamageError(message, block, error, member) from error
        self._add(block, content, size)
        if self._stream.aligned or self._stream.ended or stop == payload or self._capped[codes.ZSTD_UNALIGNED].full():
            return
        message = f"{self._where(block)} ends inside a zstd block: the next blob holds some of its data."
        self._capped[codes.ZSTD_UNALIGNED].add(message, self._spans(block))

    def _add(self, block: int, content: Content, size: int) -> int | None:
        """Append one blob with all that is to say about its name; says which member it is."""
        if content.name is None:
            self._unterminated(block, block + 1)
            return None
        head = self._layout.outer_start(block)
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        member = self._members.append(content.name, payload, stop, size=size, head=head)
        for what, words in _name_problems(content):
            if not self._capped[what].full():
                message = f"The name of member {member}{words}"
                self._capped[what].add(message, self._spans(block), member)
        return member


def _name_problems(content: Content) -> Iterator[tuple[FindingType, str]]:
    """The types and the ends of sentences, behind "the name", of what is to be said of a name."""
    name = content.name or b""
    if content.name_size > MAX_NAME_BYTES:
        yield (
            codes.NAME_TOO_LONG,
            f" is {in_bytes(content.name_size)} long; {grouped(MAX_NAME_BYTES)} of them are kept.",
        )
    for words in hazards(name):
        if words == "is not UTF-8":
            shown = visible(name[:80])
            yield (
                codes.NAME_NOT_UTF_8,
                f", {shown}, is not UTF-8; it is shown with escapes. Its content is not affected.",
            )
        elif not name:
            yield codes.NAME_EMPTY, " is empty, so nothing can be extracted under it."
        else:
            yield codes.NAME_HAZARD, f", {visible(name[:80])}, {words}."


class _DamageError(Exception):
    """A segment cannot be decoded from ``block`` on; the message goes on from what says where that is.

    It is empty where that is reported as a part of the structure.
    """

    def __init__(self, message: str, block: int, cause: ZstdError | None = None, member: int | None = None) -> None:
        super().__init__(message)
        self.block = block
        self.refused = isinstance(cause, ZstdRefusedError)
        self.member = member


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """See Format.read. What stands before the blob in its segment is decoded too, unless the last reader did that."""
    layout = archive.detail
    assert isinstance(layout, Layout)
    blocks = layout.blocks
    target, name = blocks.at_payload(archive.members.starts[index]), visible(archive.members.path(index)[:80])
    cursor = _cursor(layout, target)
    try:
        while cursor.block < target:
            for _ in _decoded(layout, cursor) if blocks.types[cursor.block] == BLOB else ():
                progress.advance(0)
            cursor.block += 1
        content = Content()
        for piece in _decoded(layout, cursor):
            if rest := content.take(piece):
                progress.advance(len(rest))
                yield rest
    except ZstdError as error:
        where = "it" if cursor.block == target else "a blob before it in its segment"
        raise MemberError(f"'{name}' cannot be read whole, for {where} cannot be decoded. {error}") from error
    if not blocks.whole(target):
        missing = in_bytes(blocks.claimed - blocks.edges[target + 1])
        raise MemberError(f"'{name}' cannot be read whole: its payload is missing {missing}.")
    cursor.block += 1
    layout.cursor = cursor


def _cursor(layout: Layout, target: int) -> Cursor:
    """A decoder in front of ``target`` or of a block before it in the same segment."""
    # Taken out first: whoever reads at the same time, or stops halfway, must not find it in use.
    cursor, layout.cursor = layout.cursor, None
    first = layout.blocks.segment(layout.blocks.segment_of(target))[0]
    return cursor if cursor and first < cursor.block <= target else Cursor(Stream(), first)


def _decoded(layout: Layout, cursor: Cursor) -> Iterator[bytes]:
    start, stop = layout.blocks.payloads[cursor.block], layout.blocks.edges[cursor.block + 1]
    for data in _whole(pieces(layout.inner, start, stop, PIECE_BYTES), stop - start):
        yield from cursor.stream.feed(data)
