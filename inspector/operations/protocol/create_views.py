"""Archives to be created: drafts, previews of their contents, and results."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from inspector.sources.s3.connection import DEFAULT, Connection


class ArchiveKind(StrEnum):
    """The kinds of archives that can be created."""

    CAF = "caf"
    RCA = "rca"
    TACO = "taco"
    DATAS3T = "datas3t"


class Draft(Struct, frozen=True):
    """An archive to create from the files at ``locations``; options of other kinds are ignored.

    ``target`` is a file or an object; for datas3t the folder or prefix that is the root of a bucket. ``connection``
    says how to reach S3. ``max_size`` is in bytes, 0 for the default; ``catalogue`` is a file or empty. ``level`` is
    that of zstd, 0 for the default; ``convention`` of the hashes is ``rcarch`` or ``spec``. ``first_key`` numbers the
    files in order; with None their names are the keys. ``remove_unfinished``: remove leftovers of killed runs at the
    target first. ``grows``: append to the existing archive.
    """

    kind: ArchiveKind
    target: str = ""
    locations: tuple[str, ...] = ()
    overwrite: bool = False
    max_size: int = 0
    catalogue: str = ""
    level: int = 0
    convention: str = "spec"
    dataset: str = ""
    first_key: int | None = None
    per_range: int = 1_000
    remove_unfinished: bool = False
    connection: Connection = DEFAULT
    grows: bool = False


class InputRow(Struct, frozen=True):
    """One input; ``trouble`` says why it cannot become a member and is empty if it can.

    ``name`` is that of the member and ``where`` the location of the file, both visible text; ``doubt`` is a warning.
    """

    name: str
    size: int
    where: str
    trouble: str = ""
    doubt: str = ""


class Contents(Struct, frozen=True):
    """What an archive would hold: the first inputs, the number of all and their total size in bytes.

    ``obstacle`` says why it cannot be created, and is empty if it can; ``notes`` are sentences.
    """

    rows: tuple[InputRow, ...]
    count: int
    size: int
    sentence: str
    obstacle: str
    notes: tuple[str, ...] = ()


class CreateResult(Struct, frozen=True):
    """The result of creating archives: ``path`` of the first one, or the root of the dataset."""

    path: str
    sentence: str
    warnings: tuple[str, ...]


class Place(Struct, frozen=True):
    """The location of a member's data: ``length`` bytes from ``offset`` in the file ``archive``."""

    path: str
    archive: str
    offset: int
    length: int
