"""The manual: the pages of ``resources/manual``, to read and to search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QKeySequence,
    QPainter,
    QShortcut,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QTextBrowser,
    QWidget,
)

from inspector.drawing.palette import COLOURS, Scheme
from inspector.gui.kit.building import dressed, in_column, in_row
from inspector.gui.kit.style import EDGE, GRID, scheme_for
from inspector.gui.kit.widgets import label_of
from inspector.resources import manual_pages, resource

SIZE = (960, 680)
LIST_WIDTH = 160
MARGIN = 12
_PICTURE = re.compile(r"^!\[.*\]\((.+)\)$", re.MULTILINE)
_HEX = re.compile(r"#\w{6}")
_COLOUR = re.compile(r'(\b(?:fill|stroke)=")(#\w+)')


class ManualBrowser(QTextBrowser):
    """Shows pages with their drawings, which it draws as wide as there is room, in the colours of its palette.

    Signals:
        recoloured(): the palette is another one.
    """

    recoloured = Signal()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.recoloured.emit()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Qt override: draw an SVG."""
        path = resource("manual", QUrl(name).path())
        if kind != QTextDocument.ResourceType.ImageResource or path.suffix != ".svg" or not path.is_file():
            return super().loadResource(kind, name)
        drawn = in_colours(path.read_text(encoding="utf-8"), scheme_for(self.palette()))
        renderer = QSvgRenderer(QByteArray(drawn.encode()))
        size = renderer.defaultSize()
        room = self.viewport().width() - 2 * MARGIN - self.verticalScrollBar().sizeHint().width()
        size = size.scaled(min(size.width(), max(1, room)), size.height(), Qt.AspectRatioMode.KeepAspectRatio)
        ratio = self.devicePixelRatioF()
        image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(0)
        with QPainter(image) as painter:
            renderer.render(painter, QRectF(0, 0, size.width(), size.height()))
        return image


def in_colours(picture: str, scheme: Scheme) -> str:
    """A picture in the colours of a scheme; Qt reads no style sheet for dark pages."""
    pairs = zip(*(_HEX.findall(str(COLOURS[each])) for each in (Scheme.LIGHT, scheme)), strict=True)
    colours = {light.lower(): other for light, other in reversed(list(pairs))}  # the first one holds
    return _COLOUR.sub(lambda found: f"{found[1]}{colours.get(found[2].lower(), found[2])}", picture)


class ManualDialog(QDialog):
    """Shows one page at a time; the window stays usable."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Manual")
        self.resize(*SIZE)
        self.pages = dressed(QListWidget(), "Pages")
        self.pages.setFixedWidth(LIST_WIDTH)
        self.text = dressed(ManualBrowser(), "Manual page", openLinks=False)
        self.text.document().setDocumentMargin(MARGIN)
        self.text.setSearchPaths([str(resource("manual"))])
        self.wanted = dressed(QLineEdit(placeholderText="text"), "Find in the manual")
        self.next = QPushButton("Find &Next", default=True)
        self.outcome = QLabel()
        self._paths = manual_pages()
        self.pages.addItems([title(path) for path in self._paths])
        search = in_row(label_of("&Find", self.wanted), self.wanted, self.next, (self.outcome, 1))
        in_column(search, (in_row(self.pages, (self.text, 1)), 1), on=self, edge=EDGE, gap=2 * GRID)
        self.pages.currentRowChanged.connect(self._show)
        self.text.anchorClicked.connect(self._follow)
        self.text.recoloured.connect(self._redraw)
        self.next.clicked.connect(self.find_next)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self).activated.connect(self.wanted.setFocus)
        self.pages.setCurrentRow(0)
        self.wanted.setFocus()

    def _show(self, row: int) -> None:
        path = self._paths[row]
        written = path.read_text(encoding="utf-8")
        # An installed program comes without the screenshots.
        self.text.setMarkdown(
            _PICTURE.sub(lambda found: found[0] if (path.parent / found[1]).is_file() else "", written)
        )
        self.outcome.clear()

    def _redraw(self) -> None:
        """Draw the pictures of the page in the colours of another theme."""
        bar = self.text.verticalScrollBar()
        place = bar.value()
        self._show(self.pages.currentRow())
        bar.setValue(place)

    def _follow(self, link: QUrl) -> None:
        """Open the page that a link leads to, or leave a web address to the browser."""
        names = [path.name for path in self._paths]
        if link.scheme() in ("http", "https"):
            QDesktopServices.openUrl(link)
        elif link.path() in names:
            self.pages.setCurrentRow(names.index(link.path()))

    def find_next(self) -> None:
        """Select the next place with the text, in this page and then in those that follow it."""
        wanted, here = self.wanted.text(), self.pages.currentRow()
        self.outcome.clear()
        if not wanted or self.text.find(wanted):
            return
        for row in (*range(here + 1, len(self._paths)), *range(here + 1)):  # the last is the rest before the cursor
            document = QTextDocument()
            document.setMarkdown(self._paths[row].read_text(encoding="utf-8"))
            if not document.find(wanted).isNull():
                self.pages.setCurrentRow(row)
                self.text.moveCursor(QTextCursor.MoveOperation.Start)
                self.text.find(wanted)
                return
        self.outcome.setText("No page has this text.")


def title(path: Path) -> str:
    """The heading of a page, without "The"."""
    heading = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").removeprefix("The ")
    return heading[:1].upper() + heading[1:] if heading.partition(" ")[0].isalpha() else heading
