"""Members as rows: the flat table, the tree of paths, and names that are read as they come into view."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.member import FOLDER, UNREAD
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.span import Span, Spans, united
from inspector.operations.open.listing import learn_all
from inspector.operations.open.location import Location
from inspector.operations.protocol.views import Chosen, MemberRow, Page, SortKey, TreeRow

if TYPE_CHECKING:  # a snapshot imports this module
    from inspector.operations.session.members.arrangement import Arrangement, Arranger, Numbers
    from inspector.operations.session.members.path_tree import PathTree, WorstBeneath

MAX_ROWS = 10_000
"""The largest number of rows in a page."""
MAX_PATH_DEPTH = 128
"""The deepest tree position returned: a view expands the folders above it one by one."""


_EXACT = (SortKey.SIZE, SortKey.STORED)
"""Sort keys that are only exact once the members' headers were read."""


MAX_FINDINGS_PER_BYTE = 20
"""The largest number of findings returned for one byte."""


class Marks:
    """The findings of one archive by byte and by member, as of its creation. Every row shown asks for them."""

    def __init__(self, archive: Archive) -> None:
        self.findings: tuple[Finding, ...] = tuple(archive.findings)
        self._size = archive.source.size
        self._merged = {
            severity: united(
                self.widened(span)
                for finding in self.findings
                if finding.severity is severity
                for span in finding.spans
            )
            for severity in Severity
        }
        self.members: dict[int, Severity] = {}
        """The worst severity of findings about each member that has any."""
        for finding in self.findings:
            if finding.member is not None:
                known = self.members.get(finding.member, finding.severity)
                self.members[finding.member] = min(known, finding.severity, key=lambda severity: severity.rank)

    def widened(self, span: Span) -> Span:
        """A span of at least one byte: an empty one stands for the byte at it, or the last byte of the file."""
        if span.size > 0:
            return span
        start = max(0, min(span.start, self._size - 1))
        return Span(start, start + 1)

    def of_spans(self, spans: Spans) -> Severity | None:
        """The worst severity of findings that overlap the spans."""
        return next((each for each, marked in self._merged.items() if any(_overlaps(marked, s) for s in spans)), None)

    def at(self, offset: int) -> tuple[tuple[Severity, str], ...]:
        """Severity and message of the findings on a byte."""
        found = (
            (finding.severity, finding.message)
            for finding in self.findings
            if any(start <= offset < stop for start, stop in map(self.widened, finding.spans))
        )
        return tuple(islice(found, MAX_FINDINGS_PER_BYTE))


def _overlaps(marked: Sequence[Span], span: Span) -> bool:
    at = bisect_right(marked, span.start, key=lambda each: each.stop)
    return span.size > 0 and at < len(marked) and marked[at].start < span.stop


class MembersView:
    """The members of a location, arranged; ``marks`` gives the findings of an archive by its number.

    ``arrange`` and ``build_tree`` run on job threads, one at a time; each replaces its result as a whole.
    """

    def __init__(self, location: Location, marks: Callable[[int], Marks]) -> None:
        self._location = location
        self._marks = marks
        self._arrangement: Arrangement | None = None
        self._tree: PathTree | None = None
        self._worst: tuple[object, WorstBeneath] | None = None
        self._one_at_a_time = threading.Lock()

    def arrange(self, filter_text: str, key: SortKey, descending: bool, progress: Progress) -> int:
        """Filter and sort the flat table; returns the number of members shown."""
        if not filter_text and key is SortKey.ARCHIVE and not descending:
            self._arrangement = None
            return self._location.members
        with self._one_at_a_time:
            if filter_text or key in _EXACT:
                learn_all(tuple(self._location.archives), progress)
            arrangement = self._arranger.arrange(filter_text, key, descending, progress)
            self._arrangement = arrangement
        return len(arrangement.order)

    def build_tree(self, progress: Progress) -> None:
        """Build the tree of the members shown."""
        from inspector.operations.session.members.arrangement import kept, names_of
        from inspector.operations.session.members.path_tree import PathTree

        with self._one_at_a_time:
            arrangement = self._arrangement
            count = self._location.members if arrangement is None else len(arrangement.rows)
            names = names_of(self._location, count)
            order = self._arranger.name_order(names, progress)
            if arrangement is not None and len(arrangement.order) < count:
                order = kept(order, arrangement.rows >= 0)
            tree = PathTree(names, order, self._location.path, progress)
            tree.count(0)  # splits the root here, because rows are requested without a job
            self._tree = tree

    @cached_property
    def _arranger(self) -> Arranger:
        from inspector.operations.session.members.arrangement import Arranger

        return Arranger(self._location)

    @property
    def _order(self) -> Sequence[int] | Numbers:
        """The members shown, in their order."""
        return range(self._location.members) if self._arrangement is None else self._arrangement.order

    def row(self, index: int) -> MemberRow:
        """One member; raises OperationError if there is none."""
        at, local = self._location.find(index)
        archive, folder = self._location.archives[at], self._location.folder(at)
        member = archive.members.seen(local)
        return MemberRow(
            index,
            visible(folder + member.path),
            member.size,
            member.stored,
            member.codec.value,
            member.digest or "",
            member.spans[0].start if member.spans else member.head,
            bool(member.marks & FOLDER) or member.path.endswith(b"/"),
            self._marks(at).members.get(local),
            archive.verdict(local),
            not member.marks & UNREAD,
        )

    def rows(self, first: int, count: int) -> Page[MemberRow]:
        """Rows of the flat table."""
        order = self._order
        chosen = _clipped(first, count, len(order))
        return Page(len(order), chosen.start, tuple(self.row(int(order[at])) for at in chosen))

    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """Rows of a folder of the tree; none before it is built."""
        tree = self._tree
        if tree is None:
            return Page(0, 0, ())
        total = tree.count(node)
        chosen = _clipped(first, count, total)
        return Page(total, chosen.start, tuple(self._tree_row(tree, node, at) for at in chosen))

    def _tree_row(self, tree: PathTree, node: int, at: int) -> TreeRow:
        name, inner, members, own = tree.row(node, at)
        row = TreeRow(name, inner, members, None if own is None else self.row(own))
        if inner < 0:
            return row
        worst = self._beneath(tree)
        verdict, number = worst.verdict(inner)
        return replace(row, verdict=verdict, number=number, wrong=worst.finding(inner))

    def _beneath(self, tree: PathTree) -> WorstBeneath:
        """The worst beneath the folders of a tree, from the verdicts and findings so far."""
        from inspector.operations.session.members.path_tree import WorstBeneath

        archives = tuple(self._location.archives)
        verdicts = [bytes(archive.verdicts) for archive in archives]
        known = (id(tree), tuple(map(hash, verdicts)), tuple(len(archive.findings) for archive in archives))
        if self._worst is None or known != self._worst[0]:
            first, whole, marked = 0, bytearray(), dict[int, Severity]()
            for at, archive in enumerate(archives):
                whole += verdicts[at].ljust(len(archive.members), b"\0")
                marked |= {first + local: severity for local, severity in self._marks(at).members.items()}
                first += len(archive.members)
            self._worst = known, WorstBeneath(tree, bytes(whole), marked)
        return self._worst[1]

    def numbers(self, chosen: Chosen) -> array[int]:
        """The numbers of the selected members, including those in folders."""
        found, nodes = self._resolved(chosen)
        tree = self._tree
        if tree is not None:
            for node in nodes:
                found.extend(map(int, tree.members(node)))
        return found

    def paths(self, chosen: Chosen) -> list[bytes]:
        """The paths of the selected members and folders themselves."""
        members, nodes = self._resolved(chosen)
        tree = self._tree
        folders = [] if tree is None else [tree.path(node) for node in nodes]
        return [*map(self._location.path, members), *folders]

    def _resolved(self, chosen: Chosen) -> tuple[array[int], list[int]]:
        """The selected members and tree folders, with rows resolved."""
        order, members, nodes = self._order, array("Q", chosen.members), list(chosen.nodes)
        for first, count in chosen.rows:
            members.extend(map(int, order[max(0, first) : max(0, first + count)]))
        tree = self._tree
        for node, first, count in chosen.stretches if tree is not None else ():
            assert tree is not None
            for at in _clipped(first, count, tree.count(node), count):
                _, inner, _, member = tree.row(node, at)
                if inner >= 0:
                    nodes.append(inner)
                elif member is not None:
                    members.append(member)
        return members, nodes

    def flat_place(self, index: int) -> int | None:
        """The row of a member in the flat table, None if it is hidden."""
        return index if self._arrangement is None else self._arrangement.row(index)

    def tree_place(self, index: int) -> tuple[int, ...]:
        """The rows that lead to a member in the tree; empty if it is hidden, too deep, or the tree is not built."""
        rows = () if self._tree is None else self._tree.place(index)
        return rows if len(rows) <= MAX_PATH_DEPTH else ()


def _clipped(first: int, count: int, total: int, most: int = MAX_ROWS) -> range:
    first = max(0, min(first, total))
    return range(first, min(total, first + max(0, min(count, most))))
