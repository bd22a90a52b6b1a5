"""What a face says and is told of extracting: plain values that cross the border between processes (see ``views``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

TOLD = 1_000
"""The most troubles of one kind that are told one by one; the rest are counted."""


class OnConflict(StrEnum):
    """What happens to a member whose place is taken: by something in the folder, or by another member.

    ``REFUSE`` leaves what is there and is a failure, ``SKIP`` leaves it and is none; ``RENAME`` gives the new one a
    number; ``OVERWRITE`` puts it in the other's place, and of members with one name the last stays.
    """

    REFUSE = "refuse"
    SKIP = "skip"
    RENAME = "rename"
    OVERWRITE = "overwrite"


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """How to extract.

    ``doubtful``: also what needs a word of the user, such as names with invisible characters, and content that nothing
    proves although the archive records what should.
    ``keep_damaged``: what is not proved to be what was archived is kept beside its place, as ``NAME.damaged``.
    ``remove_unfinished``: what runs that were killed have left in these folders is removed first.
    """

    on_conflict: OnConflict = OnConflict.REFUSE
    doubtful: bool = False
    keep_damaged: bool = False
    remove_unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One member that is not, or not as asked, extracted. ``path`` is made visible; ``sentence`` says it all."""

    member: int
    path: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Problems:
    """The first TOLD members with one kind of trouble, and how many there are."""

    told: tuple[Problem, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class ExtractionPlan:
    """What extracting would do; nothing has been written. Sizes in bytes.

    ``size`` is what the ``files`` come to, ``free`` the room on the disk. ``refused`` are never extracted,
    ``doubtful`` only on the user's word; ``conflicts`` are those whose place is taken, with what happens to them.
    ``warnings`` are sentences; ``obstacle`` says why nothing can be extracted at all, and is empty otherwise;
    ``unfinished`` says what runs that were killed have left in these folders, and is empty where that is nothing.
    """

    folder: str
    files: int
    folders: int
    size: int
    free: int
    conflicts: Problems
    refused: Problems
    doubtful: Problems
    warnings: tuple[str, ...]
    obstacle: str
    unfinished: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """What extracting did. ``size`` is in bytes, of the ``files`` that were written whole.

    ``stopped`` says what kept it from coming to its end, and is empty otherwise; ``damaged`` are members that could not
    be read whole or are not proved to be what was archived. ``unproved`` are those of which nothing else is wrong than
    that nothing proves them: they are extracted on the user's word (``doubtful``). ``whole`` is whether all that was
    asked for is there.
    """

    folder: str
    files: int
    folders: int
    size: int
    conflicts: Problems
    refused: Problems
    doubtful: Problems
    damaged: Problems
    warnings: tuple[str, ...]
    unproved: Problems
    stopped: str
    whole: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class ExportedFiles:
    """Files and folders with members in them, for other programs; ``sentence`` says what is missing, if anything."""

    paths: tuple[str, ...]
    sentence: str = ""
