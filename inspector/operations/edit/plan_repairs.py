"""Planning repairs: each one that the format offers is tried over an overlay, and the result is checked.

Consent covers exactly what was shown: the repairs offered for the unchanged archive (the first round). Repairs offered
after others were applied may rest on bytes that these wrote. They are only applied without consent if no earlier
repair rests on a claim, and if they cut off nothing that the first round did not show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.cause import TAKEN_OUT
from inspector.core.edit import Edit, OverlaySource, merged
from inspector.core.format import MemberError
from inspector.core.member import UNREADABLE
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, State, Verdict
from inspector.formats._causes.diagnosis import NO_DIAGNOSIS
from inspector.operations.check.checking import check_archive, checked, offered, state_of
from inspector.operations.open.opening import Opened
from inspector.sources.local.file import TemporarySource

_MAX_REPAIRS = 100
"""Repairs tried on one archive. Each one removes findings, so only a faulty repair reaches this limit."""


class SiblingFile(Struct, frozen=True):
    """A file to write beside the archive: its name is the archive's without ``instead_of``, plus ``suffix``."""

    suffix: str
    instead_of: str
    content: Source


class Plan(Struct, frozen=True):
    """How an archive would be repaired. Nothing has been written.

    ``repairs`` are applied in this order. Together they are ``edit``, None if the archive itself does not change, and
    the files ``beside``. ``waiting`` are only applied when accepted; ``refused`` are the codes of those that were
    accepted and are not applied, each with why, as a clause. ``accepted`` are the accepted codes. ``after`` is the
    repaired archive, decoded and checked; ``salvage`` would write its undamaged members to a new archive.
    """

    before: Opened
    repairs: tuple[Repair, ...]
    edit: Edit | None
    beside: tuple[SiblingFile, ...]
    waiting: tuple[Repair, ...]
    after: Opened
    salvage: Repair | None
    accepted: frozenset[str] = frozenset()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def state(self) -> State:
        """The state of the repaired archive."""
        return state_of((self.after,))

    @property
    def saves(self) -> bool:
        """Whether a copy is what the salvage writes: the repaired archive would not be fine, or be one of several."""
        return self.salvage is not None and (not self.state.fine or self.salvage.code in TAKEN_OUT)


def plan(
    archive: Opened,
    progress: Progress,
    accepted: Collection[str] = (),
    *,
    in_place: bool = True,
    declined: Collection[str] = (),
) -> Plan:
    """Plan the repair of a decoded archive, including repairs that need consent if their codes are ``accepted``.

    ``in_place``: the archive itself is changed. Then repairs that remove bytes need consent, and so do all repairs if
    those without consent would not leave the archive fine. For a copy only claims need consent: the archive stays.
    Repairs whose codes are ``declined`` are not planned.

    Checks the archive first if necessary. Raises SourceError and Cancelled.
    """
    if not archive.verdicts:
        check_archive(archive, progress)
    first = tuple(each for each in offered(archive, progress) if each.code not in declined)
    planning = _Planning(archive, first, frozenset(), in_place, declined)
    planning.run(progress)
    unasked = not in_place or planning.state.fine
    if accepted or (planning.made and not unasked):
        planning = _Planning(archive, first, frozenset(accepted), in_place, declined, unasked=unasked)
        planning.run(progress)
    return planning.plan(progress)


class _Planning:
    """The repairs applied so far as overlays; ``now`` is the archive after them.

    ``first`` are the repairs offered for the unchanged archive; ``unasked``: also apply repairs without consent.
    """

    def __init__(
        self,
        archive: Opened,
        first: tuple[Repair, ...],
        accepted: frozenset[str],
        in_place: bool,
        declined: Collection[str] = (),
        *,
        unasked: bool = True,
    ) -> None:
        self.now = archive
        self.accepted = accepted
        self.made: list[Repair] = []
        self._before = archive
        self._offered = first
        self._met = {repair.code: repair for repair in first}
        self._in_place = in_place
        self._unasked = unasked
        self._shown = {each.code: each.cut for each in first}
        self._tried: list[Repair] = []
        self._siblings: list[SiblingFile] = []
        self._refused: dict[str, str] = {}
        self._declined = declined

    @property
    def state(self) -> State:
        """The state of the archive after the repairs."""
        return state_of((self.now,))

    def run(self, progress: Progress) -> None:
        """Apply all repairs that may be applied; none, where an archive is to be taken out of the file first."""
        if TAKEN_OUT & self._met.keys() and not self.accepted:
            return
        while len(self._tried) < _MAX_REPAIRS and (repair := self._next()) is not None:
            self._tried.append(repair)
            found = self._with(repair, progress)
            if found is None:
                continue
            after, beside = found
            if worse := _why_worse(self.now, after):
                self._refused[repair.code] = worse
                continue
            self.now = after
            self.made.append(repair)
            self._siblings += beside
            self._offered = tuple(each for each in offered(after, progress) if each.code not in self._declined)
            self._met |= {each.code: each for each in self._offered}

    def _next(self) -> Repair | None:
        """The next repair to try: those without consent come first."""
        for accepted in (False, True):
            for repair in self._offered:
                if repair.is_salvage or any(_is_same(repair, each) for each in self._tried):
                    continue
                if self._is_accepted(repair) if accepted else self._is_free(repair):
                    return repair
        return None

    def _is_free(self, repair: Repair) -> bool:
        """Whether it may be applied without consent."""
        if not self._unasked or (repair.needs_consent if self._in_place else repair.claim):
            return False
        if any(each.claim for each in self.made):
            return False  # it may rest on bytes that the claim wrote
        return not self.made or self._cuts_only_what_was_shown(repair)

    def _is_accepted(self, repair: Repair) -> bool:
        """Whether it was accepted, and does no more than what was shown."""
        if repair.code not in self.accepted:
            return False
        if repair.code in self._shown and not self._cuts_only_what_was_shown(repair):
            self._refused[repair.code] = (
                f"after the other repairs it would cut off {in_bytes(repair.cut.size)}, more than it was offered for"
            )
            return False
        return True

    def _cuts_only_what_was_shown(self, repair: Repair) -> bool:
        """Whether the first round showed everything that it cuts off, under the same code."""
        shown = self._shown.get(repair.code, Span(0, 0))
        return not repair.cut.size or (shown.size > 0 and shown.start <= repair.cut.start)

    def _with(self, repair: Repair, progress: Progress) -> tuple[Opened, list[SiblingFile]] | None:
        """The archive after one more repair, decoded and checked; None if the repair has no content."""
        beside = []
        after = self.now.source
        try:
            if repair.edit is not None:
                after = OverlaySource(after, repair.edit)
            else:
                assert repair.content is not None
                beside.append(kept_beside(repair.beside, repair.instead_of, repair.content(progress)))
                after = _WithSibling(after, beside[0])
        except MemberError:
            return None
        archive = checked(after, progress, causes=False)
        # Of the repairs that follow from the causes of the damage, those that find the bytes they are made for.
        fitting = (each for each in self.now.diagnosis.repairs if each.edit is not None and _fits(each.edit, after))
        archive.diagnosis = replace(NO_DIAGNOSIS, repairs=tuple(fitting))
        return archive, beside

    def plan(self, progress: Progress) -> Plan:
        """The plan of the applied repairs."""
        salvage = _salvage(self._offered, self.accepted)
        used = {each.code for each in (*self.made, salvage) if each is not None}
        waiting = [
            each
            for each in self._offered
            if each.code not in used
            and (each.claim if each.is_salvage else not any(_is_same(each, one) for one in self._tried))
            and (each.code in self.accepted or not self._is_worse(each, progress))
        ]
        known = {each.code for each in waiting} | used
        passed = [each for each in self._met.values() if each.code in self.accepted and each.code not in used]
        waiting += [each for each in passed if each.code not in known]
        refused = tuple((each.code, self._refused.get(each.code, _NOT_NEEDED)) for each in passed)
        before, made = self._before, tuple(self.made)
        return Plan(
            before, made, self._edit(), tuple(self._siblings), tuple(waiting), self.now, salvage, self.accepted, refused
        )

    def _is_worse(self, repair: Repair, progress: Progress) -> bool:
        """Whether a repair that removes bytes would make the archive worse, so that it is not offered."""
        if repair.is_salvage or not (repair.cut.size or repair.loses):
            return False
        found = self._with(repair, progress)
        return found is not None and bool(_why_worse(self.now, found[0]))

    def _edit(self) -> Edit | None:
        """All changes of the archive itself as one edit, None without any."""
        edits = [each for each in self.made if each.edit is not None]
        if not edits:
            return None
        title = "; ".join(each.title for each in edits)
        return merged(self._before.source, [each.edit for each in edits if each.edit], title)


_NOT_NEEDED = "after the other repairs it is not needed or not possible"


def _why_worse(before: Opened, after: Opened) -> str:
    """Why an archive is worse after a repair, as a clause; empty if it is not."""
    (verified, readable), (still, left) = _verified_and_readable(before), _verified_and_readable(after)
    if still < verified:
        return f"the archive would be worse: {count(still, 'member')} would verify, and {verified:,} do now"
    was, will = state_of((before,)), state_of((after,))
    if will.rank > was.rank and left <= readable:
        return f"the archive would be worse: {will}, and it is {was} now"
    if left < readable and not will.fine:
        return f"the archive would be worse: {count(left, 'member')} could be read, and {readable:,} can be now"
    return ""


def _verified_and_readable(archive: Opened) -> tuple[int, int]:
    """How many members verify, and how many can be read and have no known mismatch."""
    marks, verdicts = archive.members.marks, archive.verdicts
    wrong = VERDICTS.index(Verdict.MISMATCH)
    unreadable = 0
    if marks is not None:
        unreadable = sum(
            bool(mark & UNREADABLE) and verdict != wrong for mark, verdict in zip(marks, verdicts, strict=False)
        )
    readable = len(archive.members) - verdicts.count(wrong) - unreadable
    return verdicts.count(VERDICTS.index(Verdict.VERIFIED)), readable


def _salvage(repairs: Iterable[Repair], accepted: Collection[str]) -> Repair | None:
    """The salvage to use: an accepted one, else one that needs no consent."""
    allowed = [each for each in repairs if each.is_salvage and (not each.claim or each.code in accepted)]
    return min(allowed, key=lambda each: not each.claim, default=None)


def _fits(edit: Edit, source: Source) -> bool:
    return source.size == edit.old_size and all(
        source.read(patch.offset, len(patch.old)) == patch.old for patch in edit.patches
    )


def _is_same(some: Repair, other: Repair) -> bool:
    return (some.code, some.edit, some.beside) == (other.code, other.edit, other.beside)


def kept_beside(suffix: str, instead_of: str, pieces: Iterable[bytes]) -> SiblingFile:
    """A file to write beside an archive, with its bytes in a temporary one."""
    content = TemporarySource("a file beside it")
    for piece in pieces:
        content.append(piece)
    return SiblingFile(suffix, instead_of, content)


class _WithSibling:
    """A source with a repaired file beside it."""

    def __init__(self, source: Source, beside: SiblingFile) -> None:
        self.name = source.name
        self.size = source.size
        self.read = source.read
        self._source = source
        self._sibling = beside

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        if (suffix, instead_of) == (self._sibling.suffix, self._sibling.instead_of):
            return self._sibling.content
        return self._source.sibling(suffix, instead_of)
