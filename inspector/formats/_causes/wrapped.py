"""An archive with other bytes before, between or behind its own: what to keep, and a copy of that.

A copy is offered only where it was decoded and checked without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive, Emitter
from inspector.core.cause import UNWRAP_CODE, Cause, FoundCause, wrong
from inspector.core.finding import Severity
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Companion, Content, Repair, outcomes
from inspector.core.source import Source, SplicedSource, blocks
from inspector.core.span import Span, total
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import damage_of, format_of
from inspector.formats._causes.identity import AWS_CHUNK, CHUNK, FORM, HEADERS, RESPONSE

MAX_CHUNKS = 1_000_000
"""Chunks of a transfer that are joined again."""
MAX_FRONT_BYTES = 4_096
"""More bytes in front of an archive are not looked at."""
MAX_STARTS = 4
"""Places that are tried as the beginning of an archive."""
_HEAD_BYTES = 16 << 10
_LINE_BYTES = 256
_BOM = b"\xef\xbb\xbf"


class _Kept(SplicedSource):
    """The bytes of a file that are kept, with the files beside it."""

    def __init__(self, source: Source, spans: Sequence[Span]) -> None:
        super().__init__(source, spans, source.name)
        self._beside = source

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
            return []
        size = int(found[1], 16)
        start = at + found.end()
        if not size:
            return spans
        if start + size > source.size:
            return []
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
    return copy_of(archive, _Kept(archive.source, spans), UNWRAP_CODE, title, proof, progress)


def copy_of(
    archive: Archive, source: Source, code: str, title: str, proof: str, progress: Progress, claim: str = ""
) -> Repair | None:
    """A copy of ``source``, if that is an archive without an error; ``claim`` is what it rests on without any digest.

    Raises SourceError and Cancelled.
    """
    inside = _without_error(archive, source, progress)
    if inside is None:
        return None

    def pieces(progress: Progress) -> Iterator[bytes]:
        progress.begin("Writing the archive", source.size)
        for piece in blocks(source, 0, source.size):
            yield piece
            progress.advance(len(piece))

    codes = frozenset(each.code for each in archive.findings)
    every = range(len(inside.members))
    fates = outcomes(inside, every, "its digest matches", "its place is whole, and the format records no digest of it")
    beside = ((suffix, archive.source.sibling(suffix)) for suffix in damage_of(archive).beside)
    along = tuple(Companion(suffix, "", _as_it_is(found)) for suffix, found in beside if found is not None)
    proved = VERDICTS.index(Verdict.VERIFIED) in inside.verdicts
    if proved or not claim:
        return Repair(code, title, codes, content=pieces, lossless=proof, along=along, outcomes=fates)
    return Repair(code, title, codes, claim=claim, content=pieces, along=along, outcomes=fates)


def _as_it_is(source: Source) -> Content:
    def pieces(progress: Progress) -> Iterator[bytes]:
        for piece in blocks(source, 0, source.size):
            progress.advance(0)
            yield piece

    return pieces


def _without_error(archive: Archive, source: Source, progress: Progress) -> Archive | None:
    """The bytes as an archive of the same format, checked; None where they are none without an error."""
    known = format_of(archive)
    if known is None:
        return None
    trial = Archive(source, known.name, known.title, ())
    try:
        known.decode(source, _UntilError(trial), progress)
        known.check(trial, _UntilError(trial), progress)
    except _FirstError:
        return None
    return trial if len(trial.members) else None


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
    """Text or a mark of an encoding in front of an archive. Raises SourceError and Cancelled."""
    start = _beginning(archive, progress)
    if not start:
        return None
    data = archive.source.read(0, start)
    if data.startswith((b"#!", b"MZ", b"\x7fELF")) or not _is_text(data):
        return None
    shown = data.strip().decode("utf-8", "replace").splitlines()
    if data == _BOM and _is_encoded(archive.source.read(start, _HEAD_BYTES)):
        return None  # all of it was made text, not only the mark put in front
    if data == _BOM:
        first, what = "A UTF-8 byte order mark of 3 bytes precedes the archive.", "A program that writes text"
    else:
        first = f"{in_bytes(start)} of text {'precedes' if start == 1 else 'precede'} the archive."
        what = f'It is "{shown[0][:60]}". A program that printed to the same output' if shown else "A program"
    span = Span(0, start)
    repair = _repair(archive, [Span(start, archive.source.size)], "text in front of it", progress)
    done = "repair with a copy as its target does that" if repair is not None else f"tail -c +{start + 1} does that"
    message = f"{first} {what} put it there. The archive itself begins at byte {start:,}; cut the text off: {done}."
    return FoundCause(
        Cause.INSERTED_BYTES, message, (span,), tuple(wrong(archive)), () if repair is None else (repair,)
    )


def _beginning(archive: Archive, progress: Progress) -> int:
    """Where an archive begins that other bytes stand in front of; 0 where none do."""
    source, damage = archive.source, damage_of(archive)
    places = damage.fronts(archive, MAX_FRONT_BYTES)
    data = source.read(0, max(places)) if places else b""
    found = [at for at in places if _is_text(data[:at])][:MAX_STARTS]
    begins = bool(found) and damage.begins(source, 0)
    if len(found) == 1 and not begins:
        return found[0]
    fine = (at for at in found if _without_error(archive, _Kept(source, [Span(at, source.size)]), progress))
    # A byte of the hash before an RCA may look like one of its first varint, so that two places seem right.
    return next(fine, found[0] if found and not begins else 0)


def _is_encoded(data: bytes) -> bool:
    """Whether bytes above 7F occur, all of them in UTF-8."""
    try:
        return not data.isascii() and bool(data.decode())
    except UnicodeDecodeError as error:
        return error.start >= len(data) - 3 and not data[: error.start].isascii()


def _is_text(data: bytes) -> bool:
    body = data.removeprefix(_BOM)
    return body.isascii() and not any(byte < 32 and byte not in b"\t\r\n\x1b" for byte in body)
