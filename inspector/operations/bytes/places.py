"""Which structure and which member a byte stands in, in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from inspector.core.archive import member_of
from inspector.core.field import Field, FieldTable, locate, positions
from inspector.core.names import visible
from inspector.core.span import Span
from inspector.operations.open.opening import Opened

_SEPARATOR = " > "
_FEW_FIELDS = 32
"""So many are looked at one by one; of more, where each piece of them is is kept."""


def field_text(fields: Sequence[Field], offset: int) -> str:
    """The names of the fields that own a byte, the outermost first; empty where none does."""
    return _joined([field for _, field in locate(fields, offset)])


def name_at(archive: Opened, offset: int) -> str | None:
    """The visible path of the member that a byte belongs to; None for none."""
    return _name(archive, [field for _, field in locate(archive.fields, offset)])


def _name(archive: Opened, chain: Sequence[Field]) -> str | None:
    member = member_of(archive, chain)
    return None if member is None else visible(archive.members[member].path)


def _joined(chain: Sequence[Field]) -> str:
    return _SEPARATOR.join(visible(field.label or field.name) for field in chain)


class Places:
    """The fields that own bytes of one archive, for very many offsets that ascend: what is found is used again."""

    def __init__(self, archive: Opened) -> None:
        self._archive = archive
        self._top = _Level(archive.fields)
        self._open: list[_Owner] = []

    def field_text(self, offset: int) -> str:
        """As the function of this name."""
        return _joined(self._chain(offset))

    def name(self, offset: int) -> str | None:
        """As ``name_at``."""
        return _name(self._archive, self._chain(offset))

    def _chain(self, offset: int) -> list[Field]:
        while self._open and not self._open[-1].span.start <= offset < self._open[-1].span.stop:
            self._open.pop()
        while (owner := (self._open[-1].inside if self._open else self._top).owner(offset)) is not None:
            self._open.append(owner)
        return [each.field for each in self._open]


class _Owner(NamedTuple):
    field: Field
    span: Span
    inside: _Level


class _Level:
    """Fields beside each other, with their spans in order where they are not a table, which finds its rows itself."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._places: list[tuple[int, int, int]] | None = None

    def owner(self, offset: int) -> _Owner | None:
        """The first field that owns the byte, and the piece of it in which the byte is."""
        fields = self._fields
        if isinstance(fields, FieldTable) or len(fields) <= _FEW_FIELDS:
            rows = (fields[row] for row in positions(fields, offset, offset + 1))
            owners = ((field, span) for field in rows for span in field.spans if span.start <= offset < span.stop)
            found = next(owners, None)
            return None if found is None else _Owner(*found, _Level(found[0].children))
        if self._places is None:
            pieces = ((*span, row) for row, field in enumerate(fields) for span in field.spans if span.size > 0)
            self._places = sorted(pieces)
        at = bisect_right(self._places, (offset, 1 << 64, 0)) - 1
        if at < 0 or offset >= self._places[at][1]:
            return None
        start, stop, row = self._places[at]
        return _Owner(fields[row], Span(start, stop), _Level(fields[row].children))
