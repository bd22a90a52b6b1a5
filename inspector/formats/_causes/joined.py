"""Archives joined in one file: where each begins and ends, and how to split them.

An archive that begins at a place tells where it ends: a ZIP by the first end record whose directory ends there, a tar
by its end blocks. An archive that ends with the file may tell where it begins. Both are followed until they meet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from inspector.core.archive import Archive, Emitter
from inspector.core.cause import SPLIT_CODE, Cause, FoundCause, wrong
from inspector.core.finding import Severity, first_sentence
from inspector.core.format import Format
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress, Quiet
from inspector.core.repair import Companion, Content, Repair, copied
from inspector.core.source import Metered, Source, SplicedSource, any_byte
from inspector.core.span import Span
from inspector.formats import FORMATS, damage_of

MAX_PARTS = 64
"""Archives that are told apart in one file."""
MAX_SEARCHED_BYTES = 64 << 20
"""Bytes that are searched for an archive in each format."""
MIN_FOUND, MAX_FOUND = 64, 1 << 16
"""Archives and beginnings of archives that are found in a small file, and in any; between them one in 4 KiB."""
READ_AGAIN = 8
"""How many times as much as is searched may be read to look at what is found, with ``MIN_READ_AGAIN`` more."""
MIN_READ_AGAIN = 8 << 20
MIN_REST_BYTES = 64
"""Fewer bytes behind an archive are no part of another."""
_LOOK_BYTES = 4_096
"""Looking at a place counts as reading so many bytes at least."""
_ENOUGH = 1 << 62
"""What a look may read: it is counted, and ends by itself."""
PROGRAMS = (b"#!", b"MZ", b"\x7fELF")
"""How what extracts itself begins."""
_WINDOW_BYTES = 1 << 20
_OVERLAP = 256


@cache
def _formats() -> dict[str, Format]:
    """The formats whose archives may be joined, without special cases of them; those that begin with data last.

    Anything may be such data.
    """
    found = [each for each in FORMATS if each.signature is not None and not each.general]
    return {each.name: each for each in sorted(found, key=lambda each: each.damage().data_first)}


class Part(NamedTuple):
    """The bytes ``[start, stop)`` hold an archive of the format ``kind``.

    ``whole``: both of its ends are where they should be.
    ``old``: it is the tail of an archive that began where the first part stands now.
    """

    start: int
    stop: int
    kind: str
    whole: bool = True
    old: bool = False

    @property
    def suffix(self) -> str:
        """What the name of a file of its format ends in."""
        return _formats()[self.kind].suffixes[0]

    @property
    def grows(self) -> bool:
        """Whether nothing says where it ends."""
        return not self.whole and not _formats()[self.kind].damage().data_first

    @property
    def words(self) -> str:
        signature = _formats()[self.kind].signature
        assert signature is not None
        what = signature.called
        if self.old:
            what = f"the tail of {what.split(' ', 1)[1]} that was overwritten"
            what = what.replace("of ", "of an older ", 1)
        elif not self.whole:
            what += " that is not whole"
        return f"{what} at bytes {self.start:,} to {self.stop - 1:,}"


def joined_parts(archive: Archive, progress: Progress) -> tuple[Part, ...]:
    """The archives that stand one after the other in a file; none where it is one archive.

    Linear in time. Raises SourceError and Cancelled.
    """
    source = archive.source
    newer = damage_of(archive).newer(archive)
    if newer is not None:
        return (Part(0, newer.stop, newer.kind), Part(newer.stop, source.size, archive.format, whole=False, old=True))
    parts: list[Part] = []
    at = 0
    while at < source.size and len(parts) < MAX_PARTS:
        ends = ((kind, known.damage().end(source, at, progress)) for kind, known in _formats().items())
        found = next((Part(at, stop, kind) for kind, stop in ends if stop is not None), None)
        if found is None or found.stop <= at:
            break
        parts.append(found)
        at = found.stop
    begins = ((kind, known.damage().last(source, at)) for kind, known in _formats().items() if at < source.size)
    last = next((Part(start, source.size, kind) for kind, start in begins if start is not None), None)
    if last is not None:
        if last.start > at and (first := _begun(source, at)):
            parts.append(Part(at, last.start, first, whole=False))
            at = last.start
        if last.start == at:
            parts.append(last)
            at = source.size
    if parts and source.size - at >= MIN_REST_BYTES:
        parts += _rest(source, at)
    if len(parts) < 2 or not _plausible(archive, parts):
        return ()
    return tuple(parts)


def _rest(source: Source, at: int) -> Sequence[Part]:
    """What follows the last whole archive, if that is a part of another."""
    kind = _begun(source, at)
    if kind:
        return [Part(at, source.size, kind, whole=False)]
    old = (name for name, known in _formats().items() if known.damage().is_older(source, at))
    return [Part(at, source.size, name, whole=False, old=True) for name in old][:1]


def _plausible(archive: Archive, parts: Sequence[Part]) -> bool:
    """Whether the parts are no members of one archive whose records are lost, nor read as one archive."""
    kinds = {part.kind for part in parts}
    if damage_of(archive).data_first:
        return archive.format in kinds
    needed = _formats()[parts[0].kind].damage().joined if len(kinds) == 1 else ""
    return not needed or any(each.code == needed for each in archive.findings)


# ---- where an archive begins ----------------------------------------------------------------------------------------


def _begun(source: Source, at: int) -> str:
    """The kind of archive that begins at a place, by its first bytes; empty if none does."""
    return next((kind for kind, known in _formats().items() if known.damage().begins(source, at)), "")


def archives_in(source: Source, span: Span, progress: Progress) -> Sequence[Part]:
    """The archives in the first ``MAX_SEARCHED_BYTES`` of these bytes; what begins there, where none is whole.

    Those inside others are left out, and those behind ``MAX_PARTS``. Raises SourceError and Cancelled.
    """
    every = archives(SplicedSource(source, [span], source.name), progress, MAX_SEARCHED_BYTES).parts
    found: list[Part] = []
    for each in [each for each in every if each.whole] or every[:1]:
        if not found or each.start >= found[-1].stop - span.start:
            found.append(each._replace(start=span.start + each.start, stop=span.start + each.stop))
    return found[:MAX_PARTS]


def beside(archive: Archive, progress: Progress) -> Sequence[Part]:
    """The archives in what a decoded one has in front of it or behind it. Raises SourceError and Cancelled."""
    source = archive.source
    ends = {
        span for each in wrong(archive) for span in each.spans if each.member is None and span.size >= MIN_REST_BYTES
    }
    outside = [span for span in sorted(ends) if (span.start == 0) != (span.stop == source.size)]
    if not outside or source.read(0, len(max(PROGRAMS, key=len))).startswith(PROGRAMS):
        return ()
    return [part for span in outside for part in archives_in(source, span, progress)]


def faults(source: Source, parts: Sequence[Part], progress: Progress) -> str:
    """Which of these archives have errors, as sentences; empty where none has any. Raises SourceError and Cancelled."""
    said = []
    for part in parts:
        known = _formats()[part.kind]
        trial = Archive(SplicedSource(source, [Span(part.start, part.stop)], source.name), known.name, known.title, ())
        known.decode(trial.source, Emitter(trial), Quiet(progress.advance))
        known.check(trial, Emitter(trial), Quiet(progress.advance))
        first = next((each for each in trial.findings if each.severity is Severity.ERROR), None)
        if first is not None:
            where = f"That at bytes {part.start:,} to {part.stop - 1:,} is itself damaged"
            said.append(f"{where} (places are counted from its beginning): {first_sentence(first.message)}")
    return " ".join(said)


# ---- archives in any bytes -------------------------------------------------------------------------------------------


class Search(NamedTuple):
    """The archives and beginnings of archives found, by place, those around others first.

    Bytes before ``stop`` were searched; ``given_up``: there was too much to look at for the rest.
    """

    parts: Sequence[Part]
    stop: int
    given_up: bool = False


_Mark = tuple[re.Pattern[bytes], str, int | None]
"""What to look for of a kind of archive, and how far behind the beginning that is; None for an anchor."""


@cache
def _marks() -> tuple[_Mark, ...]:
    found: list[_Mark] = []
    for kind, known in _formats().items():
        signature, anchor = known.signature, known.damage().anchor
        if signature is not None and signature.begins and signature.begins != anchor:
            found.append((re.compile(re.escape(signature.begins)), kind, signature.at))
        if anchor:
            found.append((re.compile(anchor), kind, None))
    return tuple(found)


def archives(source: Source, progress: Progress, most: int) -> Search:
    """The archives in the first ``most`` bytes, each proved by its own records, and what else begins as one does.

    Reads these bytes once, and looks at what is found within ``READ_AGAIN`` times as many. Raises SourceError and
    Cancelled.
    """
    size = min(source.size, most)
    room = Metered(SplicedSource(source, [Span(0, size)], source.name), _ENOUGH)
    least = _ENOUGH - READ_AGAIN * size - MIN_READ_AGAIN
    progress.begin("Looking for archives", size)
    found, most_found = _Found(room, progress), min(MAX_FOUND, MIN_FOUND + size // _LOOK_BYTES)
    for at in range(0, size, _WINDOW_BYTES):
        data = source.read(at, min(_WINDOW_BYTES + _OVERLAP, size - at))
        hits = sorted(
            (match.start(), number)
            for number, (pattern, *_) in enumerate(_marks() if any_byte(data) else ())
            for match in pattern.finditer(data)
            if match.start() < _WINDOW_BYTES
        )
        for place, number in hits:
            if room.left <= least or len(found.parts) >= most_found:
                return Search(found.sorted(at + place), at + place, given_up=True)
            found.look(at + place, *_marks()[number][1:])
        progress.advance(min(_WINDOW_BYTES, size - at))
    return Search(found.sorted(size), size)


class _Found:
    """What has been found: ``parts`` with the beginnings that no whole archive has taken in so far."""

    def __init__(self, source: Metered, progress: Progress) -> None:
        self.parts: list[Part] = []
        self._source, self._progress = source, Quiet(progress.advance)
        self._known: dict[str, int] = {}
        """Where the bytes end, by the kind, that one found has explained."""
        self._stop = 0
        """Where the last whole archive ends."""

    def look(self, place: int, kind: str, behind: int | None) -> None:
        """See what is at a place where something is that archives of a kind have, as in ``_Mark``."""
        last = self.parts[-1] if self.parts else None
        if behind is not None:
            start = place - behind
            goes_on = last is not None and not last.whole and last.kind == kind
            if start >= self._stop and not goes_on:
                self.parts.append(Part(start, start + 1, kind, whole=False))
            return
        if place < self._known.get(kind, 0):
            return
        self._source.left -= _LOOK_BYTES
        found = _formats()[kind].damage().anchored(self._source, place, self._stop, self._progress)
        if found is None or (not found.whole and found.stop <= self._stop):
            return
        self._known[kind] = found.stop
        inner: list[Part] = []
        while found.whole and self.parts and self.parts[-1].start >= found.start:
            inner.append(self.parts.pop())
        self.parts += [each for each in reversed(inner) if each.whole]
        self.parts.append(Part(found.start, found.stop, kind, found.whole))
        if found.whole:
            self._stop = max(self._stop, found.stop)

    def sorted(self, stop: int) -> list[Part]:
        """The parts by place; what only begins may go on to the next, or to ``stop``."""
        parts = sorted(self.parts, key=lambda each: (each.start, -each.stop))
        ends = [*(each.start for each in parts[1:]), stop]
        grown = [
            part._replace(stop=max(part.stop, end)) if part.grows else part
            for part, end in zip(parts, ends, strict=False)
        ]
        return [part for part in grown if part.whole or part.stop - part.start >= MIN_REST_BYTES]


# ---- what is said and done -------------------------------------------------------------------------------------------


def name_of(archive: Archive) -> str:
    """The name of its file, as an address has it."""
    return archive.source.name.replace("\\", "/").rpartition("/")[2] or "FILE"


def joined(archive: Archive, progress: Progress) -> FoundCause | None:
    """The cause that several archives stand in a file. Raises SourceError and Cancelled."""
    parts = joined_parts(archive, progress)
    if not parts:
        return None
    old = any(part.old for part in parts)
    number = {2: "Two", 3: "Three", 4: "Four"}.get(len(parts), f"{len(parts):,}")
    name = name_of(archive)
    places = "; ".join(part.words for part in parts[:8])
    left = archive.source.size - parts[-1].stop
    rest = f"{in_bytes(left)} follow that belong to none." if left else ""
    first = f"{number} archives are joined in this file, one after the other."
    if old:
        first = "A new archive was written over a longer old one, and the old one's tail is left."
        newer = damage_of(archive).newer(archive)
        if newer is not None and not newer.certain:
            first = "There is a whole archive at the beginning, and a longer one that lists it goes on after it."
    addresses = " and ".join([f"{name}{address(part)}" for part in parts if not part.old][:4])
    harm = faults(archive.source, [part for part in parts if not part.old], progress)
    more = f"{', and more' if len(parts) > 8 else ''}. {rest} {harm}".rstrip().replace("  ", " ")
    message = (
        f"{first} They are {places}{more} Each can be "
        f"listed, opened and extracted by itself as {addresses or f'{name}!/@START-STOP'}; repair --to COPY "
        "splits them into files."
    )
    spans = tuple(Span(part.start, part.stop) for part in parts)
    return FoundCause(Cause.JOINED, message, spans, tuple(wrong(archive)), (_split(archive, parts, rest, harm),))


def address(part: Part) -> str:
    """How a location names a part: behind the path of the file."""
    return f"!/@{part.start}-{part.stop}"


def _split(archive: Archive, parts: Sequence[Part], rest: str, harm: str) -> Repair:
    """Write the first archive to the copy and every other one beside it.

    ``rest`` says what belongs to none, and ``harm`` which of them are damaged.
    """
    first, *others = parts
    suffixes = [suffix for kind in _formats() for suffix in _suffixes_of(kind)]
    ending = next((each for each in suffixes if archive.source.name.endswith(each)), "")

    def suffix(part: Part) -> str:
        """A part of the kind of the file gets the suffix of the file, also where that is one of a special case."""
        own = _suffixes_of(part.kind)
        return next((each for each in own if archive.source.name.lower().endswith(each)), own[-1])

    along = tuple(
        Companion(f"-{number}{suffix(part)}", ending, _content(archive, part)) for number, part in enumerate(others, 2)
    )
    over = "What the newer archive was written over of the older one." if any(part.old for part in parts) else ""
    loses = tuple(filter(None, (rest, over)))
    return Repair(
        SPLIT_CODE,
        f"Split the file: write each of the {len(parts):,} archives to a file of its own",
        frozenset(each.code for each in wrong(archive)),
        loses,
        content=_content(archive, first),
        lossless="" if loses else "Every byte of the file is in one of them.",
        along=along,
        remains=harm,
    )


def _suffixes_of(kind: str) -> Sequence[str]:
    """The suffixes of a format, after those of its special cases, which may end in one of them."""
    special = (suffix for each in FORMATS if each.general == kind for suffix in each.suffixes)
    return (*special, _formats()[kind].suffixes[0])


def _content(archive: Archive, part: Part) -> Content:
    older = _formats()[part.kind].damage().older
    if part.old and older is not None:
        return older(archive, part.start)
    return copied(archive.source, part.start, part.stop)
