"""A Repair is one way of mending an archive, as a plan: nothing has been written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.core.edit import Edit
from inspector.core.progress import Progress

Content = Callable[[Progress], Iterator[bytes]]
"""Gives a whole file in pieces of bounded size; raises MemberError, SourceError or Cancelled."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One way of mending.

    ``code`` is stable (``rca-drop-garbage``), ``title`` says in the imperative what it does and to which bytes
    (``Cut off the 312 bytes of garbage behind the last chunk``), ``mends`` are the codes of the findings it answers,
    ``loses`` say in sentences what will be lost (empty: nothing). ``claim`` is empty where the archive itself proves
    that this is right; otherwise it says what is only assumed, and the repair waits for the user's explicit word.

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
