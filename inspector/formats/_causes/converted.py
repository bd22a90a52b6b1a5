"""An archive that a program took for text, encoded as text, or wrote in another byte order: a copy as it was.

A copy is offered only where it was decoded and checked without an error.
"""

from __future__ import annotations

import codecs
from functools import partial

from inspector.core.archive import Archive
from inspector.core.cause import CONVERT_CODE, Cause
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.formats._causes.encodings import ENCODINGS, NOT_CONVERTED, Convert
from inspector.formats._causes.identity import BYTE_ORDERS, reordered
from inspector.formats._causes.wrapped import Kept, copy_of

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
            f"Put the bytes of every {8 * len(order.places)} bits back in their order",
            partial(reordered, order=order),
        )
        for order in BYTE_ORDERS
    ),
)
"""What undoes each cause, the likeliest first. Of those that fit none, the copy is no archive without an error."""
