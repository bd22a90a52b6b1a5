"""Asking for files and folders, in dialogs that nothing waits for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from inspector.sources.s3.address import is_s3

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtWidgets import QFileDialog

Take = Callable[[list[str]], object]


def ask_for_files(parent: QWidget, title: str, take: Take, beside: str = "") -> None:
    """Ask for files that are there, first in the folder of ``beside``, and give their paths to ``take``."""
    _ask(parent, title, take, beside)


def ask_for_folder(parent: QWidget, title: str, take: Take, beside: str = "") -> None:
    """Ask for a folder, first in that of ``beside``, and give its path to ``take``."""
    _ask(parent, title, take, beside, folder=True)


def begin_beside(dialog: QFileDialog, location: str) -> None:
    """Have a dialog begin in the folder of a location, where it is on this computer."""
    if location and not is_s3(location):
        dialog.setDirectory(str(Path(location).parent))


def _ask(parent: QWidget, title: str, take: Take, beside: str, folder: bool = False) -> None:
    from PySide6.QtWidgets import QFileDialog  # the first paint does not wait for it

    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFiles)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    begin_beside(dialog, beside)
    dialog.filesSelected.connect(take)
    dialog.open()
