"""The line above a list that filters it: typing filters, Down leads into the results, Enter opens the only one."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QWidget

from inspector.gui.kit.widgets import debounce

_TYPING_MS = 200
"""Milliseconds without typing after which the filter is applied."""


class FilterLine(QLineEdit):
    """Filters what ``view`` shows; Down leads into the view ``into``, which is the same one at first.

    Signals:
        applied(str): show what contains this text; empty for all.
    """

    applied = Signal(str)

    def __init__(self, view: QAbstractItemView, placeholder: str, name: str) -> None:
        super().__init__()
        self._view = self.into = view
        self.wanted = ""
        self._comes_and_goes = False
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        self._timer = debounce(self, _TYPING_MS, self.apply)
        self.textChanged.connect(self._timer.start)

    def no_match(self, searched: str = "") -> str:
        """The sentence of a list in which nothing is left; ``searched``: of what, if not of all."""
        where = f" among {searched}" if searched else ""
        return f"No match for “{self.wanted}”{where}. Esc shows all."

    def appear_on_typing(self, *lists: QWidget) -> None:
        """Take no room until the user types in one of these lists, and go when the filter is cleared."""
        self._comes_and_goes = True
        self.hide()
        for each in lists:
            each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: what is typed in a list goes here."""
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress or not _is_text(event):
            return super().eventFilter(watched, event)
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.end(False)  # what is typed goes on behind what stands here
        self.insert(event.text())
        return True

    def apply(self) -> None:
        """Filter now."""
        self._timer.stop()
        text = self.text().strip()
        if text != self.wanted:
            self.wanted = text
            self.applied.emit(text)

    def event(self, event: QEvent) -> bool:
        """Qt override: Escape is for this line before it cancels anything else."""
        is_override = event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.text():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down: into the results. Enter: the first of them, as Enter in the list does. Escape: all again."""
        model = self._view.model()
        if event.key() == Qt.Key.Key_Down:
            self.apply()
            self._enter_list(self.into.model())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_applied = not self._timer.isActive()
            self.apply()
            if is_applied and model.rowCount() == 1:
                self._view.setCurrentIndex(model.index(0, 0))
                self._view.activated.emit(model.index(0, 0))
            elif is_applied:
                self._enter_list(self.into.model())
        elif event.key() == Qt.Key.Key_Escape and (self.text() or self._comes_and_goes):
            self.clear()
            self.apply()
            if self._comes_and_goes:
                self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)
                self.hide()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Go if nothing is typed."""
        super().focusOutEvent(event)
        if self._comes_and_goes and not self.text():
            self.hide()

    def _enter_list(self, model: QAbstractItemModel) -> None:
        if model.rowCount():
            self.into.setFocus(Qt.FocusReason.ShortcutFocusReason)
            if not self.into.currentIndex().isValid():
                self.into.setCurrentIndex(model.index(0, 0))


def _is_text(event: QKeyEvent) -> bool:
    """Whether a key types something; a space selects in lists."""
    plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    return plain and event.text().isprintable() and bool(event.text().strip())
