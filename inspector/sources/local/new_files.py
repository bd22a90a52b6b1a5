"""New files that take their places together, each when all of them are whole."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import Disk, reason, write_all
from inspector.sources.local.unfinished import name_beside, new_group

_STEP = 16 << 20
"""Bytes copied between two looks at whether to go on."""
_FLAGS = ("O_CLOEXEC", "O_BINARY", "O_NOFOLLOW")


class NewFile:
    """A file written beside its place; ``size`` is how many bytes it has so far. NewFiles makes them.

    Raises SourceError where the disk does not take what is written.
    """

    def __init__(self, path: Path, disk: Disk, group: str, number: int, *, holds: bool) -> None:
        """``group`` and ``number`` are for its name; with ``holds`` it shows that all of its group are in use."""
        self.path = path
        self.size = 0
        self._disk = disk
        self._holds = holds
        self._beside = path.with_name(name_beside(path.name, group, number))
        self._placed = self._replaced = self._finished = False
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | sum(getattr(os, flag, 0) for flag in _FLAGS)
        with self._sentences():
            self._descriptor = os.open(self._beside, flags, 0o666)
        with contextlib.suppress(OSError):  # where there are no locks nobody can take it for unfinished
            disk.lock(self._descriptor)

    def write(self, data: bytes) -> None:
        """Write behind what is there."""
        with self._sentences():
            write_all(self._disk, self._descriptor, data, self.size)
        self.size += len(data)

    def keep(self, offset: int, length: int) -> None:
        """Say that these bytes will be written over: of a file, all can be."""

    def overwrite(self, offset: int, data: bytes) -> None:
        """Write over bytes that have been written."""
        assert offset + len(data) <= self.size
        with self._sentences():
            write_all(self._disk, self._descriptor, data, offset)

    def copy(self, descriptor: int, length: int, progress: Progress) -> int:
        """Let the system copy the first ``length`` bytes of an open file behind what is there, its holes as holes.

        The result is how many bytes it took; the caller writes the others. Raises Cancelled.
        """
        start = self.size
        with contextlib.suppress(OSError):  # whoever reads and writes what is left learns whose error it is
            for begin, stop in _stretches(descriptor, length):
                progress.advance(start + begin - self.size)
                self.size = start + begin
                if not self._copy_stretch(descriptor, begin, stop, progress):
                    return self.size - start
            self._disk.truncate(self._descriptor, start + length)
            progress.advance(start + length - self.size)
            self.size = start + length
        return self.size - start

    def _copy_stretch(self, descriptor: int, begin: int, stop: int, progress: Progress) -> bool:
        """Copy the bytes ``[begin, stop)`` of an open file; whether they were all taken. Raises OSError."""
        while begin < stop:
            count = os.copy_file_range(descriptor, self._descriptor, min(_STEP, stop - begin), begin, self.size)
            if count <= 0:
                return False
            begin += count
            self.size += count
            progress.advance(count)
        return True

    def finish(self) -> None:
        """Wait until the disk has all of it; nothing is written after that."""
        if self._finished:
            return
        with self._sentences():
            self._disk.sync(self._descriptor)
        self._finished = True
        if not self._holds:
            self._close()

    def place(self, *, replace: bool) -> None:
        """Give it its place, where something may be already if ``replace`` is said."""
        self._close()  # an open file cannot be renamed everywhere
        with self._sentences():
            try:
                self._link()
            except FileExistsError as error:
                if not replace:
                    words = "something is there already"
                    raise SourceError(f"{visible(self.path.name)} cannot be written: {words}.") from error
                self._beside.replace(self.path)
                self._replaced = True
        self._placed = True

    def _link(self) -> None:
        try:
            os.link(self._beside, self.path)  # unlike renaming it never takes the place of another file
        except FileExistsError:
            raise
        except OSError as error:  # a file system without hard links
            if os.path.lexists(self.path):
                raise FileExistsError from error
            self._beside.rename(self.path)

    def discard(self) -> bool:
        """Take it away where that is possible; whether it stays because it has replaced another file."""
        self._close()
        self.tidy()
        if self._placed and not self._replaced:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        return self._replaced

    def tidy(self) -> None:
        """Take away the name beside the place."""
        with contextlib.suppress(OSError):
            self._beside.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with contextlib.suppress(OSError):  # what counts has been synchronised
                os.close(descriptor)

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            done = f" after {self.size:,} bytes" if self.size else ""
            folder = self.path.parent
            why = reason(error) if folder.is_dir() else f"there is no folder {visible(str(folder))}"
            raise SourceError(f"{visible(self.path.name)} cannot be written{done}: {why}.") from error


class NewFiles:
    """A context manager for files that are there when its block has ended without an exception, and not otherwise.

    Raises SourceError. Where several files take their places and a later one cannot, the earlier ones are taken away
    again; only those that have replaced others stay, and the sentence names them.
    """

    def __init__(self, *, replace: bool = False, disk: Disk | None = None) -> None:
        self._replace = replace
        self._disk = disk or Disk()
        self._files: list[NewFile] = []
        self._group = new_group()

    def add(self, path: Path) -> NewFile:
        """Begin a file; the one before it is finished."""
        if self._files:
            self._files[-1].finish()
        number = len(self._files)
        holds = all(each.path.parent != path.parent for each in self._files)
        self._files.append(NewFile(path, self._disk, self._group, number, holds=holds))
        return self._files[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            self._place()
        except SourceError as failure:
            kept = self._discard()
            if not kept:
                raise
            raise SourceError(f"{failure} These are new already: {', '.join(kept)}.") from failure
        except BaseException:
            self._discard()
            raise

    def _place(self) -> None:
        if self._files:
            self._files[-1].finish()
        for each in self._files:
            each.place(replace=self._replace)
        for each in self._files:
            each.tidy()
        for folder in {each.path.parent for each in self._files}:
            with contextlib.suppress(OSError):  # the files are in their places, whatever the folder's disk says
                self._disk.sync_folder(folder)

    def _discard(self) -> list[str]:
        """Take away what can be taken away; the names of those that stay."""
        return [visible(each.path.name) for each in self._files if each.discard()]


def _stretches(descriptor: int, length: int) -> Iterator[tuple[int, int]]:
    """Where in the first ``length`` bytes of an open file there is data, not holes. Raises OSError."""
    if not hasattr(os, "copy_file_range") or not hasattr(os, "SEEK_DATA"):
        raise OSError
    stop = 0
    while stop < length:
        try:
            begin = os.lseek(descriptor, stop, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return  # there is only a hole to the end
        if begin >= length:
            return
        stop = min(length, os.lseek(descriptor, begin, os.SEEK_HOLE))
        yield begin, stop
