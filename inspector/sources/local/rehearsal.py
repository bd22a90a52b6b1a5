"""A Disk on which a writer rehearses: it reads what is there, and what it writes is recorded.

So the code that really changes a file in place says which writes that are, in which order, and where it waits for the
disk. No file is opened for writing, made, removed, renamed or locked.
"""

from __future__ import annotations

import errno
import os
import stat
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from inspector.core.pieces import Piece, PieceTable, RepeatedSource
from inspector.core.source import Source
from inspector.sources.local.changes.journal_paths import journal_paths
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import FileSource, Identity, TemporarySource

_FIRST_DESCRIPTOR = 1 << 30
"""Above all descriptors of the system, so that none of them is ever meant."""


class CallKind(StrEnum):
    """What a writer does to the file."""

    WRITE = "write"
    CUT = "cut"
    SYNC = "sync"


class Call(Struct, frozen=True):
    """One call of a writer: ``content`` is written at ``offset``; a cut ends the file there; a sync waits."""

    kind: CallKind
    offset: int = 0
    content: PieceTable = PieceTable()

    def on(self, table: PieceTable, most: int | None = None) -> PieceTable:
        """The file as the call leaves it, or as it is when only ``most`` bytes of it have been written."""
        if self.kind is CallKind.SYNC:
            return table
        if self.kind is CallKind.CUT:
            return table.slice(0, self.offset) if self.offset < table.size else _grown(table, self.offset)
        content = self.content if most is None else self.content.slice(0, min(most, self.content.size))
        table = _grown(table, self.offset)
        return table.replace(self.offset, min(table.size, self.offset + content.size), content)


def _grown(table: PieceTable, size: int) -> PieceTable:
    """The file with zeros up to a size, as the system fills a file that is written behind its end."""
    missing = size - table.size
    return table.insert(table.size, PieceTable.whole(RepeatedSource(b"\0", missing))) if missing > 0 else table


class Rehearsal(Disk):
    """Calls to the file at ``path``, the bytes of which are those of ``base``; ``table`` is the file as they leave it.

    Other files that the writer makes, such as its journal, are in memory only, and gone with this. ``journalled``:
    a journal was written before the file changed.
    """

    def __init__(self, path: Path, base: Source) -> None:
        self.path = super().resolve(path)
        self.base = base
        self.calls: list[Call] = []
        self.table = PieceTable.whole(base)
        self.journalled = False
        self._real = super().lstat(self.path)
        self._made: dict[Path, bytearray] = {}
        self._removed: set[Path] = set()
        self._open: dict[int, Path] = {}
        self._next = _FIRST_DESCRIPTOR
        self._kept = TemporarySource("what is written")

    def source(self, path: Path) -> FileSource:
        """The file as it is now, for a writer that looks at what it has written."""
        return _RehearsedFile(path, self)

    @property
    def status(self) -> os.stat_result:
        """The status of the file as it is now; it can be written, whatever its permissions are."""
        return _status(self._real, self.table.size)

    # ---- the file, and files in memory -------------------------------------------------------------------------

    def lstat(self, path: Path) -> os.stat_result:
        if path in self._made:
            return _status(self._real, len(self._made[path]), inode=id(self._made[path]))
        if path in self._removed:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return self.status if path == self.path else super().lstat(path)

    def open(self, path: Path, flags: int) -> int:
        is_known = path == self.path or path in self._made
        if flags & os.O_EXCL and (is_known or (path.exists() and path not in self._removed)):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        if not is_known and flags & os.O_ACCMODE == os.O_RDONLY:
            return super().open(path, flags)
        if not is_known:
            self._made[path] = bytearray()
            self._removed.discard(path)
            self.journalled |= path in journal_paths(self.path)
        self._next += 1
        self._open[self._next] = path
        return self._next

    def close(self, descriptor: int) -> None:
        if self._open.pop(descriptor, None) is None:
            super().close(descriptor)

    def fstat(self, descriptor: int) -> os.stat_result:
        return self.lstat(self._open[descriptor]) if descriptor in self._open else super().fstat(descriptor)

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        if (path := self._open.get(descriptor)) is None:
            return super().read(descriptor, length, offset)
        if path == self.path:
            return self.table.read(offset, length)
        return bytes(self._made[path][offset : offset + length])

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        path = self._open[descriptor]
        if path == self.path:
            start = self._kept.size
            self._kept.append(bytes(data))
            self._call(Call(CallKind.WRITE, offset, PieceTable((Piece(self._kept, start, len(data)),))))
        else:
            self._made[path][offset : offset + len(data)] = data
        return len(data)

    def truncate(self, descriptor: int, size: int) -> None:
        path = self._open[descriptor]
        if path == self.path:
            self._call(Call(CallKind.CUT, size))
        else:
            del self._made[path][size:]

    def sync(self, descriptor: int) -> None:
        if self._open.get(descriptor) == self.path:
            self.calls.append(Call(CallKind.SYNC))

    def _call(self, call: Call) -> None:
        self.calls.append(call)
        self.table = call.on(self.table)

    # ---- what is left alone ------------------------------------------------------------------------------------

    def lock(self, descriptor: int) -> None:
        """Lock nothing: nobody is kept from writing by a rehearsal."""

    def sync_folder(self, folder: Path) -> None:
        """Wait for nothing."""

    def make_folder(self, folder: Path) -> None:
        """Make nothing."""

    def unlink(self, path: Path) -> None:
        """Remove a file in memory; one on the disk only seems to be gone."""
        self._removed.add(path)
        self._made.pop(path, None)

    def rename(self, path: Path, target: Path) -> None:
        """Rename a file in memory."""
        self._made[target] = self._made.pop(path)
        self._removed.add(path)

    def names(self, folder: Path) -> list[str]:
        there = {*super().names(folder), *(each.name for each in self._made if each.parent == folder)}
        return sorted(there - {each.name for each in self._removed if each.parent == folder})


class _RehearsedFile(FileSource):
    """The file of a rehearsal as it is when this is made, with the status that its writer sees."""

    def __init__(self, path: Path, rehearsal: Rehearsal) -> None:
        super().__init__(path)
        self._table = rehearsal.table
        self.size = rehearsal.table.size
        self.identity = Identity.of(rehearsal.status)

    def read(self, offset: int, length: int) -> bytes:
        return self._table.read(offset, length)


def _status(real: os.stat_result, size: int, *, inode: int | None = None) -> os.stat_result:
    """A status like the real one, of a writable file with another size; ``inode`` is that of another file."""
    mode = real.st_mode | stat.S_IWUSR
    own, names = (real.st_ino, real.st_nlink) if inode is None else (inode, 1)
    seconds = (int(real.st_atime), int(real.st_mtime), int(real.st_ctime))
    return os.stat_result(
        (mode, own, real.st_dev, names, real.st_uid, real.st_gid, size, *seconds),
        {"st_atime_ns": real.st_atime_ns, "st_mtime_ns": real.st_mtime_ns, "st_ctime_ns": real.st_ctime_ns},
    )
