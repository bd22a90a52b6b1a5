"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from inspector.core.source import SourceError
from inspector.sources.disk import reason


class Replacing:
    """A file written beside its place, which it takes when the block ends without an exception.

    Raises SourceError where the disk does not take it, or where something else is in its place by then and
    ``replace`` is not said.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        self._path = path
        self._replace = replace
        self._beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
        self._file: BinaryIO

    def __enter__(self) -> Self:
        try:
            self._file = self._beside.open("xb")
        except OSError as error:
            raise self._failure(error) from error
        return self

    def write(self, data: bytes) -> None:
        """Write after what is there."""
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failure(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failure:
            raise self._failure(failure) from failure
        finally:
            with contextlib.suppress(OSError):
                self._file.close()
            self._beside.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if self._path.exists() and not self._replace:
            raise SourceError(f"{self._path.name} cannot be written: something is there already.")
        self._beside.replace(self._path)
        with contextlib.suppress(OSError):  # folders cannot be opened on Windows
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _failure(self, error: OSError) -> SourceError:
        return SourceError(f"{self._path.name} cannot be written: {reason(error)}.")
