"""Makes files that would make a careless reader take much time or memory, in any size."""

from __future__ import annotations

import struct
import zlib

BLOCK = 512


def tar_header(name: bytes, size: int, typeflag: bytes) -> bytes:
    """One ustar header block."""
    head = bytearray(BLOCK)
    for at, piece in (
        (0, name),
        (100, b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % size + b"00000000000\0" + b" " * 8 + typeflag),
        (257, b"ustar\x0000"),
    ):
        head[at : at + len(piece)] = piece
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def pax_headers(number: int) -> bytes:
    """A tar of so many PAX headers, all before one member."""
    extended = tar_header(b"pax", 11, b"x") + b"11 path=ab\n".ljust(BLOCK, b"\0")
    return extended * number + tar_header(b"a", 0, b"0") + bytes(2 * BLOCK)


def extended(body: bytes, typeflag: bytes = b"x") -> bytes:
    """One extended header of a tar."""
    return tar_header(b"pax", len(body), typeflag) + body + bytes(-len(body) % BLOCK)


def pax_records(headers: int) -> bytes:
    """A tar of members that each have a PAX header of 1 MiB with the shortest records."""
    return (extended(b"5 a=\n" * ((1 << 20) // 5)) + tar_header(b"a", 0, b"0")) * headers + bytes(2 * BLOCK)


def one_name(members: int, size: int) -> bytes:
    """A tar with a global header that names all members alike, with ``size`` bytes."""
    length = next(number for number in range(size, size + 20) if len(b"%d path=\n" % number) + size == number)
    path = b"%d path=%b\n" % (length, b"n" * size)
    return extended(path, b"g") + tar_header(b"a", 0, b"0") * members + bytes(2 * BLOCK)


def ar_names(members: int, *, bsd: bool) -> bytes:
    """An ar archive whose headers all claim the same name of 4 KiB, of BSD in the headers that follow, or of GNU."""

    def header(name: bytes, size: int) -> bytes:
        return b"%-16b%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 644, size)

    if bsd:
        return b"!<arch>\n" + header(b"#1/65535", 0) * members
    return b"!<arch>\n" + header(b"//", 4096) + b"n" * 4094 + b"/\n" + header(b"/0", 0) * members


def _local(name: bytes, crc: int, stored: int, size: int, method: int = 8, extra: int = 0) -> bytes:
    head = struct.pack("<I5H3I2H", 0x04034B50, 20, 0, method, 0, 33, crc, stored, size, len(name), extra)
    return head + name


def _central(name: bytes, crc: int, stored: int, size: int, offset: int) -> bytes:
    head = struct.pack("<I6H3I5H2I", 0x02014B50, 20, 20, 0, 8, 0, 33, crc, stored, size, len(name), *[0] * 5, offset)
    return head + name


def _end(entries: int, size: int, offset: int) -> bytes:
    numbers = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, entries, entries, size, offset)
    wide = b"PK\6\6" + numbers + b"PK\6\7" + struct.pack("<IQI", 0, offset + size, 1)
    return wide + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def many_ends(entries: int, ends: int) -> bytes:
    """End records that all claim the same directory, each behind what looks like a ZIP64 locator."""
    directory = _central(b"", 0, 0, 0, 0) * entries
    made = bytearray(directory)
    for left in range(ends - 1, -1, -1):
        made += b"PK\6\7" + bytes(16)
        made += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, entries, entries, len(made), 0, 42 * left)
    return bytes(made)


def _deflated(content: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(content) + deflate.flush()


def one_claim(entries: int, size: int) -> bytes:
    """A ZIP whose entries, of different names, all claim one member that unpacks to ``size`` zeros (full overlap)."""
    content = bytes(size)
    packed, crc = _deflated(content), zlib.crc32(content)
    first = _local(b"0", crc, len(packed), size) + packed
    directory = b"".join(_central(b"%x" % at, crc, len(packed), size, 0) for at in range(entries))
    return first + directory + _end(entries, len(directory), len(first))


def quoted(entries: int, size: int) -> bytes:
    """A ZIP whose members each hold the headers of all behind them and the same packed zeros (quoted overlap)."""
    content = bytes(size)
    packed, heads, directory = _deflated(content), b"", []
    for at in reversed(range(entries)):
        name, crc = b"%05x" % at, zlib.crc32(content)
        head = _local(name, crc, len(packed), len(content))
        directory.append((name, crc, len(packed), len(content)))
        quote = b"\0" + struct.pack("<HH", len(head), len(head) ^ 0xFFFF) + head
        content, packed, heads = head + content, quote + packed, head
    body = heads + packed[len(heads) + 5 :]
    step = len(heads) + 5
    central = b"".join(_central(*each, at * step) for at, each in enumerate(reversed(directory)))
    return body + central + _end(entries, len(central), len(body))


def nested_headers(entries: int) -> bytes:
    """A ZIP whose local headers lie in each other, each with a name and an extra field of 64 KiB."""
    head = struct.pack("<I5H3I2H", 0x04034B50, 20, 0, 0, 0, 33, 0, 0, 0, 0xFFFF, 0xFFFF)
    body = head * entries + bytes(2 * 0xFFFF)
    directory = b"".join(_central(b"%x" % at, 0, 0, 0, at * len(head)) for at in range(entries))
    return body + directory + _end(entries, len(directory), len(body))


def named(name: bytes) -> bytes:
    """A ZIP of one empty member with this name, of at most 65,535 bytes."""
    first, central = _local(name, 0, 0, 0, method=0), _central(name, 0, 0, 0, 0)
    return first + central + _end(1, len(central), len(first))


def same_range(entries: int, size: int) -> bytes:
    """A CAF whose members all claim the same ``size`` bytes."""
    each = f'{{"start_byte":0,"end_byte":{size}}}'
    index = ",".join(f'"{at:x}":{each}' for at in range(entries))
    text = f'{{"format_version":"1.0","files":{{{index}}}}}'.encode()
    return bytes(size) + text + len(text).to_bytes(4, "little")


def sparse_lines(size: int) -> bytes:
    """A tar of one sparse member whose map, in its data, announces as many extents as ``size`` bytes of lines hold."""
    records = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
    lines = b"%d\n" % (size // 4) + b"0\n" * (size // 2)
    extended = tar_header(b"pax", len(records), b"x") + records.ljust(BLOCK, b"\0")
    return extended + tar_header(b"a", len(lines), b"0") + lines + bytes(-len(lines) % BLOCK + 2 * BLOCK)
