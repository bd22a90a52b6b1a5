"""Compare the names, the metadata and the index of a decoded range with its tar.

S3 Storage Layout: keys are contiguous inside an archive, and the object is named after the lowest and the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby, islice, pairwise

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Emitter
from inspector.core.member import FOLDER, HOLES, SPECIAL, Members
from inspector.core.names import brief
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats.datas3t import DIGITS, RangeName, codes, datapoint_key, key_overflows
from inspector.formats.datas3t.datapoints import NONE, RangeRecords, headers
from inspector.formats.datas3t.rows import INDEX_ROW, IndexRows, Rows

NAME = 100
"""Bytes of the name field, the first in a tar header."""

_KEY_OVERFLOW = "has a key of more than 64 bits."


def check_names(emitter: Emitter, records: RangeRecords, named: RangeName | None, in_folder: bool) -> None:
    """Check the names of the object and of its datapoints, and that the keys are contiguous.

    ``in_folder`` is whether the object is in a folder of ranges, where it has to be named like one.
    """
    members = records.members
    for index in range(len(members)):
        found = datapoint_key(members.path(index))
        if found is None or not found[1]:
            what = _KEY_OVERFLOW if key_overflows(members.path(index)) else f"is not {DIGITS} digits and an extension."
            message = f"The name of the datapoint {brief(members.path(index))} {what}"
            emitter.report(codes.DATAPOINT_NAME, message, headers(members, index), member=index)
        elif members.marks is not None and members.marks[index] & (SPECIAL | HOLES | FOLDER):
            message = f"The datapoint {brief(members.path(index))} is not a regular file, so it has no content."
            emitter.report(codes.DATAPOINT_KIND, message, headers(members, index), member=index)
    keys = [key for key in records.keys if key is not None]
    if named is None:
        message = "The file is not named after its range of keys, <from>-<to>.tar."
        folder = " It is in a folder of ranges, but is not one of them." if in_folder else ""
        emitter.report(codes.OBJECT_NAME_IN_FOLDER if in_folder else codes.OBJECT_NAME_ELSEWHERE, message + folder)
    elif not named.regular:
        emitter.report(
            codes.OBJECT_NAME,
            f"The keys in the name of the object are not written with {DIGITS} digits. The name is not stored in "
            "the file, so there are no bytes to show.",
        )
    ends = (min(keys), max(keys)) if keys else None
    if named is not None and ends is not None and ends != (named.first, named.last):
        wrong = [key for key, recorded in zip(ends, (named.first, named.last), strict=True) if key != recorded]
        emitter.report(
            codes.OBJECT_NAME,
            f"The name of the object says keys {named.first:,} to {named.last:,}; it has {ends[0]:,} to {ends[1]:,}.",
            *(_name_field(members, records.keys.index(key)) for key in dict.fromkeys(wrong)),
        )
    _check_continuity(emitter, records)


def _check_continuity(emitter: Emitter, records: RangeRecords) -> None:
    order = sorted((key, index) for index, key in enumerate(records.keys) if key is not None)
    for (before, _), (key, index) in pairwise(order):
        where = headers(records.members, index)
        if key == before:
            emitter.report(codes.KEY_TWICE, f"Key {key:,} occurs twice in this archive.", where, member=index)
        elif key > before + 1:
            missing = f"key {before + 1:,} is" if key == before + 2 else f"keys {before + 1:,} to {key - 1:,} are"
            emitter.report(
                codes.KEY_GAP,
                f"There is a gap between the keys {before:,} and {key:,}: {missing} missing inside this archive.",
                where,
                member=index,
            )
    if [index for _, index in order] != sorted(index for _, index in order):
        emitter.report(codes.KEY_ORDER, "The datapoints are not in the order of their keys.")


def _name_field(members: Members, index: int) -> tuple[int, int]:
    """The name field of a member; all of its headers where an extended one may hold the name."""
    head, start = headers(members, index)
    return (head, head + NAME) if start - head == BLOCK else (head, start)


# ---- metadata rows


def check_rows(emitter: Emitter, records: RangeRecords) -> None:
    """Compare the metadata rows with the datapoints: missing, extra, repeated, out of order, wrong offsets."""
    rows, members = records.rows, records.members
    if not records.described:
        return
    broken, reported = rows.broken(), set[int]()
    moved = _report_moved(emitter, records)
    for index, row in enumerate(records.row_of):
        key = records.keys[index]
        name = brief(members.path(index))
        if row == NONE and key is not None and key in broken:
            reported.add(broken[key])
            _report_broken_row(emitter, records, broken[key], index)
        elif row == NONE and key is not None:
            message = f"The metadata, {records.metadata}, has no row for key {key:,} ({name}). Readers cannot find it."
            emitter.report(codes.METADATA_ROW_MISSING, message, headers(members, index), member=index)
        elif row != NONE and index not in moved and (wrong := records.row_error(index)):
            message = f"The metadata row of key {key:,} ({name}) in {records.metadata} is wrong. {wrong}"
            emitter.report(codes.METADATA_OFFSET, message, headers(members, index), member=index)
    for row in sorted(rows.unreadable.keys() - reported):
        _report_broken_row(emitter, records, row)
    _check_extra_rows(emitter, records, rows)
    _check_end_offsets(emitter, records, rows)


def _report_moved(emitter: Emitter, records: RangeRecords) -> set[int]:
    """Report neighbours that all lie equally far from where their rows say, as one finding; returns those members."""
    members, found = records.members, set[int]()
    distances = ((index, _distance(records, index)) for index in range(len(members)))
    for distance, group in groupby(distances, lambda each: each[1]):
        run = [index for index, _ in group]
        if not distance or len(run) < 2:
            continue
        found.update(run)
        where = "later" if distance > 0 else "earlier"
        message = (
            f"{len(run):,} datapoints, from key {records.keys[run[0]]:,} to key {records.keys[run[-1]]:,}, lie "
            f"{in_bytes(abs(distance))} {where} than {records.metadata} says. Bytes were "
            f"{'inserted' if distance > 0 else 'lost'} before them, or their rows are wrong."
        )
        spans = (headers(members, index) for index in islice(run, MAX_FINDINGS_PER_KIND))
        emitter.report(codes.METADATA_OFFSET, message, *spans)
    return found


def _distance(records: RangeRecords, index: int) -> int:
    """How far a datapoint is behind the place in its row; 0 if it has none, or if its offsets differ otherwise."""
    rows, row, members = records.rows, records.row_of[index], records.members
    if row == NONE:
        return 0
    start, stop = members.starts[index], members.stops[index]
    distance = records.header_offsets(index)[0] - rows.begins[row]
    return distance if rows.ends[row] + distance in (stop, start + aligned(stop - start)) else 0


def _check_end_offsets(emitter: Emitter, records: RangeRecords, rows: Rows) -> None:
    """Check that all end offsets follow one convention: with the padding of the tar, or without."""
    first: dict[bool, int] = {}
    for index, row in enumerate(records.row_of):
        stop = records.members.stops[index]
        if row != NONE and stop % BLOCK and rows.ends[row] in (stop, aligned(stop)):
            first.setdefault(rows.ends[row] == stop, index)
    if len(first) == 2:
        message = (
            "Only some end offsets in the metadata include the padding of the tar. That of key "
            f"{records.keys[first[False]]:,} does, that of key {records.keys[first[True]]:,} does not. Either "
            "convention is readable by itself."
        )
        emitter.report(codes.METADATA_READINGS, message, *(headers(records.members, at) for at in first.values()))


def _check_extra_rows(emitter: Emitter, records: RangeRecords, rows: Rows) -> None:
    """Report rows without a datapoint of their own, with the bytes that they claim."""
    used = set(records.row_of)
    known = {key for key in records.keys if key is not None}
    for row, key in enumerate(rows.ids):
        if row in used or row in rows.unreadable:
            continue
        message = f"Row {row:,} of the metadata, {records.metadata}, for key {key:,}, "
        message += "is a duplicate." if key in known else "has no datapoint in the tar."
        claimed = Span(rows.begins[row], rows.ends[row]).clipped(0, emitter.archive.source.size)
        if key in known or not claimed.size:
            emitter.report(codes.METADATA_ROW_EXTRA, message)
        else:
            message += f" The row claims the bytes {claimed.start:,} to {claimed.stop:,}."
            emitter.report(codes.METADATA_ROW_EXTRA, message, claimed)
    check_row_form(emitter, rows)


def _report_broken_row(emitter: Emitter, records: RangeRecords, row: int, member: int | None = None) -> None:
    """Report a row that cannot be read, and its datapoint where the key can be read."""
    message = (
        f"Row {row:,} of the metadata, {records.metadata}, is broken: {records.rows.unreadable[row]} cannot be read."
    )
    message += "" if member is None else f" It belongs to {brief(records.members.path(member))}."
    spans = () if member is None else (headers(records.members, member),)
    emitter.report(codes.METADATA_ROW, message, *spans, member=member)


def check_row_form(emitter: Emitter, rows: Rows) -> None:
    """Check that the metadata rows are in key order and spelled as specified, each field once."""
    if any(key < before for before, key in pairwise(rows.ids)):
        emitter.report(codes.METADATA_ORDER, "The rows of the metadata are not in the order of their keys.")
    if rows.written:
        emitter.report(
            codes.METADATA_SPELLING,
            f"The hashes in the metadata are written {rows.written}, not as lower-case hexadecimal numbers. They are "
            "read so here; readers that follow the specification reject every datapoint.",
        )
    if rows.misspelled:
        row, fields = next(iter(rows.misspelled.items()))
        emitter.report(
            codes.METADATA_SPELLING,
            f"The metadata is not written as specified in {count(len(rows.misspelled), 'row')}. In row {row:,}, "
            f"{fields} should be a string of decimal digits (lower-case hexadecimal for data_hash) without leading "
            "zeros.",
        )
    if rows.repeated:
        row = min(rows.contradictory or rows.repeated)
        emitter.report(
            codes.METADATA_FIELD_CONTRADICTED if rows.contradictory else codes.METADATA_FIELD_TWICE,
            f"Fields occur more than once in {count(len(rows.repeated), 'row')} of the metadata. In row {row:,}, "
            f"{rows.repeated[row]}. Programs differ in which value they use; this one uses the last.",
        )


# ---- index rows


def check_index(emitter: Emitter, records: RangeRecords) -> None:
    """Compare the index rows with the datapoints of a decoded range."""
    rows, members = records.index, records.members
    if rows is None:
        return
    wrong = [at for at, row in enumerate(records.index_rows) if row != NONE and records.index_error(at)]
    if len(rows) != len(members):
        _report_index_count(emitter, records, rows)
    if rows.rest:
        emitter.report(codes.INDEX_CUT, f"The index ends inside a row: {rows.rest} of {INDEX_ROW} bytes are present.")
    sizes = [members.stored(at) for at in range(len(members))]
    heads = accumulate((BLOCK + aligned(size) for size in sizes), initial=0)
    # A writer that takes every header for one block, extended headers included, has these rows.
    short = ((head, 1, size) for head, size in zip(heads, sizes, strict=False))
    if len(rows) == len(members) and wrong and all(rows[at] == row for at, row in enumerate(short)):
        _report_one_block(emitter, members, wrong, rows)
        return
    for at in wrong:
        message = f"The index row of {brief(members.path(at))} is wrong. {records.index_error(at)}"
        emitter.report(codes.INDEX_OFFSET, message, headers(members, at), member=at)


def _report_index_count(emitter: Emitter, records: RangeRecords, rows: IndexRows) -> None:
    """Report a wrong number of rows: which datapoints lack a row, and which rows lack a datapoint."""
    members = records.members
    bare = [at for at, row in enumerate(records.index_rows) if row == NONE]
    used = set(records.index_rows)
    over = [row for row in range(len(rows)) if row not in used]
    message = f"The index has {count(len(rows), 'row')}, the tar has {count(len(members), 'datapoint')}."
    if bare:
        message += f" No row gives the offset of {brief(members.path(bare[0]))}{_more(bare)}."
    if over:
        message += f" Row {grouped(over[0])}{_more(over)} is extra: no other datapoint has its header there."
    emitter.report(codes.INDEX_COUNT, message, *(headers(members, at) for at in islice(bare, MAX_FINDINGS_PER_KIND)))


def _more(others: Sequence[int]) -> str:
    return f" and {len(others) - 1:,} more" if len(others) > 1 else ""


def _report_one_block(emitter: Emitter, members: Members, wrong: Sequence[int], rows: IndexRows) -> None:
    """Report the bug of a known writer once: every row after the first long name is off."""
    assert members.heads is not None
    too_low = max(members.heads[at] - rows[at][0] for at in wrong)
    far = f", and give offsets up to {in_bytes(too_low)} too low" if too_low else ""
    name = brief(members.path(wrong[0]))
    message = (
        f"The index counts every header as one block, including extended headers like that of {name}. "
        f"{len(wrong):,} of {count(len(rows), 'row')} disagree with the tar{far}. A published writer has this bug. The "
        "tar itself is intact, but a reader that uses the index gets wrong bytes."
    )
    emitter.report(codes.INDEX_OFFSET, message, *(headers(members, at) for at in islice(wrong, MAX_FINDINGS_PER_KIND)))
