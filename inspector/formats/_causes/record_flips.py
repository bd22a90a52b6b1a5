"""One flipped bit in what places members: directory and end record of a ZIP, the index of a CAF, an RCA's sizes.

No digest covers these. Other records say what should stand there, or only one bit makes the whole fit again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span, united
from inspector.formats._causes.flips import LIKELY_CODE
from inspector.formats._causes.table import Cause, Explanation, wrong
from inspector.formats._zip.headers import LocalFile, local_files
from inspector.formats._zip.records import CENTRAL, CENTRAL_SIZE, END, END_SIZE
from inspector.formats.caf.decode import Detail
from inspector.formats.caf.locate import FOOTER_SIZE

MAX_ENTRIES = 4_096
"""Entries of a ZIP's directory that are compared with their local headers."""
MAX_INDEX_BYTES = 1 << 20
"""The largest index of a CAF of which bits are tried."""
MAX_TRIED_BYTES = 96 << 20
"""Bytes of index that are parsed in all trials together: a second or so."""
MAX_SUSPECTS = 4_096
"""Bytes of an index of which each bit is tried."""
_NEAR_BYTES = 96
_COMMENT = 20
"""Where an end record says how long its comment is."""


def flipped_record(archive: Archive, progress: Progress) -> Explanation | None:
    """The flipped bit of a record, if there is one. Raises SourceError and Cancelled."""
    if archive.format in ("zip", "taco"):
        return _in_zip(archive)
    if archive.format == "caf":
        return _in_footer(archive) or _in_index(archive, progress)
    return _in_chunk(archive) if archive.format == "rca" else None


def _named(archive: Archive, at: int, old: int, what: str, why: str, repairs: tuple[Repair, ...] = ()) -> Explanation:
    new = archive.source.read(at, 1)[0]
    advice = "Repair restores it with your consent." if repairs else "Repair rewrites that record."
    message = (
        f"One bit of {what} flipped: byte {grouped(at)} is {hexadecimal(new, 2)} and was {hexadecimal(old, 2)}. {why} "
        f"{advice} A single bit changes in memory or on the way; check the memory of the machines that handled it."
    )
    return Explanation(
        Cause.FLIPPED_BIT, message, (Span(at, at + 1),), tuple(wrong(archive)), repairs, adopts=not repairs
    )


def _one_bit(there: bytes, expected: bytes) -> int | None:
    """Where two byte strings differ, if they do in a single bit."""
    if len(there) != len(expected):
        return None
    places = [at for at, (some, other) in enumerate(zip(there, expected, strict=True)) if some != other]
    return places[0] if len(places) == 1 and (there[places[0]] ^ expected[places[0]]).bit_count() == 1 else None


# ---- ZIP -----------------------------------------------------------------------------------------------------------


def _in_zip(archive: Archive) -> Explanation | None:
    source = archive.source
    files = list(islice(local_files(source, 0), MAX_ENTRIES + 1))
    if not files or len(files) > MAX_ENTRIES:
        return None
    found = []
    for at, there, expected, what in _directory(source, files):
        if there == expected:
            continue
        place = _one_bit(there, expected)
        if place is None or (there.startswith(END) and place >= _COMMENT):  # a byte behind it is no longer comment
            return None
        found.append((at + place, expected[place], what))
    if len(found) != 1:
        return None
    return _named(archive, *found[0], "The local headers and all other records agree with that.")


def _directory(source: Source, files: Sequence[LocalFile]) -> Iterator[tuple[int, bytes, bytes, str]]:
    """The headers of the directory and the end record: place, bytes there, bytes that should be there, what it is."""
    begin = at = files[-1].stop
    for each in files:
        header = source.read(at, CENTRAL_SIZE + len(each.name))
        expected = _expected(header, each)
        yield at, header, expected, "a header of the central directory"
        at += CENTRAL_SIZE + sum(int.from_bytes(expected[field : field + 2], "little") for field in (28, 30, 32))
    number, size = len(files).to_bytes(2, "little"), (at - begin).to_bytes(8, "little")[:4]
    comment = max(0, source.size - at - END_SIZE).to_bytes(8, "little")[:2]
    expected = b"".join((END, bytes(4), number, number, size, begin.to_bytes(8, "little")[:4], comment))
    yield at, source.read(at, END_SIZE), expected, "the end of central directory record"


def _expected(header: bytes, each: LocalFile) -> bytes:
    """A header of the directory as its local header says it should be; what only it has stays."""
    local = each.local
    stored, size = each.sizes or (0, 0)
    made = bytearray(header[:CENTRAL_SIZE].ljust(CENTRAL_SIZE, b"\0"))
    made[:4] = CENTRAL
    fields = ((6, local.needed), (8, local.flags), (10, local.method), (12, local.time), (14, local.date))
    for at, value in (*fields, (28, len(each.name))):
        made[at : at + 2] = value.to_bytes(2, "little")
    for at, value in ((16, local.crc), (20, stored), (24, size), (42, each.head)):
        made[at : at + 4] = value.to_bytes(8, "little")[:4]
    return bytes(made) + each.name


# ---- CAF -----------------------------------------------------------------------------------------------------------


def _index_of(archive: Archive) -> Span | None:
    return next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)


def _in_footer(archive: Archive) -> Explanation | None:
    index, source = _index_of(archive), archive.source
    if (
        index is None
        or index.stop != source.size - FOOTER_SIZE
        or [each.code for each in wrong(archive)] != ["caf-footer"]
    ):
        return None
    expected = index.size.to_bytes(FOOTER_SIZE, "little")
    place = _one_bit(source.read(index.stop, FOOTER_SIZE), expected)
    if place is None:
        return None
    return _named(
        archive, index.stop + place, expected[place], "the footer", "The index has the size that it then names."
    )


def _in_index(archive: Archive, progress: Progress) -> Explanation | None:
    """The bit of an index with which it is JSON and its members fill the data section.

    Where only the last end differs from where the data ends, bytes that were lost or inserted explain it as well.
    """
    index, source = _index_of(archive), archive.source
    if isinstance(archive.detail, Detail) and archive.detail.shift is not None:
        return None
    if index is None or index.size > MAX_INDEX_BYTES or index.stop != source.size - FOOTER_SIZE:
        return None
    data = source.read(index.start, index.size)
    sized = int.from_bytes(source.read(index.stop, FOOTER_SIZE), "little") == index.size
    if not sized or _fills(data, index.start):
        return None
    suspects = _suspects(archive, data, index)
    if 8 * len(suspects) * len(data) > MAX_TRIED_BYTES:
        return None
    found = list(_fitting(bytearray(data), suspects, index.start, progress))
    if len({at for at, _ in found}) != 1:
        return None
    (at, old), *others = found
    why = "With it the index is JSON, and its members fill the data section without a gap."
    if others:
        why += f" So they do with {len(others)} other values of that byte: it is part of a name."
    offset = index.start + at
    title = f"Restore the flipped bit: byte {grouped(offset)} from {hexadecimal(data[at], 2)} to {hexadecimal(old, 2)}"
    edit = Edit(title, (Patch(offset, data[at : at + 1], bytes((old,))),), source.size, source.size)
    claim = "The damage is one flipped bit, and nothing but the index says what the names were."
    codes = frozenset(each.code for each in wrong(archive))
    repair = Repair(LIKELY_CODE, title, codes, claim=claim, edit=edit)
    return _named(archive, offset, old, "the index", why, () if others else (repair,))


def _fitting(data: bytearray, suspects: Sequence[int], stop: int, progress: Progress) -> Iterator[tuple[int, int]]:
    """The bits with which an index fits, as the place and the value of their byte."""
    progress.begin("Looking for a flipped bit", len(suspects))
    for at in suspects:
        there = data[at]
        for bit in range(8):
            data[at] = there ^ 1 << bit
            if _fills(bytes(data), stop):
                yield at, data[at]
        data[at] = there
        progress.advance(1)


def _suspects(archive: Archive, data: bytes, index: Span) -> Sequence[int]:
    """The bytes of an index that may be wrong: those near what was found in it, and numbers that do not meet others."""
    near = [
        Span(max(index.start, span.start - _NEAR_BYTES), min(index.stop, span.stop + 8))
        for each in wrong(archive)
        for span in each.spans
        if index.start <= span.start < index.stop
    ]
    places = [at for span in united(near) for at in range(span.start - index.start, span.stop - index.start)]
    for number in _lonely(data, index.start):
        places += [at for found in re.finditer(rb"(?<!\d)%d(?!\d)" % number, data) for at in range(*found.span())]
    return sorted(set(places))[:MAX_SUSPECTS]


def _lonely(data: bytes, stop: int) -> Iterator[int]:
    """Numbers of an index that stand neither as a start and an end, nor at an end of the data."""
    starts = [int(each) for each in re.findall(rb'"start_byte"\s*+:\s*+(\d{1,19})', data)]
    stops = [int(each) for each in re.findall(rb'"end_byte"\s*+:\s*+(\d{1,19})', data)]
    yield from islice((set(starts) - set(stops) - {0}) | (set(stops) - set(starts) - {stop}), 16)


def _fills(data: bytes, stop: int) -> bool:
    """Whether bytes are an index whose members fill the bytes up to ``stop`` exactly."""
    try:
        index = json.loads(data.decode())
        entries = sorted((each["start_byte"], each["end_byte"]) for each in index["files"].values())
        if index.get("format_version", "1.0") != "1.0" or index.keys() - {"files", "format_version"}:
            return False
        if any(each.keys() != {"start_byte", "end_byte"} for each in index["files"].values()):
            return False
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    at = 0
    for start, end in entries:
        if start != at or type(end) is not int or end < start:
            return False
        at = end
    return at == stop


# ---- RCA -----------------------------------------------------------------------------------------------------------


def _in_chunk(archive: Archive) -> Explanation | None:
    """The size in a chunk header that differs in one bit from the bytes that are there."""
    source: Source = archive.source
    if {each.code for each in wrong(archive)} != {"rca-chunk-size-wrong"}:  # a hash proves another size, and no more
        return None
    at, bits = 0, 16
    for _ in range(6):
        width = bits // 8
        full = 1 << bits - 1
        expected = min(full, source.size - at)
        there = source.read(at, width)
        if len(there) < width or expected <= width + 8:
            return None
        place = _one_bit(there, expected.to_bytes(width, "big"))
        if place is not None:
            old = expected.to_bytes(width, "big")[place]
            return _named(archive, at + place, old, "a chunk header", "With it the chunks end where the file does.")
        if int.from_bytes(there, "big") != full:
            return None
        at, bits = at + full, bits * 2
    return None
