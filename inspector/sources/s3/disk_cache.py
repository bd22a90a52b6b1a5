"""Blocks that memory has no room for, in a file without a name, so that a second pass over an object asks for nothing.

A cache on disk is a convenience: where it cannot be written or read, a block is simply not there.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections import OrderedDict, deque
from pathlib import Path
from threading import Lock
from typing import IO

import platformdirs

MAX_DISK_BYTES = 1 << 30
"""Bytes on disk, of all archives of a process together."""
MIN_FREE_SHARE = 4
"""One part of so many of the free space is used at most."""


class _Room:
    """The bytes of all files of the process together, which the file that was longest unused makes room in."""

    def __init__(self) -> None:
        self._used = 0
        self._files: OrderedDict[int, weakref.ref[DiskCache]] = OrderedDict()
        self._lock = Lock()
        self._released: deque[tuple[int, list[int]]] = deque()
        """What finalizers give back: they may run in the middle of anything, so they take no lock."""

    def take(self, size: int, limit: int, owner: DiskCache) -> bool:
        """Reserve bytes for ``owner``; says whether there was room for them."""
        with self._lock:
            self._drain()
            self._files[id(owner)] = weakref.ref(owner)
            self._files.move_to_end(id(owner))
            others = [ref for key, ref in self._files.items() if key != id(owner)]
        for other in others:
            if self._used + size <= limit:
                break
            cache = other()
            if cache is not None:
                cache.give_way()
                with self._lock:
                    self._drain()
        with self._lock:
            self._drain()
            if self._used + size > limit:
                return False
            self._used += size
            return True

    def _drain(self) -> None:
        while self._released:
            key, used = self._released.popleft()
            self._files.pop(key, None)
            self._used -= sum(used)

    def release(self, key: int, used: list[int]) -> None:
        """Give back all of ``used``, of the file with this key, with the next that is taken."""
        self._released.append((key, [sum(used)]))
        used.clear()


_ROOM = _Room()


class DiskCache:
    """Blocks of at most ``block_bytes`` by key. Thread-safe; the file is made with the first block."""

    def __init__(self, block_bytes: int, max_bytes: int = MAX_DISK_BYTES) -> None:
        self._block_bytes = block_bytes
        self._limit = max_bytes
        self._slots: dict[tuple[object, int], tuple[int, int]] = {}
        self._file: IO[bytes] | None = None
        self._reserved: list[int] = []
        self._lock = Lock()
        weakref.finalize(self, _ROOM.release, id(self), self._reserved)

    def __contains__(self, key: tuple[object, int]) -> bool:
        return key in self._slots

    def keys(self) -> list[tuple[object, int]]:
        """The keys of all blocks."""
        with self._lock:
            return list(self._slots)

    def put(self, key: tuple[object, int], block: bytes) -> None:
        """Keep a block, if there is room for it."""
        with self._lock:
            if not self._limit or key in self._slots:
                return
            try:
                self._write(key, block)
            except OSError:
                self._limit = 0  # a full or failing disk: what is there can still be read

    def get(self, key: tuple[object, int]) -> bytes | None:
        """The block, if it is there."""
        with self._lock:
            slot = self._slots.get(key)
            if slot is None or self._file is None:
                return None
            number, size = slot
            with contextlib.suppress(OSError):
                self._file.seek(number * self._block_bytes)
                data = self._file.read(size)
                if len(data) == size:
                    return data
            del self._slots[key]
            return None

    def give_way(self) -> None:
        """Forget all blocks, unless it is in use at this moment."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._slots.clear()
            _ROOM.release(id(self), self._reserved)
            if self._file is not None:
                self._file.truncate(0)
        except OSError:
            self._limit = 0
        finally:
            self._lock.release()

    def _write(self, key: tuple[object, int], block: bytes) -> None:
        """Raises OSError."""
        if self._file is None:
            folder = platformdirs.user_cache_path("archive-inspector", appauthor=False, ensure_exists=True)
            self._file = _nameless(folder)
            weakref.finalize(self, self._file.close)
            self._limit = min(self._limit, shutil.disk_usage(folder).free // MIN_FREE_SHARE)
        if not _ROOM.take(self._block_bytes, self._limit, self):
            return
        self._reserved.append(self._block_bytes)
        number = len(self._reserved) - 1
        self._file.seek(number * self._block_bytes)
        if self._file.write(block) == len(block):
            self._slots[key] = number, len(block)


def _nameless(folder: Path) -> IO[bytes]:
    """A file that is gone once it is closed, whatever ends the process. Raises OSError."""
    made: IO[bytes] = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed with what holds it
    return made
