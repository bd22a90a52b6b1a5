"""The members: a tree of paths, the same as a flat table, and a filter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from inspector.core.verdict import State
from inspector.gui.document.document import Document
from inspector.gui.document.selection import Selection
from inspector.gui.kit.item_views import FirstColumnFits, StaysOpen, by_names, chosen_in
from inspector.gui.kit.table_models import PagedTable
from inspector.gui.kit.text import not_there_yet
from inspector.gui.kit.tree_model import PagedTree
from inspector.gui.kit.widgets import Emptiable, select_row, table_view, tree_view
from inspector.gui.panels.models.members import (
    CODEC,
    DIGEST,
    MARK,
    NAME,
    OFFSET,
    SIZE,
    SORT_KEYS,
    STORED,
    VERDICT,
    MemberColumns,
    MemberPaths,
    renamed,
)
from inspector.gui.panels.models.naming import LazyNames
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Chosen, MemberPlace, MemberRow, SortKey, Stage, TreeRow

ORIGIN = "members"
DEBOUNCE = 150
"""Milliseconds without a key before the filter is applied."""
WIDTHS = {NAME: 190, VERDICT: 122, SIZE: 98, MARK: 80, STORED: 80, CODEC: 70, DIGEST: 150, OFFSET: 90}

BROKEN = (State.TORN, State.DAMAGED)
"""States in which an archive may have members that are not seen."""


class MembersPanel(QWidget):
    """Shows the members of a document and follows its selection.

    Signals:
        menuWanted(QPoint): the menu of the selected members is wanted at a place of the screen.
    """

    menuWanted = Signal(QPoint)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._navigation = False
        self._placed: int | None = None
        self._judged = 0
        self._naming = LazyNames(document.client, self)
        self.table_model = PagedTable(MemberColumns(document.client, self._naming), self)
        self.tree_model = PagedTree(MemberPaths(document.client, self._naming), self)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter names")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName("Filter members by name")
        self.tree = tree_view(self.tree_model, WIDTHS, "Members as a tree")
        self.table = table_view(self.table_model, WIDTHS, "Members as a table")
        self._fits = [FirstColumnFits(view, SIZE) for view in (self.tree, self.table)]
        StaysOpen(self.tree, by_names)
        for view in (self.tree, self.table):
            view.setColumnHidden(VERDICT, True)
            view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._stack = Emptiable(self.tree, self.table)
        self._buttons = QButtonGroup(self)
        self.as_tree = self._button("Tree", "Members in their folders")
        self.as_table = self._button("Table", "All members in one table; click a column's title to sort")
        self.as_tree.setChecked(True)
        self._lay_out()
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(DEBOUNCE)
        self._debounce.timeout.connect(self._apply_filter)
        self._connect()
        self._choose_view()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        self._buttons.addButton(button)
        return button

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 4, 4, 4)
        bar.setSpacing(2)
        bar.addWidget(self.filter, 1)
        bar.addSpacing(4)
        bar.addWidget(self.as_tree)
        bar.addWidget(self.as_table)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack)
        header = self.table.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def _connect(self) -> None:
        document = self._document
        self._naming.named.connect(self._show_names)
        document.rowsChanged.connect(self._naming.forget)
        document.rowsChanged.connect(self.table_model.refetch)
        document.rowsChanged.connect(self._renew_tree)
        document.arranged.connect(self.table_model.refetch)
        document.arranged.connect(self._follow_again)
        document.planted.connect(self._planted)
        document.statusChanged.connect(self._choose_view)
        document.statusChanged.connect(self._show_verdicts)
        document.selected.connect(self._follow)
        self.tree_model.revealed.connect(self._show_revealed)
        self.tree_model.rowsInserted.connect(self._choose_view)
        self.table_model.rowsInserted.connect(self._choose_view)
        self.table_model.rowsRemoved.connect(self._choose_view)
        self._buttons.buttonClicked.connect(self._choose_view)
        self.filter.textChanged.connect(self._debounce.start)
        self.filter.returnPressed.connect(self._apply_filter)
        self.table.horizontalHeader().sectionClicked.connect(self._sort)
        for view in (self.tree, self.table):
            view.selectionModel().currentRowChanged.connect(self._chosen)
            view.activated.connect(self._open)
            view.customContextMenuRequested.connect(self._want_menu)

    # ---- choosing what to show ---------------------------------------------------------------------------------

    @property
    def view(self) -> QAbstractItemView:
        """The view that is wanted; while members are still coming in it is the table, which can grow."""
        decoding = self._document.status.stage in (Stage.OPENING, Stage.DECODING)
        return self.table if self.as_table.isChecked() or decoding else self.tree

    def empty_sentence(self) -> str:
        """Why there is nothing to see, empty where there is."""
        return self._stack.shown_sentence()

    def _show_verdicts(self) -> None:
        """There are verdicts from when a check has come to the first one."""
        status = self._document.status
        if status.judged != self._judged:
            self._judged = status.judged
            self.table_model.refetch()
            self._renew_tree()
        if self.tree.isColumnHidden(VERDICT) and (status.checked or status.judged):
            for view in (self.tree, self.table):
                view.setColumnHidden(VERDICT, False)
            for fits in self._fits:
                fits.fit()

    def _show_names(self, named: dict[int, MemberRow]) -> None:
        for model in (self.table_model, self.tree_model):
            model.change(partial(renamed, named))

    def _renew_tree(self) -> None:
        self.tree_model.renew()
        self.tree.viewport().update()

    def _choose_view(self, *_: object) -> None:
        if self.table_model.rowCount():
            if self._stack.currentWidget() is not self.view:
                self._stack.show_view(self.view)
                self._follow_again()
        else:
            self._stack.show_sentence(self._why_empty())

    def _why_empty(self) -> str:
        status = self._document.status
        if early := not_there_yet(status.stage):
            return early
        if self._document.filter:
            return "No member's name contains this text."
        if status.state in BROKEN:
            return (
                "No member was found: the archive is damaged before the first one. Repair… (Ctrl+M) shows what "
                "may help."
            )
        return "These bytes have no members." if status.format == "bytes" else "The archive has no members."

    # ---- filtering and sorting ---------------------------------------------------------------------------------

    def _apply_filter(self) -> None:
        self._debounce.stop()
        if self.filter.text() != self._document.filter:
            self._document.arrange(self.filter.text(), *self._document.sort)

    def _sort(self, column: int) -> None:
        key = SORT_KEYS[column]
        header = self.table.horizontalHeader()
        old, descending = self._document.sort
        if key is None or (key is old and descending):
            # The third click brings back the order of the archive.
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self._document.arrange(self._document.filter, SortKey.ARCHIVE, False)
            return
        descending = key is old
        header.setSortIndicator(column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
        self._document.arrange(self._document.filter, key, descending)

    # ---- the selection -----------------------------------------------------------------------------------------

    def _member_at(self, index: QModelIndex) -> MemberRow | None:
        model = index.model()
        row = model.row(index) if isinstance(model, PagedTree | PagedTable) else None
        return row.member if isinstance(row, TreeRow) else row

    def _chosen(self, index: QModelIndex) -> None:
        member = self._member_at(index)
        if not self._navigation and member is not None:
            self._placed = member.index
            self._document.select_member(member.index, ORIGIN)

    def chosen(self) -> Chosen:
        """The members and folders that are selected."""
        return chosen_in(self.view)

    @property
    def has_keyboard(self) -> bool:
        """Whether the keyboard is in the list of members."""
        return self.view.hasFocus()

    def drag_with(self, files: Callable[[Chosen], QMimeData | None]) -> None:
        """Let what is selected be dragged out of the window, as ``files`` makes it."""
        for view, model in ((self.tree, self.tree_model), (self.table, self.table_model)):
            model.give = lambda view=view: files(chosen_in(view))
            view.setDragEnabled(True)
            view.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)

    def _want_menu(self, place: QPoint) -> None:
        view = self.view
        if not view.indexAt(place).isValid() and view.hasFocus() and view.currentIndex().isValid():
            place = view.visualRect(view.currentIndex()).center()  # asked for with the keyboard
        if view.indexAt(place).isValid():
            self.menuWanted.emit(view.viewport().mapToGlobal(place))

    def _open(self, index: QModelIndex) -> None:
        member = self._member_at(index)
        if member is not None and not member.folder:
            self._document.open_content(member.index)

    def _planted(self) -> None:
        self.tree_model.refetch()
        self.tree_model.fetchMore(QModelIndex())
        self._follow_again()

    def _follow_again(self) -> None:
        self._placed = None
        self._follow(self._document.selection)

    def _follow(self, selection: Selection) -> None:
        if selection.member == self._placed:
            return
        self._placed = member = selection.member
        if member is None:
            self._set_current(QModelIndex(), False)
            return

        def placed(place: MemberPlace) -> None:
            if self._placed == member:
                self._show_place(place)

        self._document.client.ask(ArchiveRequests.place, member).then(placed)

    def _show_place(self, place: MemberPlace) -> None:
        if self.view is self.table:
            self._set_current(QModelIndex() if place.flat is None else self.table_model.index(place.flat, 0), True)
        elif place.tree:
            self.tree_model.reveal(place.tree)
        else:
            self._set_current(QModelIndex(), False)

    def _show_revealed(self, index: QModelIndex) -> None:
        self._set_current(index, True)

    def _set_current(self, index: QModelIndex, scroll: bool) -> None:
        self._navigation = True
        select_row(self.view, index, scroll and self._document.selection.origin != ORIGIN)
        if not index.isValid():
            self.view.clearSelection()
        self._navigation = False
