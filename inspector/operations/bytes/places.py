"""Which structure and which member a byte stands in, in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from inspector.core.archive import member_at
from inspector.core.field import Field, PlacedFields, locate, positions
from inspector.core.names import MAX_TEXT, visible
from inspector.core.span import Span
from inspector.operations.open.opening import Opened

_SEPARATOR = " > "
_FEW_FIELDS = 32
"""So many are looked at one by one; of more, where each piece of them is is kept."""
MAX_LABEL = 256
"""Characters of a field's label that are told beside each string: a file's name may have as many bytes."""


def field_text(fields: Sequence[Field], offset: int) -> str:
    """The names of the fields that own a byte, the outermost first; empty where none does."""
    return _SEPARATOR.join(_label(field) for _, field in locate(fields, offset))


def name_at(archive: Opened, offset: int) -> str | None:
    """The visible path of the member that a byte belongs to; None for none."""
    member = member_at(archive, offset)
    return None if member is None else visible(archive.members.path(member))


def _label(field: Field) -> str:
    # Of a name of a million characters no more is made visible than is kept.
    return _cut(visible((field.label or field.name)[: MAX_LABEL + 1]), MAX_LABEL)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


class Places:
    """The fields that own bytes of one archive, for very many offsets that ascend: what is found is used again."""

    def __init__(self, archive: Opened) -> None:
        self._archive = archive
        self._top = _Level(archive.fields)
        self._open: list[_Owner] = []
        self._named: tuple[int, str | None] = (-1, None)

    def field_text(self, offset: int) -> str:
        """As the function of this name."""
        owner = self._innermost(offset)
        return "" if owner is None else owner.text

    def name(self, offset: int) -> str | None:
        """As ``name_at``."""
        owner = self._innermost(offset)
        if owner is None or owner.member is None:
            return None
        if owner.member != self._named[0]:
            number = self._archive.known_member(owner.member)
            shown = None if number is None else _cut(visible(self._archive.members.path(number)), MAX_TEXT)
            self._named = (owner.member, shown)
        return self._named[1]

    def _innermost(self, offset: int) -> _Owner | None:
        chain = self._open
        while chain and not chain[-1].start <= offset < chain[-1].stop:
            chain.pop()
        around = chain[-1] if chain else None
        while (inside := self._top if around is None else around.inside) is not None:
            found = inside.owner(offset)
            if found is None:
                break
            around = _Owner(*found, around)
            chain.append(around)
        return around


class _Owner:
    """A field that owns the bytes ``[start, stop)``, in words with those around it.

    Both are made once: a field may own as many strings as it has bytes, and its label be as long.
    """

    __slots__ = ("inside", "member", "start", "stop", "text")

    def __init__(self, field: Field, span: Span, around: _Owner | None) -> None:
        self.start, self.stop = span
        label = _label(field)
        self.text: str = label if around is None else f"{around.text}{_SEPARATOR}{label}"
        own = field.member
        self.member: int | None = own if own is not None or around is None else around.member
        self.inside = _Level(field.children) if field.children else None


class _Level:
    """Fields beside each other, with their spans in order where they are not a table, which finds its rows itself."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._places: list[tuple[int, int, int]] | None = None

    def owner(self, offset: int) -> tuple[Field, Span] | None:
        """The first field that owns the byte, and the piece of it in which the byte is."""
        fields = self._fields
        if isinstance(fields, PlacedFields) or len(fields) <= _FEW_FIELDS:
            for row in positions(fields, offset, offset + 1):
                field = fields[row]
                for span in field.spans:
                    if span.start <= offset < span.stop:
                        return field, span
            return None
        if self._places is None:
            pieces = ((*span, row) for row, field in enumerate(fields) for span in field.spans if span.size > 0)
            self._places = sorted(pieces)
        at = bisect_right(self._places, (offset, 1 << 64, 0)) - 1
        if at < 0 or offset >= self._places[at][1]:
            return None
        start, stop, row = self._places[at]
        return fields[row], Span(start, stop)
