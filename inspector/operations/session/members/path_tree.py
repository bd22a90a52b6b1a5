"""The tree of the paths that are shown, cut into folders when they are looked at, and the worst known beneath each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.session.members.arrangement import NameOrder, Names, Numbers

SLASH = ord("/")


class Branch(Struct, frozen=True):
    """What lies directly in a folder: segments ``[starts[i], starts[i + 1])`` of the sorted names.

    ``rows`` are the segments in the order in which they are shown, folders first; the first ``folders`` of them are
    folders, the others single members.
    """

    starts: Numbers
    rows: Numbers
    folders: int


class Node(Struct, frozen=True):
    """A folder: the sorted names ``[start, stop)`` begin with the same ``depth`` bytes, its path with the slash.

    ``own`` is the member that is the folder itself (its path ends there), which is not among ``[start, stop)``.
    """

    start: int
    stop: int
    depth: int
    own: int | None = None


class PathTree:
    """Folders first, then members, both in the order of their bytes; node 0 is the root.

    Folders are found when their parent is looked at: a row begins one where it shares no more folders with the row
    before it than its parent has. ``path`` gives a member's path: the names themselves are not kept.
    """

    def __init__(self, names: Names, sorted_names: NameOrder, path: Callable[[int], bytes], progress: Progress) -> None:
        progress.begin("Building the tree", len(sorted_names.order), "members")
        self._path = path
        self.order = sorted_names.order
        slashes = np.flatnonzero(np.frombuffer(names.blob, np.uint8) == SLASH)
        rows = self.order
        # In the order of the archive, because a million look-ups are twenty times faster when they come in order.
        common = np.zeros(len(names), np.uint32)
        common[rows] = sorted_names.common
        self._shared = _folder_length(slashes, names.starts, names.starts + common)[rows]
        progress.advance(0)
        self._folder = _folder_length(slashes, names.starts, names.stops)[rows]
        self._nodes = [Node(0, len(rows), 0)]
        self._numbers: dict[tuple[int, int], int] = {}
        self._branches: dict[int, Branch] = {}

    def count(self, node: int) -> int:
        """How many rows a folder has; none for a node that does not exist."""
        return len(self._branch(node).rows) if 0 <= node < len(self._nodes) else 0

    def row(self, node: int, row: int) -> tuple[str, int, int, int | None]:
        """One row of a folder: its name, its node (-1 for a member), how many members, and the member or own one."""
        branch = self._branch(node)
        segment = int(branch.rows[row])
        start = int(branch.starts[segment])
        depth = self._nodes[node].depth
        path = self._path(int(self.order[start]))
        if row >= branch.folders:
            return visible(path[depth:]) or "‹no name›", -1, 1, int(self.order[start])
        child = self._child(node, segment)
        inside = self._nodes[child]
        name = visible(path[depth : inside.depth - 1]) or "/"
        return name, child, inside.stop - inside.start, inside.own

    def members(self, node: int) -> Numbers:
        """All members beneath a folder, and its own one; none for a node that does not exist."""
        return self.order[slice(*self.stretch(node))] if 0 <= node < len(self._nodes) else self.order[:0]

    def stretch(self, node: int) -> tuple[int, int]:
        """The sorted positions ``[start, stop)`` of the members beneath a folder, and its own one."""
        inside = self._nodes[node]
        return inside.start - (inside.own is not None), inside.stop

    def path(self, node: int) -> bytes:
        """The path of a folder, without the slash at its end; nothing for a node that does not exist."""
        if not 0 < node < len(self._nodes):
            return b""
        return self._path(int(self.members(node)[0]))[: self._nodes[node].depth - 1]

    def place(self, member: int) -> tuple[int, ...]:
        """The rows that lead from the root to a member; none where it is not shown."""
        at = next(iter(np.flatnonzero(self.order == member).tolist()), -1)
        found, node = list[int](), 0
        while self._nodes[node].start <= at:
            branch = self._branch(node)
            segment = int(np.searchsorted(branch.starts, at, "right")) - 1
            found.append(int(np.flatnonzero(branch.rows == segment)[0]))
            if found[-1] >= branch.folders:
                break
            node = self._child(node, segment)
        return tuple(found)

    def _child(self, node: int, segment: int) -> int:
        """The number of the folder at a segment, given to it when it is first met."""
        known = self._numbers.get((node, segment))
        if known is not None:
            return known
        branch = self._branches[node]
        start, stop = int(branch.starts[segment]), int(branch.starts[segment + 1])
        path = self._path(int(self.order[start]))
        depth = path.index(b"/", self._nodes[node].depth) + 1
        own = int(self.order[start]) if len(path) == depth else None
        self._nodes.append(Node(start + (own is not None), stop, depth, own))
        self._numbers[node, segment] = len(self._nodes) - 1
        return len(self._nodes) - 1

    def _branch(self, number: int) -> Branch:
        if number not in self._branches:
            node = self._nodes[number]
            begins = self._shared[node.start : node.stop] <= node.depth
            begins[:1] = True
            starts = np.flatnonzero(begins) + node.start
            inside = self._folder[starts] > node.depth
            rows = np.concatenate((np.flatnonzero(inside), np.flatnonzero(~inside)))
            self._branches[number] = Branch(np.append(starts, node.stop), rows.astype(np.uint32), int(inside.sum()))
        return self._branches[number]


def _folder_length(slashes: Numbers, starts: Numbers, stops: Numbers) -> Numbers:
    """How many bytes of each stretch ``[start, stop)`` are folders: up to and with its last slash."""
    if not len(slashes):
        return np.zeros(len(starts), np.uint32)
    last = slashes[np.maximum(np.searchsorted(slashes, stops) - 1, 0)]
    return np.where((last >= starts) & (last < stops), last - starts + 1, 0).astype(np.uint32)


_WORST_FIRST = (
    Verdict.MISMATCH,
    Verdict.DOUBTFUL,
    Verdict.NOT_CHECKED,
    Verdict.NOT_CHECKABLE,
    Verdict.VERIFIED,
)


class WorstBeneath:
    """The worst verdict and finding beneath a folder, looked up in logarithmic time.

    ``verdicts`` has an index into ``VERDICTS`` for each member by its number, 0 for those behind its end. ``marked``
    are the members with findings. Both are as they were when this was made.
    """

    def __init__(self, tree: PathTree, verdicts: bytes, marked: Mapping[int, Severity]) -> None:
        self._tree = tree
        order = tree.order
        known = np.zeros(max(len(verdicts), int(order.max(initial=0)) + 1), np.uint8)
        known[: len(verdicts)] = np.frombuffer(verdicts, np.uint8)
        sorted_verdicts = known[order]
        self._places = {
            verdict: np.flatnonzero(sorted_verdicts == VERDICTS.index(verdict)) for verdict in _WORST_FIRST[:-1]
        }
        self._marks = {
            severity: np.flatnonzero(np.isin(order, [at for at, each in marked.items() if each is severity]))
            for severity in (Severity.ERROR, Severity.WARNING)
        }

    def verdict(self, node: int) -> tuple[Verdict, int]:
        """The worst verdict beneath a folder, and how many members have it."""
        start, stop = self._tree.stretch(node)
        for verdict, places in self._places.items():
            if number := _count(places, start, stop):
                return verdict, number
        return Verdict.VERIFIED, stop - start

    def finding(self, node: int) -> Severity | None:
        """The worst severity of findings about members beneath a folder; None without errors and warnings."""
        start, stop = self._tree.stretch(node)
        return next((each for each, places in self._marks.items() if _count(places, start, stop)), None)


def _count(places: np.ndarray[tuple[int], np.dtype[np.int64]], start: int, stop: int) -> int:
    first, last = np.searchsorted(places, (start, stop))
    return int(last - first)
