"""All figures at once: what is recovered, what is said of it, and what stands in a repaired copy."""

from __future__ import annotations

import pytest

from tests.damage.generator import KINDS, Kind, damaged
from tests.damage.measure import Result, alternatives, copies, measured, proved, table
from tests.formats.archives import checked
from tests.sweeping import at_every_change

MIN_RECOVERED = 0.99
MIN_STATES = 0.98
MIN_NAMED = 0.9
MAX_FINDINGS = 1.5
CASES = [(kind, each) for kind in KINDS for each in kind.formats]
RIVALS = ("bytes-inserted", "bit-of-a-local-name", "over-a-longer-one")
"""Kinds whose cases have several repairs that save something."""


def hold(results: list[Result]) -> None:
    """The figures that are promised."""
    print(table(results))
    provable = sum(each.provable for each in results)
    assert sum(each.recovered for each in results) >= MIN_RECOVERED * provable
    assert sum(each.state_is_right for each in results) >= MIN_STATES * len(results)
    assert sum(each.named for each in results) >= MIN_NAMED * len(results)
    assert sum(each.events for each in results) <= MAX_FINDINGS * len(results)
    assert sum(each.wrong for each in results) == 0


def test_the_figures_hold_for_every_kind_of_damage() -> None:
    """With one format for each other kind, others with each; the sweep tries them all. test_causes has the rest."""
    results = []
    for number, kind in enumerate(KINDS):
        if not kind.size and number % 2 == 0:
            results.append(measured(damaged(kind, kind.formats[number % len(kind.formats)], 21)))

    hold(results)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_the_figures_hold_for_every_kind_and_format(seed: int) -> None:
    hold([measured(damaged(kind, each, seed)) for kind in KINDS for each in kind.formats])


@pytest.mark.parametrize(
    "case", at_every_change(CASES, lambda case: case[0].name in RIVALS, lambda case: f"{case[0].name}-{case[1]}")
)
def test_no_other_repair_saves_more_than_the_one_planned(case: tuple[Kind, str]) -> None:
    made = damaged(*case, 31)
    archive = checked(made.source)
    if archive.decoder is not None and made.provable:
        saved = proved(made, copies(made, archive))
        better = [code for code, files in alternatives(made, archive) if proved(made, files) > saved]

        assert better == []
