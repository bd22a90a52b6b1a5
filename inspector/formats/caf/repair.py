"""Repair a Chunk Archive: its footer, its index or, if that is not enough, a salvage of the whole members.

CAF.md, "File Structure". The data section is never changed. The format records no checksums, so a repair keeps the
bytes at the place the index gives, whether or not they are right.

Some repairs of an index rest not on this archive's bytes but on what the specification says of every archive: section 1
("Files are concatenated directly without padding or separators") and section 2 (``end_byte`` is exclusive, and there is
a ``format_version``). Each states that assumption and needs confirming.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.member import LARGEST, UNREADABLE
from inspector.core.names import listed, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._extents import lay_out
from inspector.formats.caf import codes
from inspector.formats.caf.decode import read_index
from inspector.formats.caf.index import UNLISTED, Index
from inspector.formats.caf.locate import MAX_INDEX_BYTES, find_index, object_at
from inspector.formats.caf.salvage import salvage, salvages_of_shifted
from inspector.formats.caf.scan import BYTE_ORDER_MARK, COLON, OBJECT_END, Malformed, Scanner, needless_bytes, not_utf8
from inspector.formats.caf.shift import first_archive_size
from inspector.formats.caf.write import entry, footer, in_json, index_pieces

_FOOTER, _NOT_STRICT, _MALFORMED = codes.FOOTER.code, codes.INDEX_NOT_STRICT_JSON.code, codes.INDEX_MALFORMED.code
_INCLUSIVE, _NO_VERSION, _REVERSED = (
    codes.END_BYTE_INCLUSIVE.code,
    codes.VERSION_MISSING.code,
    codes.ENTRY_REVERSED.code,
)
_OVERLAP, _GAP = codes.OVERLAP.code, codes.GAP.code

_LAYOUT_CODES = frozenset((_GAP, _OVERLAP, codes.ENTRY_OUT_OF_RANGE.code, _INCLUSIVE, codes.SHIFTED.code))
"""Findings that the index does not describe the data section before it."""
_RANGE_CODES = frozenset(
    (
        codes.ENTRY_DUPLICATE_KEY.code,
        codes.ENTRY_MISSING_KEY.code,
        codes.ENTRY_OUT_OF_RANGE.code,
        _REVERSED,
        codes.ENTRY_WRONG_TYPE.code,
        codes.NUMBER_NEGATIVE.code,
        codes.NUMBER_NOT_INTEGER.code,
        codes.NUMBER_OUT_OF_RANGE.code,
    )
)
_UNWRITTEN_CODES = frozenset((codes.VERSION_UNKNOWN.code, codes.INDEX_EXTRA_KEY.code, codes.ENTRY_EXTRA_KEY.code))
"""Findings on parts of an index that a new index does not have."""
_MAX_INFERRED_RANGES = 100
"""Entries whose ranges are inferred; with more of them wrong, little is certain."""
MAX_NAMES = 5
"""Names listed in one sentence; the rest are counted."""
_MAX_SHOWN_BYTES = 120
"""Bytes of an index shown in one sentence."""
_CLOSING = b" \t\r\n,}"


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs: edits first, a salvage last."""
    found = frozenset(each.code for each in archive.findings if each.severity is not Severity.INFO)
    if not found or codes.TOO_MANY_MEMBERS.code in found:
        return ()
    place = find_index(archive.source)
    if place.index is None or place.index.size > MAX_INDEX_BYTES:
        return ()
    index = read_index(archive.source, place.index, progress)
    context = RepairContext(archive, found, index)
    edits = list(_edits(context))
    errors = {each.code for each in archive.findings if each.severity is Severity.ERROR}
    if errors & {codes.TWO_ARCHIVES.code, codes.OVERWRITTEN.code}:
        return edits  # a salvage would copy the wrong bytes
    if errors and not any(errors <= each.fixes and not each.loses and not each.claim for each in edits):
        last = salvage(archive, {index.positions[entry] for entry in context.broken()})
        edits += [last] if last is not None else []
    return [*edits, *salvages_of_shifted(archive, index.span)]


class RepairContext(Struct, frozen=True):
    """An archive, its finding codes, and its index, read again because the archive keeps the members only."""

    archive: Archive
    codes: frozenset[str]
    index: Index

    @property
    def source(self) -> Source:
        """The archive's bytes."""
        return self.archive.source

    @property
    def unwritten(self) -> tuple[str, ...]:
        """What a new index of the same entries loses."""
        return (
            ("Anything in the index besides names and numbers; its version becomes 1.0.",)
            if self.codes & _UNWRITTEN_CODES
            else ()
        )

    def malformed(self) -> list[int]:
        """The offsets where the index could not be parsed."""
        return [each.spans[0].start for each in self.index.problems if each.what.code == _MALFORMED]

    def broken(self) -> set[int]:
        """The incomplete entries: unreadable ones, and those that never end."""
        index = self.index
        found = {entry for entry, mark in enumerate(index.marks) if mark & UNREADABLE}
        hit = {bisect_right(index.positions, at) - 1 for at in self.malformed()}
        found.update(entry for entry in hit if entry >= 0 and self.end_of(entry) is None)
        return found

    def end_of(self, entry: int) -> int | None:
        """The end of an entry, after its closing brace; None if it never ends."""
        index = self.index
        start = index.positions[entry]
        stop = index.positions[entry + 1] if entry + 1 < len(index) else index.span.stop
        scanner = Scanner(self.source.read(start, stop - start))
        try:
            scanner.string()
            scanner.expect(COLON, "after a key")
            scanner.value()
        except Malformed:
            return None
        return start + scanner.at if scanner.data[scanner.at - 1] == OBJECT_END else None


def _edits(context: RepairContext) -> Iterator[Repair]:
    """The changes in place; of those with the same effect only the smallest."""
    if context.malformed():
        repaired = _cut_after_index(context) or _close(context) or _rewrite(context)
        yield from [repaired] if repaired is not None else []
        return
    if _FOOTER in context.codes:
        yield _repair_footer(context)
    if _NOT_STRICT in context.codes:
        strict = _make_strict(context) or _rewrite(context)
        yield from [strict] if strict is not None else []
    if _FOOTER not in context.codes:
        yield from assumption_repairs(context)


def _repair_footer(context: RepairContext) -> Repair:
    """Set the footer to the size of an index that was found and parsed to its end."""
    span = context.index.span
    right = footer(span.size)
    extra = max(0, context.source.size - span.stop - len(right))
    should = f"{grouped(span.size)}, the size of the index at byte {grouped(span.start)}"
    title = f"Set the footer to {should}"
    if extra and context.source.read(span.stop, len(right)) == right:
        title = f"Cut off the {in_bytes(extra)} after the footer"
    claim = ""
    if context.codes & _LAYOUT_CODES:
        claim = (
            f"The index at byte {grouped(span.start)} is the index of this archive. Its members do not fill the "
            "data before it exactly, so this is not proved."
        )
    belong = verb(extra, "belongs", "belong")
    loses = (f"The {in_bytes(extra)} after the footer, which {belong} to no part of the archive.",) if extra else ()
    edit = replace_tail(context.source, span.stop, right, title)
    lossless = "" if loses or claim else "Only the footer is written, which holds nothing but the size of the index."
    return Repair("caf-mend-footer", title, frozenset((_FOOTER,)), loses, claim, edit, lossless=lossless)


def _make_strict(context: RepairContext) -> Repair | None:
    """Replace trailing commas and a byte order mark by spaces, if nothing else is not strict; no other byte moves."""
    span = context.index.span
    data = context.source.read(span.start, span.size)
    places = needless_bytes(data)
    strict = bytearray(data)
    for at in places:
        strict[at] = ord(" ")
    scanner = Scanner(bytes(strict))
    scanner.value()
    if scanner.deviations or next(not_utf8(data), None) is not None:
        return None
    what = count(len(places), "byte")
    title = f"Overwrite {what} that strict JSON does not allow with spaces, in the index at byte {grouped(span.start)}"
    patches = tuple(Patch(span.start + at, data[at : at + 1], b" ") for at in places)
    edit = Edit(title, patches, context.source.size, context.source.size)
    why = "Only trailing commas and a byte order mark are removed, and the index means the same without them."
    return Repair("caf-strict-json", title, frozenset((_NOT_STRICT,)), edit=edit, lossless=why)


def _cut_after_index(context: RepairContext) -> Repair | None:
    """Cut off bytes between the end of the index and the footer."""
    where = context.malformed()
    span = context.index.span
    start = span.start + (
        len(BYTE_ORDER_MARK) if context.source.read(span.start, len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK else 0
    )
    found = object_at(context.source, start) if len(where) == 1 else None
    if found is None or not found.complete or found.span.stop > where[0]:
        return None
    stop = found.span.stop
    title = f"Cut off everything after the end of the index at byte {grouped(stop)}, and write the footer there"
    loses = (f"The {in_bytes(span.stop - stop)} between the end of the index and the footer.",)
    edit = replace_tail(context.source, stop, footer(stop - span.start), title)
    return Repair("caf-cut-behind-index", title, _fixed_codes(context), loses, edit=edit)


def _close(context: RepairContext) -> Repair | None:
    """Close an index that cannot be parsed to its end after its last complete entry."""
    if len(context.malformed()) != 1 or context.index.unread is None:
        return None
    last = next((entry for entry in range(len(context.index) - 1, -1, -1) if context.end_of(entry) is not None), None)
    files = next((at for at, part in enumerate(context.index.parts) if part.key == b"files"), None)
    if last is None or files is None:
        return None
    stop = context.end_of(last)
    assert stop is not None
    start = context.index.span.start
    unlisted = b"".join(b"," + entry(*each) for each in _unlisted(context, range(last + 1)))
    closing = unlisted + b"}" + _version_to_append(context, files) + b"}"
    title = f"Close the index at byte {grouped(stop)}, after the last of {count(last + 1, 'entry', 'entries')}"
    edit = replace_tail(context.source, stop, closing + footer(stop - start + len(closing)), title)
    loses = (*_overwritten(context, stop), *_lost(context, range(last + 1)))
    lossless = "" if loses else "Every entry stays."
    return Repair("caf-close-index", title, _fixed_codes(context), loses, edit=edit, lossless=lossless)


def _overwritten(context: RepairContext, start: int) -> tuple[str, ...]:
    """The bytes of the index from ``start`` on as a loss, unless they are only what an index ends with."""
    stop = context.index.span.stop
    shown = context.source.read(start, min(_MAX_SHOWN_BYTES, stop - start))
    if stop - start <= _MAX_SHOWN_BYTES and not shown.strip(_CLOSING):
        return ()
    dots = " ..." if stop - start > _MAX_SHOWN_BYTES else ""
    place = f"The {in_bytes(stop - start)} of the index from byte {grouped(start)} on"
    return (f"{place}, which are not readable entries: {visible(shown)}{dots}",)


def _version_to_append(context: RepairContext, files: int) -> bytes:
    """The key ``format_version``, if it does not precede the entries."""
    texts = [
        context.source.read(*_extent(part.span))
        for part in context.index.parts[files:]
        if part.key == b"format_version"
    ]
    if any(part.key == b"format_version" for part in context.index.parts[:files]):
        return b""
    return b',"format_version":' + (texts[0] if texts and texts[0] else b'"1.0"')


def _unlisted(context: RepairContext, kept: Iterable[int]) -> Sequence[tuple[bytes, int, int]]:
    """An entry (name, start, stop) for the bytes behind the entries ``kept``, if those that claimed them are lost."""
    index = context.index
    end, stop = max((index.stops[each] for each in kept), default=0), index.span.start
    return [(UNLISTED % (end, stop), end, stop)] if end < stop and context.malformed() else []


def _extent(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] - span[0]


def _rewrite(context: RepairContext) -> Repair | None:
    """Write a new index of the complete entries, in the form of the published writer."""
    index, broken = context.index, context.broken()
    kept = [entry for entry in range(len(index)) if entry not in broken]
    if not kept or (broken and not context.malformed()):
        return None  # every reader can parse the index, which tells more about a broken entry than a new one would
    fixes = _fixed_codes(context)
    if all(in_json(index.name(entry)) == index.name(entry) for entry in kept):
        fixes |= {_NOT_STRICT}
    elif not context.malformed():
        return None
    entries = ((index.name(entry), index.starts[entry], index.stops[entry]) for entry in sorted(kept, key=index.name))
    start = index.span.start
    title = f"Rewrite the index at byte {grouped(start)} with its {count(len(kept), 'entry', 'entries')}"
    unlisted = _unlisted(context, kept)
    pieces = index_pieces(sorted([*entries, *unlisted]))
    size = sum(stop - at for _, at, stop in unlisted)
    claim = (
        f"The {in_bytes(size)} before the index belong to entries that it has lost. If they were inserted instead, "
        "members are read from wrong places, and nothing shows that afterwards."
    )
    edit = replace_tail(context.source, start, b"".join(pieces), title)
    loses = (*(_lost(context, kept) if context.malformed() else ()), *context.unwritten)
    lossless = "" if loses else "Every entry of the index is written again."
    claim = claim if unlisted and not broken else ""
    return Repair("caf-rewrite-index", title, fixes, loses, claim, edit, lossless=lossless)


def _fixed_codes(context: RepairContext) -> frozenset[str]:
    return context.codes & {_FOOTER, _MALFORMED}


def _lost(context: RepairContext, kept: Iterable[int]) -> tuple[str, ...]:
    """What an index with only the entries ``kept`` loses."""
    index, kept = context.index, set(kept)
    dropped = [index.name(entry) for entry in range(len(index)) if entry not in kept]
    starts = array("Q", (index.starts[entry] for entry in kept))
    stops = array("Q", (index.stops[entry] for entry in kept))
    rows = lay_out(starts, stops, 0, index.span.start)
    free = sum(rows.row_stop(row) - rows.starts[row] for row in rows.gaps)
    losses = []
    if dropped:
        names = listed(dropped, len(dropped), MAX_NAMES)
        losses.append(f"{count(len(dropped), 'entry', 'entries')} that cannot be read completely: {names}.")
    if free:
        losses.append(
            f"The names in the unreadable part of the index: {in_bytes(free)} of data {verb(free, 'stays', 'stay')} in "
            "place; those after the last entry are listed as one member in lost+found."
        )
    return tuple(losses)


def assumption_repairs(context: RepairContext) -> Iterator[Repair]:
    """The repairs of an index that rest on an assumption."""
    if context.codes & _RANGE_CODES:
        yield from _set_ranges(context)
    elif _OVERLAP in context.codes:
        yield from _separate_overlaps(context)
    if codes.TWO_ARCHIVES.code in context.codes and not context.broken():
        yield _move_ranges(context)
    elif _INCLUSIVE in context.codes and not context.broken():
        yield _shift_ends(context)
    if _NO_VERSION in context.codes:
        yield _add_version(context)


def _set_ranges(context: RepairContext) -> Iterator[Repair]:
    """Give each broken entry the gap between the other members that its good number touches."""
    ranges = _inferred_ranges(context)
    if not ranges:
        return
    start, stop = ranges[min(ranges)]
    title = f"Set {verb(len(ranges), 'the range', 'the ranges')} of {_listed(context, ranges)} to what the others leave"
    claim = (
        "Members follow one another without gaps, as the specification says: then "
        f"'{visible(context.index.name(min(ranges)))}' is bytes {grouped(start)} to {grouped(stop)}"
        + (f", and likewise for {count(len(ranges) - 1, 'more member')}." if len(ranges) > 1 else ".")
    )
    yield from _with_ranges(context, ranges, "caf-set-ranges", title, claim)


def _separate_overlaps(context: RepairContext) -> Iterator[Repair]:
    """Separate overlapping members: either the earlier one ends too late, or the later one begins too early."""
    index = context.index
    overlaps = lay_out(index.starts, index.stops, 0, index.span.start).overlaps
    ends = {each.earlier: Span(index.starts[each.earlier], index.starts[each.later]) for each in overlaps}
    begins = {each.later: Span(index.stops[each.earlier], index.stops[each.later]) for each in overlaps}
    why = "one of two numbers is wrong, and the archive does not say which."
    for code, ranges, word, where in (
        ("caf-end-earlier", ends, "End", "where the next member begins"),
        ("caf-begin-later", begins, "Begin", "where the member before it ends"),
    ):
        if len(ranges) == len(overlaps) <= _MAX_INFERRED_RANGES and _fill(index, ranges):
            title = f"{word} {_listed(context, ranges)} {where}"
            claim = f"{_listed(context, ranges)} {verb(len(ranges), word.lower() + 's', word.lower())} {where}: {why}"
            yield from _with_ranges(context, ranges, code, title, claim)


def _fill(index: Index, ranges: Mapping[int, Span]) -> bool:
    """Whether the members with these new ranges fill the data section exactly, and no new range is empty."""
    starts, stops = array("Q", index.starts), array("Q", index.stops)
    for position, (start, stop) in ranges.items():
        if start >= stop:
            return False
        starts[position], stops[position] = start, stop
    rows = lay_out(starts, stops, 0, index.span.start)
    return not rows.overlap_count and not len(rows.gaps)


def _with_ranges(
    context: RepairContext, ranges: Mapping[int, Span], code: str, title: str, claim: str
) -> Iterator[Repair]:
    """Rewrite the entries with these ranges; the others stay as they are."""
    span = context.index.span
    data = bytearray(context.source.read(span.start, span.size))
    for position in sorted(ranges, reverse=True):
        end = context.end_of(position)
        if end is None:
            return
        start = context.index.positions[position]
        data[start - span.start : end - span.start] = entry(context.index.name(position), *ranges[position])
    first = context.index.positions[min(ranges)]
    edit = replace_tail(context.source, first, bytes(data[first - span.start :]) + footer(len(data)), title)
    yield Repair(code, title, context.codes & (_RANGE_CODES | {_GAP, _OVERLAP}), (), claim, edit)


def _listed(context: RepairContext, ranges: Mapping[int, Span]) -> str:
    return listed(map(context.index.name, sorted(ranges)), len(ranges), MAX_NAMES)


def _inferred_ranges(context: RepairContext) -> Mapping[int, Span]:
    """The ranges of all broken entries; empty unless with them the members fill the data section exactly."""
    index = context.index
    broken = _entries_without_range(context)
    if not 0 < len(broken) <= _MAX_INFERRED_RANGES:
        return {}
    others = [each for each in range(len(index)) if each not in broken]
    starts = array("Q", (index.starts[each] for each in others))
    stops = array("Q", (index.stops[each] for each in others))
    rows = lay_out(starts, stops, 0, index.span.start)
    gaps = [Span(rows.starts[row], rows.row_stop(row)) for row in rows.gaps]
    if rows.overlap_count or len(gaps) != len(broken):
        return {}
    found: dict[int, Span] = {}
    for each in broken:
        touched = [gap for gap in gaps if _touches(index, each, gap)]
        if len(touched) == 1:
            found[each] = touched[0]
    return found if len(set(found.values())) == len(gaps) else {}


def _entries_without_range(context: RepairContext) -> set[int]:
    index = context.index
    found = {each.entry for each in index.problems if each.what.code in _RANGE_CODES and each.entry is not None}
    outside = {each for each in range(len(index)) if not index.starts[each] <= index.stops[each] <= index.span.start}
    return found | outside | context.broken()


def _touches(index: Index, position: int, gap: Span) -> bool:
    """Whether a number of the entry, whichever of the two, is an end of the gap.

    In an unreadable entry a missing start is LARGEST and a missing stop equals the start.
    """
    numbers = {index.starts[position], index.stops[position]} - {LARGEST}
    return bool(numbers & set(gap))


def _shift_ends(context: RepairContext) -> Repair:
    index = context.index
    members = context.archive.members
    short = sum(members.stops) - sum(index.stops)
    entries = (
        (members.path(each), members.starts[each], members.stops[each])
        for each in sorted(range(len(members)), key=members.path)
    )
    every = "every end_byte" if short == len(index) else f"the end_byte of {count(short, 'member')}"
    title = f"Rewrite the index at byte {grouped(index.span.start)} with {every} one larger"
    claim = (
        "The writer took end_byte as inclusive, so the byte after each member is its last: members become "
        "one byte longer."
    )
    edit = replace_tail(context.source, index.span.start, b"".join(index_pieces(entries)), title)
    return Repair("caf-shift-ends", title, frozenset((_INCLUSIVE,)), context.unwritten, claim, edit)


def _move_ranges(context: RepairContext) -> Repair:
    index = context.index
    size = first_archive_size(context.source, lay_out(index.starts, index.stops, 0, index.span.start))
    entries = (
        (index.name(each), index.starts[each] + size, index.stops[each] + size)
        for each in sorted(range(len(index)), key=index.name)
    )
    title = f"Rewrite the index at byte {grouped(index.span.start)} with every number {grouped(size)} larger"
    claim = (
        f"The first {in_bytes(size)} of the file are an archive of their own, and the index counts from its end. "
        "They stay in place and belong to no member."
    )
    edit = replace_tail(context.source, index.span.start, b"".join(index_pieces(entries)), title)
    return Repair("caf-move-ranges", title, frozenset((codes.TWO_ARCHIVES.code,)), context.unwritten, claim, edit)


def _add_version(context: RepairContext) -> Repair:
    span = context.index.span
    data = context.source.read(span.start, span.size)
    brace = data.index(b"{") + 1
    key = b'"format_version":"1.0"' + (b"" if data[brace:].lstrip(b" \t\r\n").startswith(b"}") else b",")
    title = f'Write "format_version":"1.0" into the index at byte {grouped(span.start + brace)}'
    claim = "The archive follows version 1.0 of the specification, the only version; it does not say so."
    new = key + data[brace:] + footer(len(data) + len(key))
    edit = replace_tail(context.source, span.start + brace, new, title)
    return Repair("caf-add-version", title, frozenset((_NO_VERSION,)), (), claim, edit)


def replace_tail(source: Source, start: int, new: bytes, label: str) -> Edit:
    """The edit that replaces everything from ``start`` on by ``new``."""
    old = source.read(start, min(len(new), source.size - start))
    patches = () if old == new else (Patch(start, old, new),)
    return Edit(label, patches, source.size, start + len(new))
