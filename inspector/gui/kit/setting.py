"""What a setting is: a name, a default, what it may be, and how it is called. All of them are in ``preferences``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from inspector.core.redaction import strip_credentials

T = TypeVar("T")


class Page(StrEnum):
    """A page of the dialog of settings."""

    GENERAL = "General"
    BYTES = "Bytes"
    LIMITS = "Limits"
    S3 = "S3"


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One setting. ``label`` and ``tip`` tell it to the user, ``page`` is where it is found in the dialog."""

    key: str
    page: Page
    default: T
    label: str
    tip: str

    def read(self, stored: str) -> T:
        """What a stored text says; the default where it says nothing that this setting may be."""
        raise NotImplementedError

    def text(self, value: T) -> str:
        """How a value is stored."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag(Setting[bool]):
    """Something that is on or off."""

    def read(self, stored: str) -> bool:
        return {"yes": True, "no": False}.get(stored, self.default)

    def text(self, value: bool) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True, slots=True)
class Number(Setting[int]):
    """A whole number from ``least`` to ``most``, both included; ``least`` is called ``special`` where that is said."""

    least: int
    most: int
    unit: str = ""
    special: str = ""

    def read(self, stored: str) -> int:
        try:
            number = int(stored)
        except ValueError:
            return self.default
        return number if self.least <= number <= self.most else self.default


@dataclass(frozen=True, slots=True)
class Choice(Setting[str]):
    """One of several texts; ``words`` say what each means, in the order in which they are offered."""

    words: dict[str, str]

    def read(self, stored: str) -> str:
        return stored if stored in self.words else self.default

    def called(self, value: str) -> str:
        """What the user calls a value."""
        return self.words[value]


@dataclass(frozen=True, slots=True)
class Text(Setting[str]):
    """A line of text; ``hint`` stands where it is empty."""

    hint: str = ""

    def read(self, stored: str) -> str:
        return stored or self.default


@dataclass(frozen=True, slots=True)
class Address(Text):
    """The address of a server, of which nothing secret is kept."""

    def text(self, value: str) -> str:
        return strip_credentials(value.strip())


@dataclass(frozen=True, slots=True)
class FontFamily(Text):
    """The name of a font whose letters are all of one width."""
