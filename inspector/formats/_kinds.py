"""Kinds of fields that several formats share: the members' data, an index, zstd, tar and ZIP."""

from __future__ import annotations

from inspector.core.format import DiagramColumn
from inspector.core.kinds import Family, Kind, Role, Shape

DATA_SECTION = Kind("data section", "The contents of all files of the archive, one after another.", Role.DATA)

# ---- an index ------------------------------------------------------------------------------------------------------

GLOBAL_HEADER = Kind("global header", "The first bytes, which say what archive this is.", Role.HEADER, Family.HEADER)
INDEX_ENTRY = Kind(
    "index entry",
    "One file in the index: its name, and the offsets where its data starts and ends (exclusive).",
    Role.DIRECTORY,
    Family.INDEX,
    word="entry",
    words=("entry",),
    about_member=True,
)
INDEX = Kind(
    "index",
    "JSON after the data: for each name, the offsets where its data starts and ends (exclusive).",
    Role.DIRECTORY,
    Family.INDEX,
    Shape.LIST,
    rows=INDEX_ENTRY,
)

# ---- zstd ----------------------------------------------------------------------------------------------------------

FRAME = Kind(
    "zstd frame",
    "Data compressed with zstd: a frame header, blocks, and optionally a checksum.",
    Role.HEADER,
    Family.HEADER,
)

# ---- tar -----------------------------------------------------------------------------------------------------------

TAR_HEADER = Kind(
    "tar header",
    "512 bytes before a file in a tar archive: name, size in octal digits, and a checksum of the header.",
    Role.HEADER,
    Family.HEADER,
    word="header",
    words=("header",),
    about_member=True,
    heads_member=True,
)
TAR_EXTENSION = Kind(
    "tar extended header",
    "A header with values that do not fit into the next one, such as a long name.",
    Role.HEADER,
    Family.HEADER,
    about_member=True,
)
TAR_END = Kind("end of archive", "Blocks of zeros that mark the end of a tar archive.", Role.PADDING, Family.END)

TAR_KINDS = (DATA_SECTION, TAR_HEADER, TAR_EXTENSION, TAR_END)
"""What tar archives consist of."""

# ---- ZIP -----------------------------------------------------------------------------------------------------------

LOCAL_HEADER = Kind(
    "local file header",
    "The description of a file right before its data; the central directory repeats it.",
    Role.HEADER,
    Family.HEADER,
    word="local",
    words=("header",),
    about_member=True,
    heads_member=True,
)
DATA_DESCRIPTOR = Kind(
    "data descriptor",
    "CRC-32 and sizes after the data, for writers that do not know them in advance.",
    Role.HEADER,
    Family.HEADER,
)
CENTRAL_HEADER = Kind(
    "central directory header",
    "One file in the central directory. Unpackers trust this record over the local header.",
    Role.DIRECTORY,
    Family.INDEX,
    word="central",
    about_member=True,
)
CENTRAL_DIRECTORY = Kind(
    "central directory",
    "The list of all files at the end of a ZIP archive, with the offset of each local header.",
    Role.DIRECTORY,
    Family.INDEX,
    Shape.LIST,
    words=("cd",),
    rows=CENTRAL_HEADER,
)
ZIP64_END = Kind(
    "ZIP64 end of central directory",
    "The end of the central directory with 8-byte numbers, for archives that need more than 4.",
    Role.DIRECTORY,
    Family.END,
    points_to=(CENTRAL_DIRECTORY,),
)
ZIP64_LOCATOR = Kind(
    "ZIP64 end of central directory locator",
    "The offset of the ZIP64 end of the central directory.",
    Role.DIRECTORY,
    Family.END,
    points_to=(ZIP64_END,),
)
END_OF_DIRECTORY = Kind(
    "end of central directory",
    "The last record of a ZIP archive: the offset and size of its central directory.",
    Role.DIRECTORY,
    Family.END,
    word="eocd",
    words=("eocd",),
    points_to=(CENTRAL_DIRECTORY,),
)
SIGNATURE_BLOCK = Kind(
    "signature block",
    "A signature over a ZIP archive: the digital signature of PKZIP.",
    Role.HEADER,
    Family.HEADER,
)
EXTRA = Kind("extra field", "Extra fields of a ZIP header, each with a number for its kind.")

ZIP_KINDS = (
    DATA_SECTION,
    LOCAL_HEADER,
    DATA_DESCRIPTOR,
    CENTRAL_DIRECTORY,
    CENTRAL_HEADER,
    ZIP64_END,
    ZIP64_LOCATOR,
    END_OF_DIRECTORY,
    SIGNATURE_BLOCK,
    EXTRA,
)
"""What ZIP archives consist of."""

ZIP_FILE = DiagramColumn("File", (Kind.MEMBER, CENTRAL_DIRECTORY, ZIP64_END, ZIP64_LOCATOR, END_OF_DIRECTORY))
ZIP_DIRECTORY = DiagramColumn("Central directory", (CENTRAL_HEADER,), apart=True)
TAR_DIAGRAM = (
    DiagramColumn("Members", (Kind.MEMBER, TAR_END), opened=True),
    DiagramColumn("Headers and data", (TAR_HEADER, TAR_EXTENSION, Kind.DATA, Kind.PADDING)),
)
"""The columns of diagrams."""
