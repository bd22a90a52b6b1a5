"""Editing bytes: what is pending is shown in the hex view at once, and what is typed there becomes pending."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector.core.edit import differing
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.hex.overwriting import Overwriting, Typed
from inspector.operations.protocol.views import LayerKind

ONLY_FILE = "Bytes can only be edited in the File layer; this layer is derived from it."


class HexEditing(QObject):
    """Stands between the bytes of one document and what is pending."""

    def __init__(self, document: Document, editing: Editing, pane: HexPane) -> None:
        super().__init__(pane)
        self._document = document
        self._editing = editing
        self._pane = pane
        self._view = pane.hex
        editing.changed.connect(self._show)
        self.overwriting = Overwriting(pane.hex)
        editing.modeChanged.connect(self.overwriting.set_on)
        editing.modeChanged.connect(pane.strip.setVisible)
        pane.strip.stopWanted.connect(editing.edit_bytes)
        document.layersChanged.connect(self._show)
        document.rowsChanged.connect(self._show)
        self.overwriting.overwritten.connect(self._take)

    def _in_file(self) -> bool:
        info = self._document.layer_info(self._document.layer)
        return info is not None and info.kind is LayerKind.FILE and not self._document.status.collection

    def _show(self) -> None:
        """Show pending bytes in the place of those that the worker gave, whatever it knew then."""
        model = self._view.model()
        if model is None:
            return
        pending = self._editing.pending if self._in_file() else None
        model.lay(self._editing.history.known() if self._in_file() else [])
        self._pane.set_edited(differing(pending) if pending is not None else ())

    def _take(self, typed: Typed) -> None:
        if self._in_file():
            self._editing.overwrite(typed.offset, typed.old, typed.new, again=typed.again)
        else:
            self._document.said.emit(ONLY_FILE)
