"""The editor of a TACO header: seven entries with their targets, validated while the user types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document, Selection
from inspector.gui.document.editing import Editing
from inspector.gui.kit.building import LINE, in_column, in_row, number_of, page_of, scrolling
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column, Index, widths
from inspector.gui.kit.text import loading_text, short
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout, label_of, push_button, table_view
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.header_draft import (
    MAX_ENTRIES,
    EntryView,
    HeaderDraft,
    HeaderView,
    TacoEntry,
    move,
    parse_cell,
    remove,
    set_count,
    set_entry,
)
from inspector.operations.protocol.replay_views import StepKind, StepView
from inspector.operations.protocol.requests import ArchiveRequests

ENTRY, OFFSET, LENGTH, TARGET = range(4)
EDITABLE = (OFFSET, LENGTH)

ORIGIN = "header"
ONLY_TACO = "Only TACO archives have an editable header."
Change = Callable[[HeaderDraft], HeaderDraft]


class HeaderPanel(QWidget):
    """Shows the TACO header with the pending changes, and turns edits into pending changes."""

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self._draft: HeaderDraft | None = None
        self.model = HeaderEntriesModel(self)
        self.table = table_view(self.model, widths(self.model.columns), "Entries of the TACO header")
        self.table.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.table.setItemDelegate(NumberEditor(self.table, self._problem, self._show_message))
        self.count = number_of("Entries in use", 0, MAX_ENTRIES, 0)
        self.about = Details("About the TACO header")
        self.writes = HeaderWrites()
        self._stale = self._is_own_edit = False
        self._queued: list[Change] = []
        self._highlighted = Span(0, 0)
        self._hex_selection: Span | None = None
        self._spans: Spans = ()
        self._member: int | None = None
        self.buttons = {
            "remove": self._button("Re&move", "Remove the selected entry; later entries move up", remove),
            "up": self._button("&Up", "Move the selected entry up", lambda draft, row: move(draft, row, row - 1)),
            "down": self._button("Dow&n", "Move the selected entry down", lambda draft, row: move(draft, row, row + 1)),
            "member": push_button(
                "Point to Mem&ber", "Point the selected entry to the data of the selected member", self.point_to_member
            ),
            "bytes": push_button("Point to B&ytes", "", self.point_to_bytes),
        }
        tools = FlowLayout(GRID, 2 * GRID)
        tools.add(label_of("&In use", self.count), self.count, *self.buttons.values())
        # Side by side, because panels at the bottom are wide and low.
        rows = in_row((self.table, 3), (self.writes, 2), gap=0)
        self._editor = page_of(in_column(tools, (rows, 1), self.about, gap=GRID))
        self.stack = Emptiable(self._editor)
        in_column(self.stack, on=self)
        self.setFocusProxy(self.table)
        for changed in (document.rowsChanged, document.statusChanged):
            changed.connect(self._refresh)
        editing.changed.connect(self._pending_changed)
        document.selected.connect(self._selection_changed)
        self.model.typed.connect(self._typed)
        self.count.valueChanged.connect(lambda number: self._change(lambda draft: set_count(draft, number)))
        self.table.selectionModel().currentChanged.connect(self._current_changed)
        self._selection_changed(document.selection)
        self._refresh()

    def _button(self, text: str, tip: str, change: Callable[[HeaderDraft, int], HeaderDraft]) -> QPushButton:
        def press() -> None:
            row = self._row()
            self._change(lambda draft: change(draft, row))

        return push_button(text, tip, press)

    # ---- display -----------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Request the header with all pending changes applied."""
        status = self._document.status
        if (reason := loading_text(status.stage)) or not status.header_edited:
            self._show_none(reason or ONLY_TACO)
        else:
            self._document.client.ask(ArchiveRequests.header, None).then(self._show_current, self._show_none)

    def _show_none(self, sentence: str) -> None:
        self._draft = None
        self._queued.clear()
        self.model.show_header(None)
        self.stack.show_sentence(sentence)

    def _show_current(self, view: HeaderView) -> None:
        if self._editing.previewing:
            return  # the panel already shows a newer header
        entries = tuple((entry.offset, entry.length) for entry in view.entries)
        self._draft = HeaderDraft(min(view.count, MAX_ENTRIES), entries)
        self._show(view)
        self._stale = False
        queued, self._queued = self._queued, []
        for change in queued:
            self._change(change)

    def _pending_changed(self) -> None:
        """The draft is stale unless this panel itself made the change."""
        self._stale = self._stale or not self._is_own_edit
        self.writes.show_edit(self._editing.pending, self.model.view)

    def shows_writes(self, edit: Edit) -> bool:
        """Whether the writes of an edit are on the screen, or it makes none in the header."""
        view = self.model.view
        return view is None or not touches(edit, view) or not self.writes.visibleRegion().isEmpty()

    def _add_edit(self, edit: Edit) -> None:
        self._is_own_edit = True
        self._editing.add(edit)
        self._is_own_edit = False

    def _show(self, view: HeaderView) -> None:
        self.model.show_header(view)
        with QSignalBlocker(self.count):
            self.count.setValue(min(view.count, MAX_ENTRIES))
        self.stack.show_view(self._editor)
        self._show_message("")
        self.writes.show_edit(self._editing.pending, view)
        self._enable()
        self._highlight(self.table.currentIndex().row())

    def _show_message(self, sentence: str) -> None:
        view = self.model.view
        self.about.say(sentence or (view.why_not if view is not None else ""))

    def _enable(self) -> None:
        view, draft, row, span = self.model.view, self._draft, self._row(), self._target_span()
        editable = view is not None and draft is not None and not view.why_not
        used = draft.count if draft is not None else 0
        possible = {
            "remove": row < used,
            "up": 0 < row < used,
            "down": row + 1 < used,
            "member": self._member is not None,
            "bytes": span is not None,
        }
        where = "the selected bytes" if span is None else f"{in_bytes(span.size)} at {hexadecimal(span.start)}"
        self.buttons["bytes"].setToolTip(f"Point the selected entry to {where}")
        self.count.setEnabled(editable)
        for name, allowed in possible.items():
            self.buttons[name].setEnabled(editable and allowed)

    def _row(self) -> int:
        return max(0, self.table.currentIndex().row())

    def _current_changed(self, index: QModelIndex) -> None:
        self._enable()
        self._highlight(index.row())

    def _highlight(self, row: int) -> None:
        """Highlight the bytes an entry points to; the keyboard focus stays in the table."""
        entry, size = self.model.entry(row), self._document.size
        if entry is None or not self.table.hasFocus():
            return
        span = Span(entry.offset, min(entry.offset + entry.length, size))
        if span.start < span.stop and span != self._highlighted:
            self._highlighted = span
            self._document.go_to(0, *span, ORIGIN)

    def _problem(self, row: int, column: int, typed: int | TacoEntry) -> str:
        """Why a number, or both, are invalid for an entry, "" if they are valid."""
        entry, size = self.model.entry(row), self._editing.size
        if entry is None:
            return ""
        end = sum(_with_typed((entry.offset, entry.length), column, typed))
        beyond = f"This points to {hexadecimal(end)}, beyond the end of the file at {hexadecimal(size)}."
        return beyond if end > size else ""

    # ---- editing -----------------------------------------------------------------------------------------------

    def _typed(self, row: int, column: int, typed: int | TacoEntry) -> None:
        self._change(lambda draft: set_entry(draft, row, _with_typed(draft.entries[row], column, typed)))

    # The target of an entry is selected elsewhere: what the panel itself highlights does not count.

    def set_marked(self, start: int, stop: int) -> None:
        """Remember that ``[start, stop)`` of the shown layer is selected in the hex view."""
        if Span(start, stop) != self._highlighted:
            self._hex_selection = Span(start, stop) if stop > start and self._document.layer == 0 else None
            self._enable()

    def _selection_changed(self, selection: Selection) -> None:
        if selection.origin != ORIGIN:
            self._highlighted = Span(0, 0)
            self._spans = selection.spans if selection.layer == 0 else ()
            self._member = selection.member
            self._enable()

    def _target_span(self) -> Span | None:
        """The span an entry could point to: the selected bytes, else the selected field or member."""
        return self._hex_selection or (self._spans[0] if self._spans else None)

    def point_to_bytes(self) -> None:
        """Point the current entry to the selected bytes."""
        span, row = self._target_span(), self._row()
        if span is not None:
            self._change(lambda draft: set_entry(draft, row, (span.start, span.size)))

    def point_to_member(self) -> None:
        """Point the current entry to the data of the selected member."""
        member, row = self._member, self._row()
        if member is not None:
            self._document.client.ask(ArchiveRequests.header_target, member).then(
                lambda entry: self._change(lambda draft: set_entry(draft, row, entry)), self._show_message
            )

    def _change(self, change: Change) -> None:
        """Make a change pending; an invalid one only shows a message."""
        if self._draft is None:
            return
        if self._stale:
            self._queued.append(change)
            return
        try:
            draft = change(self._draft)
        except OperationError as error:
            self._show_message(str(error))
            return
        if draft == self._draft:
            return
        self._draft = draft
        self._document.client.ask(ArchiveRequests.header, draft).then(self._show)
        self._document.client.ask(ArchiveRequests.header_edit, draft).then(self._add_edit, self._show_message)


def _with_typed(entry: TacoEntry, column: int, typed: int | TacoEntry) -> TacoEntry:
    """An entry with the number that was typed in a column, or with both numbers."""
    if isinstance(typed, tuple):
        return typed
    return (typed, entry[1]) if column == OFFSET else (entry[0], typed)


class HeaderEntriesModel(Rows):
    """The rows of a HeaderView. The model changes nothing itself.

    Signals:
        typed(int entry, int column, object typed): a number was entered in OFFSET or LENGTH, or both as a pair.
    """

    typed = Signal(int, int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        doubt = icon_of(Severity.WARNING)
        columns = (
            Column("Entry", lambda entry: f"{entry.index}{'' if entry.used else ' (unused)'}", 84, _tip, roles=_UNUSED),
            self._number_column("Offset", lambda entry: entry.offset),
            self._number_column("Length", lambda entry: entry.length),
            Column(
                "Points to",
                lambda entry: entry.words,
                300,
                _tip,
                lambda entry: doubt if entry.doubtful else None,
                roles=_UNUSED,
            ),
        )
        super().__init__(columns, parent)
        self.view: HeaderView | None = None

    def _number_column(self, title: str, number: Callable[[EntryView], int]) -> Column:
        def font(entry: EntryView) -> QFont | None:
            before = self.view.before if self.view is not None else ()
            return _font(entry, changed=bool(before) and number(entry) != number(before[entry.index]))

        roles: dict[int, Callable[[EntryView], Any]] = {
            Qt.ItemDataRole.EditRole: lambda entry: str(number(entry)),
            Qt.ItemDataRole.FontRole: font,
        }
        return Column(title, lambda entry: grouped(number(entry)), 190, _tip, roles=roles)

    def show_header(self, view: HeaderView | None) -> None:
        """Show a header, or none."""
        shown, self.view = self.view, view
        if shown is not None and view is not None:
            self._rows = view.entries
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, TARGET))
        else:
            self.show(view.entries if view is not None else ())

    def entry(self, row: int) -> EntryView | None:
        """The entry in a row, None if there is no such row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    # ---- overrides ---------------------------------------------------------------------------------------------

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        editable = index.column() in EDITABLE and self.view is not None and not self.view.why_not
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ARG002 - of Qt
        """Emit ``typed``, unless it is no number, as the editor has said; the cell changes with the next HeaderView."""
        try:
            self.typed.emit(index.row(), index.column(), parse_cell(str(value)))
        except OperationError:
            return False
        return True


def _tip(entry: EntryView) -> str:
    offset, length = (f"{grouped(number)} ({hexadecimal(number)})" for number in (entry.offset, entry.length))
    where = f"Offset {offset}, length {length}: {short(entry.words)}."
    use = "" if entry.used else "Not in use: readers ignore it."
    doubt = "Readers cannot follow it." if entry.doubtful else ""
    return " ".join(filter(None, (where, use, doubt)))


def _font(entry: EntryView, *, changed: bool = False) -> QFont | None:
    """What is not in use leans, and what differs from the file is underlined."""
    if entry.used and not changed:
        return None
    font = QFont()
    font.setItalic(not entry.used)
    font.setUnderline(changed)
    return font


_UNUSED: dict[int, Callable[[EntryView], Any]] = {Qt.ItemDataRole.FontRole: _font}


class NumberEditor(QStyledItemDelegate):
    """Edits a number in a cell and marks invalid text at once.

    ``validate(row, column, typed)`` gives the problem with it or ""; ``show_message`` shows it.
    """

    def __init__(
        self, parent: QWidget, validate: Callable[[int, int, int | TacoEntry], str], show_message: Callable[[str], None]
    ) -> None:
        super().__init__(parent)
        self._show_message = show_message
        self._problem = validate

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName("Offset" if index.column() == OFFSET else "Length")
        editor.addAction(icon_of(Severity.ERROR), QLineEdit.ActionPosition.TrailingPosition).setVisible(False)
        row, column = index.row(), index.column()

        def validate(text: str) -> None:
            try:
                problem = self._problem(row, column, parse_cell(text))
            except OperationError as error:
                problem = str(error)
            editor.setProperty("wrong", bool(problem))
            editor.style().polish(editor)  # for the rules that look at the property
            for mark in editor.actions():  # PySide forgets the one that was given when it was added
                mark.setVisible(bool(problem))
            self._show_message(problem)

        editor.textChanged.connect(validate)
        return editor


# ---- the writes ------------------------------------------------------------------------------------------------------

BYTES_PER_LINE = 8
OTHER = "other bytes"
MIN_HEIGHT_PX = 40


class HeaderWrites(QScrollArea):
    """Shows each write of an edit with its name, its bytes old over new, and the entries before and after."""

    def __init__(self) -> None:
        super().__init__()
        self.label = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.label.setContentsMargins(*LINE)
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self, self.label):
            widget.setAccessibleName("What would be written")
        scrolling(self.label, self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.hide()

    def show_edit(self, edit: Edit | None, view: HeaderView | None) -> None:
        """Show the writes of an edit that changes the header; hide for any other, and for none."""
        if edit is None or view is None or not touches(edit, view):
            self.hide()
            return
        self.label.setText("".join((*_entries(view), *_writes(edit, view))))
        self.label.setAccessibleName("\n".join(names(edit, view)))
        self.show()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, MIN_HEIGHT_PX)


def touches(edit: Edit, view: HeaderView) -> bool:
    """Whether an edit changes bytes of the header."""
    return any(name(patch, view.places) != OTHER for patch in edit.patches)


def name(patch: Patch, places: Sequence[tuple[Span, str]]) -> str:
    """What a write changes, by its place in the header."""
    span = patch.span
    return next((words for place, words in places if place.start <= span.start and span.stop <= place.stop), OTHER)


def names(edit: Edit, view: HeaderView) -> list[str]:
    """A title for each write, in the order in which they are made."""
    steps = [
        StepView(StepKind.WRITE, patch.offset, patch.span.size, 0, name(patch, view.places), False)
        for patch in edit.patches
    ]
    return [step.title(at, len(steps)) for at, step in enumerate(steps, 1)]


def _writes(edit: Edit, view: HeaderView) -> Iterator[str]:
    family = escape(fixed_font().family(), quote=True)
    for title, patch in zip(names(edit, view), edit.patches, strict=True):
        yield f"<p style='margin:{2 * GRID}px 0 0 0'><b>{escape(title)}</b></p>"
        lines = "<br>".join(_lines(patch)) or "No byte changes."
        yield f"<pre style='margin:0; font-family:\"{family}\"'>{lines}</pre>"


def _lines(patch: Patch) -> Iterator[str]:
    """The lines of bytes that change, the old bytes over the new ones; those that differ are bold and underlined."""
    for start in range(0, len(patch.new), BYTES_PER_LINE):
        old, new = (data[start : start + BYTES_PER_LINE] for data in (patch.old, patch.new))
        if old != new:
            offset = hexadecimal(patch.offset + start, 8)
            yield f"{offset} \N{MINUS SIGN} {_marked(old, new)}"
            yield f"{' ' * len(offset)} + {_marked(new, old)}"


def _marked(data: bytes, other: bytes) -> str:
    pairs = zip(data, other, strict=True)
    return " ".join(f"{byte:02X}" if byte == there else f"<b><u>{byte:02X}</u></b>" for byte, there in pairs)


def _entries(view: HeaderView) -> Iterator[str]:
    for before, after in zip(view.before, view.entries, strict=False):
        if _said(before) != _said(after):
            words = f"<b>Entry {after.index}</b> from {escape(_said(before))} <b>to</b> {escape(_said(after))}"
            yield f"<p style='margin:0'>{words}</p>"


def _said(entry: EntryView) -> str:
    if not entry.used:
        return "unused"
    return f"{entry.words} ({in_bytes(entry.length)} at {grouped(entry.offset)})"
