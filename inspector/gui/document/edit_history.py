"""The changes of an archive that are not written yet, to be undone and redone."""

from __future__ import annotations

from bisect import bisect_right, insort

from inspector.core.edit import Edit, Patch, combined
from inspector.core.span import Span


class EditHistory:
    """A line of edits, each holding all that is pending by then; ``pending`` is the one that stands, None for none."""

    def __init__(self) -> None:
        self._states: list[Edit | None] = [None]
        self._at = 0
        self._stood: list[tuple[int, bytes]] = []

    @property
    def pending(self) -> Edit | None:
        """All changes that are not written, as one Edit of the file on disk."""
        return self._states[self._at]

    @property
    def steps(self) -> int:
        """How many steps led to what is pending."""
        return self._at

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a step was taken back."""
        return self._at + 1 < len(self._states)

    @property
    def undo_label(self) -> str:
        """What undoing would take back."""
        pending = self.pending
        return pending.label if pending is not None else ""

    def add(self, edit: Edit, again: bool = False) -> None:
        """Add a change of what is shown, so of what the pending changes leave; ``again``: as part of the last step.

        Raises ValueError where it changes the size and something else is pending.
        """
        pending = self.pending
        whole = edit if pending is None else combined(pending, edit, edit.label)
        if again and pending is not None:
            self._at -= 1
        self.put(whole)

    def put(self, edit: Edit | None) -> None:
        """Let this be all that is pending."""
        del self._states[self._at + 1 :]
        self._states.append(edit)
        self._at += 1
        for patch in edit.patches if edit is not None else ():
            self._remember(patch)

    def _remember(self, patch: Patch) -> None:
        """Keep what stands on disk where a patch is, as runs that do not overlap, in file order."""
        at, stop = patch.offset, patch.offset + len(patch.old)
        index = max(0, bisect_right(self._stood, at, key=_start) - 1)
        gaps: list[Span] = []
        while index < len(self._stood) and self._stood[index][0] < stop:
            start, data = self._stood[index]
            gaps.append(Span(at, start))
            at = max(at, start + len(data))
            index += 1
        for gap in (*gaps, Span(at, stop)):
            if gap.start < gap.stop:
                run = patch.old[gap.start - patch.offset : gap.stop - patch.offset]
                insort(self._stood, (gap.start, run), key=_start)

    def undo(self) -> None:
        """Take back one step, where there is one."""
        self._at = max(0, self._at - 1)

    def redo(self) -> None:
        """Redo the last undone change last."""
        self._at = min(len(self._states) - 1, self._at + 1)

    def clear(self) -> None:
        """Nothing is pending, and nothing can be undone: the file on disk is another one now."""
        self._states, self._at, self._stood = [None], 0, []

    def known(self) -> list[tuple[int, bytes]]:
        """Runs of bytes with their offsets, to be laid over what a view holds, one after another.

        Every byte that any step has touched is among them, so what is held may be of any step.
        """
        pending = self.pending
        return self._stood + [(patch.offset, patch.new) for patch in (pending.patches if pending is not None else ())]


def _start(run: tuple[int, bytes]) -> int:
    return run[0]
