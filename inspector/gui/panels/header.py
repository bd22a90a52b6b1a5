"""The editor of a TACO header: seven entries, where each leads, and what is typed checked while it is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from inspector.core.edit import Edit
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.selection import Selection
from inspector.gui.kit.flow_layout import FlowLayout
from inspector.gui.kit.text import not_there_yet
from inspector.gui.kit.widgets import Details, Emptiable, table_view
from inspector.gui.panels.header_entries import LENGTH, OFFSET, TARGET, HeaderEntries
from inspector.gui.panels.number_editor import NumberEditor
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.protocol.header_draft import (
    MAX_ENTRIES,
    HeaderDraft,
    HeaderView,
    add,
    clear,
    move,
    remove,
    set_count,
    set_entry,
    set_length,
    set_offset,
    span_target,
)
from inspector.operations.protocol.requests import ArchiveRequests

ORIGIN = "header"
WIDTHS = {0: 84, OFFSET: 190, LENGTH: 190, TARGET: 300}
Change = Callable[[HeaderDraft], HeaderDraft]


class HeaderPanel(QWidget):
    """Shows the TACO header of a document with all that is pending, and makes changes of it pending."""

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self._draft: HeaderDraft | None = None
        self._why_empty = ""
        self.model = HeaderEntries(self)
        self.table = table_view(self.model, WIDTHS, "Entries of the TACO header")
        self.table.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.table.setItemDelegate(NumberEditor(self.table, self._wrong, self._say))
        self.count = QSpinBox()
        self.count.setRange(0, MAX_ENTRIES)
        self.count.setAccessibleName("Entries in use")
        self.hexadecimal = QCheckBox("He&x")
        self.buttons = self._make_buttons()
        self.about = Details("About the TACO header")
        self._stale = self._adding = False
        self._waiting: list[Change] = []
        self._lit = Span(0, 0)
        self._marked: Span | None = None
        self._spans: Spans = ()
        self._member: int | None = None
        self._editor = self._page()
        self._stack = Emptiable(self._editor)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self.setFocusProxy(self.table)
        self._connect()
        self._refresh()

    def _make_buttons(self) -> dict[str, QPushButton]:
        made = {}
        for name, text, tip in (
            ("add", "A&dd", "Add an entry"),
            ("remove", "&Remove", "Remove the selected entry; later entries move up"),
            ("up", "&Up", "Move the selected entry up"),
            ("down", "Dow&n", "Move the selected entry down"),
            ("clear", "C&lear", "Remove all entries"),
            ("member", "Point to Mem&ber", "Point the selected entry to the data of the selected member"),
            ("bytes", "Point to B&ytes", "Point the selected entry to the selected bytes"),
        ):
            button = QPushButton(text)
            button.setToolTip(tip)
            button.setAutoDefault(False)
            made[name] = button
        return made

    def _page(self) -> QWidget:
        page = QWidget()
        tools = FlowLayout(4, 6)
        label = QLabel("&In use")
        label.setBuddy(self.count)
        tools.addWidget(label)
        tools.addWidget(self.count)
        for name in ("add", "remove", "up", "down", "clear", "member", "bytes"):
            tools.addWidget(self.buttons[name])
        tools.addWidget(self.hexadecimal)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(tools)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.about)
        return page

    def _connect(self) -> None:
        self._document.rowsChanged.connect(self._refresh)
        self._editing.changed.connect(self._pending_changed)
        self._document.statusChanged.connect(self._refresh)
        self._document.selected.connect(self._selected)
        self.model.typed.connect(self._typed)
        self.model.refused.connect(self._say)
        self.hexadecimal.toggled.connect(self.model.set_hexadecimal)
        self.count.valueChanged.connect(self._set_count)
        self.table.selectionModel().currentChanged.connect(self._current_changed)
        changes: dict[str, Callable[[int], Change]] = {
            "add": lambda _: add,
            "remove": lambda row: lambda draft: remove(draft, row),
            "up": lambda row: lambda draft: move(draft, row, row - 1),
            "down": lambda row: lambda draft: move(draft, row, row + 1),
            "clear": lambda _: clear,
        }
        for name, change in changes.items():
            self.buttons[name].clicked.connect(lambda _=False, made=change: self._change(made(self._row())))
        self.buttons["member"].clicked.connect(self.point_to_member)
        self.buttons["bytes"].clicked.connect(self.point_to_bytes)

    # ---- what is shown -----------------------------------------------------------------------------------------

    def empty_sentence(self) -> str:
        """Why there is nothing to see, empty where there is."""
        return self._stack.shown_sentence()

    def _refresh(self) -> None:
        """Ask for the header as it is with all that is pending."""
        status = self._document.status
        if (early := not_there_yet(status.stage)) or status.format != "taco" or status.collection:
            self._show_none(early or "Only TACO archives have an editable header.")
        else:
            self._document.client.ask(ArchiveRequests.header, None).then(self._take, self._show_none)

    def _show_none(self, sentence: str) -> None:
        self._draft = None
        self._waiting.clear()
        self.model.show(None)
        self._stack.show_sentence(sentence)

    def _take(self, view: HeaderView) -> None:
        if self._editing.previewing:
            return  # what is shown here already is newer
        entries = tuple((entry.offset, entry.length) for entry in view.entries)
        self._draft = HeaderDraft(min(view.count, MAX_ENTRIES), entries)
        self._show(view)
        self._stale = False
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            self._change(change)

    def _pending_changed(self) -> None:
        """Unless this panel has changed the header, it does not know what it is now before it has been read."""
        self._stale = self._stale or not self._adding

    def _add(self, edit: Edit) -> None:
        self._adding = True
        self._editing.add(edit)
        self._adding = False

    def _show(self, view: HeaderView) -> None:
        self.model.show(view)
        self.count.blockSignals(True)
        self.count.setValue(min(view.count, MAX_ENTRIES))
        self.count.blockSignals(False)
        self._stack.show_view(self._editor)
        self._say("")
        self._enable()
        self._light_up(self.table.currentIndex().row())

    def _say(self, sentence: str) -> None:
        view = self.model.view
        self.about.say(sentence or (view.why_not if view is not None else ""))

    def _enable(self) -> None:
        view, draft, row = self.model.view, self._draft, self._row()
        editable = view is not None and draft is not None and not view.why_not
        used = draft.count if draft is not None else 0
        span = self._chosen()
        rules = {
            "add": used < MAX_ENTRIES,
            "remove": row < used,
            "up": 0 < row < used,
            "down": row + 1 < used,
            "clear": used > 0,
            "member": self._member is not None,
            "bytes": span is not None,
        }
        tip = "Point the selected entry to the selected bytes"
        if span is not None:
            text = "Point the selected entry to {bytes} at {offset}"
            tip = text.format(bytes=in_bytes(span.size), offset=hexadecimal(span.start))
        self.buttons["bytes"].setToolTip(tip)
        self.count.setEnabled(editable)
        for name, allowed in rules.items():
            self.buttons[name].setEnabled(editable and allowed)

    def _row(self) -> int:
        return max(0, self.table.currentIndex().row())

    def _current_changed(self, index: QModelIndex) -> None:
        self._enable()
        self._light_up(index.row())

    def _light_up(self, row: int) -> None:
        """Mark the bytes the entry in a row points to, without taking the keyboard away."""
        entry, size = self.model.entry(row), self._document.size
        if entry is None or not self.table.hasFocus():
            return
        span = Span(entry.offset, min(entry.offset + entry.length, size))
        if span.start < span.stop and span != self._lit:
            self._lit = span
            self._document.go_to(0, *self._lit, ORIGIN)

    def _wrong(self, row: int, column: int, number: int) -> str:
        """What is wrong with a number for an entry, empty for nothing."""
        entry, size = self.model.entry(row), self._editing.size
        if entry is None:
            return ""
        offset, length = (number, entry.length) if column == OFFSET else (entry.offset, number)
        if offset + length <= size:
            return ""
        text = "This points to {offset}, beyond the end of the file at {size}."
        return text.format(offset=hexadecimal(offset + length), size=hexadecimal(size))

    # ---- changing ----------------------------------------------------------------------------------------------

    def _typed(self, row: int, column: int, number: int) -> None:
        setter = set_offset if column == OFFSET else set_length
        self._change(lambda draft: setter(draft, row, number))

    def _set_count(self, count: int) -> None:
        self._change(lambda draft: set_count(draft, count))

    # What an entry can point to was chosen elsewhere: what goes through the entries itself lights up does not count.

    def set_marked(self, start: int, stop: int) -> None:
        """The bytes ``[start, stop)`` of the layer shown are selected in the hex view."""
        if Span(start, stop) != self._lit:
            self._marked = Span(start, stop) if stop > start and self._document.layer == 0 else None
            self._enable()

    def _selected(self, selection: Selection) -> None:
        if selection.origin != ORIGIN:
            self._lit = Span(0, 0)
            self._spans = selection.spans if selection.layer == 0 else ()
            self._member = selection.member
            self._enable()

    def _chosen(self) -> Span | None:
        """The stretch of the file that an entry could point to: the bytes selected, or else the field or member."""
        return self._marked or (self._spans[0] if self._spans else None)

    def point_to_bytes(self) -> None:
        """Let the current entry point to the selected bytes."""
        span, row = self._chosen(), self._row()
        if span is not None:
            self._change(lambda draft: set_entry(draft, row, span_target(span)))

    def point_to_member(self) -> None:
        """Let the current entry point to the data of the selected member."""
        member, row = self._member, self._row()
        if member is not None:
            self._document.client.ask(ArchiveRequests.header_target, member).then(
                lambda entry: self._change(lambda draft: set_entry(draft, row, entry)), self._say
            )

    def _change(self, change: Change) -> None:
        """Make a change pending; a wrong one is said and leaves all as it is."""
        if self._draft is None:
            return
        if self._stale:
            self._waiting.append(change)
            return
        try:
            draft = change(self._draft)
        except Refused as error:
            self._say(str(error))
            return
        if draft == self._draft:
            return
        self._draft = draft
        self._document.client.ask(ArchiveRequests.header, draft).then(self._show)
        self._document.client.ask(ArchiveRequests.header_edit, draft).then(self._add, self._say)
