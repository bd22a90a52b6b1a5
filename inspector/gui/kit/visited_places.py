"""Places visited, for going back and forward."""

from __future__ import annotations

from typing import NamedTuple

LENGTH = 200
"""The most places remembered."""


class Place(NamedTuple):
    """A byte of a layer."""

    layer: int
    offset: int


class History:
    """A list of places and where one is in it."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    def visit(self, left: Place, place: Place) -> None:
        """Go from ``left`` to ``place``: what lay ahead is forgotten."""
        del self._places[self._at + 1 :]
        for one in (left, place):
            if not self._places or self._places[-1] != one:
                self._places.append(one)
        del self._places[:-LENGTH]
        self._at = len(self._places) - 1

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later place."""
        return self._at < len(self._places) - 1

    def go(self, step: int) -> Place | None:
        """The place ``step`` away (-1 back, 1 forward), which is now the current one; None at the end."""
        if not 0 <= self._at + step < len(self._places):
            return None
        self._at += step
        return self._places[self._at]
