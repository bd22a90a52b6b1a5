"""Read an index exactly: report every deviation and duplicate, and continue after damage.

CAF.md, section 2 (File Index Section), including the trailing commas of its example.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from inspector.core.finding import FindingType, Severity
from inspector.core.member import LARGEST, UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.formats.caf import codes
from inspector.formats.caf.index import MAX_MEMBERS, MAX_PARTS, MAX_PROBLEMS, Index, Part, Problem
from inspector.formats.caf.locate import NextEntryFinder, first_entry
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
_N = rb"(0|[1-9][0-9]{0,17})"
_PLAIN = re.compile(
    rb"," + _S + rb'("[^"\\\x00-\x1f]*+")' + _S + rb":" + _S + rb"\{" + _S
    + rb'"start_byte"' + _S + rb":" + _S + _N + _S + rb"," + _S
    + rb'"end_byte"' + _S + rb":" + _S + _N + _S + rb"\}" + _S
)  # fmt: skip
_NEW_ENTRY = re.compile(rb"\{" + _S + rb'"(?:start|end)_byte"')
_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_ENTRIES_PER_STEP = 8_000
"""Entries between two updates of the progress and tests of the limit; MAX_MEMBERS is a multiple of it."""
_NUMBERS = (b"start_byte", b"end_byte")


def read_exactly(data: bytes, start: int, progress: Progress) -> Index:
    """Read the index ``data``, which begins at file offset ``start``. Raises only Cancelled."""
    return _Reader(data, start, progress).read()


class _TooManyMembers(Exception):  # noqa: N818 - a result of reading, not an error of the program
    """MAX_MEMBERS members are listed."""


class _Reporter:
    """Collects the problems of an index; ``data`` is its bytes, ``base`` their offset in the file."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data = data
        self.base = base
        self.scanner = Scanner(data)
        self.index = Index(Span(base, base + len(data)))

    def span(self, start: int, stop: int) -> Span:
        """The file span of ``[start, stop)`` in ``data``."""
        return Span(self.base + start, self.base + stop)

    def place(self, at: int) -> str:
        """The file offset of ``at`` in ``data``, as text."""
        return grouped(self.base + at)

    def report(self, what: FindingType, message: str, where: Span, entry: int | None = None, *others: Span) -> None:
        """Report a problem at the span ``where`` of ``data``; ``others`` are file spans."""
        if len(self.index.problems) < MAX_PROBLEMS:
            self.index.problems.append(Problem(what, message, (self.span(*where), *others), entry))

    def report_malformed(self, problem: Malformed, resume: int | None = None) -> None:
        """Report where the index cannot be parsed, and the offset in ``data`` where reading continues, if it does."""
        where = Span(problem.at, min(problem.at + 1, len(self.data)))
        after = " The entries before it are listed." if len(self.index) else ""
        if resume is not None:
            after = f" Reading continues with the entry at byte {self.place(resume)}."
        self.report(
            codes.INDEX_MALFORMED,
            f"The index is not JSON at byte {self.place(problem.at)}. It {problem.message}.{after}",
            where,
        )

    def report_full(self) -> None:
        """Report that the rest of the members is not listed."""
        rest = Span(self.scanner.at, len(self.data))
        self.index.unread = self.span(*rest)
        self.report(
            codes.TOO_MANY_MEMBERS,
            f"The index lists more than {MAX_MEMBERS:,} members. Only the first {len(self.index):,} are shown.",
            rest,
        )

    def report_deviations(self) -> None:
        """Report deviations from strict JSON that were read all the same."""
        if not self.data.isascii():
            for span in islice(not_utf8(self.data), MAX_SPANS_PER_DEVIATION):
                self.scanner.note(NOT_UTF8, *span)
        for deviation, places in self.scanner.deviations.items():
            first = self.place(places[0].start)
            least = "at least " if len(places) == MAX_SPANS_PER_DEVIATION else ""
            readers = "strict readers" if deviation in REJECTED else "most readers"
            times = "" if len(places) == 1 else f", {least}{len(places):,} times in all"
            message = (
                f"The index is not strict JSON. It has {deviation} at byte {first}{times}, which {readers} reject."
            )
            if len(self.index.problems) < MAX_PROBLEMS:
                spans = tuple(self.span(*place) for place in places)
                what = codes.INDEX_NOT_JSON if deviation in REJECTED else codes.INDEX_NOT_STRICT_JSON
                self.index.problems.append(Problem(what, message, spans))


class _Reader(_Reporter):
    def __init__(self, data: bytes, base: int, progress: Progress) -> None:
        super().__init__(data, base)
        self.progress = progress
        self.advanced = 0
        self.first: dict[bytes, int] = {}
        self.next_entries = NextEntryFinder(data)

    def read(self) -> Index:
        if self.data.startswith(BYTE_ORDER_MARK):
            self.scanner.at = len(BYTE_ORDER_MARK)
            self.scanner.note("a byte order mark", 0, len(BYTE_ORDER_MARK))
        try:
            self.parse(self.document)
            if not len(self.index) and any(each.what.severity is Severity.ERROR for each in self.index.problems):
                self.parse(self.entries_without_frame)
        except _TooManyMembers:
            self.report_full()
        self.report_deviations()
        self.progress.advance(len(self.data) - self.advanced)
        return self.index

    def parse(self, reading: Callable[[], None]) -> None:
        """Read as far as the index can be parsed."""
        try:
            reading()
        except Malformed as problem:
            self.report_malformed(problem, None if len(self.index) else first_entry(self.data))
            self.index.unread = self.span(problem.at, len(self.data))

    def document(self) -> None:
        seen: set[bytes] = set()
        for key in self.scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in seen:
                self.report(
                    codes.INDEX_DUPLICATE_KEY,
                    f"The index has a duplicate key '{visible(word)}'. Most readers silently keep the last one.",
                    key,
                )
            seen.add(word)
            self.part(word, key)
        self.scanner.space()
        if self.scanner.at < len(self.data):
            raise Malformed(self.scanner.at, "has bytes after the end of the document")
        if b"files" not in seen:
            self.report(
                codes.INDEX_NO_FILES,
                "The index has no key 'files', which lists the members.",
                Span(0, self.scanner.at),
            )
        if b"format_version" not in seen:
            self.report(
                codes.VERSION_MISSING,
                "The index has no format_version. It is read as version 1.0.",
                Span(0, self.scanner.at),
            )

    def part(self, word: bytes, key: Span) -> None:
        start = self.scanner.at
        part = Part(word, self.span(start, start), len(self.index), len(self.index))
        if len(self.index.parts) < MAX_PARTS:
            self.index.parts.append(part)
        try:
            if word == b"files":
                self.files()
            elif word == b"format_version":
                self.version()
            else:
                self.extra_part(word, key)
                self.scanner.value()
        finally:
            part.span = self.span(start, self.scanner.at)
            part.last = len(self.index)

    def extra_part(self, word: bytes, key: Span) -> None:
        self.report(
            codes.INDEX_EXTRA_KEY,
            f"The index has a key '{visible(word)}', which the specification does not define.",
            key,
        )

    def version(self) -> None:
        value = self.scanner.value()
        text = self.data[value.start : value.stop]
        if text == b'"1.0"' or (text[:1] == b'"' and unquoted(text) == b"1.0"):
            return
        shown = visible(text[:64])
        self.report(
            codes.VERSION_UNKNOWN,
            f"format_version is {shown}, an unknown version. The index is read as version 1.0.",
            value,
        )

    def entries_without_frame(self) -> None:
        """Read the entries of an index that is damaged around them."""
        start = first_entry(self.data)
        if start is None:
            return
        index = self.index
        index.parts = [part for part in index.parts if part.key != b"files" and part.span.stop <= self.base + start]
        index.parts.append(Part(b"files", self.span(start, start)))
        index.unread = None
        self.scanner.at = start
        try:
            self.entries()
        finally:
            index.parts[-1].span = self.span(start, self.scanner.at)
            index.parts[-1].last = len(index)

    def files(self) -> None:
        scanner = self.scanner
        if scanner.byte() != OBJECT:
            value = scanner.value()
            self.report(codes.INDEX_WRONG_TYPE, "'files' is not an object, so it lists no members.", value)
            return
        scanner.at += 1
        self.entries()

    def entries(self) -> None:
        """Read the entries, up to the brace that closes their object."""
        scanner, first = self.scanner, True
        while True:
            if not first:
                self.plain_entries()  # each begins with a comma
            start = scanner.at
            try:
                if not scanner.element(OBJECT_END, first):
                    return
                first = False
                self.check_limit()
                self.entry()
            except Malformed as problem:
                first = self.recover(problem, start)

    def check_limit(self) -> None:
        if len(self.index) >= MAX_MEMBERS:
            raise _TooManyMembers

    def plain_entries(self) -> None:
        """Read consecutive entries in the usual form, up to the first that differs."""
        scanner, match, index, first = self.scanner, _PLAIN.match, self.index, self.first
        add, base = index.add, self.base
        while found := match(self.data, scanner.at):
            key, start, stop = found.groups()
            name = key[1:-1]
            if first.setdefault(name, len(index)) != len(index):
                name = self.named(Span(*found.span(1)))
            add(base + found.start(1), name, int(start), int(stop))
            scanner.at = found.end()
            if not len(index) % _ENTRIES_PER_STEP:
                self.advance()
                if len(index) >= MAX_MEMBERS:
                    return

    def advance(self) -> None:
        """Advance the progress to the cursor."""
        self.progress.advance(self.scanner.at - self.advanced)
        self.advanced = self.scanner.at

    def recover(self, problem: Malformed, start: int) -> bool:
        """Continue at the next entry after a problem, or raise it again if there is none.

        ``start`` is where the element with the problem begins.
        """
        resume = problem.resume
        if resume is None:
            key = self.scanner.key.start
            resume = self.next_entries.find(key + 1 if key >= start else start, problem.at)
        if resume is None:
            raise problem
        self.scanner.at = resume
        self.report_malformed(problem, resume)
        return True

    def named(self, key: Span) -> bytes:
        """The name in an entry's key. Reports a duplicate."""
        name = unquoted(self.data[key.start : key.stop])
        entry = len(self.index)
        earlier = self.first.setdefault(name, entry)
        if earlier != entry and len(self.index.problems) < MAX_PROBLEMS:
            self.report(
                codes.DUPLICATE_NAME,
                f"The name '{visible(name)}' is a duplicate: the index also has it at byte "
                f"{grouped(self.index.positions[earlier])}. Most readers silently keep the last one.",
                key,
                entry,
                self.string_at(self.index.positions[earlier]),
            )
        return name

    def string_at(self, position: int) -> Span:
        """The file span of the string that begins at a file offset."""
        scanner = Scanner(self.data, position - self.base)
        return self.span(*scanner.string())

    def entry(self) -> None:
        """Read the entry after its key; one without both numbers is listed as unreadable."""
        self.advance()
        key = self.scanner.key
        name = self.named(key)
        numbers: dict[bytes, int | None] = {}
        try:
            self.numbers(name, numbers)
        finally:
            start, stop = numbers.get(b"start_byte"), numbers.get(b"end_byte")
            marks = UNREADABLE if start is None or stop is None else 0
            start = LARGEST if start is None else start
            self.index.add(self.base + key.start, name, start, start if stop is None else stop, marks)

    def numbers(self, name: bytes, numbers: dict[bytes, int | None]) -> None:
        scanner, entry = self.scanner, len(self.index)
        shown = visible(name)
        if scanner.byte() != OBJECT:
            value = scanner.value()
            self.report(
                codes.ENTRY_WRONG_TYPE,
                f"The entry of '{shown}' is not an object with start_byte and end_byte.",
                value,
                entry,
            )
            return
        start = scanner.at
        for key in scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in numbers:
                self.report(
                    codes.ENTRY_DUPLICATE_KEY,
                    f"The entry of '{shown}' has a duplicate key {word.decode()}.",
                    key,
                    entry,
                )
            if word in _NUMBERS:
                value = scanner.value()
                number = self.number(word.decode(), shown, value)
                numbers[word] = number if scanner.follows(b",}") else None  # or else digits may be missing
            else:
                self.extra_key(word, shown, key)
        for word in _NUMBERS:
            if word not in numbers:
                self.report(
                    codes.ENTRY_MISSING_KEY,
                    f"The entry of '{shown}' has no {word.decode()}, so the place of its data is unknown.",
                    Span(start, scanner.at),
                    entry,
                )

    def extra_key(self, word: bytes, shown: str, key: Span) -> None:
        if _NEW_ENTRY.match(self.data, self.scanner.at):
            raise Malformed(key.start, f"begins a new entry before the entry of '{shown}' is closed", resume=key.start)
        self.scanner.value()
        self.advance()
        if len(self.index.problems) >= MAX_PROBLEMS:
            return
        self.report(
            codes.ENTRY_EXTRA_KEY,
            f"The entry of '{shown}' has a key '{visible(word)}', which the specification does not define.",
            key,
            len(self.index),
        )

    def number(self, word: str, shown: str, value: Span) -> int | None:
        text = self.data[value.start : value.stop]
        written = visible(text[:40])
        if not _INTEGER.fullmatch(text):
            wrong, what = f"is {written}, which is not an integer", codes.NUMBER_NOT_INTEGER
        elif text.startswith(b"-"):
            wrong, what = f"is {written}, which is negative", codes.NUMBER_NEGATIVE
        elif len(text) > 20 or int(text) > LARGEST:
            wrong, what = f"is {written}, far out of range", codes.NUMBER_OUT_OF_RANGE
        else:
            return int(text)
        self.report(what, f"{word} of '{shown}' {wrong}, so its data cannot be read.", value, len(self.index))
        return None
