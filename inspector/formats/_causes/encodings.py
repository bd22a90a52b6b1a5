"""What was made of a file that was taken for text: an encoding of its bytes, or a copy in text mode.

Of each encoding: how it is told, undone here, and undone with another program. Of text mode what is counted is
improbable in the compressed or binary bytes of an archive, and where members may be text the size of the file has to
agree too.
"""

from __future__ import annotations

import ast
import base64
import binascii
import quopri
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.numbers import count, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats import damage_of
from inspector.formats._causes.blocks import Survey

Convert = Callable[[bytes], bytes]
"""Raises ValueError, SyntaxError, MemoryError or RecursionError where the bytes are not encoded so."""
NOT_CONVERTED = (ValueError, SyntaxError, MemoryError, RecursionError)
MIN_ESCAPES = 32
_MIN_BASE85_SYMBOLS = 70
_BASE64 = re.compile(
    rb"(?:begin-base64 [^\r\n]{1,200}\r?\n|-----BEGIN [^\r\n]{1,60}-----\r?\n)?[A-Za-z0-9+/_\r\n-]{60,}={0,2}\s*"
)
_DATA_URL = re.compile(rb"data:[\w/.+-]{1,100};base64,")
_HEX = re.compile(rb"[0-9a-fA-F\r\n ]{60,}")
_XXD = re.compile(rb"(?:[0-9a-f]{7,16}:? (?: ?[0-9a-f]{2,4}){1,16}[^\n]{0,80}\r?\n){2,}")
_XXD_LINE = re.compile(rb"^[0-9a-f]{7,16}:? ((?: ?[0-9a-f]{2,4}){1,16})", re.MULTILINE)
_UU = re.compile(rb"begin [0-7]{3,4} [^\r\n]{1,200}\r?\n")
_UU_BODY = re.compile(rb"begin [0-7]{3,4} [^\r\n]{1,200}\r?\n(.*?)\r?\n`?\s*end", re.DOTALL)
_BASE32 = re.compile(rb"[A-Z2-7\r\n]{60,}={0,6}\s*")
_BASE85 = re.compile(rb"(?:<~)?[!-~\r\n]{60,}(?:~>)?\s*")
_ESCAPE = re.compile(rb"\\x[0-9a-f]{2}")
_QUOTED = re.compile(rb"=[0-9A-F]{2}")
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")
_JSON = re.compile(rb"\s*[{\[]")
_QUOTED_BASE64 = re.compile(rb'"([A-Za-z0-9+/]{60,})')
_NUMBERS = re.compile(rb"(0[xX][0-9a-fA-F]{1,2}|\b\d{1,3})\s*(?:[,}\]]|\Z)")


class Encoding(NamedTuple):
    """One encoding: what the text is, how another program decodes it, and whether it seems so encoded.

    That is told by the first bytes, some from the middle (empty where they cost a request), and the last ones.
    ``decode`` are tried in turn.
    """

    kind: str
    command: str
    matches: Callable[[bytes, bytes, bytes], object]
    decode: tuple[Convert, ...]


def _from_hex(data: bytes) -> bytes:
    digits = re.sub(rb"\s", b"", data)
    return binascii.unhexlify(digits[: len(digits) // 2 * 2])


def _from_base64(data: bytes) -> bytes:
    digits = re.sub(rb"\s|=", b"", _DATA_URL.sub(b"", data, count=1)).translate(bytes.maketrans(b"-_", b"+/"))
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    return base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)


def _from_base32(data: bytes) -> bytes:
    digits = re.sub(rb"\s|=", b"", data)
    digits = digits[: len(digits) - (len(digits) % 8 in (1, 3, 6))]
    return base64.b32decode(digits + b"=" * (-len(digits) % 8))


def _from_uu(data: bytes) -> bytes:
    body = _UU_BODY.match(data)
    return b"".join(map(binascii.a2b_uu, body[1].splitlines())) if body else b""


def _from_literal(data: bytes) -> bytes:
    value = ast.literal_eval(data.decode("ascii").strip()) if data.startswith(b"b") else b""
    return value if isinstance(value, bytes) else b""


def _from_json(data: bytes) -> bytes:
    quoted = _QUOTED_BASE64.search(data)
    return _from_base64(quoted[1]) if quoted else b""


def _from_numbers(data: bytes) -> bytes:
    return bytes(
        int(each, 16 if each[1:2].lower() == b"x" else 10) for each in _NUMBERS.findall(data, data.find(b"{") + 1)
    )


def _is_base64(head: bytes, middle: bytes, tail: bytes) -> bool:
    samples = (_DATA_URL.sub(b"", head, count=1), middle, tail)
    return all(
        _BASE64.fullmatch(each) if len(each) >= 60 else not each.strip(b"\r\n=") or each.isascii() for each in samples
    )


def _is_base85(head: bytes, middle: bytes, tail: bytes) -> bool:
    """Whether text without spaces uses so many symbols that it is nothing else."""
    if not all(map(_BASE85.fullmatch, (head, middle or head, tail))):
        return False
    return len(set(head)) >= _MIN_BASE85_SYMBOLS and len(set(head.strip())) <= 87


def _is_literal(head: bytes, middle: bytes, tail: bytes) -> bool:  # noqa: ARG001 - as declared
    quoted = re.match(rb"b['\"]", head) and tail.rstrip()[-1:] == head[1:2]
    return bool(quoted) and len(_ESCAPE.findall(head)) >= MIN_ESCAPES


ENCODINGS = (
    Encoding("uuencoded text", "uudecode", lambda head, *_: _UU.match(head), (_from_uu,)),
    Encoding(
        "a hex dump",
        "xxd -r {name} > DECODED",
        lambda head, *_: _XXD.match(head),
        (lambda data: binascii.unhexlify(b"".join(_XXD_LINE.findall(data)).replace(b" ", b"")),),
    ),
    Encoding(
        "hexadecimal text",
        "xxd -r -p {name} > DECODED",
        lambda head, middle, tail: all(map(_HEX.fullmatch, (head, middle or head, tail[-60:]))),
        (_from_hex,),
    ),
    Encoding(
        "base32 text",
        "base32 -d {name} > DECODED",
        lambda head, _, tail: all(map(_BASE32.fullmatch, (head, tail))),
        (_from_base32,),
    ),
    Encoding(
        "base85 text",
        "base64.b85decode or base64.a85decode of Python",
        _is_base85,
        (base64.b85decode, lambda data: base64.a85decode(data.strip(), adobe=data[:2] == b"<~")),
    ),
    # A CAF may begin with text; its end is JSON and a footer, which is none of these.
    Encoding("base64 text", "base64 -d {name} > DECODED", _is_base64, (_from_base64,)),
    Encoding("bytes printed by Python", "ast.literal_eval of Python", _is_literal, (_from_literal,)),
    Encoding(
        "JSON with base64 inside",
        "jq -r .body FILE | base64 -d, with the name of its key",
        lambda head, _, tail: (
            _JSON.match(head) and _QUOTED_BASE64.search(head) and tail.rstrip().endswith((b"}", b"]"))
        ),
        (_from_json,),
    ),
    Encoding(
        "a list of the bytes as numbers",
        "a script that writes them",
        lambda head, *_: head.isascii() and len(_NUMBERS.findall(head)) >= len(head) // 8,
        (_from_numbers,),
    ),
    Encoding(
        "quoted-printable text",
        "qprint -d or a mail program",
        lambda head, *_: (
            head.isascii() and b"=\n" in head.replace(b"\r", b"") and len(_QUOTED.findall(head)) >= MIN_ESCAPES
        ),
        (quopri.decodestring,),
    ),
    Encoding(
        "percent-encoded text",
        "urllib.parse.unquote_to_bytes of Python",
        lambda head, *_: head.isascii() and len(_PERCENT.findall(head)) >= MIN_ESCAPES and b"\n" not in head,
        (lambda data: unquote_to_bytes(data.strip()) if data.isascii() else b"",),
    ),
)
"""The first that matches is it."""


# ---- copies in text mode ---------------------------------------------------------------------------------------------

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
        or _bytes_gone(archive, survey)
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


def _bytes_gone(archive: Archive, survey: Survey) -> FoundCause | None:
    """That the highest bits are gone, or all zeros: neither is text, of which that would be no wonder."""
    if survey.rare_controls < MIN_RARE:
        return None
    if not survey.high:
        return _explanation(
            archive,
            "The file was copied as 7-bit text, so the highest bit of each byte is gone.",
            f"None of its {in_bytes(survey.size)} is above 7F, although it has control bytes that text does not. "
            f"{_AGAIN}; the lost bits cannot be computed.",
        )
    if survey.counts[0] or survey.size < MIN_BINARY_BYTES:
        return None
    return _explanation(
        archive,
        "The file was copied as text, which took all zero bytes away.",
        f"Byte 00 does not occur in {in_bytes(survey.size)}, and every header of such an archive has some. {_AGAIN}: "
        "where they were cannot be computed.",
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
    # Bytes of Windows-1252 become sequences of three bytes, E2 80 93 and such.
    pairs, others = counts[0xC2] + counts[0xC3], sum(counts[0xC4:]) + counts[0xC0] + counts[0xC1]
    seems = pairs >= max(MIN_ENCODED, 4 * others) and sum(counts[0x80:0xC0]) >= pairs
    enough = survey.rare_controls >= MIN_RARE and (seems or _is_all_utf8(counts))
    if not enough or not is_utf8(archive.source.read(0, _SAMPLE_BYTES)):
        return None
    return _explanation(
        archive,
        "The file was encoded as UTF-8 text, so each byte above 7F became two or more.",
        "All of it is UTF-8 with control characters in it, which binary data is not. "
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
