"""Readers of RCA: the specification's, and ``rcarch`` as far as its behaviour is known.

Both go from the beginning to the end. They differ in one rule: ``rcarch`` hashes the hash bytes of reset blocks, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2s

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.reader import Reader, ReaderKind, Recorder, Rejected
from inspector.core.source import BLOCK
from inspector.formats._zstd import Stream, ZstdError
from inspector.formats.rca.blobs import Content

_HASH_SIZE = 8
_FIRST_FIELD_SIZE = 2
_MAX_VARINT = 10
_NOT_SAID = "What rcarch says here is not known."


class _Segment:
    """What a reader keeps from one reset block to the next: both hashes, and the state of the decompressor."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.with_hashes = blake2s(digest_size=_HASH_SIZE)
        self.without = blake2s(digest_size=_HASH_SIZE)
        self.stream = Stream()
        self.hashed = 0

    def update(self, data: bytes, *, is_hash: bool = False) -> None:
        self.with_hashes.update(data)
        self.hashed += len(data)
        if not is_hash:
            self.without.update(data)


class _Reading:
    """One reader on its way through an archive."""

    def __init__(self, trace: Recorder, *, rcarch: bool) -> None:
        self.trace = trace
        self.rcarch = rcarch
        self.at = 0  # the next byte in the file
        self.stop = 0  # where the payload of the current chunk ends
        self.metadata = b""
        self.metadata_span = (0, 0)
        self.at_chunk_start = False
        self.chunks = 0
        self._is_last = False
        self.segment = _Segment(1)
        self.found = False

    def run(self) -> None:
        trace = self.trace
        if not self.more():
            trace.step("end of the archive", None, None, "An archive without blobs.")
            return
        trace.step("segment 1")
        trace.depth = 1
        try:
            while not self.found and self.more():
                self._block()
            if not self.found:
                trace.depth = 0
                self._compare(self.metadata, self.metadata_span, "final checksum mismatch")
        finally:
            trace.depth = 0
        if trace.wanted is not None and not self.found:
            raise trace.reject("look for the blob", None, f"No blob is named {visible(trace.wanted)}.")

    # ---- chunks --------------------------------------------------------------------------------------------------

    def more(self) -> bool:
        """Whether there are inner bytes; reads the next chunk header at the end of one. Raises Rejected."""
        while self.at >= self.stop and not self._is_last:
            self._next_chunk()
        return self.at < self.stop

    def _next_chunk(self) -> None:
        trace, start, size = self.trace, self.stop, _FIRST_FIELD_SIZE << self.chunks
        header = size + _HASH_SIZE
        data = trace.read(start, header)
        value = int.from_bytes(data[:size], "big")
        self.chunks += 1
        name = f"header of chunk {self.chunks}"
        span = (start, start + len(data))
        if len(data) < header or value == 0:
            self._is_last = True
            why = "size 0: an interrupted write; the archive ends here" if data[:size].strip(b"\0") == b"" else ""
            if len(data) < header:
                why = "the file ends: no further chunk" if not data else "the file ends within it: no further chunk"
            trace.step(f"read {in_bytes(header)} at {start:,}: {name}", span, f"size {value:#x}", why, read=True)
            return
        limit = 1 << size * 8 - 1
        trace.state["chunk"] = self.chunks
        if not header <= value <= limit:
            message = f"The size {value:,} of chunk {self.chunks} is smaller than its header."
            if value > limit:
                message = f"The size {value:#x} of chunk {self.chunks} is above {limit:#x} and reserved."
            raise self._reject(f"read the {name}", span, message, value=f"size {value:#x}", known=False)
        self._is_last = value < limit
        self.at, self.stop = start + header, start + value
        self.metadata, self.metadata_span = data[size:], (start + size, start + header)
        self.at_chunk_start = True
        follows = "the last chunk" if self._is_last else "full: a chunk header follows it"
        trace.step(
            f"read {in_bytes(header)} at {start:,}: {name}",
            span,
            f"size {value:#x}, hash {self.metadata.hex()}",
            follows,
            read=True,
        )

    def pieces(self, length: int) -> Iterator[bytes]:
        """Inner bytes in pieces; ends early where the archive or the file does. Raises Rejected."""
        while length > 0 and self.more():
            wanted = min(length, self.stop - self.at, BLOCK)
            data = self.trace.read(self.at, wanted)
            self.at += len(data)
            length -= len(data)
            self.at_chunk_start = False
            if len(data) < wanted:  # the file is shorter than the chunk
                self.stop, self._is_last = self.at, True
            yield data

    # ---- blocks --------------------------------------------------------------------------------------------------

    def _block(self) -> None:
        at_chunk_start = self.at_chunk_start
        start, varint, raw = self._varint()
        if not varint & 1:
            self._blob(start, varint >> 1, raw)
            return
        kind, size = varint >> 1 & 31, varint >> 6
        if kind == 0:
            self._reset(start, size, raw, at_chunk_start=at_chunk_start)
            return
        self.segment.update(raw)
        span = self._skip(size)
        self.trace.step(
            f"varint at {start:,}: control block",
            (start, span),
            f"type {kind}, {in_bytes(size)}",
            "unknown type: skipped",
            read=True,
        )

    def _varint(self) -> tuple[int, int, bytes]:
        start, raw, value = self.at, b"", 0
        while len(raw) < _MAX_VARINT:
            if not (data := next(self.pieces(1), b"")):
                raise self._reject("read a varint", (start, start + len(raw)), "The archive ends within a varint.")
            raw += data
            value |= (data[0] & 127) << 7 * (len(raw) - 1)
            if not data[0] & 128:
                return start, value, raw
        raise self._reject(
            "read a varint", (start, start + len(raw)), f"A varint has no end within {_MAX_VARINT} bytes."
        )

    def _skip(self, size: int) -> int:
        start = self.at
        left = size
        for data in self.pieces(size):
            self.segment.update(data)
            left -= len(data)
        if left:
            raise self._reject("skip the block", (start, self.at), "The block ends past the archive.")
        return self.at

    def _blob(self, start: int, size: int, raw: bytes) -> None:
        trace, segment = self.trace, self.segment
        trace.step(
            f"varint at {start:,}: blob", (start, start + len(raw)), in_bytes(size), f"read {in_bytes(size)}", read=True
        )
        segment.update(raw)
        begin = self.at
        left, blob, content = size, Content(), 0
        with trace.inside():
            try:
                for data in self.pieces(size):
                    segment.update(data)
                    left -= len(data)
                    for piece in segment.stream.feed(data):
                        trace.add_given(len(piece))
                        content += blob.count(piece)
                        trace.current = blob.seen.decode("utf-8", "surrogateescape")
            except ZstdError as error:
                raise self._reject("decompress", (begin, self.at), str(error)) from error
            if left:
                message = f"The block ends {in_bytes(left)} past the archive."
                raise self._reject("read the block", (begin, self.at), message)
            self._named(begin, blob.name, content)

    def _named(self, begin: int, name: bytes | None, content: int) -> None:
        trace, span = self.trace, (begin, self.at)
        if name is None:
            raise self._reject("decompress", span, "The blob has no zero byte that ends its name.", known=False)
        try:
            text = name.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._reject(
                "decompress", span, "The blob's name is not UTF-8.", value=visible(name), known=False
            ) from error
        trace.state.update({"offset": self.at, "segment": self.segment.number, "hashed": self.segment.hashed})
        trace.state["decompressor"] = f"frame {self.segment.stream.frames}, kept for the next blob"
        self.found = trace.wanted == text
        if trace.wanted is None or self.found:
            trace.give(text, 0)
            trace.state["blobs"] = trace.members
        trace.step("decompress", span, f"{visible(text)}, {in_bytes(content)}", "", read=True)
        trace.current = None

    # ---- hashes --------------------------------------------------------------------------------------------------

    def _reset(self, start: int, size: int, raw: bytes, *, at_chunk_start: bool) -> None:
        trace = self.trace
        number = self.segment.number
        payload = b"".join(self.pieces(min(size, _HASH_SIZE)))
        stop = self.at
        trace.depth = 0
        trace.step(f"segment {number + 1}")
        trace.depth = 1
        trace.step(
            f"varint at {start:,}: reset",
            (start, stop),
            in_bytes(size),
            f"compare the hash of segment {number}",
            read=True,
        )
        if len(payload) < _HASH_SIZE:
            raise self._reject("read the hash", (start, stop), "The reset block has no room for a hash.", known=False)
        self._compare(payload, (stop - _HASH_SIZE, stop), "checksum mismatch", at_chunk_start=at_chunk_start)
        self.segment = _Segment(number + 1)
        self.segment.update(raw)
        self.segment.update(payload, is_hash=True)
        self._skip(size - _HASH_SIZE)

    def _compare(self, stored: bytes, span: tuple[int, int], own_message: str, *, at_chunk_start: bool = False) -> None:
        trace, segment = self.trace, self.segment
        digests = segment.without.digest(), segment.with_hashes.digest()
        mine, other = reversed(digests) if self.rcarch else digests
        action = f"compare the hash of segment {segment.number}"
        trace.state.update({"hashed": segment.hashed, "hash so far": mine.hex()})
        value = f"stored {stored.hex()}, computed {mine.hex()}"
        if stored == mine:
            trace.step(action, span, value, "equal")
            return
        if not self.rcarch:
            message = f"The hash of segment {segment.number} differs."
            cause = f"The specification expects {mine.hex()}."
            if stored == other:
                cause += " Stored is the hash with the reset block's own bytes, as rcarch computes it."
            raise trace.reject(action, span, message, value=value, cause=cause)
        cause = f"rcarch expects {mine.hex()}; that is the hash with the reset block's own bytes."
        if stored == other:
            own_message = "final checksum mismatch"
            cause += " Stored is the hash without them, as the specification says."
        elif at_chunk_start:
            cause += (
                " The reset block begins a chunk: rcarch itself writes a wrong hash there when it resumes after an "
                "append that was interrupted at the chunk boundary."
            )
        raise trace.reject(action, span, own_message, value=value, cause=cause)

    def _reject(
        self, action: str, span: tuple[int, int], message: str, *, value: object = None, known: bool = True
    ) -> Rejected:
        """What to raise; what is ``known`` of the specification only is not known of rcarch."""
        message = f"{message} {_NOT_SAID}" if self.rcarch else message
        return self.trace.reject(action, span, message, value=value, read=True, known=known or not self.rcarch)


READERS = (
    Reader(
        "spec",
        "the specification",
        ReaderKind.DESCRIBED,
        "Chunks, blocks and hashes as it describes them: hashes leave out the hash bytes of reset blocks.",
        lambda trace: _Reading(trace, rcarch=False).run(),
    ),
    Reader(
        "rcarch",
        "rcarch",
        ReaderKind.DESCRIBED,
        "Known of it: hashes include the hash bytes of reset blocks, and its messages for a wrong hash.",
        lambda trace: _Reading(trace, rcarch=True).run(),
    ),
)
