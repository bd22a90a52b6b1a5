"""What is said of panels and columns, and accessible names for the child widgets that Qt creates without one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QInputDialog,
    QLineEdit,
    QTabBar,
    QTableView,
    QWidget,
)

PANEL_LABELS = {
    "Members": "&Members",
    "Structure": "&Structure",
    "Byte": "&Byte",
    "Findings": "&Findings",
    "Digests": "&Digests",
    "Header": "&Header",
    "Changes": "&Changes",
    "Repair": "&Repair",
    "Requests": "Re&quests",
    "Coverage": "C&overage",
    "Reader": "Re&ader",
    "Experiment": "E&xperiment",
    "Diagram": "D&iagram",
    "Replay": "Repla&y",
}
"""The panels and their labels in the menu; the keys of the first ten are Alt and a digit."""
PANELS: dict[str, str] = {
    "Members": (
        "The files in the archive, as a tree by path or as a table. Type above to filter by name. Enter shows "
        "the content, Ctrl+E extracts."
    ),
    "Structure": (
        "The archive's fields, in the specification's words and order. Every byte belongs to one of them; "
        "bytes that no structure claims are gaps or garbage."
    ),
    "Byte": (
        "The field at the caret: value, meaning, bytes and section of the specification. Below, the bytes at "
        "the caret read as numbers, times and text."
    ),
    "Findings": "What is wrong or worth knowing, with the bytes concerned. F4 goes to the next finding.",
    "Digests": (
        "Every checksum the archive records, the computed value, and whether they match. The bytes covered by "
        "the selected one are outlined."
    ),
    "Header": "Edit the entries of a TACO header. Nothing is written before Ctrl+S.",
    "Changes": "Every pending write: the old bytes and the new ones.",
    "Repair": "What can be repaired, how, and what would be lost. Nothing is written until you confirm.",
    "Requests": "Each request to S3: when, which bytes, how long it took, and why it was made.",
    "Coverage": "The keys of a dataset: ranges, gaps between them, and overlaps.",
    "Reader": (
        "What another program or the specification makes of the archive, step by step: what it reads, what that means "
        "to it, and where it stops. The bytes of the current step are selected in all views."
    ),
    "Experiment": (
        "The steps of an experiment: changes of bytes over the archive, which is never written. All that is shown "
        "follows. Save what they leave as a new file."
    ),
    "Diagram": (
        "The shape of the archive: its structures side by side, and lines from each record to what it leads to. "
        "Selecting a box selects its bytes. Arrows go from box to box, Enter shows what was left out, plus and minus "
        "zoom."
    ),
    "Replay": (
        "The archive after each write of a change, and in the middle of one: an append, a header update, a repair, an "
        "earlier write. The archive is never written. Crash points say what each reader makes of it there."
    ),
}
"""The explanation of each panel by the name of its dock."""

_MEMBERS = {
    "Name": "The path of the member in the archive; unprintable characters are escaped",
    "Verdict": "The result of checking the member's bytes",
    "Size": "The size of the decoded content in bytes",
    "Mark": "Remarks on the member",
    "Stored": "The number of bytes the member takes in the archive",
    "Codec": "The compression method",
    "Digest": "The recorded checksum of the content",
    "Offset": "The offset of the stored content in the archive",
    "Ratio": "The stored bytes in percent of the content",
}
_FIELDS = {
    "Field": "The specification's name for the field, with the colour of its bytes",
    "Value": "The value of the bytes, in the specification's notation",
    "Offset": "The offset of the field, in hexadecimal",
    "Size": "The size of the field in bytes",
    "Meaning": "What the value means",
}
COLUMNS: dict[str, dict[str, str]] = {
    "Members as a table": _MEMBERS,
    "Members as a tree": _MEMBERS,
    "Fields": _FIELDS,
    "Fields found": {**_FIELDS, "In": "The fields around it, the outermost first"},
    "Earlier writes of this program to the archive": {
        "Written": "When it was written, in local time",
        "What": "What was changed; a click shows the bytes",
    },
    "Checksums": {
        "Checksum": "What the checksum covers",
        "State": "Whether the bytes match it",
        "Algorithm": "The algorithm",
        "Stored": "The recorded value",
        "Computed": "The computed value; empty until checked",
        "Covers": "The bytes it is computed over",
    },
    "Entries of the TACO header": {
        "Entry": "The number of the entry; there are 7 at most",
        "Offset": "The offset of the part in the archive",
        "Length": "The size of the part in bytes",
        "Points to": "What the entry points to",
    },
    "Pending changes": {
        "Bytes": "The offset and size of the write",
        "Old and new bytes": "The old bytes above the new ones",
    },
    "Steps of the experiment": {
        "Step": "The number of the step; steps apply in this order",
        "What it does": "The change; a click shows its bytes, Enter changes it, Del takes it out",
    },
    "Writes of the replay": {
        "Write": "The number of the write, in the order in which the writer makes them; choosing one goes there",
        "What is written": "The fields that the bytes belong to, and whether the writer then waits for the disk",
        "Bytes": "How many bytes are written, and where",
    },
    "What each reader makes of a crash": {
        "A crash": "Where the writer stops; Enter shows the archive there",
        "Check": "The state that a check finds",
        "Repair leads": "To which state a repair leads",
    },
    "Requests to S3": {
        "When": "The time of the request",
        "Request": "The S3 operation",
        "Range": "The requested bytes",
        "Bytes": "The number of bytes received",
        "ms": "Milliseconds until the response",
        "Status": "The HTTP status",
        "Why": "Why the request was made",
        "Of": "The bucket and key",
    },
    "Steps of the reader": {
        "Step": "The number of the step, and what the reader does",
        "Value": "What the bytes mean to the reader",
        "Decision": "What follows from it",
        "Bytes": "The bytes the step is about",
    },
    "What each reader makes of this archive": {
        "Reader": "The program or specification; Enter follows it",
        "Kind": "Whether the program itself runs, or a description of it is followed",
        "Verdict": "Accepts, reads wrongly, rejects, or not known",
        "Why": "Where it stops and its message, or the number of members it gives",
    },
    "Findings": {
        "Severity": "Error: wrong. Warning: may be wrong. Info: worth knowing",
        "What was found": "What is wrong, where, and what to do",
        "Bytes": "The bytes concerned",
        "Member": "The member concerned",
        "Code": "A stable code for this kind of finding, for scripts and searches",
    },
    "What goes into the archive": {
        "Name in the archive": "The path that the file will have",
        "Size": "The size of the file in bytes",
        "From": "The current location of the file",
        "Remark": "Problems and remarks",
    },
    "Results of the audit": {
        "Location": "The audited archive",
        "State": "Whether it is sound",
        "Format": "The format of the archive",
        "Size": "Its size in bytes",
        "Members": "The number of members",
        "Errors": "The number of errors",
        "Warnings": "The number of warnings",
        "What was found": "The worst finding",
    },
    "Bytes at the caret as values": {
        "Read as": "The kind of value, its bits and the order of its bytes: LE, the least first, or BE",
        "Value": "What the bytes from the caret on are as such a value",
    },
    "Actions": {
        "Action": "The command",
        "Keys": "Its keys",
        "Menu": "Its menu",
    },
}
"""The explanation of each column, by the accessible name of its view and its title."""


# ---- accessible names ------------------------------------------------------------------------------------------------


EXTENSIONS = {"qt_menubar_ext_button": "More menus", "qt_toolbar_ext_button": "More tools"}
"""Names of overflow buttons, by their object names in Qt."""


def name_of(widget: QWidget) -> str:
    """The accessible name of a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def name_parts(root: QWidget) -> None:
    """Name the unnamed child widgets of a window or a child of it after their parents."""
    for kind, name in _NAMERS.items():
        for widget in root.findChildren(kind):
            name(widget)
    for object_name, text in EXTENSIONS.items():
        for button in root.findChildren(QAbstractButton, object_name):
            button.setAccessibleName(text)


def name_focused_window(_: QWidget | None, now: QWidget | None) -> None:
    """Name the child widgets of the window with the keyboard focus, if a screen reader is running."""
    if now is not None and QAccessible.isActive():
        name_parts(now.window())


def watch(app: QApplication) -> None:
    """Name child widgets in the window with the focus, now and whenever it changes."""
    name_focused_window(None, app.focusWidget())
    app.focusChanged.connect(name_focused_window)


def _edit(edit: QLineEdit) -> None:
    for button in edit.findChildren(QAbstractButton):
        if not name_of(button):
            button.setAccessibleName(f"Clear {name_of(edit)}".rstrip())


def _box(box: QComboBox) -> None:
    name = name_of(box)
    for child in (box.view(), box.lineEdit()):
        if child is not None and not child.accessibleName():
            child.setAccessibleName(name)


def _spin(box: QAbstractSpinBox) -> None:
    edit = box.lineEdit()
    if edit is not None and not edit.accessibleName():
        edit.setAccessibleName(name_of(box))


def _table(table: QTableView) -> None:
    for corner in table.findChildren(QAbstractButton, "qt_tableview_cornerbutton"):
        corner.setAccessibleName("Select all")


def _tabs(bar: QTabBar) -> None:
    for index in range(bar.count()):
        for side in (QTabBar.ButtonPosition.LeftSide, QTabBar.ButtonPosition.RightSide):
            button = bar.tabButton(index, side)
            if button is not None:
                button.setAccessibleName(f"Close {bar.tabText(index)}")


def _input_dialog(dialog: QInputDialog) -> None:
    for box in dialog.findChildren(QComboBox):
        box.setAccessibleName(dialog.labelText())


_NAMERS: dict[type[QWidget], Callable[..., None]] = {
    QInputDialog: _input_dialog,
    QLineEdit: _edit,
    QComboBox: _box,
    QAbstractSpinBox: _spin,
    QTableView: _table,
    QTabBar: _tabs,
}
"""Functions that name the children of a widget class. The order matters: later names build on earlier ones."""
