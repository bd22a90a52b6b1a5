"""What a front end shows of readers: a row for each, the steps of one, and its reads."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.span import Spans

if TYPE_CHECKING:  # only types: the window loads what its panels need
    from inspector.core.reader import Reader, ReaderKind, ReaderOutcome


class ReaderVerdict(StrEnum):
    """What a reader makes of an archive."""

    ACCEPTS = "accepts"
    WRONG = "reads wrongly"
    REJECTS = "rejects"
    UNKNOWN = "not known"
    ABSENT = "not installed"


class NamedReader(Struct, frozen=True):
    """A reader; ``about`` says what it is, ``why_not`` why it cannot run here (empty if it can)."""

    name: str
    title: str
    kind: ReaderKind
    about: str
    why_not: str

    @classmethod
    def of(cls, reader: Reader) -> NamedReader:
        """A reader without its function."""
        return cls(reader.name, reader.title, reader.kind, reader.about, reader.present())


class ReaderRow(Struct, frozen=True):
    """What one reader makes of an archive; where it is not installed, the outcome's message says so."""

    reader: NamedReader
    verdict: ReaderVerdict
    outcome: ReaderOutcome


class TraceResult(Struct, frozen=True):
    """A reader's way through an archive, whose bytes are ``layer``.

    ``steps`` are kept, ``folded`` more were taken. ``reads`` were made, of ``total`` bytes in all. ``never`` are the
    first of the bytes not read at all, ``never_bytes`` how many there are; ``twice_bytes`` were read more than once.
    """

    reader: NamedReader
    outcome: ReaderOutcome
    steps: int
    folded: int
    reads: int
    total: int
    twice_bytes: int
    never: Spans
    never_bytes: int
    layer: int
