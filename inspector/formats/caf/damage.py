"""What a CAF shows of its damage as a whole: a cut, bytes after the footer, bytes that went or came, a flipped bit.

All that says where members are follows them, in the index (CAF.md, "File Index Section") and the footer. An index may
be written in another way than specified, or twice, with nothing lost: members follow one another without a gap, so a
way to read it is proved where all members that it then lists fill the data section. Only such a way is told.
"""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from inspector.core.archive import Archive
from inspector.core.cause import CONVERT_CODE, LIKELY_CODE, UNWRAP_CODE, Cause, FoundCause, wrong, wrong_codes
from inspector.core.damage import Anchored, Damage, Missing
from inspector.core.edit import Edit, Patch
from inspector.core.member import UNREADABLE
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Fate, Outcome, Repair, outcomes
from inspector.core.source import Source
from inspector.core.span import Span, subtract, total, united
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
from inspector.formats.caf import codes
from inspector.formats.caf.decode import earlier_index
from inspector.formats.caf.locate import (
    FOOTER_SIZE,
    MAX_COMPARED_INDEX_BYTES,
    OPENING,
    caf_end,
    data_size,
    has_footer,
    head,
    index_at,
    index_from_footer,
)
from inspector.formats.caf.salvage import older, written
from inspector.formats.caf.shift import Shift, is_in_front
from inspector.formats.caf.write import Extent, in_json

MAX_TRIED_INDEX_BYTES = 1 << 20
"""The largest index of which bits are tried."""
MAX_TRIED_BYTES = 96 << 20
"""Bytes of index that are parsed in all trials together: a second or so."""
MAX_SUSPECTS = 4_096
"""Bytes of an index of which each bit is tried."""
_NEAR_BYTES = 96
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
    if not has_footer(source, index) or not 0 < span.size <= MAX_TRAILING_BYTES:
        return None
    rest = source.read(span.start, span.size)
    data = rest[:TAIL_TEXT_BYTES]
    they_are, they_belong = verb(span.size, "It is", "They are"), verb(span.size, "It belongs", "They belong")
    what = f'{they_are} text: "{first_line(data)}".' if is_text(data) else f"{they_belong} to none of its records."
    message = (
        f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the footer, which ends a CAF. {what} A "
        "program padded the file to whole blocks, or another one printed to the same output. Repair writes the footer "
        "where the file ends, or cut the rest off in a copy."
    )
    # An index that began before these bytes ends with them.
    claimed = int.from_bytes(rest[-FOOTER_SIZE:], "little")
    is_older = rest[:-FOOTER_SIZE].endswith(b"}}") and span.size - FOOTER_SIZE < claimed < source.size
    if is_older:
        message = (
            f"A new archive was written over a longer old one, and the end of the old one's index is left. It has "
            f"{in_bytes(span.size)} from byte {span.start:,} on. What it lists was overwritten; everything before it "
            "is the new archive. Cut it off in a copy."
        )
    cause = Cause.JOINED if is_older else Cause.TRAILING_BYTES
    return FoundCause(cause, message, (span,), tuple(wrong(archive)), adopts=True)


def _last(source: Source, low: int) -> int | None:
    """Where the archive begins that ends with the file: as far before the index as its last member ends."""
    _, span = index_from_footer(source)
    if span is None or not low <= span.start or span.size > MAX_COMPARED_INDEX_BYTES:
        return None
    start = span.start - data_size(source, span)
    return start if max(1, low) <= start <= span.start and OPENING.match(head(source, span)) else None


def _anchored(source: Source, at: int, low: int, progress: Progress) -> Anchored | None:
    """The archive of the index that opens at ``at``: its data is before it, or what is left of that from ``low`` on."""
    progress.advance(0)
    index = index_at(source, at)
    size = -1 if index is None else data_size(source, index)
    if index is None or size < 0:
        return None
    fits = size <= at
    stop = min(source.size, index.stop + FOOTER_SIZE)
    return Anchored(at - size if fits else min(low, at), stop, fits and has_footer(source, index))


def _shift_of(archive: Archive) -> Shift | None:
    return getattr(archive.detail, "shift", None)


def _fronts(archive: Archive, progress: Progress) -> Sequence[int]:
    """As many bytes as came, if they may all be in front of the first member."""
    shift = _shift_of(archive)
    if shift is None or shift.size <= 0 or shift.bounds.start:
        return ()
    may_be = shift.front or is_in_front(archive.source, archive.members, shift.size, progress, surely=False)
    return (shift.size,) if may_be else ()


# ---- how large it should be ------------------------------------------------------------------------------------------


def _expected_size(archive: Archive) -> int | None:
    """Where its members end, which follow one another without a gap or an overlap, and all from the index on."""
    index, members = _index_of(archive), archive.members
    end = max(members.stops, default=0)
    unknown = any(each & UNREADABLE for each in members.marks or ())  # what follows may be of those
    if index is None or not end or unknown or not _fill(zip(members.starts, members.stops, strict=True), end):
        return None
    return end + archive.source.size - index.start


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
    if _shift_of(archive) is not None or index.size > MAX_TRIED_INDEX_BYTES:
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
        if index.get("format_version", "1.0") != "1.0" or index.keys() - {"files", "format_version"}:
            return False
        if any(each.keys() != {"start_byte", "end_byte"} for each in entries):
            return False
        ranges = [(each["start_byte"], each["end_byte"]) for each in entries]
        return all(type(each) is int for pair in ranges for each in pair) and _fill(ranges, stop)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def _fill(ranges: Iterable[tuple[int, int]], stop: int) -> bool:
    """Whether ranges in any order fill ``[0, stop)``, each byte once."""
    at = 0
    for start, end in sorted(ranges):
        if not at == start <= end:
            return False
        at = end
    return at == stop


# ---- written in another way, or twice -------------------------------------------------------------------------------

MAX_REREAD_BYTES = 4 << 20
"""The largest index, unpacked, that is read in other ways; a larger one would be held in memory several times."""
MAX_LITERAL_BYTES = 1 << 20
"""The largest text of Python that is read: it takes a hundred times its size."""
MAX_COMPARED = 4_000_000
"""Entries of the last index that are compared with earlier ones, once with each."""
_UTF8_PAIR = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_NUMBER = re.compile(r"[0-9]{1,19}")
_PYTHON = re.compile(rb"\{\s*'")
_GZIP_WINDOW = 31


def _utf16(data: bytes) -> object:
    order = "" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "-le" if data[1:2] == b"\0" else "-be"
    return json.loads(data.decode(f"utf-16{order}"))


def _gzip(data: bytes) -> object:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    found = unpacker.decompress(data, MAX_REREAD_BYTES)
    return json.loads(found.decode()) if unpacker.eof else None


def _python(data: bytes) -> object:
    """Only with its quotes: JSON with commas too many is Python too."""
    return ast.literal_eval(data.decode()) if len(data) <= MAX_LITERAL_BYTES and _PYTHON.match(data) else None


def _latin(data: bytes) -> object:
    """One byte that is not UTF-8 may be a flipped bit; several of them that never are, are not."""
    others = sum(each > 0x7F for each in data)
    return json.loads(data.decode("cp1252")) if others > 1 and not _UTF8_PAIR.search(data) else None


_TEXTS: tuple[tuple[str, Callable[[bytes], object]], ...] = (
    ("", lambda data: json.loads(data.decode())),
    ("is UTF-16", _utf16),
    ("is compressed with gzip", _gzip),
    ("is Python, not JSON", _python),
    ("is perhaps Latin-1", _latin),
)
"""What an index is, and how it is read then. Each may raise one of ``_NOT_SO``."""
_NOT_SO = (ValueError, TypeError, KeyError, AttributeError, SyntaxError, MemoryError, RecursionError, zlib.error)
_ENDS: tuple[tuple[str, Callable[[int, int], int]], ...] = (
    ("", lambda _, end: end),
    ("has lengths as end_byte", lambda start, end: start + end),
    ("has inclusive end_bytes", lambda _, end: end + 1),
)
"""What its end_byte is, and where a member ends then."""
_READ_ANYWAY = ({"has inclusive end_bytes"}, set[str]())
"""What decoding reads by itself."""


def rewritten(archive: Archive, progress: Progress) -> FoundCause | None:
    """In which other way an index was written, if all its members fill the data section then; or a second index."""
    if (found := _appended(archive, progress)) is not None:
        return found
    _, span = index_from_footer(archive.source)
    if span is None or not span.start or span.size > MAX_REREAD_BYTES:
        return None
    data = archive.source.read(span.start, span.size)
    for text, read in _TEXTS:
        progress.advance(0)
        try:
            ways, extents = next(_filling(read(data), span.start), (set[str](), ()))
        except _NOT_SO:
            continue
        said = [each for each in (text, *sorted(ways)) if each]
        if extents:
            return None if not text and ways in _READ_ANYWAY else _cause(archive, said, extents)
    return None


def _appended(archive: Archive, progress: Progress) -> FoundCause | None:
    """That all bytes of no member are earlier indexes, or members that only these list."""
    members = archive.members
    if wrong_codes(archive) - {codes.NAME_HAZARD.code} != {codes.GAP.code}:
        return None
    found = tuple(each for each in wrong(archive) if each.code == codes.GAP.code)
    gaps = [span for each in found for span in each.spans]
    if len(gaps) != len(found) or len(gaps) * len(members) > MAX_COMPARED:
        return None
    old, left = list[Span](), list[Span]()
    listed = set[Span]()
    for gap in gaps:
        index = earlier_index(archive, gap.stop, progress)
        if index is None or index.span.start != gap.start:
            left.append(gap)
        else:
            old.append(gap)
            listed.update(map(Span, index.starts, index.stops))
    if not old or subtract(left, united(each for each in listed if each.size > 0)):
        return None
    number = sum(start >= old[0].stop for start in members.starts)
    earlier, they = ("an earlier index", "it lists") if len(old) == 1 else (f"{len(old)} earlier indexes", "they list")
    kept, gone = "whose entries stand unchanged in the last", total(left)
    if gone:
        kept = f"and the last leaves out {in_bytes(gone)} that {they}"
    lossless = f"The last index repeats every entry of {earlier}."

    def extents() -> Iterator[Extent]:
        return zip(map(in_json, map(members.path, range(len(members)))), members.starts, members.stops, strict=True)

    repair = Repair(
        UNWRAP_CODE,
        f"Write the {count(len(members), 'member')} without the {in_bytes(total(old))} of {earlier}, in a copy",
        frozenset({codes.GAP.code}),
        (f"{in_bytes(gone)} of members that were replaced or deleted: only {earlier} listed them.",) if gone else (),
        content=written(archive.source, extents),
        lossless="" if gone else lossless,
        outcomes=outcomes(archive, range(len(members)), _WHY, _WHY),
    )
    message = (
        f"{count(number, 'member')} {verb(number, 'was', 'were')} appended behind {earlier}, {kept}. Nothing was "
        "overwritten, and every member of the last index is read. A copy by repair --to leaves out what no "
        "member needs."
    )
    return FoundCause(Cause.APPENDED, message, tuple(gaps), found, (repair,))


def _filling(index: object, stop: int) -> Iterator[tuple[set[str], tuple[Extent, ...]]]:
    """In which ways the numbers of an index are read so that its members fill ``[0, stop)``, and the members.

    Raises one of ``_NOT_SO`` where it is no index.
    """
    files: Any = index.get("files") if isinstance(index, dict) else None
    numbers = [files[name][key] for key in ("start_byte", "end_byte") for name in files or ()]
    if not all(type(each) is int or (isinstance(each, str) and _NUMBER.fullmatch(each)) for each in numbers):
        return
    names, integers = [name.encode() for name in files or ()], list(map(int, numbers))
    starts, ends = integers[: len(names)], integers[len(names) :]
    as_strings = "has numbers as strings" if any(isinstance(each, str) for each in numbers) else ""
    for (what, end_of), lead in product(_ENDS, sorted({0, min(starts, default=0)})):
        extents = tuple(
            (name, start - lead, end_of(start, end) - lead)
            for name, start, end in zip(names, starts, ends, strict=True)
        )
        if extents and _fill((extent[1:] for extent in extents), stop):
            too_large = f"has every offset {in_bytes(lead)} too large" if lead else ""
            yield {what, as_strings, too_large} - {""}, extents


def _cause(archive: Archive, said: list[str], extents: tuple[Extent, ...]) -> FoundCause:
    members = len(extents)
    proof = f"its {count(members, 'member')} {verb(members, 'fills', 'fill')} the data without a gap"
    others = f" It also {' and '.join(said[1:])}." if said[1:] else ""
    claim = ""
    if any("perhaps" in each for each in said):
        claim = "The names are Latin-1. Nothing shows which encoding they have; the bytes of the members are the same."
    repair = Repair(
        CONVERT_CODE,
        f"Write the {count(members, 'member')} with an index as specified, in a copy",
        frozenset(each.code for each in archive.findings),
        claim=claim,
        content=written(archive.source, lambda: extents),
        lossless="" if claim else f"Read so, {proof}; their bytes are copied as they are.",
        outcomes=lambda: (Outcome(name, Fate.READABLE, _WHY) for name, _, _ in extents),
    )
    message = (
        f"The index {said[0]}: read so, {proof}.{others} Nothing is missing, but programs that follow the "
        "specification do not read it. Let repair write a copy, and correct the program that wrote it."
    )
    return FoundCause(Cause.OTHER_WRITER, message, (), tuple(wrong(archive)), (repair,))


_WHY = "all members fill the data without a gap; a CAF records no digest"


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
    newer=lambda archive: getattr(archive.detail, "newer", None),
    older=older,
)
