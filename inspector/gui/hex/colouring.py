"""What bytes are coloured by, and the colours for it. No Qt here."""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum
from typing import NamedTuple

from inspector.core.field import Run
from inspector.core.kinds import UNCLAIMED, Family, Kind, Role, family_of
from inspector.core.verdict import Verdict
from inspector.gui.kit.palette import FAMILY_HUES, LEVELS, ROLE_HUES, Colours, Hue


class ColourBy(StrEnum):
    """What the colours of bytes tell apart."""

    STRUCTURE = "structure"
    KIND = "field kind"
    VERDICT = "verdict"
    MEMBER = "member"


class Paint(NamedTuple):
    """What the background of bytes says: ``what`` is told apart ``by`` structure, kind, verdict or member.

    ``what`` is a kind of structure and whether it is unused, a role, a verdict or a Hue. ``shade`` varies the colour
    without changing its meaning; for a hue it is ``2 * level + tone``.
    """

    by: ColourBy
    what: Hashable
    shade: int


def _of_structure(run: Run) -> Paint | None:
    structure = run.structure
    if structure is None or (structure.family is None and structure.kind not in UNCLAIMED):
        return _of_kind(run)
    tone = 0 if structure.path == run.path else run.tone
    return Paint(ColourBy.STRUCTURE, (structure.kind, structure.unused), 2 * structure.level + tone)


def _of_kind(run: Run) -> Paint | None:
    return Paint(ColourBy.KIND, run.role, run.shade if run.role is Role.DATA else 0)


def _of_verdict(run: Run) -> Paint | None:
    return None if run.verdict is None else Paint(ColourBy.VERDICT, run.verdict, 2 * _level(run))


_HUES = tuple(Hue)


def _of_member(run: Run) -> Paint | None:
    if run.member is None:
        return None
    return Paint(ColourBy.MEMBER, _HUES[run.member % len(_HUES)], 2 * _level(run))


def _level(run: Run) -> int:
    return max(1, run.structure.level) if run.structure is not None else 1


PAINTS = {
    ColourBy.STRUCTURE: _of_structure,
    ColourBy.KIND: _of_kind,
    ColourBy.VERDICT: _of_verdict,
    ColourBy.MEMBER: _of_member,
}
"""The paint of a run; None for bytes that have no answer to it and stay as they are."""

VERDICT_HUES = {
    Verdict.VERIFIED: Hue.GREEN,
    Verdict.MISMATCH: Hue.VERMILLION,
    Verdict.DOUBTFUL: Hue.AMBER,
    Verdict.NOT_CHECKED: Hue.GREY,
    Verdict.NOT_CHECKABLE: Hue.PURPLE,
}


def hue_of(paint: Paint) -> Hue | None:
    """The hue of a paint; None for what is hatched."""
    what = paint.what
    if isinstance(what, Hue):
        return what
    if isinstance(what, Verdict):
        return VERDICT_HUES[what]
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
    if isinstance(paint.what, tuple) and paint.what[0] in UNCLAIMED:
        return Role.GAP if paint.what[0] is Kind.GAP else Role.GARBAGE
    return None


def line_of(family: Family | None, colours: Colours) -> str:
    """The colour of the line around a structure."""
    return colours.quiet if family is None else colours.tones[FAMILY_HUES[family]].line
