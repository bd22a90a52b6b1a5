"""Which structure and which member a byte stands in, in words."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.field import Field, locate
from inspector.core.names import visible
from inspector.operations.open.opening import Opened

_SEPARATOR = " > "


def field_text(fields: Sequence[Field], offset: int) -> str:
    """The names of the fields that own a byte, the outermost first; empty where none does."""
    return _SEPARATOR.join(visible(field.label or field.name) for _, field in locate(fields, offset))


def member_at(archive: Opened, offset: int) -> int | None:
    """The number of the member that a byte belongs to; None for none."""
    numbers = [field.member for _, field in locate(archive.fields, offset) if field.member is not None]
    return numbers[-1] if numbers else None


def name_at(archive: Opened, offset: int) -> str | None:
    """The visible path of the member that a byte belongs to; None for none."""
    member = member_at(archive, offset)
    return None if member is None else visible(archive.members[member].path)
