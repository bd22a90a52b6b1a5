"""A CAF whose last number is unreadable: what follows may be of that member, and its digits may show that it is not."""

from __future__ import annotations

from random import Random

import pytest

from inspector.core.cause import Cause
from inspector.core.verdict import Verdict
from tests.damage.generator import Memory
from tests.formats.archives import checked
from tests.samples import writers

FILES = {"a.bin": Random(1).randbytes(900), "b.bin": Random(2).randbytes(500), "c.bin": Random(3).randbytes(277)}
UNREADABLE = [b"16x7", b"1.77", b"-677", b"1_677", b"1677x"]


def verdicts(number: bytes, inserted: int) -> tuple[set[str], list[Verdict]]:
    index = writers.index_json(writers.ranges_of(FILES)).replace(b"1677", number)
    data = writers.caf(FILES, index)
    archive = checked(Memory.of("caf", data[:300] + Random(4).randbytes(inserted) + data[300:]))
    return {each.code for each in archive.findings}, [archive.verdict(each) for each in range(2)]


@pytest.mark.parametrize("number", UNREADABLE)
def test_what_belongs_to_the_last_member_was_not_inserted(number: bytes) -> None:
    codes, found = verdicts(number, 0)

    assert Cause.INSERTED_BYTES not in codes
    assert found == [Verdict.NOT_CHECKABLE] * 2


@pytest.mark.parametrize("number", UNREADABLE)
def test_where_its_digits_deny_the_place_of_the_index_every_member_is_in_doubt(number: bytes) -> None:
    codes, found = verdicts(number, 64)

    assert Cause.INSERTED_BYTES not in codes
    assert found == [Verdict.DOUBTFUL] * 2
