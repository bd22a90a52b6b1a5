"""An archive whose repairs are planned: what its index says, and how the end of the file is replaced.

CAF.md, section 2 (File Index Section).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.member import UNREADABLE
from inspector.core.source import Source
from inspector.formats.caf.index import Index
from inspector.formats.caf.scan import COLON, OBJECT_END, Malformed, Scanner

MALFORMED = "caf-index-malformed"

_FOREIGN = frozenset(("caf-version-unknown", "caf-index-extra-key", "caf-entry-extra-key"))


@dataclass(frozen=True, slots=True)
class Case:
    """An archive and what its index says, read once more: the archive keeps no more of it than its members."""

    archive: Archive
    codes: frozenset[str]
    index: Index

    @property
    def source(self) -> Source:
        """The archive's bytes."""
        return self.archive.source

    @property
    def unwritten(self) -> tuple[str, ...]:
        """What a new index of this one's entries will not say any more."""
        said = "What stands in the index besides names and numbers; its version becomes 1.0."
        return (said,) if self.codes & _FOREIGN else ()

    def malformed(self) -> list[int]:
        """Where the index could not be followed."""
        return [each.spans[0].start for each in self.index.problems if each.code == MALFORMED]

    def broken(self) -> set[int]:
        """The entries that the index does not say in full: unreadable ones, and those that never end."""
        index = self.index
        found = {entry for entry, mark in enumerate(index.marks) if mark & UNREADABLE}
        hit = {bisect_right(index.positions, at) - 1 for at in self.malformed()}
        found.update(entry for entry in hit if entry >= 0 and self.end_of(entry) is None)
        return found

    def end_of(self, entry: int) -> int | None:
        """Where an entry ends (behind its closing brace); None where it never does."""
        index = self.index
        start = index.positions[entry]
        stop = index.positions[entry + 1] if entry + 1 < len(index) else index.span.stop
        scanner = Scanner(self.source.read(start, stop - start))
        try:
            scanner.string()
            scanner.expect(COLON, "after a key")
            scanner.value()
        except Malformed:
            return None
        return start + scanner.at if scanner.data[scanner.at - 1] == OBJECT_END else None


def replace_tail(source: Source, start: int, new: bytes, label: str) -> Edit:
    """Put ``new`` in the place of everything from ``start`` on."""
    old = source.read(start, min(len(new), source.size - start))
    patches = () if old == new else (Patch(start, old, new),)
    return Edit(label, patches, source.size, start + len(new))
