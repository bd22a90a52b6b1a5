"""What a face is shown of changes: plain values that cross the border between processes (see ``views``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.edit import Edit, Kept
from inspector.core.span import Spans
from inspector.core.verdict import State


@dataclass(frozen=True, slots=True)
class RepairRow:
    """One repair: see ``core.repair.Repair``. ``spans`` are the bytes of the file that it changes or cuts off.

    ``consent`` says in a sentence why it is made only with the user's consent, empty where it needs none or where the
    ``claim`` says that.
    """

    code: str
    title: str
    fixes: tuple[str, ...]
    loses: tuple[str, ...]
    claim: str
    spans: Spans
    lossless: str = ""
    consent: str = ""


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How an archive would be repaired; nothing has been written.

    ``repairs`` would be made in their order, ``waiting`` only after consent; ``salvage`` would write a new archive;
    ``accepted`` are the codes that were consented to. ``edit`` is what changes in the archive itself, ``beside`` names
    the files written beside it. ``left`` are sentences on what would still be wrong, ``sentence`` sums up.
    """

    repairs: tuple[RepairRow, ...]
    waiting: tuple[RepairRow, ...]
    salvage: RepairRow | None
    edit: Edit | None
    beside: tuple[str, ...]
    before: State
    after: State
    left: tuple[str, ...]
    sentence: str
    accepted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Repaired:
    """An edit with the checksums that depend on it: ``checksums`` are the names of those that were repaired."""

    edit: Edit
    checksums: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What writing came to, in words. ``warnings`` are sentences of what to know about it.

    ``revert`` takes it back, None where that is not possible; ``kept`` is where the bytes stand that were cut off, None
    where none were.
    """

    sentence: str
    warnings: tuple[str, ...] = ()
    revert: Edit | None = None
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class OnlyWhole:
    """Nothing was written: the server cannot copy, so all of the object would have to be sent, as ``sentence`` says."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A change of this archive that was interrupted; ``story`` says what state that left it in.

    ``finish``, ``roll_back`` and ``forget`` (its journal, leaving the archive alone) say what each would do, and are
    empty where that way is closed; ``spans`` are the bytes concerned. ``keeps`` where forgetting only puts the journal
    aside, because the archive may be changed in part all the same.
    """

    story: str
    finish: str
    roll_back: str
    forget: str
    spans: Spans
    keeps: bool = False


class WayOut(StrEnum):
    """What to do about an interrupted change."""

    FINISH = "finish"
    ROLL_BACK = "roll back"
    FORGET = "forget"


def done_sentence(title: str, how: str = "") -> str:
    """A sentence that something was done, by the title under which it was offered: ``Cut off 40 bytes``."""
    return f"Done: {title} ({how})." if how else f"Done: {title}."
