"""Damaged tars by seed, each with the truth about it: what is whole, what is wrong, and which states are right."""

from __future__ import annotations

import random
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field

from inspector.core.verdict import State
from tests.formats.tar.tar_building import build

BLOCK = 512
FORMS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


@dataclass(frozen=True)
class Part:
    """A member in a sound tar: its headers begin at ``head``, its data is ``[start, stop)``."""

    name: str
    content: bytes
    head: int
    start: int
    stop: int


@dataclass(frozen=True)
class Sound:
    data: bytes
    parts: tuple[Part, ...]
    end: int
    """Where the zeros at the end begin."""


@dataclass
class Case:
    """A damaged tar. ``whole`` members keep headers and content; all others are lost or wrong.

    ``unseen`` members are wrong in a way that nothing in a tar can show: damage inside their data. ``written`` are the
    members as they were.
    """

    kind: str
    data: bytes
    whole: list[tuple[str, bytes]]
    states: frozenset[State]
    written: list[tuple[str, bytes]]
    unseen: list[str] = field(default_factory=list)


DAMAGED = frozenset((State.DAMAGED,))
WARNING = frozenset((State.WARNING,))
ANY = frozenset((State.SOUND, State.WARNING, State.DAMAGED))


def noise(rng: random.Random, size: int) -> bytes:
    return bytes(rng.choices(range(1, 256), k=size))


def sound(rng: random.Random, prefix: str = "") -> Sound:
    """A tar of 4 to 12 members, with text and binary content that neither begins nor ends in zeros."""
    members = []
    for number in range(rng.randrange(4, 13)):
        size = rng.choice(
            (0, 1, rng.randrange(2, 600), 512, 1024, rng.randrange(600, 9000), rng.randrange(9000, 40000))
        )
        raw = (
            bytes(rng.choices(range(1, 256), k=size))
            if rng.random() < 0.5
            else (b"line %d of text\n" % number * size)[:size]
        )
        long = "folder/" * 20 if rng.random() < 0.15 else ""
        members.append((f"{prefix}{long}{number:02d}.bin", raw))
    form = rng.choice(FORMS[1:])
    data = build(members, form)
    if rng.random() < 0.5:
        data += bytes(-len(data) % 10240)
    parts, at = [], 0
    for name, content in members:
        with_headers = len(build([(name, content)], form)) - 1024
        padded = -(-len(content) // BLOCK) * BLOCK
        start = at + with_headers - padded
        parts.append(Part(name, content, at, start, start + len(content)))
        at += with_headers
    return Sound(data, tuple(parts), at)


def padded(stop: int) -> int:
    return -(-stop // BLOCK) * BLOCK


def zeroed(kind: str, tar: Sound, low: int, high: int) -> Case:
    high = min(high, len(tar.data))
    return overwritten(kind, tar, low, bytes(high - low))


def overwritten(kind: str, tar: Sound, low: int, new: bytes) -> Case:
    data = tar.data[:low] + new + tar.data[low + len(new) :]
    whole, unseen, hit = [], [], 0
    for part in tar.parts:
        same = data[part.head : part.stop] == tar.data[part.head : part.stop]
        if same:
            whole.append((part.name, part.content))
        elif data[part.head : part.start] == tar.data[part.head : part.start] and low + len(new) <= padded(part.stop):
            unseen.append(part.name)
        hit += data[part.head : part.start] != tar.data[part.head : part.start]
    # Zeros up to a record look like the end of the archive: nothing in a tar says that members followed.
    tail = low < tar.end and not data[low:].strip(b"\0")
    unseen += [part.name for part in tar.parts if tail]
    return Case(kind, data, whole, DAMAGED if hit and not tail else ANY, _all(tar), unseen)


def moved(kind: str, tar: Sound, at: int, drop: int, new: bytes) -> Case:
    """Bytes lost and inserted at ``at``."""
    data = tar.data[:at] + new + tar.data[at + drop :]
    whole = [
        (part.name, part.content)
        for part in tar.parts
        if part.stop <= at or part.head >= at + drop or not (drop or part.head < at < part.stop)
    ]
    if (len(new) - drop) % BLOCK == 0 and at:
        # The next header is where a header may be: what lies between may pass for data of the member before.
        touched = [part.name for part in tar.parts if part.stop > at]
        return Case(kind, data, [each for each in whole if each[0] not in touched], ANY, _all(tar), touched)
    # Where nothing but zeros is left, the file looks as if it had been cut off.
    known = at < tar.parts[-1].stop and at + drop < tar.end and any(data[at:])
    return Case(kind, data, whole, DAMAGED if known else ANY, _all(tar))


def _zero_header(rng: random.Random) -> Case:
    tar = sound(rng)
    part = rng.choice(tar.parts)
    return zeroed("zeroed header", tar, part.start - BLOCK, part.start)


def _zero_headers(rng: random.Random) -> Case:
    tar = sound(rng)
    part = rng.choice(tar.parts)
    return zeroed("zeroed headers", tar, part.head, part.start)


def _zero_start(rng: random.Random) -> Case:
    return zeroed("zeroed start", sound(rng), 0, 4096)


def _hole(rng: random.Random) -> Case:
    tar = sound(rng)
    low = rng.randrange(max(1, tar.end // 4096)) * 4096
    return zeroed("hole", tar, low, low + 4096 * rng.randrange(1, 5))


def _zero_tail(rng: random.Random) -> Case:
    tar = sound(rng)
    return zeroed("zeroed tail", tar, rng.randrange(BLOCK, tar.end), len(tar.data))


def _noise(rng: random.Random) -> Case:
    tar = sound(rng)
    low = rng.randrange(max(1, tar.end // BLOCK)) * BLOCK
    return overwritten(
        "noise", tar, low, bytes(rng.choices(range(1, 256), k=min(rng.choice((512, 4096)), tar.end - low)))
    )


def _lost(rng: random.Random) -> Case:
    tar = sound(rng)
    drop = rng.choice((1, rng.randrange(1, 512), 512, rng.randrange(512, 6000), 4096))
    at = rng.randrange(BLOCK, max(BLOCK + 1, tar.end - drop))
    return moved("lost", tar, at, min(drop, tar.end - at), b"")


def _doubled(rng: random.Random) -> Case:
    tar = sound(rng)
    size = rng.choice((1, rng.randrange(1, 512), 512, rng.randrange(512, 6000), 4096))
    at = rng.randrange(1, tar.end)
    return moved("doubled", tar, at, 0, tar.data[max(0, at - size) : at])


def _prefixed(rng: random.Random) -> Case:
    text = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-tar\r\n\r\n"[: rng.randrange(3, 53)]
    return moved("prefixed", sound(rng), 0, 0, text * rng.randrange(1, 40))


def _truncated(rng: random.Random) -> Case:
    tar = sound(rng)
    at = rng.randrange(BLOCK, tar.end)
    data = tar.data[:at]
    whole = [(part.name, part.content) for part in tar.parts if part.stop <= at]
    return Case("truncated", data, whole, frozenset((State.WARNING, State.DAMAGED)), _all(tar))


def _without_end(rng: random.Random) -> Case:
    tar = sound(rng)
    return Case("without end", tar.data[: tar.end], _all(tar), WARNING, _all(tar))


def _joined(rng: random.Random) -> Case:
    tars = [sound(rng, f"{letter}-") for letter in "abc"[: rng.randrange(2, 4)]]
    written = [each for tar in tars for each in _all(tar)]
    return Case("joined", b"".join(tar.data for tar in tars), written, WARNING, written)


def _more_zeros(rng: random.Random) -> Case:
    tar = sound(rng)
    return Case("more zeros", tar.data + bytes(20480 * rng.randrange(1, 9)), _all(tar), WARNING, _all(tar))


def _text_mode(rng: random.Random) -> Case:
    tar = sound(rng)
    data = tar.data.replace(b"\n", b"\r\n")
    whole = [
        (part.name, part.content)
        for part in tar.parts
        if b"\n" not in tar.data[part.head : part.stop] and b"\n" not in part.content
    ]
    return Case("text mode", data, whole, DAMAGED if b"\n" in tar.data[: tar.end] else ANY, _all(tar))


def _unharmed(rng: random.Random) -> Case:
    tar = sound(rng)
    return Case("unharmed", tar.data, _all(tar), frozenset((State.SOUND,)), _all(tar))


def _all(tar: Sound) -> list[tuple[str, bytes]]:
    return [(part.name, part.content) for part in tar.parts]


KINDS: tuple[Callable[[random.Random], Case], ...] = (
    _zero_header, _zero_headers, _zero_start, _hole, _zero_tail, _noise, _lost, _doubled, _prefixed, _truncated,
    _without_end, _joined, _more_zeros, _text_mode, _unharmed,
)  # fmt: skip


def case(seed: int) -> Case:
    """The case of a seed; kinds take turns."""
    return KINDS[seed % len(KINDS)](random.Random(f"tar {seed}"))
