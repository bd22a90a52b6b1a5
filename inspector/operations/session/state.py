"""The state of one open location and its snapshots. The modules beside this one answer the requests about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from inspector.core.program.progress import Progress
from inspector.core.reader import Step
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import judgement
from inspector.operations.edit.plan_repairs import Plan
from inspector.operations.experiment.experiment import Experiment
from inspector.operations.open.location import Location, NoRangeError, open_location
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.bytes_views import Bands
from inspector.operations.protocol.replay_views import Writes
from inspector.operations.protocol.views import ContentInfo, Stage
from inspector.operations.replay.replay import Replay
from inspector.operations.session.checks import Checks
from inspector.operations.session.layers import FieldView, Layers
from inspector.operations.session.members.members_view import Marks, MembersView
from inspector.sources.s3.connection import DEFAULT, Connection

_LOCK_POLL_S = 0.05
"""Seconds between two checks for cancellation while waiting for a lock."""


class SessionState:
    """One open location. If opening fails, ``failure`` says why.

    ``s3`` says how to reach S3; ``opened`` is it if it was opened before. Archives are decoded sparingly until they are
    checked.

    Attributes:
        now: what is shown: ``disk``, or that with a pending edit.
        disk: the location as it was read last.
        generation: grows when fields, layers, members or findings change.
        decoding: the archive that is being decoded, or was last.
        seen, found: the fields and the number of findings that ``generation`` knows.
        planned: the plan of repairs that was shown last, and the state of the location that it is for.
        error: why the location could not be opened.
        read_error: why it could not be opened, or bytes not be read; None once reading succeeds.
        unwritten: why the last change was not written.
        traced: the steps of the reader that was followed last.
        experiment: what ``now`` shows instead of the archive on disk, which is then not written.
        replay: the same, and which writes are replayed.

    """

    def __init__(self, location: str, s3: Connection = DEFAULT, opened: Location | None = None) -> None:
        self.name = location
        self.s3 = s3
        self.stage = Stage.OPENING
        self.failure = ""
        self.error: SourceError | None = None
        self.generation = 0
        self.decoding = 0
        self.seen: object = None
        self.found = 0
        self._lock = Lock()
        self.planned: tuple[Snapshot, Plan] | None = None
        self.unwritten = ""
        self.traced: Sequence[Step] = ()
        self.experiment: Experiment | None = None
        self.replay: tuple[Writes, Replay] | None = None
        try:
            opened = opened or open_location(location, s3, sparing=True)
        except NoRangeError as error:
            opened = Location([], error.collection)
            self.stage, self.failure, self.error = Stage.FAILED, judgement(State.DAMAGED, str(error)), error
        except SourceError as error:
            opened = Location([])
            self.stage, self.failure, self.error = Stage.FAILED, str(error), error
        self.read_error = self.error
        self.now = self.disk = Snapshot(location, opened)

    @property
    def unreal(self) -> str:
        """What is shown instead of the archive, ``experiment`` or ``replay``; empty for the archive and its edits."""
        return "experiment" if self.experiment is not None else "replay" if self.replay is not None else ""

    @contextmanager
    def alone(self, progress: Progress) -> Iterator[None]:
        """Inside the block no other job of this session runs. Raises Cancelled while waiting for that."""
        while not self._lock.acquire(timeout=_LOCK_POLL_S):
            progress.advance(0)
        try:
            yield
        finally:
            self._lock.release()

    def show(self, snapshot: Snapshot) -> None:
        """Show a decoded snapshot instead of the current one; earlier answers are then stale."""
        self.now = snapshot
        self.stage, self.failure, self.decoding = Stage.READY, "", 0
        self.generation += 1


class Snapshot:
    """One state of a location; each pending edit has a snapshot of its own."""

    def __init__(self, name: str, location: Location) -> None:
        self.location = location
        self.archives = location.archives
        self.layers = Layers(location.total)
        self.members = MembersView(location, self.marks)
        self.checks = Checks(name, location)
        self.contents: dict[int, ContentInfo] = {}
        self.bands: dict[tuple[int, int, int, int], Bands] = {}
        self._marks: dict[int, Marks] = {}
        if location.total:
            self.open(0)

    def open(self, at: int, *, ahead: bool = False) -> Opened:
        """The archive ``at`` and its layer, opened if it is the next one, or (``ahead``) out of order."""
        archive = self.location.ahead(at) if ahead else self.location.open(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def marks(self, at: int) -> Marks:
        """The findings of an archive by byte and by member."""
        known = self._marks.get(at)
        archive = self.location.known(at)
        if known is None or len(known.findings) != len(archive.findings):
            known = self._marks[at] = Marks(archive)
        return known

    def forget_marks(self) -> None:
        """Discard cached findings because they will change."""
        self._marks.clear()

    def view(self, number: int) -> FieldView:
        """The fields of a layer as rows."""
        layer = self.layers[number]
        # An archive opened out of order has no member numbers yet.
        first = self.location.number(layer.at, 0) if layer.at < len(self.archives) else None
        return FieldView(layer, self.marks(layer.at), first)
