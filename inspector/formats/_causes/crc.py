"""Which single bit changes a CRC-32 so: it is linear, so the answer does not depend on the bytes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POLYNOMIAL = 0xEDB88320
_LANES = 4096
"""Stretches of the bytes that are searched side by side."""


def flipped_in(change: int, size: int) -> list[tuple[int, int]]:
    """The bits of ``size`` bytes that change a CRC-32 by exclusive or with ``change``: (byte, mask), at most a few.

    The register is run backwards over zeros: where it is that of a single bit, that bit is there. Linear in ``size``.
    """
    import numpy as np

    if not change or size <= 0:
        return []
    table, top, single = _tables()
    lanes = min(_LANES, size)
    steps = -(-size // lanes)
    basis = np.uint32(1) << np.arange(32, dtype=np.uint32)
    for _ in range(steps):
        basis, _hit = _back(basis, table, top, single)
    state = np.empty(lanes, np.uint32)
    value = change
    columns = [int(each) for each in basis]
    for lane in range(lanes):
        state[lane] = value
        value = _apply(columns, value)
    found: list[tuple[int, int]] = []
    for step in range(steps):
        before = state
        state, hit = _back(state, table, top, single)
        for place in np.flatnonzero(hit):
            distance = int(place) * steps + step
            if distance < size:
                found.append((size - 1 - distance, int(top[before[place] >> 24])))
    return sorted(found)


def _back(
    state: NDArray[Any], table: NDArray[Any], top: NDArray[Any], single: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The registers one zero byte earlier, and where a single bit of the byte before made them."""
    index = top[state >> 24]
    rest = state ^ table[index]
    return (rest << 8) | index, (rest == 0) & single[index]


def _apply(columns: list[int], value: int) -> int:
    made = 0
    while value:
        low = value & -value
        made ^= columns[low.bit_length() - 1]
        value ^= low
    return made


@cache
def _tables() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The table of the CRC, which of its rows has a given highest byte, and which rows are of a single bit."""
    import numpy as np

    rows = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)  # noqa: PLW2901 - the register
        rows.append(number)
    table = np.array(rows, np.uint32)
    top = np.empty(256, np.uint32)
    top[table >> 24] = np.arange(256, dtype=np.uint32)
    single = np.zeros(256, bool)
    single[[1 << bit for bit in range(8)]] = True
    return table, top, single
