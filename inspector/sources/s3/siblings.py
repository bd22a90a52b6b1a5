"""The siblings of an object, from a listing instead of a request for each possible name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.source import HiddenError, Source
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.cache import Blocks
from inspector.sources.s3.request_log import RequestLog, Why
from inspector.sources.s3.responses import Head, Seen
from inspector.sources.s3.sentences import S3Error

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client

_DENIED, _MISSING = 403, 404


class HiddenObjectError(S3Error, HiddenError):
    """The server hides whether an object exists: without the right to list, S3 answers 403 for missing ones too."""


class Siblings:
    """Objects by address from the listings made so far; makes one if needed."""

    def __init__(self, client: Client, log: RequestLog) -> None:
        self._client = client
        self._log = log
        self.blocks = Blocks()
        """The cached bytes of all these objects."""
        self.sources: dict[Address, Source] = {}
        """Siblings that were opened, kept so that their cached bytes are reused."""
        self._known: dict[Address, Head | None] = {}
        self._hidden: dict[Address, HiddenObjectError] = {}
        self._failed: dict[Address, S3Error] = {}
        """Listings that failed, by prefix: what was decoded because of one must not be judged by a later one."""
        self._listed: dict[Address, str] = {}
        """Listed prefixes, and up to which key (empty: all)."""

    def add(self, bucket: str, objects: Mapping[str, Head]) -> None:
        """Add listed objects."""
        self._known |= {Address(bucket, key): head for key, head in objects.items()}

    def add_seen(self, address: Address, seen: Seen) -> None:
        """Add an object and its siblings from a listing."""
        self._known[address] = seen.head
        self._known |= {parse(location): head for location, head in seen.beside}
        self._listed[Address(address.bucket, _stem(address.key))] = ""

    def listed(self, prefix: Address) -> None:
        """Mark the prefix as completely listed."""
        self._listed[prefix] = ""

    def known(self, address: Address) -> Head | None:
        """The head of the object from the listings made so far."""
        return self._known.get(address)

    def listed_near(self, address: Address) -> Head | None:
        """The head of the object from a new listing of its stem. Raises SourceError."""
        self._list(Address(address.bucket, _stem(address.key)))
        return self.known(address)

    def find(self, address: Address, near: Address) -> Head | None:
        """What is known of the object, None where there is none.

        It is looked up in a listing; where there is none, that of all names like ``near`` is asked for. Raises
        S3Error, NotToldError where neither listing nor asking for it is allowed.
        """
        if address in self._hidden:
            raise self._hidden[address]
        if address in self._known:
            return self._known[address]
        prefix = self._listing(address)
        if prefix is None:
            prefix = Address(near.bucket, _stem(near.key))
            self._list(prefix)
        last = self._listed[prefix]
        if address not in self._known:
            self._known[address] = self._ask(address) if last and address.key > last else None
        return self._known[address]

    def _listing(self, address: Address) -> Address | None:
        """The prefix of a listing that would contain the object."""
        folder = Address(address.bucket, address.key[: len(address.key) - len(address.name)])
        if folder in self._listed:
            return folder
        for prefix in self._listed:
            rest = address.key.removeprefix(prefix.key)
            same = prefix.bucket == address.bucket and address.key.startswith(prefix.key)
            if same and "/" not in rest:
                return prefix
        return None

    def _list(self, prefix: Address) -> None:
        if prefix in self._failed:
            raise self._failed[prefix]
        try:
            page = self._client.list(prefix.bucket, prefix.key, self._log)
        except S3Error as error:
            if not error.is_refusal:
                self._failed[prefix] = error
                raise
            self._listed[prefix] = "\0"  # listing is not allowed: request each object
            return
        self.add(prefix.bucket, page.objects)
        names = [*page.objects, *page.prefixes]
        self._listed[prefix] = max(names, default="") if page.following else ""

    def _ask(self, address: Address) -> Head | None:
        try:
            return self._client.head(address, self._log, Why.BESIDE)
        except S3Error as error:
            if error.status == _MISSING and error.code != "NoSuchBucket":
                return None
            if error.status != _DENIED:
                raise
            self._hidden[address] = HiddenObjectError(
                f"Whether {visible(address.location)} exists is unknown (403): the credentials may neither list the "
                "bucket nor read the object, if it exists.",
                error.status,
                error.code,
            )
            raise self._hidden[address] from error


def _stem(key: str) -> str:
    """The key without its last suffixes: ``a/1-2.tar.metadata`` and ``a/1-2.tar`` have the stem ``a/1-2.``."""
    folder, slash, name = key.rpartition("/")
    stem, dot, _ = name.removesuffix(".metadata").rpartition(".")
    return f"{folder}{slash}{stem}{dot}" if stem else key
