"""Visited bytes, for going back and forward."""

from __future__ import annotations

from typing import NamedTuple

MAX_PLACES = 200
"""The most places stored."""


class VisitedPlace(NamedTuple):
    """A byte of a layer."""

    layer: int
    offset: int


class History:
    """Visited places and the current position among them."""

    def __init__(self) -> None:
        self._places: list[VisitedPlace] = []
        self._at = -1

    def visit(self, left: VisitedPlace, place: VisitedPlace) -> None:
        """Go from ``left`` to ``place``; the places to go forward to are dropped."""
        del self._places[self._at + 1 :]
        for one in (left, place):
            if not self._places or self._places[-1] != one:
                self._places.append(one)
        del self._places[:-MAX_PLACES]
        self._at = len(self._places) - 1

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later place."""
        return self._at < len(self._places) - 1

    def go(self, step: int) -> VisitedPlace | None:
        """Move ``step`` places (-1 back, 1 forward); returns the new current place, None at either end."""
        if not 0 <= self._at + step < len(self._places):
            return None
        self._at += step
        return self._places[self._at]
