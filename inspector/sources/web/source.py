"""A file on the web as a Source."""

from __future__ import annotations

from inspector.core.names import visible
from inspector.core.source import HiddenError, Source
from inspector.sources.s3.cache import Blocks
from inspector.sources.s3.request_log import RequestLog
from inspector.sources.s3.responses import Head
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.source import RemoteSource, opened
from inspector.sources.web.address import WebAddress, parse
from inspector.sources.web.client import WebClient, client

_MISSING = (404, 410)
_NOT_TOLD = (401, 403)


class HiddenFileError(S3Error, HiddenError):
    """Whether a file is beside another is not known."""


class WebSource(RemoteSource):
    """One file. What it was at opening is told from its ETag or, without one, from the time of its last change."""

    address: WebAddress
    _client: WebClient

    def __init__(
        self, client: WebClient, address: WebAddress, head: Head, log: RequestLog, *, sparing: bool = False
    ) -> None:
        self._blocks = Blocks()
        super().__init__(client, address, head, log, self._blocks, sparing=sparing)
        self._beside: dict[WebAddress, WebSource | S3Error | None] = {}

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """Raises HiddenFileError beside a signed address, whose signature is good for nothing else."""
        location = self.address.location
        if not location.endswith(instead_of):
            return None
        name = location.removesuffix(instead_of) + suffix
        if self.address.is_signed:
            raise HiddenFileError(
                f"Whether {visible(name)} exists is unknown, because {visible(location)} was given with a query, which "
                "is good for one file."
            )
        address = WebAddress(name, self.address.url.removesuffix(instead_of) + suffix)
        if address not in self._beside:
            self._beside[address] = self._ask(address)
        found = self._beside[address]
        if isinstance(found, S3Error):
            raise found
        return found

    def _ask(self, address: WebAddress) -> WebSource | S3Error | None:
        try:
            return open_file(self._client, address, self.log, tail=True, sparing=self.sparing)
        except S3Error as error:
            if error.status in _MISSING:
                return None
            if error.status in _NOT_TOLD or error.code == "WebPageError":
                return HiddenFileError(
                    f"Whether {visible(address.location)} exists is unknown. {error}", error.status, error.code
                )
            return error


def open_web(location: str, *, sparing: bool, sequential: tuple[str, ...]) -> WebSource:
    """The file at ``location``; ``sequential`` are suffixes of those without an index at their end.

    Raises SourceError and Cancelled.
    """
    address, log = parse(location), RequestLog()
    try:
        return open_file(client(), address, log, tail=not address.location.endswith(sequential), sparing=sparing)
    except S3Error as error:
        error.log = log
        raise


def open_file(client: WebClient, address: WebAddress, log: RequestLog, *, tail: bool, sparing: bool) -> WebSource:
    """Open the file at ``address`` with one request; raises S3Error and Cancelled."""

    def made(head: Head) -> WebSource:
        return WebSource(client, address, head, log, sparing=sparing)

    return opened(made, client, address, log, tail=tail, sparing=sparing)
