"""The exact way to read an index: it sees every byte, every departure and every duplicate, and reads on past damage.

CAF.md, section 2 (File Index Section), and the trailing commas of its example.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.core.finding import Severity
from inspector.core.member import LARGEST, UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.formats.caf.index import MEMBERS, PARTS, PROBLEMS, Index, Part
from inspector.formats.caf.reporter import Reporter
from inspector.formats.caf.resume import Resumption, first_entry
from inspector.formats.caf.scan import OBJECT, OBJECT_END, Malformed, Scanner, unquoted

_S = rb"[ \t\n\r]*+"
_N = rb"(0|[1-9][0-9]{0,17})"
_PLAIN = re.compile(
    rb"," + _S + rb'("[^"\\\x00-\x1f]*+")' + _S + rb":" + _S + rb"\{" + _S
    + rb'"start_byte"' + _S + rb":" + _S + _N + _S + rb"," + _S
    + rb'"end_byte"' + _S + rb":" + _S + _N + _S + rb"\}" + _S
)  # fmt: skip
_NEW_ENTRY = re.compile(rb"\{" + _S + rb'"(?:start|end)_byte"')
_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_MARK = b"\xef\xbb\xbf"
_STEP = 8_000
"""Entries between two looks at the progress and at how many there are; MEMBERS is a multiple of it."""
_NUMBERS = (b"start_byte", b"end_byte")


def read_exactly(data: bytes, start: int, progress: Progress) -> Index:
    """What the index ``data`` that begins at file offset ``start`` says; raises nothing but Cancelled."""
    return _Reader(data, start, progress).read()


class _Full(Exception):  # noqa: N818 - a result of reading, not an error of the program
    """As many members are listed as may be."""


class _Reader(Reporter):
    def __init__(self, data: bytes, base: int, progress: Progress) -> None:
        super().__init__(data, base)
        self.progress = progress
        self.advanced = 0
        self.first: dict[bytes, int] = {}
        self.resumption = Resumption(data)

    def read(self) -> Index:
        if self.data.startswith(_MARK):
            self.scanner.at = len(_MARK)
            self.scanner.note("a byte order mark", 0, len(_MARK))
        try:
            self.follow(self.document)
            if not len(self.index) and any(each.severity is Severity.ERROR for each in self.index.problems):
                self.follow(self.remains)
        except _Full:
            self.full()
        self.departures()
        self.progress.advance(len(self.data) - self.advanced)
        return self.index

    def follow(self, reading: Callable[[], None]) -> None:
        """Read as far as the index can be followed."""
        try:
            reading()
        except Malformed as problem:
            self.malformed(problem, None if len(self.index) else first_entry(self.data))
            self.index.unread = self.span(problem.at, len(self.data))

    def document(self) -> None:
        seen: set[bytes] = set()
        for key in self.scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in seen:
                self.error(
                    "caf-index-duplicate-key",
                    f"The index has a duplicate: {visible(word)!r} stands in it more than once, and most readers keep "
                    "the last in silence.",
                    key,
                )
            seen.add(word)
            self.part(word, key)
        self.scanner.space()
        if self.scanner.at < len(self.data):
            raise Malformed(self.scanner.at, "has bytes after the end of the document")
        if b"files" not in seen:
            self.error(
                "caf-index-no-files",
                "The index has no key 'files', where readers look for the members.",
                Span(0, self.scanner.at),
            )
        if b"format_version" not in seen:
            self.report(
                Severity.WARNING,
                "caf-version-missing",
                "The index does not say its format_version; it is read as version 1.0.",
                0,
                self.scanner.at,
            )

    def part(self, word: bytes, key: Span) -> None:
        start = self.scanner.at
        part = Part(word, self.span(start, start), len(self.index), len(self.index))
        if len(self.index.parts) < PARTS:
            self.index.parts.append(part)
        try:
            if word == b"files":
                self.files()
            elif word == b"format_version":
                self.version()
            else:
                self.report(
                    Severity.WARNING,
                    "caf-index-extra-key",
                    f"The index has a key {visible(word)!r} that the specification does not know.",
                    *key,
                )
                self.scanner.value()
        finally:
            part.span = self.span(start, self.scanner.at)
            part.last = len(self.index)

    def version(self) -> None:
        value = self.scanner.value()
        text = self.data[value.start : value.stop]
        if text == b'"1.0"' or (text[:1] == b'"' and unquoted(text) == b"1.0"):
            return
        shown = visible(text[:64])
        self.report(
            Severity.WARNING,
            "caf-version-unknown",
            f"format_version is {shown}, a version this program does not know; the index is read as version 1.0.",
            *value,
        )

    def remains(self) -> None:
        """Read the entries of an index whose frame, what stands around them, is damaged."""
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
            self.error("caf-index-wrong-type", "'files' is not an object, so readers find no members in it.", value)
            return
        scanner.at += 1
        self.entries()

    def entries(self) -> None:
        """Read entry after entry, up to the brace that closes the object of them."""
        scanner, first = self.scanner, True
        while True:
            if not first:
                self.plain()  # it begins with a comma
            start = scanner.at
            try:
                if not scanner.element(OBJECT_END, first):
                    return
                first = False
                self.room()
                self.entry()
            except Malformed as problem:
                first = self.recover(problem, start)

    def room(self) -> None:
        if len(self.index) >= MEMBERS:
            raise _Full

    def plain(self) -> None:
        """Read on from one entry written in the usual way to the next, until one is not."""
        scanner, match, index, first = self.scanner, _PLAIN.match, self.index, self.first
        add, base = index.add, self.base
        while found := match(self.data, scanner.at):
            key, start, stop = found.groups()
            name = key[1:-1]
            if first.setdefault(name, len(index)) != len(index):
                name = self.named(Span(*found.span(1)))
            add(base + found.start(1), name, int(start), int(stop))
            scanner.at = found.end()
            if not len(index) % _STEP:
                self.tick()
                if len(index) >= MEMBERS:
                    return

    def tick(self) -> None:
        """Tell how far reading has come."""
        self.progress.advance(self.scanner.at - self.advanced)
        self.advanced = self.scanner.at

    def recover(self, problem: Malformed, start: int) -> bool:
        """Go on at the next entry after a problem; raises the problem again where there is none.

        ``start`` is where the element began in which the problem is.
        """
        resume = problem.resume
        if resume is None:
            key = self.scanner.key.start
            resume = self.resumption.entry(key + 1 if key >= start else start, problem.at)
        if resume is None:
            raise problem
        self.scanner.at = resume
        self.malformed(problem, resume)
        return True

    def named(self, key: Span) -> bytes:
        """The name an entry's key means; reports what is wrong with it."""
        name = unquoted(self.data[key.start : key.stop])
        entry = len(self.index)
        earlier = self.first.setdefault(name, entry)
        if earlier != entry and len(self.index.problems) < PROBLEMS:
            self.error(
                "caf-duplicate-name",
                f"The name {visible(name)!r} is a duplicate: it stands in the index at byte "
                f"{grouped(self.index.positions[earlier])} too. Most readers keep the last in silence.",
                key,
                entry,
                self.string_at(self.index.positions[earlier]),
            )
        return name

    def string_at(self, position: int) -> Span:
        """The string that begins at a position of the file, as a span of the file."""
        scanner = Scanner(self.data, position - self.base)
        return self.span(*scanner.string())

    def entry(self) -> None:
        """Read the entry whose key was passed; what cannot be told is listed as unreadable."""
        self.tick()
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
            self.error(
                "caf-entry-wrong-type",
                f"The entry of {shown!r} is not an object with start_byte and end_byte.",
                value,
                entry,
            )
            return
        start = scanner.at
        for key in scanner.pairs():
            word = unquoted(self.data[key.start : key.stop])
            if word in numbers:
                self.error(
                    "caf-entry-duplicate-key",
                    f"The entry of {shown!r} has a duplicate: {word.decode()} stands in it more than once.",
                    key,
                    entry,
                )
            if word in _NUMBERS:
                value = scanner.value()
                number = self.number(word.decode(), shown, value)
                numbers[word] = number if scanner.follows(b",}") else None  # else digits may be missing
            else:
                self.extra_key(word, shown, key)
        for word in _NUMBERS:
            if word not in numbers:
                self.error(
                    "caf-entry-missing-key",
                    f"The entry of {shown!r} has no {word.decode()}, so it cannot be told where its data lies.",
                    Span(start, scanner.at),
                    entry,
                )

    def extra_key(self, word: bytes, shown: str, key: Span) -> None:
        if _NEW_ENTRY.match(self.data, self.scanner.at):
            raise Malformed(key.start, f"begins a new entry before that of {shown!r} is closed", resume=key.start)
        self.scanner.value()
        self.tick()
        if len(self.index.problems) >= PROBLEMS:
            return
        self.report(
            Severity.WARNING,
            "caf-entry-extra-key",
            f"The entry of {shown!r} has a key {visible(word)!r} that the specification does not know.",
            *key,
            len(self.index),
        )

    def number(self, word: str, shown: str, value: Span) -> int | None:
        text = self.data[value.start : value.stop]
        written = visible(text[:40])
        if not _INTEGER.fullmatch(text):
            wrong, code = f"is {written}, which is not an integer", "caf-number-not-integer"
        elif text.startswith(b"-"):
            wrong, code = f"is {written}, which is negative", "caf-number-negative"
        elif len(text) > 20 or int(text) > LARGEST:
            wrong, code = f"is {written}, far out of range", "caf-number-out-of-range"
        else:
            return int(text)
        self.error(code, f"{word} of {shown!r} {wrong}, so its data cannot be read.", value, len(self.index))
        return None
