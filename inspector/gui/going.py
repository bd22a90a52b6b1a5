"""Going where an expression leads: at once, or after the range of a datapoint has been read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.operations.opening.datapoints import is_key
from inspector.operations.showing.views import LayerInfo, Target

if TYPE_CHECKING:  # a document goes, so it knows this module
    from inspector.gui.document import Document


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
