"""The exact way to read an index: it sees every byte, every departure and every duplicate, and reads on past damage.

CAF.md, section 2 (File Index Section), and the trailing commas of its example.
"""

from __future__ import annotations

import re

from inspector.core.finding import Severity
from inspector.core.member import LARGEST, UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.formats.caf.index import MEMBERS, PARTS, PROBLEMS, Index, Part, Problem
from inspector.formats.caf.scan import KEPT, OBJECT, OBJECT_END, Malformed, Scanner, unquoted

_S = rb"[ \t\n\r]*+"
_N = rb"(0|[1-9][0-9]{0,17})"
_PLAIN = re.compile(
    rb"," + _S + rb'("[^"\\\x00-\x1f]*+")' + _S + rb":" + _S + rb"\{" + _S
    + rb'"start_byte"' + _S + rb":" + _S + _N + _S + rb"," + _S
    + rb'"end_byte"' + _S + rb":" + _S + _N + _S + rb"\}" + _S
)  # fmt: skip
_NEXT_ENTRY = re.compile(rb"\}" + _S + rb"," + _S + rb'(?=")')
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


class _Reader:
    def __init__(self, data: bytes, base: int, progress: Progress) -> None:
        self.scanner = Scanner(data)
        self.data = data
        self.base = base
        self.progress = progress
        self.advanced = 0
        self.first: dict[bytes, int] = {}
        self.index = Index(Span(base, base + len(data)))

    def read(self) -> Index:
        if self.data.startswith(_MARK):
            self.scanner.at = len(_MARK)
            self.scanner.note("a byte order mark", 0, len(_MARK))
        try:
            self.document()
        except Malformed as problem:
            self.malformed(problem)
            self.index.unread = self.span(problem.at, len(self.data))
        except _Full:
            self.full()
        self.departures()
        self.progress.advance(len(self.data) - self.advanced)
        return self.index

    def span(self, start: int, stop: int) -> Span:
        return Span(self.base + start, self.base + stop)

    def place(self, at: int) -> str:
        return grouped(self.base + at)

    def report(
        self, severity: Severity, code: str, message: str, start: int, stop: int, entry: int | None = None
    ) -> None:
        if len(self.index.problems) < PROBLEMS:
            self.index.problems.append(Problem(severity, code, message, (self.span(start, stop),), entry))

    def error(self, code: str, message: str, where: Span, entry: int | None = None) -> None:
        self.report(Severity.ERROR, code, message, *where, entry)

    def malformed(self, problem: Malformed) -> None:
        where = Span(problem.at, min(problem.at + 1, len(self.data)))
        after = " The entries before it are listed." if len(self.index) else ""
        self.error(
            "caf-index-malformed",
            f"The index is not JSON: at byte {self.place(problem.at)} it {problem.message}.{after}",
            where,
        )

    def full(self) -> None:
        rest = Span(self.scanner.at, len(self.data))
        self.index.unread = self.span(*rest)
        self.report(
            Severity.WARNING,
            "caf-too-many-members",
            f"The index lists more than {MEMBERS:,} members: showing the first {len(self.index):,}.",
            *rest,
        )

    def departures(self) -> None:
        for departure, places in self.scanner.lax.items():
            first = self.place(places[0].start)
            least = "at least " if len(places) == KEPT else ""
            times = "" if len(places) == 1 else f", {least}{len(places):,} times in all"
            message = (
                f"The index is not strict JSON: it has {departure} at byte {first}{times}. Most readers refuse it."
            )
            if len(self.index.problems) < PROBLEMS:
                spans = tuple(self.span(*place) for place in places)
                self.index.problems.append(Problem(Severity.WARNING, "caf-index-not-strict-json", message, spans))

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
                "caf-index-no-files", "The index has no key 'files', so it lists no members.", Span(0, self.scanner.at)
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

    def files(self) -> None:
        scanner = self.scanner
        if scanner.byte() != OBJECT:
            value = scanner.value()
            self.error("caf-index-wrong-type", "'files' is not an object, so the index lists no members.", value)
            return
        scanner.at += 1
        first = True
        while True:
            try:
                self.plain()
                if not scanner.element(OBJECT_END, first):
                    return
                first = False
                self.room()
                self.entry()
            except Malformed as problem:
                first = self.recover(problem)

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

    def recover(self, problem: Malformed) -> bool:
        """Go on at the next entry after a problem; raises the problem again where there is none."""
        if problem.resume is not None:
            self.scanner.at = problem.resume
        else:
            found = _NEXT_ENTRY.search(self.data, problem.at)
            if found is None:
                raise problem
            self.scanner.at = found.end()
        self.malformed(problem)
        return True

    def named(self, key: Span) -> bytes:
        """The name an entry's key means; reports what is wrong with it."""
        name = unquoted(self.data[key.start : key.stop])
        entry = len(self.index)
        earlier = self.first.setdefault(name, entry)
        if earlier != entry:
            self.error(
                "caf-duplicate-name",
                f"The name {visible(name)!r} is a duplicate: it stands in the index at byte "
                f"{grouped(self.index.positions[earlier])} too. Most readers keep the last in silence.",
                key,
                entry,
            )
        return name

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
                numbers[word] = self.number(word.decode(), shown, value)
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
