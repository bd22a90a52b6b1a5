"""A Repair is one way of repairing an archive, as a plan: nothing has been written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.core.edit import Edit
from inspector.core.outcome import Outcomes
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span

Content = Callable[[Progress], Iterator[bytes]]
"""Gives a whole file in pieces of bounded size; raises MemberError, SourceError or Cancelled."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A file beside an archive, whose name is the archive's with ``instead_of`` taken off and ``suffix`` appended."""

    suffix: str
    instead_of: str
    content: Content


@dataclass(frozen=True, slots=True)
class Repair:
    """One way of repairing.

    ``code`` is stable (``rca-drop-garbage``), ``title`` says in the imperative what it does and to which bytes
    (``Cut off the 312 bytes of garbage behind the last chunk``), ``fixes`` are the codes of the findings it answers.
    ``claim`` is empty where the archive itself proves that this is right; otherwise it says what is only assumed.

    ``loses`` say in sentences what will be lost. Where nothing is, ``lossless`` says in a sentence why: what shows that
    no byte which is proved or decodes is among those that are cut off or overwritten. Both are empty where the format
    has shown neither; it is a ValueError to give both. ``buried`` counts the bytes at the end of the file that go
    because others are written over them, where they are more than ``edit`` cuts off.

    Exactly one of the other two is there: ``edit`` changes the archive in place, ``content`` makes a whole file. That
    file is a new archive in the place of this one (a salvage, to be written to another place), or, where ``beside`` is
    not empty, the file beside it whose name is the archive's with ``instead_of`` taken off and ``beside`` appended.
    ``old`` is what the format found in that file's place; None where there was nothing, and there must be nothing still
    when it is written. ``along`` are files that a salvage writes beside the new archive, and
    ``outcomes`` says what becomes of each member in it.
    """

    code: str
    title: str
    fixes: frozenset[str]
    loses: tuple[str, ...] = ()
    claim: str = ""
    edit: Edit | None = None
    content: Content | None = None
    beside: str = ""
    instead_of: str = ""
    lossless: str = ""
    buried: int = 0
    old: Source | None = None
    along: tuple[Companion, ...] = ()
    outcomes: Outcomes | None = None

    def __post_init__(self) -> None:
        if self.loses and self.lossless:
            raise ValueError("A repair cannot lose something and nothing.")

    @property
    def is_salvage(self) -> bool:
        """Whether it makes a new archive and leaves this one alone."""
        return self.content is not None and not self.beside

    @property
    def cut(self) -> Span:
        """The bytes at the end of the file, as it is before this repair, that go."""
        if self.edit is None:
            return Span(0, 0)
        dropped = self.edit.dropped
        return Span(min(dropped.start, self.edit.old_size - self.buried), dropped.stop)

    @property
    def needs_consent(self) -> bool:
        """Whether the archive itself is changed so only with the user's consent to exactly this."""
        return bool(self.claim or (self.cut.size and not self.lossless))
