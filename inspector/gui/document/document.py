"""One open location: the hub between its panels, which know the document but not each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from inspector.core.edit import History
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, State
from inspector.gui.ipc.client import Answer, Arguments, Job, Pending, Request, archive_client
from inspector.gui.kit.locations import name_of
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import (
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
    datapoint_key,
)
from inspector.sources.s3.connection import DEFAULT, Connection

FIRST_POLL_MS = 50
"""Milliseconds after which the status is asked for; most archives are decoded by then."""
STATUS_POLL_MS = 250
"""The interval of status requests while the archive is being decoded."""
CHECK_POLL_MS = 250
"""The interval of status requests while a check runs."""
READ_BYTES = 1 << 20
"""The most bytes of a layer that one read request asks for."""
NO_STATUS = Status(Stage.OPENING, "", "", "", 0, 0, -1, (), False)


class Document(QObject):
    """The state of one open location. Panels call its methods and connect to its signals.

    Signals:
        statusChanged(): the stage, the counts or the status message changed.
        rowsChanged(): members, fields and findings may have changed; cached rows are stale.
        arranged(): the members were filtered or sorted; their rows changed.
        treeReady(): the tree of paths was rebuilt.
        layersChanged(): layers were added or removed, or another one is shown.
        selected(object): the Selection changed.
        explained(object): the Explanation of the byte at the caret arrived.
        hovered(object): the Explanation of the byte under the pointer, or None.
        contentReady(object): a member's content was decoded: a ContentInfo.
        reported(str): a message for the user.
        jobsChanged(): a job started or finished.
        lost(str): the worker died; the document keeps its state but answers no further requests.
    """

    statusChanged = Signal()
    rowsChanged = Signal()
    arranged = Signal()
    treeReady = Signal()
    layersChanged = Signal()
    selected = Signal(object)
    explained = Signal(object)
    hovered = Signal(object)
    contentReady = Signal(object)
    reported = Signal(str)
    jobsChanged = Signal()
    lost = Signal(str)

    def __init__(self, location: str, connection: Connection = DEFAULT, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location, self.connection, self.name = location, connection, name_of(location)
        self.status = NO_STATUS
        self.layers: tuple[LayerInfo, ...] = ()
        self.layer = 0
        self.selection = Selection(0, 0)
        self.explanation: Explanation | None = None
        self.content: ContentInfo | None = None
        self.filter = ""
        self.sort = (SortKey.ARCHIVE, False)
        self.history: History[tuple[int, int] | None] = History(None)
        """The visited places, each a layer and a byte of it; None before the first."""
        self.first_caret = 0
        self.in_experiment = False
        """Whether what is shown is an experiment or a replay, and not the archive as it is."""
        self.in_replay = False
        self._last_carets: dict[int, int] = {}
        self._selection_count = 0
        self._only_caret = True
        self._is_renumbered = False
        """Whether the archive was decoded since the selection was explained: member numbers may be those of others."""
        self._jobs: dict[Request, Job[Any]] = {}
        self.client = archive_client(location, connection, self)
        self.client.lost.connect(self._worker_lost)
        self.client.jobsChanged.connect(self.jobsChanged)
        self._explainer = Latest(self._explain, self._take_explanation)
        self._hover = Latest(self._explain, self.hovered.emit)
        self._poll_timer = QTimer(self)
        self._poll_timer.timeout.connect(self.refresh_status)
        self._poll_timer.timeout.connect(partial(self._poll_timer.setInterval, STATUS_POLL_MS))
        self.start(ArchiveRequests.decode)
        self._poll_timer.start(FIRST_POLL_MS)

    @property
    def state(self) -> State | None:
        """What is known of the archive; None for a file of an unknown format, an experiment or a replay."""
        if self.in_experiment:
            return None
        if self.status.stage is Stage.FAILED:
            return State.UNREADABLE
        return None if self.status.format == "bytes" else self.status.state

    @property
    def chosen_spans(self) -> Spans:
        """The bytes of what was chosen, such as a field or a member; none where only the caret was moved."""
        return () if self._only_caret else self.selection.spans

    @property
    def settled(self) -> bool:
        """Whether no request is outstanding."""
        return not self.client.outstanding and not self._poll_timer.isActive()

    @property
    def size(self) -> int:
        """The size of the layer shown, in bytes."""
        info = self.layer_info(self.layer)
        return info.size if info else 0

    def layer_info(self, layer: int) -> LayerInfo | None:
        """The layer with this number, or None."""
        return next((info for info in self.layers if info.layer == layer), None)

    def close(self) -> None:
        """End the worker."""
        self._poll_timer.stop()
        self.client.close()

    def _worker_lost(self, sentence: str) -> None:
        self._poll_timer.stop()
        self._take_status(self.status.given_up)
        self.lost.emit(sentence)

    def refresh_status(self) -> None:
        """Request the status."""
        self.client.ask(ArchiveRequests.status).then(self._take_status, self.reported.emit)

    def _take_status(self, status: Status) -> None:
        old, self.status = self.status, status
        if status.unexplained and ArchiveRequests.name_causes not in self._jobs:
            self.start(ArchiveRequests.name_causes).then(lambda _: self.refresh_status())
        if status.generation != old.generation:
            self.rowsChanged.emit()
            self.take_layers(status.layers)
        if status != old:
            self.statusChanged.emit()

    def take_layers(self, layers: tuple[LayerInfo, ...]) -> None:
        """Replace the list of layers, and keep the layer shown and the caret valid."""
        first = not self.layers
        self.layers = tuple(layers)
        if self.layer_info(self.layer) is None:
            self.layer = 0
        self.layersChanged.emit()
        selected_layer = self.layer_info(self.selection.layer)
        if first and self.layers:
            self.select_byte(0, min(self.first_caret, max(0, self.layers[0].size - 1)), "")
        elif selected_layer is not None and self.selection.caret >= max(1, selected_layer.size):
            self.select_byte(selected_layer.layer, max(0, selected_layer.size - 1), self.selection.origin)

    def start(
        self,
        request: Callable[Concatenate[ArchiveRequests, Progress, Arguments], Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Job[Answer]:
        """Start a job; it supersedes an earlier one for the same request. A failure is reported to the user."""
        earlier = self._jobs.get(request)
        if earlier is not None:
            earlier.supersede()
        job = self.client.start(request, *args, **kwargs).otherwise(self._failed)
        self._jobs[request] = job
        job.finished.connect(self._job_over)
        return job

    def _job_over(self, job: Job[Any]) -> None:
        if self._jobs.get(job.request) is job:
            del self._jobs[job.request]
        if job.request is ArchiveRequests.decode and self.client.is_open:
            self._poll_timer.stop()
            self.refresh_all()  # asks for the status too: one asked for earlier may come after the answer to this job

    def refresh_all(self) -> None:
        """Refresh everything after the archive was decoded: rows, and the field at the caret, may have changed."""
        self.refresh_status()
        self.selection = replace(self.selection, wrong=False)  # the bytes may have been repaired
        self._is_renumbered = True
        self.refresh_explanation()
        if self.status.stage is not Stage.FAILED:
            self.arrange(self.filter, *self.sort)

    def refresh_explanation(self) -> None:
        """Look up the field at the caret again: after decoding it may be a different one."""
        if self._only_caret:
            self._select(Selection(self.selection.layer, self.selection.caret, origin=self.selection.origin))
        else:
            self._explainer.ask(self.selection.layer, self.selection.caret, self.selection.field)

    def _failed(self, sentence: str) -> None:
        self.reported.emit(sentence)
        self.refresh_status()

    def cancel_jobs(self) -> None:
        """Cancel all running jobs."""
        for job in self.client.jobs:
            job.cancel()

    def arrange(self, text: str, key: SortKey, descending: bool) -> None:
        """List the members whose names contain ``text``, sorted by ``key``."""
        self.filter, self.sort = text, (key, descending)
        self.start(ArchiveRequests.arrange, text, key, descending).then(self._arranged)

    def _arranged(self, _: object) -> None:
        self.arranged.emit()
        self.start(ArchiveRequests.build_tree).then(lambda _: self.treeReady.emit())

    def open_content(self, member: int) -> None:
        """Decode a member's content and show it as a layer."""
        self.start(ArchiveRequests.content, member).then(self._take_content)

    def _take_content(self, content: ContentInfo) -> None:
        self.content = content
        others = [info for info in self.layers if info.kind is not LayerKind.CONTENT]
        self.layers = (*others, content.layer)
        layer = content.layer.layer
        self._remember(layer, 0)
        self._switch_layer(layer)
        self.layersChanged.emit()
        self._select(Selection(layer, 0, member=content.layer.member))
        self.contentReady.emit(content)

    def show_layer(self, layer: int) -> None:
        """Show another layer, at the caret that it had last."""
        if layer == self.layer or self.layer_info(layer) is None:
            return
        caret = self._last_carets.get(layer, 0)
        self._remember(layer, caret)
        self._switch_layer(layer)
        self._select(Selection(layer, caret, member=self.selection.member))

    def _switch_layer(self, layer: int) -> None:
        if layer != self.layer:
            self._last_carets[self.layer] = self.selection.caret
            self.layer = layer
            self.layersChanged.emit()

    def select_byte(self, layer: int, offset: int, origin: str) -> None:
        """Select a byte, and with it its field and member."""
        self._select(Selection(layer, offset, origin=origin))

    def select_field(self, layer: int, row: FieldRow, origin: str) -> None:
        """Select a field, and with it its bytes and member."""
        if not row.spans:
            self._select(replace(self.selection, spans=(), field=row.path, origin=origin))
            return
        self._visit(Selection(layer, row.spans[0].start, row.spans, row.path, row.member, origin))

    def select_finding(self, row: FindingRow, origin: str) -> None:
        """Select the bytes of a finding or, if it has none, its member."""
        if row.spans:
            wrong = row.severity is not Severity.INFO
            start = row.spans[0].start
            self._visit(Selection(row.layer, start, row.spans, member=row.member, origin=origin, wrong=wrong))
        elif row.member is not None:
            self.select_member(row.member, origin)

    def select_spans(self, layer: int, spans: Spans, origin: str, *, wrong: bool = False) -> None:
        """Select bytes that belong together, in another layer too; the history keeps none: there may be many."""
        if spans and self.layer_info(layer) is not None:
            self._switch_layer(layer)
            self._select(Selection(layer, spans[0].start, spans, origin=origin, wrong=wrong))

    def select_checksum(self, row: Checksum | Reference, origin: str) -> None:
        """Select the bytes that a checksum covers; its own bytes and those it omits are marked too."""
        covered = row.covers or row.place
        if covered:
            self._visit(
                Selection(row.layer, covered[0].start, covered, None, row.member, origin, 0, row.place, row.omits)
            )
        elif row.member is not None:
            self.select_member(row.member, origin)

    def select_member(self, member: int, origin: str) -> None:
        """Select a member, its bytes and fields; if the content of another member is shown, show this one's."""
        self._selection_count += 1
        ticket = self._selection_count
        shown = self.layer_info(self.layer)
        if shown is not None and shown.kind is LayerKind.CONTENT and shown.member != member:
            self.selection = replace(self.selection, member=member, origin=origin)
            self.open_content(member)
            return

        def placed(place: MemberPlace) -> None:
            if ticket == self._selection_count:
                start = place.spans[0].start if place.spans else self.selection.caret
                self._visit(Selection(place.layer, start, place.spans, None, member, origin))

        self.client.ask(ArchiveRequests.place, member).then(placed, self.reported.emit)

    def go_to(self, layer: int, start: int, stop: int, origin: str = "go") -> None:
        """Show the bytes ``[start, stop)`` and select them, of a layer that may be newer than the list of layers."""

        def visit() -> None:
            spans = (Span(start, stop),) if stop > start else ()
            self._visit(Selection(layer, start, spans, origin=origin, length=stop - start))

        def take(status: Status) -> None:
            self.take_layers(status.layers)
            visit()

        if self.layer_info(layer) is not None:
            visit()
        else:
            self.client.ask(ArchiveRequests.status).then(take, self.reported.emit)

    def go_to_expression(self, expression: str) -> None:
        """Go to the target of an expression, or report why it has none."""

        def found(target: Target) -> None:
            self.go_to(target.layer, target.start, target.stop)

        if datapoint_key(expression) is not None:
            self.start(ArchiveRequests.find_datapoint, expression).then(found)
        else:
            here = (self.layer, self.selection.caret)
            self.client.ask(ArchiveRequests.goto, expression, *here).then(found, self.reported.emit)

    def step_history(self, step: int) -> None:
        """Go back (-1) or forward (1) in the history."""
        before = self.history.now
        (self.history.undo if step < 0 else self.history.redo)()
        place = self.history.now
        if place is not None and place is not before and self.layer_info(place[0]) is not None:
            self._switch_layer(place[0])
            self._select(Selection(*place, origin="history"))

    def _remember(self, layer: int, caret: int) -> None:
        """Add a place that is gone to, and the one that is left, to those that were visited."""
        here = (self.layer, self.selection.caret)
        if self.history.now is None:
            self.history.clear(here)
        for place in (here, (layer, caret)):
            if place != self.history.now:
                self.history.put(place)

    def _visit(self, selection: Selection) -> None:
        if self.layer_info(selection.layer) is None:
            return
        self._remember(selection.layer, selection.caret)
        self._switch_layer(selection.layer)
        self._select(selection)

    def _select(self, selection: Selection) -> None:
        self._selection_count += 1
        self._only_caret = selection.field is None and not selection.spans
        self.selection = selection
        self.explanation = None
        self.selected.emit(selection)
        self._explainer.ask(selection.layer, selection.caret, selection.field)

    def _explain(self, layer: int, offset: int, path: tuple[int, ...] | None = None) -> Pending[Explanation]:
        return self.client.ask(ArchiveRequests.explain, layer, offset, path)

    def _take_explanation(self, explanation: Explanation) -> None:
        self.explanation = explanation
        old = self.selection
        leaf = explanation.fields[-1] if explanation.fields else None
        paths = {row.path for row in explanation.fields}
        has_no_bytes = old.field is not None and not old.spans  # a fact about the archive
        field = old.field if has_no_bytes or old.field in paths or leaf is None else leaf.path
        keeps_member = old.member is not None and old.spans and not self._is_renumbered
        member = old.member if keeps_member else explanation.member
        self._is_renumbered = False
        spans = old.spans or (leaf.spans if leaf is not None and not has_no_bytes else ())
        self.selection = replace(old, field=field, member=member, spans=spans)
        self.explained.emit(explanation)
        if self.selection != old:
            self.selected.emit(self.selection)

    def hover(self, offset: int | None) -> None:
        """Explain the byte under the pointer; None when the pointer is over no byte."""
        if offset is None:
            self._hover.forget()
            self.hovered.emit(None)
        else:
            self._hover.ask(self.layer, offset)

    # ---- reading -----------------------------------------------------------------------------------------------

    def when_ready(self, then: Callable[[], object]) -> None:
        """Call ``then`` as soon as the archive has been read and its members are listed."""
        if self.status.stage is Stage.READY and self.settled:
            then()
        else:
            self.arranged.connect(then, Qt.ConnectionType.SingleShotConnection)

    def read_start(self, layer: int, length: int, done: Callable[[bytes], None]) -> None:
        """Read the first ``length`` bytes of a layer, fewer if it is shorter, piece by piece, and pass them on."""
        data = bytearray()

        def take(piece: bytes) -> None:
            data.extend(piece)
            if piece and len(data) < length:
                ask()
            else:
                done(bytes(data))

        def ask() -> None:
            size = min(READ_BYTES, length - len(data))
            self.client.ask(ArchiveRequests.read, layer, len(data), size).then(take, lambda _: take(b""))

        ask()

    # ---- finding -----------------------------------------------------------------------------------------------

    def find(self, pattern: bytes, backwards: bool = False, ignore_case: bool = False) -> None:
        """Search the layer shown, from the caret on, and select the match, or report that there is none."""
        caret, layer = self.selection.caret, self.layer
        is_first = self.selection.origin != "find"
        start = caret if is_first or backwards else caret + 1

        def found(offset: int | None) -> None:
            if offset is None:
                info = self.layer_info(layer)
                kind, end = (info.kind if info is not None else LayerKind.FILE).value, "start" if backwards else "end"
                self.reported.emit(f"Not found between here and the {end} of the {kind}.")
            else:
                self.go_to(layer, offset, offset + len(pattern), "find")

        self.start(ArchiveRequests.search, layer, pattern, start, backwards, ignore_case).then(found)


class Selection(Struct, frozen=True):
    """The selection that all panels share: the byte at the caret, the bytes outlined, their field and member.

    ``length`` bytes from the caret on are selected in the hex view too. ``origin`` names the panel that made the
    selection, which therefore does not scroll. For a checksum, ``spans`` are the bytes it covers, ``stored`` the bytes
    of its value and ``omitted`` the bytes it leaves out. ``wrong``: a finding reports these bytes as wrong.
    """

    layer: int
    caret: int
    spans: Spans = ()
    field: tuple[int, ...] | None = None
    member: int | None = None
    origin: str = ""
    length: int = 0
    stored: Spans = ()
    omitted: Spans = ()
    wrong: bool = False


class Latest:
    """Asks one question at a time, and drops all but the latest of those that wait and the answers to the others.

    So a held arrow key, a moving pointer or scrolling never queues requests.
    """

    def __init__(self, ask: Callable[..., Pending[Any]], take: Callable[[Any], object]) -> None:
        self._ask = ask
        self._take = take
        self._wanted: tuple[Any, ...] | None = None
        self._sent: tuple[Any, ...] | None = None

    def ask(self, *question: Any) -> None:
        """Ask this instead of what waits."""
        self._wanted = question
        if self._sent is None:
            self._send()

    def forget(self) -> None:
        """Drop the question that waits, or the answer that is on its way."""
        self._wanted = None

    def _send(self) -> None:
        self._sent = self._wanted
        if self._sent is not None:
            self._ask(*self._sent).then(self._answered, lambda _: self._answered(None))

    def _answered(self, answer: Any) -> None:
        asked, self._sent = self._sent, None
        if self._wanted != asked:
            self._send()
            return
        self._wanted = None
        if answer is not None:
            self._take(answer)


class Checking(QObject):
    """The check of a document; one at a time.

    Signals:
        changed(): a check started, paused, resumed or finished.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._job: Job[Status] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(CHECK_POLL_MS)
        self._timer.timeout.connect(document.refresh_status)
        document.lost.connect(self._timer.stop)

    @property
    def running(self) -> bool:
        """Whether a check is running or paused."""
        return self._job is not None and self._job.running

    def start(self) -> None:
        """Check everything; resume a check that is paused."""
        if self._job is not None and self._job.running and not self._job.cancelled:
            self._job.pause(False)
        else:
            self._job = self._document.start(ArchiveRequests.check)
            self._job.finished.connect(self._over)
            self._timer.start()
        self.changed.emit()

    def _over(self) -> None:
        if self.sender() not in (None, self._job):
            return
        self._job = None
        self._timer.stop()
        self._document.refresh_status()
        self._document.refresh_explanation()
        self.changed.emit()
