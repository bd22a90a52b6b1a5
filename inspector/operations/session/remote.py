"""What reading costs: S3 requests, why they fail, what is cached; how the file on disk changed; browsing buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.core.names import visible
from inspector.core.pieces import PieceSource
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SourceError
from inspector.core.span import Span, Spans, intersect, subtract, united
from inspector.operations.protocol.browse_views import (
    EntryKind,
    ErrorAction,
    RemoteEntry,
    RemotePage,
    RemoteState,
    S3Problem,
)
from inspector.operations.protocol.views import DiskChange, Stage
from inspector.operations.session.reading import SessionState
from inspector.sources.local.file import FileSource, Identity
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.connection import Attempt, Connection, Profile, profiles
from inspector.sources.s3.request_log import Phase, Request, RequestLog, Totals
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.sentences import replaced as replaced_words
from inspector.sources.s3.source import RemoteSource
from inspector.sources.web.address import is_remote, is_web

if TYPE_CHECKING:
    from inspector.sources.s3.responses import Page

_ACTIONS: dict[str | int, tuple[ErrorAction, ...]] = {
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
    **dict.fromkeys(
        ("ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"),
        (ErrorAction.RETRY, ErrorAction.CONNECTION),
    ),
    301: (ErrorAction.REGION,),
    403: (ErrorAction.UNSIGNED, ErrorAction.CONNECTION),
    404: (ErrorAction.CONNECTION,),
    412: (ErrorAction.RELOAD,),
    416: (ErrorAction.RELOAD,),
}
"""What to do about an error, by its name or the status of its answer."""
_RETRY = (ErrorAction.RETRY,)
_SERVER, _PRECONDITION_FAILED, _NO_SUCH_RANGE = 500, 412, 416


def problem_of(error: SourceError, location: str, *, anonymous: bool) -> S3Problem:
    """The problem that an error reports, and what to do; ``anonymous``: requests were not signed."""
    if is_web(location):
        reload = isinstance(error, S3Error) and error.status in (_PRECONDITION_FAILED, _NO_SUCH_RANGE)
        return S3Problem(str(error), (ErrorAction.RELOAD,) if reload else _RETRY)
    if not isinstance(error, S3Error):
        return S3Problem(str(error), (ErrorAction.BROWSE if _is_address(location) else ErrorAction.CONNECTION,))
    region = _region(error)
    default = _RETRY if not error.status or error.status >= _SERVER else (ErrorAction.CONNECTION,)
    useless = {ErrorAction.UNSIGNED: anonymous, ErrorAction.REGION: not region}
    known = _ACTIONS.get(error.code) or _ACTIONS.get(error.status) or default
    actions = tuple(each for each in known if not useless.get(each))
    return S3Problem(str(error), actions or (ErrorAction.CONNECTION,), region)


def _is_address(location: str) -> bool:
    try:
        return bool(parse(location).bucket)
    except SourceError:
        return False


def _region(error: S3Error) -> str:
    """The region of the bucket according to the server; empty if it does not say."""
    response: Any = getattr(error.__cause__, "response", None)
    if not isinstance(response, dict):
        return ""
    details: Any = response.get("Error") or {}
    headers: Any = (response.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    return str(details.get("Region") or headers.get("x-amz-bucket-region") or "")


# ---- one open location ---------------------------------------------------------------------------------------------


def cached_spans(source: Source) -> Spans:
    """The bytes of a source that can be read without a request; none if it is local."""
    if not isinstance(source, PieceSource):
        return source.cache.spans() if isinstance(source, RemoteSource) else ()
    cached = cached_spans(source.base)
    if not cached:
        return ()
    found, own = [], []
    for at, span in source.from_base():
        own.append(Span(at, at + span.size))
        found += [Span(at + start - span.start, at + stop - span.start) for start, stop in intersect(cached, [span])]
    return tuple(united([*found, *subtract([Span(0, source.size)], own)]))


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
    grown = same and now.size > then.size
    return DiskChange(sentence, then.size, now.size, now.mtime_ns, grown=grown, replaced=not same)


class Connecting:
    """What each session that may use S3 answers: the profiles of this machine, and whether a connection works."""

    def profiles(self, progress: Progress) -> tuple[Profile, ...]:
        """The profiles of this machine; no request is made."""
        return profiles(progress)

    def attempt(self, progress: Progress, connection: Connection, location: str) -> Attempt:
        """Whether a connection reaches the bucket of a location, and how."""
        from inspector.sources.s3.opening import attempt  # only where S3 is used

        return attempt(progress, connection, location)


class Costs(SessionState, Connecting):
    """What reading costs, and how the file on disk has changed."""

    def remote(self) -> RemoteState | None:
        """The cost of reading so far; None for local files."""
        problem = None
        if self.read_error is not None and is_remote(self.name):
            problem = problem_of(self.read_error, self.name, anonymous=self.s3.anonymous)
        elif self.stage is Stage.READY and any(archive.cut_short for archive in self.disk.archives):
            problem = S3Problem("Part of it could not be read, so this view is incomplete. See the findings.", _RETRY)
        sources, log = self._sources(), self._log()
        if not sources:
            return RemoteState(log.totals if log else Totals(), 0, problem) if problem is not None else None
        replaced = next((source for source in sources if source.replaced), None)
        if replaced is not None:
            problem = S3Problem(self.unwritten or replaced_words(replaced.name), (ErrorAction.RELOAD,))
        in_flight = sources[0].log.in_flight()
        waiting = sum(each.phase is Phase.WAITING for each in in_flight)
        size, used = self.disk.location.size, sources[0].used
        return RemoteState(sources[0].log.totals, size, problem, len(in_flight), waiting, used)

    def requests(self) -> tuple[Request, ...]:
        """The latest S3 requests, oldest first, those in flight last."""
        log = self._log()
        return (*log.requests(), *log.in_flight()) if log is not None else ()

    def _sources(self) -> list[RemoteSource]:
        """All open sources on a network, which share one log; a pending edit sends no requests."""
        return [each.source for each in tuple(self.disk.archives) if isinstance(each.source, RemoteSource)]

    def _log(self) -> RequestLog | None:
        """All requests for the location, or those until opening it failed."""
        sources = self._sources()
        return sources[0].log if sources else self.error.log if isinstance(self.error, S3Error) else None

    def disk_change(self) -> DiskChange | None:
        """How the file on disk has changed since it was read; None if it has not, and for a folder."""
        archives = self.disk.archives
        return disk_change(archives[0].source) if len(archives) == 1 else None

    def cached(self, layer: int) -> Spans:
        """The cached bytes of a layer, which can be read without a request."""
        return cached_spans(self.now.layers[layer].source)


# ---- browsing buckets ----------------------------------------------------------------------------------------------


class Browser(Connecting):
    """Answers BrowseRequests, in any order. Lists only what was requested."""

    def __init__(self) -> None:
        self._log = RequestLog()

    def buckets(self, progress: Progress, connection: Connection) -> RemotePage:
        """All buckets; raises SourceError."""
        from inspector.sources.s3.client import client_for

        progress.begin("Listing buckets", 0, "buckets")
        with cancelling(progress):
            names = client_for(connection).buckets(self._log)
        entries = tuple(RemoteEntry(EntryKind.BUCKET, visible(name), Address(name, "").location) for name in names)
        return RemotePage(entries, "", self._log.totals)

    def page(self, progress: Progress, connection: Connection, location: str, after: str) -> RemotePage:
        """The page of a prefix with the token ``after``, the first one if that is empty; raises SourceError."""
        from inspector.sources.s3.client import client_for

        address = parse(location)
        progress.begin("Listing", 0, "entries")
        with cancelling(progress):
            page = client_for(connection).list(address.bucket, address.prefix, self._log, after=after)
        return RemotePage(tuple(_entries(address, page)), page.following, self._log.totals)


def _entries(address: Address, page: Page) -> list[RemoteEntry]:
    start = len(address.prefix)
    found = [
        RemoteEntry(EntryKind.PREFIX, visible(each[start:].removesuffix("/")), Address(address.bucket, each).location)
        for each in page.prefixes
    ]
    found += [
        RemoteEntry(
            EntryKind.OBJECT,
            visible(key[start:]),
            Address(address.bucket, key).location,
            head.size,
            head.modified,
        )
        for key, head in page.objects.items()
        if key != address.prefix  # some tools create an empty object for a folder
    ]
    return found
