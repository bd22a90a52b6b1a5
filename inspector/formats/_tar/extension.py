r"""Extended headers: PAX records (POSIX.1-2017, pax Interchange Format), GNU long names, and maps of sparse files.

A record is ``LENGTH KEY=VALUE\n``; LENGTH is decimal and counts the whole record, itself included.

The map of a sparse file (GNU tar manual, Storing Sparse Files) says which parts of the file the data is. It is in the
header and blocks after it (old GNU), in PAX records (formats 0.0 and 0.1) or before the data (1.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field

from inspector.core.finding import FindingType
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._tar import codes
from inspector.formats._tar.header import BLOCK, GNU_LINK, GNU_NAME, PAX_GLOBAL, PLACES, SPARSE, aligned, number, text

MAX_BODY_BYTES = 1024 * 1024
"""Larger bodies of extended headers are not read."""
MAX_GLOBAL_VALUE_BYTES = BLOCK
"""Longer values of a global header are not used: each member would take as much memory, and may be a block long."""
PLACE_KEYS = frozenset((b"path", b"linkpath", b"size"))
"""Keys that override the name, link target or size of a member."""
SPARSE_PREFIX = b"GNU.sparse."
"""The prefix of the keys of sparse members."""
EXTENT_KEYS = (SPARSE_PREFIX + b"offset", SPARSE_PREFIX + b"numbytes")
"""Keys that are repeated for each extent of a sparse member, in the map format 0.0."""
_NAMES = (b"GNU.sparse.name", b"path")
_SIZES = (b"GNU.sparse.realsize", b"GNU.sparse.size")
_USED_KEYS = PLACE_KEYS | {
    SPARSE_PREFIX + key for key in (b"name", b"realsize", b"size", b"major", b"minor", b"map", b"numblocks")
}
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999, in seconds since 1970."""
_LONGEST_PLAIN_RECORD = 40
"""Bytes; longer records are few enough to look at one by one."""


def _plain_record(size: int) -> bytes:
    """A pattern of a record of ``size`` bytes whose key is not used here, or is a number that is not used."""
    length = b"%d " % size
    rest = size - len(length) - 1
    numbers = rb"(?:[ug]id=[0-9]{0,18}|[ac]time=[0-9]{0,11}(?:\.[0-9]*)?)\n"
    used = rb"(?:[ug]id|[acm]time|path|linkpath|size|LIBARCHIVE\.creationtime)=|GNU\.sparse\."
    other = rb"(?!%b)(?=[^=\0]{1,%d}=).{%d}" % (used, rest - 1, rest)
    return rb"%b(?:%b|(?=%b)[^\n]{%d})\n" % (length, other, numbers, rest)


@cache
def _plain_records() -> re.Pattern[bytes]:
    """Records in which nothing is used here and nothing can be wrong: a header may have one for each five bytes."""
    sizes = range(5, _LONGEST_PLAIN_RECORD + 1)
    # So many at a time: for each that a group has matched, a way back is kept in memory.
    return re.compile(b"(?:%b){0,1000}" % b"|".join(map(_plain_record, sizes)), re.DOTALL)


class PaxRecord(NamedTuple):
    """One PAX record: its bytes are ``[start, stop)`` of the body; ``key`` ends at the first equals sign."""

    start: int
    stop: int
    key: bytes
    value: bytes


def pax_records(body: bytes) -> Iterator[PaxRecord]:
    """Yield the records of a PAX body, up to the first that is malformed."""
    at = 0
    while (record := _record_at(body, at)) is not None:
        yield record
        at = record.stop


def _record_at(body: bytes, at: int) -> PaxRecord | None:
    space = body.find(b" ", at, at + 20)
    digits = body[at:space] if space > at else b""
    if not digits.isdigit():
        return None
    stop = at + int(digits)
    equals = body.find(b"=", space + 1, stop - 1)
    if equals <= space + 1 or body[stop - 1 : stop] != b"\n":
        return None
    return PaxRecord(at, stop, body[space + 1 : equals], body[equals + 1 : stop - 1])


def notable_records(body: bytes) -> tuple[list[PaxRecord], int]:
    """The records of a PAX body without plain ones, and where it ends or the first malformed one begins."""
    found: list[PaxRecord] = []
    skip, at = _plain_records().match, 0
    while True:
        while (plain := skip(body, at)) and plain.end() > at:
            at = plain.end()
        record = _record_at(body, at)
        if record is None:
            return found, at
        found.append(record)
        at = record.stop


class Extension:
    """The body of one extended header; of a PAX header the ``records`` that matter, up to byte ``stop``."""

    def __init__(self, typeflag: bytes, body: bytes) -> None:
        self.typeflag = typeflag
        self.body = body
        self.records, self.stop = ([], len(body)) if typeflag in (GNU_NAME, GNU_LINK) else notable_records(body)


class Overrides(Struct):
    """What extended headers override for the member after them.

    ``pax`` holds only keys that are used here, so that it stays small whatever the headers hold. ``sparse`` is set if
    records mark the member as sparse; ``extents`` are the records with EXTENT_KEYS, in order.
    """

    name: bytes | None = None
    link: bytes | None = None
    pax: dict[bytes, bytes] = field(default_factory=dict)
    sparse: bool = False
    extents: list[tuple[bytes, bytes]] = field(default_factory=list)

    def for_next_member(self) -> Overrides:
        """The overrides that a member starts with, if these are the global ones."""
        return Overrides(pax=dict(self.pax), sparse=self.sparse)

    def apply(self, extension: Extension) -> None:
        """Apply one extended header, as far as it is well-formed."""
        is_global = extension.typeflag == PAX_GLOBAL
        if extension.typeflag == GNU_NAME:
            self.name = text(extension.body)
        elif extension.typeflag == GNU_LINK:
            self.link = text(extension.body)
        for _, _, key, value in extension.records:
            if key in _USED_KEYS and not (is_global and len(value) > MAX_GLOBAL_VALUE_BYTES):
                self.pax[key] = value
            if key.startswith(SPARSE_PREFIX):
                self.sparse = True
                # A map belongs to one member, so it is ignored in a global header.
                room = len(self.extents) <= 2 * MAX_EXTENTS
                if key in EXTENT_KEYS and not is_global and room:
                    self.extents.append((key, value))

    @property
    def changes_nothing(self) -> bool:
        """Whether nothing here overrides the name, link target or size of a member."""
        return self.name is None and self.link is None and not (self.sparse or self.pax.keys() & PLACE_KEYS)

    def path(self, own: bytes) -> bytes:
        """The member's name; ``own`` is the name in its header."""
        return next((self.pax[key] for key in _NAMES if self.pax.get(key)), self.name or own)

    def target(self, own: bytes) -> bytes:
        """The link's target; ``own`` is the target in the header."""
        return self.pax.get(b"linkpath") or self.link or own

    def size(self, own: int | None) -> int | None:
        """The size of the stored data in bytes; ``own`` is the size in the header."""
        size = decimal(self.pax.get(b"size"))
        return own if size is None else size

    def expanded(self, stored: int) -> int:
        """The size of a sparse member with its holes; ``stored`` if none is recorded."""
        sizes = (decimal(self.pax.get(key)) for key in _SIZES)
        return next((size for size in sizes if size is not None), stored)


def decimal(value: bytes | None) -> int | None:
    """The number of decimal digits below 10**19, however many zeros lead; None for anything else."""
    digits = value.lstrip(b"0") if value is not None and value.isdigit() else None
    return int(digits or b"0") if digits is not None and len(digits) < 20 else None


MAX_PROBLEMS_PER_HEADER = 100
"""Problems reported of one extended header."""
_TIMES = frozenset((b"atime", b"ctime", b"mtime", b"LIBARCHIVE.creationtime"))
_IDS = frozenset((b"gid", b"uid"))
_TIME = re.compile(rb"(-?)([0-9]{1,1000})(?:\.[0-9]*)?")
_MAX_SHOWN_BYTES = 40
PaxProblem = tuple[FindingType, str, int, int]
"""A problem at bytes of a body, half-open; the text follows the header in a sentence."""


def pax_problems(extension: Extension) -> list[PaxProblem]:
    """Problems of the body of one extended header: at most MAX_PROBLEMS_PER_HEADER, and a malformed record."""
    body, done, is_global = extension.body, extension.stop, extension.typeflag == PAX_GLOBAL
    if extension.typeflag in (GNU_NAME, GNU_LINK):
        end = body.find(b"\0")
        if end > 0 and not any(body[end:]):
            return []
        ends = "has no NUL at the end" if end < 0 else f"ends at byte {end:,} of {len(body):,}"
        return [(codes.EXTENSION, f"is malformed: its name {ends}", 0, len(body))]
    found: list[PaxProblem] = []
    seen: dict[bytes, bytes] = {}
    harmless: set[tuple[bytes, bytes]] = set()
    for record in extension.records:
        if record.key in EXTENT_KEYS and not is_global and record.value.isdigit():
            continue  # nothing can be wrong with it, and a map may have very many
        if record[2:] in harmless:
            continue
        problems = list(_record_problems(record.key, record.value, seen, is_global=is_global))
        if not problems:
            harmless.add(record[2:])
        found += ((what, problem, record.start, record.stop) for what, problem in problems)
        if len(found) >= MAX_PROBLEMS_PER_HEADER:
            break
    if done < len(body):
        problem = f"is malformed: its record at byte {done:,} of the body cannot be read"
        found.append((codes.EXTENSION, problem, done, len(body)))
    return found


def _record_problems(
    key: bytes, value: bytes, seen: dict[bytes, bytes], *, is_global: bool
) -> Iterator[tuple[FindingType, str]]:
    shown = visible(key[:_MAX_SHOWN_BYTES])
    if key in (b"path", b"linkpath") and b"\0" in value:
        yield codes.EXTENSION, f"is malformed: its {key.decode()} has a NUL in it"
    if key == b"size" and value and decimal(value) is None:
        yield codes.EXTENSION, "is malformed: its size is not a decimal number, so the header's own is used"
    if b"\0" in key:
        yield codes.PAX_KEY, f"has a key with a NUL in it, {shown}, which programs read differently"
    if key in PLACE_KEYS:
        if seen.setdefault(key, value) != value:
            problem = f"has two different values for {shown}. The last is used here, but not by all programs"
            yield codes.PAX_REPEATED, problem
        if not value:
            problem = f"has an empty {shown}. The header's own is used here; other programs use nothing"
            yield codes.PAX_EMPTY, problem
    if is_global and (key in PLACE_KEYS or key.startswith(SPARSE_PREFIX)):
        unused = f" (not used: it is longer than {in_bytes(MAX_GLOBAL_VALUE_BYTES)})" if len(value) > BLOCK else ""
        problem = f"sets one {shown} for all members after it, although each has its own{unused}"
        yield codes.PAX_GLOBAL, problem
    if value:
        yield from _number_problems(key, value, shown)


def _number_problems(key: bytes, value: bytes, shown: str) -> Iterator[tuple[FindingType, str]]:
    text = visible(value[:_MAX_SHOWN_BYTES])
    if key in _IDS and decimal(value) is None:
        yield codes.PAX_NUMBER, f"has a {shown} that is not a number ({text}). The header's own is used"
    if key not in _TIMES:
        return
    time = _TIME.fullmatch(value)
    if time is None or int(time[2]) > _LAST_SECOND:
        yield codes.PAX_TIME, f"has an {shown} that is no date ({text})"
    elif time[1]:
        yield codes.PAX_TIME_EARLY, f"has an {shown} before 1970 ({text} seconds), which some programs reject"


MAX_MAP_BYTES = 16 << 20
"""Larger maps are not read, and neither are their members."""
MAX_EXTENTS = 250_000
"""Extents of one sparse member; a member with more is not read."""
_TOO_MANY = f"has more than {MAX_EXTENTS:,} extents, and is not read"
_MAX_COUNT_BYTES = 32
"""Bytes in which the number of extents must end."""
_ENTRY_SIZE = 24
_HEADER_ENTRIES = Span(386, 482)
"""The entries in the header itself."""
_REAL_SIZE = slice(483, 495)
"""The size with all holes."""
_BLOCK_ENTRIES = Span(0, 504)
"""The entries of each block after it."""
_MAX_POSITION = 2**63 - 1
Extent = tuple[int | None, int | None]
"""The offset in the file and the size of a piece of data; None for what is not a number."""


def map_end(source: Source, at: int, progress: Progress) -> int:
    """Where the data of an old GNU sparse member begins: after the blocks that continue the map of its header."""
    more = source.read(at + _HEADER_ENTRIES.stop, 1)
    at += BLOCK
    while more not in (b"", b"\0") and at < source.size:
        more = source.read(at + _BLOCK_ENTRIES.stop, 1)
        at += BLOCK
        progress.advance(0)
    return at


def expanded_size(block: bytes, overrides: Overrides, stored: int) -> int:
    """The size of a sparse member with its holes; ``block`` is its header."""
    if block[PLACES["typeflag"]] == SPARSE:
        return max(0, number(block[_REAL_SIZE]) or 0)
    return overrides.expanded(stored)


class MapFault(Struct, frozen=True):
    """A contradiction in a map, to follow "the map" in a sentence, and the bytes of the map."""

    problem: str
    span: Span


class SparseMap(Struct, frozen=True):
    """The extents of a sparse file, sorted, and where the first of their bytes is stored; the others follow it."""

    extents: Sequence[tuple[int, int]]
    start: int


def sparse_map(
    source: Source, places: tuple[int, int], overrides: Overrides, data: Span, expanded: int
) -> SparseMap | MapFault:
    """The map of a sparse member, in any of the four forms, or what is wrong with it. Raises SourceError.

    ``places`` are its first header and its own, ``data`` its stored bytes, ``expanded`` is its size with all holes.
    """
    if source.read(places[1] + PLACES["typeflag"].start, 1) == SPARSE:
        return _map_of_blocks(source, places[1], data, expanded)
    return _map_of_records(source, overrides, Span(*places), data, expanded)


def _map_of_blocks(source: Source, at: int, stored: Span, expanded: int) -> SparseMap | MapFault:
    """An old GNU map, in the header at ``at`` and the blocks up to the data."""
    start = stored.start
    stop = start if start > at + BLOCK else at + _HEADER_ENTRIES.stop
    span = Span(at + _HEADER_ENTRIES.start, stop)
    if start - at > MAX_MAP_BYTES:
        return MapFault(f"has more than {in_bytes(MAX_MAP_BYTES)}, and is not read", span)
    data = source.read(at, start - at)
    fields = [data[_HEADER_ENTRIES.start : _HEADER_ENTRIES.stop]]
    fields += [data[block : block + _BLOCK_ENTRIES.stop] for block in range(BLOCK, len(data), BLOCK)]
    extents = islice((extent for field in fields for extent in _entries(field)), MAX_EXTENTS + 1)
    return _checked(list(extents), expanded, Span(start, stored.stop), span)


def _entries(field: bytes) -> Iterator[Extent]:
    for at in range(0, len(field) - _ENTRY_SIZE + 1, _ENTRY_SIZE):
        entry = field[at : at + _ENTRY_SIZE]
        if entry.strip(b"\0"):
            yield number(entry[:12]), number(entry[12:])


def _map_of_records(
    source: Source, overrides: Overrides, records: Span, data: Span, expanded: int
) -> SparseMap | MapFault:
    """A map in PAX records, or before the data as they say."""
    major = overrides.pax.get(SPARSE_PREFIX + b"major")
    if major is not None:
        return _map_in_data(source, data, expanded)
    if SPARSE_PREFIX + b"map" in overrides.pax:
        numbers: Sequence[bytes] = overrides.pax[SPARSE_PREFIX + b"map"].split(b",")
    else:
        numbers = [value for _, value in overrides.extents]
        if any(key != EXTENT_KEYS[at % 2] for at, (key, _) in enumerate(overrides.extents)):
            return MapFault("has extents that are not pairs of an offset and a size", records)
    extents = _pairs(numbers)
    counted = decimal(overrides.pax.get(SPARSE_PREFIX + b"numblocks"))
    if counted is not None and counted != len(extents) <= MAX_EXTENTS:
        return MapFault(f"should have {counted:,} extents and has {len(extents):,}", records)
    return _checked(extents, expanded, data, records) if extents else MapFault("is missing", records)


def _pairs(numbers: Sequence[bytes]) -> list[Extent]:
    """The numbers in pairs; an odd last one is paired with None."""
    values = [*map(decimal, numbers), *([None] * (len(numbers) % 2))]
    return list(zip(values[::2], values[1::2], strict=True))


def _map_in_data(source: Source, data: Span, expanded: int) -> SparseMap | MapFault:
    """A map in format 1.0: lines with the number of extents and their numbers, padded to whole blocks."""
    size = BLOCK
    while True:
        held = source.read(data.start, min(size, data.size))
        first, ended, _ = held[:_MAX_COUNT_BYTES].partition(b"\n")
        counted = decimal(first) if ended else None
        if counted is None or 2 * counted > data.size:
            return MapFault("does not begin with the number of its extents", Span(data.start, data.start + len(held)))
        if counted > MAX_EXTENTS:
            return MapFault(_TOO_MANY, Span(data.start, data.start + len(first)))
        if held.count(b"\n") > 2 * counted:
            break
        if len(held) < size or size >= MAX_MAP_BYTES:
            problem = "ends before its last extent" if len(held) < size else f"has more than {in_bytes(MAX_MAP_BYTES)}"
            return MapFault(problem, data)
        size *= 8
    lines = held.split(b"\n", 2 * counted + 1)[: 2 * counted + 1]
    start = min(data.start + aligned(sum(map(len, lines)) + len(lines)), data.stop)
    return _checked(_pairs(lines[1:]), expanded, Span(start, data.stop), Span(data.start, start))


def _checked(extents: Sequence[Extent], expanded: int, data: Span, place: Span) -> SparseMap | MapFault:
    """The map with these extents, unless they are impossible; ``data`` are the bytes of the extents."""
    if len(extents) > MAX_EXTENTS:
        return MapFault(_TOO_MANY, place)
    if problem := _map_problem(extents, expanded, data.size):
        return MapFault(problem, place)
    return SparseMap([(offset or 0, size or 0) for offset, size in extents], data.start)


def _map_problem(extents: Iterable[Extent], expanded: int, stored: int) -> str:
    """What is impossible about extents of a file of ``expanded`` bytes, ``stored`` of them in the archive."""
    last_start = stop = total = 0
    for at, (offset, size) in enumerate(extents):
        if offset is None or size is None or offset < 0 or size < 0:
            return f"has no number in its extent {at:,}"
        if offset + size > _MAX_POSITION:
            return f"exceeds 2^63 bytes with its extent {at:,}"
        if offset < last_start:
            return f"is not sorted: its extent {at:,} begins at {grouped(offset)}, before the previous one"
        if offset < stop:
            return f"overlaps itself: its extent {at:,} begins at {grouped(offset)}, inside the previous one"
        last_start, stop, total = offset, offset + size, total + size
    if stop > expanded:
        return f"ends at byte {grouped(stop)}, but the file has {in_bytes(expanded)}"
    if total != stored:
        return f"describes {in_bytes(total)} of data, but {grouped(stored)} are stored"
    return ""
