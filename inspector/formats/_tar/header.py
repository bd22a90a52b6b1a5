"""Tar header blocks: 512 bytes in the ustar format (POSIX.1-2017), the GNU or the V7 dialect; their names; the search.

Numbers are octal text, or base-256 if the first bit of the field is set (GNU, star). A header with the magic ``ustar``
and a matching checksum is found at any byte; one without the magic (V7) only at whole blocks from where a header
belongs, because elsewhere a match may be chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from inspector.core.archive import CappedFindings, Emitter
from inspector.core.member import Members
from inspector.core.names import brief, hazards
from inspector.core.program.progress import Progress
from inspector.core.source import Source, any_byte, is_sparing
from inspector.formats._tar import codes

BLOCK = 512
"""The block size in bytes; headers and data fill whole blocks."""
ZEROS = bytes(BLOCK)
"""A block of zeros; two of them end an archive."""
SIZES = {
    "name": 100,
    "mode": 8,
    "uid": 8,
    "gid": 8,
    "size": 12,
    "mtime": 12,
    "chksum": 8,
    "typeflag": 1,
    "linkname": 100,
    "magic": 6,
    "version": 2,
    "uname": 32,
    "gname": 32,
    "devmajor": 8,
    "devminor": 8,
    "prefix": 155,
    "padding": 12,
}
"""The fields of a header block and their sizes, in their order."""
PLACES = {
    name: slice(stop - size, stop) for (name, size), stop in zip(SIZES.items(), accumulate(SIZES.values()), strict=True)
}
"""Where in a header block each field is."""
NAME_BYTES = SIZES["name"]
"""The size of the name field, the first of a header; longer names are in extended headers."""
_ASCII = bytes(range(0x80))
PAX_LOCAL, PAX_GLOBAL, GNU_NAME, GNU_LINK = b"x", b"g", b"L", b"K"
EXTENSIONS = frozenset((PAX_LOCAL, PAX_GLOBAL, GNU_NAME, GNU_LINK, b"X"))
"""Type flags of extended headers, which describe the member after them (``X`` is Sun's ``x``)."""
SET_ID = 0o6000
"""The set-user-ID and set-group-ID bits of the permissions."""
CHKSUM = PLACES["chksum"]
"""The checksum in a header block."""
MAGIC = slice(PLACES["magic"].start, PLACES["version"].stop)
"""The magic and the version, which GNU tar writes as one."""
LINKS = frozenset((b"1", b"2"))
DEVICES = frozenset((b"3", b"4", b"6"))
SPARSE = b"S"
FOLDERS = frozenset((b"5", b"D"))
BODILESS = LINKS | DEVICES | {b"5", b"V"}
"""Type flags of headers without data, whatever the size field says."""
TYPES = {
    b"0": "regular file",
    b"\0": "regular file (V7)",
    b"1": "hard link",
    b"2": "symbolic link",
    b"3": "character device",
    b"4": "block device",
    b"5": "folder",
    b"6": "FIFO",
    b"7": "contiguous file",
    b"x": "PAX header of the next member",
    b"g": "PAX header of all members that follow",
    b"X": "Sun extended header of the next member",
    b"L": "GNU long name of the next member",
    b"K": "GNU long link target of the next member",
    b"S": "GNU sparse file",
    b"D": "GNU folder with its listing",
    b"M": "GNU continuation of a file from another volume",
    b"V": "GNU volume label",
    b"N": "GNU old long name",
}
"""The meaning of the type flags."""
_PLAIN = bytes(code for code in range(0x20, 0x7F) if code not in b"\\:") + b"\n"
_SUSPICIOUS = (b"//", b"/.", b"./", b"\n/", b"\n.", b".\n")


def aligned(size: int) -> int:
    """``size`` rounded up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def padded_stop(members: Members, index: int) -> int:
    """Where the data of a member ends, with its padding.

    Its header need not lie at a multiple of a block. Of a member that was cut off the next begins inside its padding.
    """
    start = members.starts[index]
    stop = start + aligned(max(0, members.stops[index] - start))
    return min(stop, members.heads[index + 1]) if members.heads and index + 1 < len(members.heads) else stop


def number(field: bytes) -> int | None:
    """The number in a header field; None if it is not a number. Base-256 numbers may be negative."""
    if field[:1] >= b"\x80":
        value = int.from_bytes(field, "big")
        bits = 8 * len(field)
        return value - (1 << bits) if field[0] & 0x40 else value - (1 << (bits - 1))
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if not digits:
        return 0
    return int(digits, 8) if not digits.strip(b"01234567") else None


def text(field: bytes) -> bytes:
    """The bytes of a text field up to its NUL."""
    return field.split(b"\0", 1)[0]


def checksums(block: bytes) -> tuple[int, int]:
    """The sum of a block's bytes, with spaces for the checksum: unsigned, and signed as old programs did."""
    rest = block[: CHKSUM.start] + block[CHKSUM.stop :]
    unsigned = sum(rest) + 8 * 0x20
    return unsigned, unsigned - 256 * len(rest.translate(None, _ASCII))


class Header(Struct, frozen=True):
    """One parsed header block, before extended headers override it.

    ``fits`` is whether the checksum matches, ``ustar`` whether the magic is there. ``size`` is None if the field is not
    a number; it may be negative.
    """

    name: bytes
    size: int | None
    typeflag: bytes
    link: bytes
    fits: bool
    ustar: bool
    gnu: bool

    @property
    def stored(self) -> int:
        """The size of the data after this header, in bytes; 0 if there can be none."""
        return 0 if self.typeflag in BODILESS else max(0, self.size or 0)

    @property
    def folder(self) -> bool:
        """Whether it is a folder, by type or by a slash at the end (V7)."""
        return self.typeflag in FOLDERS or (self.typeflag == b"\0" and self.name.endswith(b"/"))


def parse(block: bytes) -> Header:
    """Parse one complete block as a header, whatever is in it."""
    magic, chksum = block[MAGIC], block[CHKSUM]
    posix, gnu = magic.startswith(b"ustar\0"), magic == b"ustar  \0"
    name, prefix = text(block[PLACES["name"]]), text(block[PLACES["prefix"]]) if posix else b""
    return Header(
        prefix + b"/" + name if prefix else name,
        number(block[PLACES["size"]]),
        block[PLACES["typeflag"]],
        text(block[PLACES["linkname"]]),
        # After the number only NULs and spaces are allowed; anything else is damage.
        number(chksum) in checksums(block) and not chksum.partition(b"\0")[2].strip(b" \0"),
        posix or gnu,
        gnu,
    )


class NameCheck:
    """Reports hazardous names as members are listed. A leading ``./``, which tar programs write, is harmless."""

    def __init__(self, emitter: Emitter) -> None:
        self._found = CappedFindings(emitter, codes.NAME_HAZARD, "hazards of names")
        self.close = self._found.close

    def check(self, index: int, name: bytes, span: tuple[int, int]) -> None:
        """Check the name of one member, which is in the bytes ``span``."""
        rest = name.removeprefix(b"./")
        for hazard in hazards(rest) if name != b"." and (rest or not name) else ():
            if not self._found.full():
                self._found.add(f"The name '{brief(name)}' {hazard}.", (span,), index)

    def check_many(self, first: int, names: Sequence[bytes], heads: Sequence[int]) -> None:
        """Check the names of members from ``first`` on, whose headers are at ``heads``.

        Each name is at most 100 bytes long. If all are plain, one pass over all of them shows it.
        """
        joined = b"\n" + b"\n".join(names) + b"\n"
        plain = not joined.translate(None, _PLAIN) and joined.count(b"\n") == len(names) + 1
        if plain and not any(suspicious in joined for suspicious in _SUSPICIOUS):
            return
        for index, (name, head) in enumerate(zip(names, heads, strict=True), first):
            self.check(index, name, (head, head + 100))


# ---- the search ------------------------------------------------------------------------------------------------------

SEARCH_WINDOW_BYTES = 1 << 20
"""Bytes read and searched at a time; a header may begin in the last of them."""
FIRST_WINDOW_BYTES = 4096
"""Bytes read and searched first; windows grow, because what is searched for is often near."""
MAX_REMOTE_SEARCH_BYTES = 64 << 20
"""Bytes of a remote source that are searched; a check searches more."""
MAX_ZERO_SEARCH_BYTES = 256 << 20
"""Bytes searched after zeros that may be the end: a sparse file may have terabytes of them."""
_DIGITS = b" 01234567\0"
_SUM = slice(CHKSUM.start, CHKSUM.start + 6)
_MAGIC = b"ustar"
_MAGIC_AT = PLACES["magic"].start


class SearchResult(Struct, frozen=True):
    """Where the archive continues: at a header, or at the zeros that end it.

    ``stop`` is that offset, or the end of the file if there is neither; ``found`` is whether it is a header. If the
    search is not ``complete``, ``stop`` is where the search was given up.
    """

    stop: int
    complete: bool = True
    found: bool = False


def next_header(source: Source, start: int, progress: Progress, stop: int | None = None) -> SearchResult:
    """Search from ``start`` on, where a block begins, up to ``stop``. Raises SourceError and Cancelled."""
    label, done = progress.label, progress.done
    progress.label = "Searching for the next tar header"
    found = _search(source, start, progress, source.size if stop is None else min(stop, source.size))
    progress.label, progress.done = label, done
    return found


def _search(source: Source, start: int, progress: Progress, stop: int) -> SearchResult:
    at, used = start, start
    window = min(FIRST_WINDOW_BYTES, SEARCH_WINDOW_BYTES)
    limit = min(stop, start + MAX_REMOTE_SEARCH_BYTES) if is_sparing(source) else stop
    while at < limit:
        size = min(window, limit - at)
        data = source.read(at, size + BLOCK - 1)
        if not data:
            break
        if any_byte(data):
            inner = next((each for each, _ in header_offsets(data, (start - at) % BLOCK) if each < size), -1)
            if inner >= 0:
                return SearchResult(at + inner, found=True)
            used = max(used, at + len(data.rstrip(b"\0")))
        at += size
        window = min(8 * window, SEARCH_WINDOW_BYTES)
        progress.advance(size)
    if limit < source.size:
        return SearchResult(limit, complete=False)
    zeros = start + -(-(used - start) // BLOCK) * BLOCK
    ends_archive = (source.size - zeros) % BLOCK == 0 and source.size - zeros >= 2 * BLOCK
    return SearchResult(zeros if ends_archive else source.size)


def headers_between(
    source: Source, start: int, stop: int, progress: Progress, *, at_blocks: bool = False
) -> Iterator[tuple[int, int]]:
    """The headers that begin in ``[start, stop)``, none inside another: their offsets, and the sizes of their data.

    ``at_blocks``: only those at whole blocks from ``start``, and where the magic is near.
    """
    free = start
    for at in range(start, stop, SEARCH_WINDOW_BYTES):
        size = min(SEARCH_WINDOW_BYTES, stop - at)
        data = source.read(at, size if at_blocks else size + BLOCK - 1)
        if not data:
            return
        likely = _MAGIC in data if at_blocks else any_byte(data)
        for inner, stored in header_offsets(data, (start - at) % BLOCK) if likely else ():
            if inner < size and at + inner >= free and not (at_blocks and (at + inner - start) % BLOCK):
                yield at + inner, stored
                free = at + inner + BLOCK
        progress.advance(0)


def first_leading(targets: Mapping[int, int], ends: Iterable[int]) -> int | None:
    """The first header, of some and where each leads, from which headers lead on to one of the ``ends``."""
    leads, first = set(ends), None
    for at in sorted(targets, reverse=True):
        if targets[at] in leads:
            leads.add(at)
            first = at
    return first


def header_offsets(data: bytes, grid: int) -> list[tuple[int, int]]:
    """The complete headers in ``data`` with the sizes of their data, none inside another; blocks begin at ``grid``."""
    # Imported here because sound archives do not need numpy.
    import numpy as np

    last = len(data) - BLOCK
    if last < 0:
        return []
    row = np.frombuffer(data, np.uint8)
    digits = np.frombuffer(_DIGITS, np.uint8)
    blocks = row[grid : grid + (len(data) - grid) // BLOCK * BLOCK].reshape(-1, BLOCK)
    summed = np.isin(blocks[:, _SUM], digits).all(axis=1) & blocks[:, _SUM].any(axis=1)
    starts = {grid + BLOCK * each for each in np.flatnonzero(summed).tolist()}
    at = data.find(_MAGIC, _MAGIC_AT)
    while 0 <= at <= last + _MAGIC_AT:
        starts.add(at - _MAGIC_AT)
        at = data.find(_MAGIC, at + 1)
    if not starts:
        return []
    places = np.array(sorted(starts), np.int64)
    places = places[np.isin(row[places[:, None] + np.arange(_SUM.start, _SUM.stop)], digits).all(axis=1)]
    sums = _block_sums(row, places)
    # Bytes of 128 and more count as negative in the sums of old programs.
    signed = sums - 256 * _block_sums(row >= 0x80, places)
    sums += 8 * 0x20
    signed += 8 * 0x20
    found: list[tuple[int, int]] = []
    for start, total, old in zip(places.tolist(), sums.tolist(), signed.tolist(), strict=True):
        if found and start < found[-1][0] + BLOCK:
            continue
        stored = number(data[start + CHKSUM.start : start + CHKSUM.stop])
        if stored in (total, old) and (header := parse(data[start : start + BLOCK])).fits:
            found.append((start, header.stored))
    return found


def _block_sums(row: Any, places: Any) -> Any:
    """The sums of the blocks that begin at ``places`` of a row of bytes, without their checksum fields."""
    import numpy as np

    before = np.concatenate(([0], np.cumsum(row, dtype=np.int64)))
    return before[places + BLOCK] - before[places + CHKSUM.stop] + before[places + CHKSUM.start] - before[places]
