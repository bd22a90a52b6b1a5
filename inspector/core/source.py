"""A Source gives bytes at positions. It has no cursor, so any number of readers may share one.

Zeros in a source are passed quickly: sparse files have them by the terabyte.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from inspector.core.finding import Finding
from inspector.core.program.progress import Progress
from inspector.core.program.redaction import strip_credentials
from inspector.core.span import Span, Spans

BLOCK = 512 * 1024
"""Bytes read at a time when a stretch is streamed."""


class SourceError(Exception):
    """The bytes cannot be had: the message is a sentence for a person.

    It says nothing about the bytes: what could not be read is neither damaged nor missing. Nothing secret is in the
    message, whatever location it names.
    """

    def __init__(self, message: str) -> None:
        super().__init__(strip_credentials(message))


class MissingError(SourceError):
    """There is nothing of that name."""


class HiddenError(SourceError):
    """Whether there is anything is not told to whoever asks: S3 answers 403 for what is missing, too."""


class Source(Protocol):
    """Bytes with a name and a size."""

    @property
    def name(self) -> str:
        """What to call it: a path, a URL, a member's name."""

    @property
    def size(self) -> int:
        """How many bytes it holds."""

    def read(self, offset: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``offset``; short or empty at the end, never an exception for that.

        Raises SourceError when the bytes cannot be had at all.
        """

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """The source beside this one whose name is this name with ``suffix`` appended, if there is one.

        ``instead_of`` is an ending that is taken off first (``.index`` instead of ``.tar``); a name without it has no
        such sibling. Raises SourceError where it is there and cannot be opened, or where it cannot be found out whether
        it is: HiddenError where that is not told.
        """


class BytesSource:
    """Bytes held in memory."""

    def __init__(self, data: bytes, name: str = "bytes") -> None:
        self.name = name
        self.doubt: Finding | None = None
        self.size = len(data)
        self._data = data

    def read(self, offset: int, length: int) -> bytes:
        return self._data[offset : offset + length] if offset >= 0 and length > 0 else b""

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - bytes in memory have no neighbours
        return None


class SplicedSource:
    """Many spans of another source read as one: RCA's inner stream, a member in several pieces.

    Positions here are called inner, positions in the other source outer.
    """

    def __init__(self, source: Source, spans: Sequence[Span], name: str) -> None:
        self.name = name
        self._source = source
        self._spans = [span for span in spans if span.size > 0]
        self._stops = list(accumulate(span.size for span in self._spans))
        self.size = self._stops[-1] if self._stops else 0

    def outer(self, start: int, stop: int) -> Spans:
        """The outer spans of the inner bytes ``[start, stop)``, in order; an empty range gives one empty span."""
        start, stop = max(0, min(start, self.size)), max(0, min(stop, self.size))
        first = bisect_right(self._stops, start)
        last = max(first, bisect_left(self._stops, stop))
        found = []
        for span, end in zip(self._spans[first : last + 1], self._stops[first : last + 1], strict=True):
            shift = span.stop - end
            found.append(Span(max(span.start, start + shift), min(span.stop, stop + shift)))
        beyond = self._spans[-1].stop if self._spans else 0
        return tuple(found) or (Span(beyond, beyond),)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans that are read as one; none is empty."""
        return tuple(self._spans)

    def change(self) -> str:
        return change_of(self._source)

    @property
    def doubt(self) -> Finding | None:
        return doubt_of(self._source)

    def inner(self, offset: int) -> int | None:
        """The inner position of the outer byte ``offset``, or None when it is not part of this source."""
        index = bisect_right(self._spans, offset, key=lambda span: span.start) - 1
        if index < 0 or offset >= self._spans[index].stop:
            return None
        span = self._spans[index]
        return self._stops[index] - span.size + offset - span.start

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length <= 0:
            return b""
        parts = []
        for start, stop in self.outer(offset, offset + length):
            part = self._source.read(start, stop - start)
            parts.append(part)
            if len(part) < stop - start:
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - a splice has no neighbours
        return None


def expect(source: Source, start: int, stop: int) -> None:
    """Say that the bytes ``[start, stop)`` are about to be read: a source that is far away then asks for them at once.

    It does so by a method of this name; a source without one loses nothing.
    """
    if (told := getattr(source, "expect", None)) is not None:
        told(start, stop)


def gather(source: Source, spans: Sequence[Span]) -> Iterator[bytes]:
    """The bytes of many small spans, one after another; a source that is far away asks for several of them at a time.

    It does so by a method of this name. What is short ends there. Raises SourceError.
    """
    gathered: Callable[[Sequence[Span]], Iterator[bytes]] | None = getattr(source, "gather", None)
    if gathered is not None:
        yield from gathered(spans)
        return
    for span in spans:
        yield source.read(span.start, span.size)


def change_of(source: Source) -> str:
    """What has happened to the bytes since the source was opened, as the predicate of a sentence; empty if nothing.

    A source that can tell does so by a method ``change``; one far away refuses to mix old and new bytes instead.
    """
    told: Callable[[], str] | None = getattr(source, "change", None)
    return told() if told is not None else ""


Place = Callable[[int, int], Spans]
"""Where the bytes ``[start, stop)`` of what is parsed lie in the file."""


class Stored(NamedTuple):
    """Stored bytes ``[start, stop)`` of ``source``; ``place`` says where they lie in the file, as they are without."""

    source: Source
    start: int
    stop: int
    place: Place = lambda start, stop: (Span(start, stop),)

    def read(self, at: int, size: int) -> bytes:
        return self.source.read(at, min(size, self.stop - at))


def is_sparing(source: Source) -> bool:
    """Whether decoding should leave out what would cost a request for each member, and say so.

    A source that is far away says it by an attribute ``sparing``; any other is read as it is.
    """
    return bool(getattr(source, "sparing", False))


def doubt_of(source: Source) -> Finding | None:
    """What is wrong with the compressed data that the source was unpacked from, said by an attribute ``doubt``.

    Its span is all of the source where nothing proves its bytes; the attribute may be of a source around it.
    """
    doubt = getattr(source, "doubt", None)
    return doubt._replace(spans=(Span(0, source.size),) * bool(doubt.spans)) if isinstance(doubt, Finding) else None


def is_remote(source: Source) -> bool:
    """Whether reads of the source are requests to a server."""
    base: object = source
    while (inner := getattr(base, "base", None)) is not None:
        base = inner
    return getattr(base, "log", None) is not None


class Metered:
    """A source that is read for ``left`` more bytes and then is at its end: the bound of a search."""

    def __init__(self, source: Source, left: int) -> None:
        self.name, self.size, self.left = source.name, source.size, left
        self._source = source

    def read(self, offset: int, length: int) -> bytes:
        data = self._source.read(offset, length) if self.left > 0 else b""
        self.left -= len(data)
        return data

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        return self._source.sibling(suffix, instead_of)


def blocks(source: Source, start: int, stop: int, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes ``[start, stop)`` of ``source`` in pieces of ``size`` bytes; ends early where the source does."""
    while start < stop:
        if not (piece := source.read(start, min(size, stop - start))):
            return
        yield piece
        start += len(piece)


def blocks_of(source: Source, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """The bytes of several spans, one after the other, as ``blocks`` gives them."""
    for start, stop in spans:
        yield from blocks(source, start, stop)


# ---- where zeros end and begin ---------------------------------------------------------------------------------------

MAX_WINDOW_BYTES = 1 << 20
"""Bytes read at a time where zeros go on."""
_FIRST_WINDOW_BYTES = 4096
"""Bytes read first: what is searched for is often near."""
_GROWTH = 8
_ZERO_WINDOW = bytes(MAX_WINDOW_BYTES + 511)


def any_byte(data: bytes) -> bool:
    """Whether one of at most ``MAX_WINDOW_BYTES + 511`` bytes is not zero; compares whole memory, which is fast."""
    return data != _ZERO_WINDOW[: len(data)]


def zeros_stop(source: Source, at: int, limit: int, progress: Progress) -> int:
    """The offset of the first byte in ``[at, limit)`` that is not zero; ``limit`` if there is none.

    Raises SourceError and Cancelled.
    """
    window = _FIRST_WINDOW_BYTES
    while at < limit:
        if not (data := source.read(at, min(window, limit - at))):
            return limit
        if any_byte(data):
            return at + len(data) - len(data.lstrip(b"\0"))
        at += len(data)
        window = min(_GROWTH * window, MAX_WINDOW_BYTES)
        progress.advance(0)
    return limit


def zeros_start(source: Source, stop: int, progress: Progress) -> int:
    """Where the zeros begin that end at ``stop``; ``stop`` if the byte before it is none.

    Raises SourceError and Cancelled.
    """
    window = _FIRST_WINDOW_BYTES
    while stop > 0:
        low = max(0, stop - window)
        data = source.read(low, stop - low)
        if any_byte(data):
            return low + len(data.rstrip(b"\0"))
        stop = low
        window = min(_GROWTH * window, MAX_WINDOW_BYTES)
        progress.advance(0)
    return 0
