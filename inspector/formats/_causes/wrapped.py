"""An archive with other bytes before, between or behind its own, or converted: what to keep, and a copy of that.

A copy is offered only where it was decoded and checked without an error.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from inspector.core.archive import Archive, Emitter
from inspector.core.cause import CONVERT_CODE, UNWRAP_CODE, Cause, FoundCause, wrong
from inspector.core.finding import Severity
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Companion, Repair, copied, outcomes
from inspector.core.source import BytesSource, Source, SplicedSource, blocks
from inspector.core.span import Span, total
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import damage_of, format_of
from inspector.formats._causes.encodings import ENCODINGS, NOT_CONVERTED, Convert, is_utf8
from inspector.formats._causes.identity import AWS_CHUNK, BYTE_ORDERS, CHUNK, FORM, HEADERS, RESPONSE, reordered
from inspector.formats._causes.joined import (
    MAX_SEARCHED_BYTES,
    PROGRAMS,
    address,
    archives_in,
    faults,
    joined_parts,
    name_of,
)
from inspector.formats._damage import is_text

MAX_NAMED = 8
"""Archives in front of another that are named."""
MAX_CHUNKS = 1_000_000
"""Chunks of a transfer that are joined again."""
_HEAD_BYTES = 16 << 10
_LINE_BYTES = 256
_BOM = b"\xef\xbb\xbf"


class Kept(SplicedSource):
    """The bytes of a file that are kept, or others in their place, with the files beside it."""

    def __init__(self, beside: Source, spans: Sequence[Span], source: Source | None = None) -> None:
        super().__init__(source or beside, spans, beside.name)
        self._beside = beside

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return self._beside.sibling(suffix, instead_of)


def unwrap(archive: Archive, progress: Progress) -> Repair | None:
    """A copy without the headers or the framing of a transfer; None where that is no archive without errors.

    Raises SourceError and Cancelled.
    """
    head = archive.source.read(0, _HEAD_BYTES)
    if (AWS_CHUNK.match(head) or CHUNK.match(head)) and (spans := _framed(archive.source, progress)):
        return _repair(archive, spans, "the framing of the transfer", progress)
    if found := RESPONSE.match(head) or FORM.match(head) or HEADERS.match(head):
        stop = _form_end(archive.source, head) if head.startswith(b"--") else archive.source.size
        return _repair(archive, [Span(found.end(), stop)], "the headers of the transfer", progress)
    return None


def _framed(source: Source, progress: Progress) -> list[Span]:
    """The payloads of chunks; empty where they do not follow one another to the last, which is empty."""
    spans: list[Span] = []
    at = 0
    while len(spans) < MAX_CHUNKS:
        progress.advance(0)
        line = source.read(at, _LINE_BYTES)
        found = AWS_CHUNK.match(line) or CHUNK.match(line)
        if found is None:
            break
        start, size = at + found.end(), int(found[1], 16)
        if not size:
            return spans
        if start + size > source.size:
            break
        spans.append(Span(start, start + size))
        at = start + size + 2
    return []


def _form_end(source: Source, head: bytes) -> int:
    """Where the content of a form or of a part of a response ends."""
    border = head.split(b"\n", 1)[0].rstrip(b"\r")
    start = max(0, source.size - _HEAD_BYTES)
    tail = source.read(start, _HEAD_BYTES)
    at = tail.rfind(b"\r\n" + border)
    return start + at if at >= 0 else source.size


def _repair(archive: Archive, spans: Sequence[Span], what: str, progress: Progress) -> Repair | None:
    gone = archive.source.size - total(spans)
    return without(archive, spans, gone, f"Write the archive without the {in_bytes(gone)} of {what}", progress)


def without(archive: Archive, spans: Sequence[Span], gone: int, title: str, progress: Progress) -> Repair | None:
    """A copy of the bytes ``spans`` in their order, if that is an archive without an error; ``gone`` are left out.

    Raises SourceError and Cancelled.
    """
    how = f"Without the {in_bytes(gone)}" if gone else "With them in their places"
    proof = f"{how} the archive has no error; it was decoded and checked in {count(len(spans), 'piece')}."
    return copy_of(archive, Kept(archive.source, spans), UNWRAP_CODE, title, proof, progress)


def copy_of(
    archive: Archive, source: Source, code: str, title: str, proof: str, progress: Progress, claim: str = ""
) -> Repair | None:
    """A copy of ``source``, if that is an archive without an error; ``claim`` is what it rests on without any digest.

    Raises SourceError and Cancelled.
    """
    known = format_of(archive)
    if known is None:
        return None
    inside = Archive(source, known.name, known.title, ())
    try:
        known.decode(source, _UntilError(inside), progress)
        known.check(inside, _UntilError(inside), progress)
    except _FirstError:
        return None
    if not len(inside.members):
        return None
    codes, content = frozenset(each.code for each in archive.findings), copied(source, 0, source.size)
    every = range(len(inside.members))
    fates = outcomes(inside, every, "its digest matches", "its place is whole, and the format records no digest of it")
    beside = [(suffix, archive.source.sibling(suffix)) for suffix in damage_of(archive).beside]
    along = tuple(Companion(suffix, "", copied(found, 0, found.size)) for suffix, found in beside if found is not None)
    if VERDICTS.index(Verdict.VERIFIED) in inside.verdicts:
        claim = ""
    parts = joined_parts(inside, progress) if wrong(inside) else ()
    remains = ""
    if parts:
        named, harm = "; ".join(each.words for each in parts[:MAX_NAMED]), faults(source, parts, progress)
        remains = f"What is written are {len(parts):,} archives joined in one file: {named}. {harm}".rstrip()
        proof = "Only what the title names is left out."
    lossless = "" if claim else proof
    said = None if remains else fates
    return Repair(
        code, title, codes, (), claim, content=content, lossless=lossless, along=along, outcomes=said, remains=remains
    )


class _FirstError(Exception):
    """The trial has an error: what else is wrong with it does not matter, and finding that out may take long."""


class _UntilError(Emitter):
    """Ends a trial at its first error."""

    def full(self, severity: Severity) -> bool:
        if severity is Severity.ERROR:
            raise _FirstError
        return super().full(severity)


# ---- bytes in front ------------------------------------------------------------------------------------------------


def in_front(archive: Archive, progress: Progress) -> FoundCause | None:
    """Other bytes in front of an archive that ends with the file. Raises SourceError and Cancelled."""
    source = archive.source
    places = damage_of(archive).fronts(archive, progress)
    if not places:
        return None
    start = places[0]
    data = source.read(0, min(start, _HEAD_BYTES))
    if len(places) > 1:
        return _several(archive, places)
    following = source.read(start, _HEAD_BYTES)
    if data.startswith(PROGRAMS) or (data == _BOM and not following.isascii() and is_utf8(following)):
        return None  # a program extracts itself, and where all was made text more than the mark was put in front
    precede, size = verb(start, "precedes", "precede"), in_bytes(start)
    first, who = f"{size} {precede} the archive", "What wrote them is not known."
    if data == _BOM:
        first = "A UTF-8 byte order mark of 3 bytes precedes the archive"
        who = "A program that writes text put it there."
    elif start <= _HEAD_BYTES and is_text(data.removeprefix(_BOM)):
        first = f"{size} of text {precede} the archive"
        shown = data.strip().decode("utf-8", "replace").splitlines()
        printed = f'It is "{shown[0][:60]}". A program that printed to the same output' if shown else "A program"
        who = f"{printed} put it there."
    elif not any(any(each) for each in blocks(source, 0, start)):
        first = f"{size} of zeros {precede} the archive"
        who = "Room was reserved for them, or a copy was written too far into the file."
    others = archives_in(source, Span(0, start), progress)
    if others:
        listed = "; ".join(f"{each.words}, to open as {name_of(archive)}{address(each)}" for each in others[:MAX_NAMED])
        who = f"Among them {verb(len(others), 'is', 'are')} {listed}{', and more' if len(others) > MAX_NAMED else ''}."
    repair = copy_of(
        archive,
        Kept(source, [Span(start, source.size)]),
        UNWRAP_CODE,
        f"Write the archive without the {size} of what precedes it",
        f"Without the {size} the archive has no error; it was decoded and checked.",
        progress,
        f"The archive begins at byte {start:,}. Its structure says so, and no digest of a member does.",
    )
    if repair is not None and (others or start > MAX_SEARCHED_BYTES):
        loses = tuple(f"{each.words[0].upper()}{each.words[1:]}." for each in others)
        repair = replace(repair, loses=loses, lossless="", unsearched=not others)
    done = f"tail -c +{start + 1}" if repair is None else "repair --to COPY"
    them = "it" if data == _BOM else verb(start, "it", "them")
    proof = "" if repair is None else f", which has no error without {them}"
    what = f"; cut off what precedes it: {done} does that."
    if others:
        what = f": scan {name_of(archive)} --extract FOLDER writes out each of them."
    message = f"{first}{proof}. {who} The archive itself begins at byte {start:,}{what}"
    repairs = tuple(filter(None, (repair,)))
    return FoundCause(Cause.INSERTED_BYTES, message, (Span(0, start),), tuple(wrong(archive)), repairs)


def _several(archive: Archive, places: Sequence[int]) -> FoundCause:
    """That more than one archive ends with the file, so that none of them is the one of this file."""
    stop = archive.source.size
    each = ", ".join(f"{name_of(archive)}!/@{start}-{stop}" for start in places)
    message = (
        f"{len(places)} archives end where the file does, and none begins where it begins. One is inside another, or "
        f"both were written there. Open each by itself as {each}."
    )
    spans = tuple(Span(start, stop) for start in places)
    return FoundCause(Cause.INSERTED_BYTES, message, spans, tuple(wrong(archive)))


# ---- taken for text, encoded as text, or written in another byte order -------------------------------------------


MAX_CONVERTED_BYTES = 16 << 20
"""A larger file is not converted back: it would be held in memory several times."""
_UNUSED = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
_WINDOWS = {ord(bytes((each,)).decode("cp1252")): each for each in range(0x80, 0xA0) if each not in _UNUSED}
"""The byte of each character that Windows-1252 has in the place of a control character."""


def convert_back(archive: Archive, cause: Cause, progress: Progress) -> Repair | None:
    """A copy of the file converted back, if that is an archive without an error; None for causes of another kind.

    Raises SourceError and Cancelled.
    """
    source = archive.source
    known = [(title, convert) for each, title, convert in _CONVERSIONS if each is cause]
    if not known or source.size > MAX_CONVERTED_BYTES or getattr(archive.detail, "text_mode", False):
        return None  # of a CAF in text mode only the data is converted back, by a repair of its own
    data = source.read(0, source.size)
    for what, convert in known:
        progress.advance(0)
        try:
            made = convert(data)
        except NOT_CONVERTED:
            continue
        if made in (data, b""):
            continue
        claim, title = _ASSUMED if cause is Cause.TEXT_MODE else "", f"{what}, in a copy"
        copy = Kept(source, [Span(0, len(made))], BytesSource(made))
        repair = copy_of(archive, copy, CONVERT_CODE, title, _PROOF, progress, claim)
        if repair is not None:
            return repair
    return None


_PROOF = "Converted back, the archive has no error; it was decoded and checked."
_ASSUMED = "The file was converted so and not otherwise: its structure fits then, and no member has a digest."


# ---- text ----------------------------------------------------------------------------------------------------------


def _without_returns(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _narrowed(encoding: str) -> Convert:
    """Text back to a byte a character: those of Latin-1, or of Windows-1252 where that has others."""

    def convert(data: bytes) -> bytes:
        text = codecs.decode(data, encoding).removeprefix("\ufeff")
        return text.translate(_WINDOWS).encode("latin-1")

    return convert


_CONVERSIONS: tuple[tuple[Cause, str, Convert], ...] = (
    (Cause.TEXT_MODE, "Take the carriage return before each line feed away", _without_returns),
    (
        Cause.TEXT_MODE,
        "Take the two carriage returns before each line feed away",
        lambda data: _without_returns(_without_returns(data)),
    ),
    (Cause.TEXT_MODE, "Take the UTF-8 encoding back", _narrowed("utf-8")),
    (Cause.TEXT_MODE, "Take the UTF-16 encoding back", _narrowed("utf-16-le")),
    (Cause.TEXT_MODE, "Take the UTF-16 encoding back", _narrowed("utf-16-be")),
    *(
        (Cause.ENCODED_TEXT, f"Decode the {each.kind.removeprefix('a ')}", decode)
        for each in ENCODINGS
        for decode in each.decode
    ),
    *(
        (
            Cause.BYTE_ORDER,
            f"Put the bytes of every {8 * len(places)} bits back in their order",
            partial(reordered, places=places),
        )
        for places, *_ in BYTE_ORDERS
    ),
)
"""What undoes each cause, the likeliest first. Of those that fit none, the copy is no archive without an error."""
