"""A Field gives bytes a meaning. Fields form a tree whose leaves own every byte of the file exactly once."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar, overload

from inspector.core.kinds import Family, Kind, Role, Shape, family_of, identifier, is_structure, role_of
from inspector.core.span import Span, Spans, intersect, subtract
from inspector.core.verdict import Verdict

Value = int | float | str | bool | list["Value"] | None
"""The decoded value of a field, as JSON can hold it."""


class Field(NamedTuple):
    """The meaning of some bytes.

    ``name`` is the specification's term. ``value`` is the decoded value; ``text`` is how the specification writes it
    (``0x8000``), empty if ``str(value)`` will do. ``note`` is for the user. ``specification`` names the section, empty
    if it is the parent's. A field without spans is a fact from outside the file (a datapoint's metadata row) and owns
    nothing. ``foreign`` are bytes inside it that describe another field, such as the hash of the previous segment: a
    finding on them alone does not make this field wrong. ``label`` is what stands beside its bytes, the name if empty;
    ``unused``: it is there but not in use. ``inside`` is what data consists of, such as zstd blocks, to be read only
    for who asks: where bytes are painted, counted or looked up by offset, the data is a leaf.
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
    label: str = ""
    unused: bool = False
    inside: Sequence[Field] = ()

    @property
    def below(self) -> Sequence[Field]:
        """The children, or of a leaf what is inside its data."""
        return self.children or self.inside

    @property
    def shown(self) -> str:
        """The value as text."""
        return self.text or ("" if self.value is None else str(self.value))

    @property
    def meaning(self) -> str:
        """What it is, in a sentence."""
        return self.note or self.kind.meaning

    @property
    def start(self) -> int:
        """The first byte, -1 for a field without spans."""
        return self.spans[0].start if self.spans else -1


class Scope(NamedTuple):
    """Where fields stand: in an archive of a format, in a structure of it. ``path`` is of the structure."""

    format: str
    path: str
    family: Family | None = None

    def typed(self, field: Field) -> tuple[str, Scope]:
        """The type of a field in it, a stable word (``rca.chunk.size``), and the scope of the fields inside."""
        kind = field.kind
        if is_structure(kind, self.family):
            path = f"{self.format}.{kind.word}"
            return path, Scope(self.format, path, family_of(kind))
        return f"{self.path}.{kind.word if kind in _NAMED_BY_USERS else identifier(field.name)}", self


def scope_of(format: str) -> Scope:  # noqa: A002 - the short name of a format
    """The scope of the fields at the top."""
    return Scope(format, format)


_NAMED_BY_USERS = (Kind.MEMBER, Kind.DATA)
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


class Computed(LazyRows[Row]):
    """So many rows, each made by a function of its number."""

    def __init__(self, count: int, row: Callable[[int], Row]) -> None:
        self._count, self._make = count, row

    def __len__(self) -> int:
        return self._count

    def row(self, at: int) -> Row:
        return self._make(at)


class FieldTable(LazyRows[Field]):
    """Very many fields in file order, made on access.

    Row ``i`` begins at ``starts[i]`` and ends at or before ``starts[i + 1]``; the rows are disjoint and together own
    the bytes of their parent. ``make(i)`` makes the field. ``roles`` is the set of roles and families (see
    ``role_bit``, ``family_bit``) of a row's leaves, for drawing a map of the file: one number for all rows, or one for
    each row. ``counts`` says how many structures the rows hold; without it each counts as one like the first. ``turn``
    numbers rows so that neighbours take turns, where some have no bytes; without it the row does.
    """

    def __init__(
        self,
        starts: Sequence[int],
        make: Callable[[int], Field],
        roles: int | Sequence[int],
        counts: Callable[[], Census] | None = None,
        turn: Callable[[int], int] | None = None,
    ) -> None:
        self.starts = starts
        self.make = make
        self.roles = roles
        self.counts = counts
        self.turn = turn

    def __len__(self) -> int:
        return len(self.starts)

    def row(self, at: int) -> Field:
        return self.make(at)

    def rows(self, start: int, stop: int) -> range:
        """The rows that may meet the bytes ``[start, stop)``."""
        # If several rows begin at the same byte, all but the last are empty.
        low = max(0, bisect_right(self.starts, start) - 1)
        return range(low, bisect_left(self.starts, stop, lo=low))

    def role_set(self, row: int) -> int:
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
    fields = tuple(fields)
    pieces = [each.spans[0] for each in fields if len(each.spans) == 1 and each.spans[0].size > 0]
    if len(spans) == 1 and len(pieces) == len(fields):
        at, end = spans[0]
        if [at, *(each.stop for each in pieces)] == [*(each.start for each in pieces), end]:
            return fields  # as those of most records do
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
        return field._replace(spans=(Span(field.start, field.start),), children=(), inside=())
    children: Sequence[Field] = field.children
    if isinstance(children, FieldTable):
        table = children
        children = FieldTable(
            table.starts, lambda row: _cut(table.make(row), owned), table.roles, table.counts, table.turn
        )
    elif children:
        children = tuple(_cut(child, owned) for child in children)
    return field._replace(spans=tuple(owned), children=children, inside=())


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
    label: str = "",
    unused: bool = False,
) -> Field:
    """A field whose children are tiled over its spans."""
    inside = tile(children, spans)
    return Field(name, kind, tuple(spans), value, note, inside, text, specification, member, label=label, unused=unused)


class Structure(NamedTuple):
    """One piece ``[start, stop)`` of a structure, whole, for painting and naming it beside its bytes.

    ``family`` is None for what only holds others and for bytes that nothing owns. ``level`` is 0 for a structure that
    is not in use or lists others, else 1 or 2 in turn, so that neighbours of a family differ. ``outer`` is the
    structure around it.
    """

    start: int
    stop: int
    kind: Kind
    family: Family | None
    label: str
    level: int
    path: tuple[int, ...]
    outer: Structure | None
    unused: bool = False


class Run(NamedTuple):
    """Consecutive bytes ``[start, stop)`` of one leaf, for painting.

    ``shade`` alternates between 0 and 1 from member to member; ``path`` is the positions in the tree from the root.
    ``structure`` is the innermost one around the leaf; ``tone`` alternates between its fields. ``verdict`` is that on
    the ``member`` (its number in the archive) whose data these bytes are.
    """

    start: int
    stop: int
    kind: Kind
    role: Role
    shade: int
    path: tuple[int, ...]
    structure: Structure | None = None
    tone: int = 0
    member: int | None = None
    verdict: Verdict | None = None


def positions(fields: Sequence[Field], start: int, stop: int) -> range:
    """The positions among siblings of those that may meet the bytes ``[start, stop)``."""
    return fields.rows(start, stop) if isinstance(fields, FieldTable) else range(len(fields))


def runs(
    fields: Sequence[Field], start: int, stop: int, verdict_of: Callable[[int], Verdict] | None = None
) -> list[Run]:
    """The leaf runs of ``[start, stop)`` in file order; ``verdict_of`` gives the verdict on a member."""
    found: list[Run] = []

    def collect(
        fields: Sequence[Field],
        path: tuple[int, ...],
        role: Role,
        shade: int,
        member: int | None,
        outer: _OpenStructure | None,
    ) -> None:
        for position in positions(fields, start, stop):
            field = fields[position]
            if not any(span.start < stop and start < span.stop for span in field.spans):
                continue
            here, structure = (*path, position), outer
            turn = fields.turn(position) if isinstance(fields, FieldTable) and fields.turn is not None else position
            if is_structure(field.kind, outer.family if outer is not None else None):
                structure = _OpenStructure(field, here, turn, outer)
            own = role_of(field.kind, role)
            bright, owner = (shade, member) if field.member is None else (field.member & 1, field.member)
            if field.children:
                collect(field.children, here, own, bright, owner, structure)
                continue
            # What a digest proves is the data of a member, not what stands around it.
            judged = owner if field.kind is Kind.DATA else None
            verdict = verdict_of(judged) if verdict_of is not None and judged is not None else None
            for low, high in ((max(span.start, start), min(span.stop, stop)) for span in field.spans):
                if low < high:
                    piece = structure.piece_at(low) if structure is not None else None
                    found.append(Run(low, high, field.kind, own, bright, here, piece, position & 1, owner, verdict))

    collect(fields, (), Role.DATA, 0, None, None)
    found.sort(key=lambda run: run.start)
    return found


class _OpenStructure:
    """A structure whose leaves are being collected; each of its pieces is made once."""

    def __init__(self, field: Field, path: tuple[int, ...], turn: int, outer: _OpenStructure | None) -> None:
        self.field = field
        self.path = path
        self.outer = outer
        self.family = family_of(field.kind)
        # What is in a member or a blob takes turns with that in the next one.
        holder = outer.field.kind if outer is not None else None
        if outer is not None and holder is not None and (holder is Kind.MEMBER or holder.holds_data):
            turn = outer.turn + (turn if holder is Kind.MEMBER else 0)
        self.turn: int = turn
        self.level = 0 if field.unused or field.kind.shape is Shape.LIST else 1 + (turn & 1)
        self._pieces: dict[int, Structure] = {}

    def piece_at(self, offset: int) -> Structure:
        """The piece that holds the byte at ``offset``."""
        spans = self.field.spans
        span = spans[max(0, bisect_right(spans, offset, key=lambda span: span.start) - 1)]
        if (found := self._pieces.get(span.start)) is None:
            outer = self.outer.piece_at(offset) if self.outer is not None else None
            field = self.field
            label = field.label or field.name
            found = self._pieces[span.start] = Structure(
                *span, field.kind, self.family, label, self.level, self.path, outer, field.unused
            )
        return found


Census = Counter[tuple[Kind, bool]]
"""How many structures there are of a kind, those not in use apart (True)."""


def census(fields: Sequence[Field], advance: Callable[[int], object] = abs) -> Census:
    """The number of structures that own bytes, without making the rows of tables; ``advance`` is called now and then.

    Groups, which only hold others, are not counted.
    """
    found: Census = Counter()
    _count(fields, None, found, advance)
    return found


def _count(fields: Sequence[Field], family: Family | None, found: Census, advance: Callable[[int], object]) -> None:
    advance(0)
    if isinstance(fields, FieldTable):
        if fields.counts is not None:
            found.update(fields.counts())
        elif fields and is_structure(fields[0].kind, family):
            found[fields[0].kind, False] += len(fields)
        return
    for field in (each for each in fields if any(span.size for span in each.spans)):
        is_own = is_structure(field.kind, family)
        if is_own and field.kind.shape is not Shape.GROUP:
            found[field.kind, field.unused] += 1
        if not isinstance(field.children, Unread):
            _count(field.children, family_of(field.kind) if is_own else family, found, advance)


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
    """The field at the positions ``path`` from the root, inside data too, or None."""
    field: Field | None = None
    for position in path:
        if not 0 <= position < len(fields):
            return None
        field = fields[position]
        fields = field.below
    return field
