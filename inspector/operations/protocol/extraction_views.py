"""Options, plans and results of extracting, as plain values that cross processes (see ``views``)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field

MAX_PROBLEMS_LISTED = 1_000
"""Problems of one kind that are listed; the rest are counted."""


class OnConflict(StrEnum):
    """What happens to a member whose path exists already, in the folder or as another member.

    ``REFUSE`` leaves what is there and counts as a failure, ``SKIP`` leaves it and does not; ``RENAME`` adds a number;
    ``OVERWRITE`` replaces it, so that of members with the same name the last stays.
    """

    REFUSE = "refuse"
    SKIP = "skip"
    RENAME = "rename"
    OVERWRITE = "overwrite"


class ExtractionOptions(Struct, frozen=True):
    """How to extract.

    ``doubtful``: also extract what needs confirming, such as names with invisible characters, and content that nothing
    proves although the archive records what should.
    ``keep_damaged``: keep what is not proved to be what was archived, as ``NAME.damaged``.
    ``remove_unfinished``: first remove what killed runs have left in these folders.
    ``sync``: wait until the disk holds each file and its name; None does so for a single file only.
    """

    on_conflict: OnConflict = OnConflict.REFUSE
    doubtful: bool = False
    keep_damaged: bool = False
    remove_unfinished: bool = False
    sync: bool | None = None


class Problem(NamedTuple):
    """One member that is not extracted, or not as asked. ``path`` is printable; ``sentence`` is the whole message."""

    member: int
    path: str
    sentence: str


class Problems(Struct):
    """The first MAX_PROBLEMS_LISTED problems of one kind in the order of the members, and how many there are."""

    listed: list[Problem] = field(default_factory=list)
    count: int = 0


class _Extracted(Struct, frozen=True):
    folder: str
    files: int
    folders: int
    size: int
    conflicts: Problems
    refused: Problems
    doubtful: Problems
    warnings: tuple[str, ...]


class ExtractionPlan(_Extracted, frozen=True):
    """What extracting would do; nothing has been written. Sizes are in bytes.

    ``size`` is the total of the ``files``, ``free`` the space on the disk. ``refused`` are never extracted,
    ``doubtful`` only after confirming; ``conflicts`` are those whose path exists, with what happens to them.
    ``warnings`` are sentences; ``obstacle`` says why nothing can be extracted at all, and is empty otherwise;
    ``unfinished`` says what killed runs have left in these folders, and is empty if there is nothing.
    """

    free: int
    obstacle: str
    unfinished: str


class ExtractionResult(_Extracted, frozen=True):
    """What extracting did. ``size`` is in bytes, of the ``files`` that were written completely.

    ``stopped`` says what ended it early, and is empty otherwise; ``damaged`` are members that could not be read whole
    or are not proved to be what was archived. ``unproved`` are those with no other problem than that nothing proves
    them: they are extracted after confirming (``doubtful``). ``whole`` is whether everything asked for was extracted.
    """

    damaged: Problems
    unproved: Problems
    stopped: str
    whole: bool
    sentence: str


class ExportedFiles(Struct, frozen=True):
    """Extracted files and folders for other programs; ``sentence`` says what is missing, if anything."""

    paths: tuple[str, ...]
    sentence: str = ""
