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
    "What to show when the program starts without a file",
    {START_PAGE: "The start page", LAST_SESSION: "The last session"},
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
    "Notify when long jobs end",
    "Show a desktop notification when a job of more than 10 seconds ends while the window is in the background",
)
BYTES_PER_ROW = Choice(
    "bytes_per_row",
    Page.BYTES,
    "0",
    "Bytes per row",
    "The number of bytes in a row of the hex view",
    {"0": "As many as fit", "8": "8", "16": "16", "32": "32", "64": "64"},
)
OFFSETS = Choice(
    "offsets",
    Page.BYTES,
    "16",
    "Offsets",
    "The number base of the offsets beside the rows",
    {"16": "Hexadecimal", "10": "Decimal"},
)
ARROWS = Flag(
    "arrows",
    Page.BYTES,
    True,
    "Show reference arrows",
    "Draw arrows from references, such as an index or a hash, to the bytes they point to",
)
FONT = FontFamily(
    "font",
    Page.BYTES,
    "",
    "Font",
    "The font of the bytes",
    "The system's fixed font",
)
FONT_SIZE = Number(
    "font_size",
    Page.BYTES,
    0,
    "Size",
    "The font size of the bytes; zooming adds to it",
    0,
    48,
    "pt",
    "As the system",
)
CONTENT = Number(
    "content_mib",
    Page.LIMITS,
    limits.CONTENT.default,
    "Decode at most",
    "How much of a member is decoded to show its content",
    limits.CONTENT.least,
    limits.CONTENT.most,
    "MiB",
)
TEXT = Number(
    "text_mib",
    Page.LIMITS,
    1,
    "Show as text at most",
    "How much of a member's content is shown as text; the hex view shows all of it",
    1,
    64,
    "MiB",
)
LARGE_MEMBER = Number(
    "large_member_gib",
    Page.LIMITS,
    limits.LARGE_MEMBER.default,
    "Ask before extracting members larger than",
    "A larger member is extracted only after confirming",
    limits.LARGE_MEMBER.least,
    limits.LARGE_MEMBER.most,
    "GiB",
)
PROFILE = Text(
    "s3_profile",
    Page.S3,
    "",
    "Profile",
    "The AWS profile for buckets that were not opened before; keys stay in the AWS configuration",
    "From the environment",
)
REGION = Text(
    "s3_region",
    Page.S3,
    "",
    "Region",
    "The region for buckets that were not opened before",
    "From the profile",
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
    "Cache for each archive at most",
    "How much of what was read is cached in memory",
    limits.CACHE.least,
    limits.CACHE.most,
    "MiB",
)
CONNECTING = Number(
    "s3_connecting",
    Page.S3,
    limits.CONNECTING.default,
    "Connection timeout",
    "How long to wait for a connection",
    limits.CONNECTING.least,
    limits.CONNECTING.most,
    "s",
)
ANSWERING = Number(
    "s3_answering",
    Page.S3,
    limits.ANSWERING.default,
    "Response timeout",
    "How long to wait for the next bytes of a response",
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
