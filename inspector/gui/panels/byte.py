"""The panel about the byte at the caret: its field, value, specification, findings and references."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFormLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans, total
from inspector.gui.document.document import Document, Selection
from inspector.gui.kit.building import dressed, in_column, in_form, in_row, page_of, scrolling
from inspector.gui.kit.icons import Picture, severity_icon
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

CAPTIONS = (
    *("Value", "Meaning", "Kind", "Bytes"),
    *("Size", "Looks like", "Member", "In member", "Specification"),
)
"""The captions of the form, in their order."""


def spans_text(spans: Spans) -> str:
    """Half-open spans in hexadecimal and decimal, one per line."""
    shown = [
        f"{hexadecimal(start)}..{hexadecimal(stop)}\n{grouped(start)}..{grouped(stop)}"
        for start, stop in spans[:MAX_SPANS]
    ]
    if len(spans) > MAX_SPANS:
        shown.append(f"and {len(spans) - MAX_SPANS} more")
    return "\n".join(shown)


class ByteFacts(QWidget):
    """What is known of one byte: its field with value and meaning, its place in its member, and the findings on it."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: tuple[str, ...] = ()
        """The findings about the byte."""
        self.path = dressed(SelectableLabel(), "Field path")
        self.title = dressed(SelectableLabel(), "Field")
        self.title.setFont(font_of(self.title, TextSize.TITLE))
        self.facts = {name: dressed(SelectableLabel(), name) for name in CAPTIONS}
        self._form = in_form(*((secondary(QLabel(name)), fact) for name, fact in self.facts.items()))
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._form.setContentsMargins(0, GRID, 0, 0)
        self._form.setHorizontalSpacing(3 * GRID)
        self._form.setVerticalSpacing(GRID)
        self.links = QVBoxLayout()
        """Where a panel puts what the byte leads to."""
        self.findings = in_column(gap=2 * GRID)
        in_column(self.path, self.title, self._form, self.links, self.findings, on=self, gap=GRID)

    def fit(self, width: int) -> None:
        """Put captions above values where the panel is narrow, else beside; Qt's own choice may be either."""
        above = width < MIN_WIDTH_BESIDE_PX
        policy = QFormLayout.RowWrapPolicy.WrapAllRows if above else QFormLayout.RowWrapPolicy.DontWrapRows
        if policy is not self._form.rowWrapPolicy():
            self._form.setRowWrapPolicy(policy)

    def set_fact(self, name: str, text: str) -> None:
        """Show a fact under its caption; an empty one is hidden."""
        if len(text) > MAX_VALUE_CHARS:
            text = text[:MAX_VALUE_CHARS] + "…"
        self.facts[name].set_breakable(text)
        self._form.setRowVisible(self.facts[name], bool(text))

    def clear(self, sentence: str) -> None:
        """Show a sentence and no facts."""
        self._show("", sentence, dict.fromkeys(CAPTIONS, ""), ())

    def show_explanation(self, explanation: Explanation, path: tuple[int, ...] | None = None) -> None:
        """Show what explains a byte: the field at ``path`` if it is one of those around it, else the innermost."""
        fields = explanation.fields
        chosen = next((i for i, row in enumerate(fields) if row.path == path), len(fields) - 1)
        if chosen < 0:
            self.clear("No field explains this byte.")
            self.set_fact("Bytes", spans_text((Span(explanation.offset, explanation.offset + 1),)))
            return
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

    def _show(
        self, path: str, title: str, facts: Mapping[str, str], findings: tuple[tuple[Severity, str], ...]
    ) -> None:
        self.path.set_breakable(path)
        self.path.setVisible(bool(path))
        self.title.set_breakable(title)
        for name, text in facts.items():
            self.set_fact(name, text)
        while (item := self.findings.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.sentences = tuple(sentence for _, sentence in findings)
        for severity, sentence in findings[:MAX_FINDINGS]:
            label = SelectableLabel()
            label.set_breakable(sentence)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            mark = Picture(severity_icon(severity), 16)
            line = in_row(mark, (label, 1), edge=(0, GRID, 0, 0))
            line.setAlignment(mark, Qt.AlignmentFlag.AlignTop)
            self.findings.addWidget(page_of(line))
        if len(findings) > MAX_FINDINGS:
            self.findings.addWidget(sentence_label(f"and {len(findings) - MAX_FINDINGS} more"))

    def show_member(self, row: MemberRow | None, place: MemberOffset | None) -> None:
        """Show the member that the byte belongs to, if any, and where in it the byte is."""
        member = where = ""
        if row is not None:
            member = f"{row.name}\n{in_bytes(row.size)}, {row.codec}, {in_bytes(row.stored)} in the archive"
        if row is not None and place is not None:
            at, size, is_stored = place
            stored = f"\nas stored ({row.codec})" if is_stored and row.stored != row.size else ""
            where = f"byte {grouped(at)} of {grouped(size)} of {row.name.rstrip('/').rpartition('/')[2]}{stored}"
        self.set_fact("Member", member)
        self.set_fact("In member", where)


MemberOffset = tuple[int, int, bool]
"""A byte of a member, how many it has, and whether they are counted as they are stored or as its content."""


def stored_offset(spans: Spans, offset: int) -> MemberOffset | None:
    """Where in the stored bytes of a member a byte of the file is; None if it is not among them."""
    before = 0
    for start, stop in spans:
        if start <= offset < stop:
            return before + offset - start, total(spans), True
        before += stop - start
    return None


def byte_scroll_area(body: QWidget, area: QScrollArea) -> None:
    """Let an area scroll ``body`` from top to bottom, without a frame."""
    area.setAccessibleName("What this byte is")
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scrolling(body, area)


class BytePanel(QScrollArea):
    """Describes the selected field, or the field of the byte at the caret."""

    def __init__(self, document: Document, inspector: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._member: int | None = None
        self._row: MemberRow | None = None
        self._place: MemberPlace | None = None
        self.setMinimumWidth(MIN_WIDTH_PX)
        self.about = ByteFacts()
        self.title, self.facts = self.about.title, self.about.facts
        self.references = ReferenceLinks(document)
        self.about.links.addWidget(self.references)
        body = QWidget(self.viewport())
        in_column(self.about, inspector, 1, on=body, edge=2 * GRID, gap=3 * GRID)
        byte_scroll_area(body, self)
        document.selected.connect(self._show_selection)
        document.explained.connect(self._show_explanation)
        document.rowsChanged.connect(self._request_member)
        self.about.clear("Nothing is selected.")

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.about.fit(self.width())
        super().resizeEvent(event)

    # ---- selection ---------------------------------------------------------------------------------------------

    def _show_selection(self, selection: Selection) -> None:
        if self._document.explanation is not None:
            self._show_explanation(self._document.explanation)
        if selection.member != self._member:
            self._member = selection.member
            self._request_member()
        self._show_member()

    def _show_member(self) -> None:
        """Show the member of the byte at the caret, and where in it that is, unless it is not among its own bytes."""
        here, place = self._document.selection, self._place
        info, at = self._document.layer_info(here.layer), None
        if info is not None and info.kind is LayerKind.CONTENT:
            at = (here.caret, info.size, False) if info.member == self._member else None
        elif place is not None and place.layer == here.layer:
            at = stored_offset(place.spans, here.caret)
        self.about.show_member(self._row, at)

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

    def _show_explanation(self, explanation: Explanation) -> None:
        if not explanation.fields and not self._document.size:
            self.about.clear("There are no bytes.")
        else:
            self.about.show_explanation(explanation, self._document.selection.field)


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
