"""A member's content as text and as an image, both read-only and limited in size."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QScrollArea, QWidget

from inspector.core.numbers import grouped, in_bytes
from inspector.gui.kit.building import dressed, in_column
from inspector.gui.kit.style import GRID
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import sentence_label

MAX_TEXT_BYTES = 1 << 20
"""The most bytes shown as text."""
MAX_LINE_CHARACTERS = 4_000
"""The most characters shown of a line: Qt takes seconds to lay out a longer one."""
MAX_IMAGE_BYTES = 64 << 20
"""The size of the largest file shown as an image."""
MAX_DECODED_MIB = 256
"""The most memory for a decoded image, in MiB."""


def _add_label_above(view: QWidget, parent: QWidget) -> QLabel:
    """Lay out ``view`` in ``parent`` below a label, which is returned."""
    sentence = sentence_label()
    sentence.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
    in_column(sentence, view, on=parent)
    return sentence


class TextView(QWidget):
    """Content as text in the fixed font."""

    def __init__(self) -> None:
        super().__init__()
        self.text = dressed(QPlainTextEdit(readOnly=True), "Content as text")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.restyle()
        self.sentence = _add_label_above(self.text, self)

    def restyle(self) -> None:
        """Apply the current fixed font."""
        self.text.setFont(fixed_font())

    def show_text(self, data: bytes, encoding: str, size: int) -> None:
        """Decode and show ``data``, the first of ``size`` bytes."""
        try:
            text = data.decode(encoding, "replace")
        except LookupError:
            text = data.decode("latin-1")
        lines = text.replace("\0", "␀").splitlines()
        self.text.setPlainText("\n".join(line[:MAX_LINE_CHARACTERS] for line in lines))
        message = f"Text in {encoding}, {grouped(len(lines))} lines."
        if size > len(data):
            part = in_bytes(len(data))
            message += f" Only the first {part} of {in_bytes(size)} are shown as text; the hex view has all."
        if any(len(line) > MAX_LINE_CHARACTERS for line in lines):
            message += f" Lines longer than {grouped(MAX_LINE_CHARACTERS)} characters are cut."
        self.sentence.setText(message)


class ImageView(QWidget):
    """An image, scaled down to fit and never scaled up."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = QPixmap()
        self.image = dressed(QLabel(alignment=Qt.AlignmentFlag.AlignCenter), "Content as an image")
        self._area = dressed(QScrollArea(alignment=Qt.AlignmentFlag.AlignCenter), "Content as an image")
        self._area.setWidget(self.image)
        self._area.setWidgetResizable(True)
        self.sentence = _add_label_above(self._area, self)

    def show_image(self, data: bytes, kind: str, size: int) -> None:
        """Show the image file ``data``, or the reason reason it cannot be shown."""
        self._picture = QPixmap()
        if size > len(data):
            limit = in_bytes(MAX_IMAGE_BYTES)
            self.sentence.setText(f"The image is {in_bytes(size)}; images larger than {limit} are not shown.")
        else:
            image, message = read_image(data, kind)
            self._picture = QPixmap.fromImage(image)
            self.sentence.setText(message)
        self._scale()

    def _scale(self) -> None:
        available = self._area.viewport().size()
        picture = self._picture
        if picture.width() > available.width() or picture.height() > available.height():
            picture = picture.scaled(
                available, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        self.image.setPixmap(picture)
        self.image.setMinimumSize(QSize(1, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._scale()


def read_image(data: bytes, kind: str) -> tuple[QImage, str]:
    """The image and a sentence about it; the image is empty if it cannot be read or is too large."""
    QImageReader.setAllocationLimit(MAX_DECODED_MIB)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind.encode()))
    reader.setAutoTransform(True)
    size = reader.size()
    image = reader.read()
    if image.isNull():
        reason = reader.errorString().rstrip(".")
        return image, f"This {kind.upper()} image cannot be shown: {reason}."
    return image, f"{kind.upper()} image, {grouped(size.width())} × {grouped(size.height())} pixels."
