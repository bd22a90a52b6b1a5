"""The members of a document as a tree and as a table, with a filter by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QToolButton, QWidget

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded
from inspector.core.verdict import State, Verdict
from inspector.gui.document.document import Document, Selection
from inspector.gui.ipc.client import Client
from inspector.gui.kit.building import dressed, in_column, in_row
from inspector.gui.kit.icons import icon, icon_of
from inspector.gui.kit.item_views import ExpandedRows, FirstColumnFitter, PagedTree, by_names, selected_members
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column, Deliver, PagedTable, cell, widths
from inspector.gui.kit.text import loading_text, short
from inspector.gui.kit.widgets import Emptiable, FilterLine, debounce, select_row, table_view, tree_view
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Chosen, MemberPlace, MemberRow, Page, SortKey, Stage, TreeRow

_VERDICT_TIPS = {
    Verdict.VERIFIED: "Its bytes match a recorded checksum.",
    Verdict.MISMATCH: "Its bytes do not match the recorded checksum.",
    Verdict.DOUBTFUL: "A checksum over this and other members does not match or is lost, or its bytes may lie "
    "elsewhere: it may be intact or not.",
    Verdict.NOT_CHECKABLE: "No checksum is recorded for it.",
    Verdict.NOT_CHECKED: "Its bytes have not been checked yet.",
}
NOT_READ = "Its header has not been read yet; the metadata file next to the archive locates it."

MAX_NAMES_PER_REQUEST = 200
"""Names per request."""
COLLECT_MS = 60
"""Milliseconds to collect rows in view before their names are requested."""

ORIGIN = "members"


def _bytes(row: MemberRow, size: int) -> str:
    return "…" if not row.read else "" if row.folder and not size else grouped(size)


def _ratio(row: MemberRow) -> str:
    """The stored bytes in percent of the content."""
    return f"{100 * row.stored / row.size:.0f} %" if row.read and row.size and not row.folder else ""


def _size_tip(size: int) -> str:
    return f"{in_bytes(size)} ({rounded(size)})" if size >= 1024 else in_bytes(size)


def _in_header(tip: Callable[[MemberRow], str]) -> Callable[[MemberRow], str]:
    """The tip of a column that is not known before the header of the member has been read."""
    return lambda row: tip(row) if row.read else NOT_READ


def _name_icon(row: MemberRow) -> QIcon:
    return icon_of(row.wrong) if row.wrong is not None else icon("folder" if row.folder else "file")


COLUMNS = (
    Column(
        "Name",
        lambda row: short(row.name) if row.read else f"{short(row.name)}…",
        190,
        _in_header(lambda row: row.name),
        _name_icon,
        sort=SortKey.NAME,
    ),
    Column(
        "Verdict",
        lambda row: row.verdict.value,
        122,
        lambda row: _VERDICT_TIPS[row.verdict],
        lambda row: icon_of(row.verdict),
    ),
    Column(
        "Size",
        lambda row: _bytes(row, row.size),
        98,
        _in_header(lambda row: _size_tip(row.size)),
        is_number=True,
        sort=SortKey.SIZE,
    ),
    Column(
        "Mark",
        lambda row: row.wrong.value if row.wrong is not None else "",
        80,
        icon=lambda row: icon_of(row.wrong) if row.wrong is not None else None,
    ),
    Column(
        "Stored",
        lambda row: _bytes(row, row.stored),
        80,
        _in_header(lambda row: _size_tip(row.stored)),
        is_number=True,
        sort=SortKey.STORED,
    ),
    Column("Codec", lambda row: row.codec, 70, sort=SortKey.CODEC),
    Column("Digest", lambda row: row.digest, 150, sort=SortKey.DIGEST),
    Column(
        "Offset",
        lambda row: hexadecimal(row.offset, 8) if row.offset >= 0 else "",
        90,
        lambda row: f"byte {grouped(row.offset)} of the file" if row.offset >= 0 else None,
        is_number=True,
        sort=SortKey.OFFSET,
    ),
    Column("Ratio", _ratio, 80, _in_header(_ratio), is_number=True),
)
"""The columns from left to right; the first ones have names, for the panel treats them each in its own way."""
NAME, VERDICT, SIZE = range(3)


def _folder_tip(row: TreeRow) -> str:
    return row.name + (f"\nThe worst finding beneath: {row.wrong.value}" if row.wrong is not None else "")


def _folder_verdict(row: TreeRow) -> str:
    """The worst verdict beneath a folder, and how many have it where they are not all; only an icon before a check."""
    if row.verdict is None or row.verdict is Verdict.NOT_CHECKED:
        return ""
    return row.verdict.value if row.number >= row.members else f"{grouped(row.number)} {row.verdict.value}"


FOLDER_COLUMNS = {
    NAME: Column(
        "Name",
        lambda row: row.name,
        tip=_folder_tip,
        icon=lambda row: icon("folder") if row.wrong is None else icon_of(row.wrong),
    ),
    VERDICT: Column(
        "Verdict",
        _folder_verdict,
        tip=lambda row: f"The worst beneath. {_VERDICT_TIPS[row.verdict]}" if row.verdict is not None else None,
        icon=lambda row: icon_of(row.verdict) if row.verdict is not None else None,
    ),
    SIZE: Column("Size", lambda row: count(row.members, "member"), tip=lambda _: None, is_number=True),
}
"""What is said of a folder, which stands for all beneath it."""

INCOMPLETE_STATES = (State.TORN, State.DAMAGED)
"""States in which members may be missing from the list."""


class MembersPanel(QWidget):
    """Shows the members of a document and follows its selection.

    Signals:
        menuWanted(QPoint): show the context menu of the selected members at this point of the screen.
    """

    menuWanted = Signal(QPoint)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._is_following = False
        self._followed: int | None = None
        self._judged = 0
        self._lazy_names = LazyNames(document.client, self)
        self.table_model = PagedTable(
            COLUMNS,
            lambda first, number, deliver: document.client.ask(ArchiveRequests.member_rows, first, number).then(
                deliver
            ),
            self,
            self._lazy_names.request,
        )
        self.tree_model = MemberPaths(document.client, self._lazy_names, self)
        self.tree = tree_view(self.tree_model, widths(COLUMNS), "Members as a tree")
        self.table = table_view(self.table_model, widths(COLUMNS), "Members as a table")
        self.filter = FilterLine(self.table, "Filter names", "Filter members by name")
        self._fits = [FirstColumnFitter(view, SIZE) for view in (self.tree, self.table)]
        ExpandedRows(self.tree, by_names)
        self.stack = Emptiable(self.tree, self.table)
        self._buttons = QButtonGroup(self)
        tip = "All members in one table; click a column's title to sort"
        self.as_tree = dressed(QToolButton(), text="Tree", toolTip="Members in their folders", checkable=True)
        self.as_table = dressed(QToolButton(), text="Table", toolTip=tip, checkable=True)
        self.as_tree.setChecked(True)
        for button in (self.as_tree, self.as_table):
            self._buttons.addButton(button)
        bar = in_row((self.filter, 1), self.as_tree, self.as_table, edge=GRID, gap=GRID)
        self.setFocusProxy(self.stack)
        in_column(bar, self.stack, on=self)
        header = self.table.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sectionClicked.connect(self._sort)
        self._lazy_names.named.connect(self._show_names)
        for renew in (self._lazy_names.forget, self.table_model.refetch, self._reload_tree):
            document.rowsChanged.connect(renew)
        document.arranged.connect(self.table_model.refetch)
        document.arranged.connect(self._follow_again)
        document.treeReady.connect(self._tree_ready)
        document.statusChanged.connect(self._show_verdicts)
        document.selected.connect(self._follow)
        for changed in (
            *(document.statusChanged, self._buttons.buttonClicked, self.tree_model.rowsInserted),
            *(self.table_model.rowsInserted, self.table_model.rowsRemoved),
        ):
            changed.connect(self._update_view)
        self.tree_model.revealed.connect(lambda index: self._set_current(index, True))
        self.filter.applied.connect(lambda text: document.arrange(text, *document.sort))
        for view in (self.tree, self.table):
            view.setColumnHidden(VERDICT, True)
            view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            view.selectionModel().currentRowChanged.connect(self._select)
            view.activated.connect(self._open)
            view.customContextMenuRequested.connect(self._request_menu)
        self._update_view()

    # ---- tree or table -----------------------------------------------------------------------------------------

    @property
    def view(self) -> QAbstractItemView:
        """The current view; while members are still being read it is the table, which can grow."""
        decoding = self._document.status.stage in (Stage.OPENING, Stage.DECODING)
        return self.table if self.as_table.isChecked() or decoding else self.tree

    def _show_verdicts(self) -> None:
        """Show the verdict column from the first verdict on."""
        status = self._document.status
        if status.judged != self._judged:
            self._judged = status.judged
            self.table_model.refetch()
            self._reload_tree()
        if self.tree.isColumnHidden(VERDICT) and (status.checked or status.judged):
            for view in (self.tree, self.table):
                view.setColumnHidden(VERDICT, False)
            for fits in self._fits:
                fits.fit()

    def _show_names(self, named: dict[int, MemberRow]) -> None:
        for model in (self.table_model, self.tree_model):
            model.change(partial(with_new_name, named))

    def _reload_tree(self) -> None:
        self.tree_model.renew()
        self.tree.viewport().update()

    def _update_view(self, *_: object) -> None:
        if self.table_model.rowCount():
            if self.stack.currentWidget() is not self.view:
                self.filter.into = self.view
                self.stack.show_view(self.view)
                self._follow_again()
        else:
            filtered = bool(self._document.filter)
            self.stack.show_sentence(self._why_empty(), *(("Clear the Filter", self.filter.clear) if filtered else ()))

    def _why_empty(self) -> str:
        status, filtered = self._document.status, bool(self._document.filter)
        reason = loading_text(status.stage)
        if status.members and status.stage is not Stage.FAILED and not (filtered and not reason):  # rows are to arrive
            return f"Reading… {grouped(status.members)} so far"
        if reason:
            return reason
        if filtered:
            return "No match: no member's name contains this text."
        if status.state in INCOMPLETE_STATES:
            return (
                "No member was found: the archive is damaged before the first one. Plan Repairs… (Ctrl+M) shows "
                "possible repairs."
            )
        return "These bytes have no members." if status.format == "bytes" else "The archive has no members."

    # ---- filtering and sorting ---------------------------------------------------------------------------------

    def _sort(self, column: int) -> None:
        """Sort by a column, then the other way round; the third click restores archive order."""
        key, (old, was_descending) = COLUMNS[column].sort, self._document.sort
        is_off = key is None or (key is old and was_descending)
        descending = key is old and not is_off
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.table.horizontalHeader().setSortIndicator(-1 if is_off else column, order)
        self._document.arrange(self._document.filter, SortKey.ARCHIVE if is_off else key, descending)

    def _reveal_only_result(self) -> None:
        """Expand the tree to the only member that the filter leaves."""
        # The table may still hold the rows from before the filter: they are fetched beside the tree.
        client = self._document.client

        def reveal(rows: Page[MemberRow]) -> None:
            if rows.total == 1:
                asked = client.ask(ArchiveRequests.place, rows.rows[0].index)
                asked.then(lambda place: self.tree_model.reveal(place.tree))

        if self._document.filter:
            client.ask(ArchiveRequests.member_rows, 0, 1).then(reveal)

    def chosen_name(self) -> str | None:
        """The full path of the current member; None if it is a folder, or there is none."""
        row = self._member_at(self.view.currentIndex())
        return None if row is None or row.folder else row.name

    def copy_paths(self) -> None:
        """Copy the full paths of the selected members, one a line."""
        rows = (self._member_at(index) for index in self.view.selectionModel().selectedRows())
        QGuiApplication.clipboard().setText("\n".join(row.name for row in rows if row is not None))

    # ---- the selection -----------------------------------------------------------------------------------------

    def _member_at(self, index: QModelIndex) -> MemberRow | None:
        row = self.tree_model.row(index) if index.model() is self.tree_model else self.table_model.row(index)
        return row.member if isinstance(row, TreeRow) else row

    def _select(self, index: QModelIndex) -> None:
        member = self._member_at(index)
        if not self._is_following and member is not None:
            self._followed = member.index
            self._document.select_member(member.index, ORIGIN)

    def chosen(self) -> Chosen:
        """The selected members and folders."""
        return selected_members(self.view)

    def drag_with(self, files: Callable[[Chosen], QMimeData | None]) -> None:
        """Let the selection be dragged out of the window as the data that ``files`` creates."""
        for view, model in ((self.tree, self.tree_model), (self.table, self.table_model)):
            model.make_drag = lambda view=view: files(selected_members(view))
            view.setDragEnabled(True)
            view.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)

    def _request_menu(self, place: QPoint) -> None:
        view = self.view
        if not view.indexAt(place).isValid() and view.hasFocus() and view.currentIndex().isValid():
            place = view.visualRect(view.currentIndex()).center()  # opened with the keyboard
        if view.indexAt(place).isValid():
            self.menuWanted.emit(view.viewport().mapToGlobal(place))

    def _open(self, index: QModelIndex) -> None:
        member = self._member_at(index)
        if member is not None and not member.folder:
            self._document.open_content(member.index)

    def _tree_ready(self) -> None:
        self.tree_model.refetch()
        self.tree_model.fetchMore(QModelIndex())
        self._follow_again()
        self._reveal_only_result()

    def _follow_again(self) -> None:
        self._followed = None
        self._follow(self._document.selection)

    def _follow(self, selection: Selection) -> None:
        if selection.member == self._followed:
            return
        self._followed = member = selection.member
        if member is None:
            self._set_current(QModelIndex(), False)
            return

        def show(place: MemberPlace) -> None:
            if self._followed != member:
                return
            if self.view is self.tree and place.tree:
                self.tree_model.reveal(place.tree)
            else:
                row = place.flat if self.view is self.table else None
                self._set_current(QModelIndex() if row is None else self.table_model.index(row, 0), True)

        self._document.client.ask(ArchiveRequests.place, member).then(show)

    def _set_current(self, index: QModelIndex, scroll: bool) -> None:
        self._is_following = True
        select_row(self.view, index, scroll and self._document.selection.origin != ORIGIN)
        if not index.isValid():
            self.view.clearSelection()
        self._is_following = False


def with_new_name(named: dict[int, MemberRow], row: MemberRow | TreeRow) -> MemberRow | TreeRow:
    """The row with its member replaced by the one in ``named``, or the same row if it is not there."""
    if isinstance(row, MemberRow):
        return named.get(row.index, row)
    old = row.member
    if old is None or old.index not in named:
        return row
    new = named[old.index]
    name = new.name[len(old.name) - len(row.name) :] if old.name.endswith(row.name) else row.name
    return replace(row, member=new, name=name)


class MemberPaths(PagedTree):
    """Members as a tree of paths, folders first."""

    def __init__(self, client: Client[ArchiveRequests], lazy_names: LazyNames, parent: QObject) -> None:
        super().__init__(COLUMNS, 0, parent)
        self._client = client
        self._lazy_names = lazy_names

    def fetch(self, key: Any, first: int, count: int, deliver: Deliver) -> None:
        self._client.ask(ArchiveRequests.tree_rows, key, first, count).then(deliver)

    def key(self, row: TreeRow) -> Any | None:
        return row.node if row.node >= 0 else None

    def cell(self, row: TreeRow, column: int, role: int) -> Any:
        member = row.member
        if row.node >= 0 or member is None:
            return cell(FOLDER_COLUMNS[column], row, role) if column in FOLDER_COLUMNS else None
        self._lazy_names.request(member)
        is_name = column == NAME and role == Qt.ItemDataRole.DisplayRole
        return super().cell(replace(member, name=row.name) if is_name else member, column, role)


class LazyNames(QObject):
    """Requests names of members that are painted, in batches. Old requests are dropped: painting repeats them.

    Signals:
        named(object): rows that now have names, as a dict by member index.
    """

    named = Signal(object)

    def __init__(self, client: Client[ArchiveRequests], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._requested: dict[int, None] = {}
        self._sent: set[int] = set()
        self._is_waiting = False
        self._timer = debounce(self, COLLECT_MS, self._send)

    def request(self, row: MemberRow) -> None:
        """Request the name of a member in view unless it is known."""
        if not row.read and row.index not in self._sent:
            self._requested.pop(row.index, None)
            self._requested[row.index] = None
            if not self._timer.isActive():  # restarting it with each row would postpone it as long as rows are painted
                self._timer.start()

    def forget(self) -> None:
        """Forget all requests: the members have changed."""
        self._requested.clear()
        self._sent.clear()

    def _send(self, *_: object) -> None:
        if self._is_waiting or not self._requested:
            return
        numbers = sorted(list(self._requested)[-MAX_NAMES_PER_REQUEST:])
        self._requested.clear()
        self._sent.update(numbers)
        self._is_waiting = True
        job = self._client.start(ArchiveRequests.name_members, tuple(numbers))
        job.then(lambda rows: self.named.emit({row.index: row for row in rows}))
        job.finished.connect(self._job_finished)

    def _job_finished(self) -> None:
        self._is_waiting = False
        self._timer.start()
