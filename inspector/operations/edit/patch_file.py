"""Patch files: edits as JSON, so that people and other programs can review and apply them.

One object: ``format`` (``archive-inspector-patch``), ``version`` (1), ``label``, ``old_size`` and ``new_size`` of the
archive in bytes, and ``patches``, a list of objects with ``offset``, ``old`` and ``new`` (hex) in the order of writing.
``new`` is as long as ``old``, or longer if the file grows at its end; a ``new_size`` below ``old_size`` cuts off the
end.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.source import Source
from inspector.operations.jobs.operation_error import OperationError

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
