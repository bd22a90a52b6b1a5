"""Expressions that lead to a byte.

``1024``, ``0x400``, ``+16`` and ``-16`` from the caret, ``start``, ``end``, ``end-4``, the name of a field (``footer``,
``central directory``; upper or lower case, spaces or underscores), one of several (``chunk[2]``, ``entry[3]``; counted
from 0, as members are), ``member[5]``, ``member:path/name``; and sums of these with numbers: ``index + 0x10``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inspector.core.field import Field, FieldTable
from inspector.core.kinds import Kind
from inspector.operations.refused import Refused
from inspector.operations.views import Target

LOOKED_AT = 20_000
"""Fields that are looked at for a name."""
SCANNED = 1_000
"""Rows of the largest table that is looked through row by row."""

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[+-])"
    r"|(?P<number>0[xX][0-9a-fA-F]+|[0-9][0-9,]*)(?!\w)"
    r"|(?P<name>[^\W\d][^+\-\[\]]*)(?:\[\s*(?P<at>[0-9]{1,18})\s*\])?)\s*"
)
_SHORT = {
    "eocd": Kind.END_OF_DIRECTORY,
    "cd": Kind.CENTRAL_DIRECTORY,
    "chunk": Kind.CHUNK_HEADER,
    "block": Kind.BLOB_BLOCK,
    "blob": Kind.BLOB_BLOCK,
    "entry": Kind.INDEX_ENTRY,
    "header": Kind.LOCAL_HEADER,
    "reset": Kind.RESET_BLOCK,
    "data": Kind.DATA,
}


class Nonsense(Refused):
    """The expression leads nowhere."""


class UnknownName(Nonsense):
    """The expression names a field that is not in the layer."""


@dataclass(frozen=True, slots=True)
class Places:
    """What an expression may speak of: the fields of a layer, the sizes of all layers in bytes, and members."""

    layer: int
    fields: Sequence[Field]
    size: Callable[[int], int]
    member: Callable[[int], Target]
    named: Callable[[str], Target]


def resolve(expression: str, places: Places, caret: int) -> Target:
    """Where the expression leads, ``start == stop`` for a mere position. Raises Refused with a sentence."""
    text = expression.strip()
    if not text:
        raise Nonsense("Type an offset, the name of a field, or an expression such as end-4.")
    if text.lower().startswith("member:"):
        return places.named(text[len("member:") :].strip())
    found = _evaluate(text, places, caret)
    size = places.size(found.layer)
    if not 0 <= found.start <= size:
        raise Nonsense(f"Byte {found.start:,} is not there: there are {size:,} bytes.")
    return found


def _evaluate(text: str, places: Places, caret: int) -> Target:
    """A sum of terms; one that begins with a sign counts from the caret."""
    found = Target(places.layer, caret, caret) if text[0] in "+-" else None
    sign = 0 if found is not None else 1
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        # Signs and terms take turns: after a sign (``sign`` is not 0) comes a term.
        if match is None or bool(match["sign"]) is bool(sign):
            raise Nonsense(f"“{text[at:].strip()}” is not understood.")
        if match["sign"]:
            sign = 1 if match["sign"] == "+" else -1
        else:
            found, sign = _sum(found, sign, _term(match, places)), 0
        at = match.end()
    if sign or found is None:
        raise Nonsense(f"Something is missing at the end of “{text}”.")
    return found


def _sum(known: Target | None, sign: int, term: Target) -> Target:
    """A mere number counts from the start, so that it can be added as it is."""
    if known is None:
        return term
    start = known.start + sign * term.start
    return Target(known.layer, start, start)


def _term(match: re.Match[str], places: Places) -> Target:
    if match["number"]:
        digits = match["number"].replace(",", "")
        number = int(digits, 16 if digits[:2].lower() == "0x" else 10)
        return Target(places.layer, number, number)
    name, at = _folded(match["name"]), None if match["at"] is None else int(match["at"])
    if at is None and name in ("start", "end"):
        end = places.size(places.layer) if name == "end" else 0
        return Target(places.layer, end, end)
    if name == "member" and at is not None:
        return places.member(at)
    field = _find(places.fields, name, at)
    if field is None:
        which = match["name"].strip() + ("" if at is None else f"[{at}]")
        raise UnknownName(f"There is no “{which}” here.")
    return Target(places.layer, *field.spans[0])


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").lower().split())


def _find(fields: Sequence[Field], name: str, at: int | None) -> Field | None:
    """The first field with the name, or the one that is number ``at`` of those with it, level by level."""
    kind = _SHORT.get(name)
    wanted = 0 if at is None else at
    for siblings, alike in _groups(fields):
        like = [field for field in siblings if field.spans and _is_called(field, name, kind)]
        if wanted < len(like):
            return like[wanted]
        if like and alike is not None:
            if wanted < len(alike):
                return alike[wanted]
            wanted -= len(alike)
        else:
            wanted -= len(like)
    return None


def _is_called(field: Field, name: str, kind: Kind | None) -> bool:
    return name in (_folded(field.name), field.kind.value.lower()) or field.kind is kind


def _groups(fields: Sequence[Field]) -> Iterator[tuple[Sequence[Field], FieldTable | None]]:
    """Siblings, level by level; of a large table its first row, and the table, whose rows are taken to be alike."""
    level: list[Sequence[Field]] = [fields]
    left = LOOKED_AT
    while level:
        below: list[Sequence[Field]] = []
        for group in level:
            large = group if isinstance(group, FieldTable) and len(group) > SCANNED else None
            siblings = group[:1] if large is not None else group[:left]
            left -= len(siblings)
            yield siblings, large
            below += [field.children for field in siblings if field.children]
        level = below if left > 0 else []
