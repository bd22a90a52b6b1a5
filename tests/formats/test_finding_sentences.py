"""Findings name the cause first: the first sentence has at most MAX_WORDS words, for samples sound and damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from inspector.core.archive import Emitter
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source
from inspector.formats import FORMATS
from inspector.operations.open.opening import decode, start
from inspector.resources import samples
from inspector.sources.local.file import FileSource
from tests.sweeping import in_the_sweep

MAX_WORDS = 20
PLACES, SWEPT_PLACES = 5, 30
"""At how many places each sample is cut off, and at how many one bit is flipped."""

SAMPLES = [*samples(), *(Path(__file__).parent.parent / "samples").iterdir()]
ARCHIVES = sorted(path for sample in SAMPLES for path in ([sample] if sample.is_file() else sample.rglob("*")))


def first_sentence(message: str) -> str:
    return message.partition(". ")[0]


def variants(data: bytes, random: Random, number: int) -> Iterator[bytes]:
    yield data
    if not data:
        return
    for _ in range(number):
        yield data[: random.randrange(len(data))]
    for _ in range(number):
        at = random.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


class Sample(BytesSource):
    """A sample with other bytes, or with other bytes in the file beside it."""

    def __init__(self, data: bytes, path: Path, beside: bytes | None = None) -> None:
        super().__init__(data, str(path))
        self._beside = beside

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        found = FileSource(Path(self.name)).sibling(suffix, instead_of)
        return found if found is None or self._beside is None else BytesSource(self._beside, found.name)


def damaged(path: Path, number: int, *, lone: bool) -> Iterator[Source]:
    """Variants of a sample, and of the file beside it unless the format has a suffix of its own."""
    data = path.read_bytes()
    for each in variants(data, Random(path.name), number):
        yield BytesSource(each, path.name)
        if not lone:
            yield Sample(each, path)
    beside = [FileSource(path).sibling(".metadata"), FileSource(path).sibling(".index", ".tar")]
    for found in beside if not lone else ():
        for each in variants(found.read(0, found.size) if found else b"", Random(path.name), number):
            yield Sample(data, path, each)


def messages(source: Source) -> Iterator[tuple[str, str]]:
    """The format of an archive and each message of its findings, after a check."""
    archive = start(source)
    decode(archive, Progress())
    if archive.decoder is not None:
        archive.decoder.check(archive, Emitter(archive), Progress())
    for finding in archive.findings:
        yield archive.format, finding.message


@pytest.mark.parametrize("number", [PLACES, in_the_sweep(SWEPT_PLACES)])
@pytest.mark.parametrize("name", [known.name for known in FORMATS])
def test_the_first_sentence_of_a_finding_is_short(name: str, number: int) -> None:
    suffixes = next(known.suffixes for known in FORMATS if known.name == name)
    found = {
        message
        for path in ARCHIVES
        if path.name.endswith(suffixes or (".tar", ".index"))
        for source in damaged(path, number, lone=bool(suffixes))
        for recognised, message in messages(source)
        if recognised == name
    }

    assert found
    assert not {message for message in found if len(first_sentence(message).split()) > MAX_WORDS}
