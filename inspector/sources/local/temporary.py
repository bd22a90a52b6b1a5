"""Bytes kept in a file without a name, which is gone when nothing holds it any more."""

from __future__ import annotations

import tempfile
from pathlib import Path

from inspector.core.names import visible
from inspector.core.source import Source, SourceError
from inspector.sources.local.disk_calls import read_at, reason


class TemporarySource:
    """Bytes written once, in pieces, and read by position; raises SourceError where the disk does not take them."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        """In ``folder``, or where the system keeps such files."""
        self.name = name
        self.size = 0
        self._where = f"temporary file in {visible(str(folder or tempfile.gettempdir()))}"
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed when nothing holds it
        except OSError as error:
            raise SourceError(f"No {self._where} can be made: {reason(error)}.") from error

    def append(self, data: bytes) -> None:
        """Write ``data`` after what is there."""
        try:
            self._file.seek(self.size)  # reading moves the place where there is no reading by position
            written = self._file.write(data)
        except OSError as error:
            raise SourceError(f"The {self._where} cannot be written: {reason(error)}.") from error
        self.size += written or 0
        if written != len(data):
            raise SourceError(f"The {self._where} cannot be written: the disk is full.")

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        if offset < 0 or length <= 0:
            return b""
        try:
            return read_at(self._file.fileno(), length, offset)
        except OSError as error:
            raise SourceError(f"The {self._where} cannot be read: {reason(error)}.") from error

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - it has no name
        """See Source.sibling."""
        return None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
