"""What is shown while nothing is open: recent files, samples to try, and where to drop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from inspector.gui.icons import coloured, icon
from inspector.gui.models.members import plain
from inspector.gui.panels.parts import ElidedLabel, sentence_label
from inspector.resources import samples

WIDTH = 860


class StartPage(QScrollArea):
    """The start page.

    Signals:
        chosen(str): a location is to be opened.
        wanted(): the user wants to choose files.
    """

    chosen = Signal(str)
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._recent = QVBoxLayout()
        self._samples = QVBoxLayout()
        page = QWidget()
        page.setMaximumWidth(WIDTH)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(32, 36, 32, 32)
        layout.setSpacing(18)
        layout.addLayout(self._head())
        layout.addWidget(self._drop_area())
        columns = QHBoxLayout()
        columns.setSpacing(28)
        columns.addLayout(self._column("Recent", self._recent), 1)
        columns.addLayout(self._column("Samples to try", self._samples), 1)
        layout.addLayout(columns)
        layout.addStretch(1)
        outer = QWidget()
        centred = QHBoxLayout(outer)
        centred.setContentsMargins(0, 0, 0, 0)
        centred.addStretch(1)
        centred.addWidget(page, 100)
        centred.addStretch(1)
        self.setWidget(outer)
        self._fill(self._samples, [str(path) for path in samples()], "No samples came with this installation.")

    def show_recent(self, locations: list[str]) -> None:
        """List the recent locations."""
        self._fill(self._recent, locations, "Nothing has been opened yet.")

    def _head(self) -> QHBoxLayout:
        mark = QLabel()
        mark.setPixmap(coloured("archive-inspector", "#1d2733").pixmap(QSize(56, 56)))
        title = QLabel("Archive Inspector")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.9)
        title.setFont(font)
        words = sentence_label("Shows what every byte of a CAF, RCA, TACO or datas3t archive means.")
        words.setForegroundRole(words.palette().ColorRole.PlaceholderText)
        text = QVBoxLayout()
        text.setSpacing(2)
        text.addWidget(title)
        text.addWidget(words)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(mark)
        head.addLayout(text, 1)
        return head

    def _drop_area(self) -> QFrame:
        area = QFrame()
        area.setObjectName("drop")
        area.setStyleSheet("#drop { border: 1px dashed palette(dark); border-radius: 6px; }")
        picture = QLabel()
        picture.setPixmap(icon("drop").pixmap(QSize(24, 24)))
        words = QLabel("Drop files or a folder here, or paste a path")
        words.setForegroundRole(words.palette().ColorRole.PlaceholderText)
        button = QPushButton(icon("open"), "Open…")
        button.clicked.connect(self.wanted)
        layout = QHBoxLayout(area)
        layout.setContentsMargins(18, 18, 18, 18)
        layout.setSpacing(12)
        layout.addWidget(picture)
        layout.addWidget(words, 1)
        layout.addWidget(button)
        return area

    def _column(self, title: str, entries: QVBoxLayout) -> QVBoxLayout:
        label = QLabel(title)
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        entries.setSpacing(0)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addWidget(label)
        column.addLayout(entries)
        column.addStretch(1)
        return column

    def _fill(self, entries: QVBoxLayout, locations: list[str], nothing: str) -> None:
        while (item := entries.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for location in locations:
            entries.addWidget(self._entry(location))
        if not locations:
            label = sentence_label(nothing)
            label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
            entries.addWidget(label)

    def _entry(self, location: str) -> QPushButton:
        path = Path(location)
        button = QPushButton()
        button.setFlat(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(f"Open {path.name}")
        button.setToolTip(plain(location))
        name, folder = ElidedLabel(path.name or location), ElidedLabel(str(path.parent))
        name.setForegroundRole(name.palette().ColorRole.Link)
        folder.setForegroundRole(folder.palette().ColorRole.PlaceholderText)
        layout = QVBoxLayout(button)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(0)
        layout.addWidget(name)
        layout.addWidget(folder)
        button.setMinimumHeight(layout.sizeHint().height())
        button.clicked.connect(lambda: self.chosen.emit(location))
        return button
