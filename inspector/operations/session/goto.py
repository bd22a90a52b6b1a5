"""Expressions that lead to a byte.

``1024``, ``0x400``, ``+16`` and ``-16`` from the caret, ``start``, ``end``, ``end-4``, the name of a field (``footer``,
``central directory``; upper or lower case, spaces or underscores), one of several (``block[10]``, ``entry[3]``),
``member[5]``, ``member:path/name`` (without ``member:`` where nothing else has the name), and sums of these with
numbers: ``index + 0x10``. Chunks and segments are counted from 1, as the specification of RCA and the field tree do;
everything else from 0.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inspector.core.collection import Collection, Range
from inspector.core.field import Field
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.progress import Progress
from inspector.formats.datas3t.datapoints import member_with
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, find_member
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.coverage_views import datapoint_key
from inspector.operations.protocol.views import LayerKind, MemberPlace, Stage, Target
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.layers import Layers
from inspector.operations.session.state import SessionState

MAX_FIELDS = 20_000
"""Fields that are looked at for a name."""
MAX_SIBLINGS = 1_000
"""Fields of the same parent that are looked at one by one."""
OWN_WORDS = ("start", "end")
"""What they mean is the same in every layer, so they cannot be words of a kind."""
MAX_SUGGESTIONS = 8
"""Words that are named where one leads nowhere."""

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[+-])"
    r"|(?P<number>0[xX][0-9a-fA-F]{1,32}|[0-9][0-9,]{0,63})(?![\w,])"
    r"|(?P<name>[^\W\d][^+\-\[\]]*)(?:\[\s*(?P<at>[0-9]{1,18})\s*\])?)\s*"
)


class ExpressionError(OperationError):
    """The expression leads nowhere."""


class UnknownNameError(ExpressionError):
    """The expression names a field that is not in the layer."""


@dataclass(frozen=True, slots=True)
class ExpressionContext:
    """What an expression may speak of: the fields of a layer, members, and of all layers the size and what they are."""

    layer: int
    fields: Sequence[Field]
    size: Callable[[int], int]
    what: Callable[[int], str]
    member: Callable[[int], Target]
    named: Callable[[str], Target]


def resolve(expression: str, context: ExpressionContext, caret: int) -> Target:
    """Where the expression leads, ``start == stop`` for a mere position. Raises OperationError with a sentence."""
    text = expression.strip()
    if not text:
        raise ExpressionError("Type an offset, the name of a field, or an expression such as end-4.")
    if text.lower().startswith("member:"):
        return context.named(text[len("member:") :].strip())
    try:
        found = _evaluate(text, context, caret)
    except UnknownNameError:
        # A name may hold a sign itself: crc-32.
        field = _find_field(context.fields, _normalized(text), None)
        if field is None:
            raise
        found = Target(context.layer, *field.spans[0])
    size = context.size(found.layer)
    if not 0 <= found.start <= size:
        raise ExpressionError(f"Byte {found.start:,} is not there: {context.what(found.layer)} has {in_bytes(size)}.")
    return found


def _evaluate(text: str, context: ExpressionContext, caret: int) -> Target:
    """A sum of terms; one that begins with a sign counts from the caret."""
    found = Target(context.layer, caret, caret) if text[0] in "+-" else None
    sign = 0 if found is not None else 1
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        # Signs and terms take turns: after a sign (``sign`` is not 0) comes a term.
        if match is None or bool(match["sign"]) is bool(sign):
            raise ExpressionError(f"“{text[at:].strip()}” is not a valid expression.")
        if match["sign"]:
            sign = 1 if match["sign"] == "+" else -1
        else:
            found, sign = _sum(found, sign, _term(match, context)), 0
        at = match.end()
    if sign or found is None:
        raise ExpressionError(f"Something is missing at the end of “{text}”.")
    return found


def _sum(known: Target | None, sign: int, term: Target) -> Target:
    """A mere number counts from the start, so that it can be added as it is."""
    if known is None:
        return term
    start = known.start + sign * term.start
    return Target(known.layer, start, start)


def _term(match: re.Match[str], context: ExpressionContext) -> Target:
    if match["number"]:
        digits = match["number"].replace(",", "")
        number = int(digits, 16 if digits[:2].lower() == "0x" else 10)
        return Target(context.layer, number, number)
    name, at = _normalized(match["name"]), None if match["at"] is None else int(match["at"])
    if at is None and name in OWN_WORDS:
        end = context.size(context.layer) if name == "end" else 0
        return Target(context.layer, end, end)
    if name == "member" and at is not None:
        return context.member(at)
    field = _find_field(context.fields, name, at)
    if field is None:
        which = match["name"].strip() + ("" if at is None else f"[{at}]")
        known = ", ".join(_suggestions(context.fields))
        more = f" There is: {known}." if known else ""
        raise UnknownNameError(f"There is no “{visible(which)}” in {context.what(context.layer)}.{more}")
    return Target(context.layer, *field.spans[0])


def _normalized(name: str) -> str:
    return " ".join(name.replace("_", " ").lower().split())


def _find_field(fields: Sequence[Field], name: str, number: int | None) -> Field | None:
    """The field with a number, as its specification counts, of those with the name, level by level; None: the first."""
    wanted, is_counted = number or 0, number is None
    for siblings in _groups(fields):
        like = [field for field in siblings[:MAX_SIBLINGS] if field.spans and _is_called(field, name)]
        if like and not is_counted:
            kind, is_counted = like[0].kind, True
            wanted -= kind.first if name in (kind.lower(), *kind.words[:1]) else 0
            if wanted < 0:
                return None
        if wanted < len(like):
            return like[wanted]
        wanted -= len(like)
        if like and wanted < len(siblings) - MAX_SIBLINGS:
            # The rows of a table as long as this one are alike.
            return siblings[MAX_SIBLINGS + wanted]
        wanted -= max(0, len(siblings) - MAX_SIBLINGS) if like else 0
    return None


def _is_called(field: Field, name: str) -> bool:
    return name in (_normalized(field.name), field.kind.lower()) or name in field.kind.words


def _suggestions(fields: Sequence[Field]) -> list[str]:
    """Some of the words that lead to fields, those for the outer ones first."""
    words: dict[str, None] = {}
    for siblings in _groups(fields):
        words |= dict.fromkeys(field.kind.lower() for field in siblings[:MAX_SUGGESTIONS] if field.spans)
        if len(words) >= MAX_SUGGESTIONS:
            break
    return list(words)[:MAX_SUGGESTIONS]


def _groups(fields: Sequence[Field]) -> Iterator[Sequence[Field]]:
    """Siblings, level by level."""
    level: list[Sequence[Field]] = [fields]
    left = MAX_FIELDS
    while level and left > 0:
        below: list[Sequence[Field]] = []
        for siblings in level:
            yield siblings
            looked_at = siblings[: min(left, MAX_SIBLINGS)]
            left -= len(looked_at)
            below += [field.children for field in looked_at if field.children]
        level = below


_DESCRIPTIONS = {LayerKind.FILE: "the file", LayerKind.INNER: "the inner stream", LayerKind.CONTENT: "this content"}


class GotoTargets:
    """Knows the archives, layers and members that are there; ``place`` says where a member is."""

    def __init__(
        self, archives: Sequence[Opened], archive_set: ArchiveSet, layers: Layers, place: Callable[[int], MemberPlace]
    ) -> None:
        self._archives = archives
        self._archive_set = archive_set
        self._layers = layers
        self._place = place

    def target(self, expression: str, layer: int, caret: int) -> Target:
        """Where an expression (see ``goto``) leads, from a caret in a layer; raises OperationError for nonsense."""
        try:
            return self._resolved(expression, layer, caret)
        except ExpressionError:
            name = expression.strip()
            if not name or not self._is_member(name):
                raise
            return self._member_named(name)

    def _resolved(self, expression: str, layer: int, caret: int) -> Target:
        try:
            return resolve(expression, self._context(layer), caret)
        except UnknownNameError:
            whole = self._layers[layer].at
            if whole == layer:
                raise
            return resolve(expression, self._context(whole), 0)

    def _is_member(self, name: str) -> bool:
        """Whether a member is called so, or several."""
        try:
            self._find_member(name)
        except AmbiguousMemberError:
            return True
        except MemberNotFoundError:
            return False
        return True

    def _context(self, layer: int) -> ExpressionContext:
        here = self._layers[layer]
        return ExpressionContext(layer, here.fields(), self._size, self._describe, self._member, self._member_named)

    def _size(self, layer: int) -> int:
        return self._layers[layer].source.size

    def _describe(self, layer: int) -> str:
        return _DESCRIPTIONS[self._layers[layer].info.kind]

    def _member(self, index: int) -> Target:
        place = self._place(index)
        if not place.spans:
            raise OperationError("The location of that member is unknown.")
        return Target(place.layer, *place.spans[0])

    def _member_named(self, name: str) -> Target:
        """A member by the name that its archive gives it, or by the whole path that it is shown with."""
        found, local = self._find_member(name)
        at = next(at for at, archive in enumerate(self._archives) if archive is found)
        return self._member(self._archive_set.number(at, local))

    def _find_member(self, name: str) -> tuple[Opened, int]:
        wanted = list(self._archives)
        for at, archive in enumerate(self._archives):
            folder = visible(self._archive_set.folder(at))
            if folder and name.startswith(folder):
                wanted, name = [archive], name.removeprefix(folder)
                break
        return find_member(wanted, name)


def find_datapoint(session: SessionState, progress: Progress, expression: str) -> Target:
    """Where a datapoint is (see ``datapoint_key``); its range is read now if that has not been.

    Raises OperationError where there is none, or several, and Cancelled.
    """
    wanted = datapoint_key(expression)
    if wanted is None:
        raise OperationError("Type a key, such as key 12345.")
    collection = session.now.location.collection
    if collection is None:
        return _in_archive(session, 0, wanted[1], progress)
    numbers = _ranges_with(collection, *wanted)
    for at in numbers[:-1]:  # ranges that overlap: one of them may hold the key by its name alone
        try:
            return _in_archive(session, at, wanted[1], progress)
        except OperationError:
            continue
    return _in_archive(session, numbers[-1], wanted[1], progress)


def _in_archive(session: SessionState, at: int, key: int, progress: Progress) -> Target:
    archive = _read(session, at, progress)
    member = member_with(archive, key)
    if member is not None and learn(archive, (member,), progress):
        session.generation += 1
        member = member_with(archive, key)
    if member is None:
        raise OperationError(_missing(session, archive, at, key))
    spans = archive.members[member].spans
    if not spans:
        raise OperationError(f"It is not known where the datapoint with key {key:,} is: its range is damaged.")
    return Target(at, *spans[0])


def _read(session: SessionState, at: int, progress: Progress) -> Opened:
    now = session.now
    archive = now.open_ahead(at) if now.location.total else None
    if archive is None or (session.stage is Stage.CANCELLED and at < len(now.archives) and not archive.complete):
        raise OperationError("Reading was cancelled, so this is incomplete. Reload it.")
    if not archive.complete:
        now.location.decode(at, progress)
        session.generation += 1
    return archive


def _missing(session: SessionState, archive: Opened, at: int, key: int) -> str:
    collection = session.now.location.collection
    if collection is None:
        what = "archive holds" if archive.format == "datas3t" else "is not a datas3t range and holds"
        return f"This {what} no datapoint with key {key:,}."
    name = visible(collection.ranges[at].name)
    return f"Key {key:,} is among those that the name of {name} tells, but there is no such datapoint in it."


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
