"""A prefix on S3 as a folder: what is in it by pages of a listing, and its objects opened without asking again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.source import Source
from inspector.sources.local.folder import Entry
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.cancelling import look
from inspector.sources.s3.ledger import Ledger
from inspector.sources.s3.responses import Head, Listed, Page, Seen
from inspector.sources.s3.siblings import Beside
from inspector.sources.s3.source import FIRST, S3Source, open_object

if TYPE_CHECKING:
    from inspector.sources.s3.client import Client


class S3Prefix:
    """A Folder. Its listings are kept, so that what was listed once opens without a request.

    ``holders`` are names of folders whose objects will all be wanted, so that nothing is lost by listing all beneath.
    """

    def __init__(
        self,
        client: Client,
        address: Address,
        ledger: Ledger,
        beside: Beside | None = None,
        *,
        sparing: bool = False,
        holders: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._address = Address(address.bucket, address.prefix)
        self._beside = beside or Beside(client, ledger)
        self._sparing = sparing
        self._holders = holders
        self._pages: list[Page] = []
        self._tree: Tree = {}
        self._entries: tuple[Entry, ...] | None = None
        self._inside: dict[str, S3Prefix] = {}
        self.ledger = ledger
        self.partly = False
        """Whether only some of its folders are known, see ``hold``."""
        self._others: list[str] = []
        parts = [address.bucket, *filter(None, address.key.split("/"))]
        self.location = self._address.location
        self.name = parts[-1]
        self.above = parts[-2] if len(parts) > 1 else ""

    def exists(self) -> bool:
        """Whether anything is in it or beneath; one request, once. Raises SourceError."""
        return any(each.key != self._address.key for each in next(self._flat()).objects)

    def entries(self) -> tuple[Entry, ...]:
        """See Folder.entries; one request a page, once. Raises SourceError.

        Where all that is in it and beneath stands on one page, that is kept, and the folders in it take none.
        """
        if self._entries is None and not self._list_all():
            self._entries = tuple(sorted(self._list()))
        return self._entries or ()

    def beneath(self) -> Iterator[str]:
        """The locations of all objects in it and beneath; one request a page. Raises SourceError."""
        for page in self._flat():
            for each in page.objects:
                if not each.key.endswith("/"):
                    yield Address(self._address.bucket, each.key).location

    def told(self) -> Iterator[str]:
        """The locations of those objects in it and beneath that the listing told of by which it is partly known."""
        yield from self._others
        for folder in self._inside.values():
            yield from (each.location for each in folder.entries() if not each.folder)

    def _flat(self) -> Iterator[Page]:
        """All objects in it and beneath, by pages; the first one is asked for once."""
        if not self._pages:
            self._pages.append(next(self.pages(flat=True)))
        yield from self._pages
        if self._pages[-1].following:
            yield from self.pages(flat=True, after=self._pages[-1].following)

    def _list_all(self) -> bool:
        """Know all that is in it and beneath, unless that would take more pages than what is wanted of it."""
        pages: list[Page] = []
        for page in self._flat():
            pages.append(page)
            if page.following and not all(self._is_held(each.key) for each in page.objects):
                return False
        self._pages = pages
        found = (each for page in pages for each in page.objects)
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
        """What a listing that was made says of an object; None where none spoke of it."""
        return self._beside.known(parse(location))

    def seen(self, location: str, beside: Iterable[str]) -> Seen | None:
        """The same of an object and of all those beside it that belong to it, for whoever opens it elsewhere."""
        head = self.known(location)
        heads = ((other, self.known(other)) for other in beside)
        return (
            None if head is None else Seen(head, tuple((other, known) for other, known in heads if known is not None))
        )

    def pages(self, *, flat: bool = False, beginning: str = "", after: str = "") -> Iterator[Page]:
        """What is in it, one request a page; ``flat``: all objects beneath instead of prefixes. Raises SourceError.

        ``beginning`` is what the names of all that is wanted begin with; ``after`` leads to the first page.
        """
        bucket, prefix = self._address
        more = True
        while more:
            look()
            page = self._client.list(bucket, prefix + beginning, self.ledger, after=after, flat=flat)
            self._beside.add(self._address.bucket, page.objects)
            yield page
            # A server that leads to the same page again would never end.
            after, more = page.following, bool(page.following) and page.following != after

    def _list(self) -> list[Entry]:
        bucket, prefix = self._address
        found: list[Entry] = []
        for page in self.pages():
            found += [entry_of(bucket, prefix, each.removesuffix("/"), folder=True) for each in page.prefixes]
            # Some tools make an empty object in place of a folder.
            found += [entry_of(bucket, prefix, one.key, size=one.size) for one in page.objects if one.key != prefix]
        self._beside.listed(self._address)
        return found

    def inside(self, name: str) -> S3Prefix | None:
        """See Folder.inside; asks for nothing beyond the entries."""
        if not any(entry.folder and entry.name == name for entry in self.entries()):
            return None
        return self._inside.get(name) or self._child(name)

    def _child(self, name: str, entries: Iterable[Entry] | None = None) -> S3Prefix:
        address = Address(self._address.bucket, f"{self._address.key}{name}/")
        child = S3Prefix(self._client, address, self.ledger, self._beside, sparing=self._sparing, holders=self._holders)
        if address.key in self._tree:
            child._tree, entries = self._tree, self._tree[address.key]
        if entries is not None:
            child.take(entries)
        return child

    def take(self, entries: Iterable[Entry]) -> None:
        """Know from another listing what is in it."""
        self._entries = tuple(sorted(entries))
        self._beside.listed(self._address)

    def hold(self, names: Sequence[str]) -> bool:
        """Know only what stands directly in its folders of these names, which one listing tells, by pages.

        Gives whether there is anything; the first page has to show it. Raises SourceError.
        """
        bucket, prefix = self._address
        found: dict[str, list[Entry]] = {}
        for page in self.pages(flat=True, beginning=_beginning(names)):
            for each in page.objects:
                name, _, rest = each.key.removeprefix(prefix).partition("/")
                if name in names and rest and "/" not in rest:
                    found.setdefault(name, []).append(entry_of(bucket, f"{prefix}{name}/", each.key, size=each.size))
                elif not each.key.endswith("/"):
                    self._others.append(Address(bucket, each.key).location)
            if not found:
                return False
        self.partly = True
        self._inside = {name: self._child(name, entries) for name, entries in found.items()}
        self._entries = tuple(entry_of(bucket, prefix, f"{prefix}{name}", folder=True) for name in sorted(found))
        return bool(found)

    def open(self, location: str) -> Source:
        """See Folder.open; an object that was listed needs no request before the first of its bytes is read."""
        address = parse(location)
        head = self._beside.known(address)
        if head is None:
            return open_object(self._client, address, self.ledger, tail=False, sparing=self._sparing)
        source = S3Source(self._client, address, head, self.ledger, self._beside, sparing=self._sparing)
        source.expect(0, FIRST)
        return source


def _beginning(names: Sequence[str]) -> str:
    """What all these names begin with."""
    first, last = min(names), max(names)
    return first[: next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)]


Tree = dict[str, set[Entry]]
"""What is in folders, by what the keys in them begin with."""


def tree_of(bucket: str, prefix: str, objects: Iterable[Listed]) -> Tree:
    """The folder ``prefix`` and all those beneath it."""
    tree: Tree = {prefix: set()}
    for each in objects:
        if each.key.startswith(prefix):
            name = each.key[len(prefix) :].rpartition("/")[2]
            folder = each.key[: len(each.key) - len(name)]
            _plant(tree, bucket, folder)
            if name:  # some tools make an empty object in place of a folder
                tree[folder].add(entry_of(bucket, folder, each.key, size=each.size))
    return tree


def _plant(tree: Tree, bucket: str, folder: str) -> None:
    """Let a folder be in the tree, and in those above it."""
    planted = []
    while folder not in tree:
        tree[folder] = set()
        key = folder[:-1]
        above = key[: len(key) - len(key.rpartition("/")[2])]
        planted.append((above, entry_of(bucket, above, key, folder=True)))
        folder = above
    for above, entry in planted:
        tree[above].add(entry)


def entry_of(bucket: str, prefix: str, key: str, *, folder: bool = False, size: int = 0) -> Entry:
    """An object, or a folder by its key without the slash at the end, as an entry of the folder ``prefix``."""
    return Entry(key.removeprefix(prefix), Address(bucket, key).location, folder, size)
