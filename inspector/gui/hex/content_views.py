"""A member's content as text and as an image, both read-only and limited in size."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from inspector.core.numbers import grouped, in_bytes
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import sentence_label

TEXT_LIMIT = 1 << 20
"""The most bytes shown as text."""
LINE_LIMIT = 4_000
"""The most characters of a line shown as text: the layout of a longer one would hold everything up."""
IMAGE_LIMIT = 64 << 20
"""The most bytes of a file shown as an image."""
IMAGE_MEMORY = 256
"""The most MiB that a decoded image may take."""


def _sentence_above(view: QWidget, parent: QWidget) -> QLabel:
    """Fill ``parent`` with ``view`` and, above it, the label that is returned."""
    sentence = sentence_label()
    sentence.setContentsMargins(8, 4, 8, 4)
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(sentence)
    layout.addWidget(view)
    return sentence


class TextView(QWidget):
    """Text, monospaced."""

    def __init__(self) -> None:
        super().__init__()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("Content as text")
        self.restyle()
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.sentence = _sentence_above(self.text, self)

    def restyle(self) -> None:
        """Take over another font for bytes."""
        self.text.setFont(fixed_font())

    def show_text(self, data: bytes, encoding: str, size: int) -> None:
        """Show ``data``, the beginning of ``size`` bytes, in an encoding."""
        try:
            text = data.decode(encoding, "replace")
        except LookupError:
            text = data.decode("latin-1")
        lines = text.replace("\0", "␀").splitlines()
        cut = any(len(line) > LINE_LIMIT for line in lines)
        self.text.setPlainText("\n".join(line[:LINE_LIMIT] for line in lines))
        said = f"Text in {encoding}, {grouped(len(lines))} lines."
        if size > len(data):
            text = "Only the first {part} of {size} are shown as text; the hex view has all."
            said += " " + text.format(part=in_bytes(len(data)), size=in_bytes(size))
        if cut:
            said += " " + f"Lines longer than {grouped(LINE_LIMIT)} characters are cut."
        self.sentence.setText(said)


class ImageView(QWidget):
    """An image, as large as there is room for, never larger than it is."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = QPixmap()
        self.image = QLabel()
        self.image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.image.setAccessibleName("Content as an image")
        self._area = QScrollArea()
        self._area.setAccessibleName("Content as an image")
        self._area.setWidget(self.image)
        self._area.setWidgetResizable(True)
        self._area.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence = _sentence_above(self._area, self)

    def show_image(self, data: bytes, kind: str, size: int) -> None:
        """Show the image whose file is ``data``, or say why it cannot be shown."""
        self._picture = QPixmap()
        if size > len(data):
            text = "The image is {size}; images larger than {limit} are not shown."
            self.sentence.setText(text.format(size=in_bytes(size), limit=in_bytes(IMAGE_LIMIT)))
        else:
            image, said = read_image(data, kind)
            self._picture = QPixmap.fromImage(image)
            self.sentence.setText(said)
        self._fit()

    def _fit(self) -> None:
        room = self._area.viewport().size()
        picture = self._picture
        if picture.width() > room.width() or picture.height() > room.height():
            picture = picture.scaled(
                room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        self.image.setPixmap(picture)
        self.image.setMinimumSize(QSize(1, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def read_image(data: bytes, kind: str) -> tuple[QImage, str]:
    """The image and a sentence about it; an empty image where it cannot be read or is too large."""
    QImageReader.setAllocationLimit(IMAGE_MEMORY)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind.encode()))
    reader.setAutoTransform(True)
    size = reader.size()
    image = reader.read()
    if image.isNull():
        why = reader.errorString().rstrip(".")
        return image, f"This {kind.upper()} image cannot be shown: {why}."
    text = "{format} image, {width} × {height} pixels."
    return image, text.format(format=kind.upper(), width=grouped(size.width()), height=grouped(size.height()))
