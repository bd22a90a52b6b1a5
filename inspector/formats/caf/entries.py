"""Where the name and the numbers of a member stand in the index (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

from inspector.core.field import Field
from inspector.core.kinds import Kind
from inspector.core.member import Members
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.formats.caf.fields import entry_field

_READ = (4 << 10, 1 << 20)
"""Bytes of an entry that are looked at: few first, and more where they were too few."""


class Entries:
    """The index entries of members, looked at only for those that something is to be said about."""

    def __init__(self, source: Source, index: Span, members: Members) -> None:
        assert members.heads is not None
        self._source = source
        self._index = index
        self._heads = members.heads

    def name(self, member: int) -> Spans:
        """The name, its quotes included."""
        return self._found(member, "name", Kind.NAME)

    def number(self, member: int, word: str) -> Spans:
        """The value of ``start_byte`` or ``end_byte``; several where the key stands more than once."""
        return self._found(member, word, Kind.OFFSET)

    def _found(self, member: int, name: str, kind: Kind) -> Spans:
        for most in _READ:
            found = tuple(
                child.spans[0]
                for child in self._entry(member, most).children
                if (child.name, child.kind) == (name, kind)
            )
            if found:
                return found
        start = self._heads[member]
        return (Span(start, start),)

    def _entry(self, member: int, most: int) -> Field:
        start = self._heads[member]
        data = self._source.read(start, min(most, self._index.stop - start))
        return entry_field(data, Span(start, start + len(data)), member)
