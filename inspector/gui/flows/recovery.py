"""A change of the archive that a crash has interrupted: said when it is opened, with the ways out."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.panels.banner import Banner
from inspector.operations.protocol.edit_views import Interrupted, WayOut
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage

LEFT = "Leave It: nothing is done. You can look at the archive, but not change it until this is decided."


class RecoveryFlow(QObject):
    """Asks about an interrupted change, once. ``parent`` is what its box belongs to."""

    def __init__(self, document: Document, editing: Editing, banner: Banner, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._editing = editing
        self._banner = banner
        self._parent = parent
        self._asked = False
        document.statusChanged.connect(self._look)

    def _look(self) -> None:
        if not self._asked and self._document.status.stage is Stage.READY:
            self._asked = True
            self._document.client.ask(ArchiveRequests.interrupted).then(self._take, self._document.said.emit)

    def _take(self, found: Interrupted | None) -> None:
        if found is not None:
            self._banner.ask(found.story, "Decide…", lambda: self.ask(found))

    def ask(self, found: Interrupted) -> None:
        """Show the ways out and what each would do."""
        box = QMessageBox(self._parent)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("An Interrupted Change")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(found.story)
        ways = {WayOut.FINISH: found.finish, WayOut.ROLL_BACK: found.roll_back, WayOut.FORGET: found.forget}
        names = {WayOut.FINISH: "Finish It", WayOut.ROLL_BACK: "Roll It Back", WayOut.FORGET: "Forget It"}
        told = [f"{names[way]}: {words}" for way, words in ways.items() if words]
        box.setInformativeText("\n\n".join((*told, LEFT)))
        for way, words in ways.items():
            if words:
                button = box.addButton(names[way], QMessageBox.ButtonRole.ActionRole)
                button.clicked.connect(lambda _=False, chosen=way: self.recover(chosen))
        later = box.addButton("Leave It", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(later)
        box.setEscapeButton(later)
        box.open()

    def recover(self, way: WayOut) -> None:
        """Take a way out."""
        self._document.start(ArchiveRequests.recover, way).then(self._editing.settle)
