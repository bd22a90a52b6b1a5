"""A Field gives bytes a meaning. Fields form a tree whose leaves own every byte of the file exactly once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from inspector.core.kinds import Kind, Role, role_of
from inspector.core.rows import LazyRows
from inspector.core.span import Span, Spans, intersect, subtract

Value = int | float | str | bool | list["Value"] | None
"""The decoded value of a field, as JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Field:
    """The meaning of some bytes.

    ``name`` is the specification's term. ``value`` is the decoded value; ``text`` is how the specification writes it
    (``0x8000``), empty if ``str(value)`` will do. ``note`` is for the user. ``specification`` names the section, empty
    if it is the parent's. A field without spans is a fact from outside the file (a datapoint's metadata row) and owns
    nothing. ``foreign`` are bytes inside it that describe another field, such as the hash of the previous segment: a
    finding on them alone does not make this field wrong.
    """

    name: str
    kind: Kind
    spans: Spans
    value: Value = None
    note: str = ""
    children: Sequence[Field] = ()
    text: str = ""
    specification: str = ""
    member: int | None = None
    foreign: Spans = ()

    @property
    def shown(self) -> str:
        """The value as text."""
        return self.text or ("" if self.value is None else str(self.value))

    @property
    def start(self) -> int:
        """The first byte, -1 for a field without spans."""
        return self.spans[0].start if self.spans else -1


class FieldTable(LazyRows[Field]):
    """Very many fields in file order, made on access.

    Row ``i`` begins at ``starts[i]`` and ends at or before ``starts[i + 1]``; the rows are disjoint and together own
    the bytes of their parent. ``make(i)`` makes the field. ``roles`` is the set of roles (see ``role_bit``) of a row's
    leaves, for drawing a map of the file: one number for all rows, or one for each row.
    """

    def __init__(self, starts: Sequence[int], make: Callable[[int], Field], roles: int | Sequence[int]) -> None:
        self.starts = starts
        self.make = make
        self.roles = roles

    def __len__(self) -> int:
        return len(self.starts)

    def row(self, at: int) -> Field:
        """Row ``at``."""
        return self.make(at)

    def rows(self, start: int, stop: int) -> range:
        """The rows that may meet the bytes ``[start, stop)``."""
        # If several rows begin at the same byte, all but the last are empty.
        low = max(0, bisect_right(self.starts, start) - 1)
        return range(low, bisect_left(self.starts, stop, lo=low))

    def role_set(self, row: int) -> int:
        """The set of roles of one row."""
        return self.roles if isinstance(self.roles, int) else self.roles[row]


class Unread(LazyRows[Field]):
    """Children of a field that ``make`` makes on first access, so that showing their parent reads nothing.

    There is at least one, so the sequence is true without making them.
    """

    def __init__(self, make: Callable[[], Sequence[Field]]) -> None:
        self._make = make
        self._made: Sequence[Field] | None = None

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._read())

    @property
    def known(self) -> int:
        """How many children are known without making them."""
        return 1 if self._made is None else len(self._made)

    def row(self, at: int) -> Field:
        """Row ``at``."""
        return self._read()[at]

    def _read(self) -> Sequence[Field]:
        if self._made is None:
            self._made = self._make()
        return self._made


def tile(fields: Iterable[Field], spans: Sequence[Span], missing: Kind = Kind.GAP) -> tuple[Field, ...]:
    """``fields``, clipped and completed so that they own exactly the bytes of ``spans`` (sorted, disjoint).

    Bytes that two fields claim go to the first; bytes that none claims become a field of kind ``missing``; bytes
    outside ``spans`` are dropped. The result is in file order; fields without spans come last.
    """
    free = [span for span in spans if span.size > 0]
    kept: list[Field] = []
    facts: list[Field] = []
    for field in fields:
        if not field.spans:
            facts.append(field)
            continue
        owned = intersect(field.spans, free)
        kept.append(field if tuple(owned) == field.spans else _owning(field, owned))
        free = subtract(free, owned)
    note = "Bytes that no structure of the archive claims." if missing is Kind.GAP else ""
    kept += [Field(str(missing), missing, (span,), note=note) for span in free]
    kept.sort(key=lambda field: (field.start, field.spans[-1].stop))
    return (*kept, *facts)


def _owning(field: Field, owned: Sequence[Span]) -> Field:
    """``field`` reduced to the bytes ``owned``; if nothing is left, it keeps its position as an empty span."""
    if not owned:
        return replace(field, spans=(Span(field.start, field.start),), children=())
    children: Sequence[Field] = field.children
    if isinstance(children, FieldTable):
        table = children
        children = FieldTable(table.starts, lambda row: _cut(table.make(row), owned), table.roles)
    elif children:
        children = tuple(_cut(child, owned) for child in children)
    return replace(field, spans=tuple(owned), children=children)


def _cut(field: Field, owned: Sequence[Span]) -> Field:
    kept = intersect(field.spans, owned)
    return field if not field.spans or tuple(kept) == field.spans else _owning(field, kept)


def parent(
    name: str,
    kind: Kind,
    spans: Sequence[Span],
    children: Iterable[Field],
    *,
    value: Value = None,
    note: str = "",
    text: str = "",
    specification: str = "",
    member: int | None = None,
) -> Field:
    """A field whose children are tiled over its spans."""
    return Field(name, kind, tuple(spans), value, note, tile(children, spans), text, specification, member)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive bytes ``[start, stop)`` of one leaf, for painting.

    ``shade`` alternates between 0 and 1 from member to member; ``path`` is the positions in the tree from the root.
    """

    start: int
    stop: int
    kind: Kind
    role: Role
    shade: int
    path: tuple[int, ...]


def positions(fields: Sequence[Field], start: int, stop: int) -> range:
    """The positions among siblings of those that may meet the bytes ``[start, stop)``."""
    return fields.rows(start, stop) if isinstance(fields, FieldTable) else range(len(fields))


def runs(fields: Sequence[Field], start: int, stop: int) -> list[Run]:
    """The leaf runs of ``[start, stop)`` in file order."""
    found: list[Run] = []
    _collect(fields, start, stop, Role.DATA, 0, (), found)
    found.sort(key=lambda run: run.start)
    return found


def _collect(
    fields: Sequence[Field], start: int, stop: int, role: Role, shade: int, path: tuple[int, ...], found: list[Run]
) -> None:
    for position in positions(fields, start, stop):
        field = fields[position]
        if not any(span.start < stop and start < span.stop for span in field.spans):
            continue
        own_role = role_of(field.kind, role)
        own_shade = field.member & 1 if field.member is not None else shade
        own_path = (*path, position)
        if field.children:
            _collect(field.children, start, stop, own_role, own_shade, own_path, found)
            continue
        for span in field.spans:
            low, high = max(span.start, start), min(span.stop, stop)
            if low < high:
                found.append(Run(low, high, field.kind, own_role, own_shade, own_path))


def locate(fields: Sequence[Field], offset: int) -> list[tuple[int, Field]]:
    """The fields that own the byte at ``offset``, outermost first, each with its position among its siblings."""
    chain: list[tuple[int, Field]] = []
    while True:
        for position in positions(fields, offset, offset + 1):
            field = fields[position]
            if any(span.start <= offset < span.stop for span in field.spans):
                chain.append((position, field))
                fields = field.children
                break
        else:
            return chain


def at_path(fields: Sequence[Field], path: Sequence[int]) -> Field | None:
    """The field at the positions ``path`` from the root, or None."""
    field: Field | None = None
    for position in path:
        if not 0 <= position < len(fields):
            return None
        field = fields[position]
        fields = field.children
    return field


def leaves(fields: Iterable[Field]) -> Iterator[Field]:
    """Every field without children, depth first."""
    for field in fields:
        if field.children:
            yield from leaves(field.children)
        else:
            yield field
