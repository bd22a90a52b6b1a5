"""Another program from which things are dragged, and which has put a text into the clipboard.

``python drag_source.py X Y WIDTH HEIGHT uris|text LINE...``: a plain square in that place, out of which addresses or a
text can be dragged. It prints ``ready`` when it is there, ``accepted`` when something takes what is held over it,
``refused`` when it does not, and ``dropped`` or ``cancelled`` at the end.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


def say(word: str) -> None:
    print(word, flush=True)


def content(kind: str, lines: list[str]) -> QMimeData:
    data = QMimeData()
    if kind == "uris":
        data.setUrls([QUrl.fromLocalFile(line) for line in lines])
    else:
        data.setText("\n".join(lines))
    return data


class Square(QWidget):
    def __init__(self, kind: str, lines: list[str]) -> None:
        super().__init__(None, Qt.WindowType.X11BypassWindowManagerHint | Qt.WindowType.FramelessWindowHint)
        self.kind = kind
        self.lines = lines

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():
            return
        drag = QDrag(self)
        drag.setMimeData(content(self.kind, self.lines))
        drag.actionChanged.connect(
            lambda action: say("refused" if action is Qt.DropAction.IgnoreAction else "accepted")
        )
        done = drag.exec(Qt.DropAction.CopyAction)
        say("cancelled" if done is Qt.DropAction.IgnoreAction else "dropped")


def main(x: str, y: str, width: str, height: str, kind: str, *lines: str) -> int:
    app = QApplication([])
    square = Square(kind, list(lines))
    square.setGeometry(int(x), int(y), int(width), int(height))
    square.show()
    QGuiApplication.clipboard().setMimeData(content(kind, list(lines)))
    QTimer.singleShot(0, lambda: say("ready"))
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
