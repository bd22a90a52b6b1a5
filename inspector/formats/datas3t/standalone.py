"""The metadata or the index of a datas3t range, opened by itself."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Census, Field, FieldTable
from inspector.core.format import MemberError, ProbeResult
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.member import Codec, Members
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK as PIECE
from inspector.core.source import HiddenError, Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats._kinds import INDEX, INDEX_ENTRY
from inspector.formats._zstd import HEADER, MAGIC, frame_header
from inspector.formats._zstd_fields import frame_field
from inspector.formats.datas3t import METADATA_KIND as METADATA
from inspector.formats.datas3t import codes, range_name
from inspector.formats.datas3t.consistency import check_row_form
from inspector.formats.datas3t.datapoints import index_row, metadata_row
from inspector.formats.datas3t.rows import (
    INDEX_ROW,
    IndexRows,
    RefusedRowsError,
    Rows,
    RowsError,
    metadata_json,
    metadata_rows,
    read_whole,
)

MEMBER = b"metadata.json"
"""Member name of the decoded metadata."""

SUFFIX = ".tar.metadata"
INDEX_SUFFIX = ".index"


def probe_metadata(source: Source) -> ProbeResult:
    """A zstd frame with the suffix of metadata."""
    named = source.name.endswith(SUFFIX)
    return ProbeResult.CERTAIN if named and source.read(0, len(MAGIC)) == MAGIC else ProbeResult.NO


def decode_metadata(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the frame into one member, the JSON, and its rows into fields."""
    progress.begin("Reading metadata", source.size)
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True))
    if not _has_tar(source, "", ".metadata"):
        emitter.report(codes.METADATA_ORPHAN, "This metadata is an orphan: the tar it describes is not beside it.")
    try:
        data = read_whole(source)
    except RowsError as error:
        _report_unread(emitter, error)
        emitter.lay(())
        return
    fields = [frame_field(data)]
    try:
        text = metadata_json(data)
        emitter.members.append(MEMBER, 0, source.size, size=len(text))
        rows = metadata_rows(text)
        note = "The rows in the decoded JSON; they own no bytes of this file."
        table = FieldTable(range(len(rows)), lambda row: metadata_row(rows, row), 0)
        fields.append(Field("rows", METADATA, (), len(rows), note, table))
        _check_rows(emitter, rows)
    except RowsError as error:
        _report_unread(emitter, error, (0, source.size))
    emitter.lay(fields)


def _report_unread(emitter: Emitter, error: RowsError, *spans: tuple[int, int]) -> None:
    refused = isinstance(error, RefusedRowsError)
    what = codes.RECORDS_NOT_READ if refused else codes.METADATA_DAMAGED
    emitter.report(what, f"The metadata {'is not' if refused else 'cannot be'} read. {error}", *spans)


def _has_tar(source: Source, suffix: str, instead_of: str) -> bool:
    """Whether the tar exists beside it. True if that is hidden, because it cannot be reported as missing then."""
    try:
        return source.sibling(suffix, instead_of) is not None
    except HiddenError:
        return True


def _check_rows(emitter: Emitter, rows: Rows) -> None:
    for row, wrong in rows.unreadable.items():
        emitter.report(codes.METADATA_ROW, f"Row {row:,} of the metadata is broken: {wrong} cannot be read.")
    for row, (begin, end) in enumerate(zip(rows.begins, rows.ends, strict=True)):
        if begin > end:
            emitter.report(
                codes.METADATA_OFFSET,
                f"Row {row:,} of the metadata is wrong: its begin offset {begin:,} is after its end offset {end:,}.",
            )
    check_row_form(emitter, rows)


def check_metadata(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Report the checksum of the JSON in the frame, if any, which decoding has already verified."""
    if not len(archive.members):
        return "The metadata cannot be read, so nothing in it can be checked."
    progress.begin("Checking metadata", archive.source.size)
    checked = frame_header(archive.source.read(0, HEADER)).checksum
    emitter.judge(0, Verdict.VERIFIED if checked else Verdict.NOT_CHECKABLE)
    progress.advance(archive.source.size)
    return (
        "The checksum of the zstd frame matches; the rows are compared with their tar when that is checked."
        if checked
        else "The zstd frame has no checksum; the rows are compared with their tar when that is checked."
    )


def read_metadata(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """The decoded JSON."""
    archive.members[index]
    try:
        text = metadata_json(read_whole(archive.source))
    except RowsError as error:
        raise MemberError(str(error)) from error
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
        progress.advance(PIECE)


def probe_index(source: Source) -> ProbeResult:
    """Rows of 16 bytes, named after a range or with the tar beside it."""
    name = source.name.removesuffix(INDEX_SUFFIX)
    whole = source.size and source.size % INDEX_ROW == 0
    if name == source.name or not whole or source.read(0, 8) != bytes(8):
        return ProbeResult.NO
    try:
        known = range_name(name + ".tar") is not None or source.sibling(".tar", INDEX_SUFFIX) is not None
    except HiddenError:
        return ProbeResult.NO
    return ProbeResult.CERTAIN if known else ProbeResult.NO


def decode_index(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the rows into fields; an index has no members."""
    progress.begin("Reading index", source.size)
    if not _has_tar(source, ".tar", INDEX_SUFFIX):
        emitter.report(codes.INDEX_ORPHAN, "This index is an orphan: the tar it describes is not beside it.")
    count = source.size // INDEX_ROW
    stop = count * INDEX_ROW
    roles = role_bit(Role.EXTENT) | family_bit(Family.INDEX)
    fields: list[Field] = []
    if count:
        table = FieldTable(
            range(0, stop, INDEX_ROW),
            lambda row: _index_field(source, row),
            roles,
            lambda: Census({(INDEX_ENTRY, False): count}),
        )
        note = f"A row of {INDEX_ROW} bytes for each datapoint, big-endian."
        fields.append(Field("index", INDEX, (Span(0, stop),), count, note, table))
    if stop < source.size:
        message = f"The index ends inside a row: {in_bytes(source.size - stop)} of {INDEX_ROW} are present."
        emitter.report(codes.INDEX_CUT, message, (stop, source.size))
        fields.append(Field("cut-off row", Kind.GARBAGE, (Span(stop, source.size),), note=message))
    emitter.lay(fields)


def _index_field(source: Source, row: int) -> Field:
    start = row * INDEX_ROW
    rows = IndexRows(source.read(start, INDEX_ROW))
    return index_row(rows[0] if len(rows) else (None, None, None), row, at=start)


def read_index(archive: Archive, index: int, _progress: Progress) -> Iterator[bytes]:
    """Raises MemberError: an index has no members."""
    raise MemberError(f"An index has no member {index}: its datapoints are in the tar beside {archive.source.name}.")
