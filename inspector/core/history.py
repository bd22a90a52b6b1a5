"""What can be undone and redone: states, and which of them is shown."""

from __future__ import annotations

from typing import Generic, TypeVar

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
        """Undo one step, if there is one."""
        self._position = max(0, self._position - 1)

    def redo(self) -> None:
        """Redo the step undone last, if there is one."""
        self._position = min(len(self._states) - 1, self._position + 1)

    def clear(self, first: State) -> None:
        """Forget everything and begin with this state."""
        self._states, self._position = [first], 0
