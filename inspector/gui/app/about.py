"""What the program is, in a box."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector import __version__
from inspector.core.translation import tr


def show_about(parent: QWidget, title: str) -> None:
    """Say what the program called ``title`` is; the box stays until it is closed and holds nothing up."""
    about = tr("About {program}", program=title)
    box = QMessageBox(QMessageBox.Icon.NoIcon, about, title, QMessageBox.StandardButton.Ok, parent)
    box.setInformativeText(tr("Version {version}. Shows what every byte of an archive means.", version=__version__))
    box.setIconPixmap(parent.windowIcon().pixmap(64, 64))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
