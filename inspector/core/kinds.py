"""The kinds of fields (Kind), and what a view paints apart: roles of fields (Role), families of structures (Family)."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The kind of a field, in the terms of the specifications."""

    # parts of archives
    DATA_SECTION = "data section"
    INDEX = "index"
    INDEX_ENTRY = "index entry"
    FOOTER = "footer"
    CHUNK_LAYER = "chunk layer"
    CHUNK_HEADER = "chunk header"
    BLOB_LAYER = "blob layer"
    SEGMENT = "segment"
    BLOB_BLOCK = "blob block"
    RESET_BLOCK = "reset block"
    CONTROL_BLOCK = "control block"
    MEMBER = "member"
    LOCAL_HEADER = "local file header"
    TACO_PAYLOAD = "TACO payload"
    TACO_ENTRY = "TACO entry"
    DATA_DESCRIPTOR = "data descriptor"
    CENTRAL_DIRECTORY = "central directory"
    CENTRAL_HEADER = "central directory header"
    ZIP64_END = "ZIP64 end of central directory"
    ZIP64_LOCATOR = "ZIP64 end of central directory locator"
    END_OF_DIRECTORY = "end of central directory"
    EXTRA = "extra field"
    TAR_HEADER = "tar header"
    TAR_EXTENSION = "tar extended header"
    TAR_END = "end of archive"
    METADATA = "metadata"
    METADATA_ROW = "metadata row"
    FRAME = "zstd frame"
    # single values
    SIGNATURE = "signature"
    NUMBER = "number"
    FLAGS = "flags"
    TIME = "time"
    TEXT = "text"
    SYNTAX = "syntax"
    BYTES = "bytes"
    LENGTH = "length"
    OFFSET = "offset"
    DIGEST = "digest"
    NAME = "name"
    DATA = "member data"
    PADDING = "padding"
    GAP = "gap"
    GARBAGE = "garbage"


class Role(StrEnum):
    """What a view paints apart: at most ten roles, each with its own colour or hatching and label."""

    HEADER = "header"
    DIRECTORY = "index or directory"
    DIGEST = "digest or checksum"
    EXTENT = "length or offset"
    NAME = "name"
    DATA = "member data"
    CONTROL = "reset or control"
    PADDING = "padding"
    GAP = "gap"
    GARBAGE = "garbage"


ROLES: tuple[Role, ...] = tuple(Role)
"""All roles in a fixed order: a set of roles is an integer with one bit for each position here."""

_ROLE_OF = {
    Kind.DATA_SECTION: Role.DATA,
    Kind.INDEX: Role.DIRECTORY,
    Kind.INDEX_ENTRY: Role.DIRECTORY,
    Kind.FOOTER: Role.HEADER,
    Kind.CHUNK_LAYER: Role.HEADER,
    Kind.CHUNK_HEADER: Role.HEADER,
    Kind.BLOB_LAYER: Role.DATA,
    Kind.SEGMENT: Role.DATA,
    Kind.BLOB_BLOCK: Role.DATA,
    Kind.RESET_BLOCK: Role.CONTROL,
    Kind.CONTROL_BLOCK: Role.CONTROL,
    Kind.MEMBER: Role.DATA,
    Kind.LOCAL_HEADER: Role.HEADER,
    Kind.TACO_PAYLOAD: Role.HEADER,
    Kind.TACO_ENTRY: Role.HEADER,
    Kind.DATA_DESCRIPTOR: Role.HEADER,
    Kind.CENTRAL_DIRECTORY: Role.DIRECTORY,
    Kind.CENTRAL_HEADER: Role.DIRECTORY,
    Kind.ZIP64_END: Role.DIRECTORY,
    Kind.ZIP64_LOCATOR: Role.DIRECTORY,
    Kind.END_OF_DIRECTORY: Role.DIRECTORY,
    Kind.TAR_HEADER: Role.HEADER,
    Kind.TAR_EXTENSION: Role.HEADER,
    Kind.TAR_END: Role.PADDING,
    Kind.METADATA: Role.DIRECTORY,
    Kind.METADATA_ROW: Role.DIRECTORY,
    Kind.FRAME: Role.HEADER,
    Kind.LENGTH: Role.EXTENT,
    Kind.OFFSET: Role.EXTENT,
    Kind.DIGEST: Role.DIGEST,
    Kind.NAME: Role.NAME,
    Kind.DATA: Role.DATA,
    Kind.PADDING: Role.PADDING,
    Kind.GAP: Role.GAP,
    Kind.GARBAGE: Role.GARBAGE,
}


def role_of(kind: Kind, inherited: Role = Role.DATA) -> Role:
    """The role of a ``kind``; kinds without one of their own take ``inherited``, the role of the field around them."""
    return _ROLE_OF.get(kind, inherited)


def role_bit(role: Role) -> int:
    """The bit that stands for ``role`` in a set of roles."""
    return 1 << ROLES.index(role)


class Family(StrEnum):
    """Structures that a view paints in one hue: at most eight families."""

    CHUNK = "chunk headers"
    RESET = "reset and control blocks"
    HEADER = "headers of members"
    TACO = "TACO header"
    CONTENT = "member data"
    INDEX = "index or directory"
    END = "footer or end record"
    PADDING = "padding between structures"


FAMILIES: tuple[Family, ...] = tuple(Family)
"""All families in a fixed order: their bits in a set follow those of the roles."""

_FAMILY_OF = {
    Kind.CHUNK_HEADER: Family.CHUNK,
    Kind.RESET_BLOCK: Family.RESET,
    Kind.CONTROL_BLOCK: Family.RESET,
    Kind.BLOB_BLOCK: Family.HEADER,
    Kind.LOCAL_HEADER: Family.HEADER,
    Kind.DATA_DESCRIPTOR: Family.HEADER,
    Kind.TAR_HEADER: Family.HEADER,
    Kind.TAR_EXTENSION: Family.HEADER,
    Kind.FRAME: Family.HEADER,
    Kind.TACO_PAYLOAD: Family.TACO,
    Kind.TACO_ENTRY: Family.TACO,
    Kind.DATA: Family.CONTENT,
    Kind.INDEX: Family.INDEX,
    Kind.INDEX_ENTRY: Family.INDEX,
    Kind.CENTRAL_DIRECTORY: Family.INDEX,
    Kind.CENTRAL_HEADER: Family.INDEX,
    Kind.METADATA: Family.INDEX,
    Kind.METADATA_ROW: Family.INDEX,
    Kind.FOOTER: Family.END,
    Kind.ZIP64_END: Family.END,
    Kind.ZIP64_LOCATOR: Family.END,
    Kind.END_OF_DIRECTORY: Family.END,
    Kind.TAR_END: Family.END,
}
UNCLAIMED = frozenset((Kind.GAP, Kind.GARBAGE))
"""Kinds of bytes that no structure owns; they belong to no family."""
GROUPS = frozenset((Kind.SEGMENT, Kind.MEMBER))
"""Kinds of structures that only hold others: they have a name and an extent, but no hue."""
LISTS = frozenset((Kind.INDEX, Kind.CENTRAL_DIRECTORY, Kind.METADATA, Kind.TACO_PAYLOAD))
"""Kinds of structures that hold others of their kind beside fields of their own."""


def family_of(kind: Kind, inherited: Family | None = None) -> Family | None:
    """The family of a ``kind``; kinds without one of their own take ``inherited``, that of the structure around them.

    Padding is a structure only where none is around it.
    """
    if kind in UNCLAIMED or kind in GROUPS:
        return None
    return _FAMILY_OF.get(kind) or inherited or (Family.PADDING if kind is Kind.PADDING else None)


def is_structure(kind: Kind, inherited: Family | None) -> bool:
    """Whether a field of a ``kind`` in a structure of the family ``inherited`` is a structure, not a field of that."""
    if kind is Kind.PADDING:
        return inherited is None
    if kind in LISTS and inherited is _FAMILY_OF[kind]:
        return False  # a list in a list of the same structure
    return kind in _FAMILY_OF or kind in GROUPS or kind in UNCLAIMED


def family_bit(family: Family) -> int:
    """The bit that stands for ``family`` in a set of roles and families."""
    return 1 << (len(ROLES) + FAMILIES.index(family))
