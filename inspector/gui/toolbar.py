"""The tool bar: open, back and forward, where to go, what to find."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QAction, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QSizePolicy, QToolBar, QToolButton, QWidget

TEXT, HEX = "Text", "Hex"


class FindError(Exception):
    """What was typed cannot be searched for: the message is a sentence."""


def pattern_of(text: str, mode: str) -> bytes:
    """The bytes to search for; raises FindError where the text is no hex or says nothing."""
    if mode == TEXT:
        found = text.encode("utf-8", "surrogatepass")
    else:
        digits = text.lower().replace("0x", " ").replace(",", " ").replace(":", " ")
        try:
            found = bytes.fromhex(digits)
        except ValueError:
            raise FindError("Hex to find is pairs of digits, such as 50 4B 03 04.") from None
    if not found:
        raise FindError("There is nothing to find: type text, or bytes in hex, into the find field.")
    return found


class ToolBar(QToolBar):
    """The tool bar.

    Signals:
        wentTo(str): the user typed where to go.
        sought(bool): the user wants the next thing (or, True, the one before).
    """

    wentTo = Signal(str)
    sought = Signal(bool)

    def __init__(self, actions: dict[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__("Tools", parent)
        self.setObjectName("tools")
        self.setMovable(False)
        self.setIconSize(QSize(18, 18))
        self.toggleViewAction().setVisible(False)
        for name, word in (
            ("open_files", "Open"),
            ("check", "Check"),
            ("extract", "Extract"),
            ("mend", "Mend"),
            ("show_header", "Header"),
        ):
            self.addAction(actions[name])
            button = self.widgetForAction(actions[name])
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            actions[name].setIconText(word)
        self.addSeparator()
        self.addAction(actions["back"])
        self.addAction(actions["forward"])
        self.addSeparator()
        self.go_to = self._edit("offset, footer, end-4, chunk[2]", "Where to go", 210)
        self.go_to.setToolTip("Decimal, 0x hex, or an expression: footer, end-4, chunk[2], +16 (Ctrl+G)")
        self.go_to.returnPressed.connect(lambda: self.wentTo.emit(self.go_to.text()))
        self._caption("Go to")
        self.addWidget(self.go_to)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.mode = QComboBox()
        self.mode.addItems([TEXT, HEX])
        self.mode.setAccessibleName("What the find field holds")
        self.mode.currentTextChanged.connect(self._mode_changed)
        self.sought_text = self._edit("", "What to find", 240)
        self.sought_text.returnPressed.connect(lambda: self.sought.emit(False))
        self.case = QToolButton()
        self.case.setText("Aa")
        self.case.setCheckable(True)
        self.case.setAutoRaise(True)
        self.case.setToolTip("Tell capital letters from small ones")
        self._caption("Find")
        self.addWidget(self.sought_text)
        self.addWidget(self.mode)
        self.addWidget(self.case)
        self.addAction(actions["find_previous"])
        self.addAction(actions["find_next"])
        self._mode_changed(TEXT)

    def pattern(self) -> bytes:
        """What to search for; raises FindError."""
        return pattern_of(self.sought_text.text(), self.mode.currentText())

    @property
    def ignore_case(self) -> bool:
        """Whether letters match in either case."""
        return self.mode.currentText() == TEXT and not self.case.isChecked()

    def set_document(self, there: bool) -> None:
        """Whether there is a document to go about in."""
        for widget in (self.go_to, self.sought_text, self.mode, self.case):
            widget.setEnabled(there)

    def _caption(self, text: str) -> None:
        label = QLabel(text)
        label.setContentsMargins(6, 0, 4, 0)
        self.addWidget(label)

    def _edit(self, hint: str, name: str, width: int) -> QLineEdit:
        edit = QLineEdit()
        edit.setPlaceholderText(hint)
        edit.setAccessibleName(name)
        edit.setClearButtonEnabled(True)
        edit.setMinimumWidth(80)
        edit.setMaximumWidth(width)
        return edit

    def _mode_changed(self, mode: str) -> None:
        self.sought_text.setPlaceholderText("text" if mode == TEXT else "50 4B 03 04")
        self.case.setEnabled(mode == TEXT and self.sought_text.isEnabled())
