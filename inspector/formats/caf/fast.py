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
    if not _read_entries(source, index, span.start + opening.end(), stop, progress):
        return None
    index.parts[1].last = len(index)
    return index


def _read_entries(source: Source, index: Index, at: int, stop: int, progress: Progress) -> bool:
    """Read the entries in ``[at, stop)`` slice by slice; False if one is not regular."""
    import msgspec
    import numpy as np

    class Entry(msgspec.Struct, forbid_unknown_fields=True, gc=False):
        start_byte: int
        end_byte: int

    decoder = msgspec.json.Decoder(dict[str, Entry])
    all_hashes = array("q")
    while at < stop:
        data = source.read(at, min(SLICE_BYTES, stop - at))
        # The last brace before a comma ends an entry: a slice cut inside a name would not decode.
        data = data if at + len(data) >= stop else data[: data.rfind(b"},") + 1]
        try:
            entries = decoder.decode(b"{" + data.removeprefix(b",") + b"}") if data else {}
            names = "".join(entries).encode()
            starts = [entry.start_byte for entry in entries.values()]
            stops = [entry.end_byte for entry in entries.values()]
            index.starts.fromlist(starts)
            index.stops.fromlist(stops)
        except (msgspec.MsgspecError, UnicodeError, OverflowError):
            return False
        quotes = np.flatnonzero(np.frombuffer(data, np.uint8) == ord('"'))
        irregular = not data or len(quotes) != _QUOTES_PER_ENTRY * len(entries)
        # The decoder reads -0 as 0.
        if irregular or len(index.starts) > MAX_MEMBERS or ((0 in starts or 0 in stops) and _MINUS.search(data)):
            return False
        index.positions.frombytes((quotes[::_QUOTES_PER_ENTRY] + at).astype(np.uint64).tobytes())
        # Names stand between the first two quotes of their entries, as they are where nothing is escaped.
        if b"\\" not in data:
            lengths = quotes[1::_QUOTES_PER_ENTRY] - quotes[::_QUOTES_PER_ENTRY] - 1
        else:
            lengths = np.fromiter((len(name.encode()) for name in entries), np.int64, len(entries))
        index.name_stops.frombytes((np.cumsum(lengths) + len(index.names)).astype(np.uint64).tobytes())
        index.names += names
        all_hashes.fromlist(list(map(hash, entries)))
        at += len(data)
        progress.advance(len(data))
    hashes = np.frombuffer(all_hashes, np.int64)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())
