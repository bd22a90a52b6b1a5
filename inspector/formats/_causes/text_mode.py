"""Copies in text mode: changed line ends, a lost eighth bit, another encoding.

What is counted is improbable in the compressed or binary bytes of an archive, and where members may be text the size
of the file has to agree too.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.numbers import count, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats import damage_of
from inspector.formats._causes.survey import Survey

MIN_RARE = 4
"""How often each control byte has to occur on average, so that the absence of another one says something."""
MIN_LINES = 8
"""Line ends from which on it says something that all are alike."""
MIN_ENCODED = 32
"""Sequences of two bytes from which on a file counts as encoded anew."""
MIN_REPLACED = 16
"""Replacement characters from which on a file counts as decoded with losses."""
_LF, _CR = 10, 13
MIN_BINARY_BYTES = 4 << 10
"""A smaller file may lack zeros by chance."""
_REPLACEMENT = b"\xef\xbf\xbd"
_SAMPLE_BYTES = 64 << 10
_AGAIN = "Copy it again in binary mode, or with a tool that changes no bytes"


def text_mode(archive: Archive, survey: Survey, expected: int | None) -> FoundCause | None:
    """The change that a copy in text mode made; ``expected`` is the size by the archive's own records, if known."""
    return (
        _encoded_anew(archive, survey)
        or _seven_bits(archive, survey)
        or _without_zeros(archive, survey)
        or _line_ends(archive, survey, None if expected is None else survey.size - expected)
    )


def _explanation(archive: Archive, first: str, rest: str) -> FoundCause:
    return FoundCause(Cause.TEXT_MODE, f"{first} {rest}", (Span(0, archive.source.size),), tuple(wrong(archive)))


def _line_ends(archive: Archive, survey: Survey, added: int | None) -> FoundCause | None:
    lf, cr, crlf = survey.counts[_LF], survey.counts[_CR], survey.crlf
    binary = survey.rare_controls >= MIN_RARE
    times = 2 if cr >= 2 * lf and _is_twice(archive.source) else 1
    if lf >= MIN_LINES and crlf == lf and _grew_by(archive, survey, times * lf, added):
        twice = " twice" if times > 1 else ""
        return _explanation(
            archive,
            f"The file was copied in text mode{twice}, which put a CR before each LF.",
            f"A 0D stands before each of {count(lf, 'byte')} 0A, which binary data does not have: "
            f"{in_bytes(times * lf)} too many. {_AGAIN}. If the original had no CR LF, dos2unix -f restores it.",
        )
    if binary and cr and not lf:
        return _explanation(
            archive,
            "The file was copied in text mode, which changed each LF into a CR.",
            f"Byte 0A does not occur in {in_bytes(survey.size)}, and 0D does {count(cr, 'time')}. {_AGAIN}: which of "
            "them were LF cannot be told.",
        )
    if binary and lf and not cr and survey.rare_controls >= 2 * MIN_RARE:
        shrunk = added is not None and added < 0
        return _explanation(
            archive,
            "The file was copied in text mode, which took each CR away or made it an LF.",
            f"Byte 0D does not occur in {in_bytes(survey.size)}, although other control bytes do, "
            f"{survey.rare_controls:.0f} times each"
            f"{f', and {in_bytes(-added)} are missing' if shrunk and added is not None else ''}. "
            f"{_AGAIN}: which LF were CR cannot be told.",
        )
    if binary and lf and not crlf and added is not None and added < 0 and _lost_returns(survey, -added):
        return _explanation(
            archive,
            "The file was copied in text mode, which made each CR LF an LF.",
            f"The bytes 0D 0A do not occur in {in_bytes(survey.size)}, and {in_bytes(-added)} are missing. "
            f"{_AGAIN}: which LF were CR LF cannot be told.",
        )
    return None


def _is_twice(source: Source) -> bool:
    """Whether two CRs stand before each LF of the first bytes."""
    sample = source.read(0, _SAMPLE_BYTES)
    return 0 < sample.count(b"\n") == sample.count(b"\r\r\n")


def _grew_by(archive: Archive, survey: Survey, lines: int, added: int | None) -> bool:
    """Whether the file is larger by one byte a line, as far as it can be told."""
    if added is not None:
        # The records at the end were moved too, and may have got line ends of their own.
        return 0 < added <= lines
    block = damage_of(archive).block
    if block:
        return survey.size % block != 0 and (survey.size - lines) % block == 0
    return survey.rare_controls >= MIN_RARE


def _lost_returns(survey: Survey, missing: int) -> bool:
    """Whether so many bytes may be returns that went, and their absence is no chance."""
    likely = survey.counts[_LF] * survey.counts[_CR] / max(1, survey.size)
    return missing <= survey.counts[_LF] and likely >= MIN_LINES


def _without_zeros(archive: Archive, survey: Survey) -> FoundCause | None:
    if survey.counts[0] or survey.size < MIN_BINARY_BYTES or survey.rare_controls < MIN_RARE:
        return None
    return _explanation(
        archive,
        "The file was copied as text, which took all zero bytes away.",
        f"Byte 00 does not occur in {in_bytes(survey.size)}, and every header of such an archive has some. {_AGAIN}: "
        "where they were cannot be computed.",
    )


def _seven_bits(archive: Archive, survey: Survey) -> FoundCause | None:
    if survey.high or survey.rare_controls < MIN_RARE:
        return None
    return _explanation(
        archive,
        "The file was copied as 7-bit text, so the highest bit of each byte is gone.",
        f"None of its {in_bytes(survey.size)} is above 7F, although it has control bytes that text does not. "
        f"{_AGAIN}; the lost bits cannot be computed.",
    )


def _encoded_anew(archive: Archive, survey: Survey) -> FoundCause | None:
    counts = survey.counts
    replaced = _replacements(archive.source, survey)
    if replaced:
        return _explanation(
            archive,
            "The file was read as UTF-8 text and written again, with losses.",
            f"The bytes EF BF BD, which replace what is not UTF-8, occur {count(replaced, 'time')} at least. "
            f"{_AGAIN}; what they replaced cannot be computed.",
        )
    if _is_all_utf8(counts) and survey.rare_controls >= MIN_RARE and is_utf8(archive.source.read(0, _SAMPLE_BYTES)):
        return _explanation(
            archive,
            "The file was encoded as UTF-8 text, so each byte above 7F became two or more.",
            "All of it is valid UTF-8 with control characters in it, which binary data is not. "
            f"{_AGAIN}, or undo the encoding with iconv.",
        )
    pairs = counts[0xC2] + counts[0xC3]
    others = sum(counts[0xC4:]) + counts[0xC0] + counts[0xC1]
    # Bytes of Windows-1252 become sequences of three bytes, E2 80 93 and such.
    continued = sum(counts[0x80:0xC0])
    if pairs < MIN_ENCODED or survey.rare_controls < MIN_RARE or others * 4 > pairs or continued < pairs:
        return None
    sample = archive.source.read(0, _SAMPLE_BYTES)
    if not is_utf8(sample):
        return None
    return _explanation(
        archive,
        "The file was encoded as UTF-8 text, so each byte above 7F became two or more.",
        f"All of it is UTF-8, with {count(pairs, 'sequence')} C2 or C3 and a second byte. Binary data is not. "
        f"{_AGAIN}, or take the encoding back: iconv -f UTF-8 -t ISO-8859-1.",
    )


def _is_all_utf8(counts: Sequence[int]) -> bool:
    """Whether as many bytes continue a sequence as UTF-8 needs, and none are there that it does not have."""
    twos, threes, fours = sum(counts[0xC2:0xE0]), sum(counts[0xE0:0xF0]), sum(counts[0xF0:0xF5])
    never = counts[0xC0] + counts[0xC1] + sum(counts[0xF5:])
    begun = twos + threes + fours
    return begun >= MIN_ENCODED and not never and twos + 2 * threes + 3 * fours == sum(counts[0x80:0xC0])


def _replacements(source: Source, survey: Survey) -> int:
    """How many replacement characters the first bytes have, where they show that a decoder put them there."""
    if survey.counts[0xBF] < MIN_REPLACED or survey.counts[0xEF] < MIN_REPLACED:
        return 0
    sample = source.read(0, _SAMPLE_BYTES)
    found = sample.count(_REPLACEMENT)
    return found if found >= MIN_REPLACED and survey.rare_controls >= MIN_RARE and is_utf8(sample) else 0


def is_utf8(sample: bytes) -> bool:
    """Whether this is UTF-8, but for a character that the end of the sample may cut off."""
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(sample) - 3
    return True
