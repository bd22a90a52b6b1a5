"""A shorter archive written over a longer one: what the longer one's index lists is not called sound."""

from __future__ import annotations

from random import Random

import pytest

from inspector.core.cause import SPLIT_CODE, Cause
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.verdict import State, Verdict
from inspector.formats.caf import codes
from inspector.operations.check.checking import state_of
from inspector.operations.edit.plan_repairs import plan
from tests.damage.generator import Memory
from tests.formats.archives import checked
from tests.samples import writers

OLD = {f"old/{number}.bin": Random(number).randbytes(5_000) for number in range(20)}
NEW = {f"new/{number}.bin": Random(number + 100).randbytes(4_000) for number in range(6)}
LONGER, SHORTER = writers.caf(OLD), writers.caf(NEW)
ZIPPED = writers.zipped(NEW, streamed=False)


@pytest.mark.parametrize("newer", [SHORTER, ZIPPED], ids=["caf", "zip"])
def test_both_archives_are_listed_and_offered(newer: bytes) -> None:
    archive = checked(Memory.of("caf", newer + LONGER[len(newer) :]))
    found = plan(archive, Progress(), in_place=False)

    assert state_of((archive,)) is State.DAMAGED
    assert [each.code for each in archive.findings] == [Cause.JOINED, codes.OVERWRITTEN.code]
    assert {archive.verdict(member) for member in range(len(OLD))} == {Verdict.DOUBTFUL}
    assert found.repairs == ()
    assert found.salvage is not None
    assert found.salvage.content is not None
    assert found.salvage.code == SPLIT_CODE
    assert b"".join(found.salvage.content(Progress())) == newer

    (older,) = found.salvage.along
    left = checked(Memory.of("caf", b"".join(older.content(Progress()))))
    members = {bytes(each.path).decode(): left.source.read(*_extent(each.spans[0])) for each in left.members}
    survived = list(OLD.items())[-(-len(newer) // 5_000) :]
    assert members == dict(survived)


def _extent(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] - span[0]


@pytest.mark.parametrize("first", [SHORTER, ZIPPED], ids=["caf", "zip"])
def test_an_archive_as_the_first_member_is_sound(first: bytes) -> None:
    archive = checked(Memory.of("caf", writers.caf({"first": first, "other": bytes(5_000)})))

    assert state_of((archive,)) is State.SOUND
    assert archive.verdict(0) is Verdict.NOT_CHECKABLE


def test_a_first_member_that_goes_on_behind_an_archive_may_be_either() -> None:
    archive = checked(Memory.of("caf", writers.caf({"first": SHORTER + b"more", "other": bytes(5_000)})))

    assert state_of((archive,)) is State.WARNING
    assert [(each.code, each.severity) for each in archive.findings] == [
        (Cause.JOINED, Severity.WARNING),
        (codes.OVERWRITTEN.code, Severity.WARNING),
    ]


def test_the_end_of_an_older_index_is_cut_off_in_a_copy() -> None:
    archive = checked(Memory.of("caf", SHORTER + LONGER[-300:]))
    found = plan(archive, Progress(), in_place=False)

    assert archive.findings[0].code == Cause.JOINED
    assert "the end of the old one's index is left" in archive.findings[0].message
    assert found.after.source.read(0, len(LONGER)) == SHORTER
