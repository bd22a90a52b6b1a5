"""What the program is, in a box."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector import __version__


def show_about(parent: QWidget, title: str) -> None:
    """Say what the program called ``title`` is; the box stays until it is closed and holds nothing up."""
    about = f"About {title}"
    box = QMessageBox(QMessageBox.Icon.NoIcon, about, title, QMessageBox.StandardButton.Ok, parent)
    box.setInformativeText(f"Version {__version__}. Shows what every byte of an archive means.")
    box.setIconPixmap(parent.windowIcon().pixmap(64, 64))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
