"""All user settings, each declared once, in the order of the dialog; and the kinds of settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from inspector.core import limits
from inspector.core.limits import Limit
from inspector.core.program.redaction import strip_credentials
from inspector.gui.kit.theme import Theme

T = TypeVar("T")


class SettingsPage(StrEnum):
    """A page of the settings dialog."""

    GENERAL = "General"
    BYTES = "Bytes"
    LIMITS = "Limits"
    S3 = "S3"


@dataclass(frozen=True, slots=True)
class Setting(ABC, Generic[T]):
    """One setting; ``label`` and ``tip`` describe it in the dialog, on ``page``."""

    key: str
    page: SettingsPage
    default: T
    label: str
    tip: str

    @abstractmethod
    def read(self, stored: str) -> T:
        """The value of a stored text; the default if the text is not valid."""

    def text(self, value: T) -> str:
        """The text that stores a value."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag(Setting[bool]):
    """A setting that is on or off."""

    def read(self, stored: str) -> bool:
        return {"yes": True, "no": False}.get(stored, self.default)

    def text(self, value: bool) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True, slots=True)
class Number(Setting[int]):
    """An integer from ``least`` to ``most`` inclusive; ``special``, if set, is the label of ``least``."""

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
    """One of several values; ``labels`` maps each to its label, in the order of the menu."""

    labels: dict[str, str]

    def read(self, stored: str) -> str:
        return stored if stored in self.labels else self.default

    def label_of(self, value: str) -> str:
        """The label of a value."""
        return self.labels[value]


@dataclass(frozen=True, slots=True)
class Text(Setting[str]):
    """A line of text; ``hint`` is its placeholder."""

    hint: str = ""

    def read(self, stored: str) -> str:
        return stored or self.default


@dataclass(frozen=True, slots=True)
class Address(Text):
    """The address of a server, stored without credentials."""

    def text(self, value: str) -> str:
        return strip_credentials(value.strip())


@dataclass(frozen=True, slots=True)
class FontFamily(Text):
    """The name of a monospaced font."""


START_PAGE, LAST_SESSION = "page", "session"

AT_START = Choice(
    "at_start",
    SettingsPage.GENERAL,
    START_PAGE,
    "At start",
    "What to show when the program starts without a file",
    {START_PAGE: "The start page", LAST_SESSION: "The last session"},
)
ONE_LIST, A_TAB_EACH = "list", "tabs"

MANY_FILES = Choice(
    "many_files",
    SettingsPage.GENERAL,
    ONE_LIST,
    "Many files at once",
    "What to show when more than five files are dropped or opened together",
    {ONE_LIST: "One list that audits them", A_TAB_EACH: "A tab for each"},
)
THEME = Choice(
    "theme",
    SettingsPage.GENERAL,
    Theme.SYSTEM.value,
    "Colours",
    "The colours of the window",
    {
        Theme.SYSTEM.value: "As the system",
        Theme.LIGHT.value: "Light",
        Theme.DARK.value: "Dark",
        Theme.CONTRAST_LIGHT.value: "High contrast on white",
        Theme.CONTRAST_DARK.value: "High contrast on black",
    },
)
NOTIFY = Flag(
    "notify",
    SettingsPage.GENERAL,
    True,
    "Notify when long jobs end",
    "Ask for attention in the task bar when a job of more than 10 seconds ends while the window is in the background",
)
BYTES_PER_ROW = Choice(
    "bytes_per_row",
    SettingsPage.BYTES,
    "0",
    "Bytes per row",
    "The number of bytes in a row of the hex view",
    {"0": "As many as fit", "8": "8", "16": "16", "32": "32", "64": "64"},
)
OFFSETS = Choice(
    "offsets",
    SettingsPage.BYTES,
    "16",
    "Offsets",
    "The number base of the offsets beside the rows",
    {"16": "Hexadecimal", "10": "Decimal"},
)
ARROWS = Flag(
    "arrows",
    SettingsPage.BYTES,
    True,
    "Show reference arrows",
    "Draw arrows from references, such as an index or a hash, to the bytes they point to",
)
COLOUR_BY = Choice(
    "colour_by",
    SettingsPage.BYTES,
    "structure",
    "Colour by",
    "What the colours of the bytes tell apart",
    {
        "structure": "Structure",
        "field kind": "Field kind",
        "verdict": "Verdict",
        "member": "Member",
        "entropy": "Entropy",
    },
)
BANDS = Flag(
    "bands",
    SettingsPage.BYTES,
    False,
    "Show byte bands",
    "Show beside the map what the bytes look like: zeros, text, compressed or random, and their entropy",
)
FONT = FontFamily(
    "font",
    SettingsPage.BYTES,
    "",
    "Font",
    "The font of the bytes",
    "The system's fixed font",
)
FONT_SIZE = Number(
    "font_size",
    SettingsPage.BYTES,
    0,
    "Size",
    "The font size of the bytes; zooming adds to it",
    0,
    48,
    "pt",
    "As the system",
)
ZOOM = Number("zoom", SettingsPage.BYTES, 0, "Zoom", "Points added to the font size of the bytes by the wheel", -6, 24)
CONTENT = Number(
    "content_mib",
    SettingsPage.LIMITS,
    limits.CONTENT.default,
    "Decode at most",
    "How much of a member is decoded to show its content",
    limits.CONTENT.least,
    limits.CONTENT.most,
    "MiB",
)
TEXT = Number(
    "text_mib",
    SettingsPage.LIMITS,
    1,
    "Show as text at most",
    "How much of a member's content is shown as text; the hex view shows all of it",
    1,
    64,
    "MiB",
)
LARGE_MEMBER = Number(
    "large_member_gib",
    SettingsPage.LIMITS,
    limits.LARGE_MEMBER.default,
    "Ask before extracting members larger than",
    "A larger member is extracted only after confirming",
    limits.LARGE_MEMBER.least,
    limits.LARGE_MEMBER.most,
    "GiB",
)
PROFILE = Text(
    "s3_profile",
    SettingsPage.S3,
    "",
    "Profile",
    "The AWS profile for buckets that were not opened before; keys stay in the AWS configuration",
    "From the environment",
)
REGION = Text(
    "s3_region",
    SettingsPage.S3,
    "",
    "Region",
    "The region for buckets that were not opened before",
    "From the profile",
)
ENDPOINT = Address(
    "s3_endpoint",
    SettingsPage.S3,
    "",
    "Endpoint",
    "The server for buckets that were not opened before",
    "Amazon S3",
)
CACHE = Number(
    "s3_cache_mib",
    SettingsPage.S3,
    limits.CACHE.default,
    "Cache for each archive at most",
    "How much of what was read is cached in memory",
    limits.CACHE.least,
    limits.CACHE.most,
    "MiB",
)
CONNECTING = Number(
    "s3_connecting",
    SettingsPage.S3,
    limits.CONNECTING.default,
    "Connection timeout",
    "How long to wait for a connection",
    limits.CONNECTING.least,
    limits.CONNECTING.most,
    "s",
)
ANSWERING = Number(
    "s3_answering",
    SettingsPage.S3,
    limits.ANSWERING.default,
    "Response timeout",
    "How long to wait for the next bytes of a response",
    limits.ANSWERING.least,
    limits.ANSWERING.most,
    "s",
)

ALL: tuple[Setting[Any], ...] = (  # but ZOOM, which has keys of its own
    *(AT_START, MANY_FILES, THEME, NOTIFY),
    *(BYTES_PER_ROW, OFFSETS, ARROWS, BANDS, COLOUR_BY, FONT, FONT_SIZE),
    *(CONTENT, TEXT, LARGE_MEMBER),
    *(PROFILE, REGION, ENDPOINT, CACHE, CONNECTING, ANSWERING),
)
LIMITS: dict[Number, Limit] = {
    CONTENT: limits.CONTENT,
    LARGE_MEMBER: limits.LARGE_MEMBER,
    CACHE: limits.CACHE,
    CONNECTING: limits.CONNECTING,
    ANSWERING: limits.ANSWERING,
}
"""The settings passed to workers through their environment."""
