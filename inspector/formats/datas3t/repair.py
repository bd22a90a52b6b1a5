"""Repairs of a range: rebuild its metadata and index from the tar, fix the tar's own names, headers and end, salvage.

S3 Storage Layout, Metadata Files. A recorded hash is preserved even if its datapoint does not match: it shows that
bytes have changed. It is replaced only after confirming that the bytes are right. A salvage is a new range of the
datapoints that verify, with its metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.member import FOLDER, HOLES, SPECIAL, UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Progress
from inspector.core.repair import Companion, Fate, Outcome, Outcomes, Repair, outcomes
from inspector.core.source import BytesSource, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._tar import reading
from inspector.formats._tar.header import BLOCK, CHKSUM, aligned, checksums, parse
from inspector.formats._tar.repair import content, damage, losses, repair_end, repair_headers
from inspector.formats.datas3t import DIGITS, datapoint_key, range_name
from inspector.formats.datas3t.check import MISMATCH
from inspector.formats.datas3t.consistency import NAME
from inspector.formats.datas3t.datapoints import FIELD_TWICE, NONE, ROW_BROKEN, ROW_MISSING, RangeRecords
from inspector.formats.datas3t.decode import METADATA
from inspector.formats.datas3t.write import MAX_DATAPOINT_BYTES, Row, header, metadata

DAMAGED, EXTRA = "datas3t-metadata-damaged", "datas3t-metadata-row-extra"
TWICE = "datas3t-key-twice"

REBUILT = frozenset(
    (
        "datas3t-metadata-missing",
        DAMAGED,
        EXTRA,
        FIELD_TWICE,
        ROW_BROKEN,
        ROW_MISSING,
        "datas3t-metadata-offset",
        "datas3t-metadata-order",
        "datas3t-metadata-readings",
        "datas3t-metadata-spelling",
    )
)
"""The findings that rebuilding the metadata fixes."""

_OPEN_ENDED = frozenset(("tar-end-missing", "tar-zeros-after-end"))
"""Warnings that leave open whether the tar has all its members."""

_SAME = ("mode", "uid", "gid", "typeflag", "linkname", "uname", "gname", "prefix")
"""Fields that are alike in all headers of a range, which one program writes."""

MAX_KEYS_LISTED = 5
"""Keys named in one sentence."""

DATAPOINT_NAME = "datas3t-datapoint-name"
INDEX_CODES = frozenset(
    ("datas3t-index-count", "datas3t-index-cut", "datas3t-index-damaged", "datas3t-index-offset"),
)

_INDEX_ROWS_PER_PIECE = 4_096


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """The repairs that the findings of a decoded or checked range allow."""
    records = archive.detail
    codes = {each.code for each in archive.findings if each.severity is not Severity.INFO}
    if not isinstance(records, RangeRecords) or not codes:
        return ()
    progress.begin("Planning repairs", len(archive.members), "members")
    found = [
        *repair_headers(archive, lambda member: _expected(records, member), _SAME),
        *repair_end(archive, _is_complete(archive)),
    ]
    if not _is_damaged(archive):
        found += repair_index(archive, records, codes)
        if TWICE not in codes:
            found += repair_names(archive)
    if _tar_determines_rows(archive, records, codes):
        if codes & REBUILT:
            found.append(_rebuild(archive, records, codes, mismatches=False))
        if MISMATCH in codes:
            found.append(_rebuild(archive, records, codes, mismatches=True))
    saved = _salvage(archive, records)
    return [*found, saved] if saved is not None else found


def _expected(records: RangeRecords, member: int) -> bytes:
    """The digits that should start the name of a member, from the key before it; empty if that is unknown."""
    before = records.keys[member - 1] if member else None
    return b"" if before is None else b"%0*d" % (DIGITS, before + 1)


def _is_complete(archive: Archive) -> bool:
    """Whether the range contains the last datapoint of its name, and every datapoint that has a row."""
    named, members = range_name(archive.source.name), archive.members
    last = datapoint_key(members.path(len(members) - 1)) if len(members) else None
    complete = named is not None and last is not None and last[0] == named.last
    return complete and all(each.code != EXTRA for each in archive.findings)


def _is_damaged(archive: Archive) -> bool:
    """Whether members may be missing or wrong, by errors or by how the tar ends."""
    return any(
        each.code in _OPEN_ENDED or (each.code.startswith("tar-") and each.severity is Severity.ERROR)
        for each in archive.findings
    )


def _tar_determines_rows(archive: Archive, records: RangeRecords, codes: Iterable[str]) -> bool:
    """Whether the tar determines the one location of every key.

    The metadata of a damaged tar is never rebuilt: it still locates the datapoints that are no longer found.
    """
    members = archive.members
    keyed = [member for member, key in enumerate(records.keys) if key is not None]
    unusual = members.marks is not None and any(
        members.marks[member] & (SPECIAL | HOLES | FOLDER | UNREADABLE) for member in keyed
    )
    return bool(keyed) and not _is_damaged(archive) and not unusual and TWICE not in codes


def _rebuild(archive: Archive, records: RangeRecords, codes: set[str], *, mismatches: bool) -> Repair:
    """New metadata with the recorded hashes; with new ones where these do not match, if ``mismatches``."""

    def keeps_hash(member: int) -> bool:
        wrong = mismatches and archive.verdict(member) is Verdict.MISMATCH
        return records.row_of[member] != NONE and not wrong

    extra, losses = _extra_keys(records), tuple(_losses(records, codes))
    if mismatches:
        wrong = archive.verdicts.count(VERDICTS.index(Verdict.MISMATCH))
        what = count(wrong, "datapoint")
        title = f"Rebuild the metadata from the tar, with new hashes of {what} that do not match the recorded ones"
        losses = (f"The recorded {'hash' if wrong == 1 else 'hashes'} of {what}.", *losses)
        claim = (
            f"The bytes of {what} are assumed right and the recorded hashes wrong. Nothing in the range proves it, and "
            "if the bytes have changed, nothing will show it any more."
        )
    else:
        new = sum(key is not None and row == NONE for key, row in zip(records.keys, records.row_of, strict=True))
        what = count(new, "datapoint")
        title = f"Rebuild the metadata from the tar{f', with new hashes of {what} as stored now' if new else ''}"
        unchanged = f", and the bytes of {what} unchanged" if new else ""
        claim = (
            f"The tar is assumed right and the metadata wrong where they differ{unchanged}. Nothing in the range "
            "proves it."
        )
        claim = claim if METADATA in records.found else ""
    complete = (
        f"The tar is assumed complete, although the metadata has rows for {_listed(extra)}, which it does not contain."
    )
    return Repair(
        "datas3t-replace-hashes" if mismatches else "datas3t-rebuild-metadata",
        title,
        frozenset(codes & (REBUILT | {MISMATCH} if mismatches else REBUILT)),
        losses,
        " ".join(filter(None, (claim, complete if extra else ""))),
        content=_content(archive, records, keeps_hash),
        beside=METADATA,
        old=records.found.get(METADATA),
    )


def _extra_keys(records: RangeRecords) -> list[int]:
    """The keys of rows without a datapoint in the tar."""
    present, rows = set(records.keys), records.rows
    return [key for row, key in enumerate(rows.ids) if row not in rows.unreadable and key not in present]


def _losses(records: RangeRecords, codes: set[str]) -> Iterator[str]:
    rows, extra = records.rows, _extra_keys(records)
    keeps_hash = {key: rows.hashes[row] for key, row in zip(records.keys, records.row_of, strict=True) if row != NONE}
    other = [
        key
        for row, (key, digest) in enumerate(zip(rows.ids, rows.hashes, strict=True))
        if row not in rows.unreadable and keeps_hash.get(key, digest) != digest
    ]
    if extra:
        yield f"The rows for {_listed(extra)}, with their hashes."
    if other:
        yield f"Extra rows for {_listed(other)} with other hashes; the first row for each key stays."
    if rows.unreadable:
        what = count(len(rows.unreadable), "broken row")
        yield f"The readable parts of {what}, possibly with recorded hashes."
    if DAMAGED in codes:
        yield "The hashes in the unreadable metadata. New ones are computed from the current bytes."


def _listed(keys: Sequence[int]) -> str:
    shown = ", ".join(map(grouped, keys[:MAX_KEYS_LISTED])) + (", ..." if len(keys) > MAX_KEYS_LISTED else "")
    return f"{'key' if len(keys) == 1 else 'the keys'} {shown}"


def _content(
    archive: Archive, records: RangeRecords, keeps_hash: Callable[[int], bool]
) -> Callable[[Progress], Iterator[bytes]]:
    """The new metadata, with the recorded hash where ``keeps_hash(member)``, else that of the current bytes."""
    members, recorded = archive.members, records.rows
    # End offsets include the padding, as specified; not if all existing rows exclude it.
    unpadded = [
        recorded.ends[row] == members.stops[member]
        for member, row in enumerate(records.row_of)
        if row != NONE and members.stops[member] % BLOCK
    ]
    padded = not unpadded or not all(unpadded)

    def rows(progress: Progress) -> Iterator[Row]:
        assert members.heads is not None
        for key, member in sorted((key, member) for member, key in enumerate(records.keys) if key is not None):
            start, stop = members.starts[member], members.stops[member]
            if keeps_hash(member):
                digest = recorded.hashes[records.row_of[member]]
                progress.advance(stop - start)
            else:
                digest = _hash_member(archive, member, progress)
            yield Row(key, members.heads[member], start + aligned(stop - start) if padded else stop, digest)

    def content(progress: Progress) -> Iterator[bytes]:
        progress.begin("Hashing datapoints", sum(map(members.stored, range(len(members)))))
        data = metadata(rows(progress))
        yield from blocks(BytesSource(data), 0, len(data))

    return content


def _hash_member(archive: Archive, member: int, progress: Progress) -> int:
    # Imported here because start-up must not wait for it.
    import xxhash

    digest = xxhash.xxh64()
    for piece in reading.read(archive, member, progress):
        digest.update(piece)
    return digest.intdigest()


# ---- datapoint names and the index, which the tar alone determines


def repair_names(archive: Archive) -> Iterator[Repair]:
    """Pad the keys in names to 20 digits, if all the wrong names fit into their headers."""
    wrong = [each.member for each in archive.findings if each.code == DATAPOINT_NAME and each.member is not None]
    patches = [_renamed(archive, member) for member in wrong]
    read_whole = tuple(patch for patch in patches if patch is not None)
    if not wrong or len(read_whole) != len(wrong):
        return
    first = visible(archive.members.path(wrong[0]))
    more = f" and of {count(len(wrong) - 1, 'more datapoint')}" if len(wrong) > 1 else ""
    title = f"Write the key in the name of {first}{more} with {DIGITS} digits"
    claim = "No reader is assumed to use the current names of these datapoints. Only their names change."
    edit = Edit(title, read_whole, archive.source.size, archive.source.size)
    yield Repair("datas3t-name-digits", title, frozenset((DATAPOINT_NAME,)), (), claim, edit)


def _renamed(archive: Archive, member: int) -> Patch | None:
    """The header with the correct name; None if the name has no key, or is in an extended header."""
    members, name = archive.members, archive.members.path(member)
    found = datapoint_key(name)
    at = members.starts[member] - BLOCK
    assert members.heads is not None
    block = archive.source.read(at, BLOCK)
    if found is None or members.heads[member] != at or not parse(block).fits:
        return None
    new = b"%0*d%s" % (DIGITS, found[0], name[len(name.split(b".")[0]) :])
    if len(new) > NAME:
        return None
    renamed = new.ljust(NAME, b"\0") + block[NAME:]
    renamed = renamed[: CHKSUM.start] + b"%06o\0 " % checksums(renamed)[0] + renamed[CHKSUM.stop :]
    return Patch(at, block[: CHKSUM.stop], renamed[: CHKSUM.stop])


def repair_index(archive: Archive, records: RangeRecords, codes: set[str]) -> Iterator[Repair]:
    """Rebuild the index, which the tar determines entirely."""
    if not codes & INDEX_CODES:
        return

    def content(progress: Progress) -> Iterator[bytes]:
        total = len(archive.members)
        progress.begin("Writing the index", total, "members")
        for first in range(0, total, _INDEX_ROWS_PER_PIECE):
            last = min(first + _INDEX_ROWS_PER_PIECE, total)
            rows = ((*records.header_offsets(member), records.members.stored(member)) for member in range(first, last))
            # The last block of the headers is the member's own.
            packed = (
                head.to_bytes(8, "big") + ((own - head) // BLOCK + 1).to_bytes(2, "big") + size.to_bytes(6, "big")
                for head, own, size in rows
            )
            yield b"".join(packed)
            progress.advance(last - first)

    title = f"Rebuild the index from the tar, with {count(len(archive.members), 'row')}"
    fixes = frozenset(codes & INDEX_CODES)
    claim = "The tar is assumed right and the index wrong where they differ. Nothing in the range proves it."
    old = records.found.get(".index")
    yield Repair(
        "datas3t-rebuild-index", title, fixes, (), claim, content=content, beside=".index", instead_of=".tar", old=old
    )


# ---- a new range -----------------------------------------------------------------------------------------------------


def _salvage(archive: Archive, records: RangeRecords) -> Repair | None:
    """A new range of the datapoints that verify; None if neither tar nor content is damaged, or none verifies."""
    rows, members = records.rows, archive.members
    codes = damage(archive) | (frozenset(each.code for each in archive.findings) & {MISMATCH})
    if not codes or not records.described:
        return None
    kept = [
        index
        for index in range(len(members))
        if archive.verdict(index) is Verdict.VERIFIED
        and records.row_of[index] != NONE
        and members.stored(index) <= MAX_DATAPOINT_BYTES
    ]
    if not kept:
        return None

    def new_header(index: int) -> bytes:
        return b"" if _has_header(archive, index) else header(members.path(index), members.stored(index), 0)

    def new_metadata(progress: Progress) -> Iterator[bytes]:
        progress.advance(0)
        yield metadata(sorted(_kept_rows(archive, records, kept)))

    complete = {rows.ids[records.row_of[index]] for index in kept} == set(rows.ids)
    title = f"Save the {count(len(kept), 'datapoint')} that verify in a new range, with its metadata"
    return Repair(
        "datas3t-salvage",
        title,
        codes,
        () if complete else losses(archive, kept),
        content=content(archive, kept, new_header),
        lossless="Every row of the metadata has its datapoint in the new range." if complete else "",
        along=(Companion(".metadata", "", new_metadata),),
        outcomes=_outcomes(archive, records, kept),
    )


def _outcomes(archive: Archive, records: RangeRecords, kept: Sequence[int]) -> Outcomes:
    """What becomes of each datapoint, those too that only the metadata lists."""
    found = outcomes(archive, frozenset(kept), "its hash in the metadata matches", "the metadata has no hash of it")
    rows = records.rows

    def each() -> Iterator[Outcome]:
        yield from found()
        present = {records.row_of[index] for index in range(len(archive.members))}
        for row in range(len(rows)):
            if row not in present:
                name = b"%0*d" % (DIGITS, rows.ids[row])
                yield Outcome(name, Fate.LOST, "the metadata lists it, and its bytes were not found in the file")

    return each


def _kept_rows(archive: Archive, records: RangeRecords, kept: Sequence[int]) -> Iterator[Row]:
    """The rows of the datapoints ``kept``, at their places in the new tar."""
    members, rows, at = archive.members, records.rows, 0
    for index in kept:
        begin = at
        # A damaged header becomes one block.
        at += members.starts[index] - members.head_of(index) if _has_header(archive, index) else BLOCK
        at += aligned(members.stored(index))
        row = records.row_of[index]
        yield Row(rows.ids[row], begin, at, rows.hashes[row])


def _has_header(archive: Archive, index: int) -> bool:
    """Whether the headers of a datapoint can be kept."""
    members = archive.members
    at, head = members.starts[index] - BLOCK, members.head_of(index)
    if at < head:
        return False
    found = parse(archive.source.read(at, BLOCK).ljust(BLOCK, b"\0"))
    named = head < at or found.name == members.path(index)
    return found.fits and named and found.size == members.stored(index)
