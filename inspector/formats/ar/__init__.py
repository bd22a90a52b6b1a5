"""Unix ar, as static libraries and Debian packages are: members end to end, each behind a header of 60 bytes."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.core.format import DiagramColumn, Format, MimeType, Signature
from inspector.core.kinds import Family, Kind, Role
from inspector.core.layout import Part, Record, padded_text
from inspector.formats._chain import Chain, ChainFindings
from inspector.formats._kinds import DATA_SECTION, GLOBAL_HEADER

MAGIC = b"!<arch>\n"
HEADER_KIND = Kind(
    "ar header",
    "60 bytes before a member: name, time, owner, mode and size as text. In BSD's archives a long name follows.",
    Role.HEADER,
    Family.HEADER,
    word="header",
    words=("header",),
    about_member=True,
    heads_member=True,
)
SYMBOLS = Kind("symbol table", "For linkers: which member defines what.", Role.DIRECTORY, Family.INDEX)
NAMES = Kind("long name table", "Names of more than 15 bytes, one a line.", Role.DIRECTORY, Family.INDEX)
FOUND = ChainFindings.of("ar", "an ar archive")


def decimal(piece: bytes) -> int | None:
    """A decimal number, padded with spaces; None for anything else."""
    digits = piece.rstrip(b" ")
    return int(digits) if digits.isdigit() else None


HEADER = Record(
    Part("ar_name", 16, Kind.NAME, padded_text),
    Part("ar_date", 12, Kind.TIME, decimal),
    Part("ar_uid", 6, Kind.NUMBER, decimal),
    Part("ar_gid", 6, Kind.NUMBER, decimal),
    Part("ar_mode", 8, Kind.NUMBER, padded_text),
    Part("ar_size", 10, Kind.LENGTH, decimal),
    Part("ar_fmag", 2, Kind.SIGNATURE, padded_text),
)


def name_of(header: bytes, behind: bytes, tables: Mapping[bytes, bytes]) -> tuple[bytes, int] | None:
    """GNU writes ``name/`` or ``/`` and an offset in the table ``//``, BSD ``#1/`` and the size of a name behind."""
    written = HEADER.piece("ar_name", header).rstrip(b" ")
    if written.startswith(b"#1/") and (size := decimal(written[3:])) is not None:
        name = behind[:size].rstrip(b"\0")
        return (name, size) if name else None
    if written.startswith(b"/") and (offset := decimal(written[1:])) is not None:
        name = tables.get(b"//", b"")[offset:].partition(b"\n")[0].removesuffix(b"/")
        return (name, 0) if name else None
    return (written if written.startswith(b"/") else written.removesuffix(b"/")), 0


CHAIN = Chain(
    *(MAGIC, HEADER, HEADER_KIND, ("ar_fmag", b"`\n"), FOUND, name_of),
    size="ar_size",
    time="ar_date",
    align=2,
    filler=b"\n",
    tables={b"/": SYMBOLS, b"/SYM64/": SYMBOLS, b"__.SYMDEF": SYMBOLS, b"__.SYMDEF SORTED": SYMBOLS, b"//": NAMES},
)

FORMAT = Format(
    name="ar",
    title="Unix ar archive",
    suffixes=(".a", ".ar", ".deb"),
    specification="ar(5); GNU binutils, ar",
    limitations=(
        "Thin archives, which only name files beside them, are not read.",
        "Symbol tables are shown as bytes.",
        "The format has no checksums, so a check covers the structure only.",
    ),
    probe=CHAIN.probe,
    decode=CHAIN.decode,
    read=CHAIN.read,
    member_metadata=CHAIN.metadata,
    kinds=(GLOBAL_HEADER, DATA_SECTION, HEADER_KIND, SYMBOLS, NAMES),
    mime=(MimeType("application/x-archive"), MimeType("application/vnd.debian.binary-package")),
    sequential=(".a", ".ar", ".deb"),
    has_checksums=False,
    findings=tuple(FOUND),
    diagram=(
        DiagramColumn("File", (GLOBAL_HEADER, Kind.MEMBER, SYMBOLS, NAMES), opened=True),
        DiagramColumn("Headers and data", (HEADER_KIND, Kind.DATA, Kind.PADDING)),
    ),
    signature=Signature(MAGIC, "a Unix ar archive"),
)
