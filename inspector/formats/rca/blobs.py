"""RCA's blobs: names and contents out of the zstd frames, one frame a segment.

The decompressed data of a blob is its name in UTF-8, a 0 byte and the content. Blob k of a segment cannot be had
without those before it; segments are independent, so damage in one does not stop the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, repeat
from operator import sub

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError
from inspector.core.names import hazards, visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Spans
from inspector.formats._zstd import Stream, ZstdError
from inspector.formats.rca.blocks import BLOB
from inspector.formats.rca.layout import Cursor, Layout

NAME = 65_535
"""The longest name that is kept, in bytes."""

_SLICE = 256 * 1024
_BATCH = 128
_SHORT = 255
"""A name of so many bytes at most can be neither too long nor too deep, in bytes."""
_PLAIN = re.compile(rb"(?:[0-9A-Za-z_][0-9A-Za-z_. -]*+(?:/[0-9A-Za-z_][0-9A-Za-z_. -]*+)*\n)*")


class Content:
    """Takes the name off the decoded data of one blob. ``name`` is None until its terminator has been seen."""

    def __init__(self) -> None:
        self.name: bytes | None = None
        self.name_size = 0
        self._begun = bytearray()

    def take(self, piece: bytes) -> bytes:
        """The part of ``piece`` that is content."""
        if self.name is not None:
            return piece
        cut = piece.find(0)
        part = piece if cut < 0 else piece[:cut]
        self.name_size += len(part)
        self._begun += part[: NAME - len(self._begun)]
        if cut < 0:
            return b""
        self.name = bytes(self._begun)
        return piece[cut + 1 :]


def _payload(source: Source, start: int, stop: int) -> Iterator[bytes]:
    """The payload ``[start, stop)`` in slices; raises ZstdError where the file has become shorter."""
    while start < stop:
        data = source.read(start, min(_SLICE, stop - start))
        if not data:
            raise ZstdError("The file has become shorter since it was opened.")
        yield data
        start += len(data)


class Decoding:
    """One pass over all segments that appends every blob to the members as it is decoded."""

    def __init__(self, layout: Layout, emitter: Emitter, progress: Progress) -> None:
        self._layout = layout
        self._blocks = layout.blocks
        self._inner = layout.inner
        self._emitter = emitter
        self._members = emitter.members
        self._progress = progress
        self._stream = Stream()
        self._at = 0

    def run(self) -> None:
        """Decode everything that can be decoded."""
        self._progress.begin("Decoding names", self._inner.size)
        for number in range(len(self._blocks.segments)):
            self._segment(number)

    def _segment(self, number: int) -> None:
        block, last = self._blocks.segment(number)
        self._stream.reset()
        try:
            while block < last:
                following = self._batch(block, last) if self._stream.aligned else block
                if following == block:
                    following = block + 1
                    if self._blocks.types[block] == BLOB:
                        self._blob(block)
                block = following
                self._reached(self._blocks.edges[block])
        except _DamageError as damage:
            self._layout.damaged[number] = damage.block
            self._report_damage(number, damage, last)
        self._reached(self._blocks.edges[last] if last else 0)
        if self._stream.frames > 1:
            self._emitter.warning(
                "rca-zstd-frames",
                f"Segment {number + 1} holds {self._stream.frames} zstd frames; the blobs of a segment share one, "
                "and other readers may stop at the end of the first.",
                *self._inner.outer(self._blocks.edges[self._blocks.segments[number]], self._blocks.edges[last]),
            )

    def _reached(self, position: int) -> None:
        """Everything before the inner ``position`` is done."""
        self._progress.advance(position - self._at)
        self._at = position

    def _report_damage(self, number: int, damage: _DamageError, last: int) -> None:
        if damage.member is None and not self._blocks.whole(damage.block):
            return  # that it reaches past the end has been said, and there is no member to mark
        left = self._layout.blobs(damage.block + 1, last)
        lost = f" {count(left, 'further blob')} of segment {number + 1} cannot be decoded without it." if left else ""
        self._emitter.error("rca-zstd", f"{damage}{lost}", *self._spans(damage.block), member=damage.member)

    def _spans(self, block: int) -> Spans:
        return self._inner.outer(self._blocks.edges[block], self._blocks.edges[block + 1])

    def _where(self, block: int) -> str:
        return f"The blob at byte {grouped(self._layout.outer_start(block))}"

    def _batch(self, block: int, last: int) -> int:
        """Decode neighbouring small blobs that are one zstd block each; says at which block that ended."""
        edges = self._blocks.edges
        first = edges[block]
        stop = min(last, block + _BATCH, bisect_right(edges, first + _SLICE, block) - 1)
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
            raise _DamageError(f"{self._where(damaged)} cannot be decoded. {error}", damaged) from error
        self._append(block, decoded)
        return block + len(decoded)

    def _append(self, block: int, decoded: list[bytes]) -> None:
        """Add the blobs from ``block`` on, whose whole decoded data is at hand."""
        cuts = list(map(bytes.find, decoded, repeat(0)))
        if not cuts:
            return
        names = [data[:cut] for data, cut in zip(decoded, cuts, strict=True)]
        lines = b"\n".join(names) + b"\n"
        if min(cuts) < 0 or max(cuts) > _SHORT or lines.count(b"\n") > len(names) or not _PLAIN.fullmatch(lines):
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
        sizes.extend(map(sub, map(sub, map(len, decoded), cuts), repeat(1)))
        heads.extend(self._layout.outer_starts(block, last))
        members.path_stops.extend(list(accumulate(cuts, initial=base))[1:])

    def _blob(self, block: int) -> None:
        """Decode one blob in pieces of bounded size."""
        content, size = Content(), 0
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        at = payload
        try:
            for data in _payload(self._inner, payload, stop):
                for piece in self._stream.feed(data):
                    size += len(content.take(piece))
                    self._progress.advance(0)
                at += len(data)
                self._reached(at)
            if not self._blocks.whole(block):
                raise ZstdError(f"{in_bytes(self._blocks.claimed - stop)} of its payload are missing.")
        except ZstdError as error:
            member = None if content.name is None else self._add(block, content, size)
            raise _DamageError(
                f"{self._where(block)} cannot be decoded{' whole' if size else ''}. {error}", block, member
            ) from error
        self._add(block, content, size)
        if not self._stream.aligned and not self._stream.ended and stop > payload:
            message = f"{self._where(block)} ends inside a zstd block: some of its data stands in the next blob."
            self._emitter.error("rca-zstd-unaligned", message, *self._spans(block))

    def _add(self, block: int, content: Content, size: int) -> int | None:
        """Append one blob with all that is to say about its name; says which member it is."""
        spans = self._spans(block)
        if content.name is None:
            message = (
                f"{self._where(block)} has no name: nothing in it is the 0 byte that ends a name. It is not listed."
            )
            self._emitter.error("rca-name-unterminated", message, *spans)
            return None
        head = self._layout.outer_start(block)
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        member = self._members.append(content.name, payload, stop, size=size, head=head)
        self._report_name(content, spans, member)
        return member

    def _report_name(self, content: Content, spans: Spans, member: int) -> None:
        name = content.name or b""
        shown = visible(name[:80])
        if content.name_size > NAME:
            message = (
                f"The name of member {member} is {in_bytes(content.name_size)} long; {grouped(NAME)} of them are kept."
            )
            self._emitter.error("rca-name-too-long", message, *spans, member=member)
        for words in hazards(name):
            if words == "is not UTF-8":
                message = f"The name of member {member}, {shown}, is not UTF-8; it is shown with escapes."
                self._emitter.error("rca-name-not-utf-8", message, *spans, member=member)
            elif not name:
                self._emitter.info("rca-name-empty", f"The name of member {member} is empty.", *spans, member=member)
            else:
                message = f"The name of member {member}, {shown}, {words}."
                self._emitter.warning("rca-name-hazard", message, *spans, member=member)


class _DamageError(Exception):
    """A segment cannot be decoded from ``block`` on."""

    def __init__(self, message: str, block: int, member: int | None = None) -> None:
        super().__init__(message)
        self.block = block
        self.member = member


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """See Format.read. What stands before the blob in its segment is decoded too, unless the last reader did that."""
    layout = archive.detail
    assert isinstance(layout, Layout)
    blocks = layout.blocks
    target = blocks.at_payload(archive.members.starts[index])
    cursor = _cursor(layout, target)
    try:
        while cursor.block < target:
            if blocks.types[cursor.block] == BLOB:
                for _ in _decoded(layout, cursor):
                    progress.advance(0)
            cursor.block += 1
        content = Content()
        for piece in _decoded(layout, cursor):
            rest = content.take(piece)
            if rest:
                progress.advance(len(rest))
                yield rest
    except ZstdError as error:
        name = visible(archive.members.path(index)[:80])
        where = "it" if cursor.block == target else "a blob before it in its segment"
        raise MemberError(f"{name!r} cannot be read whole, for {where} cannot be decoded. {error}") from error
    if not blocks.whole(target):
        name = visible(archive.members.path(index)[:80])
        missing = in_bytes(blocks.claimed - blocks.edges[target + 1])
        raise MemberError(f"{name!r} cannot be read whole: {missing} of its payload are missing.")
    cursor.block += 1
    layout.cursor = cursor


def _cursor(layout: Layout, target: int) -> Cursor:
    """A decoder in front of ``target`` or of a block before it in the same segment."""
    # Taken out first: whoever reads at the same time, or stops halfway, must not find it in use.
    cursor, layout.cursor = layout.cursor, None
    first = layout.blocks.segment(layout.blocks.segment_of(target))[0]
    return cursor if cursor and first < cursor.block <= target else Cursor(Stream(), first)


def _decoded(layout: Layout, cursor: Cursor) -> Iterator[bytes]:
    blocks = layout.blocks
    for data in _payload(layout.inner, blocks.payloads[cursor.block], blocks.edges[cursor.block + 1]):
        yield from cursor.stream.feed(data)
