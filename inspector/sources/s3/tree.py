"""Folders, as a listing of all objects beneath a prefix tells of them: the same as a listing of each of them would."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.sources.local.folder import Entry
from inspector.sources.s3.address import Address
from inspector.sources.s3.responses import Listed

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
