"""Going to an offset or an expression, and finding bytes: what the tool bar and its actions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.gui.app.toolbar import FindError, ToolBar

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


class FindBar(QObject):
    """Works on the tab that is ``shown``, with what is typed into the tool bar."""

    def __init__(self, tools: ToolBar, shown: Callable[[], Tab | None]) -> None:
        super().__init__(tools)
        self._tools = tools
        self._shown = shown
        tools.wentTo.connect(self._go_to)
        tools.sought.connect(self._seek)

    def go_to(self) -> None:
        """Move the keyboard to the field that says where to go."""
        self._tools.reach(self._tools.go_to)

    def _go_to(self, expression: str) -> None:
        tab = self._shown()
        if tab is not None and expression.strip():
            tab.document.go_to_expression(expression)
            tab.hex_pane.setFocus()

    def find_bytes(self) -> None:
        """Move the keyboard to the field that says what to find."""
        self._tools.reach(self._tools.sought_text)

    def find_next(self) -> None:
        """Find the next one."""
        self._seek(False)

    def find_previous(self) -> None:
        """Find the one before."""
        self._seek(True)

    def _seek(self, backwards: bool) -> None:
        tab = self._shown()
        if tab is None:
            return
        try:
            pattern = self._tools.pattern()
        except FindError as error:
            tab.document.said.emit(str(error))
            self.find_bytes()
            return
        tab.document.find(pattern, backwards, self._tools.ignore_case)
