"""The pattern of a TACO dataset that is packed again: the order of its members, their alignment, the header's entries.

The tools of TACO datasets write offsets of members into METADATA/levelN.parquet, which is one of the members: packed in
another order, a dataset opens and gives wrong bytes. An archive to be like says all of it; without one the order is
that of the tools: data, then the tables of folders, the tables of levels, the description.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.finding import Severity
from inspector.core.names import decoded, visible
from inspector.core.numbers import count, verb
from inspector.core.program.progress import Progress
from inspector.formats._zip.records import LOCAL_SIZE
from inspector.formats.taco.header import HEADER_NAME
from inspector.formats.taco.write import Slot
from inspector.operations.create.inputs import Input
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # most archives are like no other
    from inspector.operations.open.opening import Opened

EntrySpec = tuple[int, int] | str
"""An entry of the header: offset and length in bytes, or the name of the member that it points to."""

COLLECTION = b"COLLECTION.json"
_LEVEL = re.compile(rb"METADATA/level([0-9]{1,3})\.parquet")
_FOLDER_TABLE = b"/__meta__"
_MAX_ALIGNMENT = 1 << 15
_ALIGNING = 0xD935
"""The Header ID of extra records that align data."""
_MIN_RECORD_BYTES = 6
"""The size of such a record without padding: its ID, its length and the alignment."""


def no_extra(name: bytes, head: int) -> bytes:  # noqa: ARG001 - a function for ``slots``
    """No member has an extra field."""
    return b""


def pattern_of(
    like: str, inputs: Sequence[Input], progress: Progress, connection: Connection = DEFAULT, *, detect: bool
) -> Pattern | None:
    """The pattern of the archive ``like``, or with ``detect`` of the dataset that the inputs are; None for neither.

    Raises OperationError if it is no TACO archive or damaged, SourceError and Cancelled.
    """
    if like:
        return Pattern(_opened(like, progress, connection))
    names = {each.name for each in inputs}
    return Pattern() if detect and COLLECTION in names and any(map(_LEVEL.fullmatch, names)) else None


def _opened(like: str, progress: Progress, connection: Connection) -> Opened:
    from inspector.formats import taco
    from inspector.operations.open.listing import load

    archives = load(like, progress, connection)
    if len(archives) != 1 or archives[0].decoder is not taco.FORMAT:
        raise OperationError(f"{visible(like)} is no TACO archive, so nothing can be made like it.")
    wrong = next((each for each in archives[0].findings if each.severity is Severity.ERROR), None)
    if wrong is not None:
        raise OperationError(f"{visible(like)} is damaged, so nothing is made like it. {wrong.message}")
    return archives[0]


class _Old(Struct, frozen=True):
    """A member of the archive to be like: its number, its data ``[start, stop)`` and its extra field."""

    index: int
    head: int
    start: int
    stop: int
    extra: bytes


class Pattern:
    """How a dataset is packed: like ``archive``, or as the tools do without one."""

    def __init__(self, archive: Opened | None = None) -> None:
        self._archive = archive

    @cached_property
    def _old(self) -> dict[bytes, _Old]:
        if self._archive is None:
            return {}
        found = {}
        for member in self._archive.members:
            start, stop = member.spans[0]
            before = member.head + LOCAL_SIZE + len(member.path)
            extra = self._archive.source.read(before, start - before)
            found[member.path] = _Old(member.index, member.head, start, stop, extra)
        return found

    @cached_property
    def _alignment(self) -> int:
        """The power of two that all data begin at multiples of, where extra fields see to that; else 1."""
        olds = [old for name, old in self._old.items() if name != HEADER_NAME and old.stop > old.start]
        if not any(old.extra for old in olds):
            return 1
        joined = _MAX_ALIGNMENT
        for old in olds:
            joined |= old.start
        return joined & -joined

    def ordered(self, inputs: Sequence[Input]) -> list[Input]:
        """The inputs in the order of the pattern, without the header, which is made anew."""
        return sorted((each for each in inputs if each.name != HEADER_NAME), key=lambda each: self._place(each.name))

    def _place(self, name: bytes) -> tuple[int, int, bytes]:
        """New members come before the tables and the description, whose places nothing else records."""
        level = _LEVEL.fullmatch(name)
        kind = 3 if name == COLLECTION else 2 if level else 1 if name.endswith(_FOLDER_TABLE) else 0
        old = self._old.get(name)
        if self._archive is None:
            return kind, int(level[1]) if level else 0, name
        if old is not None:
            return old.index, 0, name
        later = [self._old[each].index for each in self._old if each == COLLECTION or _LEVEL.fullmatch(each)]
        return min(later, default=len(self._old)), -1, name

    def extra(self, name: bytes, head: int) -> bytes:
        """The extra field of a member whose local header is at ``head``: as it was, or one that aligns its data."""
        old = self._old.get(name)
        if old is not None and old.head == head:
            return old.extra
        start = head + LOCAL_SIZE + len(name)
        room = -start % self._alignment
        if not room:
            return b""
        while room < _MIN_RECORD_BYTES:
            room += self._alignment
        return struct.pack("<3H", _ALIGNING, room - 4, self._alignment) + bytes(room - _MIN_RECORD_BYTES)

    def entries(self, inputs: Sequence[Input]) -> list[EntrySpec]:
        """The entries of the header: those of the archive, led to the new places of what they lead to."""
        names = {each.name for each in inputs}
        if self._archive is None:
            tables = sorted((each for each in names if _LEVEL.fullmatch(each)), key=self._place)
            return [decoded(name)[0] for name in (*tables, COLLECTION)]
        from inspector.operations.edit.taco_header import header_view

        by_place = {(old.start, old.stop - old.start): name for name, old in self._old.items()}
        found: list[EntrySpec] = []
        for entry in header_view(self._archive).entries:
            if entry.used:
                name = by_place.get((entry.offset, entry.length))
                known = name in names if name is not None else False
                found.append(decoded(name)[0] if name is not None and known else (entry.offset, entry.length))
        return found

    def warnings(self, placed: Sequence[Slot]) -> tuple[str, ...]:
        """What no longer fits, as sentences."""
        tables = [slot.name for slot in placed if _LEVEL.fullmatch(slot.name)]
        if not tables:
            return ()
        table = visible(tables[0])
        if self._archive is None:
            unread = (
                f"The members are in the order of the dataset's tools. Whether the offsets inside {table} fit is not "
                "read: give the old archive with --like to have them compared."
            )
            return (unread,)
        now = {slot.name: (slot.data, slot.data + slot.size) for slot in placed[1:]}
        pinned = {name: old for name, old in self._old.items() if name != HEADER_NAME}
        moved = [name for name, old in pinned.items() if name in now and now[name] != (old.start, old.stop)]
        moved = [name for name in moved if name != COLLECTION and not _LEVEL.fullmatch(name)]
        other = [name for name in (*pinned, *now) if (name in now) != (name in pinned)]
        sentences = []
        if moved:
            sentences.append(
                f"{count(len(moved), 'member')} {verb(len(moved), 'has', 'have')} another place or size than before, "
                f"such as {visible(moved[0])}: the offsets inside {table} no longer fit. Write the tables again with "
                "the dataset's own tools."
            )
        if other:
            sentences.append(
                f"{count(len(other), 'member')} {verb(len(other), 'is', 'are')} in one of the two archives only, such "
                f"as {visible(other[0])}, which the tables do not say."
            )
        return tuple(sentences)
