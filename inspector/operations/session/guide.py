"""Where expressions lead in what is open: in the layer that is shown, else in the file it is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector.core.names import visible
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.open.listing import NoSuchMember, SeveralMembers, find_member
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import LayerKind, MemberPlace, Target
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.goto import ExpressionContext, InvalidExpressionError, UnknownNameError, resolve
from inspector.operations.session.layers import Layers

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
        """Where an expression (see ``goto``) leads, from a caret in a layer; raises Refused for nonsense."""
        try:
            return self._resolved(expression, layer, caret)
        except InvalidExpressionError:
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
        except SeveralMembers:
            return True
        except NoSuchMember:
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
            raise Refused("The location of that member is unknown.")
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
