"""A prefix on S3 as a folder: listed page by page; listed objects open without another request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.program.progress import check_cancelled
from inspector.core.source import Source
from inspector.sources.local.folder import Entry
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.request_log import RequestLog
from inspector.sources.s3.responses import Head, Page, Seen
from inspector.sources.s3.source import FIRST_BYTES, S3Source, Siblings, open_object

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client


class S3Prefix:
    """A Folder that caches its listings, so that listed objects open without a request.

    ``holders`` are names of folders whose objects will all be needed, so listing everything below them costs nothing.
    """

    def __init__(
        self,
        client: Client,
        address: Address,
        log: RequestLog,
        beside: Siblings | None = None,
        *,
        sparing: bool = False,
        holders: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._address = Address(address.bucket, address.prefix)
        self._beside = beside or Siblings(client, log)
        self._sparing = sparing
        self._holders = holders
        self._pages: list[Page] = []
        self._tree: Tree = {}
        self._entries: tuple[Entry, ...] | None = None
        self._inside: dict[str, S3Prefix] = {}
        self.log = log
        self.partly = False
        """Whether only some of its folders are listed, see ``hold``."""
        self._others: list[str] = []
        parts = [address.bucket, *filter(None, address.key.split("/"))]
        self.location = self._address.location
        self.name = parts[-1]
        self.above = parts[-2] if len(parts) > 1 else ""

    def exists(self) -> bool:
        """Whether anything is in it or below; one request, once. Raises SourceError."""
        return any(key != self._address.key for key in next(self._flat()).objects)

    def entries(self) -> tuple[Entry, ...]:
        """One request a page, once. Raises SourceError.

        If everything in it and below fits on one page, that is cached, and its subfolders need no request.
        """
        if self._entries is None and not self._list_all():
            self._entries = tuple(sorted(self._list()))
        return self._entries or ()

    def beneath(self) -> Iterator[str]:
        """The locations of all objects in it and below; one request a page. Raises SourceError."""
        for page in self._flat():
            for key in page.objects:
                if not key.endswith("/"):
                    yield Address(self._address.bucket, key).location

    def told(self) -> Iterator[str]:
        """The locations of the objects in the listing that ``hold`` made."""
        yield from self._others
        for folder in self._inside.values():
            yield from (each.location for each in folder.entries() if not each.folder)

    def _flat(self) -> Iterator[Page]:
        """All objects in it and below, by pages; the first page is cached."""
        if not self._pages:
            self._pages.append(next(self.pages(flat=True)))
        yield from self._pages
        if self._pages[-1].following:
            yield from self.pages(flat=True, after=self._pages[-1].following)

    def _list_all(self) -> bool:
        """List everything in it and below, unless that takes more pages than needed; returns whether it did."""
        pages: list[Page] = []
        for page in self._flat():
            pages.append(page)
            if page.following and not all(map(self._is_held, page.objects)):
                return False
        self._pages = pages
        found = (each for page in pages for each in page.objects.items())
        bucket, prefix = self._address
        self._tree = tree_of(bucket, prefix, found)
        for each in self._tree:
            self._beside.listed(Address(bucket, each))
        self._entries = tuple(sorted(self._tree[prefix]))
        return True

    def _is_held(self, key: str) -> bool:
        folder, _, _ = key.removeprefix(self._address.key).rpartition("/")
        return not folder or folder.rpartition("/")[2] in self._holders

    def known(self, location: str) -> Head | None:
        """The head of an object from the listings made so far, or None."""
        return self._beside.known(parse(location))

    def seen(self, location: str, beside: Iterable[str]) -> Seen | None:
        """The heads of an object and of its siblings from the listings, to open it in another process."""
        head = self.known(location)
        heads = ((other, self.known(other)) for other in beside)
        return (
            None if head is None else Seen(head, tuple((other, known) for other, known in heads if known is not None))
        )

    def pages(self, *, flat: bool = False, beginning: str = "", after: str = "") -> Iterator[Page]:
        """List it, one request a page; ``flat``: all objects below instead of prefixes. Raises SourceError.

        ``beginning`` is a common prefix of the needed names; ``after`` is the token of the first page.
        """
        bucket, prefix = self._address
        more = True
        while more:
            check_cancelled()
            page = self._client.list(bucket, prefix + beginning, self.log, after=after, flat=flat)
            self._beside.add(self._address.bucket, page.objects)
            yield page
            # A server that repeats a token would never end.
            after, more = page.following, bool(page.following) and page.following != after

    def _list(self) -> list[Entry]:
        bucket, prefix = self._address
        found: list[Entry] = []
        for page in self.pages():
            found += [entry_of(bucket, prefix, each.removesuffix("/"), folder=True) for each in page.prefixes]
            # Some tools create an empty object as a folder.
            found += [
                entry_of(bucket, prefix, key, size=head.size) for key, head in page.objects.items() if key != prefix
            ]
        self._beside.listed(self._address)
        return found

    def inside(self, name: str) -> S3Prefix | None:
        """Makes no request beyond the entries."""
        if not any(entry.folder and entry.name == name for entry in self.entries()):
            return None
        return self._inside.get(name) or self._child(name)

    def _child(self, name: str, entries: Iterable[Entry] | None = None) -> S3Prefix:
        address = Address(self._address.bucket, f"{self._address.key}{name}/")
        child = S3Prefix(self._client, address, self.log, self._beside, sparing=self._sparing, holders=self._holders)
        if address.key in self._tree:
            child._tree, entries = self._tree, self._tree[address.key]
        if entries is not None:
            child.take(entries)
        return child

    def take(self, entries: Iterable[Entry]) -> None:
        """Take its entries from another listing."""
        self._entries = tuple(sorted(entries))
        self._beside.listed(self._address)

    def hold(self, names: Sequence[str]) -> bool:
        """List only the objects directly in its folders of these names, with one listing.

        Returns whether there are any; the first page has to show one. Raises SourceError.
        """
        bucket, prefix = self._address
        found: dict[str, list[Entry]] = {}
        for page in self.pages(flat=True, beginning=_beginning(names)):
            for key, head in page.objects.items():
                name, _, rest = key.removeprefix(prefix).partition("/")
                if name in names and rest and "/" not in rest:
                    found.setdefault(name, []).append(entry_of(bucket, f"{prefix}{name}/", key, size=head.size))
                elif not key.endswith("/"):
                    self._others.append(Address(bucket, key).location)
            if not found:
                return False
        self.partly = True
        self._inside = {name: self._child(name, entries) for name, entries in found.items()}
        self._entries = tuple(entry_of(bucket, prefix, f"{prefix}{name}", folder=True) for name in sorted(found))
        return bool(found)

    def open(self, location: str) -> Source:
        """A listed object needs no request before its first byte is read."""
        address = parse(location)
        head = self._beside.known(address)
        if head is None:
            return open_object(self._client, address, self.log, tail=False, sparing=self._sparing)
        source = S3Source(self._client, address, head, self.log, self._beside, sparing=self._sparing)
        source.expect(0, FIRST_BYTES)
        return source


def _beginning(names: Sequence[str]) -> str:
    """The common prefix of these names."""
    first, last = min(names), max(names)
    return first[: next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)]


Tree = dict[str, set[Entry]]
"""The entries of folders, by the prefix of their keys."""


def tree_of(bucket: str, prefix: str, objects: Iterable[tuple[str, Head]]) -> Tree:
    """The folder ``prefix`` and all below it."""
    tree: Tree = {prefix: set()}
    for key, head in objects:
        if key.startswith(prefix):
            name = key[len(prefix) :].rpartition("/")[2]
            folder = key[: len(key) - len(name)]
            _add_folders(tree, bucket, folder)
            if name:  # some tools create an empty object as a folder
                tree[folder].add(entry_of(bucket, folder, key, size=head.size))
    return tree


def _add_folders(tree: Tree, bucket: str, folder: str) -> None:
    """Add a folder and its parents to the tree."""
    added = []
    while folder not in tree:
        tree[folder] = set()
        key = folder[:-1]
        above = key[: len(key) - len(key.rpartition("/")[2])]
        added.append((above, entry_of(bucket, above, key, folder=True)))
        folder = above
    for above, entry in added:
        tree[above].add(entry)


def entry_of(bucket: str, prefix: str, key: str, *, folder: bool = False, size: int = 0) -> Entry:
    """The entry in the folder ``prefix`` of an object, or of a folder by its key without the trailing slash."""
    return Entry(key.removeprefix(prefix), Address(bucket, key).location, folder, size)
