"""Read an index: fast if it is large and regular throughout, or else exactly, and past what is damaged.

CAF.md, section 2 (File Index Section). JSON decoders silently keep the last of two equal keys. That cannot hide an
entry in the fast way: a regular entry has exactly six quotes, so the quotes of a slice have to be six times its decoded
entries, and equal names in different slices have equal hashes. The exact way reports every deviation and duplicate,
including the trailing commas of the specification's example.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import lt, sub

from msgspec import Struct

from inspector.core.finding import FindingType, Severity
from inspector.core.member import LARGEST, UNREADABLE, Members
from inspector.core.names import brief
from inspector.core.numbers import grouped
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.formats.caf import codes
from inspector.formats.caf.locate import first_entry
from inspector.formats.caf.scan import (
    BYTE_ORDER_MARK,
    MAX_SPANS_PER_DEVIATION,
    NOT_UTF8,
    OBJECT,
    OBJECT_END,
    REJECTED,
    Malformed,
    Scanner,
    not_utf8,
    unquoted,
)

_S = rb"[ \t\n\r]*+"


def read_index(source: Source, span: Span, progress: Progress) -> Index:
    """Read the index in ``span``, a large one the fast way if possible. Raises SourceError and Cancelled."""
    if span.size > SLICE_BYTES:
        progress.begin("Reading the index", span.size)
        if (index := read_fast(source, span, progress)) is not None:
            return index
    progress.begin("Reading the index exactly", span.size)
    return read_exactly(source.read(span.start, span.size), span.start, progress)


# ---- fast ------------------------------------------------------------------------------------------------------------

SLICE_BYTES = 256 * 1024
"""Bytes of the index decoded at a time; smaller indexes are read by ``exact``."""

_HEAD_BYTES = 4096
_OPENING = re.compile(
    _S + rb"\{" + _S + rb'"format_version"' + _S + rb":" + _S + rb'("1\.0")' + _S + rb"," + _S
    + rb'"files"' + _S + rb":" + _S + rb"(\{)" + _S + rb'(?=")'
)  # fmt: skip
_CLOSING = re.compile(rb"\}" + _S + rb"(\})" + _S + rb"\}" + _S + rb"\Z")
_MINUS = re.compile(rb":[ \t\n\r]*+-")
_QUOTES_PER_ENTRY = 6


def read_fast(source: Source, span: Span, progress: Progress) -> Index | None:
    """Read the index in ``span``; None if it is not regular. Raises SourceError and Cancelled."""
    if (opening := _OPENING.match(source.read(span.start, min(_HEAD_BYTES, span.size)))) is None:
        return None
    tail = source.read(max(span.start, span.stop - _HEAD_BYTES), min(_HEAD_BYTES, span.size))
    if (closing := _CLOSING.search(tail)) is None:
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
            entries = decoder.decode(b"".join((b"{", memoryview(data)[data[:1] == b"," :], b"}"))) if data else {}
            names = "".join(entries).encode()
            starts = array("Q", [entry.start_byte for entry in entries.values()])
            stops = array("Q", [entry.end_byte for entry in entries.values()])
        except (msgspec.MsgspecError, UnicodeError, OverflowError):
            return False
        quotes = np.flatnonzero(np.frombuffer(data, np.uint8) == ord('"'))
        irregular = not data or len(quotes) != _QUOTES_PER_ENTRY * len(entries)
        # The decoder reads -0 as 0.
        has_minus = b"-" in data and (0 in starts or 0 in stops) and _MINUS.search(data)
        if irregular or len(index) + len(entries) > MAX_MEMBERS or has_minus:
            return False
        # Names stand between the first two quotes of their entries, as they are where nothing is escaped.
        if b"\\" not in data:
            lengths = quotes[1::_QUOTES_PER_ENTRY] - quotes[::_QUOTES_PER_ENTRY] - 1
        else:
            lengths = np.fromiter((len(name.encode()) for name in entries), np.int64, len(entries))
        ranges = {"starts": np.frombuffer(starts, np.uint64), "stops": np.frombuffer(stops, np.uint64)}
        index.extend(names, np.cumsum(lengths), ranges | {"heads": quotes[::_QUOTES_PER_ENTRY] + at})
        all_hashes.fromlist(list(map(hash, entries)))
        at += len(data)
        progress.advance(len(data))
    hashes = np.frombuffer(all_hashes, np.int64)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())


# ---- exactly ---------------------------------------------------------------------------------------------------------

_N = rb"(0|[1-9][0-9]{0,17})"
_PLAIN = re.compile(
    rb"," + _S + rb'("[^"\\\x00-\x1f]*+")' + _S + rb":" + _S + rb"\{" + _S
    + rb'"start_byte"' + _S + rb":" + _S + _N + _S + rb"," + _S
    + rb'"end_byte"' + _S + rb":" + _S + _N + _S + rb"\}" + _S
)  # fmt: skip
_NEW_ENTRY = re.compile(rb"\{" + _S + rb'"(?:start|end)_byte"')
_NEXT_ENTRY = re.compile(rb'\}[ \t\n\r]*+,[ \t\n\r]*+(?=")')
_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_ENTRIES_PER_STEP = 8_000
"""Entries between two updates of the progress and tests of the limit; MAX_MEMBERS is a multiple of it."""
_NUMBERS = (b"start_byte", b"end_byte")


def read_exactly(data: bytes, start: int, progress: Progress) -> Index:
    """Read the index ``data``, which begins at file offset ``start``. Raises only Cancelled."""
    return _Reader(data, start, progress).read()


class _TooManyMembers(Exception):  # noqa: N818 - a result of reading, not an error of the program
    """MAX_MEMBERS members are listed."""


class _Reader:
    """Reads ``data``, whose first byte is at ``base`` in the file."""

    def __init__(self, data: bytes, base: int, progress: Progress) -> None:
        self.data = data
        self.base = base
        self.progress = progress
        self.scanner = Scanner(data)
        self.index = Index(Span(base, base + len(data)))
        self.first: dict[bytes, int] = {}
        self.ahead = -1

    def read(self) -> Index:
        index, scanner = self.index, self.scanner
        if self.data.startswith(BYTE_ORDER_MARK):
            scanner.at = len(BYTE_ORDER_MARK)
            scanner.note("a byte order mark", 0, len(BYTE_ORDER_MARK))
        try:
            self.parse(self.document)
            if not len(index) and any(each.what.severity is Severity.ERROR for each in index.problems):
                self.parse(self.entries_without_frame)
        except _TooManyMembers:
            rest = Span(scanner.at, len(self.data))
            index.unparsed = self.span(*rest)
            self.report(
                codes.TOO_MANY_MEMBERS,
                f"The index lists more than {MAX_MEMBERS:,} members. Only the first {len(index):,} are shown.",
                rest,
            )
        self.report_deviations()
        self.progress.advance(len(self.data) - self.progress.done)
        return index

    # ---- problems ------------------------------------------------------------------------------------------------

    def span(self, start: int, stop: int) -> Span:
        """The file span of ``[start, stop)`` in ``data``."""
        return Span(self.base + start, self.base + stop)

    def report(self, what: FindingType, message: str, where: Span, entry: int | None = None, *others: Span) -> None:
        """Report a problem at the span ``where`` of ``data``; ``others`` are file spans."""
        if len(self.index.problems) < MAX_PROBLEMS:
            self.index.problems.append(Problem(what, message, (self.span(*where), *others), entry))

    def report_malformed(self, problem: Malformed, resume: int | None) -> None:
        """Report where the index cannot be parsed, and the offset in ``data`` where reading continues, if it does."""
        after = " The entries before it are listed." if len(self.index) else ""
        if resume is not None:
            after = f" Reading continues with the entry at byte {grouped(self.base + resume)}."
        self.report(
            codes.INDEX_MALFORMED,
            f"The index is not JSON at byte {grouped(self.base + problem.at)}. It {problem.message}.{after}",
            Span(problem.at, min(problem.at + 1, len(self.data))),
        )

    def report_deviations(self) -> None:
        """Report deviations from strict JSON that were read all the same."""
        if not self.data.isascii():
            for span in islice(not_utf8(self.data), MAX_SPANS_PER_DEVIATION):
                self.scanner.note(NOT_UTF8, *span)
        for deviation, places in self.scanner.deviations.items():
            first, *others = places
            least = "at least " if len(places) == MAX_SPANS_PER_DEVIATION else ""
            times = f", {least}{len(places):,} times in all" if others else ""
            rejected = deviation in REJECTED
            self.report(
                codes.INDEX_NOT_JSON if rejected else codes.INDEX_NOT_STRICT_JSON,
                f"The index is not strict JSON. It has {deviation} at byte {grouped(self.base + first.start)}{times}, "
                f"which {'strict' if rejected else 'most'} readers reject.",
                first,
                None,
                *(self.span(*place) for place in others),
            )

    # ---- the outermost object ------------------------------------------------------------------------------------

    def parse(self, reading: Callable[[], None]) -> None:
        """Read as far as the index can be parsed."""
        try:
            reading()
        except Malformed as problem:
            self.report_malformed(problem, None if len(self.index) else first_entry(self.data))
            self.index.unparsed = self.span(problem.at, len(self.data))

    def document(self) -> None:
        seen: set[bytes] = set()
        for key in self.scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in seen:
                self.report(
                    codes.INDEX_DUPLICATE_KEY,
                    f"The index has a duplicate key '{brief(word)}'. Most readers silently keep the last one.",
                    key,
                )
            seen.add(word)
            start = self.scanner.at
            part = Part(word, self.span(start, start), len(self.index), len(self.index))
            if len(self.index.parts) < MAX_PARTS:
                self.index.parts.append(part)
            try:
                self.value_of(word, key)
            finally:
                part.span, part.last = self.span(start, self.scanner.at), len(self.index)
        self.scanner.space()
        whole = Span(0, self.scanner.at)
        if whole.stop < len(self.data):
            raise Malformed(whole.stop, "has bytes after the end of the document")
        if b"files" not in seen:
            self.report(codes.INDEX_NO_FILES, "The index has no key 'files', which lists the members.", whole)
        if b"format_version" not in seen:
            message = "The index has no format_version. It is read as version 1.0."
            self.report(codes.VERSION_MISSING, message, whole)

    def value_of(self, word: bytes, key: Span) -> None:
        """Read a value of the outermost object."""
        if word == b"files" and self.scanner.byte() == OBJECT:
            self.scanner.at += 1
            self.entries()
            return
        if word not in (b"files", b"format_version"):
            message = f"The index has a key '{brief(word)}', which the specification does not define."
            self.report(codes.INDEX_EXTRA_KEY, message, key)
        value = self.scanner.value()
        text = self.data[value.start : value.stop]
        if word == b"files":
            self.report(codes.INDEX_WRONG_TYPE, "'files' is not an object, so it lists no members.", value)
        elif word == b"format_version" and text != b'"1.0"' and (text[:1] != b'"' or unquoted(text) != b"1.0"):
            shown = brief(text[:64])
            message = f"format_version is {shown}, an unknown version. The index is read as version 1.0."
            self.report(codes.VERSION_UNKNOWN, message, value)

    def entries_without_frame(self) -> None:
        """Read the entries of an index that is damaged around them."""
        if (start := first_entry(self.data)) is None:
            return
        index = self.index
        part = Part(b"files", self.span(start, start))
        index.parts = [each for each in index.parts if each.key != b"files" and each.span.stop <= part.span.start]
        index.parts.append(part)
        index.unparsed = None
        self.scanner.at = start
        try:
            self.entries()
        finally:
            part.span, part.last = self.span(start, self.scanner.at), len(index)

    # ---- entries -------------------------------------------------------------------------------------------------

    def entries(self) -> None:
        """Read the entries, up to the brace that closes their object; continue at the next one after a problem."""
        scanner, first = self.scanner, True
        while True:
            if not first:
                self.plain_entries()  # each begins with a comma
            start = scanner.at
            try:
                if not scanner.element(OBJECT_END, first):
                    return
                first = False
                if len(self.index) >= MAX_MEMBERS:
                    raise _TooManyMembers
                self.entry()
            except Malformed as problem:
                if (resume := problem.resume) is None:
                    key = scanner.key.start
                    resume = self.next_entry(key + 1 if key >= start else start, problem.at)
                if resume is None:
                    raise
                scanner.at, first = resume, True
                self.report_malformed(problem, resume)

    def next_entry(self, since: int, at: int) -> int | None:
        """Where the next entry begins, or None; every byte is looked at a few times at most.

        ``since`` is where an unmistakable entry may begin, ``at`` where the index could not be parsed.
        """
        if self.ahead < since:
            found = first_entry(self.data, since)
            self.ahead = len(self.data) if found is None else found
        if (near := _NEXT_ENTRY.search(self.data, at, self.ahead)) is not None:
            return near.end()
        return self.ahead if self.ahead < len(self.data) else None

    def plain_entries(self) -> None:
        """Read consecutive entries in the usual form, up to the first that differs."""
        scanner, match, index, first = self.scanner, _PLAIN.match, self.index, self.first
        base = self.base
        while found := match(self.data, scanner.at):
            key, start, stop = found.groups()
            name = key[1:-1]
            if first.setdefault(name, len(index)) != len(index):
                name = self.named(Span(*found.span(1)))
            index.append(name, int(start), int(stop), head=base + found.start(1))
            scanner.at = found.end()
            if not len(index) % _ENTRIES_PER_STEP:
                self.advance()
                if len(index) >= MAX_MEMBERS:
                    return

    def advance(self) -> None:
        """Advance the progress to the cursor."""
        self.progress.advance(self.scanner.at - self.progress.done)

    def named(self, key: Span) -> bytes:
        """The name in an entry's key. Reports a duplicate."""
        name = unquoted(self.data[key.start : key.stop])
        entry = len(self.index)
        earlier = self.first.setdefault(name, entry)
        if earlier != entry and len(self.index.problems) < MAX_PROBLEMS:
            at = self.index.heads[earlier]
            self.report(
                codes.DUPLICATE_NAME,
                f"The name '{brief(name)}' is a duplicate: the index also has it at byte {grouped(at)}. Most readers "
                "silently keep the last one.",
                key,
                entry,
                self.span(*Scanner(self.data, at - self.base).string()),
            )
        return name

    def entry(self) -> None:
        """Read the entry after its key; one without both numbers is listed as unreadable."""
        self.advance()
        key = self.scanner.key
        name = self.named(key)
        numbers: dict[bytes, int | None] = {}
        try:
            self.numbers(brief(name), numbers)
        finally:
            start, stop = numbers.get(b"start_byte"), numbers.get(b"end_byte")
            marks = UNREADABLE if start is None or stop is None else 0
            start = LARGEST if start is None else start
            self.index.append(name, start, start if stop is None else stop, head=self.base + key.start, marks=marks)

    def numbers(self, shown: str, numbers: dict[bytes, int | None]) -> None:
        scanner, entry = self.scanner, len(self.index)
        if scanner.byte() != OBJECT:
            value = scanner.value()
            message = f"The entry of '{shown}' is not an object with start_byte and end_byte."
            self.report(codes.ENTRY_WRONG_TYPE, message, value, entry)
            return
        start = scanner.at
        for key in scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in numbers:
                message = f"The entry of '{shown}' has a duplicate key {word.decode()}."
                self.report(codes.ENTRY_DUPLICATE_KEY, message, key, entry)
            if word in _NUMBERS:
                number = self.number(word.decode(), shown, scanner.value())
                numbers[word] = number if scanner.follows(b",}") else None  # or else digits may be missing
            elif _NEW_ENTRY.match(self.data, scanner.at):
                message = f"begins a new entry before the entry of '{shown}' is closed"
                raise Malformed(key.start, message, resume=key.start)
            else:
                scanner.value()
                self.advance()
                if len(self.index.problems) < MAX_PROBLEMS:  # the words of very many take time
                    self.report(
                        codes.ENTRY_EXTRA_KEY,
                        f"The entry of '{shown}' has a key '{brief(word)}', which the specification does not define.",
                        key,
                        entry,
                    )
        for word in _NUMBERS:
            if word not in numbers:
                message = f"The entry of '{shown}' has no {word.decode()}, so the place of its data is unknown."
                self.report(codes.ENTRY_MISSING_KEY, message, Span(start, scanner.at), entry)

    def number(self, word: str, shown: str, value: Span) -> int | None:
        text = self.data[value.start : value.stop]
        if not _INTEGER.fullmatch(text):
            wrong, what = "which is not an integer", codes.NUMBER_NOT_INTEGER
        elif text.startswith(b"-"):
            wrong, what = "which is negative", codes.NUMBER_NEGATIVE
        elif len(text) > 20 or int(text) > LARGEST:
            wrong, what = "far out of range", codes.NUMBER_OUT_OF_RANGE
        else:
            return int(text)
        message = f"{word} of '{shown}' is {brief(text[:40])}, {wrong}, so its data cannot be read."
        self.report(what, message, value, len(self.index))
        return None


# ---- an index in columns, and operations on whole columns of members -------------------------------------------------

MAX_MEMBERS = 2_000_000
"""Members listed of one archive."""
MAX_PARTS = 256
"""Values of the index's outermost object that become fields; further ones are shown as syntax."""
MAX_PROBLEMS = 10_000
"""Problems kept of one index."""

UNLISTED = b"lost+found/bytes-%d-%d"
"""The name under which a repair lists the bytes, from where to where, whose entries an index has lost.

If no member had them, they would look as if they had been inserted, which puts every member in doubt."""
_INCOMPLETE_CODES = frozenset(
    (
        codes.ENTRY_DUPLICATE_KEY.code,
        codes.INDEX_DUPLICATE_KEY.code,
        codes.INDEX_MALFORMED.code,
        codes.INDEX_NO_FILES.code,
        codes.INDEX_WRONG_TYPE.code,
    )
)
"""Problems that leave entries unread, or read twice."""


class Problem(Struct, frozen=True):
    """A problem of the index itself; ``spans`` are file bytes, ``entry`` is the entry's position in the index."""

    what: FindingType
    message: str
    spans: Spans
    entry: int | None = None


class Part(Struct):
    """One value of the index's outermost object: its key, the span of its value, its entries ``[first, last)``."""

    key: bytes
    span: Span
    first: int = 0
    last: int = 0


class Index(Members):
    """The entries of an index, in its own order, as members: those of the archive where its data are in that order.

    ``heads`` are the file offsets of the entries' opening quotes, ``starts`` and ``stops`` the ranges they give
    (half-open), ``unparsed`` the rest of the index if it could not be parsed to its end.
    """

    heads: array[int]
    marks: array[int]

    def __init__(self, span: Span) -> None:
        super().__init__(heads=True, marks=True)
        self.span = span
        self.parts: list[Part] = []
        self.problems: list[Problem] = []
        self.unparsed: Span | None = None

    @property
    def complete(self) -> bool:
        """Whether it was read to its end, and every entry as it stands there."""
        lost = any(each.what.code in _INCOMPLETE_CODES for each in self.problems)
        return self.unparsed is None and not lost

    def __len__(self) -> int:
        return len(self.heads)


_MEMBERS_PER_BLOCK = 16_384
_MAX_UNCHECKED_NAME_BYTES = 255
"""Longer names are always examined: only they can be too long or too deep."""


def archive_order(index: Index) -> Sequence[int]:
    """The entries in the order of their data: by start, stop and position in the index."""
    starts, stops = index.starts, index.stops
    if len(index) <= _MEMBERS_PER_BLOCK:  # fewer than numpy is worth its import for
        found = sorted(range(len(index)), key=lambda entry: (starts[entry], stops[entry]))
        return range(len(index)) if all(map(lt, found, found[1:])) else found
    import numpy as np

    lows, highs = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    if ((lows[1:] > lows[:-1]) | ((lows[1:] == lows[:-1]) & (highs[1:] >= highs[:-1]))).all():
        return range(len(index))
    order = array("I", (0,)) * len(index)
    np.frombuffer(order, np.uint32)[:] = np.lexsort((highs, lows))
    return order


def members_in(order: Sequence[int], index: Index) -> Members:
    """The entries as members, in this order: the index itself where that is its own.

    Afterwards only the heads and marks of an index in another order are valid: the rest is emptied to save memory.
    """
    if isinstance(order, range):
        return index

    def reordered(column: array[int]) -> array[int]:
        return array(column.typecode, map(column.__getitem__, order))

    members = Members(heads=True, marks=True)
    members.starts, index.starts = reordered(index.starts), array("Q")
    for first in range(0, len(order), _MEMBERS_PER_BLOCK):
        members.paths += b"".join(map(index.path, order[first : first + _MEMBERS_PER_BLOCK]))
    sizes = array("Q", map(sub, index.path_stops, chain((0,), index.path_stops)))
    index.paths, index.path_stops = bytearray(), array("Q")
    members.path_stops = array("Q", accumulate(map(sizes.__getitem__, order)))
    members.stops, index.stops = reordered(index.stops), array("Q")
    members.heads, members.marks = reordered(index.heads), reordered(index.marks)
    return members


def inverse(order: Sequence[int]) -> Sequence[int]:
    """The position of each number in ``order``."""
    if isinstance(order, range):
        return order
    found = array("I", (0,)) * len(order)
    for place, entry in enumerate(order):
        found[entry] = place
    return found


def suspicious_names(members: Members) -> Iterator[int]:
    """Members whose names may be hazardous; all other names are not."""
    if len(members) <= _MEMBERS_PER_BLOCK // 4:
        yield from range(len(members))
        return
    import numpy as np

    for first in range(0, len(members), _MEMBERS_PER_BLOCK):
        ends = members.path_stops[first : first + _MEMBERS_PER_BLOCK]
        base = members.path_stops[first - 1] if first else 0
        names = bytes(members.paths[base : ends[-1]])
        untidy = names.translate(None, _TIDY)
        if untidy:
            try:
                names.decode("utf-8")
            except UnicodeDecodeError:
                yield from range(first, first + len(ends))
                continue
        stops = np.array(ends, np.int64) - base
        starts = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
        # Three more bytes, so that an empty name at the end has two bytes to look at.
        data = np.frombuffer(names + b"aaa", np.uint8)
        suspicious = (
            np.frombuffer(data[starts].tobytes().translate(_BEGINNINGS), bool)
            | (data[starts + 1] == ord(":"))
            | (stops == starts)
            | (stops - starts > _MAX_UNCHECKED_NAME_BYTES)
        )
        slashes = data == ord("/")  # three times as fast as a search for the pairs
        if untidy or (slashes[:-1] & (slashes[1:] | (data[1:] == ord(".")))).any():
            found = np.array([match.start() for match in _HAZARDOUS.finditer(names)], np.int64)
            suspicious[np.searchsorted(stops, found, "right")] = True
        yield from (first + np.flatnonzero(suspicious)).tolist()


_TIDY = bytes(code for code in range(0x20, 0x7F) if code != ord("\\"))
"""Bytes that are harmless, but for what two of them mean."""
_BEGINNINGS = bytes(code in b"/." or 0x80 <= code < 0xC0 for code in range(256))
"""Whether a name that begins with a byte may be hazardous; from 0x80 on it goes on with the name before."""
_HAZARDOUS = re.compile(rb"[\x00-\x1f\x7f\\]|/[/.]|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe2[\x80\x81]|\xef\xbb")
"""What makes a name of UTF-8 suspicious."""
