"""The TACO header of an archive for display, and the edit that writes a draft of it."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive
from inspector.core.edit import Edit, EditError
from inspector.core.span import Span
from inspector.formats._zip.directory import Directory
from inspector.formats.taco.header import (
    CRC_SIZE,
    HEADER_SIZE,
    LOCAL_CRC_OFFSET,
    header_edit,
    target_member,
    target_text,
    why_not_editable,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.header_draft import (
    EMPTY,
    MAX_ENTRIES,
    EntryTarget,
    EntryView,
    HeaderDraft,
    HeaderView,
    TacoEntry,
    span_target,
)


def header_draft(archive: Archive) -> HeaderDraft:
    """The header in the file; raises OperationError if there is none."""
    header = _detail(archive).header
    if header is None:
        raise OperationError(why_not_editable(archive))
    return HeaderDraft(min(header.count, MAX_ENTRIES), header.entries)


def header_view(archive: Archive, draft: HeaderDraft | None = None) -> HeaderView:
    """The header or a draft of it, and what each entry points to; raises OperationError if there is none."""
    detail = _detail(archive)
    stored = header_draft(archive)
    before = _entry_views(archive, stored)
    shown = before if draft is None else _entry_views(archive, draft)
    count = draft.count if draft is not None else detail.header.count if detail.header is not None else 0
    return HeaderView(count, shown, why_not_editable(archive), before, tuple(_places(detail)))


def _places(detail: Directory) -> Iterator[tuple[Span, str]]:
    """The bytes that an update writes, with their names."""
    header = detail.header
    if header is not None:
        yield header.payload, "the payload (count, padding, seven entries)"
        yield Span(LOCAL_CRC_OFFSET, LOCAL_CRC_OFFSET + CRC_SIZE), "the local CRC-32"
        if (central := header.central_crc_offset) is not None:
            yield Span(central, central + CRC_SIZE), "the central CRC-32"


def _entry_views(archive: Archive, draft: HeaderDraft) -> tuple[EntryView, ...]:
    size, directory, found = archive.source.size, _detail(archive), []
    for index, entry in enumerate(draft.entries):
        words = target_text(directory, size, entry) if entry != EMPTY else "holds nothing"
        pointing, used = _pointing(directory, entry, size), index < draft.count
        doubtful = used and pointing in (EntryTarget.OUTSIDE, EntryTarget.HEADER)
        found.append(EntryView(index, *entry, used, pointing, words, doubtful))
    return tuple(found)


def _pointing(directory: Directory, entry: TacoEntry, size: int) -> EntryTarget:
    offset, length = entry
    if entry == EMPTY:
        return EntryTarget.NOWHERE
    if target_member(directory, entry) is not None:
        return EntryTarget.MEMBER
    if offset + length > size:
        return EntryTarget.OUTSIDE
    return EntryTarget.HEADER if offset < HEADER_SIZE and length else EntryTarget.ELSEWHERE


def member_target(archive: Archive, index: int) -> TacoEntry:
    """The entry that points to a member's stored bytes; raises OperationError if their location is unknown."""
    if not 0 <= index < len(archive.members) or not archive.members[index].readable:
        raise OperationError("The location of that member's data is unknown.")
    return span_target(archive.members[index].spans[0])


def preview(archive: Archive, draft: HeaderDraft) -> Edit:
    """The three writes that store a draft; raises OperationError and SourceError."""
    try:
        return header_edit(archive, draft.entries, draft.count)
    except EditError as error:
        raise OperationError(str(error)) from error


def _detail(archive: Archive) -> Directory:
    detail = archive.detail
    if archive.format != "taco" or not isinstance(detail, Directory):
        raise OperationError("This is not a TACO archive, so it has no TACO header.")
    return detail
