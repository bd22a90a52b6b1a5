"""A regular file, read by position through a descriptor that is held open."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePath

from inspector.core.source import Source, SourceError
from inspector.sources.local.disk_calls import read_at, reason
from inspector.sources.local.identity import Identity

NOTHING_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP))
"""How the system says that no file has a name; anything else says that it cannot tell."""


class FileSource:
    """A regular file. Size and ``identity`` are those at opening; a file that shrinks gives short reads.

    Raises SourceError where the path is no regular file (a device or a pipe could block for ever) or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        try:
            # O_NONBLOCK: opening a pipe that nobody writes to must not wait.
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise SourceError(f"{path.name or path} cannot be opened: {reason(error)}.") from error
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise SourceError(f"{path.name or path} is no regular file, so there is nothing in it to show.")
        self.size = status.st_size
        self.identity = Identity.of(status)

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        try:
            return read_at(self._descriptor, length, offset)
        except OSError as error:
            raise SourceError(f"{self.path.name} cannot be read at byte {offset:,}: {reason(error)}.") from error

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        if not self.path.name.endswith(instead_of):
            return None
        beside = self.name.removesuffix(instead_of) + suffix
        # Asked for every kind of digest manifest of every archive that is checked, and seldom there. One look at the
        # whole folder would be quicker only while there is little in it.
        try:
            found = os.stat(beside)  # noqa: PTH116 - a Path takes longer than the look
        except OSError as error:
            if error.errno in NOTHING_THERE:
                return None
            name = PurePath(beside).name
            raise SourceError(f"Whether {name} is there cannot be found out: {reason(error)}.") from error
        return FileSource(Path(beside)) if stat.S_ISREG(found.st_mode) else None

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.close()
