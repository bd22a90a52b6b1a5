"""Which bytes the hex view shows: File ▸ Inner stream ▸ Content, and a member's content as hex, text or image."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from inspector.core.numbers import in_bytes, rounded
from inspector.gui.document.document import Document
from inspector.gui.kit.text import escaped, plain
from inspector.gui.kit.widgets import ElidedBox, ElidedLabel
from inspector.operations.protocol.views import LayerInfo, LayerKind

LONGEST_TITLE = 40
WIDEST = 420
"""Pixels that the choice of files may take."""


class Mode(StrEnum):
    """How content is shown."""

    HEX = "Hex"
    TEXT = "Text"
    IMAGE = "Image"


class LayerBar(QWidget):
    """The switch.

    Signals:
        modeChosen(object): the user wants to see content in another Mode.
    """

    modeChosen = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.files = ElidedBox()
        self.files.setAccessibleName("File")
        self.files.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.files.setMinimumContentsLength(12)
        self.files.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.files.setMaximumWidth(WIDEST)
        self.files.activated.connect(self._choose_file)
        self._buttons = QButtonGroup(self)
        self.kinds = {
            LayerKind.FILE: self._button(self._buttons, "File", "The bytes of the file"),
            LayerKind.INNER: self._button(self._buttons, "Inner stream", "The file without its chunk headers"),
            LayerKind.CONTENT: self._button(self._buttons, "Content", "The decoded content of the selected member"),
        }
        self._modes = QButtonGroup(self)
        self.modes = {mode: self._mode_button(mode.value) for mode in Mode}
        self.size_label = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.size_label.setForegroundRole(self.size_label.palette().ColorRole.PlaceholderText)
        self._arrows = [QLabel("▸"), QLabel("▸")]
        self._lay_out()
        self._buttons.buttonClicked.connect(self._choose_kind)
        self._modes.buttonClicked.connect(self._choose_mode)
        document.layersChanged.connect(self.refresh)
        document.selected.connect(self.refresh)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(300, super().sizeHint().height())

    def _button(self, group: QButtonGroup, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        button.setAutoRaise(True)
        group.addButton(button)
        return button

    def _mode_button(self, word: str) -> QToolButton:
        return self._button(self._modes, word, f"Content as {word.lower()}")

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 3, 6, 3)
        layout.setSpacing(3)
        file, inner, content = self.kinds.values()
        layout.addWidget(self.files, 2)
        for widget in (file, self._arrows[0], inner, self._arrows[1], content):
            layout.addWidget(widget)
        layout.addSpacing(8)
        layout.addWidget(self.size_label, 1)
        for button in self.modes.values():
            layout.addWidget(button)

    def refresh(self, *_: object) -> None:
        """Show which layers there are and which one is shown."""
        document = self._document
        shown = document.layer_info(document.layer)
        files = [info for info in document.layers if info.kind is LayerKind.FILE]
        has_inner = self._inner() is not None
        self.files.setVisible(len(files) > 1)
        self._fill_files(files, shown)
        self.kinds[LayerKind.INNER].setVisible(has_inner)
        self._arrows[0].setVisible(has_inner)
        is_content = shown is not None and shown.kind is LayerKind.CONTENT
        self.kinds[LayerKind.CONTENT].setEnabled(is_content or document.selection.member is not None)
        self.kinds[LayerKind.CONTENT].setText(self._content_text(shown))
        if shown is not None:
            self.kinds[shown.kind].setChecked(True)
            rough = f" ({rounded(shown.size)})" if shown.size >= 1024 else ""
            self.size_label.setText(in_bytes(shown.size) + rough)
            self.files.setToolTip(plain(shown.title))
        self._show_modes(is_content)

    def _content_text(self, shown: LayerInfo | None) -> str:
        if shown is None or shown.kind is not LayerKind.CONTENT:
            return "Content"
        title = shown.title if len(shown.title) <= LONGEST_TITLE else "…" + shown.title[1 - LONGEST_TITLE :]
        return escaped(f"Content of {title}")

    def _fill_files(self, files: list[LayerInfo], shown: LayerInfo | None) -> None:
        if [self.files.itemData(i) for i in range(self.files.count())] != [info.layer for info in files]:
            self.files.clear()
            for info in files:
                self.files.addItem(info.title, info.layer)
        if shown is not None and (at := self.files.findData(shown.layer)) >= 0:
            self.files.setCurrentIndex(at)

    def _show_modes(self, is_content: bool) -> None:
        content = self._document.content
        possible = {
            Mode.HEX: is_content,
            Mode.TEXT: is_content and content is not None and content.encoding is not None,
            Mode.IMAGE: is_content and content is not None and content.image is not None,
        }
        several = sum(possible.values()) > 1
        for mode, button in self.modes.items():
            button.setVisible(possible[mode] and several)

    def set_mode(self, mode: Mode) -> None:
        """Mark the mode that is shown."""
        self.modes[mode].setChecked(True)

    def _inner(self) -> LayerInfo | None:
        """The inner stream of the file that is shown, or else of any."""
        inner = [info for info in self._document.layers if info.kind is LayerKind.INNER]
        return inner[0] if inner else None

    def _choose_file(self, at: int) -> None:
        self._document.show_layer(self.files.itemData(at))

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

    def _choose_mode(self) -> None:
        self.modeChosen.emit(next(mode for mode, button in self.modes.items() if button.isChecked()))
