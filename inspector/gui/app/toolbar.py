"""The tool bar: open, back and forward, where to go, what to find."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QAction, QResizeEvent, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QSizePolicy, QToolBar, QToolButton, QWidget, QWidgetAction

from inspector.gui.kit.dropping import leave_drops

TEXT, HEX = "Text", "Hex"
"""Find as text or hex; shown in the user's words."""
EXPRESSIONS = "footer, end-4, chunk[2]"
"""Examples of where one can go, which are the same in every language."""

TIGHTEST = 2
"""How tight it can be: 0 with words, 1 with icons alone, 2 with no more than opening, going and finding."""
EDGES = 16
"""Pixels that the rules of the theme put around it."""


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
            raise FindError("Type hex as pairs of digits, such as 50 4B 03 04.") from None
    if not found:
        raise FindError("Nothing to find: type text, or bytes in hex, into the find field.")
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
        self._buttons = {
            self._button(actions["open_files"], "Open"): TIGHTEST,
            self._button(actions["check"], "Check"): TIGHTEST - 1,
            self._button(actions["extract"], "Extract"): TIGHTEST - 1,
            self._button(actions["plan_repairs"], "Repair"): TIGHTEST - 1,
            self._button(actions["show_header"], "Header"): TIGHTEST - 1,
        }
        self._captions: list[QAction] = []
        self.addSeparator()
        self.addAction(actions["back"])
        self.addAction(actions["forward"])
        self.addSeparator()
        self.go_to = self._edit(f"offset, {EXPRESSIONS}", "Go to", 210)
        tip = f"Decimal, 0x hex, or an expression: {f'{EXPRESSIONS}, +16'} (Ctrl+G)"
        self.go_to.setToolTip(tip)
        self.go_to.returnPressed.connect(lambda: self.wentTo.emit(self.go_to.text()))
        self._caption("Go to")
        self.addWidget(self.go_to)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.mode = QComboBox()
        for mode in (TEXT, HEX):
            self.mode.addItem(mode, mode)
        self.mode.setAccessibleName("Find as text or hex")
        self.mode.currentIndexChanged.connect(self._mode_changed)
        self.sought_text = self._edit("", "What to find", 240)
        self.sought_text.returnPressed.connect(lambda: self.sought.emit(False))
        self.case = QToolButton()
        self.case.setText("Aa")
        self.case.setCheckable(True)
        self.case.setAutoRaise(True)
        self.case.setToolTip("Match case")
        self._caption("Find")
        self.addWidget(self.sought_text)
        self.addWidget(self.mode)
        self.addWidget(self.case)
        self.addAction(actions["find_previous"])
        self.addAction(actions["find_next"])
        self._mode_changed()
        self._needs: list[int] = []
        self._tightness = -1
        leave_drops(self)

    # ---- room --------------------------------------------------------------------------------------------------

    def reach(self, field: QLineEdit) -> None:
        """Move the keyboard to a field."""
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

    def _fit(self) -> None:
        """Leave out words, then buttons whose actions the menus have too, so that every field is seen.

        What is meant for a field that the keyboard cannot go to would be typed into the bytes.
        """
        if not self._needs:
            for tightness in range(TIGHTEST + 1):
                self._tighten(tightness)
                self._needs.append(self._need())
            self.setMinimumWidth(self._needs[TIGHTEST])
        fitting = (at for at, need in enumerate(self._needs) if need <= self.width())
        self._tighten(next(fitting, TIGHTEST))

    def _tighten(self, tightness: int) -> None:
        if tightness == self._tightness:
            return
        self._tightness = tightness
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if tightness else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for action, last in self._buttons.items():
            button = action.defaultWidget()
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(style)
            action.setVisible(tightness <= last)
        for caption in self._captions:
            caption.setVisible(tightness < TIGHTEST)

    def _need(self) -> int:
        """Pixels in which nothing is cut off."""
        layout = self.layout()
        assert layout is not None, "a tool bar has one"
        items = [layout.itemAt(at) for at in range(layout.count())]
        widths = [item.minimumSize().width() for item in items if item is not None and not item.isEmpty()]
        margins = layout.contentsMargins()
        return sum(widths) + layout.spacing() * len(widths) + margins.left() + margins.right() + EDGES

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """See QWidget: other letters need other room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._needs:
            self._needs = []
            self._fit()

    # ---- what is typed -----------------------------------------------------------------------------------------

    def pattern(self) -> bytes:
        """What to search for; raises FindError."""
        return pattern_of(self.sought_text.text(), self.mode.currentData())

    @property
    def holds_text(self) -> bool:
        """Whether what is to be found is text, not hex."""
        return bool(self.mode.currentData() == TEXT)

    @property
    def ignore_case(self) -> bool:
        """Whether letters match in either case."""
        return self.holds_text and not self.case.isChecked()

    def set_document(self, there: bool) -> None:
        """Whether there is a document to go about in."""
        for widget in (self.go_to, self.sought_text, self.mode, self.case):
            widget.setEnabled(there)

    def _button(self, action: QAction, word: str) -> QWidgetAction:
        """A button of its own: to hide that of an action would hide it in the menus too."""
        action.setIconText(word)
        button = QToolButton()
        button.setDefaultAction(action)
        button.setAutoRaise(True)
        button.setIconSize(self.iconSize())
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        made = self.addWidget(button)
        assert isinstance(made, QWidgetAction)
        made.setEnabled(action.isEnabled())
        action.enabledChanged.connect(made.setEnabled)
        return made

    def _caption(self, text: str) -> None:
        label = QLabel(text)
        label.setContentsMargins(6, 0, 4, 0)
        self._captions.append(self.addWidget(label))

    def _edit(self, hint: str, name: str, width: int) -> QLineEdit:
        edit = QLineEdit()
        edit.setPlaceholderText(hint)
        edit.setAccessibleName(name)
        edit.setClearButtonEnabled(True)
        edit.setMinimumWidth(80)
        edit.setMaximumWidth(width)
        return edit

    def _mode_changed(self) -> None:
        self.sought_text.setPlaceholderText("text" if self.holds_text else "50 4B 03 04")
        self.case.setEnabled(self.holds_text and self.sought_text.isEnabled())
