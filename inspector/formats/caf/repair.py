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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.member import LARGEST, UNREADABLE
from inspector.core.names import listed, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.span import Span
from inspector.formats._extents import Rows, lay_out
from inspector.formats.caf import codes
from inspector.formats.caf.locate import MAX_INDEX_BYTES, find_index, object_at
from inspector.formats.caf.reading import UNLISTED, Index, read_index
from inspector.formats.caf.salvage import MAX_NAMES, salvage, salvages_of_shifted
from inspector.formats.caf.scan import BYTE_ORDER_MARK, COLON, OBJECT_END, Malformed, Scanner, needless_bytes, not_utf8
from inspector.formats.caf.shift import first_archive_size
from inspector.formats.caf.write import Extent, entry, footer, in_json, index_pieces

_FOOTER, _NOT_STRICT, _MALFORMED = codes.FOOTER.code, codes.INDEX_NOT_STRICT_JSON.code, codes.INDEX_MALFORMED.code
_INCLUSIVE, _NO_VERSION = codes.END_BYTE_INCLUSIVE.code, codes.VERSION_MISSING.code
_OVERLAP, _GAP = codes.OVERLAP.code, codes.GAP.code

_LAYOUT_CODES = frozenset((_GAP, _OVERLAP, codes.ENTRY_OUT_OF_RANGE.code, _INCLUSIVE, codes.SHIFTED.code))
"""Findings that the index does not describe the data section before it."""
_RANGE_CODES = frozenset(
    (
        codes.ENTRY_DUPLICATE_KEY.code,
        codes.ENTRY_MISSING_KEY.code,
        codes.ENTRY_OUT_OF_RANGE.code,
        codes.ENTRY_REVERSED.code,
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
    edits = [each for each in _edits(context) if each is not None]
    errors = {each.code for each in archive.findings if each.severity is Severity.ERROR}
    if errors & {codes.TWO_ARCHIVES.code, codes.OVERWRITTEN.code}:
        return edits  # a salvage would copy the wrong bytes
    if errors and not any(errors <= each.fixes and not each.loses and not each.claim for each in edits):
        last = salvage(archive, {index.heads[entry] for entry in context.broken()})
        edits += [last] if last is not None else []
    return [*edits, *salvages_of_shifted(archive, index.span)]


class RepairContext(Struct, frozen=True):
    """An archive, its finding codes, and its index, read again because the archive keeps the members only."""

    archive: Archive
    codes: frozenset[str]
    index: Index

    @property
    def fixed(self) -> frozenset[str]:
        """The findings that any new end of the file with an index and a footer answers."""
        return self.codes & {_FOOTER, _MALFORMED}

    @property
    def unwritten(self) -> tuple[str, ...]:
        """What a new index of the same entries loses."""
        sentence = "Anything in the index besides names and numbers; its version becomes 1.0."
        return (sentence,) if self.codes & _UNWRITTEN_CODES else ()

    def malformed(self) -> list[int]:
        """The offsets where the index could not be parsed."""
        return [each.spans[0].start for each in self.index.problems if each.what.code == _MALFORMED]

    def broken(self) -> set[int]:
        """The incomplete entries: unreadable ones, and those that never end."""
        index = self.index
        found = {entry for entry, mark in enumerate(index.marks) if mark & UNREADABLE}
        hit = {bisect_right(index.heads, at) - 1 for at in self.malformed()}
        found.update(entry for entry in hit if entry >= 0 and self.end_of(entry) is None)
        return found

    def end_of(self, entry: int) -> int | None:
        """The end of an entry, after its closing brace; None if it never ends."""
        index = self.index
        start = index.heads[entry]
        stop = index.heads[entry + 1] if entry + 1 < len(index) else index.span.stop
        scanner = Scanner(self.archive.source.read(start, stop - start))
        try:
            scanner.string()
            scanner.expect(COLON, "after a key")
            scanner.value()
        except Malformed:
            return None
        return start + scanner.at if scanner.data[scanner.at - 1] == OBJECT_END else None

    def rows(self, which: Collection[int], ranges: Mapping[int, Span] = MappingProxyType({})) -> Rows:
        """The data section laid out with some of the entries, of which ``ranges`` are new."""
        index = self.index
        starts = array("Q", (ranges[each].start if each in ranges else index.starts[each] for each in which))
        stops = array("Q", (ranges[each].stop if each in ranges else index.stops[each] for each in which))
        return lay_out(starts, stops, 0, index.span.start)

    def named(self, entries: Iterable[int]) -> str:
        """Some names of entries."""
        names = [self.index.path(each) for each in sorted(entries)]
        return listed(names, len(names), MAX_NAMES)

    def replaced(
        self,
        code: str,
        start: int,
        new: bytes,
        title: str,
        fixes: frozenset[str],
        *,
        loses: tuple[str, ...] = (),
        claim: str = "",
        lossless: str = "",
    ) -> Repair:
        """The repair that replaces everything from ``start`` on by ``new``; ``lossless`` is why it loses nothing."""
        old = self.archive.source.read(start, min(len(new), self.archive.source.size - start))
        patches = () if old == new else (Patch(start, old, new),)
        edit = Edit(title, patches, self.archive.source.size, start + len(new))
        return Repair(code, title, fixes, loses, claim, edit, lossless="" if loses else lossless)

    def new_index(self, entries: Iterable[Extent]) -> bytes:
        """An index of these entries in the form of the published writer, with its footer."""
        return b"".join(index_pieces(sorted(entries)))


def _edits(context: RepairContext) -> Iterator[Repair | None]:
    """The changes in place; of those with the same effect only the smallest."""
    if context.malformed():
        yield _cut_after_index(context) or _close(context) or _rewrite(context)
        return
    if _FOOTER in context.codes:
        yield _repair_footer(context)
    if _NOT_STRICT in context.codes:
        yield _make_strict(context) or _rewrite(context)
    if _FOOTER in context.codes:
        return
    # What rests on an assumption.
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


def _repair_footer(context: RepairContext) -> Repair:
    """Set the footer to the size of an index that was found and parsed to its end."""
    span = context.index.span
    right = footer(span.size)
    extra = max(0, context.archive.source.size - span.stop - len(right))
    title = f"Set the footer to {grouped(span.size)}, the size of the index at byte {grouped(span.start)}"
    if extra and context.archive.source.read(span.stop, len(right)) == right:
        title = f"Cut off the {in_bytes(extra)} after the footer"
    claim = ""
    if context.codes & _LAYOUT_CODES:
        claim = (
            f"The index at byte {grouped(span.start)} is the index of this archive. Its members do not fill the "
            "data before it exactly, so this is not proved."
        )
    belong = verb(extra, "belongs", "belong")
    return context.replaced(
        "caf-mend-footer",
        span.stop,
        right,
        title,
        frozenset((_FOOTER,)),
        loses=(f"The {in_bytes(extra)} after the footer, which {belong} to no part of the archive.",) if extra else (),
        claim=claim,
        lossless="" if claim else "Only the footer is written, which holds nothing but the size of the index.",
    )


def _make_strict(context: RepairContext) -> Repair | None:
    """Replace trailing commas and a byte order mark by spaces, if nothing else is not strict; no other byte moves."""
    span = context.index.span
    data = context.archive.source.read(span.start, span.size)
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
    edit = Edit(title, patches, context.archive.source.size, context.archive.source.size)
    why = "Only trailing commas and a byte order mark are removed, and the index means the same without them."
    return Repair("caf-strict-json", title, frozenset((_NOT_STRICT,)), edit=edit, lossless=why)


def _cut_after_index(context: RepairContext) -> Repair | None:
    """Cut off bytes between the end of the index and the footer."""
    where, span, source = context.malformed(), context.index.span, context.archive.source
    has_mark = source.read(span.start, len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK
    found = object_at(source, span.start + len(BYTE_ORDER_MARK) * has_mark) if len(where) == 1 else None
    if found is None or not found.complete or found.span.stop > where[0]:
        return None
    stop = found.span.stop
    title = f"Cut off everything after the end of the index at byte {grouped(stop)}, and write the footer there"
    loses = (f"The {in_bytes(span.stop - stop)} between the end of the index and the footer.",)
    return context.replaced("caf-cut-behind-index", stop, footer(stop - span.start), title, context.fixed, loses=loses)


def _close(context: RepairContext) -> Repair | None:
    """Close an index that cannot be parsed to its end after its last complete entry."""
    index = context.index
    ends = ((entry, context.end_of(entry)) for entry in range(len(index) - 1, -1, -1))
    last, stop = next(((entry, end) for entry, end in ends if end is not None), (-1, 0))
    files = next((at for at, part in enumerate(index.parts) if part.key == b"files"), None)
    if len(context.malformed()) != 1 or index.unparsed is None or last < 0 or files is None:
        return None
    kept = range(last + 1)
    closing = b"".join(b"," + entry(*each) for each in _unlisted(context, kept)) + b"}"
    versions = [at for at, part in enumerate(index.parts) if part.key == b"format_version"]
    if not versions or versions[0] > files:  # it does not precede the entries
        version = index.parts[versions[0]].span if versions else Span(0, 0)
        closing += b',"format_version":' + (context.archive.source.read(version.start, version.size) or b'"1.0"')
    closing += b"}"
    title = f"Close the index at byte {grouped(stop)}, after the last of {count(last + 1, 'entry', 'entries')}"
    return context.replaced(
        "caf-close-index",
        stop,
        closing + footer(stop - index.span.start + len(closing)),
        title,
        context.fixed,
        loses=(*_overwritten(context, stop), *_lost(context, kept)),
        lossless="Every entry stays.",
    )


def _overwritten(context: RepairContext, start: int) -> tuple[str, ...]:
    """The bytes of the index from ``start`` on as a loss, unless they are only what an index ends with."""
    size = context.index.span.stop - start
    shown = context.archive.source.read(start, min(_MAX_SHOWN_BYTES, size))
    if size <= _MAX_SHOWN_BYTES and not shown.strip(_CLOSING):
        return ()
    dots = " ..." if size > _MAX_SHOWN_BYTES else ""
    place = f"The {in_bytes(size)} of the index from byte {grouped(start)} on"
    return (f"{place}, which are not readable entries: {visible(shown)}{dots}",)


def _unlisted(context: RepairContext, kept: Iterable[int]) -> list[Extent]:
    """An entry for the bytes behind the entries ``kept``, if those that claimed them are lost."""
    index = context.index
    end, stop = max((index.stops[each] for each in kept), default=0), index.span.start
    return [(UNLISTED % (end, stop), end, stop)] if end < stop and context.malformed() else []


def _rewrite(context: RepairContext) -> Repair | None:
    """Write a new index of the complete entries, in the form of the published writer."""
    index, broken, malformed = context.index, context.broken(), bool(context.malformed())
    kept = [entry for entry in range(len(index)) if entry not in broken]
    strict = all(in_json(index.path(entry)) == index.path(entry) for entry in kept)
    # Every reader can parse an index that is not malformed: it tells more about a broken entry than a new one would.
    if not kept or not (malformed or (strict and not broken)):
        return None
    start, unlisted = index.span.start, _unlisted(context, kept)
    size = sum(stop - at for _, at, stop in unlisted)
    claim = (
        f"The {in_bytes(size)} before the index belong to entries that it has lost. If they were inserted instead, "
        "members are read from wrong places, and nothing shows that afterwards."
    )
    loses = (*(_lost(context, kept) if malformed else ()), *context.unwritten)
    title = f"Rewrite the index at byte {grouped(start)} with its {count(len(kept), 'entry', 'entries')}"
    new = context.new_index([*((index.path(each), index.starts[each], index.stops[each]) for each in kept), *unlisted])
    fixes = context.fixed | {_NOT_STRICT} if strict else context.fixed
    claim = claim if unlisted and not broken else ""
    lossless = "Every entry of the index is written again."
    return context.replaced("caf-rewrite-index", start, new, title, fixes, loses=loses, claim=claim, lossless=lossless)


def _lost(context: RepairContext, kept: Iterable[int]) -> tuple[str, ...]:
    """What an index with only the entries ``kept`` loses."""
    kept = set(kept)
    dropped = [entry for entry in range(len(context.index)) if entry not in kept]
    rows = context.rows(kept)
    free = sum(rows.row_stop(row) - rows.starts[row] for row in rows.gaps)
    losses = []
    if dropped:
        what = f"{count(len(dropped), 'entry', 'entries')} that cannot be read completely"
        losses.append(f"{what}: {context.named(dropped)}.")
    if free:
        losses.append(
            f"The names in the unreadable part of the index: {in_bytes(free)} of data {verb(free, 'stays', 'stay')} in "
            "place; those after the last entry are listed as one member in lost+found."
        )
    return tuple(losses)


# ---- what rests on an assumption -------------------------------------------------------------------------------------


def _set_ranges(context: RepairContext) -> Iterator[Repair]:
    """Give each broken entry the gap between the other members that its good number touches.

    Only if with these gaps the members fill the data section exactly.
    """
    index = context.index
    broken = context.broken()
    broken |= {each.entry for each in index.problems if each.what.code in _RANGE_CODES and each.entry is not None}
    broken |= {each for each in range(len(index)) if not index.starts[each] <= index.stops[each] <= index.span.start}
    rows = context.rows([each for each in range(len(index)) if each not in broken])
    gaps = [Span(rows.starts[row], rows.row_stop(row)) for row in rows.gaps]
    if not 0 < len(broken) <= _MAX_INFERRED_RANGES or rows.overlap_count or len(gaps) != len(broken):
        return
    ranges: dict[int, Span] = {}
    for each in broken:
        # In an unreadable entry a missing start is LARGEST and a missing stop equals the start.
        numbers = {index.starts[each], index.stops[each]} - {LARGEST}
        touched = [gap for gap in gaps if numbers & set(gap)]
        if len(touched) == 1:
            ranges[each] = touched[0]
    if len(set(ranges.values())) != len(gaps):
        return
    first = min(ranges)
    start, stop = ranges[first]
    more = f", and likewise for {count(len(ranges) - 1, 'more member')}" if len(ranges) > 1 else ""
    title = f"Set {verb(len(ranges), 'the range', 'the ranges')} of {context.named(ranges)} to what the others leave"
    claim = (
        "Members follow one another without gaps, as the specification says: then "
        f"'{visible(index.path(first))}' is bytes {grouped(start)} to {grouped(stop)}{more}."
    )
    yield from _with_ranges(context, ranges, "caf-set-ranges", title, claim)


def _separate_overlaps(context: RepairContext) -> Iterator[Repair]:
    """Separate overlapping members: either the earlier one ends too late, or the later one begins too early."""
    index, every = context.index, range(len(context.index))
    overlaps = context.rows(every).overlaps
    ends = {each.earlier: Span(index.starts[each.earlier], index.starts[each.later]) for each in overlaps}
    begins = {each.later: Span(index.stops[each.earlier], index.stops[each.later]) for each in overlaps}
    for code, ranges, word, where in (
        ("caf-end-earlier", ends, "End", "where the next member begins"),
        ("caf-begin-later", begins, "Begin", "where the member before it ends"),
    ):
        if not len(ranges) == len(overlaps) <= _MAX_INFERRED_RANGES or any(each.size <= 0 for each in ranges.values()):
            continue
        rows = context.rows(every, ranges)
        if rows.overlap_count or len(rows.gaps):
            continue  # so the members do not fill the data section either
        names = context.named(ranges)
        claim = (
            f"{names} {verb(len(ranges), word.lower() + 's', word.lower())} {where}: one of two numbers is wrong, and "
            "the archive does not say which."
        )
        yield from _with_ranges(context, ranges, code, f"{word} {names} {where}", claim)


def _with_ranges(
    context: RepairContext, ranges: Mapping[int, Span], code: str, title: str, claim: str
) -> Iterator[Repair]:
    """Rewrite the entries with these ranges; the others stay as they are."""
    span, positions = context.index.span, context.index.heads
    data = bytearray(context.archive.source.read(span.start, span.size))
    for position in sorted(ranges, reverse=True):
        if (end := context.end_of(position)) is None:
            return
        new = entry(context.index.path(position), *ranges[position])
        data[positions[position] - span.start : end - span.start] = new
    first = positions[min(ranges)]
    fixes = context.codes & (_RANGE_CODES | {_GAP, _OVERLAP})
    new = bytes(data[first - span.start :]) + footer(len(data))
    yield context.replaced(code, first, new, title, fixes, claim=claim)


def _shift_ends(context: RepairContext) -> Repair:
    index, members = context.index, context.archive.members
    short = sum(members.stops) - sum(index.stops)
    new = context.new_index(
        (members.path(each), members.starts[each], members.stops[each]) for each in range(len(members))
    )
    every = "every end_byte" if short == len(index) else f"the end_byte of {count(short, 'member')}"
    title = f"Rewrite the index at byte {grouped(index.span.start)} with {every} one larger"
    claim = (
        "The writer took end_byte as inclusive, so the byte after each member is its last: members become "
        "one byte longer."
    )
    fixes = frozenset((_INCLUSIVE,))
    return context.replaced("caf-shift-ends", index.span.start, new, title, fixes, loses=context.unwritten, claim=claim)


def _move_ranges(context: RepairContext) -> Repair:
    index, every = context.index, range(len(context.index))
    size = first_archive_size(context.archive.source, context.rows(every))
    new = context.new_index((index.path(each), index.starts[each] + size, index.stops[each] + size) for each in every)
    title = f"Rewrite the index at byte {grouped(index.span.start)} with every number {grouped(size)} larger"
    claim = (
        f"The first {in_bytes(size)} of the file are an archive of their own, and the index counts from its end. "
        "They stay in place and belong to no member."
    )
    fixes = frozenset((codes.TWO_ARCHIVES.code,))
    return context.replaced(
        "caf-move-ranges", index.span.start, new, title, fixes, loses=context.unwritten, claim=claim
    )


def _add_version(context: RepairContext) -> Repair:
    span = context.index.span
    data = context.archive.source.read(span.start, span.size)
    brace = data.index(b"{") + 1
    key = b'"format_version":"1.0"' + (b"" if data[brace:].lstrip(b" \t\r\n").startswith(b"}") else b",")
    title = f'Write "format_version":"1.0" into the index at byte {grouped(span.start + brace)}'
    claim = "The archive follows version 1.0 of the specification, the only version; it does not say so."
    new = key + data[brace:] + footer(len(data) + len(key))
    return context.replaced("caf-add-version", span.start + brace, new, title, frozenset((_NO_VERSION,)), claim=claim)
