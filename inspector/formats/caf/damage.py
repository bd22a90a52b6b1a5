"""What a CAF shows of its damage as a whole: a cut, bytes after the footer, bytes that went or came, a flipped bit.

All that says where members are follows them, in the index (CAF.md, "File Index Section") and the footer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.archive import Archive
from inspector.core.cause import LIKELY_CODE, Cause, FoundCause, wrong, wrong_codes
from inspector.core.damage import Anchored, Damage, Missing, Newer
from inspector.core.edit import Edit, Patch
from inspector.core.numbers import grouped, hexadecimal, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, SplicedSource, blocks
from inspector.core.span import Span, united
from inspector.formats._damage import (
    MAX_TRAILING_BYTES,
    TAIL_TEXT_BYTES,
    fewer,
    first_line,
    flipped,
    is_text,
    one_bit,
    part_of,
)
from inspector.formats._signatures import has_signature
from inspector.formats.caf.decode import Detail
from inspector.formats.caf.locate import FOOTER_SIZE, OPENING, index_from_footer, object_at
from inspector.formats.caf.overwritten import END_BYTE, MAX_COMPARED_INDEX_BYTES, caf_end
from inspector.formats.caf.rewritten import rewritten
from inspector.formats.caf.salvage import older
from inspector.formats.caf.shift import Shift, is_text_behind

MAX_INDEX_BYTES = 1 << 20
"""The largest index of which bits are tried."""
MAX_TRIED_BYTES = 96 << 20
"""Bytes of index that are parsed in all trials together: a second or so."""
MAX_SUSPECTS = 4_096
"""Bytes of an index of which each bit is tried."""
_NEAR_BYTES = 96
_MIN_ZEROS = 16
"""Fewer zeros in front may be the beginning of the first member."""
_COPIED_BYTES = 4_096
"""Zeros, or copies of one byte, at the end of a file: so many are another event than a cut."""


def _index_of(archive: Archive) -> Span | None:
    return next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)


# ---- where it ends ---------------------------------------------------------------------------------------------------


def _missing(archive: Archive) -> Missing | None:
    codes, source = wrong_codes(archive), archive.source
    if "caf-footer" not in codes or not source.size:
        return None
    index = _index_of(archive)
    tail = source.read(max(0, source.size - _COPIED_BYTES), _COPIED_BYTES)
    if not tail.strip(b"\0") or tail.count(tail[-1:]) == len(tail):
        return None
    if index is None:
        where = "There is neither an index nor a footer at its end, and a CAF ends with both."
        return Missing(4 + 2, where) if not len(archive.members) else None
    if "caf-index-malformed" in codes and index.stop >= source.size - 4:
        return Missing(4 + 2, "It ends inside the index, and a footer of 4 bytes should follow.")
    left = source.size - index.stop
    return Missing(4 - left, "The footer of 4 bytes after the index is not whole.") if 0 <= left < 4 else None


def _behind_footer(archive: Archive) -> FoundCause | None:
    """Bytes after the footer of a CAF: what follows the index says the size of the index."""
    index, source = _index_of(archive), archive.source
    if index is None or "caf-footer" not in wrong_codes(archive):
        return None
    span = Span(index.stop + FOOTER_SIZE, source.size)
    right = int.from_bytes(source.read(index.stop, FOOTER_SIZE), "little") == index.size
    if not right or not 0 < span.size <= MAX_TRAILING_BYTES:
        return None
    data = source.read(span.start, min(span.size, TAIL_TEXT_BYTES))
    they_are, they_belong = verb(span.size, "It is", "They are"), verb(span.size, "It belongs", "They belong")
    what = f'{they_are} text: "{first_line(data)}".' if is_text(data) else f"{they_belong} to none of its records."
    if _ends_older_index(source, span):
        message = (
            f"A new archive was written over a longer old one, and the end of the old one's index is left. It has "
            f"{in_bytes(span.size)} from byte {span.start:,} on. What it lists was overwritten; everything before it "
            "is the new archive. Cut it off in a copy."
        )
        return FoundCause(Cause.JOINED, message, (span,), tuple(wrong(archive)), adopts=True)
    message = (
        f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the footer, which ends a CAF. {what} A "
        "program padded the file to whole blocks, or another one printed to the same output. Repair writes the footer "
        "where the file ends, or cut the rest off in a copy."
    )
    return FoundCause(Cause.TRAILING_BYTES, message, (span,), tuple(wrong(archive)), adopts=True)


def _ends_older_index(source: Source, rest: Span) -> bool:
    """Whether these bytes at the end of a file end an index that began before them, with its footer."""
    data = source.read(rest.start, rest.size)
    size = int.from_bytes(data[-FOOTER_SIZE:], "little")
    return data[:-FOOTER_SIZE].endswith(b"}}") and rest.size - FOOTER_SIZE < size < source.size


def _last(source: Source, low: int) -> int | None:
    """Where the archive begins that ends with the file: as far before the index as its last member ends."""
    _, span = index_from_footer(source)
    if span is None or span.start < low or span.size > MAX_COMPARED_INDEX_BYTES:
        return None
    data = source.read(span.start, span.size)
    ends = [int(each) for each in END_BYTE.findall(data)]
    if not OPENING.match(data) or not ends:
        return None
    start = span.start - max(ends)
    return start if start > 0 and start >= low else None


def _anchored(source: Source, at: int, low: int, progress: Progress) -> Anchored | None:
    """The archive of the index that opens at ``at``: its data is before it, or what is left of that from ``low`` on."""
    progress.advance(0)
    room = Span(at, min(source.size, at + MAX_COMPARED_INDEX_BYTES))
    found = object_at(SplicedSource(source, [room], source.name), 0)
    if found is None or not found.complete:
        return None
    size = found.span.size
    data = max((int(each) for each in END_BYTE.findall(source.read(at, size))), default=-1)
    if data < 0:
        return None
    stop = min(source.size, at + size + FOOTER_SIZE)
    fits = int.from_bytes(source.read(at + size, FOOTER_SIZE), "little") == size and data <= at
    return Anchored(at - data if data <= at else min(low, at), stop, fits)


def _shift_of(archive: Archive) -> Shift | None:
    return archive.detail.shift if isinstance(archive.detail, Detail) else None


def _fronts(archive: Archive, progress: Progress) -> Sequence[int]:
    """As many bytes as came, where the first member is text only from there on, or where so many zeros begin the file.

    What ends where the first member would may be that member, and so may what begins as a known type of file does.
    """
    shift, source = _shift_of(archive), archive.source
    if shift is None or shift.size <= 0 or shift.bounds.start:
        return ()
    if shift.front:
        return (shift.size,)
    head = source.read(0, min(shift.size, TAIL_TEXT_BYTES))
    if has_signature(head) or shift.size in archive.members.stops[:1]:
        return ()
    if not is_text(head) and is_text_behind(source, archive.members, shift.size):
        return (shift.size,)
    if shift.size < _MIN_ZEROS or not source.read(shift.size, 1).strip(b"\0"):
        return ()
    for piece in blocks(source, 0, shift.size):
        progress.advance(0)
        if any(piece):
            return ()
    return (shift.size,)


def _newer(archive: Archive) -> Newer | None:
    return archive.detail.newer if isinstance(archive.detail, Detail) else None


# ---- how large it should be ------------------------------------------------------------------------------------------


def _expected_size(archive: Archive) -> int | None:
    """Where its members end, which follow one another without a gap or an overlap, and all from the index on."""
    index, members = _index_of(archive), sorted(zip(archive.members.starts, archive.members.stops, strict=True))
    ends = [0, *(stop for _, stop in members)]
    tiled = all(start == end for (start, _), end in zip(members, ends, strict=False))
    return ends[-1] + archive.source.size - index.start if index is not None and tiled and ends[-1] else None


def _resized(archive: Archive, change: int) -> FoundCause | None:
    """So many bytes before the index went or came; None for a part that went, which says as much of any format.

    Of bytes that came the check says where they may be, and whether they occur twice.
    """
    part = part_of(abs(change))
    if change <= 0:
        first = f"{in_bytes(-change)} {verb(-change, 'is', 'are')} missing before the index"
        return fewer(archive, change, first) if change and not part else None
    twice = next((each for each in wrong(archive) if each.code == "caf-doubled"), None)
    size, number = f"{'A part of ' if part else ''}{in_bytes(change)}", 1 if part else change
    happened = f"{verb(number, 'was', 'were')} inserted"
    if twice is not None:
        happened = f"{'is' if part else 'are'} there twice"
    message = (
        f"{size} {happened} before the index. By its own records the file has "
        f"{in_bytes(archive.source.size - change)}, and it has {in_bytes(archive.source.size)}."
        f"{f' Transfers use parts of {part >> 20} MiB.' if part else ''} A retried or joined transfer does that. "
        "Members after them are shifted. Copy the file again, or let repair write a copy without them."
    )
    cause = Cause.DOUBLED_PART if twice is not None and part else Cause.INSERTED_BYTES
    spans = twice.spans if twice is not None and twice.spans else (Span(0, archive.source.size),)
    return FoundCause(cause, message, spans, tuple(wrong(archive)))


# ---- one bit ---------------------------------------------------------------------------------------------------------


def _flipped_record(archive: Archive, progress: Progress) -> FoundCause | None:
    index, source = _index_of(archive), archive.source
    if index is None or index.stop != source.size - FOOTER_SIZE:
        return None
    there, expected = source.read(index.stop, FOOTER_SIZE), index.size.to_bytes(FOOTER_SIZE, "little")
    if there == expected:
        return _in_index(archive, index, progress)
    place = one_bit(there, expected)
    if place is None or [each.code for each in wrong(archive)] != ["caf-footer"]:
        return None
    why = "The index has the size that it then names."
    return flipped(archive, index.stop + place, expected[place], "the footer", why)


def _in_index(archive: Archive, index: Span, progress: Progress) -> FoundCause | None:
    """The bit of an index with which it is JSON and its members fill the data section.

    Where only the last end differs from where the data ends, bytes that were lost or inserted explain it as well.
    """
    if _shift_of(archive) is not None or index.size > MAX_INDEX_BYTES:
        return None
    data = archive.source.read(index.start, index.size)
    if _fills(data, index.start):
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
    edit = Edit(title, (Patch(offset, data[at : at + 1], bytes((old,))),), archive.source.size, archive.source.size)
    claim = "The damage is one flipped bit, and nothing but the index says what the names were."
    codes = frozenset(each.code for each in wrong(archive))
    repair = Repair(LIKELY_CODE, title, codes, claim=claim, edit=edit)
    return flipped(archive, offset, old, "the index", why, () if others else (repair,))


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
    """Numbers of an index that are neither a start and an end, nor at an end of the data."""
    starts = [int(each) for each in re.findall(rb'"start_byte"\s*+:\s*+(\d{1,19})', data)]
    stops = [int(each) for each in re.findall(rb'"end_byte"\s*+:\s*+(\d{1,19})', data)]
    yield from islice((set(starts) - set(stops) - {0}) | (set(stops) - set(starts) - {stop}), 16)


def _fills(data: bytes, stop: int) -> bool:
    """Whether bytes are an index whose members fill the bytes up to ``stop`` exactly."""
    try:
        index = json.loads(data.decode())
        entries = list(index["files"].values())
        ranges = sorted((each["start_byte"], each["end_byte"]) for each in entries)
        if index.get("format_version", "1.0") != "1.0" or index.keys() - {"files", "format_version"}:
            return False
        if any(each.keys() != {"start_byte", "end_byte"} for each in entries):
            return False
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    at = 0
    for start, end in ranges:
        if start != at or type(end) is not int or end < start:
            return False
        at = end
    return at == stop


DAMAGE = Damage(
    data_first=True,
    ends_itself=True,
    missing=_missing,
    behind=_behind_footer,
    resized=_resized,
    expected_size=_expected_size,
    rewritten=rewritten,
    flipped_record=_flipped_record,
    end=caf_end,
    anchor=OPENING.pattern,
    anchored=_anchored,
    last=_last,
    fronts=_fronts,
    newer=_newer,
    older=older,
)
