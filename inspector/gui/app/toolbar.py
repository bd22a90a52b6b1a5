"""The tool bar, and the actions that use its fields: go to, find."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtGui import QAction, QResizeEvent, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QToolBar, QToolButton, QWidget, QWidgetAction

from inspector.gui.kit.building import choice_of, dressed
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.kit.style import GRID
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


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
STYLE_MARGIN = 16
"""Pixels that the style sheet adds around the tool bar."""


class FindError(Exception):
    """The typed pattern is invalid; the message says why."""


def pattern_of(text: str, mode: str) -> bytes:
    """The bytes to search for. Raises FindError for invalid hex or an empty text."""
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
        goToRequested(str): the user entered an expression to go to.
        findRequested(bool): the user wants the next match or, if True, the previous one.
    """

    goToRequested = Signal(str)
    findRequested = Signal(bool)

    def __init__(self, actions: dict[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__("Tools", parent)
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
        self.go_to.returnPressed.connect(lambda: self.goToRequested.emit(self.go_to.text()))
        self._caption("Go to")
        self.addWidget(self.go_to)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.mode = choice_of("Find as text or hex", {TEXT: TEXT, HEX: HEX})
        self.mode.currentIndexChanged.connect(self._mode_changed)
        self.find_text = self._edit("", "What to find", 240)
        self.find_text.returnPressed.connect(lambda: self.findRequested.emit(False))
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

    def focus_field(self, field: QLineEdit) -> None:
        """Focus a field and select its text."""
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

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

    def pattern(self) -> bytes:
        """The bytes to search for. Raises FindError."""
        return pattern_of(self.find_text.text(), self.mode.currentData())

    @property
    def is_text(self) -> bool:
        """Whether the pattern is text rather than hex."""
        return bool(self.mode.currentData() == TEXT)

    @property
    def ignore_case(self) -> bool:
        """Whether upper and lower case match."""
        return self.is_text and not self.case.isChecked()

    def show_header_button(self, has_header: bool) -> None:
        """Show the button of the header editor, for an archive that has such a header, or hide it."""
        if has_header != self._has_header:
            self._has_header = has_header
            self._compactness, self._widths_needed = -1, []
            self._update_compactness()

    def enable_fields(self, has_document: bool) -> None:
        """Enable the fields if a document is shown."""
        for widget in (self.go_to, self.find_text, self.mode, self.case):
            widget.setEnabled(has_document)

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
        self.find_text.setPlaceholderText("text" if self.is_text else "50 4B 03 04")
        self.case.setEnabled(self.is_text and self.find_text.isEnabled())


def _has_bytes(bar: FindBar) -> bool:
    return bar.has_bytes


class FindBar(QObject):
    """The Go To and Find actions: apply the fields of the tool bar to the tab that ``shown`` returns.

    ``beside`` returns the tab shown that has bytes and no document, such as a comparison.
    """

    def __init__(
        self, tool_bar: ToolBar, shown: Callable[[], Tab | None], beside: Callable[[], SideTab | None]
    ) -> None:
        super().__init__(tool_bar)
        self._beside = beside
        self._tool_bar = tool_bar
        self._shown = shown
        tool_bar.goToRequested.connect(self._go_to)
        tool_bar.findRequested.connect(self.find)

    @property
    def has_bytes(self) -> bool:
        """Whether there are bytes to find something in."""
        return self._shown() is not None or self._beside() is not None

    def go_to(self) -> None:
        """Focus the Go to field."""
        self._tool_bar.focus_field(self._tool_bar.go_to)

    def _go_to(self, expression: str) -> None:
        tab = self._shown()
        if tab is not None and expression.strip():
            tab.document.go_to_expression(expression)
            tab.hex_pane.setFocus()
        elif (side := self._beside()) is not None and expression.strip():
            side.go_to_expression(expression.strip())

    def find_bytes(self) -> None:
        """Focus the Find field."""
        self._tool_bar.focus_field(self._tool_bar.find_text)

    def find(self, backwards: bool) -> None:
        """Find the next match, or the previous one."""
        tab, side = self._shown(), self._beside()
        if tab is None and side is None:
            return
        try:
            pattern = self._tool_bar.pattern()
        except FindError as error:
            if tab is not None:
                tab.document.reported.emit(str(error))
            self.find_bytes()
            return
        if tab is not None:
            tab.document.find(pattern, backwards, self._tool_bar.ignore_case)
        elif side is not None:
            side.find_pattern(pattern, backwards, self._tool_bar.ignore_case)
