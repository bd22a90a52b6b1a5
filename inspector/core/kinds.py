"""Kinds of fields (Kind), and what a view paints apart: roles of fields (Role), families of structures (Family).

Kinds that any format may use are attributes of ``Kind`` (``Kind.NUMBER``); a format declares its own in its folder.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar


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
_ROLE_BITS = {role: 1 << place for place, role in enumerate(ROLES)}
_FAMILY_BITS = {family: 1 << place for place, family in enumerate(FAMILIES, len(ROLES))}


class Shape(StrEnum):
    """How the fields of a kind stand among others."""

    PLAIN = "plain"
    GROUP = "group"
    """Only holds other structures: it has a name and an extent, but no hue."""
    LIST = "list"
    """Holds structures of its family beside fields of its own."""
    UNCLAIMED = "unclaimed"
    """Bytes that no structure owns."""


class Kind(str):
    """The kind of a field: its name in the terms of the specification, and what the program has to know of it.

    There is one value of each name in a process, so kinds are compared with ``is``. One that comes from another process
    brings all of this along, so a process that shows fields needs no format.

    ``meaning`` explains it to the user. ``role`` is None for a kind that takes that of the field around it; one with a
    ``family`` is a structure, painted and named as a whole. ``label`` is what the legend calls it, if not by its name.
    ``word`` is the stable name of the structure in types of fields (``rca.chunk.size``), by default its own.
    ``words`` lead to its fields in Go To, where the first one, by its name or the first word, has the number ``first``.

    ``about_member``: a record of one member, whose name is its value; ``heads_member``: the one that ``Member.head`` is
    the offset of; ``holds_data``: the member's data are in it. ``rows`` is what a list lists, ``points_to`` the kinds
    of top-level fields that it gives the place of, ``precedes`` the field whose bytes follow each, up to the next or to
    its end. ``is_hash``: it is there for the hash in it; ``hashed``: it is what one hash covers; ``is_range``: its
    value is the offset and the length of other bytes, a length of 0 if it is not in use.
    """

    meaning: str
    role: Role | None
    family: Family | None
    shape: Shape
    label: str
    word: str
    words: tuple[str, ...]
    first: int
    about_member: bool
    heads_member: bool
    holds_data: bool
    rows: Kind | None
    points_to: tuple[Kind, ...]
    precedes: Kind | None
    is_hash: bool
    hashed: bool
    is_range: bool

    SIGNATURE: ClassVar[Kind]
    NUMBER: ClassVar[Kind]
    FLAGS: ClassVar[Kind]
    TIME: ClassVar[Kind]
    TEXT: ClassVar[Kind]
    SYNTAX: ClassVar[Kind]
    BYTES: ClassVar[Kind]
    LENGTH: ClassVar[Kind]
    OFFSET: ClassVar[Kind]
    DIGEST: ClassVar[Kind]
    NAME: ClassVar[Kind]
    MEMBER: ClassVar[Kind]
    DATA: ClassVar[Kind]
    PADDING: ClassVar[Kind]
    GAP: ClassVar[Kind]
    GARBAGE: ClassVar[Kind]

    def __new__(
        cls,
        name: str,
        meaning: str,
        role: Role | None = None,
        family: Family | None = None,
        shape: Shape = Shape.PLAIN,
        *,
        label: str = "",
        word: str = "",
        words: tuple[str, ...] = (),
        first: int = 0,
        about_member: bool = False,
        heads_member: bool = False,
        holds_data: bool = False,
        rows: Kind | None = None,
        points_to: tuple[Kind, ...] = (),
        precedes: Kind | None = None,
        is_hash: bool = False,
        hashed: bool = False,
        is_range: bool = False,
    ) -> Kind:
        """The kind of this name; raises ValueError if it was declared otherwise."""
        facts = {
            "meaning": meaning,
            "role": role,
            "family": family,
            "shape": shape,
            "label": label or name,
            "word": word or identifier(name),
            "words": words,
            "first": first,
            "about_member": about_member,
            "heads_member": heads_member,
            "holds_data": holds_data,
            "rows": rows,
            "points_to": points_to,
            "precedes": precedes,
            "is_hash": is_hash,
            "hashed": hashed,
            "is_range": is_range,
        }
        known = _DECLARED.get(name)
        if known is None:
            known = _DECLARED[name] = super().__new__(cls, name)
            vars(known).update(facts)
        elif vars(known) != facts:
            raise ValueError(f"The kind {name} is declared twice, each time otherwise.")
        return known

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A kind does not change: {name}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (str(self), vars(self))

    @property
    def is_value(self) -> bool:
        """Whether its fields are single values, of which there are many with different names."""
        return self.shape is Shape.PLAIN and self.family is None and self.role in _VALUES

    @property
    def leads_on(self) -> bool:
        """Whether it gives the place of something else, so that what is in it need not be looked at."""
        lists_member = self.about_member and self.role is Role.DIRECTORY
        return lists_member or bool(self.points_to) or self.is_hash or self.is_range


@cache
def identifier(name: str) -> str:
    """A name as a word of an expression, without the number in it: ``Entry 0`` is ``entry``, ``crc-32`` ``crc32``."""
    return re.sub(r"[^a-z0-9]+", "_", _NUMBER.sub("", name.lower().replace("-", ""))).strip("_")


_NUMBER = re.compile(r"\b\d[\d,]*\b")
_DECLARED: dict[str, Kind] = {}
_VALUES = (None, Role.EXTENT, Role.DIGEST, Role.NAME)


def _received(name: str, facts: dict[str, Any]) -> Kind:
    """A kind from another process."""
    return _DECLARED.get(name) or Kind(name, **facts)


def declared_kinds() -> tuple[Kind, ...]:
    """All kinds that this process knows."""
    return tuple(_DECLARED.values())


Kind.SIGNATURE = Kind("signature", "Fixed bytes that identify a structure.")
Kind.NUMBER = Kind("number", "A number.")
Kind.FLAGS = Kind("flags", "Single bits, each an option.")
Kind.TIME = Kind("time", "A date or a time.")
Kind.TEXT = Kind("text", "Text.")
Kind.SYNTAX = Kind("syntax", "Punctuation between values, such as the braces and commas of JSON.")
Kind.BYTES = Kind("bytes", "Bytes that are not decoded further.")
Kind.LENGTH = Kind("length", "A size in bytes.", Role.EXTENT)
Kind.OFFSET = Kind("offset", "The offset where something starts or ends. F12 goes there.", Role.EXTENT)
Kind.DIGEST = Kind("digest", "A checksum or hash of other bytes. F12 shows which bytes it covers.", Role.DIGEST)
Kind.NAME = Kind("name", "The name of a member as bytes; unprintable bytes are escaped.", Role.NAME)
Kind.MEMBER = Kind(
    "member", "One file in the archive: its metadata and its content.", Role.DATA, shape=Shape.GROUP, about_member=True
)
Kind.DATA = Kind("member data", "The content of a member as stored.", Role.DATA, Family.CONTENT, words=("data",))
Kind.PADDING = Kind("padding", "Padding up to the alignment of the next part.", Role.PADDING)
Kind.GAP = Kind("gap", "Bytes between structures that no structure claims.", Role.GAP, shape=Shape.UNCLAIMED)
Kind.GARBAGE = Kind(
    "garbage",
    "Bytes after the end of the archive, or left by an interrupted write.",
    Role.GARBAGE,
    shape=Shape.UNCLAIMED,
)


def role_of(kind: Kind, inherited: Role = Role.DATA) -> Role:
    """The role of a ``kind``; kinds without one of their own take ``inherited``, the role of the field around them."""
    return kind.role or inherited


def role_bit(role: Role) -> int:
    """The bit that stands for ``role`` in a set of roles."""
    return _ROLE_BITS[role]


def family_of(kind: Kind, inherited: Family | None = None) -> Family | None:
    """The family of a ``kind``; kinds without one of their own take ``inherited``, that of the structure around them.

    Padding is a structure only where none is around it.
    """
    if kind.shape is Shape.UNCLAIMED or kind.shape is Shape.GROUP:
        return None
    return kind.family or inherited or (Family.PADDING if kind is Kind.PADDING else None)


def is_structure(kind: Kind, inherited: Family | None) -> bool:
    """Whether a field of a ``kind`` in a structure of the family ``inherited`` is a structure, not a field of that."""
    if kind is Kind.PADDING:
        return inherited is None
    if kind.shape is Shape.LIST and inherited is kind.family:
        return False  # a list in a list of the same structure
    return kind.family is not None or kind.shape is not Shape.PLAIN


def family_bit(family: Family) -> int:
    """The bit that stands for ``family`` in a set of roles and families."""
    return _FAMILY_BITS[family]


def role_set(*members: Role | Family) -> int:
    return sum(role_bit(each) if isinstance(each, Role) else family_bit(each) for each in members)
