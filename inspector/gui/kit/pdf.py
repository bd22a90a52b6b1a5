"""Makes a PDF of a report's page. It runs in a process of its own, without a screen."""

from __future__ import annotations

import re
import sys

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSizeF, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

_SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
_DPI = 96
_SHARPNESS = 3
"""Dots of a drawing for each of the page."""
_MARGIN_MM = 14.0


def main() -> int:
    """Read a page from standard input, write the PDF to standard output, and return the exit status."""
    app = QGuiApplication([sys.argv[0], "-platform", "offscreen"])
    data = pdf_of(sys.stdin.buffer.read().decode("utf-8", "replace"))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    del app
    return 0


def pdf_of(page: str) -> bytes:
    """The page as a PDF on A4. Needs a QGuiApplication."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    writer.setPageMargins(margins, QPageLayout.Unit.Millimeter)
    writer.setCreator("Archive Inspector")
    size = QSizeF(writer.width(), writer.height())
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    document.setDocumentMargin(0)
    document.setHtml(_with_drawings(page, document, size.width()))
    document.setPageSize(size)
    writer.setTitle(document.metaInformation(QTextDocument.MetaInformation.DocumentTitle))
    with QPainter(writer) as painter:
        for number in range(document.pageCount()):
            if number:
                writer.newPage()
            painter.save()
            painter.translate(0, -number * size.height())
            document.drawContents(painter, QRectF(0, number * size.height(), size.width(), size.height()))
            painter.restore()
    buffer.close()
    return bytes(buffer.data().data())


def _with_drawings(page: str, document: QTextDocument, width: float) -> str:
    """The page with each drawing as a picture of that width, which is all that a text document can show."""
    number = 0

    def drawn(found: re.Match[str]) -> str:
        nonlocal number
        renderer = QSvgRenderer(QByteArray(found[0].encode()))
        size = renderer.defaultSize()
        height = round(width * size.height() / max(1, size.width()))
        image = QImage(round(width) * _SHARPNESS, height * _SHARPNESS, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        name, number = f"drawing:{number}", number + 1
        document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), image)
        return f'<p><img src="{name}" width="{round(width)}" height="{height}"></p>'

    return _SVG.sub(drawn, page)
