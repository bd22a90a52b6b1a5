"""Sequences whose rows are made on access."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Row = TypeVar("Row", covariant=True)


class LazyRows(Sequence[Row]):
    """A sequence that stores no rows: a subclass gives their number (``__len__``) and makes one (``row``)."""

    @abstractmethod
    def row(self, at: int) -> Row:
        """Row ``at``; ``0 <= at < len(self)``."""

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self.row(each) for each in range(*at.indices(len(self)))]
        return self.row(range(len(self))[at])
