"""An index that a program wrote in another way than CAF.md says, or twice, with nothing lost, and a copy as specified.

CAF.md, section 1: members follow one another without a gap, and the index follows the last. So a way to read an index
is proved where all members that it then lists fill the data section. Only such a way is told.
"""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import product

from inspector.core.archive import Archive
from inspector.core.cause import CONVERT_CODE, UNWRAP_CODE, Cause, FoundCause, wrong, wrong_codes
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Fate, Outcome, Repair, outcomes
from inspector.core.span import Span, subtract, total, united
from inspector.formats.caf import codes
from inspector.formats.caf.locate import index_from_footer
from inspector.formats.caf.overwritten import earlier_index
from inspector.formats.caf.salvage import written
from inspector.formats.caf.write import Extent, in_json

MAX_INDEX_BYTES = 4 << 20
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
    found = unpacker.decompress(data, MAX_INDEX_BYTES)
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
_NOT_SO = (ValueError, SyntaxError, MemoryError, RecursionError, zlib.error)
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
    if span is None or not span.start or span.size > MAX_INDEX_BYTES:
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
    """In which ways the numbers of an index are read so that its members fill ``[0, stop)``, and the members."""
    files = index.get("files") if isinstance(index, dict) else None
    if not isinstance(files, dict) or not files:
        return
    found: list[tuple[bytes, int, int]] = []
    strings = False
    for name, entry in files.items():
        if not isinstance(name, str) or not isinstance(entry, dict):
            return
        numbers = []
        for key in ("start_byte", "end_byte"):
            value = entry.get(key)
            strings |= isinstance(value, str)
            if not (type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value))):
                return
            numbers.append(int(value))
        found.append((name.encode(), numbers[0], numbers[1]))
    least = min(start for _, start, _ in found)
    for (what, end_of), lead in product(_ENDS, sorted({0, least})):
        extents = tuple((name, start - lead, end_of(start, end) - lead) for name, start, end in found)
        if _fill(extents, stop):
            named = {what, "has numbers as strings" if strings else "", _too_large(lead)}
            yield named - {""}, extents


def _too_large(lead: int) -> str:
    return f"has every offset {in_bytes(lead)} too large" if lead else ""


def _fill(extents: tuple[Extent, ...], stop: int) -> bool:
    at = 0
    for start, end in sorted((start, end) for _, start, end in extents):
        if start != at or end < start:
            return False
        at = end
    return at == stop


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
