"""Read requests: get, head and list. The only module that imports boto3."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore import UNSIGNED
from botocore.config import Config
from botocore.loaders import create_loader
from botocore.utils import parse_timestamp

from inspector.core import limits
from inspector.core.names import visible
from inspector.core.program.log import redact_logs
from inspector.core.program.redaction import redacted
from inspector.sources.s3.address import Address, Place
from inspector.sources.s3.connection import Addressing, Connection
from inspector.sources.s3.request_log import Request, RequestLog, Why
from inspector.sources.s3.responses import NO_BYTES, ByteRange, Head, Page, crc32_of, head_of, is_web_page, page_of
from inspector.sources.s3.sentences import Failure, ForeignAnswerError, WebPageError
from inspector.sources.s3.transport import Transport, watch

ATTEMPTS = 3
MAX_CONNECTIONS = 16
"""Connections that are kept: as many as there are requests in flight."""


class Client(Transport):
    """A client for one connection, thread-safe. Every method raises SourceError."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection
        self._extra = {"RequestPayer": "requester"} if connection.requester_pays else {}
        redact_logs()
        watch()
        with self._sentences(Failure(None)):
            self._s3: Any = boto_client(connection, self._silence)
        redact_logs()  # again, for the loggers created meanwhile
        self.endpoint = str(self._s3.meta.endpoint_url)
        self.used = _used(connection, self._s3)

    def _answer(self, address: Place, asked: ByteRange, known: Head | None, entry: Request) -> Any:  # noqa: ARG002 - boto3 says how often it tried
        options: dict[str, Any] = {"Range": asked.header, **self._extra}
        if known is not None and known.etag and not known.etag.startswith("W/"):
            options["IfMatch"] = known.etag  # a weak ETag never matches: it is compared in the response
        if known is not None and known.version:
            options["VersionId"] = known.version
        return self._s3.get_object(Bucket=address.bucket, Key=address.key, **options)

    def head(self, address: Place, log: RequestLog, why: Why) -> Head:
        return head_of(self._ask("HEAD", address, log, why, self._s3.head_object, **named(address)))

    def kept_crc32(self, address: Address, known: Head, log: RequestLog) -> int | None:
        """The CRC-32 that the server stores for an object as ``known``; None if it does not cover all bytes."""
        words = named(address) | {"ChecksumMode": "ENABLED"} | ({"IfMatch": known.etag} if known.etag else {})
        return crc32_of(self._ask("HEAD", address, log, Why.OPENING, self._s3.head_object, **words))

    def list(self, bucket: str, prefix: str, log: RequestLog, *, after: str = "", flat: bool = False) -> Page:
        """One page of the objects and, unless ``flat``, the prefixes in ``prefix``, with or without a slash.

        ``after`` is ``following`` of the page before.
        """
        words: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix} | ({} if flat else {"Delimiter": "/"})
        words |= {"ContinuationToken": after} if after else {}
        call, one_of = self._s3.list_objects_v2, ("Name", "KeyCount", "IsTruncated", "Contents")
        # boto3 reads other XML as an empty listing.
        return page_of(self._ask("LIST", Address(bucket, prefix), log, Why.LISTING, call, one_of, **words))

    def buckets(self, log: RequestLog) -> tuple[str, ...]:
        """The names of all buckets; only on a user's request."""
        answer = self._ask("LIST", Address("", ""), log, Why.LISTING, lambda **_: self._s3.list_buckets())
        return tuple(str(each.get("Name", "")) for each in answer.get("Buckets") or ())

    def _ask(
        self,
        method: str,
        address: Place,
        log: RequestLog,
        why: Why,
        call: Callable[..., Any],
        one_of: tuple[str, ...] = (),
        asked: ByteRange = NO_BYTES,
        proof: Callable[[Any], bool] | None = None,
        **words: Any,
    ) -> Any:
        """The answer to a request, which has ``one_of`` these fields. ``words`` are those of boto3's ``call``.

        ``proof`` tells an answer from a web page, where it may have the content type of one.
        """
        with self._logged_request(method, address, asked, log, why) as entry:
            answer = call(**words, **self._extra)
            self._note(entry, answer)
            if one_of and not any(name in answer for name in one_of):
                raise ForeignAnswerError
            if proof is not None and is_web_page(answer) and not proof(answer):
                raise WebPageError
            entry.sent = asked.size if "Body" in words else 0
        return answer

    def close(self) -> None:
        """Close pooled connections; the next request opens new ones."""
        self._s3.close()

    def _note(self, entry: Request, answer: Any) -> None:
        """Note the status of a response. Raises WebPageError if it is a web page."""
        self._note_status(entry, answer)
        if is_web_page(answer):
            raise WebPageError


def named(address: Place) -> dict[str, Any]:
    """An object, as boto3's functions are told it."""
    return {"Bucket": address.bucket, "Key": address.key}


@cache
def client_for(connection: Connection) -> Client:
    """The cached client for a connection. Raises SourceError."""
    return Client(connection)


def boto_client(connection: Connection, timeout: float, attempts: int = ATTEMPTS) -> Any:
    """A boto3 client; ``timeout`` is in seconds, ``attempts`` includes retries."""
    core = botocore.session.Session(profile=connection.profile or None)
    core.register_component("data_loader", _loader(core.get_config_variable("data_path")))
    core.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_moment)
    session = boto3.Session(botocore_session=core, region_name=connection.region or None)
    style = connection.addressing or _configured_style(core)
    if style or (connection.endpoint and not is_amazon(connection.endpoint)):
        return _made(session, connection, style or Addressing.PATH, timeout, attempts)
    made = _made(session, connection, "auto", timeout, attempts)
    if is_amazon(made.meta.endpoint_url):
        return made
    return _made(session, connection, Addressing.PATH, timeout, attempts)


def _configured_style(core: Any) -> str:
    """The addressing style that the profile sets (``s3 = addressing_style = ...``), or empty."""
    settings = core.get_scoped_config().get("s3")
    style = str(settings.get("addressing_style", "")) if isinstance(settings, dict) else ""
    return style if style in (Addressing.PATH, Addressing.VIRTUAL) else ""


def _used(connection: Connection, made: Any) -> str:
    """How a client reaches its server: where, with which credentials (never what they are), and in which form."""
    found = getattr(getattr(made, "_request_signer", None), "_credentials", None)
    method = str(getattr(found, "method", "") or "")
    credentials = f"with the credentials from {visible(_METHODS.get(method, method))}" if method else "unsigned"
    if connection.profile and not connection.anonymous:
        credentials += f" for the profile {visible(connection.profile)}"
    if connection.anonymous:
        credentials = "unsigned"
    parts = [f"at {visible(redacted(str(made.meta.endpoint_url)))}"]
    parts += [f"in the region {visible(made.meta.region_name)}"] if made.meta.region_name else []
    in_path = (made.meta.config.s3 or {}).get("addressing_style") == Addressing.PATH
    return ", ".join([*parts, credentials, f"the bucket in the {'path' if in_path else 'host name'}"])


_METHODS = {
    "env": "the environment",
    "shared-credentials-file": "the credentials file",
    "config-file": "the configuration",
}
"""Where botocore found credentials, in words."""


def _moment(value: Any) -> Any:
    """A time in a response; None where it is one that no clock shows, which is no reason not to read an object."""
    try:
        return parse_timestamp(value)
    except (ValueError, OverflowError, RuntimeError, OSError):
        return None


@cache
def _loader(data_path: str | None) -> Any:
    """What botocore knows of S3 as a service, a megabyte of JSON: read once, and not again for every client."""
    return create_loader(data_path)


def is_amazon(endpoint: str) -> bool:
    """Whether it has a host name for each bucket; other servers rarely do."""
    host = endpoint.partition("://")[2].partition("/")[0].partition(":")[0]
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu"))


def _made(session: Any, connection: Connection, style: str, timeout: float, attempts: int) -> Any:
    config = Config(
        connect_timeout=limits.CONNECTING.value,
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=MAX_CONNECTIONS,
        s3={"addressing_style": style},
        # Some servers answer a range with the checksum of the whole object, which never matches.
        response_checksum_validation="when_required",
        request_checksum_calculation="when_required",
        signature_version=UNSIGNED if connection.anonymous else None,
    )
    return session.client("s3", endpoint_url=connection.endpoint or None, config=config)
