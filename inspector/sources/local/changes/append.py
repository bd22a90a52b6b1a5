"""Append to a file in place. The last write, one small header, makes the appended data valid.

All earlier writes go after the file's valid end, so no journal is needed: until the header is written, the file is what
it was, followed by garbage, and the intent (intent.py) proves that to be this program's. Bytes already there are put
into the store of old bytes first. The header is one write within one sector, which disks do atomically.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.core.edit import Edit, EditError
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import SourceError
from inspector.sources.local.changes.intent import Intent, forget_intent
from inspector.sources.local.changes.journal import require_settled
from inspector.sources.local.changes.locked_file import LockedFile, locked
from inspector.sources.local.changes.old_bytes import StoredBytes, forget, prune, store_old_bytes, verified_pieces
from inspector.sources.local.disk_calls import Disk, read_all, reason, write_all
from inspector.sources.local.file import Identity

OffsetBytes = tuple[int, bytes]
"""An offset in the file and the bytes to write there."""


class Appender:
    """Appends to a locked file. ``identity`` is the file's after ``commit``; ``warnings`` are sentences for users."""

    def __init__(self, file: LockedFile) -> None:
        self.identity = file.identity
        self.warnings = file.warnings
        self._file = file
        self._end = file.identity.size
        self._touched = False
        self._header: OffsetBytes | None = None  # the old header, once it is being overwritten
        self._stored: StoredBytes | None = None
        self._intent: Intent | None = None
        self._before: OffsetBytes = (0, b"")

    def begin(self, seen: Identity, end: int, before: OffsetBytes) -> None:
        """Set the valid end, as found when the file was ``seen``. Raises EditError if the file changed since.

        ``before`` is the header that ``commit`` will replace, empty if that stands after the end.

        Bytes after it will be overwritten, and are put into the store of old bytes first.
        """
        if difference := seen.difference(self.identity):
            raise EditError(f"{self._file.name} {difference}. Try again when no other program writes to it.")
        self._end, self._before = end, before

    def write(self, offset: int, data: bytes) -> None:
        """Write after the valid end. Raises OSError and EditError."""
        assert offset >= self._end
        self._store_trailing_bytes()
        if self._intent is None:
            self._intent = Intent(self._file, self._end, *self._before)
        self._intent.piece(offset, data)
        self._write_at(offset, data)

    def _store_trailing_bytes(self) -> None:
        """Before the first write, store the bytes after the valid end."""
        size, end = self.identity.size, self._end
        if not self._touched and self._stored is None and end < size:
            label = f"Overwrite the {size - end:,} bytes after the end at byte {end:,}"
            self._stored = store_old_bytes(self._file, Edit(label, (), size, end))
            if (cut := self._stored.cut) is not None:
                self.warnings += (f"The {in_bytes(cut.length)} after the end are kept in {visible(cut.path)}.",)

    def _write_at(self, offset: int, data: bytes) -> None:
        self._touched = True
        write_all(self._file.disk, self._file.descriptor, data, offset)

    def commit(self, before: Sequence[OffsetBytes], last: OffsetBytes, size: int) -> None:
        """Make the written data valid with the header ``last``.

        ``before`` are headers after the valid end, ``size`` is the new size of the file in bytes. Raises OSError, and
        EditError if the file does not have the old header there because another program changed it.
        """
        file, (offset, header), old = self._file, last, self._before[1]
        assert self._intent is not None
        self._intent.headers(size, [(at, self._read(len(data), at), data) for at, data in (last, *before)])
        for behind, data in before:
            self._write_at(behind, data)
        self._compare(offset, old)
        file.disk.truncate(file.descriptor, size)
        file.disk.sync(file.descriptor)
        self._compare(offset, old)  # again, because syncing may take minutes
        self._header = offset, old
        self._write_at(offset, header)
        file.disk.sync(file.descriptor)
        self.identity = Identity.of(file.disk.fstat(file.descriptor))
        forget_intent(file.path, file.disk)
        prune(file.disk)

    def _read(self, length: int, offset: int) -> bytes:
        return read_all(self._file.disk, self._file.descriptor, length, offset)

    def close(self) -> None:
        """Stop recording."""
        if self._intent is not None:
            self._intent.close()

    def _compare(self, offset: int, old: bytes) -> None:
        file = self._file
        if self._read(len(old), offset) != old or not file.in_place():
            self._touched = False  # the bytes after the end may be the other program's by now
            raise EditError(f"Another program changed or replaced {file.name} while data was being appended.")

    def roll_back(self) -> str:
        """Restore the file; returns sentences on what is in it if that fails, else an empty string."""
        file = self._file
        if not self._touched:
            return ""
        if self._intent is not None:
            self._intent.give_up()
        try:
            if self._header and self._header[0] < self._end:
                self._write_at(*self._header)
                # Sync first: the file must not be truncated under a header that still refers to its end.
                file.disk.sync(file.descriptor)
            file.disk.truncate(file.descriptor, self._end)
            if self._stored is not None and self._stored.cut is not None:
                with verified_pieces(self._stored.cut, file.disk) as pieces:
                    at = self._end
                    for piece in pieces:
                        write_all(file.disk, file.descriptor, piece, at)
                        at += len(piece)
            file.disk.sync(file.descriptor)
        except OSError as error:
            return _rollback_failure(self._header is not None, reason(error))
        forget_intent(file.path, file.disk)
        forget(self._stored.files if self._stored is not None else (), file.disk)
        return ""


def _rollback_failure(counted: bool, why: str) -> str:
    if counted:
        return (
            "The appended data may or may not be in it; what was in it before still is, and readers ignore bytes that "
            f"may be left after its end. Undoing it failed ({why})."
        )
    return f"Nothing was added, but appended bytes may be left after its end ({why}), which readers ignore."


def _failure(name: str, why: str, failure: str) -> str:
    if failure:
        return f"Writing to {name} failed ({why}). {failure}"
    return f"Nothing was added to {name}: writing failed ({why}). The file is unchanged."


@contextlib.contextmanager
def appending(path: Path, disk: Disk | None = None) -> Iterator[Appender]:
    """Lock the file at ``path`` to read it and then append to it.

    An exception inside the block undoes what was appended; an OSError is raised as an EditError.
    """
    with locked(path, disk or Disk()) as file:
        try:
            require_settled(file)
        except OSError as error:
            raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
        appended = Appender(file)
        try:
            yield appended
        except OSError as error:
            failure = appended.roll_back()
            raise EditError(_failure(file.name, reason(error), failure)) from error
        except (EditError, SourceError) as error:
            failure = appended.roll_back()
            raise type(error)(f"{error} {failure or 'Nothing was added.'}") from error
        except BaseException:
            appended.roll_back()
            raise
        finally:
            appended.close()
