"""Archives that lost or gained bytes: seeded, each with what its members were."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from tests.formats.archives import codes
from tests.formats.caf.building import build_archive
from tests.formats.caf.repairing import checked, contents
from tests.samples.writers import Files, index_json, ranges_of

PREFIX = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nServer: AmazonS3\r\n\r\n"
MESSAGE = b"packing 12 files, please wait ...\ndone in 0.3 s\n"


@dataclass(frozen=True, slots=True)
class Case:
    """An archive that was damaged: ``size`` bytes were inserted, negative for lost ones, and ``files`` were in it."""

    seed: int
    kind: str
    data: bytes
    files: Files
    size: int


def cases(first: int, last: int) -> Iterator[Case]:
    """The cases of these seeds."""
    kinds = list(_KINDS)
    for seed in range(first, last):
        rng = random.Random(seed)
        kind = kinds[seed % len(kinds)]
        files = _files(rng)
        data = b"".join(files.values())
        damaged = _KINDS[kind](rng, data, files)
        if len(damaged) != len(data):
            index = index_json(ranges_of(files))
            yield Case(seed, kind, build_archive(index, damaged), files, len(damaged) - len(data))


# ---- archives ---------------------------------------------------------------------------------------------------


def _files(rng: random.Random) -> Files:
    """Members as people have them: some begin with a signature, some are text, some are alike in size."""
    equal = rng.choice((0, 0, 0, 512, 1_000, 4_096))
    makers = rng.choice((list(_CONTENTS), ["png"], ["png", "gzip", "zeros"], ["text"], ["random"], ["zip", "text"]))
    found: Files = {}
    for number in range(rng.randint(1, 24)):
        maker = rng.choice(makers)
        size = equal or rng.choice((rng.randint(0, 40), rng.randint(40, 900), rng.randint(900, 6_000)))
        found[f"{number:03}.{maker}"] = _CONTENTS[maker](rng, size)
    return found


def _beginning(signature: bytes) -> Callable[[random.Random, int], bytes]:
    return lambda rng, size: (signature + rng.randbytes(size))[:size]


def _text(rng: random.Random, size: int) -> bytes:
    lines = (f"{rng.random():.6f},{rng.randint(0, 99)},row\n".encode() for _ in range(size // 8 + 1))
    return b"".join(lines)[:size]


def _gzip(rng: random.Random, size: int) -> bytes:
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    return (packed.compress(rng.randbytes(size)) + packed.flush())[:size]


_CONTENTS: dict[str, Callable[[random.Random, int], bytes]] = {
    "png": _beginning(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "jpg": _beginning(b"\xff\xd8\xff\xe0\0\x10JFIF\0"),
    "zip": _beginning(b"PK\x03\x04\x14\0\0\0\x08\0"),
    "tif": _beginning(b"II*\0\x08\0\0\0"),
    "gzip": _gzip,
    "text": _text,
    "zeros": lambda _, size: bytes(size),
    "random": lambda rng, size: rng.randbytes(size),
    "sparse": lambda rng, size: (bytes(size // 2) + rng.randbytes(size))[:size],
}


# ---- damage -----------------------------------------------------------------------------------------------------


def _amount(rng: random.Random, most: int) -> int:
    return min(most, rng.choice((1, 1, 2, 7, 64, 100, 512, 4_096, rng.randint(1, 3_000))))


def _lose(rng: random.Random, data: bytes, _: Files) -> bytes:
    size = _amount(rng, len(data))
    at = rng.randint(0, len(data) - size)
    return data[:at] + data[at + size :]


def _insert(rng: random.Random, data: bytes, _: Files) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.randbytes(_amount(rng, 4_096)) + data[at:]


def _insert_zeros(rng: random.Random, data: bytes, _: Files) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + bytes(_amount(rng, 4_096)) + data[at:]


def _double(rng: random.Random, data: bytes, _: Files) -> bytes:
    size = max(1, min(len(data), rng.choice((64, 100, 512, 4_096, rng.randint(64, 3_000)))))
    at = rng.randint(0, max(0, len(data) - size))
    return data[: at + size] + data[at:]


def _member(rng: random.Random, files: Files) -> tuple[int, int]:
    _, start, stop = rng.choice(ranges_of(files))
    return start, stop


def _lose_member(rng: random.Random, data: bytes, files: Files) -> bytes:
    start, stop = _member(rng, files)
    return data[:start] + data[stop:]


def _double_member(rng: random.Random, data: bytes, files: Files) -> bytes:
    start, stop = _member(rng, files)
    return data[:stop] + data[start:]


def _repeat_member_elsewhere(rng: random.Random, data: bytes, files: Files) -> bytes:
    (start, stop), (_, at) = _member(rng, files), _member(rng, files)
    return data[:at] + data[start:stop] + data[at:]


_KINDS: dict[str, Callable[[random.Random, bytes, Files], bytes]] = {
    "bytes lost": _lose,
    "bytes inserted": _insert,
    "zeros inserted": _insert_zeros,
    "block doubled": _double,
    "member lost": _lose_member,
    "member doubled": _double_member,
    "member repeated elsewhere": _repeat_member_elsewhere,
    "header of HTTP in front": lambda _, data, __: PREFIX + data,
    "message in front": lambda rng, data, _: MESSAGE * rng.randint(1, 5) + data,
    "copied in text mode": lambda _, data, __: data.replace(b"\n", b"\r\n"),
    "copied back from text mode": lambda _, data, __: data.replace(b"\r\n", b"\n"),
    "beginning lost": lambda rng, data, _: data[_amount(rng, len(data)) :],
    "end of the data lost": lambda rng, data, _: data[: len(data) - _amount(rng, len(data))],
}


# ---- what comes of them -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new archive: its findings, and how many members of it are what they were, and are something else."""

    code: str
    findings: tuple[str, ...]
    right: int
    wrong: int


def outcome(case: Case, repair: Repair) -> Outcome:
    """What a new archive holds. A member named as doubtful claims to be nothing."""
    assert repair.content is not None
    after = checked(b"".join(repair.content(Progress())))
    held = [(name.decode(), content) for name, content in contents(after)]
    known = [case.files[name] == content for name, content in held if not name.endswith(".doubtful")]
    return Outcome(repair.code, tuple(codes(after)), sum(known), len(known) - sum(known))
