"""Fields as rows: their roles, marks and children, and what a byte is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.core.field import Field, Unread, locate
from inspector.core.kinds import Role, role_of
from inspector.core.span import Span, subtract
from inspector.operations.protocol.views import Explanation, FieldRow, LayerKind, Page
from inspector.operations.session.layers import Layer
from inspector.operations.session.marks import Marks

MAX_FIELD_ROWS = 2_000
"""The most rows given at once."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """A layer with the findings of its archive.

    ``first`` is the number of the archive's first member among all, None where they are not numbered yet.
    """

    layer: Layer
    marks: Marks
    first: int | None

    def member(self, field: Field) -> int | None:
        """The member a field belongs to, as all members are numbered."""
        if field.member is None or self.layer.info.kind is LayerKind.CONTENT:
            return field.member
        return None if self.first is None else self.first + field.member

    def row(self, path: tuple[int, ...], field: Field, inherited: Role) -> FieldRow:
        """One field as a row; ``inherited`` is its parent's role."""
        return FieldRow(
            path,
            field.name,
            field.kind,
            role_of(field.kind, inherited),
            field.spans,
            field.shown,
            field.note,
            field.specification,
            field.children.known if isinstance(field.children, Unread) else len(field.children),
            self.member(field),
            self.marks.of_spans(self.layer.in_file(tuple(subtract(field.spans, field.foreign)))),
        )

    def field(self, path: Sequence[int]) -> FieldRow | None:
        """The field at ``path``; None where there is none."""
        found = _descend(self.layer.fields(), path)
        return None if found is None else self.row(tuple(path), found[0], found[1])

    def rows(self, path: Sequence[int], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``, the outermost fields for an empty one."""
        path = tuple(path)
        fields, role = self.layer.fields(), Role.DATA
        if path:
            found = _descend(fields, path)
            if found is None:
                return Page(0, 0, ())
            fields, role = found[0].children, found[2]
        first = max(0, min(first, len(fields)))
        stop = min(len(fields), first + max(0, min(count, MAX_FIELD_ROWS)))
        return Page(len(fields), first, tuple(self.row((*path, at), fields[at], role) for at in range(first, stop)))

    def explain(self, offset: int) -> Explanation:
        """What the byte at ``offset`` is."""
        rows: list[FieldRow] = []
        path: tuple[int, ...] = ()
        role, member = Role.DATA, None
        for position, field in locate(self.layer.fields(), offset):
            path = (*path, position)
            rows.append(self.row(path, field, role))
            role = role_of(field.kind, role)
            member = member if field.member is None else self.member(field)
        inside = 0 <= offset < self.layer.source.size
        outer = self.layer.in_file((Span(offset, offset + 1),)) if inside else ()
        findings = self.marks.at(outer[0].start) if outer else ()
        return Explanation(self.layer.info.layer, offset, tuple(rows), member, findings)


def _descend(fields: Sequence[Field], path: Sequence[int]) -> tuple[Field, Role, Role] | None:
    """The field at ``path`` with its parent's role and its own; None where there is none."""
    found: tuple[Field, Role, Role] | None = None
    role = Role.DATA
    for position in path:
        if not 0 <= position < len(fields):
            return None
        field = fields[position]
        inherited, role = role, role_of(field.kind, role)
        found, fields = (field, inherited, role), field.children
    return found
