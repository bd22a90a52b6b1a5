"""Files: dialogs that ask for files and folders without blocking, and a private folder for those opened elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from PySide6.QtWidgets import QFileDialog

import shutil
import tempfile
from itertools import count

Take = Callable[[list[str]], object]
ALL_FILES = "All files (*)"


def ask_for_files(parent: QWidget, title: str, take: Take, near: str = "", filters: Sequence[str] = ()) -> None:
    """Ask for existing files, starting in the folder of ``near``, and call ``take`` with their paths."""
    dialog = _dialog(parent, title, near, filters)
    dialog.setFileMode(dialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(take)
    dialog.open()


def ask_for_file(
    parent: QWidget, title: str, take: Callable[[str], object], near: str = "", filters: Sequence[str] = ()
) -> None:
    """Ask for one existing file, as ``ask_for_files`` does."""
    dialog = _dialog(parent, title, near, filters)
    dialog.setFileMode(dialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(take)
    dialog.open()


def ask_for_folder(parent: QWidget, title: str, take: Take, near: str = "") -> None:
    """Ask for a folder, starting in that of ``near``, and call ``take`` with its path."""
    dialog = _dialog(parent, title, near)
    dialog.setFileMode(dialog.FileMode.Directory)
    dialog.filesSelected.connect(take)
    dialog.open()


def ask_for_new_file(
    parent: QWidget,
    title: str,
    name: str,
    take: Callable[[str], object],
    near: str = "",
    filters: Sequence[str] = (),
    suffix: str = "",
    *,
    confirms: bool = True,
) -> QFileDialog:
    """Ask for the file to write, ``name`` beside ``near`` unless the user chooses another, and call ``take``.

    The dialog asks before it gives a file that exists, unless what asked for it does so itself (not ``confirms``).
    """
    dialog = _dialog(parent, title, near, filters)
    dialog.setAcceptMode(dialog.AcceptMode.AcceptSave)
    dialog.setOption(dialog.Option.DontConfirmOverwrite, not confirms)
    dialog.setDefaultSuffix(suffix)
    if name:
        dialog.selectFile(name)
    dialog.fileSelected.connect(take)
    dialog.open()
    return dialog


def start_near(dialog: QFileDialog, location: str) -> None:
    """Start a dialog in the folder of a location, if that is local."""
    if location and not is_remote(location):
        dialog.setDirectory(str(Path(location).parent))


def _dialog(parent: QWidget, title: str, near: str, filters: Sequence[str] = ()) -> QFileDialog:
    from PySide6.QtWidgets import QFileDialog  # loaded late, to speed up the first paint

    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if filters:
        dialog.setNameFilters(filters)
    start_near(dialog, near)
    return dialog


# ---- a temporary folder ----------------------------------------------------------------------------------------------


class TempDir:
    """A temporary folder, created when first needed and removed at the end."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._numbers = count(1)

    def new_path(self) -> str:
        """An unused path in it. Raises OSError."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="archive-inspector-"))  # accessible to its owner only
        return str(self._folder / str(next(self._numbers)))

    def clear(self) -> None:
        """Remove the folder and its content."""
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
