"""Where expressions lead in an archive that is open: its layers, members and datapoints."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from inspector.core.collection import Collection, Range
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.formats.datas3t.datapoints import member_with
from inspector.operations.bytes.expressions import ExpressionContext, ExpressionError, UnknownNameError, resolve
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, find_member
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.coverage_views import datapoint_key
from inspector.operations.protocol.views import LayerKind, MemberPlace, Stage, Target
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.layers import Layers
from inspector.operations.session.state import SessionState

_DESCRIPTIONS = {LayerKind.FILE: "the file", LayerKind.INNER: "the inner stream", LayerKind.CONTENT: "this content"}


class GotoTargets:
    """Knows the archives, layers and members that are there; ``place`` says where a member is."""

    def __init__(
        self, archives: Sequence[Opened], archive_set: ArchiveSet, layers: Layers, place: Callable[[int], MemberPlace]
    ) -> None:
        self._archives = archives
        self._archive_set = archive_set
        self._layers = layers
        self._place = place

    def target(self, expression: str, layer: int, caret: int) -> Target:
        """Where an expression (see ``goto``) leads, from a caret in a layer; raises OperationError for nonsense."""
        try:
            return self._resolved(expression, layer, caret)
        except ExpressionError:
            name = expression.strip()
            if not name or not self._is_member(name):
                raise
            return self._member_named(name)

    def _resolved(self, expression: str, layer: int, caret: int) -> Target:
        try:
            return resolve(expression, self._context(layer), caret)
        except UnknownNameError:
            whole = self._layers[layer].at
            if whole == layer:
                raise
            return resolve(expression, self._context(whole), 0)

    def _is_member(self, name: str) -> bool:
        """Whether a member is called so, or several."""
        try:
            self._find_member(name)
        except AmbiguousMemberError:
            return True
        except MemberNotFoundError:
            return False
        return True

    def _context(self, layer: int) -> ExpressionContext:
        here = self._layers[layer]
        return ExpressionContext(layer, here.fields(), self._size, self._describe, self._member, self._member_named)

    def _size(self, layer: int) -> int:
        return self._layers[layer].source.size

    def _describe(self, layer: int) -> str:
        return _DESCRIPTIONS[self._layers[layer].info.kind]

    def _member(self, index: int) -> Target:
        place = self._place(index)
        if not place.spans:
            raise OperationError("The location of that member is unknown.")
        return Target(place.layer, *place.spans[0])

    def _member_named(self, name: str) -> Target:
        """A member by the name that its archive gives it, or by the whole path that it is shown with."""
        found, local = self._find_member(name)
        at = next(at for at, archive in enumerate(self._archives) if archive is found)
        return self._member(self._archive_set.number(at, local))

    def _find_member(self, name: str) -> tuple[Opened, int]:
        wanted = list(self._archives)
        for at, archive in enumerate(self._archives):
            folder = visible(self._archive_set.folder(at))
            if folder and name.startswith(folder):
                wanted, name = [archive], name.removeprefix(folder)
                break
        return find_member(wanted, name)


def find_datapoint(session: SessionState, progress: Progress, expression: str) -> Target:
    """Where a datapoint is (see ``datapoint_key``); its range is read now if that has not been.

    Raises OperationError where there is none, or several, and Cancelled.
    """
    wanted = datapoint_key(expression)
    if wanted is None:
        raise OperationError("Type a key, such as key 12345.")
    collection = session.now.location.collection
    if collection is None:
        return _in_archive(session, 0, wanted[1], progress)
    numbers = _ranges_with(collection, *wanted)
    for at in numbers[:-1]:  # ranges that overlap: one of them may hold the key by its name alone
        try:
            return _in_archive(session, at, wanted[1], progress)
        except OperationError:
            continue
    return _in_archive(session, numbers[-1], wanted[1], progress)


def _in_archive(session: SessionState, at: int, key: int, progress: Progress) -> Target:
    archive = _read(session, at, progress)
    member = member_with(archive, key)
    if member is not None and learn(archive, (member,), progress):
        session.generation += 1
        member = member_with(archive, key)
    if member is None:
        raise OperationError(_missing(session, archive, at, key))
    spans = archive.members[member].spans
    if not spans:
        raise OperationError(f"It is not known where the datapoint with key {key:,} is: its range is damaged.")
    return Target(at, *spans[0])


def _read(session: SessionState, at: int, progress: Progress) -> Opened:
    now = session.now
    archive = now.open_ahead(at) if now.location.total else None
    if archive is None or (session.stage is Stage.CANCELLED and at < len(now.archives) and not archive.complete):
        raise OperationError("Reading was cancelled, so this is incomplete. Reload it.")
    if not archive.complete:
        now.location.decode(at, progress)
        session.generation += 1
    return archive


def _missing(session: SessionState, archive: Opened, at: int, key: int) -> str:
    collection = session.now.location.collection
    if collection is None:
        what = "archive holds" if archive.format == "datas3t" else "is not a datas3t range and holds"
        return f"This {what} no datapoint with key {key:,}."
    name = visible(collection.ranges[at].name)
    return f"Key {key:,} is among those that the name of {name} tells, but there is no such datapoint in it."


def _ranges_with(collection: Collection, dataset: str, key: int) -> list[int]:
    """The numbers of the ranges that may hold a key; raises OperationError for none, or for several datasets."""
    if dataset and dataset not in collection.datasets:
        known = ", ".join(map(visible, collection.datasets[:8]))
        raise OperationError(f"There is no dataset called {visible(dataset)}. There is: {known}.")
    among = [at for at, each in enumerate(collection.ranges) if dataset in ("", each.dataset)]
    found = [at for at in among if collection.ranges[at].first <= key <= collection.ranges[at].last]
    if not found:
        raise OperationError(_nowhere([collection.ranges[at] for at in among], key))
    names = list(dict.fromkeys(collection.ranges[at].dataset for at in found))
    if len(names) > 1:
        told = " or ".join(f"key {visible(name)}/{key}" for name in names[:3])
        raise OperationError(f"Several datasets have ranges with key {key:,}: type {told}.")
    return found


def _nowhere(ranges: list[Range], key: int) -> str:
    """That no range holds a key, and between which it would be."""
    lasts = sorted(each.last for each in ranges)
    firsts = sorted(each.first for each in ranges)
    before, after = bisect_left(lasts, key) - 1, bisect_left(firsts, key)
    sides = [f"the one before ends with {lasts[before]:,}"] if before >= 0 else []
    sides += [f"the next one begins with {firsts[after]:,}"] if after < len(firsts) else []
    return f"No range holds key {key:,}: {' and '.join(sides)}." if sides else f"No range holds key {key:,}."
