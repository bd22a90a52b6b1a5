"""A Repair is one way of repairing an archive, as a plan: nothing has been written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.core.edit import Edit
from inspector.core.progress import Progress
from inspector.core.span import Span

Content = Callable[[Progress], Iterator[bytes]]
"""Gives a whole file in pieces of bounded size; raises MemberError, SourceError or Cancelled."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One way of repairing.

    ``code`` is stable (``rca-drop-garbage``), ``title`` says in the imperative what it does and to which bytes
    (``Cut off the 312 bytes of garbage behind the last chunk``), ``mends`` are the codes of the findings it answers.
    ``claim`` is empty where the archive itself proves that this is right; otherwise it says what is only assumed.

    ``loses`` say in sentences what will be lost. Where nothing is, ``lossless`` says in a sentence why: what shows that
    no byte which is proved or decodes is among those that are cut off or overwritten. Both are empty where the format
    has shown neither; it is a ValueError to give both.

    Exactly one of the other two is there: ``edit`` changes the archive in place, ``content`` makes a whole file. That
    file is a new archive in the place of this one (a salvage, to be written to another place), or, where ``beside`` is
    not empty, the file beside it whose name is the archive's with ``instead_of`` taken off and ``beside`` appended.
    """

    code: str
    title: str
    mends: frozenset[str]
    loses: tuple[str, ...] = ()
    claim: str = ""
    edit: Edit | None = None
    content: Content | None = None
    beside: str = ""
    instead_of: str = ""
    lossless: str = ""

    def __post_init__(self) -> None:
        if self.loses and self.lossless:
            raise ValueError("A repair cannot lose something and nothing.")

    @property
    def is_salvage(self) -> bool:
        """Whether it makes a new archive and leaves this one alone."""
        return self.content is not None and not self.beside

    @property
    def cut(self) -> Span:
        """The bytes at the end of the file that it cuts off."""
        return self.edit.dropped if self.edit is not None else Span(0, 0)

    @property
    def takes_away(self) -> bool:
        """Whether bytes that stand in the file are cut off or overwritten."""
        return self.edit is not None and (self.cut.size > 0 or any(patch.old for patch in self.edit.patches))

    @property
    def needs_consent(self) -> bool:
        """Whether the archive itself is changed so only with the user's consent to exactly this."""
        return bool(self.claim or (self.loses and self.takes_away) or (self.cut.size and not self.lossless))
