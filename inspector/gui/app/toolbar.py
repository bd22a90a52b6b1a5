"""The tool bar, and the actions that use its fields: go to, find."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QAction, QResizeEvent, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QToolBar, QToolButton, QWidget, QWidgetAction

from inspector.gui.kit.building import choice_of, dressed
from inspector.gui.kit.files import leave_drops
from inspector.gui.kit.style import GRID
from inspector.gui.tabs.side_tab import Page

TEXT, HEX = "Text", "Hex"
EXPRESSIONS = "footer, end-4, chunk[2]"
"""Examples of expressions for the Go to field."""

BUTTONS = {
    "open_files": "Open",
    "check": "Check",
    "extract": "Extract",
    "plan_repairs": "Repair",
    "show_header": "Header",
}
"""The words of the buttons, by the names of their actions."""
MAX_COMPACTNESS = 2
"""The highest compactness: 0 shows button texts, 1 icons only, 2 only Open and the Go to and Find fields."""
_BETWEEN = re.compile(r"0x|[,:]", re.IGNORECASE)
"""What may stand between the bytes of a pattern in hex, besides spaces."""
STYLE_MARGIN = 16
"""Pixels that the style sheet adds around the tool bar."""


class ToolBar(QToolBar):
    """The tool bar; Go To and Find are done by the page that ``shown`` returns."""

    def __init__(self, actions: dict[str, QAction], shown: Callable[[], Page | None], parent: QWidget) -> None:
        super().__init__("Tools", parent)
        self._shown = shown
        self.setObjectName("tools")
        self.setMovable(False)
        self.setIconSize(QSize(18, 18))
        self.toggleViewAction().setVisible(False)
        self._buttons = {
            self._button(actions[name], word): MAX_COMPACTNESS - (name != "open_files")
            for name, word in BUTTONS.items()
        }
        *_, self._header = self._buttons
        self._has_header = False
        self._captions: list[QAction] = []
        self.addSeparator()
        self.addActions([actions["back"], actions["forward"]])
        self.addSeparator()
        self.go_to = self._edit(f"offset, {EXPRESSIONS}", "Go to", 210)
        self.go_to.setToolTip(f"Decimal, 0x hex, or an expression: {EXPRESSIONS}, +16 (Ctrl+G)")
        self.go_to.returnPressed.connect(self._go_to)
        self._caption("Go to")
        self.addWidget(self.go_to)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.mode = choice_of("Find as text or hex", {TEXT: TEXT, HEX: HEX})
        self.mode.currentIndexChanged.connect(self._mode_changed)
        self.find_text = self._edit("", "What to find", 240)
        self.find_text.returnPressed.connect(lambda: self.find_next(False))
        self.case = dressed(QToolButton(), text="Aa", checkable=True, autoRaise=True, toolTip="Match case")
        self._caption("Find")
        for field in (self.find_text, self.mode, self.case):
            self.addWidget(field)
        self.addActions([actions["find_previous"], actions["find_next"]])
        self._mode_changed()
        self._widths_needed: list[int] = []
        self._compactness = -1
        leave_drops(self)

    # ---- width -------------------------------------------------------------------------------------------------

    def _update_compactness(self) -> None:
        """Hide captions, then buttons whose actions are in the menus too, so that every field stays visible.

        A hidden field could not get the focus, and what the user types would go to the hex view instead.
        """
        if not self._widths_needed:
            for compactness in range(MAX_COMPACTNESS + 1):
                self._set_compactness(compactness)
                self._widths_needed.append(self._width_needed())
            self.setMinimumWidth(self._widths_needed[MAX_COMPACTNESS])
        fitting = (at for at, needed in enumerate(self._widths_needed) if needed <= self.width())
        self._set_compactness(next(fitting, MAX_COMPACTNESS))

    def _set_compactness(self, compactness: int) -> None:
        if compactness == self._compactness:
            return
        self._compactness = compactness
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if compactness else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for item, last in self._buttons.items():
            button = item.defaultWidget()
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(style)
            item.setVisible(compactness <= last and (item is not self._header or self._has_header))
        for caption in self._captions:
            caption.setVisible(compactness < MAX_COMPACTNESS)

    def _width_needed(self) -> int:
        """The width in pixels at which nothing is cut off."""
        layout = self.layout()
        assert layout is not None, "a tool bar has one"
        items = [layout.itemAt(at) for at in range(layout.count())]
        widths = [item.minimumSize().width() for item in items if item is not None and not item.isEmpty()]
        margins = layout.contentsMargins()
        return sum(widths) + layout.spacing() * len(widths) + margins.left() + margins.right() + STYLE_MARGIN

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_compactness()

    def changeEvent(self, event: QEvent) -> None:
        """Qt override: measure again when the font or style changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._widths_needed:
            self._widths_needed = []
            self._update_compactness()

    # ---- fields ------------------------------------------------------------------------------------------------

    @property
    def has_bytes(self) -> bool:
        """Whether there are bytes to go to and to find something in."""
        page = self._shown()
        return page is not None and page.has_bytes

    def ask_place(self) -> None:
        """Focus the Go To field."""
        _focus(self.go_to)

    def ask_bytes(self) -> None:
        """Focus the Find field."""
        _focus(self.find_text)

    def _go_to(self) -> None:
        page, expression = self._shown(), self.go_to.text().strip()
        if page is not None and expression:
            page.go_to_expression(expression)

    def find_next(self, backwards: bool) -> None:
        """Find the next match, or the previous one."""
        page, text = self._shown(), self.find_text.text()
        if page is None:
            return
        is_text = self.mode.currentData() == TEXT
        try:
            pattern = text.encode("utf-8", "surrogatepass") if is_text else bytes.fromhex(_BETWEEN.sub(" ", text))
        except ValueError:
            page.report("Type hex as pairs of digits, such as 50 4B 03 04.")
            _focus(self.find_text)
            return
        if pattern:
            page.find_pattern(pattern, backwards, is_text and not self.case.isChecked())
        else:
            page.report("Nothing to find: type text, or bytes in hex, into the find field.")
            _focus(self.find_text)

    def show_header_button(self, has_header: bool) -> None:
        """Show the button of the header editor, for an archive that has such a header, or hide it."""
        if has_header != self._has_header:
            self._has_header = has_header
            self._compactness, self._widths_needed = -1, []
            self._update_compactness()

    def enable_fields(self) -> None:
        """Enable the fields if bytes are shown."""
        for widget in (self.go_to, self.find_text, self.mode, self.case):
            widget.setEnabled(self.has_bytes)

    def _button(self, action: QAction, word: str) -> QWidgetAction:
        """A separate button for an action; hiding the action's own would hide it in the menus too."""
        action.setIconText(word)
        button = QToolButton(autoRaise=True)
        button.setIconSize(self.iconSize())
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setDefaultAction(action)
        widget_action = self.addWidget(button)
        assert isinstance(widget_action, QWidgetAction)
        widget_action.setEnabled(action.isEnabled())
        action.enabledChanged.connect(widget_action.setEnabled)
        return widget_action

    def _caption(self, text: str) -> None:
        label = QLabel(text)
        label.setContentsMargins(GRID, 0, GRID, 0)
        self._captions.append(self.addWidget(label))

    def _edit(self, hint: str, name: str, width: int) -> QLineEdit:
        sizes = {"minimumWidth": 80, "maximumWidth": width}
        return dressed(QLineEdit(placeholderText=hint, clearButtonEnabled=True), name, **sizes)

    def _mode_changed(self) -> None:
        is_text = self.mode.currentData() == TEXT
        self.find_text.setPlaceholderText("text" if is_text else "50 4B 03 04")
        self.case.setEnabled(is_text and self.find_text.isEnabled())


def _focus(field: QLineEdit) -> None:
    field.setFocus(Qt.FocusReason.ShortcutFocusReason)
    field.selectAll()
