"""Going where an expression leads, at once or after the range of a datapoint has been read, and to what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.operations.protocol.views import LayerInfo, LayerKind, Target
from inspector.operations.session.datapoints import is_key

if TYPE_CHECKING:  # a document goes, so it knows this module
    from inspector.gui.document.document import Document


def go_to_expression(document: Document, expression: str) -> None:
    """Go where an expression leads, or say why it leads nowhere."""

    def found(target: Target) -> None:
        if document.layer_info(target.layer) is not None:
            document.go_to(target.layer, target.start, target.stop)
            return

        def known(layers: tuple[LayerInfo, ...]) -> None:
            document.take_layers(layers)
            document.go_to(target.layer, target.start, target.stop)

        document.client.call("layers", done=known, failed=document.said.emit)

    if is_key(expression):
        document.start("find_datapoint", expression, done=found)
    else:
        here = (document.layer, document.selection.caret)
        document.client.call("goto", expression, *here, done=found, failed=document.said.emit)


def find(document: Document, pattern: bytes, backwards: bool, ignore_case: bool) -> None:
    """Search the layer shown from the caret on and select what is found, or say that nothing is."""
    caret, layer = document.selection.caret, document.layer
    fresh = document.selection.origin != "find"
    start = caret if fresh or backwards else caret + 1

    def found(offset: int | None) -> None:
        if offset is None:
            document.said.emit(_not_found(document.layer_info(layer), backwards))
        else:
            document.go_to(layer, offset, offset + len(pattern), "find")

    document.start("search", layer, pattern, start, backwards, ignore_case, done=found)


def _not_found(info: LayerInfo | None, backwards: bool) -> str:
    layer = (info.kind if info is not None else LayerKind.FILE).value
    if backwards:
        return f"Not found from here to the beginning of the {layer}."
    return f"Not found from here to the end of the {layer}."
