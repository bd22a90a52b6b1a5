"""All settings that the user makes, in the order of the dialog. Each is declared once, here."""

from __future__ import annotations

from typing import Any

from inspector.core import limits
from inspector.core.limits import Limit
from inspector.gui.kit.setting import Address, Choice, Flag, FontFamily, Number, Page, Setting, Text
from inspector.gui.kit.theme import Theme

START_PAGE, LAST_SESSION = "page", "session"

AT_START = Choice(
    "at_start",
    Page.GENERAL,
    START_PAGE,
    "At start",
    "What is shown when the program starts without a file",
    {START_PAGE: "The start page", LAST_SESSION: "The last session: what was open"},
)
THEME = Choice(
    "theme",
    Page.GENERAL,
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
    Page.GENERAL,
    True,
    "Tell when long work is done",
    "A message of the desktop when work of more than 10 seconds ends while the window is in the background",
)
BYTES_PER_ROW = Choice(
    "bytes_per_row",
    Page.BYTES,
    "0",
    "Bytes per row",
    "How many bytes a row of the hex view has",
    {"0": "As many as fit", "8": "8", "16": "16", "32": "32", "64": "64"},
)
OFFSETS = Choice(
    "offsets",
    Page.BYTES,
    "16",
    "Offsets",
    "How the offsets beside the rows are written",
    {"16": "Hexadecimal", "10": "Decimal"},
)
ARROWS = Flag(
    "arrows",
    Page.BYTES,
    True,
    "Arrows beside the bytes",
    "Arrows from what says a place, such as an index or a hash, to the bytes that are meant",
)
FONT = FontFamily(
    "font",
    Page.BYTES,
    "",
    "Font",
    "The font that bytes are shown in",
    "The system's fixed font",
)
FONT_SIZE = Number(
    "font_size",
    Page.BYTES,
    0,
    "Size",
    "The size of the letters of bytes; zooming adds to it",
    0,
    48,
    "pt",
    "As the system",
)
CONTENT = Number(
    "content_mib",
    Page.LIMITS,
    limits.CONTENT.default,
    "Decode to show, at most",
    "So much of a member is decoded when its content is shown",
    limits.CONTENT.least,
    limits.CONTENT.most,
    "MiB",
)
TEXT = Number(
    "text_mib",
    Page.LIMITS,
    1,
    "Show as text, at most",
    "So much of a member's content is shown as text; the hex view shows all",
    1,
    64,
    "MiB",
)
LARGE_MEMBER = Number(
    "large_member_gib",
    Page.LIMITS,
    limits.LARGE_MEMBER.default,
    "Ask before extracting more than",
    "A larger member is extracted only on your word",
    limits.LARGE_MEMBER.least,
    limits.LARGE_MEMBER.most,
    "GiB",
)
PROFILE = Text(
    "s3_profile",
    Page.S3,
    "",
    "Profile",
    "The profile of the AWS configuration for buckets that were not opened before; keys stay in that configuration",
    "As the environment says",
)
REGION = Text(
    "s3_region",
    Page.S3,
    "",
    "Region",
    "The region for buckets that were not opened before",
    "As the profile says",
)
ENDPOINT = Address(
    "s3_endpoint",
    Page.S3,
    "",
    "Endpoint",
    "The server for buckets that were not opened before",
    "Amazon S3",
)
CACHE = Number(
    "s3_cache_mib",
    Page.S3,
    limits.CACHE.default,
    "Keep of each archive, at most",
    "So much of what was read is kept in memory, so that it is asked for once",
    limits.CACHE.least,
    limits.CACHE.most,
    "MiB",
)
CONNECTING = Number(
    "s3_connecting",
    Page.S3,
    limits.CONNECTING.default,
    "Wait for a connection",
    "A server that does not answer is given up after so long",
    limits.CONNECTING.least,
    limits.CONNECTING.most,
    "s",
)
ANSWERING = Number(
    "s3_answering",
    Page.S3,
    limits.ANSWERING.default,
    "Wait for an answer",
    "A request is given up when nothing comes for so long",
    limits.ANSWERING.least,
    limits.ANSWERING.most,
    "s",
)

EVERY: tuple[Setting[Any], ...] = (
    *(AT_START, THEME, NOTIFY),
    *(BYTES_PER_ROW, OFFSETS, ARROWS, FONT, FONT_SIZE),
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
"""The settings that workers learn from their environment."""
