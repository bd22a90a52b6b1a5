"""Open a location on S3: an object or a prefix."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import MissingError, SourceError
from inspector.sources.s3.address import SCHEME, Address, parse
from inspector.sources.s3.client import Client, client_for
from inspector.sources.s3.connection import Attempt, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.request_log import RequestLog, Why
from inspector.sources.s3.responses import Seen
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.source import S3Source, listed_object, open_object, seen_object

_MISSING = 404
_NOT_ALLOWED = ("AccessDenied", "403", "Forbidden")
"""What a server answers with that knows the credentials, or needs none."""


def open_s3(
    location: str,
    connection: Connection,
    *,
    sparing: bool,
    tail: bool,
    listed: bool = False,
    holders: Sequence[str] = (),
    inside: bool = False,
) -> S3Source | S3Prefix:
    """The object at ``location``, else the prefix; raises SourceError if there is neither.

    A bucket, or a location that ends with a slash, is a prefix. ``tail``: the object has its index at its end.
    ``listed``: its siblings will be needed anyway, so look it up in a listing. ``holders`` are names of folders whose
    objects will all be needed if it is a prefix; ``inside``: it probably is one, and nothing else is needed.
    """
    address, log = parse(location), RequestLog()
    client = client_for(connection)
    try:
        inner = holders if inside else ()
        found = _listed(client, address, log, inner, sparing=sparing) if listed or inside else None
        return found or _open(client, address, log, holders, sparing=sparing, tail=tail)
    except S3Error as error:
        error.log = log
        raise


def open_seen(location: str, connection: Connection, seen: Seen, *, tail: bool) -> S3Source | None:
    """The object at ``location`` as listed; None if it has been replaced or removed since.

    Makes no further request about it. Raises SourceError.
    """
    log = RequestLog()
    try:
        return seen_object(client_for(connection), parse(location), seen, log, tail=tail)
    except S3Error as error:
        error.log = log
        raise


def _listed(
    client: Client, address: Address, log: RequestLog, holders: Sequence[str], *, sparing: bool
) -> S3Source | S3Prefix | None:
    """The object or prefix from one listing; None if it is not in it, or listing is not allowed."""
    try:
        if not holders:
            return listed_object(client, address, log, sparing=sparing)
        found = S3Prefix(client, Address(address.bucket, address.prefix), log, sparing=sparing)
        return found if found.hold(holders) else None
    except S3Error as error:
        if not error.is_refusal:
            raise
        return None


def _open(
    client: Client, address: Address, log: RequestLog, holders: Sequence[str], *, sparing: bool, tail: bool
) -> S3Source | S3Prefix:
    if address.key != address.prefix:
        try:
            return open_object(client, address, log, tail=tail, sparing=sparing)
        except S3Error as error:
            if error.status != _MISSING or error.code == "NoSuchBucket":
                raise
    found = S3Prefix(client, address, log, sparing=sparing, holders=holders)
    if not found.exists() and address.key:
        raise MissingError(f"{visible(address.location)} does not exist, neither as an object nor as a prefix.")
    return found


def attempt(progress: Progress, connection: Connection, location: str) -> Attempt:
    """Whether the server can be reached, and the bucket of ``location`` read; for ``s3://`` alone, listed with others.

    Makes one request, or two where a bucket may not be listed. Raises Cancelled.
    """
    progress.begin("Testing the connection", 0, "requests")
    try:
        return Attempt(True, _reached(progress, connection, location))
    except SourceError as error:
        return Attempt(False, str(error))


def _reached(progress: Progress, connection: Connection, location: str) -> str:
    """What a connection reaches, as a sentence. Raises SourceError and Cancelled."""
    client, log = client_for(connection), RequestLog()
    with cancelling(progress):
        if location == SCHEME:
            found = count(len(client.buckets(log)), "bucket")
            return f"The server lists {found}. It was reached {client.used}."
        address = parse(location)
        try:
            client.list(address.bucket, address.key, log)
            what = f"The bucket {visible(address.bucket)} can be listed"
        except S3Error as error:
            if error.code not in _NOT_ALLOWED or address.key == address.prefix:
                raise
            client.head(address, log, Why.OPENING)
            what = f"{visible(address.location)} can be read, and its bucket not listed"
    return f"{what}. It was reached {client.used}."
