"""Files on the web as sources, and requests to any server for ranges of them, waiting and failing as those to S3."""

from __future__ import annotations

import io
import os
import time
from contextlib import closing
from email.utils import formatdate, parsedate_to_datetime
from functools import cache, partial
from random import random
from typing import Any
from urllib.parse import urljoin, urlsplit

from botocore.awsrequest import AWSPreparedRequest, HeadersDict
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from botocore.httpsession import URLLib3Session
from botocore.response import StreamingBody
from botocore.utils import get_environ_proxies
from msgspec.structs import replace

from inspector import __version__
from inspector.core import limits
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.log import redact_logs
from inspector.core.source import HiddenError, Source
from inspector.sources.s3.address import Place
from inspector.sources.s3.cache import Blocks
from inspector.sources.s3.request_log import Request, RequestLog, Why
from inspector.sources.s3.responses import ByteRange, Head, head_of, is_web_page, seconds_of
from inspector.sources.s3.sentences import Failure, S3Error, WebPageError, sentence
from inspector.sources.s3.source import MAX_WHOLE_BYTES, RemoteSource, opened
from inspector.sources.s3.transport import PIECE, Transport, watch
from inspector.sources.web.address import WebAddress, parse

ATTEMPTS = 3
MAX_REDIRECTS = 5
MAX_WAIT_SECONDS = 20.0
"""How long a server is waited for that asks to be asked again later."""
_MAX_CONNECTIONS = 16
_LATER = (429, 500, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_EXPIRED = (401, 403, 404, 410)
"""What a server answers to an address that was good for some time, as those that redirects lead to."""
_LOST = (ConnectionClosedError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError)
_POLL_SECONDS = 0.1
_CA_VARIABLES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_REFUSED = (
    "Reading {what} is not allowed ({status}). A signed address is good for one file and some time only: get a new "
    "one, then open that."
)
_BY_STATUS = {
    401: _REFUSED,
    403: _REFUSED,
    404: "{what} does not exist (404).",
    410: "{what} does not exist any more (410).",
    412: "",
    416: "",
    429: "",
    503: "",
}
"""What is said of statuses; where it is nothing, the same as on S3."""
_BY_NAME = {
    "EndpointConnectionError": "There is no connection to {where}. Is there a network, and is the address right?",
    "ConnectTimeoutError": (
        "{where} did not answer within {connecting}. Is there a network, and is the address right?"
    ),
    "WebPageError": (
        "{where} answered with a web page instead of {what}. Does it, or this network, want a sign-in first?"
    ),
}


class WebClient(Transport):
    """A client for files on the web, thread-safe. Every method raises S3Error, and Cancelled."""

    def __init__(self) -> None:
        super().__init__()
        redact_logs()
        watch()
        self._targets: dict[str, str] = {}
        """Where redirects led, so that they are not followed for every range."""

    def head(self, address: Place, log: RequestLog, why: Why) -> Head:
        """The head of a file. By GET, whose body is not read: a signature is good for one method."""
        with self._logged_request("GET", address, ByteRange(0), log, why) as entry:
            answer = self._answer(address, None, None, entry)
            with closing(answer["Body"]):
                self._note(entry, answer)
                return head_of(answer)

    # ---- one request -----------------------------------------------------------------------------------------------

    def _answer(self, address: Place, asked: ByteRange | None, known: Head | None, entry: Request) -> Any:
        assert isinstance(address, WebAddress)
        headers = {"Accept-Encoding": "identity", "User-Agent": f"archive-inspector/{__version__}"}
        if asked is not None:
            headers["Range"] = asked.header
        if known is not None and known.etag and not known.etag.startswith("W/"):
            headers["If-Match"] = known.etag
        elif known is not None and known.modified:
            headers["If-Unmodified-Since"] = formatdate(known.modified, usegmt=True)
        while True:
            is_last = entry.attempts == ATTEMPTS
            try:
                response = self._redirected(address, headers)
            except _LOST:
                if is_last:
                    raise
                pause = _pause(entry.attempts)
            else:
                if response.status_code not in _LATER or is_last:
                    return _as_boto3_gives_it(response, address, entry.attempts)
                pause = _wanted_pause(response.headers.get("Retry-After"), entry.attempts)
                response.raw.close()
                if pause > MAX_WAIT_SECONDS:
                    raise S3Error(
                        f"{_server(response.url)} asks to be asked again in {count(int(pause), 'second')} "
                        f"({response.status_code}), for {visible(address.location)}. Try again then.",
                        response.status_code,
                    )
            end = time.monotonic() + pause
            while (left := end - time.monotonic()) > 0:
                self._check_cancelled()
                time.sleep(min(_POLL_SECONDS, left))
            entry.attempts += 1

    def _redirected(self, address: WebAddress, headers: dict[str, str]) -> Any:
        url = remembered = self._targets.get(address.url, address.url)
        for _ in range(MAX_REDIRECTS + 1 + (url != address.url)):
            response = self._send(url, headers)
            if remembered != address.url and response.status_code in (*_EXPIRED, *_REDIRECTS):
                self._targets.pop(address.url, None)  # what was remembered is good no more
                url = remembered = address.url
            elif response.status_code in _REDIRECTS:
                url = next_address(url, response.headers.get("Location") or "", address)
            else:
                if url != address.url:
                    self._targets[address.url] = url
                return response
            response.raw.close()
        raise S3Error(
            f"{visible(address.location)} leads from one address to another, more than {MAX_REDIRECTS} times, so it "
            "was given up.",
            response.status_code,
        )

    def _send(self, url: str, headers: dict[str, str]) -> Any:
        """The response of the server at ``url``, without its body. No referrer is sent."""
        proxies: dict[str, str] = get_environ_proxies(url)
        session = _session(tuple(sorted(proxies.items())), self._silence)
        return session.send(AWSPreparedRequest("GET", url, HeadersDict(headers), None, stream_output=True))

    def _note(self, entry: Request, answer: Any) -> None:
        """Note the status of a response. Raises WebPageError if it is a web page; a range of one is what it seems."""
        self._note_status(entry, answer)
        if answer["ContentRange"] is None and is_web_page(answer):
            raise WebPageError

    def _sentence(self, failure: Failure, error: BaseException) -> S3Error:
        assert failure.address is not None
        failure = replace(failure, where=_server(failure.address.location))
        return sentence(failure, error, _BY_NAME, _BY_STATUS)


@cache
def _session(proxies: tuple[tuple[str, str], ...], silence: float) -> URLLib3Session:
    """Connections through the proxies that the environment names for a server; ``silence`` is in seconds."""
    return URLLib3Session(
        verify=next((value for name in _CA_VARIABLES if (value := os.environ.get(name))), True),
        proxies=dict(proxies),
        timeout=(limits.CONNECTING.value, silence),
        max_pool_connections=_MAX_CONNECTIONS,
    )


def _as_boto3_gives_it(response: Any, address: WebAddress, tried: int) -> dict[str, Any]:
    """A response as boto3's dictionary. Raises ClientError for a status that is an error, S3Error for what is odd."""
    headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
    status = int(response.status_code)
    about = {"HTTPStatusCode": status, "HTTPHeaders": headers, "RetryAttempts": tried - 1}
    if status >= 300:
        response.raw.close()
        reason = str(getattr(response.raw, "reason", "") or "")
        raise ClientError({"ResponseMetadata": about, "Error": {"Code": str(status), "Message": reason}}, "GET")
    if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        response.raw.close()
        raise S3Error(
            f"{_server(address.location)} sends {visible(address.location)} compressed, so no byte of it has a "
            "position. Download the file, and open it here.",
            status,
        )
    length = headers.get("content-length", "")
    answer: dict[str, Any] = {
        "ResponseMetadata": about,
        "ETag": headers.get("etag", ""),
        "LastModified": _moment(headers.get("last-modified", "")),
        "ContentRange": headers.get("content-range"),
        "ContentLength": int(length) if length.isdecimal() and len(length) < 20 else -1,
    }
    answer["Body"] = StreamingBody(response.raw, length if answer["ContentLength"] >= 0 else None)
    if answer["ContentLength"] < 0 and status != 206 and not is_web_page(answer):
        with closing(answer["Body"]):
            whole = _whole(answer["Body"], address)
        answer |= {"Body": io.BytesIO(whole), "ContentLength": len(whole)}
    return answer


def _whole(body: Any, address: WebAddress) -> bytes:
    """All bytes of a body whose size is not said beforehand. Raises S3Error if they are many."""
    data = bytearray()
    while piece := body.read(PIECE):
        data += piece
        if len(data) > MAX_WHOLE_BYTES:
            raise S3Error(
                f"The server does not report the size of {visible(address.location)} and ignores ranges, and it has "
                f"more than {in_bytes(MAX_WHOLE_BYTES)}. Download the file, and open it here."
            )
    return bytes(data)


def next_address(url: str, location: str, address: WebAddress) -> str:
    """The address that a redirect leads to. Raises S3Error if it is not followed."""
    shown = visible(address.location)
    try:
        parts = urlsplit(urljoin(url, location))
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if not location or not host or parts.scheme not in ("http", "https"):
        raise S3Error(f"{_server(url)} sends the request for {shown} to no address that can be followed.")
    if parts.username is not None:
        raise S3Error(f"{_server(url)} sends the request for {shown} to an address with a user, so it is not followed.")
    if urlsplit(url).scheme == "https" and parts.scheme != "https":
        raise S3Error(
            f"{_server(url)} sends the request for {shown} from https:// to http://, where others can read it, so it "
            "is not followed."
        )
    return parts._replace(fragment="").geturl()


def _server(url: str) -> str:
    parts = urlsplit(url)
    return visible(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def _pause(tried: int) -> float:
    """Seconds before the next attempt, as boto3 waits."""
    return min(random() * 2.0 ** (tried - 1), MAX_WAIT_SECONDS)  # noqa: S311 - nothing secret


def _wanted_pause(after: str | None, tried: int) -> float:
    """Seconds before the next attempt, as the server wants it (Retry-After: seconds or a date)."""
    value = (after or "").strip()
    if value.isdecimal() and len(value) < 10:
        return float(value)
    moment = _moment(value)
    return max(0.0, seconds_of(moment) - time.time()) if moment is not None else _pause(tried)


def _moment(value: str) -> Any:
    try:
        return parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None


@cache
def client() -> WebClient:
    return WebClient()


# ---- files -----------------------------------------------------------------------------------------------------------

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
        super().__init__(client, address, head, log, Blocks(), sparing=sparing)
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
    return opened(
        partial(WebSource, client, address, log=log, sparing=sparing), client, address, log, tail=tail, sparing=sparing
    )
