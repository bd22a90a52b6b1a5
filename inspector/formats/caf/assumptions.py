"""Repairs of an index that rest on what the specification says of every archive, not on this one's bytes.

CAF.md, section 1 (File Data Section): "Files are concatenated directly without padding or separators"; section 2: an
``end_byte`` is exclusive, and there is a ``format_version``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

from inspector.core.member import LARGEST
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.repair import Repair
from inspector.core.span import Span
from inspector.formats._extents import lay_out
from inspector.formats.caf.concatenated import TWO_ARCHIVES, first_archive
from inspector.formats.caf.index import Index
from inspector.formats.caf.repair_context import Case, replace_tail
from inspector.formats.caf.write import entry, footer, index_pieces

INCLUSIVE, NO_VERSION = "caf-end-byte-inclusive", "caf-version-missing"
REVERSED = "caf-entry-reversed"

_OF_RANGES = frozenset(
    (
        "caf-entry-duplicate-key",
        "caf-entry-missing-key",
        "caf-entry-out-of-range",
        REVERSED,
        "caf-entry-wrong-type",
        "caf-number-negative",
        "caf-number-not-integer",
        "caf-number-out-of-range",
    )
)
_WITH_THEM = frozenset(("caf-gap", "caf-overlap"))
_MOST = 100
"""The most entries whose ranges are concluded: where more are wrong, little is sure."""
_NAMED = 5


def claimed(case: Case) -> Iterator[Repair]:
    """The repairs of an index that can be followed to its end; each waits for the user's word."""
    if case.codes & _OF_RANGES:
        yield from _set_ranges(case)
    elif "caf-overlap" in case.codes:
        yield from _part(case)
    if TWO_ARCHIVES in case.codes and not case.broken():
        yield _move_ranges(case)
    elif INCLUSIVE in case.codes and not case.broken():
        yield _shift_ends(case)
    if NO_VERSION in case.codes:
        yield _add_version(case)


def _set_ranges(case: Case) -> Iterator[Repair]:
    """Broken entries, each of which fits into the one gap between the others that its good number touches."""
    ranges = _concluded(case)
    if not ranges:
        return
    start, stop = ranges[min(ranges)]
    title = f"Set the {'range' if len(ranges) == 1 else 'ranges'} of {_listed(case, ranges)} to what the others leave"
    claim = (
        "That members stand one right behind the other, as the specification says: then "
        f"{visible(case.index.name(min(ranges)))!r} is what stands from byte {grouped(start)} to {grouped(stop)}"
        + (f", and so on for {count(len(ranges) - 1, 'more member')}." if len(ranges) > 1 else ".")
    )
    yield from _with_ranges(case, ranges, "caf-set-ranges", title, claim)


def _part(case: Case) -> Iterator[Repair]:
    """Members that overlap: either the earlier one ends too late, or the later one begins too early."""
    index = case.index
    overlaps = lay_out(index.starts, index.stops, 0, index.span.start).overlaps
    ends = {each.earlier: Span(index.starts[each.earlier], index.starts[each.later]) for each in overlaps}
    begins = {each.later: Span(index.stops[each.earlier], index.stops[each.later]) for each in overlaps}
    why = "only one of two numbers is wrong, and nothing tells which."
    for code, ranges, word, after in (
        ("caf-end-earlier", ends, "End", "where the next member begins"),
        ("caf-begin-later", begins, "Begin", "where the member before it ends"),
    ):
        if len(ranges) == len(overlaps) <= _MOST and _fill(index, ranges):
            title = f"{word} {_listed(case, ranges)} {after}"
            claim = f"That {_listed(case, ranges)} {word.lower()}s {after}: {why}"
            yield from _with_ranges(case, ranges, code, title, claim)


def _fill(index: Index, ranges: Mapping[int, Span]) -> bool:
    """Whether the members fill the data section exactly, and none of those with a new range is empty."""
    starts, stops = array("Q", index.starts), array("Q", index.stops)
    for position, (start, stop) in ranges.items():
        if start >= stop:
            return False
        starts[position], stops[position] = start, stop
    rows = lay_out(starts, stops, 0, index.span.start)
    return not rows.overlap_count and not len(rows.gaps)


def _with_ranges(case: Case, ranges: Mapping[int, Span], code: str, title: str, claim: str) -> Iterator[Repair]:
    """The entries written anew with these ranges, all others as they are."""
    span = case.index.span
    data = bytearray(case.source.read(span.start, span.size))
    for position in sorted(ranges, reverse=True):
        end = case.end_of(position)
        if end is None:
            return
        start = case.index.positions[position]
        data[start - span.start : end - span.start] = entry(case.index.name(position), *ranges[position])
    first = case.index.positions[min(ranges)]
    edit = replace_tail(case.source, first, bytes(data[first - span.start :]) + footer(len(data)), title)
    yield Repair(code, title, case.codes & (_OF_RANGES | _WITH_THEM), (), claim, edit)


def _listed(case: Case, ranges: Mapping[int, Span]) -> str:
    names = [f"{visible(case.index.name(each))!r}" for each in sorted(ranges)]
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def _concluded(case: Case) -> Mapping[int, Span]:
    """The ranges of all broken entries; empty unless they and the others then fill the data section exactly."""
    index = case.index
    broken = _broken(case)
    if not 0 < len(broken) <= _MOST:
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


def _broken(case: Case) -> set[int]:
    index = case.index
    found = {each.entry for each in index.problems if each.code in _OF_RANGES and each.entry is not None}
    outside = {each for each in range(len(index)) if not index.starts[each] <= index.stops[each] <= index.span.start}
    return found | outside | case.broken()


def _touches(index: Index, position: int, gap: Span) -> bool:
    """Whether a number of the entry, be it in the wrong place, is an end of the gap.

    Of an unreadable entry one number may be known: a missing start is the largest number there is, a missing stop the
    same as the start.
    """
    numbers = {index.starts[position], index.stops[position]} - {LARGEST}
    return bool(numbers & set(gap))


def _shift_ends(case: Case) -> Repair:
    index = case.index
    rows = lay_out(index.starts, index.stops, 0, index.span.start)
    backward = {each for each in range(len(index)) if index.starts[each] > index.stops[each]}
    empty = {each for each in backward if index.starts[each] == index.stops[each] + 1}
    short = {rows.owners[row - 1] for row in rows.gaps} | empty
    entries = (
        (index.name(each), index.starts[each], index.stops[each] + (each in short))
        for each in sorted(range(len(index)), key=index.name)
    )
    every = "every end_byte" if len(short) == len(index) else f"the end_byte of {count(len(short), 'member')}"
    title = f"Write the index at byte {grouped(index.span.start)} anew, with {every} one larger"
    claim = (
        "That the writer took end_byte as inclusive, so that the byte behind every member is its last one: members "
        "become one byte longer."
    )
    edit = replace_tail(case.source, index.span.start, b"".join(index_pieces(entries)), title)
    fixes = frozenset((INCLUSIVE, REVERSED) if backward == empty else (INCLUSIVE,)) & case.codes
    return Repair("caf-shift-ends", title, fixes, case.unwritten, claim, edit)


def _move_ranges(case: Case) -> Repair:
    index = case.index
    size = first_archive(case.source, lay_out(index.starts, index.stops, 0, index.span.start))
    entries = (
        (index.name(each), index.starts[each] + size, index.stops[each] + size)
        for each in sorted(range(len(index)), key=index.name)
    )
    title = f"Write the index at byte {grouped(index.span.start)} anew, with every number {grouped(size)} larger"
    claim = (
        f"That the first {in_bytes(size)} of the file are an archive of their own, and the index counts from behind "
        "it. They stay where they are, and belong to no member."
    )
    edit = replace_tail(case.source, index.span.start, b"".join(index_pieces(entries)), title)
    return Repair("caf-move-ranges", title, frozenset((TWO_ARCHIVES,)), case.unwritten, claim, edit)


def _add_version(case: Case) -> Repair:
    span = case.index.span
    data = case.source.read(span.start, span.size)
    brace = data.index(b"{") + 1
    key = b'"format_version":"1.0"' + (b"" if data[brace:].lstrip(b" \t\r\n").startswith(b"}") else b",")
    title = f'Write "format_version":"1.0" into the index at byte {grouped(span.start + brace)}'
    claim = "That the archive follows version 1.0 of the specification, the only one there is: it does not say so."
    new = key + data[brace:] + footer(len(data) + len(key))
    edit = replace_tail(case.source, span.start + brace, new, title)
    return Repair("caf-add-version", title, frozenset((NO_VERSION,)), (), claim, edit)
