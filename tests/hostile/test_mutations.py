"""No change of an archive makes the program raise, take long or use much memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.operations.check.checking import check_archive
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open import opening
from tests.formats.archives import leaves
from tests.hostile.bounds import MEMORY_BYTES, SECONDS_PER_WORK
from tests.hostile.mutations import fields_of, mutations
from tests.sweeping import in_the_sweep

SEEDS = {
    "journey.caf": 2_000,
    "pretty.caf": 2_000,
    "two-chunks.rca": 400,
    "two-resets-spec.rca": 400,
    "two-entries.tacozip": 2_000,
    "odd.zip": 2_000,
    "streamed.zip": 2_000,
    "plain.tar": 2_000,
    "pax.tar": 2_000,
    "gnu.tar": 2_000,
    "bsd.a": 1_600,
    "library.a": 1_600,
}
"""The samples and their mutations in the sweep, 20,000 in all; those of RCA take long: a flipped bit is looked for."""


def everything(data: bytes, name: str) -> None:
    """Decode, look at each field, read each member, check and plan repairs, as commands do."""
    archive = opening.start(BytesSource(data, name))
    opening.decode(archive, Progress())
    for field in islice(leaves(archive.fields), 5_000):
        assert field.shown is not None
    decoder = archive.decoder
    for index in range(min(len(archive.members), 50) if decoder is not None else 0):
        assert decoder is not None
        with suppress(MemberError):
            for piece in islice(decoder.read(archive, index, Progress()), 100):
                assert isinstance(piece, bytes)
        decoder.member_metadata(archive, index)
    check_archive(archive, Progress())
    plan(archive, Progress(), (), in_place=False)


@pytest.mark.parametrize(
    ("names", "number"),
    [
        pytest.param(tuple(SEEDS), 5, id="5 of each"),
        *(in_the_sweep((name,), number, name=f"{name}, {number:,}") for name, number in SEEDS.items()),
    ],
)
def test_no_mutation_raises_or_takes_long(
    names: tuple[str, ...], number: int, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in names:
        data = sample(name).read_bytes()
        changed = mutations(data, fields_of(data, name), Random(name))
        for at, mutation in enumerate(islice(changed, number)):
            before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            try:
                everything(mutation, name)
            except Exception as error:
                (tmp_path / name).write_bytes(mutation)
                raise AssertionError(f"mutation {at} of {name}, kept in {tmp_path}: {error!r}") from error
            seconds = time.process_time() - began
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            # Far over the bound, so that a busy machine does not fail: what is counted holds the bound itself.
            assert seconds < 10 * SECONDS_PER_WORK, f"mutation {at} of {name}: {seconds:.1f} s"
            assert grown << 10 < MEMORY_BYTES, f"mutation {at} of {name}: {grown >> 10} MiB"
