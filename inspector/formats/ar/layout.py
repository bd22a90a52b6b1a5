"""The parts of an ar archive: its first bytes, the header of a member, the kinds of fields, and what may be found.

The names of the parts are those of ar(5). Numbers are text, padded with spaces.
"""

from __future__ import annotations

from inspector.core.field import Value
from inspector.core.finding import CORRECT_WRITER, error, finding_types, info, warning
from inspector.core.kinds import Family, Kind, Role, Shape
from inspector.core.layout import Part, Record, padded_text
from inspector.core.numbers import in_bytes
from inspector.formats._kinds import DATA_SECTION

SPECIFICATION = "ar(5); GNU binutils, ar"
MAGIC, THIN = b"!<arch>\n", b"!<thin>\n"
END = b"`\n"
"""The last two bytes of every header."""

# ---- the header ----------------------------------------------------------------------------------------------------


def decimal(piece: bytes) -> int | None:
    """A decimal number; None for anything else."""
    digits = piece.rstrip(b" ")
    return int(digits) if digits.isdigit() else None


def _octal(piece: bytes) -> Value:
    digits = piece.rstrip(b" ")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None


def _time(value: Value) -> str:
    from datetime import UTC, datetime  # listing shows no times

    try:
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC" if isinstance(value, int) else ""
    except (ValueError, OverflowError, OSError):
        return "A time outside any calendar."


def _mode(value: Value) -> str:
    return f"{value:06o} in octal digits" if isinstance(value, int) else ""


def _size(value: Value) -> str:
    return in_bytes(value) if isinstance(value, int) else "Not a decimal number."


HEADER = Record(
    Part("ar_name", 16, Kind.NAME, padded_text),
    Part("ar_date", 12, Kind.TIME, decimal, note=_time),
    Part("ar_uid", 6, Kind.NUMBER, decimal),
    Part("ar_gid", 6, Kind.NUMBER, decimal),
    Part("ar_mode", 8, Kind.NUMBER, _octal, note=_mode),
    Part("ar_size", 10, Kind.LENGTH, decimal, note=_size),
    Part("ar_fmag", 2, Kind.SIGNATURE, padded_text),
)
NAME_AT, SIZE_AT, _END_AT = (HEADER.place(name) for name in ("ar_name", "ar_size", "ar_fmag"))
"""Where a name, a size and the last two bytes stand in a header."""
_MODE = HEADER.place("ar_mode")
_NUMBERS = slice(HEADER.place("ar_date").start, _MODE.stop)


def is_header(data: bytes) -> bool:
    """Whether these bytes begin with a header: a size, and the signature at its end."""
    return data[_END_AT] == END and decimal(data[SIZE_AT]) is not None


_DIGITS = {"ar_date": b"0123456789", "ar_uid": b"0123456789", "ar_gid": b"0123456789", "ar_mode": b"01234567"}


def wrong_number(data: bytes) -> str:
    """The name of the first number of a header that is none; empty for none. A number may be left out."""
    if not (data[_NUMBERS].strip(b"0123456789 ") or data[_MODE].strip(b"01234567 ")):
        return ""
    # The date of what has none is -1 in libraries of Windows.
    pieces = {name: HEADER.piece(name, data).rstrip(b" ") for name in _DIGITS}
    return next(
        (name for name, piece in pieces.items() if piece.strip(_DIGITS[name]) and (name, piece) != ("ar_date", b"-1")),
        "",
    )


# ---- kinds and findings --------------------------------------------------------------------------------------------

GLOBAL_HEADER = Kind(
    "ar global header",
    "The first 8 bytes, which say that this is an ar archive, or a thin one.",
    Role.HEADER,
    Family.HEADER,
)
AR_HEADER = Kind(
    "ar header",
    "60 bytes before a member: name, time, owner, mode and size as text. In BSD's archives a long name follows.",
    Role.HEADER,
    Family.HEADER,
    words=("header",),
    about_member=True,
    heads_member=True,
)
SYMBOL_TABLE = Kind(
    "symbol table",
    "For linkers: the names that members define, and the offset of the header of the member that defines each.",
    Role.DIRECTORY,
    Family.INDEX,
    Shape.LIST,
    words=("symbols",),
)
NAME_TABLE = Kind(
    "long name table",
    "Names of more than 15 bytes, one a line. A header that needs one holds a slash and its offset in this table.",
    Role.DIRECTORY,
    Family.INDEX,
    words=("names",),
)
KINDS = (GLOBAL_HEADER, DATA_SECTION, AR_HEADER, SYMBOL_TABLE, NAME_TABLE)
"""What an ar archive consists of."""

_COPY = "Copy the archive again, or create it again."
BAD_MAGIC = error("ar-magic", "The file does not begin as an ar archive does.", _COPY)
HEADER_END = error(
    "ar-header-end", "A header does not end as it should.", "Other programs refuse the archive here. " + _COPY
)
BAD_SIZE = error(
    "ar-size", "A header gives another size than its member has.", "Compare the content with another copy."
)
CUT = error("ar-truncated", "The archive ends inside a member.", _COPY)
NO_HEADER = error("ar-no-header", "There is no header where one should be.", _COPY)
LONG_NAME = error(
    "ar-long-name", "A header names a place that is not in the table of long names.", "The content is not affected."
)
NAME_SIZE = error(
    "ar-name-size",
    "A header states a longer name behind it than the member has room for.",
    "Compare the member with another copy.",
)
NUMBER = warning(
    "ar-number",
    "A time, owner, group or mode in a header is no number, so some programs refuse the archive.",
    CORRECT_WRITER,
)
PADDING = warning(
    "ar-padding", "The byte of padding after a member is missing or another one.", "Most programs ignore it."
)
SYMBOLS = error(
    "ar-symbol-table",
    "The symbol table does not fit its size, or does not lead to headers.",
    "The members are not affected. Run ranlib to rewrite it.",
)
IS_THIN = info(
    "ar-thin",
    "The archive only names its members, which are files beside it.",
    "Keep those files, or make an archive that holds them.",
)
FINDINGS = tuple(each._replace(changed=False) for each in finding_types(globals()))
"""What may be found in an ar archive: nothing in it shows that other bytes stand there than were written."""
