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
from inspector.sources.local.file import FileSource
from inspector.sources.local.identity import Identity
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.ledger import Ledger, Request, Totals
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.sentences import replaced as replaced_words
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
        return problem_of(error, self._name, anonymous=self._s3.anonymous)

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
            trouble = cut_short(disk.archives)
        return remote_state(disk.location, trouble, self._error, self._unwritten)

    def requests(self) -> tuple[Request, ...]:
        """The last requests that were made, the oldest first."""
        ledger = ledger_of(self._disk.location, self._error)
        return ledger.requests() if ledger is not None else ()

    def disk_change(self) -> DiskChange | None:
        """What has happened to the file on disk since it was read; None for nothing, and for a folder."""
        archives = self._disk.archives
        return disk_change(archives[0].source) if len(archives) == 1 else None

    def cached(self, layer: int) -> Spans:
        """The bytes of a layer that are kept here, so that no request is needed to read them."""
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
_AGAIN = (ErrorAction.RETRY,)
_SECRETS = ("ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch")
_SERVER, _NOT_AS_BEFORE = 500, 412


def problem_of(error: SourceError, location: str, *, anonymous: bool) -> S3Problem:
    """What may help against an error at a location; ``anonymous``: requests were not signed."""
    if not isinstance(error, S3Error):
        return S3Problem(str(error), (ErrorAction.BROWSE if _is_address(location) else ErrorAction.CONNECTION,))
    region = _region(error)
    remedies = _remedies(error)
    if anonymous:
        remedies = tuple(each for each in remedies if each is not ErrorAction.UNSIGNED)
    if ErrorAction.REGION in remedies and not region:
        remedies = (ErrorAction.CONNECTION,)
    return S3Problem(str(error), remedies or (ErrorAction.CONNECTION,), region)


def _is_address(location: str) -> bool:
    try:
        return bool(parse(location).bucket)
    except SourceError:
        return False


def _remedies(error: S3Error) -> tuple[ErrorAction, ...]:
    if error.code in _SECRETS:
        return (ErrorAction.RETRY, ErrorAction.CONNECTION)
    known = _BY_NAME.get(error.code) or _BY_STATUS.get(error.status)
    if known:
        return known
    return (ErrorAction.RETRY,) if not error.status or error.status >= _SERVER else (ErrorAction.CONNECTION,)


def _region(error: S3Error) -> str:
    """The region that the server says the bucket is in."""
    response: Any = getattr(error.__cause__, "response", None)
    if not isinstance(response, dict):
        return ""
    details: Any = response.get("Error") or {}
    headers: Any = (response.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    return str(details.get("Region") or headers.get("x-amz-bucket-region") or "")


# ---- one open location ---------------------------------------------------------------------------------------------


def cut_short(archives: Sequence[Opened]) -> S3Problem | None:
    """What helps where decoding broke off for want of bytes; None where it did not."""
    if not any(archive.cut_short for archive in archives):
        return None
    return S3Problem("Part of it could not be read, so this view is incomplete. See the findings.", _AGAIN)


def remote_state(
    location: Location, trouble: S3Problem | None, error: SourceError | None, unwritten: str = ""
) -> RemoteState | None:
    """What reading has cost; None where nothing is on S3.

    ``trouble`` is what reading met last, ``error`` what kept it from being opened, ``unwritten`` a sentence on what
    kept a change from being written.
    """
    sources = _sources(location)
    if not sources:
        ledger = ledger_of(location, error)
        return RemoteState(ledger.totals if ledger else Totals(), 0, trouble) if trouble is not None else None
    replaced = next((source for source in sources if source.replaced), None)
    if replaced is not None:
        trouble = S3Problem(unwritten or replaced_words(replaced.name), (ErrorAction.RELOAD,))
    return RemoteState(sources[0].ledger.totals, location.size, trouble)


def ledger_of(location: Location, error: SourceError | None) -> Ledger | None:
    """All requests that were made for a location, or until ``error`` kept it from being opened."""
    sources = _sources(location)
    if sources:
        return sources[0].ledger
    return error.ledger if isinstance(error, S3Error) else None


def cached_spans(source: Source) -> Spans:
    """The bytes of a source that can be read without a request; none where it is not on S3."""
    beneath = source.base if isinstance(source, OverlaySource) else source
    return beneath.cached() if isinstance(beneath, S3Source) else ()


def _sources(location: Location) -> list[S3Source]:
    """All that is open of it on S3; one ledger is for all of them."""
    return [each.source for each in tuple(location.archives) if isinstance(each.source, S3Source)]


GOES_ON = "What is shown may mix the old file and the new one."
STAYS = "The old file is shown."


def disk_change(source: Source) -> DiskChange | None:
    """What has happened to the file behind a source; None for nothing, and for what is no file of this machine."""
    if not isinstance(source, FileSource):
        return None
    name, then = visible(source.path.name), source.identity
    try:
        now = Identity.of(source.path.stat())
    except OSError:
        return DiskChange(f"{name} no longer exists. {STAYS}", then.size, None, 0, grown=False)
    what = then.difference(now)
    if not what:
        return None
    same = then.same_file(now)
    sentence = f"{name} {what}. {GOES_ON if same else STAYS}"
    return DiskChange(sentence, then.size, now.size, now.mtime_ns, grown=same and now.size > then.size)
