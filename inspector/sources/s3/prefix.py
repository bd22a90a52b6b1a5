"""A prefix on S3 as a folder: listed page by page; listed objects open without another request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from inspector.core.program.progress import check_cancelled
from inspector.core.source import Source
from inspector.sources.local.file import Entry
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.request_log import RequestLog
from inspector.sources.s3.responses import Head, Page, Seen
from inspector.sources.s3.source import FIRST_BYTES, S3Source, Siblings, open_object

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client


Tree = dict[str, set[Entry]]
"""The entries of folders, by the prefix of their keys."""


class S3Prefix:
    """A Folder that caches its listings, so that listed objects open without a request.

    ``holders`` are names of folders whose objects will all be needed, so listing everything below them costs nothing.
    ``tree`` has the entries of folders that are listed already.
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
        tree: Tree | None = None,
    ) -> None:
        self._client = client
        self._address = Address(address.bucket, address.prefix)
        self._beside = beside or Siblings(client, log)
        self._sparing = sparing
        self._holders = holders
        self._pages: list[Page] = []
        self._tree = {} if tree is None else tree
        self._entries: tuple[Entry, ...] = ()
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
        prefix = self._address.key
        if prefix not in self._tree and not self._list_all():
            self._tree = {prefix: self._list()}
        if not self._entries:
            self._entries = tuple(sorted(self._tree[prefix]))
        return self._entries

    def beneath(self) -> Iterator[str]:
        """The locations of all objects in it and below; one request a page. Raises SourceError."""
        for page in self._flat():
            for key in page.objects:
                if not key.endswith("/"):
                    yield Address(self._address.bucket, key).location

    def told(self) -> Iterator[str]:
        """The locations of the objects in the listing that ``hold`` made."""
        yield from self._others
        yield from (each.location for entries in self._tree.values() for each in sorted(entries) if not each.folder)

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
        self._tree = self._tree_of(each for page in pages for each in page.objects.items())
        self._beside.listed(self._address)
        return True

    def _tree_of(self, objects: Iterable[tuple[str, Head]]) -> Tree:
        """The entries of the folder and of all below it, which are marked as listed."""
        bucket, prefix = self._address
        tree: Tree = {prefix: set()}
        for key, head in objects:
            is_folder = key.endswith("/")  # some tools create an empty object as a folder
            if not key.startswith(prefix) or (is_folder and key in tree):
                continue
            child, is_new = key.removesuffix("/"), True
            if is_folder:
                tree[key] = set()
            while is_new:
                above = child[: len(child) - len(child.rpartition("/")[2])]
                is_new = above not in tree
                tree.setdefault(above, set()).add(_entry(bucket, above, child, None if is_folder else head))
                child, is_folder = above[:-1], True
        for each in tree.keys() - {prefix}:
            self._beside.listed(Address(bucket, each))
        return tree

    def _is_held(self, key: str) -> bool:
        folder, _, _ = key.removeprefix(self._address.key).rpartition("/")
        return not folder or folder.rpartition("/")[2] in self._holders

    def known(self, location: str) -> Head | None:
        """The head of an object from the listings made so far, or None."""
        return self._beside.known(parse(location))

    def seen(self, location: str, beside: Iterable[str]) -> Seen | None:
        """The heads of an object and of its siblings from the listings, to open it in another process."""
        if (head := self.known(location)) is None:
            return None
        return Seen(head, tuple((other, known) for other in beside if (known := self.known(other)) is not None))

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

    def _list(self) -> set[Entry]:
        bucket, prefix = self._address
        found: set[Entry] = set()
        for page in self.pages():
            found |= {_entry(bucket, prefix, each.removesuffix("/"), None) for each in page.prefixes}
            # Some tools create an empty object as a folder.
            found |= {_entry(bucket, prefix, key, head) for key, head in page.objects.items() if key != prefix}
        self._beside.listed(self._address)
        return found

    def inside(self, name: str) -> S3Prefix | None:
        """Makes no request beyond the entries."""
        if not any(entry.folder and entry.name == name for entry in self.entries()):
            return None
        address = Address(self._address.bucket, f"{self._address.key}{name}/")
        made = partial(S3Prefix, self._client, address, self.log, self._beside, sparing=self._sparing)
        return made(holders=self._holders, tree=self._tree)

    def hold(self, names: Sequence[str]) -> bool:
        """List only the objects directly in its folders of these names, with one listing.

        Returns whether there are any; the first page has to show one. Raises SourceError.
        """
        bucket, prefix = self._address
        found: list[tuple[str, Head]] = []
        for page in self.pages(flat=True, beginning=os.path.commonprefix(list(names))):  # noqa: RUF071 - of keys
            for key, head in page.objects.items():
                name, _, rest = key.removeprefix(prefix).partition("/")
                if name in names and rest and "/" not in rest:
                    found.append((key, head))
                elif not key.endswith("/"):
                    self._others.append(Address(bucket, key).location)
            if not found:
                return False
        self.partly = True
        self._tree = self._tree_of(found)
        return bool(found)

    def open(self, location: str) -> Source:
        """A listed object needs no request before its first byte is read."""
        address = parse(location)
        if (head := self._beside.known(address)) is None:
            return open_object(self._client, address, self.log, tail=False, sparing=self._sparing)
        source = S3Source(self._client, address, head, self.log, self._beside, sparing=self._sparing)
        source.expect(0, FIRST_BYTES)
        return source


def _entry(bucket: str, prefix: str, key: str, head: Head | None) -> Entry:
    """The entry in the folder ``prefix`` of an object, or of a folder by its key without the trailing slash."""
    name, location = key.removeprefix(prefix), Address(bucket, key).location
    return Entry(name, location, head is None, head.size if head else 0, head.modified if head else 0.0)
