"""Findings name the cause first: the first sentence has at most MAX_WORDS words, for samples sound and damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from inspector.core.archive import Emitter
from inspector.core.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import FORMATS
from inspector.operations.open.opening import decode, start
from inspector.resources import samples

MAX_WORDS = 20
NOT_YET = ("rca", "datas3t", "datas3t-metadata", "datas3t-index")
"""Formats whose findings are still to be shortened. Remove each when it is done."""
CUTS = FLIPS = 30
"""Variants of each sample: cut off, and with one bit flipped, at as many places."""

SAMPLES = [*samples(), *(Path(__file__).parent.parent / "samples").iterdir()]
ARCHIVES = sorted(path for sample in SAMPLES for path in ([sample] if sample.is_file() else sample.rglob("*")))


def first_sentence(message: str) -> str:
    return message.partition(". ")[0]


def variants(data: bytes, random: Random) -> Iterator[bytes]:
    yield data
    if not data:
        return
    for _ in range(CUTS):
        yield data[: random.randrange(len(data))]
    for _ in range(FLIPS):
        at = random.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def messages(data: bytes, name: str) -> Iterator[tuple[str, str]]:
    """The format of an archive and each message of its findings, after a check."""
    archive = start(BytesSource(data, name))
    decode(archive, Progress())
    if archive.decoder is not None:
        archive.decoder.check(archive, Emitter(archive), Progress())
    for finding in archive.findings:
        yield archive.format, finding.message


@pytest.mark.parametrize("name", [known.name for known in FORMATS if known.name not in NOT_YET])
def test_the_first_sentence_of_a_finding_is_short(name: str) -> None:
    suffixes = next(known.suffixes for known in FORMATS if known.name == name)
    found = {
        message
        for path in ARCHIVES
        if path.name.endswith(suffixes)
        for data in variants(path.read_bytes(), Random(path.name))
        for recognised, message in messages(data, path.name)
        if recognised == name
    }

    assert found
    assert not {message for message in found if len(first_sentence(message).split()) > MAX_WORDS}
