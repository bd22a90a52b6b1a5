"""Work is linear in the size of a damaged file: bytes read and reads, counted at 1, 10 and 100 MiB."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.edit.plan_repairs import plan
from tests.counting import Counting
from tests.damage.generator import FORMATS, MIB, Made, Memory, make
from tests.formats.archives import checked
from tests.sweeping import at_every_change

MAX_READS_OF_FILE = 40
"""Times that each byte is read on average: by decoding, check, causes, and decoding and checking what repairs leave."""
MAX_READS_PER_KIB = 1.0
MAX_FIXED_BYTES = 256 * MIB
"""Bytes read in any case: windows are searched whole, and records are read with room."""
MAX_FIXED_BYTES_OF_RCA = 4_096 * MIB
"""The same for an RCA, whose search for segments has a budget of its own and is made anew after each that it finds."""
MAX_FIXED_READS = 60_000


class Counted(Counting, Memory):
    """Counts what is read."""


def hole(made: Made, random: Random) -> bytes:
    size = min(len(made.data) // 20, 5 * MIB)
    at = random.randrange(len(made.data) // 4, len(made.data) // 2)
    return made.data[:at] + bytes(size) + made.data[at + size :]


def zeroed_structure(made: Made, random: Random) -> bytes:
    start, stop = made.structure
    at = random.randrange(start, (start + stop) // 2)
    return made.data[:at] + bytes(min(4_096, stop - at)) + made.data[min(at + 4_096, stop) :]


def zeroed_beginning(made: Made, _random: Random) -> bytes:
    return bytes(4_096) + made.data[4_096:]


def doubled_part(made: Made, random: Random) -> bytes:
    size = len(made.data) // 10
    at = random.randrange(len(made.data) // 4, len(made.data) // 2)
    return made.data[: at + size] + made.data[at:]


def lost_bytes(made: Made, random: Random) -> bytes:
    at = random.randrange(len(made.data) // 4, len(made.data) // 2)
    return made.data[:at] + made.data[at + 1_001 :]


def noise(made: Made, random: Random) -> bytes:
    size = min(len(made.data) // 20, 5 * MIB)
    at = random.randrange(len(made.data) // 4, len(made.data) // 2)
    return made.data[:at] + random.randbytes(size) + made.data[at + size :]


KINDS: tuple[Callable[[Made, Random], bytes], ...] = (
    *(hole, zeroed_structure, zeroed_beginning),
    *(doubled_part, lost_bytes, noise),
)
LARGEST = (hole, zeroed_structure, lost_bytes)
"""Kinds that are tried at 100 MiB too."""
CASES = [
    (size, each, kind) for size in (1, 10, 100) for each in FORMATS for kind in (LARGEST if size == 100 else KINDS)
]


@pytest.mark.parametrize(
    "case",
    at_every_change(CASES, lambda _: False, lambda case: f"{case[0]}-{case[1]}-{case[2].__name__}"),
)
def test_work_is_linear(case: tuple[int, str, Callable[[Made, Random], bytes]]) -> None:
    size, made_format, kind = case
    made = make(made_format, Random(size), size * MIB)
    data = kind(made, Random(7))
    source = Counted.of(made_format, data, made.metadata)
    assert isinstance(source, Counted)
    plan(checked(source), Progress(), in_place=False)

    fixed = MAX_FIXED_BYTES_OF_RCA if made_format == "rca" else MAX_FIXED_BYTES
    assert source.bytes <= fixed + MAX_READS_OF_FILE * len(data)
    assert source.reads <= MAX_FIXED_READS + MAX_READS_PER_KIB * len(data) / 1024
