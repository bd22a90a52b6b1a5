"""A box to choose from whose text has an ellipsis where it is too long: Qt's own cuts it off."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter


class ElidedBox(QComboBox):
    """Leaves out the middle of the text that is chosen; whoever fills it says all of it in a tooltip."""

    def paintEvent(self, _: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        place = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        middle = Qt.TextElideMode.ElideMiddle
        option.currentText = self.fontMetrics().elidedText(option.currentText, middle, place.width() - 4)
        painter = QStylePainter(self)
        try:
            painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
            painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        finally:
            painter.end()
