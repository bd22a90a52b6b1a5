"""Damages by name, as transfers, disks and programs make them: each is one operation, chosen by a seed."""

from __future__ import annotations

import hashlib

from inspector.core.names import visible
from inspector.core.span import Span
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    Cut,
    Delete,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
)

_BLOCK_BYTES = 4096
"""A block of a disk."""
_PART_BYTES = 5 << 20
"""The parts that uploads to S3 have by default."""
_MAX_LOST_BYTES = 900
_TEXT = b"Connection to the host closed.\n"


def damage_operation(name: str, seed: int, size: int) -> Operation:
    """What a damage does to a file of ``size`` bytes. Raises OperationError for another name and an empty file."""
    if name not in DAMAGES:
        raise OperationError(f"{visible(name)} is no known damage. Known are {', '.join(DAMAGES)}.")
    if size < 2:
        raise OperationError("There is nothing left to damage.")

    def pick(first: int, stop: int, what: str = "place") -> int:
        """A number of ``[first, stop)``, the first one where that is empty."""
        digest = hashlib.shake_128(f"{seed}/{name}/{what}".encode()).digest(16)
        return first + int.from_bytes(digest, "big") % max(1, stop - first)

    def unit(size_of_unit: int, first: int = 0) -> Span:
        """One of the blocks or parts of so many bytes, with ``first`` before it at least."""
        start = pick(first, size // size_of_unit) * size_of_unit
        return Span(start, min(size, start + size_of_unit))

    block = unit(_unit(size, _BLOCK_BYTES))
    part = unit(_PART_BYTES if size >= 3 * _PART_BYTES else _unit(size, 4 << 20), first=1)
    lost = pick(1, size)
    made: dict[str, Operation] = {
        "flipped-bit": Flip(pick(0, size), pick(0, 8, "bit")),
        "changed-bytes": Replace(*block, Noise(seed, block.size)),
        "zero-block": Replace(*block, Fill(b"\0", block.size)),
        "lost-bytes": Delete(lost, min(size, lost + pick(1, _MAX_LOST_BYTES + 1, "size"))),
        "lost-part": Delete(*part),
        "stopped-upload": Cut(part.start),
        "truncated": Cut(pick(size // 4, size)),
        "trailing-text": Insert(size, Inline(_TEXT)),
    }
    return made[name]


def _unit(size: int, most: int) -> int:
    """The largest power of two that is at most a quarter of a size, and at most ``most``."""
    return min(most, 1 << max(0, (size // 4).bit_length() - 1))
