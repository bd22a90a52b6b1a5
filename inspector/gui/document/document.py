"""One open location: the hub between its panels, which know the document and never each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Concatenate

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.finding import Severity
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.gui.document.explainer import Explainer
from inspector.gui.document.selection import Selection
from inspector.gui.ipc.client import Answer, Arguments, Job, Request, archive_client
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.visited_places import History, Place
from inspector.operations.protocol.coverage_views import datapoint_key
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import (
    ChecksumRow,
    ContentInfo,
    Explanation,
    FieldRow,
    FindingRow,
    LayerInfo,
    LayerKind,
    MemberPlace,
    Reference,
    SortKey,
    Stage,
    Status,
    Target,
)
from inspector.sources.s3.connection import DEFAULT, Connection

REFRESH = 250
"""Milliseconds between two looks at the status while the archive is being decoded."""

NOTHING = Status(Stage.OPENING, "", "", "", 0, 0, -1, (), False)


class Document(QObject):
    """The state of one open location. Panels call its methods and listen to its signals.

    Signals:
        statusChanged(): stage, counts or sentence are new.
        rowsChanged(): members, fields and findings may be new: what was fetched is stale.
        arranged(): members were filtered or sorted: their rows are new.
        planted(): the tree of paths is new.
        layersChanged(): layers appeared or went, or another one is shown.
        selected(object): the Selection is new.
        explained(object): the Explanation of the byte at the caret has arrived.
        hovered(object): the Explanation of the byte under the pointer, None when there is none.
        contentReady(object): a member's content can be shown: a ContentInfo.
        said(str): a sentence for the user.
        jobsChanged(): jobs have begun or ended.
        lost(str): the worker has gone; the document stays as it is, but answers nothing any more.
    """

    statusChanged = Signal()
    rowsChanged = Signal()
    arranged = Signal()
    planted = Signal()
    layersChanged = Signal()
    selected = Signal(object)
    explained = Signal(object)
    hovered = Signal(object)
    contentReady = Signal(object)
    said = Signal(str)
    jobsChanged = Signal()
    lost = Signal(str)

    def __init__(self, location: str, connection: Connection = DEFAULT, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location, self.connection = location, connection
        self.status = NOTHING
        self.layers: tuple[LayerInfo, ...] = ()
        self.layer = 0
        self.selection = Selection(0, 0)
        self.explanation: Explanation | None = None
        self.content: ContentInfo | None = None
        self.filter = ""
        self.sort = (SortKey.ARCHIVE, False)
        self.history = History()
        self.first_caret = 0
        self._carets: dict[int, int] = {}
        self._ticket = 0
        self._by_caret = True
        self._jobs: dict[Request, Job[Any]] = {}
        self.client = archive_client(location, connection, self)
        self.client.lost.connect(self._lose)
        self.client.jobsChanged.connect(self.jobsChanged)
        self._explainer = Explainer(self.client, self)
        self._explainer.answered.connect(self._take_explanation)
        self._hover = Explainer(self.client, self)
        self._hover.answered.connect(self.hovered)
        self._refresh = QTimer(self)
        self._refresh.setInterval(REFRESH)
        self._refresh.timeout.connect(self.look)
        self.look()
        self.start(ArchiveRequests.decode)
        self._refresh.start()

    @property
    def name(self) -> str:
        """The last part of the location."""
        return name_of(self.location)

    @property
    def settled(self) -> bool:
        """Whether nothing is outstanding."""
        return not self.client.outstanding and not self._refresh.isActive()

    @property
    def size(self) -> int:
        """The size of the layer shown, in bytes."""
        info = self.layer_info(self.layer)
        return info.size if info else 0

    def layer_info(self, layer: int) -> LayerInfo | None:
        """The layer of that number, None when it is not there."""
        return next((info for info in self.layers if info.layer == layer), None)

    def close(self) -> None:
        """End the worker."""
        self._refresh.stop()
        self.client.close()

    def _lose(self, sentence: str) -> None:
        self._refresh.stop()
        self._take_status(self.status.given_up)
        self.lost.emit(sentence)

    def look(self) -> None:
        """Ask how it stands."""
        self.client.ask(ArchiveRequests.status).then(self._take_status, self.said.emit)

    def _take_status(self, status: Status) -> None:
        old, self.status = self.status, status
        if status.generation != old.generation:
            self.client.ask(ArchiveRequests.layers).then(self.take_layers)
            self.rowsChanged.emit()
        if status != old:
            self.statusChanged.emit()

    def take_layers(self, layers: tuple[LayerInfo, ...]) -> None:
        """Know which layers there are now."""
        first = not self.layers
        self.layers = tuple(layers)
        if self.layer_info(self.layer) is None:
            self.layer = 0
        self.layersChanged.emit()
        chosen = self.layer_info(self.selection.layer)
        if first and self.layers:
            self.select_byte(0, min(self.first_caret, max(0, self.layers[0].size - 1)), "")
        elif chosen is not None and self.selection.caret >= max(1, chosen.size):
            self.select_byte(chosen.layer, max(0, chosen.size - 1), self.selection.origin)

    def start(
        self,
        request: Callable[Concatenate[ArchiveRequests, Progress, Arguments], Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Job[Answer]:
        """Start a job that takes the place of an earlier one of the same kind. Where it fails, that is said."""
        earlier = self._jobs.get(request)
        if earlier is not None:
            earlier.supersede()
        job = self.client.start(request, *args, **kwargs).otherwise(self._failed)
        self._jobs[request] = job
        job.finished.connect(lambda: self._forget(job))
        return job

    def _forget(self, job: Job[Any]) -> None:
        if self._jobs.get(job.request) is job:
            del self._jobs[job.request]
        if job.request is ArchiveRequests.decode and self._refresh.isActive():
            self._refresh.stop()
            self.decoded_anew()

    def decoded_anew(self) -> None:
        """The archive is decoded: rows and what the caret stands on may be others."""
        self.look()
        self.selection = replace(self.selection, wrong=False)  # what was found wrong may have been repaired
        self.resolve_again()
        if self.status.stage is not Stage.FAILED:
            self.arrange(self.filter, *self.sort)

    def resolve_again(self) -> None:
        """What only the caret has chosen may be another field now that the archive is decoded."""
        if self._by_caret:
            self._select(Selection(self.selection.layer, self.selection.caret, origin=self.selection.origin))
        else:
            self._explainer.ask(self.selection.layer, self.selection.caret)

    def _failed(self, sentence: str) -> None:
        self.said.emit(sentence)
        self.look()

    def cancel_jobs(self) -> None:
        """Stop all long work."""
        for job in self.client.jobs:
            job.cancel()

    def arrange(self, text: str, key: SortKey, descending: bool) -> None:
        """Show the members whose names hold ``text``, in this order."""
        self.filter, self.sort = text, (key, descending)
        self.start(ArchiveRequests.arrange, text, key, descending).then(self._arranged)

    def _arranged(self, _: object) -> None:
        self.arranged.emit()
        self.start(ArchiveRequests.build_tree).then(lambda _: self.planted.emit())

    def open_content(self, member: int) -> None:
        """Decode a member's content and show it as a layer."""
        self.start(ArchiveRequests.content, member).then(self._take_content)

    def _take_content(self, content: ContentInfo) -> None:
        self.content = content
        others = [info for info in self.layers if info.kind is not LayerKind.CONTENT]
        self.layers = (*others, content.layer)
        layer = content.layer.layer
        self.history.visit(Place(self.layer, self.selection.caret), Place(layer, 0))
        self._enter(layer)
        self.layersChanged.emit()
        self._select(Selection(layer, 0, member=content.layer.member))
        self.contentReady.emit(content)

    def show_layer(self, layer: int) -> None:
        """Show another layer, where one was last in it."""
        if layer == self.layer or self.layer_info(layer) is None:
            return
        caret = self._carets.get(layer, 0)
        self.history.visit(Place(self.layer, self.selection.caret), Place(layer, caret))
        self._enter(layer)
        self._select(Selection(layer, caret, member=self.selection.member))

    def _enter(self, layer: int) -> None:
        if layer != self.layer:
            self._carets[self.layer] = self.selection.caret
            self.layer = layer
            self.layersChanged.emit()

    def select_byte(self, layer: int, offset: int, origin: str) -> None:
        """Select the byte, and with it its field and member."""
        self._select(Selection(layer, offset, origin=origin))

    def select_field(self, layer: int, row: FieldRow, origin: str) -> None:
        """Select a field, and with it its bytes and member."""
        if not row.spans:
            self._select(replace(self.selection, spans=(), field=row.path, origin=origin))
            return
        self._visit(Selection(layer, row.spans[0].start, row.spans, row.path, row.member, origin))

    def select_finding(self, row: FindingRow, origin: str) -> None:
        """Select the bytes a finding is about, or else its member."""
        if row.spans:
            wrong = row.severity is not Severity.INFO
            start = row.spans[0].start
            self._visit(Selection(row.layer, start, row.spans, member=row.member, origin=origin, wrong=wrong))
        elif row.member is not None:
            self.select_member(row.member, origin)

    def select_checksum(self, row: ChecksumRow | Reference, origin: str) -> None:
        """Select the bytes that a checksum covers; where it stands and what it leaves out are marked too."""
        lit = row.covers or row.place
        if lit:
            self._visit(Selection(row.layer, lit[0].start, lit, None, row.member, origin, 0, row.place, row.omits))
        elif row.member is not None:
            self.select_member(row.member, origin)

    def select_member(self, member: int, origin: str) -> None:
        """Select a member, and with it its bytes and fields; where content is being shown, its content."""
        self._ticket += 1
        ticket = self._ticket
        shown = self.layer_info(self.layer)
        if shown is not None and shown.kind is LayerKind.CONTENT and shown.member != member:
            self.selection = replace(self.selection, member=member, origin=origin)
            self.open_content(member)
            return

        def placed(place: MemberPlace) -> None:
            if ticket == self._ticket:
                start = place.spans[0].start if place.spans else self.selection.caret
                self._visit(Selection(place.layer, start, place.spans, None, member, origin))

        self.client.ask(ArchiveRequests.place, member).then(placed, self.said.emit)

    def go_to(self, layer: int, start: int, stop: int, origin: str = "go") -> None:
        """Show the bytes ``[start, stop)`` and select them."""
        spans = (Span(start, stop),) if stop > start else ()
        self._visit(Selection(layer, start, spans, origin=origin, length=stop - start))

    def go_to_expression(self, expression: str) -> None:
        """Go where an expression leads, or say why it leads nowhere."""

        def found(target: Target) -> None:
            if self.layer_info(target.layer) is not None:
                self.go_to(target.layer, target.start, target.stop)
                return

            def known(layers: tuple[LayerInfo, ...]) -> None:
                self.take_layers(layers)
                self.go_to(target.layer, target.start, target.stop)

            self.client.ask(ArchiveRequests.layers).then(known, self.said.emit)

        if datapoint_key(expression) is not None:
            self.start(ArchiveRequests.find_datapoint, expression).then(found)
        else:
            here = (self.layer, self.selection.caret)
            self.client.ask(ArchiveRequests.goto, expression, *here).then(found, self.said.emit)

    def step_history(self, step: int) -> None:
        """Go back (-1) or forward (1) through visited places."""
        place = self.history.go(step)
        if place is not None and self.layer_info(place.layer) is not None:
            self._enter(place.layer)
            self._select(Selection(place.layer, place.offset, origin="history"))

    def _visit(self, selection: Selection) -> None:
        if self.layer_info(selection.layer) is None:
            return
        self.history.visit(Place(self.layer, self.selection.caret), Place(selection.layer, selection.caret))
        self._enter(selection.layer)
        self._select(selection)

    def _select(self, selection: Selection) -> None:
        self._ticket += 1
        self._by_caret = selection.field is None and not selection.spans
        self.selection = selection
        self.explanation = None
        self.selected.emit(selection)
        self._explainer.ask(selection.layer, selection.caret)

    def _take_explanation(self, explanation: Explanation) -> None:
        self.explanation = explanation
        old = self.selection
        leaf = explanation.fields[-1] if explanation.fields else None
        paths = {row.path for row in explanation.fields}
        fact = old.field is not None and not old.spans  # of the archive, but not of any of its bytes
        field = old.field if fact or old.field in paths or leaf is None else leaf.path
        member = old.member if old.member is not None and old.spans else explanation.member
        spans = old.spans or (leaf.spans if leaf is not None and not fact else ())
        self.selection = replace(old, field=field, member=member, spans=spans)
        self.explained.emit(explanation)
        if self.selection != old:
            self.selected.emit(self.selection)

    def hover(self, offset: int | None) -> None:
        """Say what the byte under the pointer is; None when there is none."""
        if offset is None:
            self._hover.forget()
            self.hovered.emit(None)
        else:
            self._hover.ask(self.layer, offset)

    # ---- finding -----------------------------------------------------------------------------------------------

    def find(self, pattern: bytes, backwards: bool = False, ignore_case: bool = False) -> None:
        """Search the layer shown from the caret on and select what is found, or say that nothing is."""
        caret, layer = self.selection.caret, self.layer
        fresh = self.selection.origin != "find"
        start = caret if fresh or backwards else caret + 1

        def found(offset: int | None) -> None:
            if offset is None:
                self.said.emit(_not_found(self.layer_info(layer), backwards))
            else:
                self.go_to(layer, offset, offset + len(pattern), "find")

        self.start(ArchiveRequests.search, layer, pattern, start, backwards, ignore_case).then(found)


def _not_found(info: LayerInfo | None, backwards: bool) -> str:
    layer = (info.kind if info is not None else LayerKind.FILE).value
    if backwards:
        return f"Not found between here and the start of the {layer}."
    return f"Not found between here and the end of the {layer}."
