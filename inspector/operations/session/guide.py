"""Where expressions lead in what is open: in the layer that is shown, else in the file it is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector.core.names import visible
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, find_member
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import LayerKind, MemberPlace, Target
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.goto import ExpressionError, Places, UnknownNameError, resolve
from inspector.operations.session.layers import Layers

_WHAT = {LayerKind.FILE: "the file", LayerKind.INNER: "the inner stream", LayerKind.CONTENT: "this content"}


class GotoTargets:
    """Knows the archives, layers and members that are there; ``place`` says where a member is."""

    def __init__(
        self, archives: Sequence[Opened], shelf: ArchiveSet, layers: Layers, place: Callable[[int], MemberPlace]
    ) -> None:
        self._archives = archives
        self._shelf = shelf
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
            return self._named(name)

    def _resolved(self, expression: str, layer: int, caret: int) -> Target:
        try:
            return resolve(expression, self._places(layer), caret)
        except UnknownNameError:
            whole = self._layers[layer].at
            if whole == layer:
                raise
            return resolve(expression, self._places(whole), 0)

    def _is_member(self, name: str) -> bool:
        """Whether a member is called so, or several."""
        try:
            self._find(name)
        except AmbiguousMemberError:
            return True
        except MemberNotFoundError:
            return False
        return True

    def _places(self, layer: int) -> Places:
        here = self._layers[layer]
        return Places(layer, here.fields(), self._size, self._what, self._member, self._named)

    def _size(self, layer: int) -> int:
        return self._layers[layer].source.size

    def _what(self, layer: int) -> str:
        return _WHAT[self._layers[layer].info.kind]

    def _member(self, index: int) -> Target:
        place = self._place(index)
        if not place.spans:
            raise OperationError("The location of that member is unknown.")
        return Target(place.layer, *place.spans[0])

    def _named(self, name: str) -> Target:
        """A member by the name that its archive gives it, or by the whole path that it is shown with."""
        found, local = self._find(name)
        at = next(at for at, archive in enumerate(self._archives) if archive is found)
        return self._member(self._shelf.number(at, local))

    def _find(self, name: str) -> tuple[Opened, int]:
        wanted = list(self._archives)
        for at, archive in enumerate(self._archives):
            folder = visible(self._shelf.folder(at))
            if folder and name.startswith(folder):
                wanted, name = [archive], name.removeprefix(folder)
                break
        return find_member(wanted, name)
