"""Growing a file in place: what is added counts only when one small header has been written, the last of all writes.

Everything before that goes behind the file's valid end, so there is no journal: at every moment the file is what it
was, with garbage behind it. What stood behind that end before is put into the store of old bytes first. The header
takes effect in one write within one sector, which disks make whole or not at all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspector.core.edit import Edit, EditError
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import Disk, read_all, reason, write_all
from inspector.sources.local.file import Identity
from inspector.sources.local.journal import find
from inspector.sources.local.locked_file import LockedFile, held
from inspector.sources.local.old_bytes import Stored, forget, keep, same_bytes, thin_out

Run = tuple[int, bytes]
"""Bytes to be written at an offset of the file."""


class Appending:
    """A held file that grows. ``identity`` is the file's after ``commit``; ``warnings`` are sentences for the user."""

    def __init__(self, file: LockedFile) -> None:
        self.identity = file.identity
        self.warnings = file.warnings
        self._file = file
        self._end = file.identity.size
        self._touched = False
        self._header: Run | None = None  # what stood where the last write goes, once that has begun
        self._stored: Stored | None = None

    def begin(self, seen: Identity, end: int) -> None:
        """Say where the valid end is that was found in the file when it was ``seen``; raises EditError.

        What stands behind it will be written over, and is put into the store of old bytes first.
        """
        if difference := seen.difference(self.identity):
            raise EditError(f"{self._file.name} {difference}. Begin again when nothing else writes to it.")
        self._end = end

    def write(self, offset: int, data: bytes) -> None:
        """Write behind the end. Raises OSError and EditError."""
        assert offset >= self._end
        self._keep_the_rest()
        self._put(offset, data)

    def _keep_the_rest(self) -> None:
        """Put what stands behind the end into the store, before the first write."""
        size, end = self.identity.size, self._end
        if not self._touched and self._stored is None and end < size:
            label = f"Write over the {size - end:,} bytes behind the end at byte {end:,}"
            self._stored = keep(self._file, Edit(label, (), size, end))
            if (cut := self._stored.cut) is not None:
                what = f"The {in_bytes(cut.length)} that stood behind the end"
                self.warnings += (f"{what} are kept in {visible(cut.path)}.",)

    def _put(self, offset: int, data: bytes) -> None:
        self._touched = True
        write_all(self._file.disk, self._file.descriptor, data, offset)

    def commit(self, before: Iterable[Run], last: Run, old: bytes, size: int) -> None:
        """Make what has been written count: ``last`` is the header that does it, where ``old`` stands.

        ``before`` are headers behind the end, ``size`` is the file's size in bytes then. Raises OSError, and EditError
        where something else than ``old`` stands there: another program has been at work.
        """
        file, (offset, header) = self._file, last
        self._keep_the_rest()
        for behind, data in before:
            self.write(behind, data)
        self._compare(offset, old)
        file.disk.truncate(file.descriptor, size)
        file.disk.sync(file.descriptor)
        self._compare(offset, old)  # again, for a disk may take minutes to be safe
        self._header = offset, old
        self._put(offset, header)
        file.disk.sync(file.descriptor)
        self.identity = Identity.of(file.disk.fstat(file.descriptor))
        thin_out(file.disk)

    def _compare(self, offset: int, old: bytes) -> None:
        file = self._file
        if read_all(file.disk, file.descriptor, len(old), offset) != old or not file.in_place():
            self._touched = False  # what stands behind the end may be the other program's by now
            raise EditError(
                f"Another program changed {file.name} or put another file in its place while it was being added to."
            )

    def take_back(self) -> str:
        """Bring the file back to what it held; gives what is to be said where that fails."""
        file = self._file
        if not self._touched:
            return ""
        try:
            if self._header and self._header[0] < self._end:
                self._put(*self._header)
                # A file must not be cut off under a header that still counts on its end.
                file.disk.sync(file.descriptor)
            file.disk.truncate(file.descriptor, self._end)
            if self._stored is not None and self._stored.cut is not None:
                with same_bytes(self._stored.cut, file.disk) as pieces:
                    at = self._end
                    for piece in pieces:
                        write_all(file.disk, file.descriptor, piece, at)
                        at += len(piece)
            file.disk.sync(file.descriptor)
        except OSError as error:
            return _left(self._header is not None, reason(error))
        forget(self._stored.files if self._stored is not None else (), file.disk)
        return ""


def _left(counted: bool, why: str) -> str:
    if counted:
        return f" It may hold what was added, or not, and is valid either way; that could not be taken back ({why})."
    return f" Behind its end some bytes of what was added are left ({why}), which readers ignore."


@contextlib.contextmanager
def appending(path: Path, disk: Disk | None = None) -> Iterator[Appending]:
    """The file at ``path``, locked so that it can be read and then added to.

    What leaves the block as an exception takes back what was added, and an OSError comes out as an EditError.
    """
    with held(path, disk or Disk()) as file:
        _see_that_it_is_whole(file)
        growing = Appending(file)
        try:
            yield growing
        except OSError as error:
            left = growing.take_back()
            raise EditError(
                f"Nothing was added to {file.name}: writing failed ({reason(error)}). It holds what it held.{left}"
            ) from error
        except (EditError, SourceError) as error:
            left = growing.take_back()
            raise type(error)(f"{error} Nothing was added.{left}") from error
        except BaseException:
            growing.take_back()
            raise


def _see_that_it_is_whole(file: LockedFile) -> None:
    try:
        interrupted = find(file.path, file.disk) is not None
    except OSError as error:
        raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
    if interrupted:
        raise EditError(
            f"{file.name} was not changed: an earlier change of it was interrupted. Open it again, and finish that "
            "change or roll it back first."
        )
