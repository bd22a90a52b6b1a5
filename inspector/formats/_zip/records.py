"""The fixed parts of ZIP's records: APPNOTE.TXT 4.3 (layout) and 4.4 (meaning of the numbers). All little-endian."""

from __future__ import annotations

import datetime as dt
from struct import Struct
from typing import NamedTuple

from inspector.core.field import Value
from inspector.core.kinds import Kind
from inspector.core.layout import Part
from inspector.core.numbers import in_bytes

LOCAL = b"PK\x03\x04"
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"
ZIP64_END = b"PK\x06\x06"
ZIP64_LOCATOR = b"PK\x06\x07"
DESCRIPTOR = b"PK\x07\x08"
SIGNATURE = b"PK\x05\x05"

FOLLOWING = (LOCAL, CENTRAL, END, ZIP64_END)
"""What can follow a member."""

TACO_SUFFIXES = (".tacozip", ".taco", ".taco.zip")
"""What the names of files end with that should have a TACO header."""

LOCAL_SIZE = 30
CENTRAL_SIZE = 46
END_SIZE = 22
ZIP64_END_SIZE = 56
ZIP64_LOCATOR_SIZE = 20

FULL_32 = 0xFFFFFFFF
"""A 32-bit number that stands for "see the ZIP64 record"."""
FULL_16 = 0xFFFF
"""A 16-bit number that stands for "see the ZIP64 record"."""

ENCRYPTED = 1 << 0
HAS_DESCRIPTOR = 1 << 3
PATCHED = 1 << 5
STRONG = 1 << 6
UTF_8 = 1 << 11
MASKED = 1 << 13

STORED = 0
DEFLATED = 8


class Local(NamedTuple):
    """The fixed part of a local file header (4.3.7); sizes in bytes."""

    signature: bytes
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    stored: int
    size: int
    name_length: int
    extra_length: int


class Central(NamedTuple):
    """The fixed part of a central directory header (4.3.12); sizes in bytes."""

    signature: bytes
    made_by: int
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    stored: int
    size: int
    name_length: int
    extra_length: int
    comment_length: int
    disk: int
    internal: int
    external: int
    offset: int


class End(NamedTuple):
    """The fixed part of the end of central directory record (4.3.16)."""

    signature: bytes
    disk: int
    directory_disk: int
    entries_here: int
    entries: int
    directory_size: int
    directory_offset: int
    comment_length: int


class Zip64End(NamedTuple):
    """The fixed part of the ZIP64 end of central directory record (4.3.14)."""

    signature: bytes
    rest: int
    made_by: int
    needed: int
    disk: int
    directory_disk: int
    entries_here: int
    entries: int
    directory_size: int
    directory_offset: int


LOCAL_STRUCT = Struct("<4s5H3I2H")
CENTRAL_STRUCT = Struct("<4s6H3I5H2I")
END_STRUCT = Struct("<4s4H2IH")
ZIP64_END_STRUCT = Struct("<4sQ2H2I4Q")

_METHODS = {
    0: "stored (no compression)",
    1: "shrunk",
    2: "reduced with factor 1",
    3: "reduced with factor 2",
    4: "reduced with factor 3",
    5: "reduced with factor 4",
    6: "imploded",
    8: "deflate",
    9: "Deflate64",
    10: "PKWARE DCL implode",
    12: "BZIP2",
    14: "LZMA",
    16: "IBM z/OS CMPSC",
    18: "IBM TERSE",
    19: "IBM LZ77 z Architecture",
    20: "Zstandard (deprecated number)",
    93: "Zstandard",
    94: "MP3",
    95: "XZ",
    96: "JPEG variant",
    97: "WavPack",
    98: "PPMd",
    99: "AES encryption",
}
_FLAGS = {
    0: "encrypted",
    3: "CRC and sizes follow in a data descriptor",
    4: "enhanced deflating",
    5: "patched data",
    6: "strong encryption",
    11: "name and comment are UTF-8",
    13: "values of the local header are masked",
}
_SYSTEMS = {0: "MS-DOS", 3: "UNIX", 7: "Macintosh", 10: "Windows NTFS", 14: "VFAT", 19: "OS X"}


def method_words(method: Value) -> str:
    """What a compression method is called (4.4.5)."""
    assert isinstance(method, int)
    return _METHODS.get(method, "unknown")


def flag_words(flags: Value) -> str:
    """What the bits of the general purpose flag say (4.4.4)."""
    assert isinstance(flags, int)
    words = [_FLAGS.get(bit, f"bit {bit}") for bit in range(16) if flags >> bit & 1]
    return ", ".join(words)


def time_words(time: Value) -> str:
    """An MS-DOS time as text (4.4.6)."""
    assert isinstance(time, int)
    try:
        return dt.time(time >> 11, time >> 5 & 63, (time & 31) * 2).isoformat()
    except ValueError:
        return "invalid time"


def date_words(date: Value) -> str:
    """An MS-DOS date as text (4.4.6)."""
    assert isinstance(date, int)
    try:
        return dt.date(1980 + (date >> 9), date >> 5 & 15, date & 31).isoformat()
    except ValueError:
        return "invalid date"


def version_words(version: Value) -> str:
    """A version needed to extract (4.4.3)."""
    assert isinstance(version, int)
    return f"ZIP {(version & 0xFF) // 10}.{(version & 0xFF) % 10}"


def maker_words(version: Value) -> str:
    """A version made by (4.4.2)."""
    assert isinstance(version, int)
    system = _SYSTEMS.get(version >> 8, f"system {version >> 8}")
    return f"{system}, {version_words(version)}"


def size_words(size: Value) -> str:
    """A 32-bit size, or that it stands elsewhere (4.4.8, 4.4.9)."""
    assert isinstance(size, int)
    return "see the ZIP64 extended information" if size == FULL_32 else in_bytes(size)


def _count_words(number: Value) -> str:
    return "see the ZIP64 end of central directory record" if number == FULL_16 else ""


def _directory_words(number: Value) -> str:
    return "see the ZIP64 end of central directory record" if number == FULL_32 else ""


def _offset_words(number: Value) -> str:
    return "see the ZIP64 extended information" if number == FULL_32 else ""


def _external_words(attributes: Value) -> str:
    assert isinstance(attributes, int)
    mode = attributes >> 16
    words = [f"UNIX mode {mode:o}"] if mode else []
    words += ["symbolic link"] if mode & 0o170000 == 0o120000 else []
    words += ["folder"] if attributes & 0x10 else []
    return ", ".join(words)


def _signature(name: str) -> Part:
    return Part(name, 4, Kind.SIGNATURE, digits=8)


def _common(names: tuple[str, ...]) -> tuple[Part, ...]:
    """The twenty-six bytes that a local header and a central directory header have in common."""
    needed, flags, method, time, date, crc, stored, size, name_length, extra_length = names
    return (
        Part(needed, 2, Kind.NUMBER, note=version_words),
        Part(flags, 2, Kind.FLAGS, digits=4, note=flag_words),
        Part(method, 2, Kind.NUMBER, note=method_words),
        Part(time, 2, Kind.TIME, digits=4, note=time_words),
        Part(date, 2, Kind.TIME, digits=4, note=date_words),
        Part(crc, 4, Kind.DIGEST, digits=8),
        Part(stored, 4, Kind.LENGTH, note=size_words),
        Part(size, 4, Kind.LENGTH, note=size_words),
        Part(name_length, 2, Kind.LENGTH),
        Part(extra_length, 2, Kind.LENGTH),
    )


_COMMON = _common(
    (
        "version needed to extract",
        "general purpose bit flag",
        "compression method",
        "last mod file time",
        "last mod file date",
        "crc-32",
        "compressed size",
        "uncompressed size",
        "file name length",
        "extra field length",
    )
)

LOCAL_PARTS = (_signature("local file header signature"), *_COMMON)
TACO_LOCAL_PARTS = (
    _signature("LFH Signature"),
    *_common(
        (
            "Version Needed",
            "General Purpose Flag",
            "Compression Method",
            "Last Mod Time",
            "Last Mod Date",
            "CRC-32",
            "Compressed Size",
            "Uncompressed Size",
            "Filename Length",
            "Extra Field Length",
        )
    ),
)
"""The same header in the words of the TACO specification."""

CENTRAL_PARTS = (
    _signature("central file header signature"),
    Part("version made by", 2, Kind.NUMBER, note=maker_words),
    *_COMMON,
    Part("file comment length", 2, Kind.LENGTH),
    Part("disk number start", 2, Kind.NUMBER),
    Part("internal file attributes", 2, Kind.FLAGS, digits=4),
    Part("external file attributes", 4, Kind.FLAGS, digits=8, note=_external_words),
    Part("relative offset of local header", 4, Kind.OFFSET, note=_offset_words),
)

END_PARTS = (
    _signature("end of central dir signature"),
    Part("number of this disk", 2, Kind.NUMBER, note=_count_words),
    Part("number of the disk with the start of the central directory", 2, Kind.NUMBER, note=_count_words),
    Part("total number of entries in the central directory on this disk", 2, Kind.NUMBER, note=_count_words),
    Part("total number of entries in the central directory", 2, Kind.NUMBER, note=_count_words),
    Part("size of the central directory", 4, Kind.LENGTH, note=_directory_words),
    Part("offset of start of central directory", 4, Kind.OFFSET, note=_directory_words),
    Part(".ZIP file comment length", 2, Kind.LENGTH),
)

ZIP64_END_PARTS = (
    _signature("zip64 end of central dir signature"),
    Part("size of zip64 end of central directory record", 8, Kind.LENGTH),
    Part("version made by", 2, Kind.NUMBER, note=maker_words),
    Part("version needed to extract", 2, Kind.NUMBER, note=version_words),
    Part("number of this disk", 4, Kind.NUMBER),
    Part("number of the disk with the start of the central directory", 4, Kind.NUMBER),
    Part("total number of entries in the central directory on this disk", 8, Kind.NUMBER),
    Part("total number of entries in the central directory", 8, Kind.NUMBER),
    Part("size of the central directory", 8, Kind.LENGTH),
    Part("offset of start of central directory", 8, Kind.OFFSET),
)

ZIP64_LOCATOR_PARTS = (
    _signature("zip64 end of central dir locator signature"),
    Part("number of the disk with the start of the zip64 end of central directory", 4, Kind.NUMBER),
    Part("relative offset of the zip64 end of central directory record", 8, Kind.OFFSET),
    Part("total number of disks", 4, Kind.NUMBER),
)


def descriptor_parts(size: int) -> tuple[Part, ...]:
    """The parts of a data descriptor of 12, 16, 20 or 24 bytes (4.3.9)."""
    width = 8 if size >= 20 else 4
    return (
        *([_signature("data descriptor signature")] if size in (16, 24) else []),
        Part("crc-32", 4, Kind.DIGEST, digits=8),
        Part("compressed size", width, Kind.LENGTH),
        Part("uncompressed size", width, Kind.LENGTH),
    )


class Problem(NamedTuple):
    """Something a pure function saw; its caller reports it. ``severity`` is the word of core.finding.Severity."""

    severity: str
    code: str
    message: str
    spans: tuple[tuple[int, int], ...] = ()
