"""The map of what was verified, against a byte for byte account of the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.archive import Archive
from inspector.core.member import Members
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.protocol.views import LayerKind
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.members.arrangement import BITS, verdict_overview
from tests.operations.archives import opened

Sample = Callable[[str], Path]
ROWS = (1, 2, 3, 7, 100, 20_000)


def account(session: ArchiveSession, rows: int) -> list[int]:
    """What every stretch holds, from the members one by one."""
    size = session.status().size
    own = [0] * size
    for row in session.member_rows(0, 1000).rows:
        for span in session.place(row.index).spans:
            for at in range(*span):
                own[at] |= int(BITS[row.verdict])
    sets = []
    for row in range(rows):
        start = row * size // rows
        held = own[start : max(start + 1, (row + 1) * size // rows)]
        sets.append(0)
        for bits in set(held):
            sets[-1] |= bits
    return sets


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(
    "name", ["flipped-member-byte.tacozip", "flipped-blob-byte.rca", "two-chunks.rca", "gap.caf", "overlap.caf"]
)
def test_every_stretch_says_what_its_members_are(name: str, rows: int, sample: Sample) -> None:
    session = opened(sample(name))
    session.check(Progress())
    assert session.verdict_overview(Progress(), 0, rows) == account(session, rows)


def test_before_a_check_nothing_is_known(sample: Sample) -> None:
    session = opened(sample("flipped-member-byte.tacozip"))
    assert set(session.verdict_overview(Progress(), 0, 500)) == {0, int(BITS[Verdict.NOT_CHECKED])}


def test_the_inner_stream_and_contents_have_a_map_too(sample: Sample) -> None:
    session = opened(sample("two-chunks.rca"))
    session.check(Progress())
    inner = next(layer for layer in session.status().layers if layer.kind is LayerKind.INNER)
    verified = int(BITS[Verdict.VERIFIED])
    sets = session.verdict_overview(Progress(), inner.layer, inner.size)
    stored = sum(row.stored for row in session.member_rows(0, 100).rows)
    assert (sets.count(verified), sets.count(0)) == (stored, inner.size - stored)
    content = session.content(Progress(), 0).layer
    assert session.verdict_overview(Progress(), content.layer, 3) == [verified] * 3


def test_numbers_that_no_file_has_stay_inside() -> None:
    archive = Archive(BytesSource(bytes(10)), "x", "x", (), Members())
    for start, stop in ((0, 2**64 - 1), (2**64 - 1, 2**64 - 1), (8, 3), (2**63, 2**64 - 1)):
        archive.members.append(b"m", start, stop)
    archive.verdicts = bytearray([VERDICTS.index(Verdict.VERIFIED)])
    assert verdict_overview(archive, False, 5, Progress()) == [int(BITS[Verdict.VERIFIED])] * 5
    assert verdict_overview(archive, False, 0, Progress()) == []
    empty = Archive(BytesSource(b""), "x", "x", (), archive.members)
    assert verdict_overview(empty, False, 3, Progress()) == [0, 0, 0]


def test_mapping_can_be_cancelled(sample: Sample) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        opened(sample("two-chunks.rca")).verdict_overview(progress, 0, 10)
