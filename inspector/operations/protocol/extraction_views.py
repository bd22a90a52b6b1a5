"""Values about extracting: options, plans and results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_PROBLEMS = 1_000
"""Problems of one kind that are listed; the rest are counted."""


class OnConflict(StrEnum):
    """What to do if the target of a member exists, in the folder or from another member.

    ``REFUSE`` keeps the existing file and is a failure; ``SKIP`` keeps it and is none; ``RENAME`` numbers the new file;
    ``OVERWRITE`` replaces the existing one, so the last of several members with one name stays.
    """

    REFUSE = "refuse"
    SKIP = "skip"
    RENAME = "rename"
    OVERWRITE = "overwrite"


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """How to extract.

    ``doubtful``: also extract what needs confirming, such as names with invisible characters, and content that cannot
    be verified although the archive records checksums.
    ``keep_damaged``: keep content that fails verification beside its target, as ``NAME.damaged``.
    ``remove_unfinished``: remove leftovers of killed runs in these folders first.
    """

    on_conflict: OnConflict = OnConflict.REFUSE
    doubtful: bool = False
    keep_damaged: bool = False
    remove_unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One member that is not extracted, or not as requested; ``path`` is visible text."""

    member: int
    path: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Problems:
    """The first MAX_PROBLEMS members with one kind of problem, and the number of all."""

    told: tuple[Problem, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class ExtractionPlan:
    """What extracting would do; nothing has been written. Sizes are in bytes.

    ``size`` is the total of all ``files``, ``free`` the free space on the disk. ``refused`` are never extracted,
    ``doubtful`` only after confirming; ``conflicts`` are those whose target exists, and what happens to them.
    ``obstacle`` says why nothing can be extracted, and is empty otherwise; ``unfinished`` describes leftovers of
    killed runs in these folders, if any.
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
    """What extracting did. ``size`` is in bytes, of the ``files`` that were written completely.

    ``stopped`` says why it ended early, and is empty otherwise; ``damaged`` are members that could not be read or
    failed verification. ``unproved`` are members that cannot be verified and have no other problem; they are extracted
    after confirming (``doubtful``). ``whole``: everything requested was extracted.
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
    """Extracted files and folders for other programs; ``sentence`` says what is missing, if anything."""

    paths: tuple[str, ...]
    sentence: str = ""
