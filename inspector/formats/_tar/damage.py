"""What a tar shows of its damage as a whole: a cut, headers that are too early or too late, a bit in a header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, about, wrong, wrong_codes
from inspector.core.damage import Anchored, Damage, Missing
from inspector.core.finding import Finding, Severity
from inspector.core.names import brief, visible
from inspector.core.numbers import grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._damage import PART_SIZES, SMALL_SIZES, part_of
from inspector.formats._tar.header import BLOCK, CHKSUM, aligned, checksums, number, parse
from inspector.formats._tar.repair import FIELDS, Change, explanations
from inspector.formats._tar.resync import RECORD_BYTES

END_BYTES = 2 * BLOCK
"""The two blocks of zeros that end a tar."""
MAX_LATE = 3
"""Distances of late headers that are tried as the size of bytes that occur twice."""
_COPIED_SIZES = (*PART_SIZES, 1 << 16)
"""Sizes of parts that are copied at once."""
_MAGIC_AT = 257
"""Where a header says ``ustar``."""
_MAX_VALUES = 3
"""Values of one field in a sentence."""
_CUT = frozenset(("tar-truncated-data", "tar-truncated-header", "tar-end-missing"))


# ---- where it begins and ends ----------------------------------------------------------------------------------------


def missing(archive: Archive, goes_on: bool = False) -> Missing | None:
    """What is cut off; ``goes_on``: something else says that members follow."""
    codes, size = wrong_codes(archive), archive.source.size
    if not codes & _CUT or not size:
        return None
    members = archive.members
    stop = max(members.stops, default=0)
    tail = archive.source.read(max(0, size - END_BYTES), END_BYTES)
    if "tar-truncated-data" in codes and not tail.strip(b"\0"):
        return None  # its end is there, so what is missing stood before
    if "tar-truncated-data" in codes and stop >= size:
        least = stop - size + END_BYTES
        name = brief(members.path(len(members) - 1))
        where = f"The member {name} goes on for {in_bytes(stop - size)}, and then a tar has two blocks of zeros."
        return Missing(least, where)
    if "tar-truncated-header" in codes:
        where = "The file ends inside a header, and a tar ends with two blocks of zeros."
        return Missing(BLOCK - size % BLOCK + END_BYTES, where)
    if "tar-truncated-data" in codes or codes == {"tar-end-missing"} or goes_on:
        return Missing(END_BYTES, "A tar ends with two blocks of zeros, and there are none.")
    return None


def is_tar(source: Source, at: int) -> bool:
    """Whether a tar header with a checksum that fits is here."""
    block = source.read(at, BLOCK)
    return len(block) == BLOCK and parse(block).fits and any(block)


def _tar_end(source: Source, at: int, progress: Progress) -> int | None:
    found = _walked(source, at, progress)
    return found.stop if found is not None and found.whole else None


def _walked(source: Source, start: int, progress: Progress) -> Anchored | None:
    """The tar that begins at ``start``: to its end, or behind the last header to which the one before it leads."""
    if not is_tar(source, start):
        return None
    at = stop = start
    while (block := source.read(at, BLOCK)) != bytes(BLOCK):
        progress.advance(0)
        header = parse(block) if len(block) == BLOCK else None
        if header is None or not header.fits:
            return Anchored(start, stop, whole=False)
        stop = at + BLOCK
        at = stop + aligned(header.stored)
    if source.read(at, 2 * BLOCK) != bytes(2 * BLOCK):
        return Anchored(start, stop, whole=False)
    stop = at + 2 * BLOCK
    padded = start + -(-(stop - start) // RECORD_BYTES) * RECORD_BYTES
    return Anchored(start, padded if padded <= source.size and not any(source.read(stop, padded - stop)) else stop)


def _fronts(archive: Archive, progress: Progress) -> Sequence[int]:  # noqa: ARG001 - as declared
    heads, source = archive.members.heads, archive.source
    first = heads[0] if heads else 0
    if first == 0 or not is_tar(source, first):
        return ()
    # What precedes the first header may be the rest of a member too: that ends in padding, and is no whole record.
    fills = first % RECORD_BYTES and (source.size - first) % RECORD_BYTES == 0
    tail = source.read(max(0, first - BLOCK), min(first, BLOCK))
    padded = source.read(source.size - 3 * BLOCK, 3 * BLOCK) == bytes(3 * BLOCK)
    is_rest = tail[-1:] == b"\0" and (padded or any(tail))
    return (first,) if fills or not is_rest else ()


# ---- headers that are at other places --------------------------------------------------------------------------------


def _shifted(archive: Archive) -> FoundCause | None:
    """Bytes that went or came inside a member of a tar: the next header is before or after where it should be."""
    members = archive.members
    if members.heads is None or not len(members):
        return None
    before = members.heads[0]
    if before and any(each.severity is Severity.ERROR for each in wrong(archive)):
        message = (
            f"The beginning of the archive is missing: its first header is at byte {before:,}. What comes before "
            "it is the rest of a member whose header is gone. A transfer that was resumed without its beginning leaves "
            "a file like this, and so does damage to the first header. Copy the file again; all other members can be "
            "saved."
        )
        return FoundCause(Cause.LOST_BYTES, message, (Span(0, before),), tuple(wrong(archive)))
    events = [(each, gap) for each in range(len(members)) if (gap := _distance(archive, each))]
    if not any(each.severity is Severity.ERROR for each in wrong(archive)):
        return None
    if not events:
        return _lost_at_end(archive)
    member, change = max(events, key=lambda each: abs(each[1]))
    part = part_of(change, _COPIED_SIZES)
    begin, end = members.starts[member], members.heads[member + 1]
    name = brief(members.path(member))
    known = f" That is a multiple of {in_bytes(part)}, the size of parts that are copied at once." if part else ""
    size = in_bytes(abs(change))
    more = f" There are {len(events):,} such places." if len(events) > 1 else ""
    if change < 0:
        first = f"{size} {verb(-change, 'is', 'are')} missing between the bytes {begin:,} and {end:,}."
        cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    elif change % BLOCK == 0 and not part:
        first = f"A header is missing between the bytes {begin:,} and {end:,}, and bytes with it."
        cause = Cause.LOST_BYTES
        known = " Whole blocks that were inserted there would look the same."
    else:
        first = f"{size} {verb(change, 'was', 'were')} inserted between the bytes {begin:,} and {end:,}."
        cause = Cause.DOUBLED_PART if part else Cause.INSERTED_BYTES
    message = (
        f"{first} The header after {name} is {size} too {'early' if change < 0 else 'late'}.{more}{known} The "
        "members after it are whole, only moved; that one is not. Copy the file again."
    )
    return FoundCause(cause, message, (Span(begin, max(begin + 1, end)),), tuple(wrong(archive)), member=member)


def _repeated(archive: Archive) -> Iterable[int]:
    """Bytes that may occur twice: as many as headers are too late by, or a part."""
    distances = {_distance(archive, member) for member in range(len(archive.members))}
    late = sorted((each for each in distances if each > 0), reverse=True)[:MAX_LATE]
    return dict.fromkeys((*late, *PART_SIZES, *SMALL_SIZES))


def _distance(archive: Archive, member: int) -> int:
    """By how many bytes the next header is too late; negative: too early. 0 for the last member."""
    members = archive.members
    if members.heads is None or member + 1 >= len(members):
        return 0
    stop = members.starts[member] + aligned(max(0, members.size(member)))
    return members.heads[member + 1] - stop if members.size(member) else 0


def _lost_at_end(archive: Archive) -> FoundCause | None:
    """The last member reaches beyond the file although the blocks that end a tar are there: bytes are missing in it."""
    members, source = archive.members, archive.source
    member = len(members) - 1
    stop = members.starts[member] + aligned(max(0, members.size(member)))
    codes = {each.code for each in wrong(archive)}
    if "tar-truncated-data" not in codes or source.read(source.size - 2 * BLOCK, 2 * BLOCK).strip(b"\0"):
        return None
    lost = stop + 2 * BLOCK - source.size
    part = part_of(lost, _COPIED_SIZES)
    message = (
        f"At least {in_bytes(lost)} are missing in {brief(members.path(member))}, or in what followed it. It should "
        f"end at byte {stop:,}, but the blocks that end a tar come before that. The members before it are whole. Copy "
        "the file again."
    )
    cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    span = Span(members.starts[member], source.size)
    return FoundCause(cause, message, (span,), tuple(wrong(archive)), member=member)


# ---- one bit ---------------------------------------------------------------------------------------------------------


def _flipped_field(archive: Archive, finding: Finding) -> FoundCause | None:
    """The bit of a header by which its sum is off."""
    if "checksum" not in finding.code or not finding.spans:
        return None
    start = finding.spans[0].start // BLOCK * BLOCK
    block = archive.source.read(start, BLOCK)
    if len(block) < BLOCK:
        return None
    every, confirmed = explanations(archive, start)
    if not every:
        return None
    stored, spans = number(block[CHKSUM]), (Span(start, start + BLOCK),)
    message = (
        f"One bit of the tar header at byte {grouped(start)} changed. It has the checksum "
        f"{'?' if stored is None else grouped(stored)}, and its bytes add up to {grouped(checksums(block)[0])}. "
    )
    if confirmed is not None:
        was, now = confirmed.value(block), visible(block[FIELDS[confirmed.name]].strip(b"\0 "))
        message += (
            f"Its {confirmed.name} is {now} and was {was}: with no other bit does the header fit itself, its "
            "neighbours and what follows it. Repair sets it with your consent."
        )
    else:
        message += (
            f"{grouped(len(every))} bits explain that, and nothing shows which it is: {_candidates(every, block)}. "
            "Compare the header with another copy."
        )
    return FoundCause(Cause.FLIPPED_BIT, message, spans, about(archive, spans), adopts=confirmed is not None)


def _candidates(changes: Sequence[Change], block: bytes) -> str:
    """The fields that may have changed, with what they may have been."""
    fields: dict[str, list[str]] = {}
    for each in changes:
        fields.setdefault(each.name, []).append(each.value(block))
    shown = [(name, ", ".join(some[:_MAX_VALUES]), len(some) - _MAX_VALUES) for name, some in fields.items()]
    return "; ".join(f"{name} {some}" + (f" and {more:,} more" if more > 0 else "") for name, some, more in shown)


DAMAGE = Damage(
    block=BLOCK,
    end_zeros=RECORD_BYTES + END_BYTES,
    order_proved=True,
    trailing=frozenset(("tar-data-after-end",)),
    joined="tar-data-after-end",
    missing=missing,
    shifted=_shifted,
    flipped_field=_flipped_field,
    repeated=_repeated,
    begins=is_tar,
    end=_tar_end,
    anchor=b"ustar",
    anchored=lambda source, at, _, progress: _walked(source, at - _MAGIC_AT, progress) if at >= _MAGIC_AT else None,
    fronts=_fronts,
)
"""Of a plain tar; one that is a special case adds to it."""
