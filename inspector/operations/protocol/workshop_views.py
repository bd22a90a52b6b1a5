"""What a face says and is told of an archive to be made: plain values that cross the border between processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.sources.s3.connection import DEFAULT, Connection


class ArchiveKind(StrEnum):
    """The kinds of archives that can be made."""

    CAF = "caf"
    RCA = "rca"
    TACO = "taco"
    DATAS3T = "datas3t"


@dataclass(frozen=True, slots=True)
class Draft:
    """An archive to be made of what is at the locations; options of other kinds than its own are not looked at.

    ``target`` is a file or an object, for datas3t the folder or prefix that is the root of a bucket; ``connection``
    says how S3 is reached. ``max_size`` in bytes, 0 for the usual one; ``catalogue`` is a file or nothing. ``level`` of
    zstd, 0 for the usual one; ``convention`` is that of the hashes, ``rcarch`` or, by default, ``spec``. ``entries`` of
    a TACO header are ``OFFSET,LENGTH`` or the name of a member after ``=``. ``first_key`` numbers the files in their
    order; None takes their numbers from their names. ``remove_unfinished``: what runs that were killed have left where
    it is to be is removed first. ``grows``: it is not made, but what is there is added to.
    """

    kind: ArchiveKind
    target: str = ""
    locations: tuple[str, ...] = ()
    overwrite: bool = False
    max_size: int = 0
    catalogue: str = ""
    level: int = 0
    convention: str = "spec"
    sync: bool = True
    entries: tuple[str, ...] = ()
    dataset: str = ""
    first_key: int | None = None
    per_range: int = 1_000
    remove_unfinished: bool = False
    connection: Connection = DEFAULT
    grows: bool = False


@dataclass(frozen=True, slots=True)
class InputRow:
    """One thing that becomes a member, or cannot: ``trouble`` says why not, and is empty otherwise.

    ``name`` is the one that it gets and ``where`` its place on the disk, both visible; ``doubt`` is worth a thought.
    """

    name: str
    size: int
    where: str
    trouble: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive would hold: the first rows, how many there are, and their size in bytes, all together.

    ``obstacle`` says why it cannot be made so, and is empty where nothing speaks against it; ``notes`` are sentences.
    """

    rows: tuple[InputRow, ...]
    count: int
    size: int
    sentence: str
    obstacle: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateResult:
    """What making archives came to: the first of them, or the root of the dataset; ``warnings`` are sentences."""

    path: str
    sentence: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """Places of members from a catalogue; ``more`` says that there are others."""

    places: tuple[Place, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a member is: its data are the ``length`` bytes from ``offset`` on in the file ``archive``."""

    path: str
    archive: str
    offset: int
    length: int
