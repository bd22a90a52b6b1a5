"""Append to a file in place. The last write, one small header, makes the appended data valid.

All earlier writes go after the file's valid end, so no journal is needed: until the header is written, the file is what
it was, followed by garbage. Bytes already there are put into the store of old bytes first. The header is one write
within one sector, which disks do atomically.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspector.core.edit import Edit, EditError
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import SourceError
from inspector.sources.local.changes.journal import find
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

    def begin(self, seen: Identity, end: int) -> None:
        """Set the valid end, as found when the file was ``seen``. Raises EditError if the file changed since.

        Bytes after it will be overwritten, and are put into the store of old bytes first.
        """
        if difference := seen.difference(self.identity):
            raise EditError(f"{self._file.name} {difference}. Try again when no other program writes to it.")
        self._end = end

    def write(self, offset: int, data: bytes) -> None:
        """Write after the valid end. Raises OSError and EditError."""
        assert offset >= self._end
        self._store_trailing_bytes()
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

    def commit(self, before: Iterable[OffsetBytes], last: OffsetBytes, old: bytes, size: int) -> None:
        """Make the written data valid with the header ``last``, which replaces ``old``.

        ``before`` are headers after the valid end, ``size`` is the new size of the file in bytes. Raises OSError, and
        EditError if the file does not have ``old`` there because another program changed it.
        """
        file, (offset, header) = self._file, last
        self._store_trailing_bytes()
        for behind, data in before:
            self.write(behind, data)
        self._compare(offset, old)
        file.disk.truncate(file.descriptor, size)
        file.disk.sync(file.descriptor)
        self._compare(offset, old)  # again, because syncing may take minutes
        self._header = offset, old
        self._write_at(offset, header)
        file.disk.sync(file.descriptor)
        self.identity = Identity.of(file.disk.fstat(file.descriptor))
        prune(file.disk)

    def _compare(self, offset: int, old: bytes) -> None:
        file = self._file
        if read_all(file.disk, file.descriptor, len(old), offset) != old or not file.in_place():
            self._touched = False  # the bytes after the end may be the other program's by now
            raise EditError(f"Another program changed or replaced {file.name} while data was being appended.")

    def roll_back(self) -> str:
        """Restore the file; returns sentences on what is in it if that fails, else an empty string."""
        file = self._file
        if not self._touched:
            return ""
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
        _check_no_journal(file)
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


def _check_no_journal(file: LockedFile) -> None:
    try:
        interrupted = find(file.path, file.disk) is not None
    except OSError as error:
        raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
    if interrupted:
        raise EditError(
            f"{file.name} was not changed: an earlier change was interrupted. Open it again, and finish that "
            "change or roll it back first."
        )
