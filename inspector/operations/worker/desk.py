"""What a window asks of one open location: a workbench that also tells what reading from S3 costs, and how it fails."""

from __future__ import annotations

from collections.abc import Callable

from inspector.core.edit import EditError
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.span import Spans
from inspector.operations.protocol.browse_views import RemoteState, S3Problem
from inspector.operations.protocol.edit_views import OnlyWhole, WriteResult
from inspector.operations.protocol.views import DiskChange, Stage
from inspector.operations.session import remote
from inspector.operations.session.disk_change import disk_change
from inspector.operations.session.workbench import EditSession
from inspector.sources.local.file import FileSource
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.ledger import Request
from inspector.sources.s3.source import S3Source


class ArchiveSession(EditSession):
    """One open location. ``s3`` says how S3 is reached."""

    def __init__(self, location: str, s3: Connection = DEFAULT) -> None:
        super().__init__(location, s3)
        self._trouble = self._told(self._error) if self._error is not None else None
        self._unwritten = ""

    def read(self, layer: int, offset: int, length: int) -> bytes:
        """See Session.read; what went wrong is kept for ``remote`` until something is read again."""
        try:
            found = super().read(layer, offset, length)
        except SourceError as error:
            self._trouble = self._told(error)
            raise
        self._trouble = None
        return found

    def _told(self, error: SourceError) -> S3Problem | None:
        if not is_s3(self._name):
            return None
        return remote.trouble_of(error, self._name, anonymous=self._s3.anonymous)

    def _write(
        self, progress: Progress, write: Callable[[FileSource | S3Source], WriteResult]
    ) -> WriteResult | OnlyWhole:
        """What kept the last change from being written is kept for ``remote``."""
        self._unwritten = ""
        try:
            return super()._write(progress, write)
        except EditError as error:
            self._unwritten = str(error)
            raise

    def remote(self) -> RemoteState | None:
        """What reading has cost until now; None for what is on this machine."""
        # What is pending lies over it and costs nothing of its own.
        disk, trouble = self._disk, self._trouble
        if trouble is None and self._stage is Stage.READY:
            trouble = remote.cut_short(disk.archives)
        return remote.remote_state(disk.location, trouble, self._error, self._unwritten)

    def requests(self) -> tuple[Request, ...]:
        """The last requests that were made, the oldest first."""
        ledger = remote.ledger_of(self._disk.location, self._error)
        return ledger.requests() if ledger is not None else ()

    def disk_change(self) -> DiskChange | None:
        """What has happened to the file on disk since it was read; None for nothing, and for a folder."""
        archives = self._disk.archives
        return disk_change(archives[0].source) if len(archives) == 1 else None

    def cached(self, layer: int) -> Spans:
        """The bytes of a layer that are kept here, so that no request is needed to read them."""
        return remote.cached(self._now.layers[layer].source)
