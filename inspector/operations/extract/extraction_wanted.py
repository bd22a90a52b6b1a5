"""Which members are meant: all, those with certain numbers, or those with certain names and what lies beneath them."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from inspector.core.names import decoded, encoded, visible
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import find_member
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened

_REPLACED = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Members of one archive of a location, in its order.

    ``first`` is the number, among the members of all archives, of its own first one; ``folder`` what stands before
    their names, as ``list`` shows them: the archive's path in a folder of several, or nothing.
    """

    archive: Opened
    first: int
    folder: bytes
    members: Sequence[int]

    def path(self, member: int) -> bytes:
        """The whole path of a member."""
        return self.folder + self.archive.members.path(member)


def everything(location: str, archives: Sequence[Opened]) -> list[Wanted]:
    """All members of an open location."""
    firsts = accumulate((len(archive.members) for archive in archives), initial=0)
    return [
        Wanted(archive, first, _folder(location, archive), range(len(archive.members)))
        for archive, first in zip(archives, firsts, strict=False)
    ]


def _folder(location: str, archive: Opened) -> bytes:
    key = inside(location, archive.source.name)
    return f"{key}/".encode("utf-8", "surrogateescape") if key else b""


def numbered(every: Sequence[Wanted], numbers: Iterable[int]) -> list[Wanted]:
    """Those of ``every`` with these numbers. Raises OperationError where there is no such member."""
    firsts = [each.first for each in every]
    chosen: dict[int, list[int]] = {}
    for number in sorted(set(numbers)):
        at = bisect_right(firsts, number) - 1
        if number < 0 or not every or number - firsts[at] >= len(every[at].members):
            raise OperationError(f"There is no member {number}.")
        chosen.setdefault(at, []).append(number - firsts[at])
    return [_only(every[at], members) for at, members in chosen.items()]


def named(every: Sequence[Wanted], names: Sequence[str]) -> list[Wanted]:
    """Those of ``every`` with these names, or in folders that have them.

    Raises MemberNotFoundError for a name without any.
    """
    wanted = {form.strip(b"/"): name for name in names for form in _forms(name)}
    replaced = {name.strip("/"): name for name in names if _REPLACED in name}
    met: set[str] = set()
    chosen = []
    for each in every:
        found = []
        for member in each.members:
            names_met = {
                wanted[above]
                for path in {each.path(member), each.archive.members.path(member)}
                for above in _above(path)
                if above in wanted
            }
            if replaced and (known := replaced.get(decoded(each.archive.members.path(member))[0])):
                names_met.add(known)
            if names_met:
                found.append(member)
                met |= names_met
        chosen.append(_only(each, found))
    for name in names:
        if name not in met:
            chosen += _found(every, name)
    return [each for each in chosen if each.members]


def _found(every: Sequence[Wanted], name: str) -> Iterable[Wanted]:
    """The member of a name that has no components, or that is shown so.

    Raises MemberNotFoundError where it is neither.
    """
    shown = [each for each in every if each.folder and name.startswith(visible(each.folder))]
    if shown:
        every, name = shown[:1], name.removeprefix(visible(shown[0].folder))
    archive, member = find_member([each.archive for each in every], name)
    return [_only(each, [member]) for each in every if each.archive is archive]


def _only(wanted: Wanted, members: list[int]) -> Wanted:
    return Wanted(wanted.archive, wanted.first, wanted.folder, members)


def _forms(name: str) -> set[bytes]:
    """The bytes that a name may stand for which came from a command line or a listing."""
    forms = {encoded(name)}
    with contextlib.suppress(UnicodeEncodeError):
        forms.add(name.encode("utf-8", "surrogateescape"))
    return forms


def _above(path: bytes) -> Iterable[bytes]:
    """A path and the folders above it."""
    path = path.strip(b"/")
    while path:
        yield path
        path = path.rpartition(b"/")[0]
