"""Files in which a change of the archive was interrupted."""

from __future__ import annotations

from pathlib import Path

from inspector.core.edit import Edit
from inspector.sources.local.changes.journal import ChangeState, Journal, encode
from inspector.sources.local.changes.journal_paths import journal_paths
from inspector.sources.local.changes.locked_file import locked
from inspector.sources.local.changes.old_bytes import store_old_bytes
from inspector.sources.local.changes.recovery import Pending, pending
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import FileSource
from tests.sources.disks import CONTENT, EDITS

THREE, GROWING, SHRINKING = EDITS["three"], EDITS["growing"], EDITS["shrinking"]


def interrupted(path: Path, edit: Edit, content: bytes, *, dropped: bool = True) -> Path:
    """Leave the file with ``content``, and the journal of a change that did not come to its end."""
    with locked(path, Disk()) as file:
        store_old_bytes(file, edit)
    kept = CONTENT[edit.dropped.start : edit.dropped.stop] if dropped else None
    place = journal_paths(path)[0]
    place.write_bytes(encode(Journal(str(path), FileSource(path).identity, edit, kept)))
    path.write_bytes(content)
    return place


def waiting(path: Path, kind: ChangeState) -> Pending:
    before = path.read_bytes() if path.exists() else None
    found = pending(path)
    assert found is not None
    assert found.kind is kind
    assert (path.read_bytes() if path.exists() else None) == before
    assert all(0 <= span.start < span.stop <= len(before or b"") for span in found.spans)
    assert all(each.endswith(".") for each in (found.story, found.finish, found.roll_back, found.forget) if each)
    return found


def some(edit: Edit, chosen: tuple[bool, ...]) -> bytes:
    """The content with some of the writes made."""
    data = bytearray(CONTENT)
    for patch, there in zip(edit.patches, chosen, strict=True):
        if there:
            data[patch.offset : patch.offset + len(patch.old)] = patch.new
    return bytes(data)
