"""Another archive at the beginning of a Chunk Archive: a shorter one was written over it (CAF.md, "File Structure").

The footer at the end still leads to the index of the longer archive, and every range in it lies in the data section, so
nothing but the bytes tells: a whole archive begins where the file begins, and ends where no member does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.damage import Newer
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource, is_remote
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats._zip.eocd import zip_end
from inspector.formats.caf import codes
from inspector.formats.caf.index import Index
from inspector.formats.caf.locate import FOOTER_SIZE, OPENING, head, named_by_footer, object_at
from inspector.formats.caf.reading import read_index

MAX_CANDIDATES = 256
"""Places that are tried as the end of one archive."""
MAX_COMPARED_INDEX_BYTES = 16 << 20
"""The largest index that is compared."""
MAX_REMOTE_BYTES = 8 << 20
"""Bytes of a remote archive that are searched."""
_MAX_INDEX_READS = 2
"""Candidates for an index are read up to so many times the size of the file together."""
_WINDOW_BYTES = 1 << 20
_OVERLAP = 256
END_BYTE = re.compile(rb'"end_byte"\s*+:\s*+([0-9]{1,20})')


def find_newer(archive: Archive, stop: int, progress: Progress) -> Newer | None:
    """The archive written over the first bytes of the data section ``[0, stop)``; None if there is none.

    A member may be an archive itself: it ends where the member ends. An object on a server is not read for this beyond
    its first ``MAX_REMOTE_BYTES``: it is replaced as a whole. Linear in time. Raises SourceError and Cancelled.
    """
    members = archive.members
    firsts = [each for each in range(len(members)) if not members.starts[each] and members.stored(each)]
    if not firsts:
        return None
    stop = min(stop, MAX_REMOTE_BYTES) if is_remote(archive.source) else stop
    progress.begin("Looking for another archive in the data", stop)
    data = SplicedSource(archive.source, [Span(0, stop)], archive.source.name)
    ends = ((end(data, 0, progress), kind) for kind, end in (("zip", zip_end), ("caf", caf_end)))
    end, kind = next((each for each in ends if each[0] is not None), (None, ""))
    if end is None or any(members.stops[each] == end for each in firsts):
        return None
    if kind == "caf" and earlier_index(archive, end, progress) is not None:
        return None
    return Newer(end, kind, all(members.stops[each] < end for each in firsts))


def earlier_index(archive: Archive, end: int, progress: Progress) -> Index | None:
    """The index that ends with its footer at ``end``, if what the last one lists before that is in it unchanged.

    Then members were appended behind it, and a new index of all: nothing was written over.
    """
    source, members = archive.source, archive.members
    size = int.from_bytes(source.read(end - FOOTER_SIZE, FOOTER_SIZE), "little")
    span = Span(end - FOOTER_SIZE - size, end - FOOTER_SIZE)
    if not 0 <= span.start < span.stop <= span.start + MAX_COMPARED_INDEX_BYTES:
        return None
    if not OPENING.match(head(source, span)):
        return None
    index = read_index(source, span, progress)
    listed = {(index.name(at), index.starts[at], index.stops[at]) for at in range(len(index))}
    kept = all(
        members.starts[each] >= end
        or not members.stored(each)
        or (bytes(members.path(each)), members.starts[each], members.stops[each]) in listed
        for each in range(len(members))
    )
    return index if kept else None


def report_newer(archive: Archive, emitter: Emitter, newer: Newer) -> None:
    """Report a newer archive, and doubt every member that the index of the older one lists."""
    members, stop, end = archive.members, newer.stop, grouped(newer.stop)
    stored = [each for each in range(len(members)) if members.stored(each)]
    for member in stored:
        emitter.judge(member, Verdict.DOUBTFUL)
    what = "CAF" if newer.kind == "caf" else "ZIP archive"
    whole = f"A whole {what} fills the first {in_bytes(stop)}"
    if not newer.certain:
        emitter.report(
            codes.OVERWRITTEN_PERHAPS,
            f"{whole}, and the first member goes on after it. Either a shorter archive was written over this one, or "
            "that member is an archive with more bytes after its end. Compare the member with its original, or look "
            f"at the shorter archive: {_part(archive, stop)}.",
            (0, stop),
        )
        return
    left = sum(members.starts[each] >= stop for each in stored)
    gone = len(stored) - left
    emitter.report(
        codes.OVERWRITTEN,
        f"{whole}, and the index at the end is of another, longer archive. {count(gone, 'member')} of the longer one "
        f"{verb(gone, 'begins', 'begin')} before byte {end}, where the bytes of the shorter one are now; the bytes of "
        f"{count(left, 'member')} after that are left, and nothing proves them. Open the shorter archive as "
        f"{_part(archive, stop)}, or write both to files with repair and a copy as its target.",
        (0, stop),
    )


def _part(archive: Archive, stop: int) -> str:
    name = archive.source.name.replace("\\", "/").rpartition("/")[2] or "FILE"
    return f"{visible(name)}!/@0-{stop}"


# ---- where an archive ends ------------------------------------------------------------------------------------------


def caf_end(source: Source, at: int, progress: Progress) -> int | None:
    """Where the CAF that begins at ``at`` ends: behind the first index whose members lie in front of it.

    Raises SourceError and Cancelled.
    """
    left = max(MAX_COMPARED_INDEX_BYTES, _MAX_INDEX_READS * source.size)
    for tried, place in enumerate(_openings(source, at, progress)):
        if tried == MAX_CANDIDATES or left <= 0:
            return None
        most = Span(place, min(source.size, place + MAX_COMPARED_INDEX_BYTES))
        # The last index of the file, whatever its size, is known to be whole without being scanned.
        found = named_by_footer(source, place) or object_at(SplicedSource(source, [most], source.name), 0)
        if found is None or not found.complete:
            left -= most.size
            continue
        size = found.span.size
        left -= size
        stop = place + size
        end = max((int(each[1]) for each in END_BYTE.finditer(source.read(place, size))), default=-1)
        if end == place - at and int.from_bytes(source.read(stop, FOOTER_SIZE), "little") == size:
            return stop + FOOTER_SIZE
    return None


def _openings(source: Source, start: int, progress: Progress) -> Iterator[int]:
    for at in range(start, source.size, _WINDOW_BYTES):
        data = source.read(at, _WINDOW_BYTES + _OVERLAP)
        yield from (at + found.start() for found in OPENING.finditer(data) if found.start() < _WINDOW_BYTES)
        progress.advance(min(len(data), _WINDOW_BYTES))
