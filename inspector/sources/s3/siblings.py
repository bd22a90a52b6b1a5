"""What stands beside an object, from a listing: nothing is asked of each name that might be there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.source import HiddenError, Source
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.cache import Blocks
from inspector.sources.s3.ledger import Ledger, Why
from inspector.sources.s3.responses import Head, Listed, Seen
from inspector.sources.s3.sentences import S3Error

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client

_DENIED, _MISSING = 403, 404


class NotToldError(S3Error, HiddenError):
    """Whether an object exists is not told: S3 answers 403 for what is missing, too, where listing is not allowed."""


class Beside:
    """Objects by address, from the listings that were made, and a listing where there is none yet."""

    def __init__(self, client: Client, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger
        self.blocks = Blocks()
        """What is kept of the bytes of all these objects."""
        self.sources: dict[Address, Source] = {}
        """Those that were wanted beside another one: what was read of them need not be read again."""
        self._known: dict[Address, Head | None] = {}
        self._hidden: dict[Address, NotToldError] = {}
        self._listed: dict[Address, str] = {}
        """Prefixes of which all keys up to this one are known."""

    def add(self, bucket: str, objects: Iterable[Listed]) -> None:
        """Objects that a listing gave."""
        for each in objects:
            self._known[Address(bucket, each.key)] = each.head

    def add_seen(self, address: Address, seen: Seen) -> None:
        """An object, and all that stands beside it, as a listing gave them."""
        self._known[address] = seen.head
        self._known |= {parse(location): head for location, head in seen.beside}
        self._listed[Address(address.bucket, _stem(address.key))] = ""

    def listed(self, prefix: Address) -> None:
        """All objects with this prefix have been added."""
        self._listed[prefix] = ""

    def known(self, address: Address) -> Head | None:
        """What a listing that was made says of the object."""
        return self._known.get(address)

    def listed_near(self, address: Address) -> Head | None:
        """What a listing of all names like this one says of the object. Raises SourceError."""
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
        """The prefix of a listing that has the object if it exists."""
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
        try:
            page = self._client.list(prefix.bucket, prefix.key, self._ledger)
        except S3Error as error:
            if not error.is_refusal:
                raise
            self._listed[prefix] = "\0"  # listing is not allowed: each is asked for
            return
        self.add(prefix.bucket, page.objects)
        names = [*(each.key for each in page.objects), *page.prefixes]
        self._listed[prefix] = max(names, default="") if page.following else ""

    def _ask(self, address: Address) -> Head | None:
        try:
            return self._client.head(address, self._ledger, Why.BESIDE)
        except S3Error as error:
            if error.status == _MISSING and error.code != "NoSuchBucket":
                return None
            if error.status != _DENIED:
                raise
            self._hidden[address] = NotToldError(
                f"Whether {visible(address.location)} exists is not told (403): the credentials may neither list the "
                "bucket nor read it, if it is there.",
                error.status,
                error.code,
            )
            raise self._hidden[address] from error


def _stem(key: str) -> str:
    """The key without its last endings: ``a/1-2.tar.metadata`` and ``a/1-2.tar`` have the stem ``a/1-2.``."""
    folder, slash, name = key.rpartition("/")
    stem, dot, _ = name.removesuffix(".metadata").rpartition(".")
    return f"{folder}{slash}{stem}{dot}" if stem else key
