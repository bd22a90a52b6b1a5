"""Files: dialogs that ask for them without blocking, zones that they are dropped on, and a private folder."""

from __future__ import annotations

import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.gui.kit.locations import absolute, from_mime
from inspector.gui.kit.style import RING_PX
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QPaintEvent
    from PySide6.QtWidgets import QFileDialog


Take = Callable[[list[str]], object]
ALL_FILES = "All files (*)"


def ask_for_files(
    parent: QWidget, title: str, take: Take, near: str = "", filters: Sequence[str] = (), *, mode: str = "ExistingFiles"
) -> None:
    """Ask for what exists, starting in the folder of ``near``, and call ``take`` with the paths; ``mode`` is Qt's."""
    dialog = _dialog(parent, title, near, filters)
    dialog.setFileMode(dialog.FileMode[mode])
    dialog.filesSelected.connect(take)
    dialog.open()


def ask_for_file(
    parent: QWidget, title: str, take: Callable[[str], object], near: str = "", filters: Sequence[str] = ()
) -> None:
    """Ask for one existing file, as ``ask_for_files`` does."""
    ask_for_files(parent, title, lambda paths: take(paths[0]), near, filters, mode="ExistingFile")


ask_for_folder = partial(ask_for_files, mode="Directory")


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


def _dialog(parent: QWidget, title: str, near: str, filters: Sequence[str] = ()) -> QFileDialog:
    from PySide6.QtWidgets import QFileDialog  # loaded late, to speed up the first paint

    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if filters:
        dialog.setNameFilters(filters)
    if near and not is_remote(near):
        dialog.setDirectory(str(Path(near).parent))
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


# ---- drops -----------------------------------------------------------------------------------------------------------


def take_copy(event: QDropEvent) -> bool:
    """Accept a drag or drop as a copy; ignore it and return False if no copy is offered."""
    offered = bool(event.possibleActions() & Qt.DropAction.CopyAction)
    if offered:
        event.setDropAction(Qt.DropAction.CopyAction)
    event.setAccepted(offered)
    return offered


TINT_ALPHA = 40
"""Of 255: what is below stays readable."""


class Cover(QWidget):
    """A frame around all of a widget, over what is in it, with a tint and a text for a drop zone."""

    def __init__(self, zone: QWidget, text: str = "", tint: int = TINT_ALPHA) -> None:
        super().__init__(zone)
        self.zone = zone
        self._text = text
        self._tint = tint
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        zone.installEventFilter(self)
        self.hide()

    def light_up(self, on: bool) -> None:
        """Show or hide it."""
        self.setGeometry(self.zone.rect())
        self.raise_()
        self.setVisible(on)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        """Qt override: follow the zone."""
        if event.type() is QEvent.Type.Resize:
            self.setGeometry(self.zone.rect())
        return False

    def paintEvent(self, _: QPaintEvent) -> None:
        accent = self.palette().highlight().color()
        tint = self.palette().highlight().color()
        tint.setAlpha(self._tint)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), tint)
            painter.setPen(QPen(accent, RING_PX))
            edge = RING_PX / 2
            painter.drawRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge))
            if self._text:  # on a plate, so that it is readable over anything
                plate = self.fontMetrics().boundingRect(self._text).adjusted(-24, -12, 24, 12)
                plate.moveCenter(self.rect().center())
                painter.fillRect(plate, accent)
                painter.setPen(self.palette().highlightedText().color())
                painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, self._text)


class DropZone:
    """A mixin, placed before the class of a widget, which has a ``drop_light`` and takes locations dropped on it."""

    drop_light: Cover

    @abstractmethod
    def take_dropped(self, locations: list[str]) -> None:
        """Do what a drop is for; there is no location in text that names none."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        data = event.mimeData()
        taken = (data.hasUrls() or data.hasText()) and take_copy(event)
        event.setAccepted(taken)
        self.drop_light.light_up(taken)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dragLeaveEvent(self, _: QDragLeaveEvent) -> None:
        self.drop_light.light_up(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_light.light_up(False)
        if take_copy(event):
            self.take_dropped(from_mime(event.mimeData()))


class PathField(DropZone, QLineEdit):
    """A field for a path or URL, which can also be dropped on it."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.drop_light = Cover(self)

    def take_dropped(self, locations: list[str]) -> None:
        """Take the first of several locations."""
        if not locations:
            return
        self.setText(absolute(locations[0]))
        self.setFocus()
        self.editingFinished.emit()


def leave_drops(within: QWidget) -> None:
    """Disable drops in plain fields: QLineEdit itself would also accept moves."""
    for field in within.findChildren(QLineEdit):
        if not isinstance(field, PathField):
            field.setAcceptDrops(False)
