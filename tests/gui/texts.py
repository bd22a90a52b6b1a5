"""All the texts that widgets show or say, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QDialogButtonBox,
    QDockWidget,
    QFileDialog,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QTabBar,
    QTableView,
    QTreeView,
    QWidget,
)

OWN = "inspector."
OF_QT = "All Files (*)"
PARTS = "inspector.gui.kit.widgets"
_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the module of the nearest class of this project that it is in, and which part of that (Class.name)."""

    words: str
    module: str
    place: str


def texts_of(root: QWidget) -> Iterator[Text]:
    """The texts of a widget and of everything in it, hidden or not, but for what Qt makes and translates itself."""
    named = _names(root)
    for thing in (root, *root.findChildren(QObject)):
        if isinstance(thing, QWidget | QAction) and not _of_qt(thing):
            owner, place = _owner(thing, named)
            yield from (Text(words, owner, place) for words in _said(thing) if words)


def _names(root: QWidget) -> dict[int, tuple[str, str]]:
    """What the classes of this project call the widgets and actions that they hold, and the modules of those."""
    found: dict[int, tuple[str, str]] = {}
    for owner in (root, *root.findChildren(QObject)):
        if _is_own(owner):
            for name, value in vars(owner).items():
                for each in (
                    value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
                ):
                    if isinstance(each, QObject):
                        found.setdefault(id(each), (type(owner).__module__, f"{type(owner).__name__}.{name}"))
    return found


def _owner(thing: QObject, named: dict[int, tuple[str, str]]) -> tuple[str, str]:
    """Whose words a thing says: the module of the nearest class of this project outwards, and the part of that."""
    above: QObject | None = thing
    while above is not None:
        module, place = named.get(id(above), ("", ""))
        if _is_own(above):
            return type(above).__module__, place if place and above is thing else type(above).__name__
        if module:
            return module, place
        above = above.parent()
    return "", ""


def _is_own(thing: QObject) -> bool:
    """Whether a class of this project says words of its own: parts of panels say those of the panels."""
    module = type(thing).__module__
    return module.startswith(OWN) and module != PARTS


def _of_qt(thing: QObject) -> bool:
    """Whether Qt made a thing, or fills it with words that are its own, or with those of what it belongs to."""
    if thing.objectName().startswith("qt_"):
        return True
    box = thing.parent()
    if isinstance(box, QTabBar):
        return True
    if isinstance(box, QDialogButtonBox) and isinstance(thing, QAbstractButton):
        return box.standardButton(thing) is not QDialogButtonBox.StandardButton.NoButton
    above = thing.parent()
    while above is not None:
        if isinstance(above, QFileDialog | QLineEdit | QPlainTextEdit | QComboBox | QHeaderView):
            return True
        above = above.parent()
    return False


def _said(thing: QWidget | QAction) -> Iterator[str]:
    yield from (thing.toolTip(), thing.statusTip(), thing.whatsThis())
    if isinstance(thing, QAction):
        yield thing.text()
        return
    yield from (thing.accessibleName(), thing.accessibleDescription())
    if thing.isWindow() or isinstance(thing, QDockWidget):
        yield thing.windowTitle()
    for kind, texts in _OF_KIND.items():
        if isinstance(thing, kind):
            yield from texts(thing)


def _of_view(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if model is not None and isinstance(view, QTreeView | QTableView):
        for column in range(model.columnCount()):
            for role in _ROLES:
                yield str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")


_OF_KIND = {
    QLabel: lambda label: (label.text(),),
    QAbstractButton: lambda button: (button.text(),),
    QLineEdit: lambda edit: (edit.placeholderText(),),
    QGroupBox: lambda box: (box.title(),),
    QMenu: lambda menu: (menu.title(),),
    QSpinBox: lambda box: (box.specialValueText(), box.prefix(), box.suffix()),
    QComboBox: lambda box: [box.itemText(at) for at in range(box.count())],
    QTabBar: lambda bar: [text for at in range(bar.count()) for text in (bar.tabText(at), bar.tabToolTip(at))],
    QAbstractItemView: _of_view,
    QFileDialog: lambda dialog: [text for text in dialog.nameFilters() if text != OF_QT],
}
