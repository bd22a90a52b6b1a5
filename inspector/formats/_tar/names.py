"""Names of members that are dangerous to write to disk or doubtful to look at."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator, Sequence

from inspector.core.archive import Emitter
from inspector.core.member import FOLDER, Members
from inspector.core.names import hazards, visible
from inspector.core.progress import Progress

TOLD = 100
"""The most members whose names are reported one by one; the rest are counted."""

_PLAIN = bytes(code for code in range(0x20, 0x7F) if code not in b"\\:") + b"\n"
_DOUBTFUL = (b"//", b"/.", b"./", b"\n/", b"\n.", b".\n")


class NameCheck:
    """Looks at names as members are listed. A leading ``./``, which tar programs write, is plain."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._found = 0

    def one(self, index: int, name: bytes, span: tuple[int, int]) -> None:
        """Look at the name of one member; ``span`` are the bytes that hold it."""
        rest = name.removeprefix(b"./")
        found = hazards(rest) if rest or not name else ()
        if name == b"." or not found:
            return
        self._found += 1
        if self._found <= TOLD:
            shown = visible(name)
            for words in found:
                self._emitter.warning("tar-name-hazard", f"The name {shown!r} {words}.", span, member=index)

    def many(self, first: int, names: Sequence[bytes], heads: Sequence[int]) -> None:
        """Look at the names of members from ``first`` on, whose headers stand at ``heads``.

        Each is at most 100 bytes long. What all plain names have in common is asked of all of them at once.
        """
        joined = b"\n" + b"\n".join(names) + b"\n"
        plain = not joined.translate(None, _PLAIN) and joined.count(b"\n") == len(names) + 1
        if plain and not any(doubtful in joined for doubtful in _DOUBTFUL):
            return
        for index, (name, head) in enumerate(zip(names, heads, strict=True), first):
            self.one(index, name, (head, head + 100))

    def close(self) -> None:
        """Say how many there were, where not all were reported."""
        if self._found > TOLD:
            self._emitter.warning("tar-name-hazard", f"{self._found:,} members in all have doubtful names.")


def alike(members: Members, progress: Progress) -> Iterator[tuple[int, int]]:
    """Pairs of members whose names are the same where neither case nor composition counts, the earlier one first.

    Folders that stand twice under the same name are no pair: they are one folder. A pair is given once for each
    later member. What is held of a name is a number of 64 bits.
    """
    # Imported here because start-up must not wait for them.
    import numpy as np
    import xxhash

    hashes = array("Q")
    for index in range(len(members)):
        hashes.append(xxhash.xxh3_64_intdigest(_folded(members.path(index))))
        progress.advance(1)
    order = np.argsort(np.frombuffer(hashes, np.uint64), kind="stable")
    ordered = np.frombuffer(hashes, np.uint64)[order]
    for place in (np.flatnonzero(ordered[1:] == ordered[:-1]) + 1).tolist():
        before, index = int(order[place - 1]), int(order[place])
        if _folded(members.path(before)) == _folded(members.path(index)) and not _one_folder(members, before, index):
            yield before, index


def _folded(name: bytes) -> bytes:
    """The name by which a file system that ignores case and composition would know it."""
    name = name.removeprefix(b"./").rstrip(b"/")
    if name.isascii():
        return name.lower()
    text = unicodedata.normalize("NFC", name.decode("utf-8", "surrogateescape")).casefold()
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogateescape")


def _one_folder(members: Members, before: int, index: int) -> bool:
    assert members.marks is not None
    return bool(members.marks[before] & members.marks[index] & FOLDER) and members.path(before) == members.path(index)
