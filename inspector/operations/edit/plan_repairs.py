"""Planning repairs: one after another over an overlay, each followed by a check, until nothing is left to mend."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from inspector.core.edit import Edit, OverlaySource, merged
from inspector.core.format import MemberError
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.verdict import State
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.check.repairable import offered
from inspector.operations.open.opening import Opened, decode, start
from inspector.sources.local.temporary import TemporarySource

_ROUNDS = 100
"""The most repairs of one archive: each makes findings go away, so this is only met where one does not."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A file to be written beside the archive: its name is the archive's, less ``instead_of``, plus ``suffix``."""

    suffix: str
    instead_of: str
    content: Source


@dataclass(frozen=True, slots=True)
class Plan:
    """How an archive would be mended. Nothing has been written.

    ``repairs`` are made in their order; together they are ``edit``, None where no byte of the archive itself changes,
    and the files ``beside``. ``waiting`` need the user's word (see ``Repair.claim``); the last of them are the
    ``passed_over``, which have it, and of which another one has left nothing to mend. ``after`` is the archive as it
    would be, decoded and checked; ``salvage`` would write what is whole of that into a new archive.
    """

    before: Opened
    repairs: tuple[Repair, ...]
    edit: Edit | None
    beside: tuple[Beside, ...]
    waiting: tuple[Repair, ...]
    after: Opened
    salvage: Repair | None
    passed_over: tuple[Repair, ...] = ()

    @property
    def state(self) -> State:
        """What the archive would be."""
        return state_of((self.after,))

    @property
    def mends(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.repairs)


def plan(archive: Opened, progress: Progress, accepted: Collection[str] = ()) -> Plan:
    """How a decoded archive can be mended; of repairs that are only a claim those whose codes are ``accepted``.

    The archive is checked first, where that has not been done. Raises SourceError and Cancelled.
    """
    if not archive.verdicts:
        check_archive(archive, progress)
    planning = _Planning(archive)
    repairs = offered(archive, progress)
    met = {repair.code: repair for repair in repairs}
    while len(planning.tried) < _ROUNDS and (repair := _next(repairs, planning.tried, accepted)) is not None:
        if planning.make(repair, progress):
            repairs = offered(planning.now, progress)
            met |= {repair.code: repair for repair in repairs}
    salvage = _salvage(repairs, accepted)
    used = {each.code for each in (*planning.made, salvage) if each is not None}
    passed_over = tuple(each for each in met.values() if each.claim and each.code in accepted and each.code not in used)
    return Plan(
        archive,
        tuple(planning.made),
        planning.edit(),
        tuple(planning.beside),
        (*(each for each in repairs if each.claim and each.code not in accepted), *passed_over),
        planning.now,
        salvage,
        passed_over,
    )


class _Planning:
    """Repairs made so far over an archive's bytes, ``now`` being the archive after them."""

    def __init__(self, archive: Opened) -> None:
        self.now = archive
        self.tried: list[Repair] = []
        self.made: list[Repair] = []
        self.beside: list[Beside] = []
        self._base = archive.source

    def make(self, repair: Repair, progress: Progress) -> bool:
        """Make it, and decode and check what it leaves; False where its content cannot be had."""
        self.tried.append(repair)
        after = self.now.source
        try:
            if repair.edit is not None:
                after = OverlaySource(after, repair.edit)
            else:
                beside = _content(repair, progress)
                self.beside.append(beside)
                after = _Neighboured(after, beside)
        except MemberError:
            return False
        self.made.append(repair)
        self.now = start(after)
        decode(self.now, progress)
        check_archive(self.now, progress)
        return True

    def edit(self) -> Edit | None:
        """All changes of the archive itself as one, None where there are none."""
        edits = [each for each in self.made if each.edit is not None]
        if not edits:
            return None
        return merged(self._base, [each.edit for each in edits if each.edit], "; ".join(each.title for each in edits))


def _is_salvage(repair: Repair) -> bool:
    return repair.content is not None and not repair.beside


def _salvage(repairs: Iterable[Repair], accepted: Collection[str]) -> Repair | None:
    """The salvage to be made: one that was accepted on the user's word, else one that needs none."""
    allowed = [each for each in repairs if _is_salvage(each) and (not each.claim or each.code in accepted)]
    return min(allowed, key=lambda each: not each.claim, default=None)


def _next(repairs: Iterable[Repair], tried: Collection[Repair], accepted: Collection[str]) -> Repair | None:
    """The first repair that may be made and was not tried before."""
    for repair in repairs:
        allowed = not repair.claim or repair.code in accepted
        if allowed and not _is_salvage(repair) and not any(_same(repair, each) for each in tried):
            return repair
    return None


def _same(some: Repair, other: Repair) -> bool:
    return (some.code, some.edit, some.beside) == (other.code, other.edit, other.beside)


def _content(repair: Repair, progress: Progress) -> Beside:
    assert repair.content is not None
    content = TemporarySource("a repaired file")
    for piece in repair.content(progress):
        content.append(piece)
    return Beside(repair.beside, repair.instead_of, content)


class _Neighboured:
    """A source as it would be with a repaired file beside it."""

    def __init__(self, source: Source, beside: Beside) -> None:
        self.name = source.name
        self.size = source.size
        self.read = source.read
        self._source = source
        self._beside = beside

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        if (suffix, instead_of) == (self._beside.suffix, self._beside.instead_of):
            return self._beside.content
        return self._source.sibling(suffix, instead_of)
