"""Asking for files and folders, in dialogs that nothing waits for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

Take = Callable[[list[str]], object]


def ask_for_files(parent: QWidget, title: str, take: Take) -> None:
    """Ask for files that are there and give their paths to ``take``."""
    _ask(parent, title, take)


def ask_for_folder(parent: QWidget, title: str, take: Take) -> None:
    """Ask for a folder and give its path to ``take``."""
    _ask(parent, title, take, folder=True)


def _ask(parent: QWidget, title: str, take: Take, folder: bool = False) -> None:
    from PySide6.QtWidgets import QFileDialog  # the first paint does not wait for it

    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFiles)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(take)
    dialog.open()
