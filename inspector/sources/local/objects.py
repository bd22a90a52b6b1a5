"""New objects under keys with slashes, as a bucket has them, in a folder of this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Protocol, Self

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import Disk, reason
from inspector.sources.local.new_files import NewFiles


class Objects(Protocol):
    """A context manager for objects that are there when its block has ended without an exception.

    Raises SourceError where what is put cannot be kept, or where something is there already.
    """

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """Keep an object; what ``content`` raises passes through."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the objects be there, or none of them."""


class FolderObjects:
    """Objects as files beneath ``root``, which is made where it is missing, with the folders that keys name."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self._root = root
        self._files = NewFiles(disk=disk)
        self._made: list[Path] = []

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """See Objects."""
        path = self._root.joinpath(*PurePosixPath(key).parts)
        self._make(path.parent)
        out = self._files.add(path)
        for piece in content:
            out.write(piece)

    def _make(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            for each in reversed(missing):
                each.mkdir(exist_ok=True)
                self._made.append(each)
        except OSError as error:
            raise SourceError(f"The folder {visible(str(folder))} cannot be made: {reason(error)}.") from error

    def __enter__(self) -> Self:
        self._files.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        done = False
        try:
            self._files.__exit__(kind, error, trace)
            done = kind is None
        finally:
            for each in () if done else reversed(self._made):
                with contextlib.suppress(OSError):  # something is in it by now
                    each.rmdir()
