"""Repairing a Chunk Archive: its footer, its index, and, where that is not enough, a new archive of what is whole.

CAF.md, "File Structure". The data section is never touched. The format records no checksums, so what is kept is what
lies where the index says; whether its bytes are right cannot be told.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats._extents import lay_out
from inspector.formats.caf.assumptions import claimed
from inspector.formats.caf.concatenated import TWO_ARCHIVES
from inspector.formats.caf.decode import read_index
from inspector.formats.caf.locate import find_index
from inspector.formats.caf.normalize import needless_bytes
from inspector.formats.caf.repair_context import MALFORMED, Case, replace_tail
from inspector.formats.caf.salvage import salvage
from inspector.formats.caf.scan import Scanner
from inspector.formats.caf.search import LARGEST_INDEX, object_at
from inspector.formats.caf.write import footer, index_pieces

FOOTER, LAX = "caf-footer", "caf-index-not-strict-json"

_LAYOUT = frozenset(("caf-gap", "caf-overlap", "caf-entry-out-of-range", "caf-end-byte-inclusive"))
"""Findings that say that the index does not describe the data section before it."""
_MARK = b"\xef\xbb\xbf"
_NAMED = 5
"""The most names in one sentence; the rest are counted."""
_SHOWN = 120
"""The most bytes of an index that a sentence shows."""
_CLOSING = b" \t\r\n,}"


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    codes = frozenset(each.code for each in archive.findings if each.severity is not Severity.INFO)
    if not codes or "caf-too-many-members" in codes:
        return ()
    place = find_index(archive.source)
    if place.index is None or place.index.size > LARGEST_INDEX:
        return ()
    index = read_index(archive.source, place.index, progress)
    case = Case(archive, codes, index)
    found = list(_edits(case))
    errors = {each.code for each in archive.findings if each.severity is Severity.ERROR}
    if TWO_ARCHIVES in errors:
        return found  # what a new archive would be made of are not the members' bytes
    if errors and not any(errors <= each.fixes and not each.loses and not each.claim for each in found):
        last = salvage(archive, {index.positions[entry] for entry in case.broken()})
        found += [last] if last is not None else []
    return found


def _edits(case: Case) -> Iterator[Repair]:
    """The changes in place, of those that do the same only the smallest."""
    if case.malformed():
        repaired = _cut_behind(case) or _close(case) or _rewrite(case)
        yield from [repaired] if repaired is not None else []
        return
    if FOOTER in case.codes:
        yield _repair_footer(case)
    if LAX in case.codes:
        strict = _make_strict(case) or _rewrite(case)
        yield from [strict] if strict is not None else []
    if FOOTER not in case.codes:
        yield from claimed(case)


def _repair_footer(case: Case) -> Repair:
    """The footer of an index that was found and can be followed to its end."""
    span = case.index.span
    right = footer(span.size)
    behind = max(0, case.source.size - span.stop - len(right))
    should = f"{grouped(span.size)}, the size of the index at byte {grouped(span.start)}"
    title = f"Set the footer to {should}"
    if behind and case.source.read(span.stop, len(right)) == right:
        title = f"Cut off the {in_bytes(behind)} behind the footer"
    claim = ""
    if case.codes & _LAYOUT:
        claim = (
            f"That the index found at byte {grouped(span.start)} is the one of this archive: its members do not fill "
            "the data before it exactly, so this is not proved."
        )
    belong = verb(behind, "belongs", "belong")
    loses = (f"The {in_bytes(behind)} behind the footer, which {belong} to no part of the archive.",) if behind else ()
    edit = replace_tail(case.source, span.stop, right, title)
    lossless = "" if loses or claim else "Only the footer is written, which says no more than the size of the index."
    return Repair("caf-mend-footer", title, frozenset((FOOTER,)), loses, claim, edit, lossless=lossless)


def _make_strict(case: Case) -> Repair | None:
    """Needless commas and a byte order mark become spaces, where that is all that is not strict: nothing else moves."""
    span = case.index.span
    data = case.source.read(span.start, span.size)
    places = needless_bytes(data)
    strict = bytearray(data)
    for at in places:
        strict[at] = ord(" ")
    scanner = Scanner(bytes(strict))
    scanner.value()
    if scanner.lax:
        return None
    what = count(len(places), "byte")
    title = f"Write spaces over {what} in the index at byte {grouped(span.start)} that strict JSON does not allow"
    patches = tuple(Patch(span.start + at, data[at : at + 1], b" ") for at in places)
    edit = Edit(title, patches, case.source.size, case.source.size)
    why = "Only needless commas and a byte order mark go, and the index says the same without them."
    return Repair("caf-strict-json", title, frozenset((LAX,)), edit=edit, lossless=why)


def _cut_behind(case: Case) -> Repair | None:
    """Bytes between the end of the index and the footer."""
    where = case.malformed()
    span = case.index.span
    start = span.start + (len(_MARK) if case.source.read(span.start, len(_MARK)) == _MARK else 0)
    found = object_at(case.source, start) if len(where) == 1 else None
    if found is None or not found.whole or found.span.stop > where[0]:
        return None
    stop = found.span.stop
    title = f"Cut off what stands behind the end of the index at byte {grouped(stop)}, and write the footer there"
    loses = (f"The {in_bytes(span.stop - stop)} between the end of the index and the footer.",)
    edit = replace_tail(case.source, stop, footer(stop - span.start), title)
    return Repair("caf-cut-behind-index", title, _answered(case), loses, edit=edit)


def _close(case: Case) -> Repair | None:
    """An index that cannot be followed to its end is closed behind the last entry that is whole."""
    if len(case.malformed()) != 1 or case.index.unread is None:
        return None
    last = next((entry for entry in range(len(case.index) - 1, -1, -1) if case.end_of(entry) is not None), None)
    files = next((at for at, part in enumerate(case.index.parts) if part.key == b"files"), None)
    if last is None or files is None:
        return None
    stop = case.end_of(last)
    assert stop is not None
    start = case.index.span.start
    closing = b"}" + _version_behind(case, files) + b"}"
    title = f"Close the index at byte {grouped(stop)}, behind the last of {count(last + 1, 'entry', 'entries')}"
    edit = replace_tail(case.source, stop, closing + footer(stop - start + len(closing)), title)
    loses = (*_overwritten(case, stop), *_lost(case, range(last + 1)))
    lossless = "" if loses else "Every entry that was begun stays."
    return Repair("caf-close-index", title, _answered(case), loses, edit=edit, lossless=lossless)


def _overwritten(case: Case, start: int) -> tuple[str, ...]:
    """What the index has from ``start`` on, where it is more than what an index ends with."""
    stop = case.index.span.stop
    shown = case.source.read(start, min(_SHOWN, stop - start))
    if stop - start <= _SHOWN and not shown.strip(_CLOSING):
        return ()
    dots = " ..." if stop - start > _SHOWN else ""
    place = f"The {in_bytes(stop - start)} of the index from byte {grouped(start)} on"
    return (f"{place}, which cannot be read as entries: {visible(shown)}{dots}",)


def _version_behind(case: Case, files: int) -> bytes:
    """The key ``format_version``, where it does not stand before the entries."""
    texts = [
        case.source.read(*_extent(part.span)) for part in case.index.parts[files:] if part.key == b"format_version"
    ]
    if any(part.key == b"format_version" for part in case.index.parts[:files]):
        return b""
    return b',"format_version":' + (texts[0] if texts and texts[0] else b'"1.0"')


def _extent(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] - span[0]


def _rewrite(case: Case) -> Repair | None:
    """A new index of the entries that are whole, as the published writer makes it."""
    index, broken = case.index, case.broken()
    kept = [entry for entry in range(len(index)) if entry not in broken]
    if not kept or (broken and not case.malformed()):
        return None  # an index that every reader can follow says more of a broken entry than a new one would
    entries = ((index.name(entry), index.starts[entry], index.stops[entry]) for entry in sorted(kept, key=index.name))
    start = index.span.start
    title = f"Write the index at byte {grouped(start)} anew, with its {count(len(kept), 'entry', 'entries')}"
    edit = replace_tail(case.source, start, b"".join(index_pieces(entries)), title)
    loses = (*(_lost(case, kept) if case.malformed() else ()), *case.unwritten)
    lossless = "" if loses else "Every entry of the index is written again."
    return Repair("caf-rewrite-index", title, _answered(case) | {LAX}, loses, edit=edit, lossless=lossless)


def _answered(case: Case) -> frozenset[str]:
    return case.codes & {FOOTER, MALFORMED}


def _lost(case: Case, kept: Iterable[int]) -> tuple[str, ...]:
    """What an index with these entries only will not say any more."""
    index, kept = case.index, set(kept)
    dropped = [visible(index.name(entry)) for entry in range(len(index)) if entry not in kept]
    starts = array("Q", (index.starts[entry] for entry in kept))
    stops = array("Q", (index.stops[entry] for entry in kept))
    rows = lay_out(starts, stops, 0, index.span.start)
    free = sum(rows.row_stop(row) - rows.starts[row] for row in rows.gaps)
    said = []
    if dropped:
        shown = ", ".join(map(repr, dropped[:_NAMED])) + (", ..." if len(dropped) > _NAMED else "")
        said.append(f"{count(len(dropped), 'entry', 'entries')} of which not all can be read: {shown}.")
    if free:
        said.append(
            f"The names of what the unreadable part of the index listed: {in_bytes(free)} of data "
            f"{verb(free, 'stays where it is and belongs', 'stay where they are and belong')} to no member."
        )
    return tuple(said)
