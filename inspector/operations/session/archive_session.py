"""The session that a window works with: it also reports what S3 requests cost, why they fail, and changes on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inspector.core.edit import EditError, OverlaySource
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Spans
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.browse_views import ErrorAction, RemoteState, S3Problem
from inspector.operations.protocol.edit_views import OnlyWhole, WriteResult
from inspector.operations.protocol.views import DiskChange, Stage
from inspector.operations.session.edit_session import EditSession
from inspector.sources.local.file import FileSource, Identity
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.ledger import Ledger, Request, Totals
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.sentences import replaced as replaced_words
from inspector.sources.s3.source import S3Source


class ArchiveSession(EditSession):
    """The session of one open location: ArchiveRequests. ``s3`` says how to reach S3."""

    def __init__(self, location: str, s3: Connection = DEFAULT) -> None:
        super().__init__(location, s3)
        self._problem = self._problem_of(self._error) if self._error is not None else None
        self._unwritten = ""

    def read(self, layer: int, offset: int, length: int) -> bytes:
        """As Session.read; ``remote`` reports an error until the next successful read."""
        try:
            found = super().read(layer, offset, length)
        except SourceError as error:
            self._problem = self._problem_of(error)
            raise
        self._problem = None
        return found

    def _problem_of(self, error: SourceError) -> S3Problem | None:
        if not is_s3(self._name):
            return None
        return problem_of(error, self._name, anonymous=self._s3.anonymous)

    def _write(
        self, progress: Progress, write: Callable[[FileSource | S3Source], WriteResult]
    ) -> WriteResult | OnlyWhole:
        """As EditSession._write; ``remote`` reports why the last change was not written."""
        self._unwritten = ""
        try:
            return super()._write(progress, write)
        except EditError as error:
            self._unwritten = str(error)
            raise

    def remote(self) -> RemoteState | None:
        """The cost of reading so far; None for local files."""
        # A pending edit sends no requests.
        disk, problem = self._disk, self._problem
        if problem is None and self._stage is Stage.READY:
            problem = cut_short(disk.archives)
        return remote_state(disk.location, problem, self._error, self._unwritten)

    def requests(self) -> tuple[Request, ...]:
        """The latest S3 requests, oldest first."""
        ledger = ledger_of(self._disk.location, self._error)
        return ledger.requests() if ledger is not None else ()

    def disk_change(self) -> DiskChange | None:
        """How the file on disk has changed since it was read; None if it has not, and for a folder."""
        archives = self._disk.archives
        return disk_change(archives[0].source) if len(archives) == 1 else None

    def cached(self, layer: int) -> Spans:
        """The cached bytes of a layer, which can be read without a request."""
        return cached_spans(self._now.layers[layer].source)


_BY_NAME = {
    "NoCredentialsError": (ErrorAction.CONNECTION, ErrorAction.UNSIGNED),
    "PartialCredentialsError": (ErrorAction.CONNECTION,),
    "ProfileNotFound": (ErrorAction.CONNECTION,),
    "EndpointError": (ErrorAction.CONNECTION,),
    "ConfigParseError": (ErrorAction.RETRY,),
    "CredentialRetrievalError": (ErrorAction.RETRY, ErrorAction.CONNECTION),
    "NoSuchBucket": (ErrorAction.CONNECTION,),
    "RequestTimeTooSkewed": (ErrorAction.RETRY,),
    "AuthorizationHeaderMalformed": (ErrorAction.REGION,),
    "PermanentRedirect": (ErrorAction.REGION,),
    "IllegalLocationConstraintException": (ErrorAction.REGION,),
    "RecursionError": (ErrorAction.REGION,),
    "NoSuchVersion": (ErrorAction.RELOAD,),
    "EndpointConnectionError": (ErrorAction.RETRY, ErrorAction.CONNECTION),
    "ConnectTimeoutError": (ErrorAction.RETRY, ErrorAction.CONNECTION),
    "ResponseParserError": (ErrorAction.CONNECTION,),
}
_BY_STATUS = {
    301: (ErrorAction.REGION,),
    403: (ErrorAction.UNSIGNED, ErrorAction.CONNECTION),
    404: (ErrorAction.CONNECTION,),
    412: (ErrorAction.RELOAD,),
    416: (ErrorAction.RELOAD,),
}
_RETRY = (ErrorAction.RETRY,)
_CREDENTIAL_ERRORS = ("ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch")
_SERVER, _PRECONDITION_FAILED = 500, 412


def problem_of(error: SourceError, location: str, *, anonymous: bool) -> S3Problem:
    """The problem that an error reports, and what to do; ``anonymous``: requests were not signed."""
    if not isinstance(error, S3Error):
        return S3Problem(str(error), (ErrorAction.BROWSE if _is_address(location) else ErrorAction.CONNECTION,))
    region = _region(error)
    actions = _actions(error)
    if anonymous:
        actions = tuple(each for each in actions if each is not ErrorAction.UNSIGNED)
    if ErrorAction.REGION in actions and not region:
        actions = (ErrorAction.CONNECTION,)
    return S3Problem(str(error), actions or (ErrorAction.CONNECTION,), region)


def _is_address(location: str) -> bool:
    try:
        return bool(parse(location).bucket)
    except SourceError:
        return False


def _actions(error: S3Error) -> tuple[ErrorAction, ...]:
    if error.code in _CREDENTIAL_ERRORS:
        return (ErrorAction.RETRY, ErrorAction.CONNECTION)
    known = _BY_NAME.get(error.code) or _BY_STATUS.get(error.status)
    if known:
        return known
    return (ErrorAction.RETRY,) if not error.status or error.status >= _SERVER else (ErrorAction.CONNECTION,)


def _region(error: S3Error) -> str:
    """The region of the bucket according to the server; empty if it does not say."""
    response: Any = getattr(error.__cause__, "response", None)
    if not isinstance(response, dict):
        return ""
    details: Any = response.get("Error") or {}
    headers: Any = (response.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    return str(details.get("Region") or headers.get("x-amz-bucket-region") or "")


# ---- one open location ---------------------------------------------------------------------------------------------


def cut_short(archives: Sequence[Opened]) -> S3Problem | None:
    """The problem of archives that could not be read completely, None without any."""
    if not any(archive.cut_short for archive in archives):
        return None
    return S3Problem("Part of it could not be read, so this view is incomplete. See the findings.", _RETRY)


def remote_state(
    location: Location, problem: S3Problem | None, error: SourceError | None, unwritten: str = ""
) -> RemoteState | None:
    """The cost of reading a location; None if it is not on S3.

    ``problem`` is that of the last read, ``error`` that of opening; ``unwritten`` says why a change was not written.
    """
    sources = _sources(location)
    if not sources:
        ledger = ledger_of(location, error)
        return RemoteState(ledger.totals if ledger else Totals(), 0, problem) if problem is not None else None
    replaced = next((source for source in sources if source.replaced), None)
    if replaced is not None:
        problem = S3Problem(unwritten or replaced_words(replaced.name), (ErrorAction.RELOAD,))
    return RemoteState(sources[0].ledger.totals, location.size, problem)


def ledger_of(location: Location, error: SourceError | None) -> Ledger | None:
    """All requests for a location, or those until opening it failed with ``error``."""
    sources = _sources(location)
    if sources:
        return sources[0].ledger
    return error.ledger if isinstance(error, S3Error) else None


def cached_spans(source: Source) -> Spans:
    """The bytes of a source that can be read without a request; none if it is not on S3."""
    beneath = source.base if isinstance(source, OverlaySource) else source
    return beneath.cached() if isinstance(beneath, S3Source) else ()


def _sources(location: Location) -> list[S3Source]:
    """All open sources on S3, which share one ledger."""
    return [each.source for each in tuple(location.archives) if isinstance(each.source, S3Source)]


MAY_BE_MIXED = "What is shown may mix the old file and the new one."
OLD_FILE_SHOWN = "The old file is shown."


def disk_change(source: Source) -> DiskChange | None:
    """How the file of a source has changed; None if it has not, or is not local."""
    if not isinstance(source, FileSource):
        return None
    name, then = visible(source.path.name), source.identity
    try:
        now = Identity.of(source.path.stat())
    except OSError:
        return DiskChange(f"{name} no longer exists. {OLD_FILE_SHOWN}", then.size, None, 0, grown=False)
    what = then.difference(now)
    if not what:
        return None
    same = then.same_file(now)
    sentence = f"{name} {what}. {MAY_BE_MIXED if same else OLD_FILE_SHOWN}"
    return DiskChange(sentence, then.size, now.size, now.mtime_ns, grown=same and now.size > then.size)
