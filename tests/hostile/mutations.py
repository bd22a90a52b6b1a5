"""Changes archives where their structure is: fields get other numbers, vanish, stand twice or take another's bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.operations.open import opening
from tests.formats.archives import leaves

MAX_FIELDS = 2_000
NUMBERS = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1)


def fields_of(data: bytes, name: str) -> list[Span]:
    """The bytes of each field of an archive."""
    archive = opening.start(BytesSource(data, name))
    opening.decode(archive, Progress())
    found = islice(leaves(archive.fields), MAX_FIELDS)
    return [span for field in found for span in field.spans if span.size] or [Span(0, len(data))]


def mutations(data: bytes, spans: Sequence[Span], random: Random) -> Iterator[bytes]:
    """Changed copies without end, each with one to three changes."""
    while True:
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            _change(changed, random.choice(spans), random.choice(spans), random)
        yield bytes(changed)


def _change(data: bytearray, field: Span, other: Span, random: Random) -> None:
    start, stop = field
    size = min(field.size, 64)
    number = random.choice((*NUMBERS, len(data), start, random.randrange(1 << 32)))
    which = random.randrange(10)
    if which < 4:
        piece = (number % (1 << 8 * size)).to_bytes(size, random.choice(("little", "big")))
        data[start : start + size] = piece
    elif which == 4 and start < len(data):
        at = min(len(data) - 1, random.randrange(start, stop))
        data[at] ^= 1 << random.randrange(8)
    elif which == 5:
        data[start:stop] = data[other.start : other.stop]
    elif which == 6:
        del data[start:stop]
    elif which == 7:
        data[start:start] = data[start:stop] * random.choice((1, 2, 50))
    elif which == 8:
        data[start : start + size] = (b"%o" % number).rjust(size, b"0")[-size:]
    else:
        del data[random.choice((start, stop)) :]
