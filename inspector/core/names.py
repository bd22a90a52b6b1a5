"""Names are bytes. This turns them into text, for programs (``decoded``) and for people (``visible``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from inspector.core.numbers import grouped

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029]")

_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors: invisible themselves, and ordinary after an emoji or an ideograph."""
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Invisible fillers and joiners whose category is that of letters, marks or symbols."""
_FORMATS = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""The rest of Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties), and the interlinear annotations."""
_HIDDEN = re.compile(f"[{_BLANK}{_FORMATS}]")
_UNSEEN = re.compile(f"[{_SELECTORS}{_BLANK}]")
"""Invisible characters whose category does not say so."""

_MAX_NAME_BYTES = 65_535
"""Longer names are reported."""
MAX_TEXT = 4_000
"""Characters of a message or a name that are shown."""
MAX_NAME = 120
"""Characters of a name that stand in a sentence. Damage makes names of thousands of them."""
MAX_PATH_DEPTH = 128
"""Paths with more components are reported."""

_FORBIDDEN = re.compile(r'[<>:"|?*]')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:[.:].*)?", re.IGNORECASE | re.DOTALL
)
_SHORTENED = re.compile(r"[^.]{1,6}~[0-9](?:\.[^.]{0,3})?")

_ORDINARY = re.compile(rb"[0-9A-Za-z_][0-9A-Za-z_. -]*(?:/[0-9A-Za-z_][0-9A-Za-z_. -]*)*")
_MAX_ORDINARY_BYTES = 2 * MAX_PATH_DEPTH - 1
"""The most bytes of a name that is not too deep, however short its components are."""
_TIDY = re.compile(rb"[^/.][^/]*+(?:/[^/.][^/]*+)*")

NOT_UTF_8 = "is not UTF-8"
INVISIBLE = "holds invisible or direction-changing characters"
BACKSLASH = "holds a backslash, which some systems take for a separator"
DOT = "has a component '.'"
NO_COMPONENT = "has an empty component"
"""Hazards that do not keep a name from naming a file."""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def decoded(name: bytes) -> tuple[str, bool]:
    """The name as text, and whether encoding it gives the same bytes again."""
    try:
        return name.decode("utf-8"), True
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace"), False


def encoded(name: str) -> bytes:
    """The bytes of a name given as text; lone surrogates survive."""
    return name.encode("utf-8", "surrogatepass")


def visible(name: bytes | str) -> str:
    """The name for display: control, bidirectional, invisible and undecodable characters are escaped.

    The result never holds line ends, surrogates or NULs.
    """
    text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    return text if text.isascii() and text.isprintable() else "".join(map(_visible_character, text))


@lru_cache(maxsize=4_096)
def _visible_character(character: str) -> str:
    """What stands for a character, looked up once for those that were met: names may have millions."""
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code in _PICTURES:
        return _PICTURES[code]
    category = unicodedata.category(character)
    hidden = category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (category == "Zs" and character != " ")
    return f"‹U+{code:04X}›" if hidden or _UNSEEN.match(character) else character


def abridged(text: str) -> str:
    """The text without its middle if it has more than MAX_TEXT characters: names may have millions."""
    return _without_middle(text, MAX_TEXT, " … ")


def brief(name: bytes | str) -> str:
    """The name as ``visible`` has it, without its middle if it has more than MAX_NAME characters: for a sentence."""
    return _without_middle(visible(name), MAX_NAME, "…")


def _without_middle(text: str, most: int, mark: str) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}{mark}{text[-most // 2 :]}"


def hazards(name: bytes) -> tuple[str, ...]:
    """What is dangerous or suspicious about the name of a member; each completes a sentence that begins "the name".

    Empty for a relative path of ordinary components; one slash at the end (a folder) is ordinary.
    """
    if len(name) <= _MAX_ORDINARY_BYTES and _ORDINARY.fullmatch(name):
        return ()
    if not name:
        return ("is empty",)
    text, whole = decoded(name)
    parts = text.replace("\\", "/").split("/")
    rules = (
        (not whole, NOT_UTF_8),
        (b"\0" in name, "holds a NUL, where many programs would cut it off"),
        (_CONTROL.search(text) is not None, "holds control characters"),
        (_HIDDEN.search(text) is not None, INVISIBLE),
        (b"\\" in name, BACKSLASH),
        (_DRIVE.match(text) is not None, "begins with a drive letter"),
        (len(name) > _MAX_NAME_BYTES, f"is {len(name):,} bytes long"),
        (len(parts) > 1 and not parts[0], "is absolute"),
        (".." in parts, "has a component '..', which leads out of its folder"),
        ("." in parts, DOT),
        ("" in parts[1:-1], NO_COMPONENT),
        (len(parts) > MAX_PATH_DEPTH, f"is {len(parts):,} components deep"),
    )
    return tuple(words for applies, words in rules if applies)


def unportable(name: bytes) -> tuple[str, ...]:
    """What Windows does not accept in the name of a member, in the form of ``hazards``."""
    text, _ = decoded(name)
    parts = [part for part in text.split("/") if part not in ("", ".", "..")]
    reserved = next((part for part in parts if _RESERVED.fullmatch(part)), "")
    rules = (
        (bool(reserved), f"has the component '{visible(reserved)}', which Windows reserves for a device"),
        (
            any(part[-1] in ". " for part in parts),
            "has a component that ends with a dot or a space, which Windows drops",
        ),
        (_FORBIDDEN.search(text) is not None, "holds characters that Windows forbids"),
        (any(map(_SHORTENED.fullmatch, parts)), "has a component like the short names that Windows makes"),
    )
    return tuple(words for applies, words in rules if applies)


def collision_keys(names: Sequence[bytes]) -> list[bytes]:
    """A key for each name; names with the same key are the same file on some system.

    Case, Unicode normalisation and empty components are folded, for all names in one go because that is much faster.
    """
    if not names:
        return []
    joined = b"\n".join(names)
    folded = [_folded(joined)] if len(names) == 1 else _folded(joined).split(b"\n")
    if len(folded) != len(names):  # one of them has a line feed
        return [key for name in names for key in collision_keys([name])]
    return [
        key if _TIDY.fullmatch(key) else b"/".join(part for part in key.split(b"/") if part not in (b"", b"."))
        for key in folded
    ]


def _folded(name: bytes) -> bytes:
    text = name.decode("utf-8", "surrogateescape").replace("\\", "/")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return folded.encode("utf-8", "surrogatepass")


def listed(paths: Iterable[bytes], number: int, most: int = 20) -> str:
    """The first ``most`` of ``number`` names: ``'a', 'b' and 3 more``; empty if there are none."""
    shown = [f"'{visible(path[:80])}'" for path in islice(paths, most)]
    more = number - len(shown)
    text = ", ".join(shown)
    return f"{text} and {grouped(more)} more" if shown and more > 0 else text
