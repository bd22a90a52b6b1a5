"""Damages by name, as transfers, disks and programs make them: each is one operation, chosen by a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.span import Span
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    Copy,
    Cut,
    Delete,
    Duplicate,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
    Rewrite,
    Swap,
)

_PART_BYTES = 5 << 20
"""The parts that uploads to S3 have by default."""
_MAX_LOST_BYTES = 900
_TEXT = b"Connection to the host closed.\n"
_HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: binary/octet-stream\r\nServer: S3\r\n\r\n"
_ERROR = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>RequestTimeout</Code></Error>'


class _Scene(Struct, frozen=True):
    """A file of ``size`` bytes that is to be damaged; the seed decides where."""

    size: int
    name: str
    seed: int

    def pick(self, first: int, stop: int, what: str = "place") -> int:
        """A number of ``[first, stop)``, the first one where that is empty."""
        digest = hashlib.shake_128(f"{self.seed}/{self.name}/{what}".encode()).digest(16)
        return first + int.from_bytes(digest, "big") % max(1, stop - first)

    @property
    def block(self) -> int:
        """Bytes of a block of a disk, fewer in a small file."""
        return _unit(self.size, 4096)

    @property
    def part(self) -> int:
        """Bytes of a part of an upload; in a file of fewer than three parts a power of two."""
        return _PART_BYTES if self.size >= 3 * _PART_BYTES else _unit(self.size, 4 << 20)

    def unit(self, size: int, first: int = 0, behind: int = 0) -> Span:
        """One of the blocks or parts of so many bytes, with ``first`` before it and ``behind`` behind it at least."""
        start = self.pick(first, self.size // size - behind) * size
        return Span(start, min(self.size, start + size))


def _unit(size: int, most: int) -> int:
    """The largest power of two that is at most a quarter of a size, and at most ``most``."""
    return min(most, 1 << max(0, (size // 4).bit_length() - 1))


def _repeated(unit: Span) -> Operation:
    """The unit over the one behind it."""
    return Copy(unit.start, unit.stop, unit.stop)


def _swapped(unit: Span) -> Operation:
    return Swap(unit, Span(unit.stop, 2 * unit.stop - unit.start))


def _zeroed(span: Span) -> Operation:
    return Replace(*span, Fill(b"\0", span.size))


def _lost(scene: _Scene) -> Operation:
    start = scene.pick(1, scene.size)
    return Delete(start, min(scene.size, start + scene.pick(1, _MAX_LOST_BYTES + 1, "size")))


def _inserted(scene: _Scene) -> Operation:
    return Insert(scene.pick(1, scene.size), Noise(scene.seed, scene.pick(1, _MAX_LOST_BYTES + 1, "size")))


def _unwritten(scene: _Scene) -> Operation:
    start = max(0, scene.size // scene.block * scene.block - scene.block * scene.pick(0, 4))
    return _zeroed(Span(min(start, scene.size - 1), scene.size))


def _middle(scene: _Scene) -> int:
    return scene.pick(scene.size // 4, scene.size)


_MADE: dict[str, Callable[[_Scene], Operation]] = {
    "flipped-bit": lambda scene: Flip(scene.pick(0, scene.size), scene.pick(0, 8, "bit")),
    "changed-bytes": lambda scene: _noisy(scene, scene.unit(scene.block)),
    "zero-block": lambda scene: _zeroed(scene.unit(scene.block)),
    "filled-block": lambda scene: _filled(scene.unit(scene.block)),
    "repeated-block": lambda scene: _repeated(scene.unit(scene.block, behind=1)),
    "lost-bytes": _lost,
    "inserted-bytes": _inserted,
    "zero-part": lambda scene: _zeroed(scene.unit(scene.part)),
    "lost-part": lambda scene: Delete(*scene.unit(scene.part, first=1)),
    "doubled-part": lambda scene: Duplicate(*scene.unit(scene.part)),
    "repeated-part": lambda scene: _repeated(scene.unit(scene.part, behind=1)),
    "swapped-parts": lambda scene: _swapped(scene.unit(scene.part, behind=1)),
    "stopped-upload": lambda scene: Cut(scene.unit(scene.part, first=1).start),
    "truncated": lambda scene: Cut(_middle(scene)),
    "error-in-the-rest": lambda scene: Replace(_middle(scene), scene.size, Inline(_ERROR)),
    "unwritten-tail": _unwritten,
    "trailing-text": lambda scene: Insert(scene.size, Inline(_TEXT)),
    "lost-beginning": lambda scene: Delete(0, min(scene.size, (1, 10, 512, 1_000)[scene.pick(0, 4)])),
    "response-headers": lambda _: Insert(0, Inline(_HEADERS)),
    "joined-archives": lambda scene: Duplicate(0, scene.size),
    "text-mode": lambda _: Rewrite(0x0A, b"\r\n"),
    "text-mode-cr": lambda _: Rewrite(0x0D, b""),
}


def _noisy(scene: _Scene, span: Span) -> Operation:
    return Replace(*span, Noise(scene.seed, span.size))


def _filled(span: Span) -> Operation:
    return Replace(*span, Fill(b"\xff", span.size))


def damage_operation(name: str, seed: int, size: int) -> Operation:
    """What a damage does to a file of ``size`` bytes. Raises OperationError for another name and an empty file."""
    if name not in _MADE:
        raise OperationError(f"{visible(name)} is no known damage. Known are {', '.join(DAMAGES)}.")
    if size < 2:
        raise OperationError("There is nothing left to damage.")
    return _MADE[name](_Scene(size, name, seed))
