"""Read a large index fast if it is regular throughout; ``exact`` reads any other.

CAF.md, section 2 (File Index Section). JSON decoders silently keep the last of two equal keys. That cannot hide an
entry here: a regular entry has exactly six quotes, so the quotes of a slice have to be six times its decoded entries,
and equal names in different slices have equal hashes.
"""

from __future__ import annotations

import re
from array import array

from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats.caf.index import MAX_MEMBERS, Index, Part

SLICE_BYTES = 256 * 1024
"""Bytes of the index decoded at a time; smaller indexes are read by ``exact``."""

_HEAD_BYTES = 4096
_S = rb"[ \t\n\r]*+"
_OPENING = re.compile(
    _S + rb"\{" + _S + rb'"format_version"' + _S + rb":" + _S + rb'("1\.0")' + _S + rb"," + _S
    + rb'"files"' + _S + rb":" + _S + rb"(\{)" + _S + rb'(?=")'
)  # fmt: skip
_CLOSING = re.compile(rb"\}" + _S + rb"(\})" + _S + rb"\}" + _S + rb"\Z")
_MINUS = re.compile(rb":[ \t\n\r]*+-")
_QUOTES_PER_ENTRY = 6


def read_fast(source: Source, span: Span, progress: Progress) -> Index | None:
    """Read the index in ``span``; None if it is not regular. Raises SourceError and Cancelled."""
    opening = _OPENING.match(source.read(span.start, min(_HEAD_BYTES, span.size)))
    if opening is None:
        return None
    tail = source.read(max(span.start, span.stop - _HEAD_BYTES), min(_HEAD_BYTES, span.size))
    closing = _CLOSING.search(tail)
    if closing is None:
        return None
    stop = span.stop - len(tail) + closing.start(1)
    index = Index(span)
    index.parts.append(Part(b"format_version", Span(*(span.start + at for at in opening.span(1)))))
    index.parts.append(Part(b"files", Span(span.start + opening.start(2), stop + 1)))
    if not _Slices(source, index, progress).read(span.start + opening.end(), stop):
        return None
    index.parts[1].last = len(index)
    return index


class _Slices:
    """Decodes slices of entries into the columns of an index."""

    def __init__(self, source: Source, index: Index, progress: Progress) -> None:
        import msgspec
        import numpy as np

        class Entry(msgspec.Struct, forbid_unknown_fields=True, gc=False):
            start_byte: int
            end_byte: int

        self.np = np
        self.source = source
        self.index = index
        self.progress = progress
        self.decoder = msgspec.json.Decoder(dict[str, Entry])
        self.failures = (msgspec.MsgspecError, UnicodeError, OverflowError)
        self.hashes = array("q")

    def read(self, at: int, stop: int) -> bool:
        """Read the entries in ``[at, stop)``; False if one is not regular."""
        try:
            while at < stop:
                data = self.source.read(at, min(SLICE_BYTES, stop - at))
                # The last brace before a comma ends an entry: a slice cut inside a name would not decode.
                size = len(data) if at + len(data) >= stop else data.rfind(b"},") + 1
                if not size or not self.slice(data[:size], at):
                    return False
                at += size
                self.progress.advance(size)
        except self.failures:
            return False
        hashes = self.np.frombuffer(self.hashes, self.np.int64)
        hashes.sort()
        return not bool((hashes[1:] == hashes[:-1]).any())

    def slice(self, data: bytes, at: int) -> bool:
        np, index = self.np, self.index
        entries = self.decoder.decode(b"{" + data.removeprefix(b",") + b"}")
        quotes = np.flatnonzero(np.frombuffer(data, np.uint8) == ord('"'))
        if len(quotes) != _QUOTES_PER_ENTRY * len(entries) or len(index) + len(entries) > MAX_MEMBERS:
            return False
        index.positions.frombytes((quotes[::_QUOTES_PER_ENTRY] + at).astype(np.uint64).tobytes())
        starts = [entry.start_byte for entry in entries.values()]
        stops = [entry.end_byte for entry in entries.values()]
        if (0 in starts or 0 in stops) and _MINUS.search(data):
            return False  # the decoder reads -0 as 0
        index.starts.fromlist(starts)
        index.stops.fromlist(stops)
        names, base = "".join(entries).encode(), len(index.names)
        # Names stand between the first two quotes of their entries, as they are where nothing is escaped.
        if b"\\" not in data:
            lengths = quotes[1::_QUOTES_PER_ENTRY] - quotes[::_QUOTES_PER_ENTRY] - 1
        else:
            lengths = np.fromiter((len(name.encode()) for name in entries), np.int64, len(entries))
        index.names += names
        index.name_stops.frombytes((np.cumsum(lengths) + base).astype(np.uint64).tobytes())
        self.hashes.fromlist(list(map(hash, entries)))
        return True
