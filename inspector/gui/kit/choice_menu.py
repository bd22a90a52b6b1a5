"""A menu that offers what a setting may be, the present one marked."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from inspector.gui.kit.setting import Choice
from inspector.gui.kit.settings import Settings


class ChoiceMenu(QMenu):
    """Sets a setting; it follows where that is set elsewhere."""

    def __init__(self, title: str, setting: Choice, settings: Settings, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._setting = setting
        self._settings = settings
        group = QActionGroup(self)
        self._by_value: dict[str, QAction] = {}
        for value in setting.words:
            action = self.addAction(setting.called(value))
            action.setCheckable(True)
            action.triggered.connect(partial(self._choose, value))
            group.addAction(action)
            self._by_value[value] = action
        self.aboutToShow.connect(self._mark)
        self._mark()

    def _choose(self, value: str, _: bool = False) -> None:
        self._settings.put(self._setting, value)

    def _mark(self) -> None:
        self._by_value[self._settings.get(self._setting)].setChecked(True)
