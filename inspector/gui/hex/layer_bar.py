"""The bar that chooses the layer (File ▸ Inner stream ▸ Content) and how content is shown (hex, text or image)."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QLabel, QSizePolicy, QToolButton, QWidget

from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.gui.document.document import Document
from inspector.gui.kit.building import dressed, in_row
from inspector.gui.kit.locations import name_of, outer_locations
from inspector.gui.kit.style import GRID, secondary
from inspector.gui.kit.text import escaped, plain
from inspector.gui.kit.widgets import ElidedBox, ElidedLabel
from inspector.operations.protocol.views import LayerInfo, LayerKind

MAX_TITLE_CHARACTERS = 40
MAX_OUTER_CHARACTERS = 24
MAX_FILES_WIDTH = 420
"""The greatest width of the file box, in pixels."""


class Mode(StrEnum):
    """A way to show content."""

    HEX = "Hex"
    TEXT = "Text"
    IMAGE = "Image"


class LayerBar(QWidget):
    """Buttons for the layers of a document and the modes of its content.

    In front of them are the archives around the one that is shown, the outermost first.

    Signals:
        modeChosen(object): the user chose another Mode for content.
        outerChosen(str): the user chose the archive around, at this location.
    """

    modeChosen = Signal(object)
    outerChosen = Signal(str)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.files = dressed(ElidedBox(), "File", minimumContentsLength=12, maximumWidth=MAX_FILES_WIDTH)
        self.files.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.files.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.files.activated.connect(lambda index: document.show_layer(self.files.itemData(index)))
        self._buttons = QButtonGroup(self)
        self.kinds = {
            LayerKind.FILE: self._button(self._buttons, "File", "The bytes of the file"),
            LayerKind.INNER: self._button(self._buttons, "Inner stream", "The file without its chunk headers"),
            LayerKind.CONTENT: self._button(self._buttons, "Content", "The decoded content of the selected member"),
        }
        self.outer = [self._outer_button(each) for each in outer_locations(document.location)]
        self._modes = QButtonGroup(self)
        self.modes = {mode: self._button(self._modes, mode.value, f"Content as {mode.value.lower()}") for mode in Mode}
        self.size_label = secondary(ElidedLabel("", Qt.TextElideMode.ElideRight))
        self._arrows = [QLabel("▸"), QLabel("▸")]
        file, inner, content = self.kinds.values()
        outer = [part for button in self.outer for part in (button, QLabel("▸"))]
        layers = (file, self._arrows[0], inner, self._arrows[1], content)
        every = (*outer, (self.files, 2), *layers, (self.size_label, 1), *self.modes.values())
        bar = in_row(*every, on=self, edge=GRID, gap=GRID)
        bar.insertSpacing(bar.indexOf(self.size_label), GRID)
        self._buttons.buttonClicked.connect(self._choose_kind)
        self._modes.buttonClicked.connect(lambda button: self.modeChosen.emit(Mode(button.text())))
        document.layersChanged.connect(self.refresh)
        document.selected.connect(self.refresh)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(300, super().sizeHint().height())

    def _button(self, group: QButtonGroup, text: str, tooltip: str) -> QToolButton:
        button = dressed(QToolButton(), text=text, toolTip=tooltip, checkable=True, autoRaise=True)
        group.addButton(button)
        return button

    def _outer_button(self, location: str) -> QToolButton:
        short = _end_of(name_of(location), MAX_OUTER_CHARACTERS)
        tip = plain(f"Open {visible(location)}, around this archive")
        button = dressed(QToolButton(), text=escaped(short), toolTip=tip, autoRaise=True)
        button.clicked.connect(lambda: self.outerChosen.emit(location))
        return button

    def refresh(self, *_: object) -> None:
        """Update the buttons from the document."""
        document = self._document
        shown = document.layer_info(document.layer)
        files = [info for info in document.layers if info.kind is LayerKind.FILE]
        if [self.files.itemData(i) for i in range(self.files.count())] != [info.layer for info in files]:
            self.files.clear()
            for info in files:
                self.files.addItem(info.title, info.layer)
        self.files.setVisible(len(files) > 1)
        for widget in (self.kinds[LayerKind.INNER], self._arrows[0]):
            widget.setVisible(self._inner() is not None)
        text, content = "Content", None
        if shown is not None:
            rounded_size = f" ({rounded(shown.size)})" if shown.size >= 1024 else ""
            self.size_label.setText(in_bytes(shown.size) + rounded_size)
            at = self.files.findData(shown.layer)
            self.files.setCurrentIndex(at if at >= 0 else self.files.currentIndex())
            self.files.setToolTip(plain(shown.title))
            self.kinds[shown.kind].setChecked(True)
            if shown.kind is LayerKind.CONTENT:
                text, content = f"Content of {_end_of(shown.title, MAX_TITLE_CHARACTERS)}", document.content
        self.kinds[LayerKind.CONTENT].setText(escaped(text))
        is_content = self.kinds[LayerKind.CONTENT].isChecked()
        self.kinds[LayerKind.CONTENT].setEnabled(is_content or document.selection.member is not None)
        is_text = content is not None and content.encoding is not None
        is_image = content is not None and content.image is not None
        for mode, available in ((Mode.HEX, is_text or is_image), (Mode.TEXT, is_text), (Mode.IMAGE, is_image)):
            self.modes[mode].setVisible(available)

    def _inner(self) -> LayerInfo | None:
        """The first inner stream, None if no file has one."""
        return next((info for info in self._document.layers if info.kind is LayerKind.INNER), None)

    def _choose_kind(self) -> None:
        document = self._document
        kind = next(kind for kind, button in self.kinds.items() if button.isChecked())
        if kind is LayerKind.FILE:
            document.show_layer(self.files.currentData() if self.files.count() > 1 else 0)
        elif kind is LayerKind.INNER and (inner := self._inner()) is not None:
            document.show_layer(inner.layer)
        elif kind is LayerKind.CONTENT and document.selection.member is not None:
            document.open_content(document.selection.member)
        self.refresh()


def _end_of(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[1 - most :]}"
