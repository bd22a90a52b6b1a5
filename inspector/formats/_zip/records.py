"""ZIP records: their fixed parts (APPNOTE.TXT 4.3), the meaning of the numbers (4.4), how to write and to read them.

All numbers are little-endian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from struct import pack
from typing import Annotated, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.field import Value
from inspector.core.kinds import Kind
from inspector.core.layout import Part, packed, parts_of
from inspector.core.member import Codec
from inspector.core.numbers import in_bytes
from inspector.core.source import Source
from inspector.formats._zip.extra import TIMESTAMP, ZIP64, extra_records

LOCAL = b"PK\x03\x04"
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"
ZIP64_END = b"PK\x06\x06"
ZIP64_LOCATOR = b"PK\x06\x07"
DESCRIPTOR = b"PK\x07\x08"
SIGNATURE = b"PK\x05\x05"
FOLLOWING = (LOCAL, CENTRAL, END, ZIP64_END)
"""Signatures that may follow a member."""
TACO_SUFFIXES = (".tacozip", ".taco", ".taco.zip")
"""Suffixes of files that should have a TACO header."""
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
CODECS = {
    0: Codec.STORED,
    8: Codec.DEFLATE,
    12: Codec.BZIP2,
    14: Codec.LZMA,
    20: Codec.ZSTD,  # the number for a few months of 2020
    93: Codec.ZSTD,
    95: Codec.XZ,
}
"""The compression methods that are read."""
METHODS = {codec: method for method, codec in CODECS.items()}
"""The method to record for a codec."""
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


def method_text(method: Any) -> str:
    """The name of a compression method (4.4.5)."""
    return _METHODS.get(method, "unknown")


def flag_text(flags: Any) -> str:
    """The meaning of the bits of the general purpose flag (4.4.4)."""
    words = [_FLAGS.get(bit, f"bit {bit}") for bit in range(16) if flags >> bit & 1]
    return ", ".join(words)


@lru_cache(maxsize=1024)
def _iso(kind: str, *numbers: int) -> str:
    import datetime as dt  # listing shows no times

    try:
        return str(getattr(dt, kind)(*numbers).isoformat())
    except ValueError:
        return f"invalid {kind}"


def time_text(time: Any) -> str:
    """An MS-DOS time as text (4.4.6)."""
    return _iso("time", time >> 11, time >> 5 & 63, (time & 31) * 2)


def date_text(date: Any) -> str:
    """An MS-DOS date as text (4.4.6)."""
    return _iso("date", 1980 + (date >> 9), date >> 5 & 15, date & 31)


def version_text(version: Any) -> str:
    """A version needed to extract (4.4.3)."""
    return f"ZIP {(version & 0xFF) // 10}.{(version & 0xFF) % 10}"


def maker_text(version: Any) -> str:
    """A version made by (4.4.2)."""
    system = _SYSTEMS.get(version >> 8, f"system {version >> 8}")
    return f"{system}, {version_text(version)}"


def size_text(size: Any) -> str:
    """A 32-bit size, or a reference to the ZIP64 field (4.4.8, 4.4.9)."""
    return "see the ZIP64 extended information" if size == FULL_32 else in_bytes(size)


def _elsewhere(placeholder: int, record: str) -> Callable[[Value], str]:
    """The note that a number is only a placeholder for one in another record."""
    return lambda number: f"see the {record}" if number == placeholder else ""


def _external_note(attributes: Any) -> str:
    mode = attributes >> 16
    words = [f"UNIX mode {mode:o}"] if mode else []
    words += ["symbolic link"] if mode & 0o170000 == 0o120000 else []
    words += ["folder"] if attributes & DOS_FOLDER else []
    return ", ".join(words)


def _signature(name: str) -> Part:
    return Part(name, 4, Kind.SIGNATURE, digits=8)


# Each record is declared once: the values a reader works with, and beside each the part of the specification it is.
Needed = Annotated[int, Part("version needed to extract", 2, Kind.NUMBER, note=version_text)]
Maker = Annotated[int, Part("version made by", 2, Kind.NUMBER, note=maker_text)]
Flags = Annotated[int, Part("general purpose bit flag", 2, Kind.FLAGS, digits=4, note=flag_text)]
Method = Annotated[int, Part("compression method", 2, Kind.NUMBER, note=method_text)]
Time = Annotated[int, Part("last mod file time", 2, Kind.TIME, digits=4, note=time_text)]
Date = Annotated[int, Part("last mod file date", 2, Kind.TIME, digits=4, note=date_text)]
Crc = Annotated[int, Part("crc-32", 4, Kind.DIGEST, digits=8)]
Compressed = Annotated[int, Part("compressed size", 4, Kind.LENGTH, note=size_text)]
Uncompressed = Annotated[int, Part("uncompressed size", 4, Kind.LENGTH, note=size_text)]
NameLength = Annotated[int, Part("file name length", 2, Kind.LENGTH)]
ExtraLength = Annotated[int, Part("extra field length", 2, Kind.LENGTH)]
_DISK, _DIRECTORY_DISK = "number of this disk", "number of the disk with the start of the central directory"
_ENTRIES_HERE = "total number of entries in the central directory on this disk"
_ENTRIES, _SIZE = "total number of entries in the central directory", "size of the central directory"
_OFFSET = "offset of start of central directory"
_WIDE_END = "ZIP64 end of central directory record"


class Local(NamedTuple):
    """The fixed part of a local file header (4.3.7); sizes in bytes."""

    signature: Annotated[bytes, _signature("local file header signature")]
    needed: Needed
    flags: Flags
    method: Method
    time: Time
    date: Date
    crc: Crc
    stored: Compressed
    size: Uncompressed
    name_length: NameLength
    extra_length: ExtraLength


class Central(NamedTuple):
    """The fixed part of a central directory header (4.3.12); sizes in bytes."""

    signature: Annotated[bytes, _signature("central file header signature")]
    made_by: Maker
    needed: Needed
    flags: Flags
    method: Method
    time: Time
    date: Date
    crc: Crc
    stored: Compressed
    size: Uncompressed
    name_length: NameLength
    extra_length: ExtraLength
    comment_length: Annotated[int, Part("file comment length", 2, Kind.LENGTH)]
    disk: Annotated[int, Part("disk number start", 2, Kind.NUMBER)]
    internal: Annotated[int, Part("internal file attributes", 2, Kind.FLAGS, digits=4)]
    external: Annotated[int, Part("external file attributes", 4, Kind.FLAGS, digits=8, note=_external_note)]
    offset: Annotated[
        int,
        Part("relative offset of local header", 4, Kind.OFFSET, note=_elsewhere(FULL_32, "ZIP64 extended information")),
    ]


class End(NamedTuple):
    """The fixed part of the end of central directory record (4.3.16)."""

    signature: Annotated[bytes, _signature("end of central dir signature")]
    disk: Annotated[int, Part(_DISK, 2, Kind.NUMBER, note=_elsewhere(FULL_16, _WIDE_END))]
    directory_disk: Annotated[int, Part(_DIRECTORY_DISK, 2, Kind.NUMBER, note=_elsewhere(FULL_16, _WIDE_END))]
    entries_here: Annotated[int, Part(_ENTRIES_HERE, 2, Kind.NUMBER, note=_elsewhere(FULL_16, _WIDE_END))]
    entries: Annotated[int, Part(_ENTRIES, 2, Kind.NUMBER, note=_elsewhere(FULL_16, _WIDE_END))]
    directory_size: Annotated[int, Part(_SIZE, 4, Kind.LENGTH, note=_elsewhere(FULL_32, _WIDE_END))]
    directory_offset: Annotated[int, Part(_OFFSET, 4, Kind.OFFSET, note=_elsewhere(FULL_32, _WIDE_END))]
    comment_length: Annotated[int, Part(".ZIP file comment length", 2, Kind.LENGTH)]


class Zip64End(NamedTuple):
    """The fixed part of the ZIP64 end of central directory record (4.3.14)."""

    signature: Annotated[bytes, _signature("zip64 end of central dir signature")]
    rest: Annotated[int, Part("size of zip64 end of central directory record", 8, Kind.LENGTH)]
    made_by: Maker
    needed: Needed
    disk: Annotated[int, Part(_DISK, 4, Kind.NUMBER)]
    directory_disk: Annotated[int, Part(_DIRECTORY_DISK, 4, Kind.NUMBER)]
    entries_here: Annotated[int, Part(_ENTRIES_HERE, 8, Kind.NUMBER)]
    entries: Annotated[int, Part(_ENTRIES, 8, Kind.NUMBER)]
    directory_size: Annotated[int, Part(_SIZE, 8, Kind.LENGTH)]
    directory_offset: Annotated[int, Part(_OFFSET, 8, Kind.OFFSET)]


LOCAL_PARTS, CENTRAL_PARTS, END_PARTS, ZIP64_END_PARTS = map(parts_of, (Local, Central, End, Zip64End))
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


LOCAL_STRUCT, CENTRAL_STRUCT = packed(LOCAL_PARTS), packed(CENTRAL_PARTS)
END_STRUCT, ZIP64_END_STRUCT = packed(END_PARTS), packed(ZIP64_END_PARTS)
LOCAL_SIZE, CENTRAL_SIZE = LOCAL_STRUCT.size, CENTRAL_STRUCT.size
LOCAL_CRC, CENTRAL_CRC = 14, 16
"""Where each header has the CRC-32 of its member."""
END_SIZE, ZIP64_END_SIZE, ZIP64_LOCATOR_SIZE = END_STRUCT.size, ZIP64_END_STRUCT.size, 20


def as_bytes(value: Any, size: int) -> bytes:
    """A value of a record as it is stored."""
    return value if isinstance(value, bytes) else int(value).to_bytes(size, "little")


ZIP64_VERSION = 45
"""The version needed to extract a member with ZIP64 numbers (4.4.3.2)."""
DOS_FOLDER = 0x10
"""The bit of a folder in the attributes of DOS, which programs of all systems set."""
OFFSET_FIELD = (42, 46)
"""The field of a central header with the offset of the local one."""


def make_local_header(local: Local, name: bytes, extra: bytes) -> bytes:
    """A local file header (4.3.7) with name and extra field; if a size needs ZIP64, both are stored there."""
    wide = max(local.size, local.stored) >= FULL_32
    numbers = (local.size.to_bytes(8, "little") + local.stored.to_bytes(8, "little")) if wide else b""
    kept = (extra[at - 4 : at + len(data)] for identifier, at, data in extra_records(extra) if identifier != ZIP64)
    extra = _zip64(numbers) + b"".join(kept)
    sizes = (FULL_32, FULL_32) if wide else (local.stored, local.size)
    header = local._replace(
        signature=LOCAL,
        needed=max(local.needed, ZIP64_VERSION) if wide else local.needed,
        stored=sizes[0],
        size=sizes[1],
        name_length=len(name),
        extra_length=len(extra),
    )
    return LOCAL_STRUCT.pack(*header) + name + extra


def make_central_header(local: Local, name: bytes, extra: bytes, offset: int, central: Central | None = None) -> bytes:
    """The central directory header for a member, made from its local header.

    ``local`` has the true CRC-32 and sizes, even if the header stores them in ZIP64 information or a data descriptor;
    ``extra`` is its extra field, ``offset`` its recorded offset in bytes. Fields that a local header lacks
    (permissions) are taken from ``central``, or set to unknown.
    """
    numbers = (local.size, local.stored, offset)
    wide = b"".join(number.to_bytes(8, "little") for number in numbers if number >= FULL_32)
    extra = _zip64(wide) + _central_extra(extra)
    size, stored, place = (min(number, FULL_32) for number in numbers)
    needed = max(local.needed, ZIP64_VERSION) if wide else local.needed
    folder = DOS_FOLDER if name.endswith(b"/") else 0
    header = Central(
        signature=CENTRAL,
        made_by=needed & 0xFF if central is None else central.made_by,
        needed=needed,
        flags=local.flags,
        method=local.method,
        time=local.time,
        date=local.date,
        crc=local.crc,
        stored=stored,
        size=size,
        name_length=len(name),
        extra_length=len(extra),
        comment_length=0,
        disk=0,
        internal=0 if central is None else central.internal,
        external=folder if central is None else central.external,
        offset=place,
    )
    return CENTRAL_STRUCT.pack(*header) + name + extra


class Numbers(NamedTuple):
    """The numbers of a header with those of its ZIP64 information; ``missing`` are those that it should have there."""

    present: bool
    size: int
    stored: int
    offset: int
    missing: tuple[str, ...]


def zip64(extra: bytes, size: int, stored: int, offset: int = 0) -> Numbers:
    """The numbers of a header with this extra field: those that are placeholders are in it, in the order of 4.5.3."""
    data = next((held for identifier, _, held in extra_records(extra) if identifier == ZIP64), None)
    found: list[int] = []
    missing: list[str] = []
    at = 0
    for name, number in (("uncompressed size", size), ("compressed size", stored), ("offset", offset)):
        wide = number == FULL_32
        whole = data is not None and at + 8 <= len(data)
        found.append(int.from_bytes(data[at : at + 8], "little") if data is not None and wide and whole else number)
        missing += [name] if wide and not whole else []
        at += 8 * wide
    return Numbers(data is not None, found[0], found[1], found[2], tuple(missing))


def _zip64(numbers: bytes) -> bytes:
    return pack("<HH", ZIP64, len(numbers)) + numbers if numbers else b""


def _central_extra(extra: bytes) -> bytes:
    """The part of a local extra field that the central directory repeats: no ZIP64, and one of three timestamps."""
    kept = b""
    for identifier, _, data in extra_records(extra):
        if identifier == TIMESTAMP and data:
            data = data[: 5 if data[0] & 1 else 1]  # noqa: PLW2901 - the same record, shorter
        if identifier != ZIP64:
            kept += pack("<HH", identifier, len(data)) + data
    return kept


def make_end_records(entries: int, directory_size: int, directory_offset: int, comment: bytes = b"") -> bytes:
    """The end records of an archive, with those of ZIP64 only if a number needs them.

    ``directory_offset`` is the recorded one, which differs from the file offset if bytes precede the archive.
    """
    end = End(
        signature=END,
        disk=0,
        directory_disk=0,
        entries_here=min(entries, FULL_16),
        entries=min(entries, FULL_16),
        directory_size=min(directory_size, FULL_32),
        directory_offset=min(directory_offset, FULL_32),
        comment_length=len(comment),
    )
    wide = b""
    if end.entries == FULL_16 or FULL_32 in (end.directory_size, end.directory_offset):
        numbers = (entries, entries, directory_size, directory_offset)
        record = Zip64End(ZIP64_END, ZIP64_END_SIZE - 12, ZIP64_VERSION, ZIP64_VERSION, 0, 0, *numbers)
        locator = pack("<4sIQI", ZIP64_LOCATOR, 0, directory_offset + directory_size, 1)
        wide = ZIP64_END_STRUCT.pack(*record) + locator
    return wide + END_STRUCT.pack(*end) + comment


# ---- reading them ----------------------------------------------------------------------------------------------------

_NAME_GUESS_BYTES = 256


class LocalFile(Struct, frozen=True):
    """A member by its local header at ``head``; ``[head, stop)`` are its bytes from header to data descriptor.

    Where it was only read, ``local`` is what the header says, and without sizes in it ``stop`` is where the data
    begins. Where it was scanned, ``local`` has its true CRC-32 and sizes, wherever they are recorded; ``proved``: they
    were computed from the data, and its descriptor has the same.
    """

    head: int
    local: Local
    name: bytes
    extra: bytes
    stop: int = 0
    descriptor: int = 0
    proved: bool = False

    @property
    def begin(self) -> int:
        """Where its data begins."""
        return self.head + LOCAL_SIZE + len(self.name) + len(self.extra)

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Stored and decoded size by the header; None if only a data descriptor has them."""
        if self.local.flags & HAS_DESCRIPTOR and self.local.stored in (0, FULL_32):
            return None
        if FULL_32 not in (self.local.stored, self.local.size):
            return self.local.stored, self.local.size
        wide = zip64(self.extra, self.local.size, self.local.stored)
        return wide.stored, wide.size


def read_local(source: Source, at: int) -> LocalFile | None:
    """What the local header at ``at`` says; None if there is none or it is cut off."""
    if not 0 <= at <= source.size - LOCAL_SIZE:
        return None
    data = source.read(at, LOCAL_SIZE + _NAME_GUESS_BYTES)
    if data[:4] != LOCAL or len(data) < LOCAL_SIZE:
        return None
    local = Local._make(LOCAL_STRUCT.unpack(data[:LOCAL_SIZE]))
    size = LOCAL_SIZE + local.name_length + local.extra_length
    if size > len(data):
        data = source.read(at, size)
    if size > len(data):
        return None
    name_stop = LOCAL_SIZE + local.name_length
    found = LocalFile(at, local, data[LOCAL_SIZE:name_stop], data[name_stop:size])
    return replace(found, stop=found.begin + (found.sizes or (0, 0))[0])


def local_files(source: Source, start: int) -> Iterator[LocalFile]:
    """Yield the local files from ``start`` on, up to the first that is cut off or whose size is unknown.

    Only headers and sizes are followed: data is never searched for signatures, because an archive stored inside the
    archive has the same ones.
    """
    at = start
    while (found := read_local(source, at)) is not None:
        whole = found.sizes is not None and found.stop <= source.size
        forms = FORMS if whole and found.local.flags & HAS_DESCRIPTOR else ()
        descriptor = next((size for size in forms if source.read(found.stop + size, 4) in FOLLOWING), 0)
        at = found.stop + descriptor
        yield replace(found, descriptor=descriptor, stop=at)
        if not whole:
            return


MAX_MEMBERS = 2_000_000
"""Members that are listed; a finding reports more."""
_WINDOW_BYTES = 1 << 20
_MAX_HEADER_BYTES = CENTRAL_SIZE + 3 * 0xFFFF
UNSUPPORTED = ENCRYPTED | PATCHED | STRONG | MASKED
"""Flags of members that this program cannot read."""


def codec_of(method: int, flags: int) -> Codec:
    """The codec of a member; UNKNOWN if this program cannot read it."""
    if flags & UNSUPPORTED:
        return Codec.UNKNOWN
    return CODECS.get(method, Codec.UNKNOWN)


def central_headers(source: Source, start: int, limit: int) -> Iterator[tuple[int, Central, bytes, bytes, bytes, int]]:
    """Yield each header of the directory: offset, numbers, the bytes a local header repeats, name, extra, end."""
    at, base, window = start, start, b""
    while at + CENTRAL_SIZE <= limit:
        if at - base + _MAX_HEADER_BYTES > len(window) and base + len(window) < limit:
            base, window = at, source.read(at, min(_WINDOW_BYTES, limit - at))
            limit = limit if len(window) == min(_WINDOW_BYTES, limit - at) else at + len(window)
        found = central_header(window, at - base)
        if found is None:
            return
        central, repeated, name, extra, stop = found
        yield at, central, repeated, name, extra, base + stop
        at = base + stop


def central_header(data: bytes, at: int) -> tuple[Central, bytes, bytes, bytes, int] | None:
    """A header as ``central_headers`` yields it, its end as a place in ``data``; None if it is not whole there."""
    if at + CENTRAL_SIZE > len(data):
        return None
    central = Central._make(CENTRAL_STRUCT.unpack_from(data, at))
    name = at + CENTRAL_SIZE
    extra = name + central.name_length
    comment = extra + central.extra_length
    stop = comment + central.comment_length
    if central.signature != CENTRAL or stop > len(data):
        return None
    return central, data[at + 6 : at + 30], data[name:extra], data[extra:comment], stop


FORMS = {
    16: "signature, 32-bit sizes",
    24: "signature, 64-bit sizes",
    12: "no signature, 32-bit sizes",
    20: "no signature, 64-bit sizes",
}
"""The forms of a data descriptor by their size in bytes."""
DESCRIPTOR_BYTES = 28
"""Bytes read for a data descriptor: the longest form, and the signature of the next record."""


def form_of(data: bytes, crc: int, stored: int, size: int) -> int:
    """The size of the data descriptor with these numbers at the start of ``data``, the bytes after a member; else 0."""
    fitting = []
    for form in FORMS:
        width = 8 if form in (20, 24) else 4
        if max(stored, size) >> 8 * width:
            continue
        expected = crc.to_bytes(4, "little") + stored.to_bytes(width, "little") + size.to_bytes(width, "little")
        if data[:form] == (DESCRIPTOR if form in (16, 24) else b"") + expected:
            fitting.append(form)
    # If zeros follow an empty member's descriptor, two forms fit: take the one that another record follows.
    closed = [form for form in fitting if data[form : form + 4] in FOLLOWING]
    return next(iter(closed or fitting), 0)
