"""Text that stands for other bytes: how each encoding is told, undone here, and undone with another program."""

from __future__ import annotations

import ast
import base64
import binascii
import quopri
import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

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
_QUOTED_BASE64 = re.compile(rb'"[A-Za-z0-9+/]{60}')
_NUMBERS = re.compile(rb"(?:0[xX][0-9a-fA-F]{1,2}|\b\d{1,3})\s*,")


class Encoding(NamedTuple):
    """One encoding: what the text is, how another program decodes it, and whether it seems so encoded.

    That is told by the first bytes, some from the middle (empty where they cost a request), and the last ones.
    ``decode`` are tried in turn; there is none where the text is only a part of the file.
    """

    kind: str
    command: str
    matches: Callable[[bytes, bytes, bytes], object]
    decode: tuple[Convert, ...] = ()


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


def _from_hex_dump(data: bytes) -> bytes:
    return binascii.unhexlify(b"".join(_XXD_LINE.findall(data)).replace(b" ", b""))


def _from_uu(data: bytes) -> bytes:
    body = _UU_BODY.match(data)
    return b"".join(map(binascii.a2b_uu, body[1].splitlines())) if body else b""


def _from_literal(data: bytes) -> bytes:
    value = ast.literal_eval(data.decode("ascii").strip()) if data.startswith(b"b") else b""
    return value if isinstance(value, bytes) else b""


def _from_percents(data: bytes) -> bytes:
    return unquote_to_bytes(data.strip()) if data.isascii() else b""


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
    Encoding("a hex dump", "xxd -r {name} > DECODED", lambda head, *_: _XXD.match(head), (_from_hex_dump,)),
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
    ),
    Encoding(
        "a list of the bytes as numbers",
        "a script that writes them",
        lambda head, *_: head.isascii() and len(_NUMBERS.findall(head)) >= len(head) // 8,
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
        (_from_percents,),
    ),
)
"""The first that matches is it."""
