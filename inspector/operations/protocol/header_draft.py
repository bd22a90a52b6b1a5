"""Drafts of a TACO header: parsing and editing before anything is decoded or written.

Every operation on a HeaderDraft returns a new one, so undo is the previous draft. Offsets and lengths are in bytes.
``taco_header`` applies drafts to archives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.names import visible
from inspector.core.span import Span
from inspector.operations.jobs.operation_error import OperationError

MAX_ENTRIES = 7
MAX_NUMBER = 2**64 - 1
"""The largest offset or length that an entry can hold."""
TacoEntry = tuple[int, int]
"""Offset and length."""
EMPTY: TacoEntry = (0, 0)

_NUMBER = re.compile(r"(?:0[xX]_*(?P<hex>[0-9a-fA-F][0-9a-fA-F_]*)|(?P<decimal>[0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]*))")
_MAX_TYPED = 64
_MAX_QUOTED = 40


class EntryTarget(StrEnum):
    """What an entry points to."""

    NOWHERE = "nowhere"
    MEMBER = "a member's data"
    ELSEWHERE = "elsewhere"
    OUTSIDE = "outside the file"
    HEADER = "in the header"


class EntryView(Struct, frozen=True):
    """One of the seven entries. ``words`` say what it points to, even if it is not in use.

    ``doubtful``: it is in use, and points outside the file or into the header. The specification allows that: an entry
    may refer to another file.
    """

    index: int
    offset: int
    length: int
    used: bool
    pointing: EntryTarget
    words: str
    doubtful: bool


class HeaderDraft(Struct, frozen=True):
    """The content of a header: seven entries, of which the first ``count`` are in use."""

    count: int
    entries: tuple[TacoEntry, ...]


class HeaderView(Struct, frozen=True):
    """The header of a file, or a draft of it. ``why_not`` says why it cannot be edited; empty if it can.

    ``count`` is the stored number, more than seven in a damaged header. ``before`` are all seven entries of the file,
    and ``places`` the bytes that an update writes, each with its name.
    """

    count: int
    entries: tuple[EntryView, ...]
    why_not: str
    before: tuple[EntryView, ...]
    places: tuple[tuple[Span, str], ...]

    @property
    def changed(self) -> frozenset[int]:
        """The indices of entries that differ from the file."""
        pairs = zip(self.entries, self.before, strict=True)
        return frozenset(new.index for new, old in pairs if (new.offset, new.length) != (old.offset, old.length))


def parse_number(text: str) -> int:
    """A typed number: ``5000``, ``5,000`` or ``0x1388``. Raises OperationError for anything else."""
    typed = text.strip()
    if not typed:
        raise OperationError("Type a number: decimal (5000) or hexadecimal (0x1388).")
    match = _NUMBER.fullmatch(typed) if len(typed) <= _MAX_TYPED else None
    if match is None:
        shown = visible(typed[:_MAX_QUOTED].encode(errors="replace")) + ("..." if len(typed) > _MAX_QUOTED else "")
        raise OperationError(f"{shown} is no number. Type it in decimal (5000) or hexadecimal (0x1388).")
    digits = (match["hex"] or match["decimal"]).replace("_", "").replace(",", "")
    number = int(digits, 16 if match["hex"] else 10)
    if number > MAX_NUMBER:
        raise OperationError(f"{typed} is too large: an entry holds at most {MAX_NUMBER:,} (64 bits).")
    return number


def parse_entry(text: str) -> TacoEntry:
    """``OFFSET,LENGTH``; raises OperationError for anything else."""
    parts = text.split(",")
    if len(parts) != 2:
        shown = visible(text[:_MAX_QUOTED].encode(errors="replace"))
        raise OperationError(f"An entry is OFFSET,LENGTH: two numbers without commas. {shown} has {len(parts)}.")
    return parse_number(parts[0]), parse_number(parts[1])


def parse_cell(text: str) -> int | TacoEntry:
    """A typed number, or both numbers of an entry where the comma does not group digits: ``157,1000``.

    Raises OperationError for anything else.
    """
    try:
        return parse_number(text)
    except OperationError:
        if text.count(",") != 1:
            raise
        return parse_entry(text)


def set_entry(draft: HeaderDraft, index: int, entry: TacoEntry) -> HeaderDraft:
    """The draft with another entry ``index``; one that is not empty is then in use."""
    if not 0 <= index < MAX_ENTRIES:
        raise OperationError(f"There is no entry {index:,}: a TACO header has the entries 0 to {MAX_ENTRIES - 1}.")
    for number in entry:
        if not 0 <= number <= MAX_NUMBER:
            raise OperationError(
                f"{number:,} is out of range: an entry holds numbers from 0 to {MAX_NUMBER:,} (64 bits)."
            )
    entries = (*draft.entries[:index], entry, *draft.entries[index + 1 :])
    count = max(draft.count, index + 1) if entry != EMPTY else draft.count
    return HeaderDraft(count, entries)


def set_count(draft: HeaderDraft, count: int) -> HeaderDraft:
    """The draft with the first ``count`` entries in use; those no longer in use become zero, as in tacozip."""
    if not 0 <= count <= MAX_ENTRIES:
        raise OperationError(f"The count of a TACO header is 0 to {MAX_ENTRIES}, not {count:,}.")
    emptied = (EMPTY,) * max(0, draft.count - count)
    return HeaderDraft(count, (*draft.entries[:count], *emptied, *draft.entries[count + len(emptied) :]))


def remove(draft: HeaderDraft, index: int) -> HeaderDraft:
    """The draft without entry ``index``; the later ones in use move up."""
    _used(draft, index)
    kept = [*draft.entries[:index], *draft.entries[index + 1 : draft.count], EMPTY]
    return HeaderDraft(draft.count - 1, (*kept, *draft.entries[draft.count :]))


def move(draft: HeaderDraft, index: int, to: int) -> HeaderDraft:
    """The draft with entry ``index`` moved to position ``to``; those between shift by one."""
    _used(draft, index)
    _used(draft, to)
    entries = list(draft.entries)
    entries.insert(to, entries.pop(index))
    return HeaderDraft(draft.count, tuple(entries))


def with_changes(draft: HeaderDraft, entries: Mapping[int, TacoEntry], count: int | None = None) -> HeaderDraft:
    """The draft with some entries and the count replaced; entries after the count keep their values."""
    if count is not None:
        draft = set_count(draft, count)
    for index, entry in entries.items():
        draft = set_entry(draft, index, entry)
    return draft if count is None else replace(draft, count=count)


def _used(draft: HeaderDraft, index: int) -> None:
    if not 0 <= index < draft.count:
        words = f"entries 0 to {draft.count - 1} are" if draft.count > 1 else "entry 0 is" if draft.count else "none is"
        raise OperationError(f"Entry {index:,} is not in use: {words}.")
