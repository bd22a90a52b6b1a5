"""Values about changes and repairs; offsets and sizes are in bytes."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from inspector.core.edit import CutBytes, Edit
from inspector.core.numbers import in_bytes, verb
from inspector.core.span import Spans
from inspector.core.verdict import State
from inspector.sources.s3.connection import Consent


class RepairRow(Struct, frozen=True):
    """One repair (see ``core.repair.Repair``). ``spans`` are the bytes of the file that it changes or cuts off.

    ``consent`` is a sentence: why the repair is only made when accepted. It is empty if no consent is needed, or if
    ``claim`` is the reason.
    """

    code: str
    title: str
    fixes: tuple[str, ...]
    loses: tuple[str, ...]
    claim: str
    spans: Spans
    lossless: str = ""
    consent: str = ""


class SalvageReport(Struct, frozen=True):
    """What a salvage would save: numbers of members, and ``rows`` of (name, what becomes of it, why).

    Those that are lost come first, then those that nothing proves; there are at most ``MAX_REPORT_ROWS``.
    ``unsearched``: the search for members ended before the file, so there may be more. ``partial``: so there may be for
    another reason, such as bytes in which no member can be told.
    """

    proved: int
    readable: int
    lost: int
    rows: tuple[tuple[str, str, str], ...]
    unsearched: bool = False
    partial: bool = False

    @property
    def sentence(self) -> str:
        """The numbers in a sentence."""
        numbers = (self.proved, self.readable, self.lost)
        proved, readable, lost = (f"{each:,} {verb(each, 'is', 'are')}" for each in numbers)
        none = "none of those found is lost" if self.unsearched or self.partial else "none is lost"
        lost = f"{lost} lost" if self.lost else none
        if self.unsearched:
            lost = f"{lost}; the search ended before the file"
            proved = f"at least {proved}"
        return f"Of its members, {proved} proved, {readable} readable but unproved, and {lost}."


MAX_REPORT_ROWS = 1_000
"""Members that a plan names; programs get all of them."""


class RepairPlan(Struct, frozen=True):
    """How an archive would be repaired; nothing has been written.

    ``repairs`` are made in this order, ``waiting`` only when accepted; ``salvage`` writes a new archive; ``accepted``
    are the accepted codes. ``edit`` changes the archive itself, ``beside`` names the files written beside it. ``left``
    are sentences on what would still be wrong; ``sentence`` is the summary; ``report`` says of each member what becomes
    of it in the salvage.
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
    report: SalvageReport | None = None

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all repairs in it: there is nothing else to consent to."""
        return frozenset(each.code for each in (*self.repairs, *self.waiting, self.salvage) if each is not None)


class WriteResult(Struct, frozen=True):
    """The result of writing. ``warnings`` are sentences.

    ``revert`` undoes it, None if that is not possible; ``kept`` is where cut-off bytes are stored, None without any.
    """

    sentence: str
    warnings: tuple[str, ...] = ()
    revert: Edit | None = None
    kept: CutBytes | None = None


class PastWrite(Struct, frozen=True):
    """What this program wrote to an archive earlier, at ``written`` (seconds since 1970).

    ``spans`` are the bytes it changed and ``cut`` how many it cut off. ``can_take_back``: it is the last one, and the
    archive still is as it left it.
    """

    written: float
    label: str
    spans: Spans
    cut: int
    can_take_back: bool

    @property
    def what(self) -> str:
        """The change in words: its label, and how many bytes it changed and cut off."""
        changed = sum(span.size for span in self.spans)
        parts = [f"{in_bytes(changed)} written"] if changed else []
        parts += [f"{in_bytes(self.cut)} cut off"] if self.cut else []
        return f"{self.label} ({', '.join(parts)})" if parts else self.label


class NeedsConsent(Struct, frozen=True):
    """Nothing was written to S3: the server can do it only in a way that needs ``consent``."""

    sentence: str
    consent: Consent


class Interrupted(Struct, frozen=True):
    """An interrupted change of this archive; ``story`` describes the state that it left.

    ``finish``, ``roll_back`` and ``forget`` (remove the journal, leave the archive alone) describe each way out, and
    are empty if it is not possible; ``spans`` are the affected bytes. ``keeps``: forgetting only moves the journal
    away, because the archive may be partly changed.
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
    """A sentence that a change was made; ``title`` is that of the offer, such as ``Cut off 40 bytes``."""
    return f"Done: {title} ({how})." if how else f"Done: {title}."
