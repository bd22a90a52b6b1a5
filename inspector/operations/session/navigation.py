"""Where to go in what is open: where expressions lead, and searching from an offset.

Expressions name layers, members and datapoints. Searched are bytes, unexplained bytes, and the next field of the same
kind.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from inspector.core.collection import Collection, Range
from inspector.core.field import Field, FieldTable, locate
from inspector.core.kinds import Kind, Role, Shape, family_bit, family_of, role_bit
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats.datas3t.datapoints import member_with
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.expressions import ExpressionContext, ExpressionError, UnknownNameError, resolve
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, find_member
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.views import LayerKind, Stage, Target, datapoint_key
from inspector.operations.session.reading import Reading

_UNEXPLAINED_ROLES = role_bit(Role.GAP) | role_bit(Role.GARBAGE)
_ROWS_PER_STEP = 1_024
"""Rows of a table that are looked at between two chances to cancel."""


class FieldSearch(Struct, frozen=True):
    """Looks for the span of a field that ``matches`` and begins nearest after ``offset``, or nearest before it.

    A table none of whose rows has one of ``roles`` is passed over (0: none is).
    """

    matches: Callable[[Field], bool]
    roles: int
    offset: int
    backwards: bool
    progress: Progress

    def among(self, fields: Sequence[Field]) -> Span | None:
        """The nearest one of these fields and all beneath them."""
        if isinstance(fields, FieldTable):
            return self._in_table(fields)
        return self._nearest(map(self._in, fields))

    def _in_table(self, table: FieldTable) -> Span | None:
        """Rows stand in file order and apart, so the first hit is the nearest."""
        at = table.rows(self.offset, self.offset + 1)
        rows = range(len(table))[: at.stop][::-1] if self.backwards else range(at.start, len(table))
        if isinstance(table.roles, int) and not self._may_hold(table.roles):
            return None
        for turn, row in enumerate(rows):
            if turn % _ROWS_PER_STEP == 0:
                self.progress.advance(0)
            if self._may_hold(table.role_set(row)) and (found := self._in(table[row])) is not None:
                return found
        return None

    def _may_hold(self, roles: int) -> bool:
        return not self.roles or bool(roles & self.roles)

    def _in(self, field: Field) -> Span | None:
        """The nearest one of a field and all in it: of unexplained bytes any stretch, of others the first."""
        spans = field.spans
        if not spans or not (spans[0].start < self.offset if self.backwards else spans[-1].stop > self.offset):
            return None
        own = spans if field.kind.shape is Shape.UNCLAIMED else spans[:1]
        found = [span for span in own if span.size] if self.matches(field) else []
        return self._nearest([*found, self.among(field.children)] if field.children else found)

    def _nearest(self, spans: Iterable[Span | None]) -> Span | None:
        if self.backwards:
            return max((span for span in spans if span is not None and span.start < self.offset), default=None)
        return min((span for span in spans if span is not None and span.start > self.offset), default=None)


WINDOW_BYTES = 4 << 20
"""Bytes looked at between two chances to cancel."""
_LONG_PATTERN_BYTES = 10
"""Bytes from which on ``bytes.find``, which can skip, is faster than ``re``, which looks at every byte."""


def search(
    source: Source, pattern: bytes, start: int, backwards: bool, ignore_case: bool, progress: Progress
) -> int | None:
    """The first match at or after ``start``; backwards the last one that begins before ``start``. None without one.

    ``ignore_case`` is about the letters of ASCII.
    """
    if not pattern:
        return None
    size, start = len(pattern), max(0, min(start, source.size))
    lowers = ignore_case and pattern.lower() != pattern.upper()
    pattern = pattern.lower() if lowers else pattern
    match = re.compile(re.escape(pattern)).search
    progress.begin("Searching", start if backwards else source.size - start)
    edges = range(start, 0, -WINDOW_BYTES) if backwards else range(start, source.size - size + 1, WINDOW_BYTES)
    for edge in edges:
        first, step = (max(0, edge - WINDOW_BYTES), min(edge, WINDOW_BYTES)) if backwards else (edge, WINDOW_BYTES)
        window = source.read(first, step + size - 1)
        if lowers:
            window = window.lower()
        if backwards or size >= _LONG_PATTERN_BYTES:
            at = window.rfind(pattern) if backwards else window.find(pattern)
        else:
            at = found.start() if (found := match(window)) else -1
        if at >= 0:
            return first + at
        progress.advance(step)
    return None


# ---- where expressions lead ------------------------------------------------------------------------------------------

_DESCRIPTIONS = {LayerKind.FILE: "the file", LayerKind.INNER: "the inner stream", LayerKind.CONTENT: "this content"}


def _ranges_with(collection: Collection, dataset: str, key: int) -> list[int]:
    """The numbers of the ranges that may hold a key; raises OperationError for none, or for several datasets."""
    if dataset and dataset not in collection.datasets:
        known = ", ".join(map(visible, collection.datasets[:8]))
        raise OperationError(f"There is no dataset called {visible(dataset)}. There is: {known}.")
    among = [at for at, each in enumerate(collection.ranges) if dataset in ("", each.dataset)]
    found = [at for at in among if collection.ranges[at].first <= key <= collection.ranges[at].last]
    if not found:
        raise OperationError(_nowhere([collection.ranges[at] for at in among], key))
    names = list(dict.fromkeys(collection.ranges[at].dataset for at in found))
    if len(names) > 1:
        told = " or ".join(f"key {visible(name)}/{key}" for name in names[:3])
        raise OperationError(f"Several datasets have ranges with key {key:,}: type {told}.")
    return found


def _nowhere(ranges: list[Range], key: int) -> str:
    """That no range holds a key, and between which it would be."""
    lasts = sorted(each.last for each in ranges)
    firsts = sorted(each.first for each in ranges)
    before, after = bisect_left(lasts, key) - 1, bisect_left(firsts, key)
    sides = [f"the one before ends with {lasts[before]:,}"] if before >= 0 else []
    sides += [f"the next one begins with {firsts[after]:,}"] if after < len(firsts) else []
    return f"No range holds key {key:,}: {' and '.join(sides)}." if sides else f"No range holds key {key:,}."


class Navigation(Reading):
    """Where expressions and searches lead."""

    def goto(self, expression: str, layer: int, caret: int) -> Target:
        """The target of an expression (see ``resolve``), relative to a caret in a layer; a member's name leads there.

        Raises OperationError for nonsense.
        """
        whole = self.now.layers[layer].at
        try:
            try:
                return resolve(expression, self._context(layer), caret)
            except UnknownNameError:
                if whole == layer:
                    raise
                return resolve(expression, self._context(whole), 0)
        except ExpressionError as error:
            try:
                return self._member_named(expression.strip())
            except MemberNotFoundError as missing:
                raise missing if isinstance(missing, AmbiguousMemberError) else error from None

    def _context(self, layer: int) -> ExpressionContext:
        layers = self.now.layers
        return ExpressionContext(
            layer,
            layers[layer].fields(),
            lambda number: layers[number].source.size,
            lambda number: _DESCRIPTIONS[layers[number].info.kind],
            self._member,
            self._member_named,
        )

    def _member(self, index: int) -> Target:
        place = self.place(index)
        if not place.spans:
            raise OperationError("The location of that member is unknown.")
        return Target(place.layer, *place.spans[0])

    def _member_named(self, name: str) -> Target:
        """A member by the name that its archive gives it, or by the whole path that it is shown with."""
        now = self.now
        wanted = list(now.archives)
        for at, archive in enumerate(now.archives):
            folder = visible(now.location.folder(at))
            if folder and name.startswith(folder):
                wanted, name = [archive], name.removeprefix(folder)
                break
        found, local = find_member(wanted, name)
        at = next(at for at, archive in enumerate(now.archives) if archive is found)
        return self._member(now.location.number(at, local))

    def search(
        self,
        progress: Progress,
        layer: int,
        pattern: bytes,
        start: int,
        backwards: bool,
        ignore_case: bool,
    ) -> int | None:
        """The first match at or after ``start``, backwards the last before it."""
        return search(self.now.layers[layer].source, pattern, start, backwards, ignore_case, progress)

    def next_field(
        self,
        progress: Progress,
        layer: int,
        offset: int,
        backwards: bool,
        kind: Kind | None = None,
        name: str = "",
        unused: bool | None = None,
    ) -> Target | None:
        """The nearest field of a kind beyond ``offset``; for no kind, the nearest bytes that nothing explains.

        ``name``: beyond that field of the kind which owns the byte; of plain values only those of the name. ``unused``:
        those in use or not, and where there is none, the first from the other end.
        """
        family = None if kind is None or name else family_of(kind)
        is_unexplained = kind is None or kind.shape is Shape.UNCLAIMED
        roles = _UNEXPLAINED_ROLES if is_unexplained else 0 if family is None else family_bit(family)

        def is_one(field: Field) -> bool:
            if kind is None:
                return field.kind.shape is Shape.UNCLAIMED
            is_named = not name or not kind.is_value or field.name == name
            return field.kind is kind and is_named and unused in (None, field.unused)

        progress.begin("Searching", 0)
        shown = self.now.layers[layer]
        fields, starts = shown.fields(), [offset]
        if name:
            chain = reversed(locate(fields, offset))
            starts = [next((field.start for _, field in chain if is_one(field)), offset)]
        if unused is not None:
            starts.append(shown.source.size if backwards else -1)
        every = (FieldSearch(is_one, roles, start, backwards, progress).among(fields) for start in starts)
        found = next(filter(None, every), None)
        return None if found is None else Target(layer, *found)

    def find_datapoint(self, progress: Progress, expression: str) -> Target:
        """Where a datapoint is (see ``datapoint_key``); its range is read now if that has not been.

        Raises OperationError where there is none, or several, and Cancelled.
        """
        wanted = datapoint_key(expression)
        if wanted is None:
            raise OperationError("Type a key, such as key 12345.")
        collection = self.now.location.collection
        if collection is None:
            return self._in_archive(0, wanted[1], progress)
        numbers = _ranges_with(collection, *wanted)
        for at in numbers[:-1]:  # ranges that overlap: one of them may hold the key by its name alone
            with suppress(OperationError):
                return self._in_archive(at, wanted[1], progress)
        return self._in_archive(numbers[-1], wanted[1], progress)

    def _in_archive(self, at: int, key: int, progress: Progress) -> Target:
        archive = self._read(at, progress)
        member = member_with(archive, key)
        if member is not None and learn(archive, (member,), progress):
            self.generation += 1
            member = member_with(archive, key)
        if member is None:
            raise OperationError(self._missing(archive, at, key))
        spans = archive.members[member].spans
        if not spans:
            raise OperationError(f"It is not known where the datapoint with key {key:,} is: its range is damaged.")
        return Target(at, *spans[0])

    def _read(self, at: int, progress: Progress) -> Opened:
        now = self.now
        archive = now.open(at, ahead=True) if now.location.total else None
        if archive is None or (self.stage is Stage.CANCELLED and at < len(now.archives) and not archive.complete):
            raise OperationError("Reading was cancelled, so this is incomplete. Reload it.")
        if not archive.complete:
            archive = now.location.read(at, progress)
            self.generation += 1
        return archive

    def _missing(self, archive: Opened, at: int, key: int) -> str:
        collection = self.now.location.collection
        if collection is None:
            what = "archive holds" if archive.format == "datas3t" else "is not a datas3t range and holds"
            return f"This {what} no datapoint with key {key:,}."
        name = visible(collection.ranges[at].name)
        return f"Key {key:,} is among those that the name of {name} tells, but there is no such datapoint in it."
