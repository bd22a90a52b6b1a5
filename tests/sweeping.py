"""Which of a test's cases run at every change, and which in the sweep only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def at_every_change(
    cases: Iterable[Any], chosen: Callable[[Any], bool], name: Callable[[Any], str] = str
) -> list[ParameterSet]:
    """The cases as parameters called by ``name``; those that are not ``chosen`` run in the sweep only."""
    return [pytest.param(each, marks=() if chosen(each) else pytest.mark.sweep, id=name(each)) for each in cases]


def each_third(
    cases: Iterable[Any], name: Callable[[Any], str] = str, always: Callable[[Any], bool] = lambda _: False
) -> list[ParameterSet]:
    """Every third of the cases, and those that are ``always`` wanted, at every change; the others in the sweep only."""
    return each_nth(3, cases, name, always)


def each_nth(
    step: int, cases: Iterable[Any], name: Callable[[Any], str] = str, always: Callable[[Any], bool] = lambda _: False
) -> list[ParameterSet]:
    """Each ``step``-th of the cases, where they take long; those that are ``always`` wanted as in ``each_third``."""
    listed = list(cases)
    chosen = {at for at, each in enumerate(listed) if at % step == 0 or always(each)}
    return [
        pytest.param(each, marks=() if at in chosen else pytest.mark.sweep, id=name(each))
        for at, each in enumerate(listed)
    ]


def every(step: int) -> pytest.MarkDecorator:
    """The parameter ``step``: each ``step``-th of many places at every change, all of them in the sweep.

    A step that has no factor in common with 8 meets every bit of a byte.
    """
    return pytest.mark.parametrize("step", [pytest.param(step, id=f"every {step}"), in_the_sweep(1, name="all")])


def places(start: int, stop: int, step: int, near: Iterable[int] = ()) -> list[int]:
    """Each ``step``-th of these places, and those beside the ones that are more likely to go wrong."""
    beside = {at + by for at in near for by in (-1, 0, 1)}
    return sorted({*range(start, stop, step), *(at for at in beside if start <= at < stop)})


def in_the_sweep(*values: Any, name: str | None = None) -> ParameterSet:
    """One case that runs in the sweep only."""
    return pytest.param(*values, marks=pytest.mark.sweep, id=name)
