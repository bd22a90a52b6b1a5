"""Expressions that lead to a byte, and in words where a byte is.

``1024``, ``0x400``, ``+16`` and ``-16`` from the caret, ``start``, ``end``, ``end-4``, the name of a field (``footer``,
``central directory``; upper or lower case, spaces or underscores), one of several (``block[10]``, ``entry[3]``),
``member[5]``, ``member:path/name`` (without ``member:`` where nothing else has the name), and sums of these with
numbers: ``index + 0x10``. Chunks and segments are counted from 1, as the specification of RCA and the field tree do;
everything else from 0.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from inspector.core.field import Field, FieldTable
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.span import Span
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import find_member
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import Target

MAX_FIELDS = 20_000
"""Fields that are looked at for a name."""
MAX_SIBLINGS = 1_000
"""Fields of the same parent that are looked at one by one."""
OWN_WORDS = ("start", "end")
"""What they mean is the same in every layer, so they cannot be words of a kind."""
MAX_SUGGESTIONS = 8
"""Words that are named where one leads nowhere."""
MAX_LABEL = 256
"""Characters of a field's label: a file's name may have as many bytes as it likes."""

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[+-])"
    r"|(?P<number>0[xX][0-9a-fA-F]{1,32}|[0-9][0-9,]{0,63})(?![\w,])"
    r"|(?P<name>[^\W\d][^+\-\[\]]*)(?:\[\s*(?P<at>[0-9]{1,18})\s*\])?)\s*"
)


class ExpressionError(OperationError):
    """The expression leads nowhere."""


class UnknownNameError(ExpressionError):
    """The expression names a field that is not in the layer."""


class ExpressionContext(Struct, frozen=True):
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
            term = _term(match, context)
            # A mere number counts from the start, so that it can be added as it is.
            start = 0 if found is None else found.start + sign * term.start
            found, sign = term if found is None else Target(found.layer, start, start), 0
        at = match.end()
    if sign or found is None:
        raise ExpressionError(f"Something is missing at the end of “{text}”.")
    return found


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
        like = [field for field in siblings[:MAX_SIBLINGS] if field.spans and name in _names(field)]
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


def _names(field: Field) -> tuple[str, ...]:
    return _normalized(field.name), field.kind.lower(), *field.kind.words


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


def place_in(archive: Opened, expression: str) -> int:
    """The byte of a file that an expression leads to. Raises OperationError, with a sentence, if there is none."""

    def member(index: int) -> Target:
        if index >= len(archive.members) or not (spans := archive.members[index].spans):
            raise OperationError(f"There is no member {index:,} whose place is known; the first one is member[0].")
        return Target(0, *spans[0])

    def named(name: str) -> Target:
        return member(find_member([archive], name)[1])

    size = archive.source.size
    context = ExpressionContext(0, archive.fields, lambda _: size, lambda _: "the file", member, named)
    at = resolve(expression, context, 0).start
    if at == size:
        raise OperationError(f"Byte {at:,} is not there: it is where the file ends.")
    return at


# ---- where a byte is -------------------------------------------------------------------------------------------------

_MAX_ROWS = 1_000
"""Rows of a table that are looked at in a stretch; of more, only the one in its middle may own most of it."""
_Pieces = list[tuple[int, int, Field]]
"""Each piece of each field in order."""


class Places:
    """The fields that own most of stretches of bytes, for very many stretches: the pieces of a level are kept."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._kept: dict[int, tuple[Sequence[Field], range, _Pieces]] = {}
        self._labels: dict[int, tuple[Field, str, Sequence[Field]]] = {}

    def most_text(self, span: Span) -> str:
        """The names of the fields that own most of a stretch, the outermost first, and how many others own some."""
        names: list[str] = []
        fields, others = self._fields, 0
        while fields:
            owned, more = self._owned(fields, len(names), span)
            size, field = max(owned.values(), key=lambda each: each[0], default=(0, None))
            if field is None or (names and 2 * size <= span.size):
                others += len(owned) + more - 1 if owned else 0
                break
            others += len(owned) + more - 1
            kept = self._labels.get(len(names))
            if kept is None or kept[0] is not field:
                # Of a name of a million characters no more is made visible than is kept.
                label = visible((field.label or field.name)[: MAX_LABEL + 1])
                kept = field, label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…", field.children
                self._labels[len(names)] = kept
            names.append(kept[1])
            fields = kept[2]
        return " > ".join(names) + (f", and {count(others, 'other')}" if others else "")

    def _owned(self, fields: Sequence[Field], depth: int, span: Span) -> tuple[dict[int, tuple[int, Field]], int]:
        """The bytes that each field owns of a stretch, and how many more fields may own some."""
        rows, more = range(len(fields)), 0
        if isinstance(fields, FieldTable) and len(rows := fields.rows(*span)) > _MAX_ROWS:
            middle = (span.start + span.stop) // 2
            rows, more = fields.rows(middle, middle + 1), len(rows)
            more -= len(rows)
        if depth not in self._kept or self._kept[depth][0] is not fields or self._kept[depth][1] != rows:
            some = fields if len(rows) == len(fields) else map(fields.__getitem__, rows)
            made = [(*each, field) for field in some for each in field.spans if each.size > 0]
            self._kept[depth] = fields, rows, sorted(made, key=lambda piece: piece[0])
        pieces = self._kept[depth][2]
        first = max(0, bisect_right(pieces, span.start, key=lambda piece: piece[0]) - 1)
        pieces = pieces[first : bisect_left(pieces, span.stop, key=lambda piece: piece[0])]
        found: dict[int, tuple[int, Field]] = {}
        for start, stop, field in pieces:
            if (size := min(stop, span.stop) - max(start, span.start)) > 0:
                found[id(field)] = found.get(id(field), (0, field))[0] + size, field
        return found, more
