"""An Edit is one undoable change of an archive in place, made of Patches; an OverlaySource shows it unwritten.

A History is what can be undone and redone: states, and which of them is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest
from typing import Generic, NamedTuple, TypeVar

from inspector.core.pieces import Piece, PieceSource, PieceTable
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span, Spans, intersect, subtract, united

_COMPARED = 1 << 16
"""Bytes compared at a time where edits are merged."""


class EditError(Exception):
    """A change cannot be made: the message is a sentence for a person. Nothing was changed unless it says so."""


class CutBytes(NamedTuple):
    """Where bytes are kept that were cut off a file: ``length`` of them from ``offset`` on in the file at ``path``."""

    path: str
    offset: int
    length: int
    sha256: str


class Patch(NamedTuple):
    """One run of bytes: ``old`` stands at ``offset``, and ``new`` is to stand there.

    ``new`` is as long as ``old``; it may be longer only where ``old`` reaches to the end of the file, which then grows.
    """

    offset: int
    old: bytes
    new: bytes

    @property
    def span(self) -> Span:
        """The bytes ``new`` takes."""
        return Span(self.offset, self.offset + len(self.new))

    def part(self, start: int, stop: int) -> Patch:
        """What it does to the bytes ``[start, stop)`` of the file."""
        low, high = start - self.offset, stop - self.offset
        return Patch(start, self.old[low:high], self.new[low:high])


@dataclass(frozen=True, slots=True)
class Edit:
    """One change. ``label`` says in the imperative what it does (``Set the TACO header``).

    ``patches`` are written in their order, whatever their offsets, do not overlap and end before ``new_size``.
    ``old_size`` and ``new_size`` are the file's sizes in bytes before and after: where it shrinks, its end is cut off
    last, after all patches. Raises ValueError for patches that contradict this.
    """

    label: str
    patches: tuple[Patch, ...]
    old_size: int
    new_size: int

    def __post_init__(self) -> None:
        end = self.old_size
        for patch in self.patches:
            grows = len(patch.new) - len(patch.old)
            if patch.offset < 0 or grows < 0 or (grows and patch.offset + len(patch.old) != end):
                raise ValueError(f"A patch at {patch.offset} changes the length of what is in the middle of the file.")
            end += grows
        spans = sorted(patch.span for patch in self.patches)
        if any(after.start < before.stop for before, after in pairwise(spans)):
            raise ValueError("Patches overlap.")
        if (spans and spans[-1].stop > self.new_size) or self.new_size > end:
            raise ValueError("The patches lie outside the file as it will be, or do not fill it.")

    @property
    def spans(self) -> Spans:
        """The bytes that change, in file order, as positions in the file as it will be."""
        return tuple(Span(*span) for span in sorted(patch.span for patch in self.patches))

    @property
    def dropped(self) -> Span:
        """The bytes at the end that are cut off, as positions in the file as it is; empty where it does not shrink."""
        return Span(min(self.new_size, self.old_size), self.old_size)

    def reverted(self, dropped: bytes) -> Edit:
        """The Edit that takes this one back; ``dropped`` are the bytes that it cuts off."""
        if len(dropped) != self.dropped.size:
            raise ValueError("Other bytes than those that were cut off.")
        back = [Patch(each.offset, each.new[: len(each.old)], each.old) for each in reversed(self.patches) if each.old]
        if dropped:
            back.append(Patch(self.new_size, b"", dropped))
        return Edit(f"Take back: {self.label}", tuple(back), self.new_size, self.old_size)


def differing(edit: Edit) -> Spans:
    """The bytes of the patches that are other ones afterwards, in file order: what to mark as changed."""
    found: list[Span] = []
    for patch in sorted(edit.patches, key=lambda each: each.offset):
        stop = patch.offset
        pairs = zip_longest(patch.old[: len(patch.new)], patch.new)
        for same, run in groupby(pairs, key=lambda pair: pair[0] == pair[1]):
            start, stop = stop, stop + sum(1 for _ in run)
            found += [] if same else [Span(start, stop)]
    return tuple(found)


class OverlaySource(PieceSource):
    """Another source as an Edit would leave it. Nothing is written."""

    def __init__(self, source: Source, edit: Edit) -> None:
        super().__init__(source, PieceTable(_pieces_of(source, edit)))
        self.edit = edit


def _pieces_of(source: Source, edit: Edit) -> Iterator[Piece]:
    at = 0
    for patch in sorted(edit.patches, key=lambda patch: patch.offset):
        yield Piece(source, at, patch.offset - at)
        yield Piece(BytesSource(patch.new), 0, len(patch.new))
        at = patch.span.stop
    yield Piece(source, at, edit.new_size - at)


def overlaid(source: Source, edits: Sequence[Edit]) -> Source:
    """The source with one edit after another over it."""
    for edit in edits:
        source = OverlaySource(source, edit)
    return source


def merged(source: Source, edits: Sequence[Edit], label: str) -> Edit:
    """One Edit of ``source`` that leaves what ``edits``, one after another, would.

    A single one stays as it is, with its order of writing; of several, only bytes that end up as others are written, in
    file order. Raises SourceError.
    """
    if len(edits) == 1:
        return edits[0]
    after = overlaid(source, edits)
    patches: list[Patch] = []
    for start, stop in united(span for edit in edits for span in edit.spans):
        for at in range(start, min(stop, after.size), _COMPARED):
            end = min(at + _COMPARED, stop, after.size)
            old, new = source.read(at, end - at), after.read(at, end - at)
            if old != new:
                patches.append(Patch(at, old, new))
    return Edit(label, tuple(_joined(patches)), source.size, after.size)


def combined(first: Edit, second: Edit, label: str) -> Edit:
    """One Edit that leaves what ``first`` and then ``second`` would, without looking at the source.

    ``second`` must not change the size. The patches of ``first`` keep their places and order, and what is new in
    ``second`` comes after them, as part of the last one where it follows upon it. Raises ValueError where the two do
    not fit together.
    """
    if not first.new_size == second.old_size == second.new_size:
        raise ValueError("The second edit changes the size, or is not one of what the first leaves.")
    kept = [bytearray(patch.new) for patch in first.patches]
    taken = sorted(patch.span for patch in first.patches)
    for patch in second.patches:
        for before, new in zip(first.patches, kept, strict=True):
            for start, stop in intersect([patch.span], [before.span]):
                new[start - before.offset : stop - before.offset] = patch.part(start, stop).new
    added = [patch.part(*span) for patch in second.patches for span in subtract([patch.span], taken)]
    patches = [Patch(patch.offset, patch.old, bytes(new)) for patch, new in zip(first.patches, kept, strict=True)]
    return Edit(label, (*patches[:-1], *_joined([*patches[-1:], *added])), first.old_size, first.new_size)


def _joined(patches: Iterable[Patch]) -> list[Patch]:
    """Patches that touch, as one."""
    found: list[Patch] = []
    for patch in patches:
        touching = found.pop() if found and found[-1].span.stop == patch.offset else Patch(patch.offset, b"", b"")
        found.append(Patch(touching.offset, touching.old + patch.old, touching.new + patch.new))
    return found


# ---- undoing and redoing ---------------------------------------------------------------------------------------------

State = TypeVar("State")


class History(Generic[State]):
    """States one after another, the first of which is never undone."""

    def __init__(self, first: State) -> None:
        self._states = [first]
        self._position = 0

    @property
    def now(self) -> State:
        """The state shown."""
        return self._states[self._position]

    @property
    def steps(self) -> int:
        """The number of steps that can be undone."""
        return self._position

    @property
    def can_undo(self) -> bool:
        """Whether a step can be undone."""
        return self._position > 0

    @property
    def can_redo(self) -> bool:
        """Whether an undone step can be redone."""
        return self._position + 1 < len(self._states)

    def put(self, state: State, *, again: bool = False) -> None:
        """Go to a new state; what was undone is forgotten. ``again``: instead of the state shown, as one step."""
        if again and self.can_undo:
            self._position -= 1
        del self._states[self._position + 1 :]
        self._states.append(state)
        self._position += 1

    def undo(self) -> None:
        self._position = max(0, self._position - 1)

    def redo(self) -> None:
        """Redo the step undone last, if there is one."""
        self._position = min(len(self._states) - 1, self._position + 1)

    def clear(self, first: State) -> None:
        """Forget everything and begin with this state."""
        self._states, self._position = [first], 0
