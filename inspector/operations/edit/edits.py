"""Edits: of a TACO header, of the checksums that an edit makes wrong, and as patch files.

A patch file is JSON, so that people and other programs can review and apply it: one object with ``format``
(``archive-inspector-patch``), ``version`` (1), ``label``, ``old_size`` and ``new_size`` of the archive in bytes, and
``patches``, a list of objects with ``offset``, ``old`` and ``new`` (hex) in the order of writing. ``new`` is as long as
``old``, or longer if the file grows at its end; a ``new_size`` below ``old_size`` cuts off the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec

from inspector.core.archive import Archive
from inspector.core.edit import Edit, EditError, Patch, merged, overlaid
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats.taco.header import HEADER_SIZE, LOCAL_CRC_OFFSET, target_member, target_text
from inspector.formats.taco.write import CRC_SIZE, header_edit, why_not_editable
from inspector.operations.check.checking import checked
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.header_draft import (
    EMPTY,
    MAX_ENTRIES,
    EntryTarget,
    EntryView,
    HeaderDraft,
    HeaderView,
    TacoEntry,
)

# ---- TACO headers --------------------------------------------------------------------------------------------------


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
    return archive.members[index].spans[0].start, archive.members.stored(index)


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


# ---- dependent checksums -------------------------------------------------------------------------------------------

_MAX_ROUNDS = 16
"""One checksum may cover another: rounds until no checksum changes any more."""


def repair_checksums(source: Source, edit: Edit, progress: Progress) -> tuple[Edit, tuple[str, ...]]:
    """Extend ``edit`` by the correct values of all checksums over bytes that it changes.

    Other wrong checksums stay wrong. Raises SourceError and Cancelled.
    """
    edits = [edit]
    touched: list[Span] = list(edit.spans)
    names: list[str] = []
    for _ in range(_MAX_ROUNDS):
        archive = checked(overlaid(source, edits), progress)
        found = _wrong(archive, touched)
        if not found:
            break
        patches = tuple(patch for _, each in found for patch in each)
        names += [checksum.name for checksum, _ in found]
        touched += [patch.span for patch in patches]
        edits.append(Edit(edit.label, patches, archive.source.size, archive.source.size))
    return merged(source, edits, edit.label), tuple(dict.fromkeys(names))


def broken(archive: Opened, edit: Edit) -> tuple[str, ...]:
    """The names of the checksums that ``edit`` makes wrong and a repair can fix.

    ``archive`` is decoded and checked with the edit applied.
    """
    return tuple(dict.fromkeys(checksum.name for checksum, _ in _wrong(archive, edit.spans)))


def _wrong(archive: Opened, touched: Sequence[Span]) -> list[tuple[Checksum, tuple[Patch, ...]]]:
    wrong = [each for each in archive.checksums if _depends(each, touched)]
    return [(each, patches) for each in wrong if (patches := tuple(_patches(archive.source, each)))]


def _depends(checksum: Checksum, touched: Iterable[Span]) -> bool:
    if checksum.verdict is not Verdict.MISMATCH or not checksum.place:
        return False
    concerned: Spans = (*checksum.covers, *checksum.place)
    return any(ours.start < theirs.stop and theirs.start < ours.stop for ours in concerned for theirs in touched)


def _patches(source: Source, checksum: Checksum) -> Iterator[Patch]:
    """Patches that store the computed value, in the stored form, also in its copies; none if that form is unknown."""
    pieces = [source.read(span.start, span.size) for span in checksum.place]
    old = b"".join(pieces)
    new = in_stored_form(old, checksum.stored, checksum.computed)
    if new is None or new == old:
        return
    yield from (Patch(span.start, old, new) for span in checksum.copies)
    for span, piece in zip(checksum.place, pieces, strict=True):
        yield Patch(span.start, piece, new[: len(piece)])
        new = new[len(piece) :]


def in_stored_form(field: bytes, stored: str, computed: str) -> bytes | None:
    """``computed`` (hex) in the form in which ``field`` holds ``stored`` (hex): bytes in either order, or octal text.

    None if the field holds ``stored`` in none of these forms.
    """
    if len(stored) == len(computed) == 2 * len(field):
        was, will = bytes.fromhex(stored), bytes.fromhex(computed)
        if was == field:
            return will
        if was[::-1] == field:
            return will[::-1]
    digits = field.strip(b" \0")
    if computed and digits and all(digit in b"01234567" for digit in digits) and int(digits, 8) == int(stored, 16):
        octal = f"{int(computed, 16):0{len(digits)}o}".encode()
        return field.replace(digits, octal) if len(octal) == len(digits) else None
    return None


# ---- patch files ---------------------------------------------------------------------------------------------------

FORMAT = "archive-inspector-patch"
MAX_PATCH_BYTES = 64 << 20
"""The size of the largest patch file that is read."""

_Size = Annotated[int, msgspec.Meta(ge=0)]


class _Patch(msgspec.Struct, forbid_unknown_fields=True):
    offset: _Size
    old: str
    new: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    label: str
    old_size: _Size
    new_size: _Size
    patches: list[_Patch]


def encoded(edit: Edit) -> bytes:
    """The patch file of an edit."""
    patches = [_Patch(patch.offset, patch.old.hex(), patch.new.hex()) for patch in edit.patches]
    file = _File(FORMAT, 1, edit.label, edit.old_size, edit.new_size, patches)
    return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"


def decoded(source: Source, archive: Source) -> Edit:
    """The edit in a patch file. Raises OperationError if it does not match ``archive``, and SourceError."""
    if source.size > MAX_PATCH_BYTES:
        raise OperationError(f"{visible(source.name)} is too large for a patch file.")
    try:
        file = msgspec.json.decode(source.read(0, source.size), type=_File)
        if (file.format, file.version) != (FORMAT, 1):
            raise OperationError(f"{visible(source.name)} is a patch file of an unknown kind or a later version.")
        patches = tuple(Patch(each.offset, bytes.fromhex(each.old), bytes.fromhex(each.new)) for each in file.patches)
        edit = Edit(file.label[:200], patches, file.old_size, file.new_size)
    except ValueError as error:  # the base of msgspec.DecodeError
        raise OperationError(f"{visible(source.name)} is no valid patch file: {fault_in(error)}.") from error
    require_match(edit, archive)
    return edit


def fault_in(error: ValueError) -> str:
    """What is wrong with JSON from outside, without the library's notation: ``steps[0].bit: expected int, got str``."""
    what, _, place = str(error).replace("`", "").rstrip(".").partition(" - at $")
    words = visible(what[:1].lower() + what[1:])
    return f"{visible(place.lstrip('.'))}: {words}" if place else words


def require_match(edit: Edit, archive: Source, what: str = "The patch") -> None:
    """Raise OperationError if an edit, called ``what`` in the sentence, does not match ``archive``; and SourceError."""
    if edit.old_size != archive.size:
        raise OperationError(f"{what} is for a file of {edit.old_size:,} bytes, and this one has {archive.size:,}.")
    for patch in edit.patches:
        if archive.read(patch.offset, len(patch.old)) != patch.old:
            raise OperationError(f"{what} does not match this file: at byte {patch.offset:,} the file has other bytes.")
