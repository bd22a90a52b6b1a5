"""What bytes are coloured by, and the colours for it; what a map of a file shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from functools import lru_cache, reduce
from itertools import groupby
from operator import or_
from typing import NamedTuple

from inspector.core.field import Run
from inspector.core.kinds import FAMILIES, ROLES, Family, Kind, Role, Shape, family_bit, family_of, role_bit
from inspector.core.verdict import Verdict
from inspector.drawing.byte_class import ByteClass
from inspector.drawing.palette import FAMILY_HUES, LEVELS, ROLE_HUES, Colours, Hue


class ColourBy(StrEnum):
    """What the colours of bytes tell apart."""

    STRUCTURE = "structure"
    KIND = "field kind"
    VERDICT = "verdict"
    MEMBER = "member"
    ENTROPY = "entropy"


class Paint(NamedTuple):
    """What the background of bytes says: ``what`` is told apart ``by`` structure, kind, verdict, member or look.

    ``what`` is a kind of structure and whether it is unused, a role, a verdict, a Hue or a ByteClass. ``shade`` varies
    the colour without changing its meaning; for a hue it is ``2 * level + tone``.
    """

    by: ColourBy
    what: Hashable
    shade: int


def _of_structure(run: Run) -> Paint | None:
    structure = run.structure
    if structure is None or (structure.family is None and structure.kind.shape is not Shape.UNCLAIMED):
        return _of_kind(run)
    tone = 0 if structure.path == run.path else run.tone
    return Paint(ColourBy.STRUCTURE, (structure.kind, structure.unused), 2 * structure.level + tone)


def _of_kind(run: Run) -> Paint | None:
    return Paint(ColourBy.KIND, run.role, run.shade if run.role is Role.DATA else 0)


def _level(run: Run) -> int:
    return max(1, run.structure.level) if run.structure is not None else 1


_HUES = tuple(Hue)
PAINTS: dict[ColourBy, Callable[[Run], Paint | None]] = {
    ColourBy.STRUCTURE: _of_structure,
    ColourBy.KIND: _of_kind,
    ColourBy.VERDICT: lambda run: (
        None if run.verdict is None else Paint(ColourBy.VERDICT, run.verdict, 2 * _level(run))
    ),
    ColourBy.MEMBER: lambda run: (
        None if run.member is None else Paint(ColourBy.MEMBER, _HUES[run.member % len(_HUES)], 2 * _level(run))
    ),
    ColourBy.ENTROPY: lambda _: None,  # fields do not say how bytes look, see ``paint_of_look``
}
"""The paint of a run; None for bytes that have no answer to it and stay as they are."""

VERDICT_HUES = {
    Verdict.VERIFIED: Hue.GREEN,
    Verdict.MISMATCH: Hue.VERMILLION,
    Verdict.DOUBTFUL: Hue.AMBER,
    Verdict.NOT_CHECKED: Hue.GREY,
    Verdict.NOT_CHECKABLE: Hue.PURPLE,
}


CLASS_HUES = {
    ByteClass.ZEROS: Hue.GREY,
    ByteClass.REPEATED: Hue.AMBER,
    ByteClass.TEXT: Hue.GREEN,
    ByteClass.UTF8: Hue.YELLOW,
    ByteClass.RANDOM: Hue.PURPLE,
    ByteClass.OTHER: Hue.SKY,
}
"""One hue for each look of bytes."""


def paint_of_look(each: ByteClass) -> Paint:
    """The paint of bytes that look so."""
    return Paint(ColourBy.ENTROPY, each, 2)


def hue_of(paint: Paint) -> Hue | None:
    """The hue of a paint; None for what is hatched."""
    what = paint.what
    if isinstance(what, Hue):
        return what
    if isinstance(what, Verdict):
        return VERDICT_HUES[what]
    if isinstance(what, ByteClass):
        return CLASS_HUES[what]
    if isinstance(what, Role):
        return ROLE_HUES.get(what)
    family = family_of(what[0]) if isinstance(what, tuple) else None
    return None if family is None else FAMILY_HUES[family]


def fill_of(paint: Paint, colours: Colours) -> str:
    """The background of a paint as ``#RRGGBB``."""
    if isinstance(paint.what, Role):
        return colours.fill(paint.what, paint.shade)
    hue = hue_of(paint)
    return colours.base if hue is None else colours.tones[hue].fills[paint.shade // 2 % LEVELS][paint.shade % 2]


def hatched_role(paint: Paint) -> Role | None:
    """The role whose hatching a paint has, if any."""
    if isinstance(paint.what, Role):
        return paint.what if paint.what in (Role.GAP, Role.GARBAGE) else None
    if isinstance(paint.what, tuple) and paint.what[0].shape is Shape.UNCLAIMED:
        return Role.GAP if paint.what[0] is Kind.GAP else Role.GARBAGE
    return None


def line_of(family: Family | None, colours: Colours) -> str:
    """The colour of the line around a structure."""
    return colours.quiet if family is None else colours.tones[FAMILY_HUES[family]].line


# ---- maps ------------------------------------------------------------------------------------------------------------

_LANDMARKS = (Family.CHUNK, Family.RESET, Family.TACO, Family.INDEX, Family.END)
"""Families that give an archive its shape: they also have a column of their own, however few their bytes are."""
_LANDMARK_SIZE = 4
"""The least rows of a landmark."""
_UNCLAIMED = (Role.GAP, Role.GARBAGE)


def roles_in(role_set: int) -> list[Role]:
    """The roles in a role set (a bit mask, see ``core.kinds.role_bit``)."""
    return [role for role in ROLES if role_set & role_bit(role)]


@lru_cache(maxsize=1024)
def families_in(role_set: int) -> tuple[Family, ...]:
    """The families in a set of roles and families (see ``core.kinds.family_bit``)."""
    return tuple(family for family in FAMILIES if role_set & family_bit(family))


@lru_cache(maxsize=1024)
def shown_in(role_set: int, by: ColourBy) -> tuple[Family | Role, ...]:
    """What a row of the map shows side by side: families and unclaimed bytes, or roles.

    The rows of a map repeat few sets, so each is looked through once.
    """
    if by is not ColourBy.STRUCTURE:
        return tuple(roles_in(role_set))
    return (*families_in(role_set), *(role for role in _UNCLAIMED if role_set & role_bit(role)))


def landmarks(sets: Sequence[int]) -> list[int]:
    """The landmarks of each row, each made high enough to be seen."""
    found = [0] * len(sets)
    runs = [(each, len(list(same))) for each, same in groupby(sets)]
    anywhere = reduce(or_, (each for each, _ in runs), 0)
    for family in _LANDMARKS:
        bit, row = family_bit(family), 0
        if not anywhere & bit:
            continue
        for there, same in groupby(runs, key=lambda run: bool(run[0] & bit)):
            height = sum(rows for _, rows in same)
            if there:
                more = max(0, _LANDMARK_SIZE - height)
                low = max(0, min(row - more // 2, len(sets) - height - more))
                for at in range(low, min(len(sets), low + height + more)):
                    found[at] |= bit
            row += height
    return found
