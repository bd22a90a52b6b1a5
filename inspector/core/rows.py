"""Sequences whose rows are made when they are looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Row = TypeVar("Row", covariant=True)


class LazyRows(Sequence[Row]):
    """A sequence that holds no rows: a subclass says how many there are (``__len__``) and makes one (``row``)."""

    @abstractmethod
    def row(self, at: int) -> Row:
        """The row at ``at``, which is there."""

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self.row(each) for each in range(*at.indices(len(self)))]
        return self.row(range(len(self))[at])
