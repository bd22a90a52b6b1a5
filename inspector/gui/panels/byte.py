"""The panel about the byte at the caret: its field, value, specification, findings and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFormLayout, QLabel, QScrollArea, QSizePolicy, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans, total
from inspector.gui.document.document import Document, Selection
from inspector.gui.kit.building import dressed, in_column, in_form, in_row, page_of, scrolling
from inspector.gui.kit.icons import Picture, icon_of
from inspector.gui.kit.style import GRID, TextSize, font_of, secondary
from inspector.gui.kit.text import breakable, path_text, short
from inspector.gui.kit.widgets import SelectableLabel, sentence_label
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Explanation, LayerKind, MemberPlace, MemberRow, Reference

MAX_SPANS = 6
"""Spans of a field that are listed."""
MAX_FINDINGS = 8
MIN_WIDTH_PX = 160
"""Pixels: narrow enough to dock, wide enough to read each word."""
MIN_WIDTH_BESIDE_PX = 240
"""Pixels of the panel from which captions stand beside their values."""
MAX_VALUE_CHARS = 4_000
"""Characters of a value that are shown."""

CAPTIONS = ("Value", "Meaning", "Kind", "Bytes", "Size", "Looks like", "Member", "In member", "Specification")
"""The captions of the form, in their order."""
OF_FIELD = ("Value", "Meaning", "Kind", "Bytes", "Size", "Specification")
"""Those of what the field says; the others are of the byte and its member."""


def spans_text(spans: Spans) -> str:
    """Half-open spans in hexadecimal and decimal, one per line."""
    shown = [
        f"{hexadecimal(start)}..{hexadecimal(stop)}\n{grouped(start)}..{grouped(stop)}"
        for start, stop in spans[:MAX_SPANS]
    ]
    if len(spans) > MAX_SPANS:
        shown.append(f"and {len(spans) - MAX_SPANS} more")
    return "\n".join(shown)


class BytePanel(QScrollArea):
    """Describes the selected field, or that of the byte at the caret, with its member and the findings on it."""

    def __init__(self, document: Document, inspector: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._member: int | None = None
        self._row: MemberRow | None = None
        self._place: MemberPlace | None = None
        self.path, self.title = (dressed(SelectableLabel(), name) for name in ("Field path", "Field"))
        self.title.setFont(font_of(self.title, TextSize.TITLE))
        self.facts = {name: dressed(SelectableLabel(), name) for name in CAPTIONS}
        self._form = in_form(*((secondary(QLabel(name)), fact) for name, fact in self.facts.items()))
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._form.setContentsMargins(0, GRID, 0, 0)
        self._form.setHorizontalSpacing(3 * GRID)
        self._form.setVerticalSpacing(GRID)
        self.references = ReferenceLinks(document)
        self.findings = in_column(gap=2 * GRID)
        body = QWidget(self.viewport())
        about = in_column(self.path, self.title, self._form, self.references, self.findings, gap=GRID)
        in_column(about, inspector, 1, on=body, edge=2 * GRID, gap=3 * GRID)
        scrolling(body, self)
        self.setMinimumWidth(MIN_WIDTH_PX)
        self.setAccessibleName("What this byte is")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        document.selected.connect(self._show_selection)
        document.explained.connect(self._show_explanation)
        document.rowsChanged.connect(self._request_member)
        for name in CAPTIONS:
            self.set_fact(name, "")
        self._show("", "Nothing is selected.")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put captions above values where the panel is narrow, else beside; Qt's own choice may be either."""
        above = self.width() < MIN_WIDTH_BESIDE_PX
        policy = QFormLayout.RowWrapPolicy.WrapAllRows if above else QFormLayout.RowWrapPolicy.DontWrapRows
        if policy is not self._form.rowWrapPolicy():
            self._form.setRowWrapPolicy(policy)
        super().resizeEvent(event)

    def set_fact(self, name: str, text: str) -> None:
        """Show a fact under its caption; an empty one is hidden."""
        self.facts[name].set_breakable(text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + "…")
        self._form.setRowVisible(self.facts[name], bool(text))

    # ---- the field ---------------------------------------------------------------------------------------------

    def _show_explanation(self, explanation: Explanation) -> None:
        """Show the selected field if it is one of those around the byte, else the innermost."""
        fields, path = explanation.fields, self._document.selection.field
        chosen = next((i for i, row in enumerate(fields) if row.path == path), len(fields) - 1)
        if chosen >= 0:
            row, role = fields[chosen], fields[chosen].role.value
            facts = {
                "Value": row.value,
                "Meaning": row.note,
                "Kind": role if row.kind == role else f"{row.kind} (shown as {role})",
                "Bytes": spans_text(row.spans),
                "Size": in_bytes(total(row.spans)),
                "Specification": next((one.specification for one in fields[chosen::-1] if one.specification), ""),
            }
            self._show(path_text(fields[:chosen]), row.name, facts, explanation.findings)
        elif not self._document.size:
            self._show("", "There are no bytes.")
        else:
            here = Span(explanation.offset, explanation.offset + 1)
            self._show("", "No field explains this byte.", {"Bytes": spans_text((here,))})

    def _show(
        self, path: str, title: str, facts: Mapping[str, str] = {}, findings: Sequence[tuple[Severity, str]] = ()
    ) -> None:
        self.path.set_breakable(path)
        self.path.setVisible(bool(path))
        self.title.set_breakable(title)
        for name in OF_FIELD:
            self.set_fact(name, facts.get(name, ""))
        while (item := self.findings.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for severity, sentence in findings[:MAX_FINDINGS]:
            self.findings.addWidget(_finding_line(severity, sentence))
        if len(findings) > MAX_FINDINGS:
            self.findings.addWidget(sentence_label(f"and {len(findings) - MAX_FINDINGS} more"))

    # ---- the member --------------------------------------------------------------------------------------------

    def _show_selection(self, selection: Selection) -> None:
        if self._document.explanation is not None:
            self._show_explanation(self._document.explanation)
        if selection.member != self._member:
            self._member = selection.member
            self._request_member()
        self._show_member()

    def _show_member(self) -> None:
        """Show the member of the byte at the caret, and where in it that is, unless it is not among its own bytes."""
        row, member = self._row, ""
        if row is not None:
            member = f"{row.name}\n{in_bytes(row.size)}, {row.codec}, {in_bytes(row.stored)} in the archive"
        self.set_fact("Member", member)
        self.set_fact("In member", self._where(row) if row is not None else "")

    def _where(self, row: MemberRow) -> str:
        """Which byte of its content or, in the file, of what is stored of it the one at the caret is."""
        here, place, name = self._document.selection, self._place, row.name.rstrip("/").rpartition("/")[2]
        info = self._document.layer_info(here.layer)
        if info is not None and info.kind is LayerKind.CONTENT:
            is_own = info.member == self._member
            return f"byte {grouped(here.caret)} of {grouped(info.size)} of {name}" if is_own else ""
        spans, before = place.spans if place is not None and place.layer == here.layer else (), 0
        for start, stop in spans:
            if start <= here.caret < stop:
                stored = f"\nas stored ({row.codec})" if row.stored != row.size else ""
                at, size = before + here.caret - start, total(spans)
                return f"byte {grouped(at)} of {grouped(size)} of {name}{stored}"
            before += stop - start
        return ""

    def _request_member(self) -> None:
        member, self._row, self._place = self._member, None, None
        self._show_member()
        if member is None:
            return

        def take(answer: MemberRow | MemberPlace) -> None:
            if self._member == member:
                if isinstance(answer, MemberRow):
                    self._row = answer
                else:
                    self._place = answer
                self._show_member()

        self._document.client.ask(ArchiveRequests.member, member).then(take)
        self._document.client.ask(ArchiveRequests.place, member).then(take)


def _finding_line(severity: Severity, sentence: str) -> QWidget:
    label = SelectableLabel()
    label.set_breakable(sentence)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    mark = Picture(icon_of(severity), 16)
    line = in_row(mark, (label, 1), edge=(0, GRID, 0, 0))
    line.setAlignment(mark, Qt.AlignmentFlag.AlignTop)
    return page_of(line)


class ReferenceLinks(QLabel):
    """Links to the targets of the selected field; hidden if it has none."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.references: tuple[Reference, ...] = ()
        self.setAccessibleName("Points to")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()
        self.linkActivated.connect(
            lambda link: document.select_checksum(self.references[int(link)], "reference")  # by its number
        )
        document.explained.connect(self._request)

    def _request(self) -> None:
        """Ask what the field leads to: once for each explanation, of which one is asked for at a time."""
        here = self._document.selection
        self._document.client.ask(ArchiveRequests.references, here.layer, here.caret, here.field).then(
            self._show_references, lambda _: self._show_references(())
        )

    def _show_references(self, references: tuple[Reference, ...]) -> None:
        self.references = references
        links = [f'<a href="{at}">{escape(breakable(short(each.words)))}</a>' for at, each in enumerate(references)]
        self.setText("<br>".join(("Points to (F12):", *links)))
        self.setVisible(bool(links))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._set_again()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._set_again()

    def _set_again(self) -> None:
        """Set the text again after a theme change: Qt colours links only then, and hidden labels get no event."""
        text = self.text()
        self.setText("")
        self.setText(text)
