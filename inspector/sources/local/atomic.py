"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from inspector.sources.local.new_files import NewFile, NewFiles

_PIECE = 1 << 20
"""Bytes that are written together."""


class AtomicFile:
    """A file written beside its place, which it takes when the block ends without an exception.

    Raises SourceError where the disk does not take it, or where something else is in its place by then and
    ``replace`` is not said.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        self._path = path
        self._files = NewFiles(replace=replace)
        self._file: NewFile
        self._waiting = bytearray()

    def __enter__(self) -> Self:
        self._file = self._files.add(self._path)
        return self

    def write(self, data: bytes) -> None:
        """Write after what is there."""
        self._waiting += data
        if len(self._waiting) >= _PIECE:
            self._push()

    def _push(self) -> None:
        self._file.write(bytes(self._waiting))
        self._waiting = bytearray()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._files.__exit__(kind, error, trace)
            return
        with self._files:
            self._push()
