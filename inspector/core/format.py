"""A Format is a value: what it is called and the functions that know its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from inspector.core.archive import Archive, Emitter
from inspector.core.progress import Progress
from inspector.core.source import Source


class MemberError(Exception):
    """A member's content cannot be given (any further): the message is a sentence for a person."""


class Likeness(IntEnum):
    """How much a source looks like a format, from its content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of archive.

    ``probe`` looks at the content only and reads little; ``decode`` emits everything it can and raises nothing but
    SourceError and Cancelled, whatever the bytes are; ``read`` gives a member's decoded content in pieces of bounded
    size and raises MemberError, SourceError or Cancelled. ``suffixes`` decide where the content no longer tells.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    specification: str
    limitations: tuple[str, ...]
    probe: Callable[[Source], Likeness]
    decode: Callable[[Source, Emitter, Progress], None]
    read: Callable[[Archive, int, Progress], Iterator[bytes]]
