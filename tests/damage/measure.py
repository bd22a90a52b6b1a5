"""What the program makes of a damaged archive, held against the truth about it, and a table of all figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from inspector.core.archive import Archive
from inspector.core.edit import OverlaySource
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.verdict import State, Verdict
from inspector.formats._causes.diagnosis import folded
from inspector.operations.check.checking import offered, state_of
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.opening import Opened
from tests.damage.generator import Case, Memory
from tests.formats.archives import checked

Contents = list[tuple[bytes, bytes]]

EXPECTED = {State.DAMAGED, State.UNREADABLE, State.TORN, State.WARNING}
"""States of damaged archives; that it is torn or only a warning is judged by the kinds of damage below."""
NOT_TORN_KINDS = ("joined", "all-zeros", "seven-bits")


@dataclass(frozen=True)
class Result:
    """One case: which provable members came out, and what was said."""

    case: Case
    state: State
    first: str
    events: int
    provable: int
    recovered: int
    wrong: int

    @property
    def named(self) -> bool:
        """Whether the first finding names the cause."""
        return self.first in self.case.truth

    @property
    def state_is_right(self) -> bool:
        """Whether the archive is called damaged; what leaves it readable may be a warning."""
        torn = self.state is State.TORN and any(word in self.case.kind for word in NOT_TORN_KINDS)
        return self.state is not State.SOUND and not torn

    @property
    def title(self) -> str:
        """What to call the case."""
        return f"{self.case.kind} of {self.case.format}"


def contents(archive: Opened, verdicts: Iterable[Verdict] = Verdict) -> Contents:
    """The members with one of these verdicts that can be read."""
    found, wanted = [], frozenset(verdicts)
    assert archive.decoder is not None
    for member in range(len(archive.members)):
        if archive.verdict(member) in wanted:
            try:
                data = b"".join(archive.decoder.read(archive, member, Progress()))
            except MemberError:
                continue
            found.append((bytes(archive.members.path(member)), data))
    return found


def measured(case: Case) -> Result:
    """Check the archive, repair it to a copy without consent to anything, and compare what came out."""
    archive = checked(case.source)
    found: Contents = []
    if archive.decoder is not None:
        found = contents(archive, (Verdict.VERIFIED, Verdict.NOT_CHECKABLE))
    wrong = 0
    for copy in copies(case, archive):
        again = checked(copy)
        if again.decoder is None:
            continue
        members = contents(again)
        found += members
        if state_of((again,)).fine and case.format not in ("caf", "tar"):
            wrong += _wrong(case, members)
    got = {content for _, content in found}
    provable = case.provable
    recovered = sum(each.content in got for each in provable)
    first = archive.findings[0].code if archive.findings else ""
    return Result(case, state_of((archive,)), first, events(archive), len(provable), recovered, wrong)


def copies(case: Case, archive: Opened) -> list[Memory]:
    """What ``repair --to`` writes: one file, or several where archives were joined."""
    planned = plan(archive, Progress(), in_place=False)
    if planned.state.fine and planned.repairs:
        return [Memory.of(case.format, planned.after.source.read(0, planned.after.source.size), case.metadata)]
    salvage = planned.salvage
    if salvage is None or salvage.content is None:
        return []
    return _files(case, salvage)


def _files(case: Case, salvage: Repair) -> list[Memory]:
    assert salvage.content is not None
    beside = {each.suffix: b"".join(each.content(Progress())) for each in salvage.along}
    main = Memory.of(case.format, b"".join(salvage.content(Progress())), beside.pop(".metadata", None))
    return [main, *(Memory(f"part{suffix}", data) for suffix, data in beside.items())]


def alternatives(case: Case, archive: Opened) -> Iterator[tuple[str, list[Memory]]]:
    """What each repair that is offered would leave by itself, whether or not it needs consent: its code, the files."""
    for each in offered(archive, Progress()):
        if each.edit is not None:
            after = OverlaySource(case.source, each.edit)
            yield each.code, [Memory.of(case.format, after.read(0, after.size), case.metadata)]
        elif each.is_salvage:
            yield each.code, _files(case, each)


def proved(case: Case, files: Iterable[Memory]) -> int:
    """How many of the provable members verify in these files."""
    found = {data for each in files for _, data in contents(checked(each), (Verdict.VERIFIED,))}
    return sum(each.content in found for each in case.provable)


def _wrong(case: Case, members: Contents) -> int:
    """How many members stand in a copy under a name of the original with other bytes."""
    right: dict[bytes, set[bytes]] = {}
    for each in case.proofs:
        right.setdefault(each.name, set()).add(each.content)
    if "joined" in case.kind or "again" in case.kind:
        return 0  # the other archive has the same names
    return sum(name in right and content not in right[name] for name, content in members)


def events(archive: Archive) -> int:
    """The findings above info that stand beneath no cause."""
    assert isinstance(archive, Opened)
    placed = folded(archive.findings, archive.diagnosis)
    return sum(not each.beneath and each.finding.severity is not Severity.INFO for each in placed)


def table(results: Sequence[Result]) -> str:
    """All figures, and the cases that are not as they should be."""
    provable, recovered = sum(each.provable for each in results), sum(each.recovered for each in results)
    total = len(results)
    lines = [
        f"cases                        {total:,}",
        f"provable members recovered   {recovered:,} of {provable:,} ({recovered / max(1, provable):.2%})",
        f"states right                 {sum(each.state_is_right for each in results):,} ({_share(results, 'state')})",
        f"causes named                 {sum(each.named for each in results):,} ({_share(results, 'named')})",
        f"findings a cause             {sum(each.events for each in results) / total:.2f}",
        f"wrong members in sound copies {sum(each.wrong for each in results):,}",
    ]
    number = count(1)
    for each in results:
        if each.recovered < each.provable or not each.named or not each.state_is_right or each.wrong:
            said = f"{each.recovered} of {each.provable}, {each.state}, {each.first}"
            lines.append(f"  {next(number)}. {each.title}: {said}")
    return "\n".join(lines)


def _share(results: Sequence[Result], which: str) -> str:
    right = sum(each.named if which == "named" else each.state_is_right for each in results)
    return f"{right / len(results):.1%}"
