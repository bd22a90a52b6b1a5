"""What may be found in a tar, and so in a range of datas3t."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, EXTRACT_LISTED, UNSAFE_NAME, error, finding_types, info, warning

CHECKSUM = error(
    "tar-checksum",
    "A header does not match its checksum, or there is none where one should be.",
    "Get the member from another copy.",
)
SIZE = error(
    "tar-size",
    "A header has an impossible size, so nothing says where the next one is.",
    EXTRACT_LISTED,
)
TRUNCATED_HEADER = error(
    "tar-truncated-header",
    "The file ends inside a header.",
    "Get the rest of the file; members before it are not affected.",
)
TRUNCATED_DATA = error(
    "tar-truncated-data",
    "The file ends inside a member.",
    "Get the rest of the file; members before it are not affected.",
)
END_MISSING = warning(
    "tar-end-missing",
    "The two blocks of zeros that end a tar are missing, so members may be.",
    "Compare the last members with their sources.",
)
EMPTY = error("tar-end-missing", "The file is empty.", "Get the archive again.")
END_SHORT = warning("tar-end-short", "The two blocks of zeros that end a tar are not all there.")
DATA_AFTER_END = warning(
    "tar-data-after-end",
    "Bytes or further members follow the end of the archive.",
    "Extract with --ignore-zeros if you use GNU tar.",
)
ZEROS_AFTER_END = warning(
    "tar-zeros-after-end",
    "More zeros follow the end than fill a record, so members may have been lost there.",
    "Compare the list of members with what was archived.",
)
ZEROS_INSIDE = error("tar-zeros-inside", "There are zeros where a header should be.", EXTRACT_LISTED)
LONE_ZERO_BLOCK = error(
    "tar-lone-zero-block",
    "There is a single block of zeros between members.",
    "Extract with --ignore-zeros if you use GNU tar.",
)
SHIFT = error(
    "tar-shift",
    "Bytes were lost or inserted, so the headers after that are not where they should be.",
    EXTRACT_LISTED,
)
COMPRESSED = error("tar-compressed", "The file is compressed as a whole.", "Decompress it to see the tar inside.")
TOO_DAMAGED = error(
    "tar-too-damaged",
    "Too many places are unreadable, so the rest is not read.",
    EXTRACT_LISTED,
)
EXTENSION = error("tar-extension", "An extended header is malformed.", CORRECT_WRITER)
EXTENSION_ALONE = error(
    "tar-extension-alone", "An extended header has no member after it.", "Get the archive again: the member is missing."
)
EXTENSION_REPEATED = warning(
    "tar-extension-repeated",
    "A member has several extended headers of one kind, and programs differ in which one they use.",
    CORRECT_WRITER,
)
PAX_KEY = warning(
    "tar-pax-key",
    "A key of an extended header has a NUL in it, which programs read differently.",
    CORRECT_WRITER,
)
PAX_REPEATED = warning(
    "tar-pax-repeated",
    "An extended header has two values for one key, and programs differ in which one they use.",
    CORRECT_WRITER,
)
PAX_EMPTY = warning(
    "tar-pax-empty",
    "An extended header has an empty value, and programs differ in what they use instead.",
    CORRECT_WRITER,
)
PAX_GLOBAL = warning(
    "tar-pax-global",
    "A global extended header sets for all members what each has of its own.",
    CORRECT_WRITER,
)
PAX_NUMBER = warning(
    "tar-pax-number",
    "A number in an extended header is invalid, so the one in the member's own header is used.",
    CORRECT_WRITER,
)
PAX_TIME = warning("tar-pax-time", "A time in an extended header is no date.", CORRECT_WRITER)
PAX_TIME_EARLY = info("tar-pax-time", "A time in an extended header is before 1970, which some programs reject.")
SPARSE_MAP = error(
    "tar-sparse-map",
    "The map of a sparse file cannot be read, so its content cannot be restored.",
    "Get the member from another copy.",
)
NAME_CUT = error("tar-name-cut", "A name fills its field and may be cut off.", "Find the whole name at its source.")
NAME_HAZARD = warning(
    "tar-name-hazard",
    "A name is dangerous to extract or misleading to read.",
    UNSAFE_NAME,
)
PADDING = warning(
    "tar-padding",
    "The padding after a member or an extended header is not all zeros.",
    "Look at the bytes; readers ignore them.",
)
PADDING_V7 = info(
    "tar-padding",
    "The padding after a member is not all zeros, as old programs leave in it what was in their buffer.",
)
SPECIAL = info("tar-special", "A member is a link or a device, which is listed and not read.")
LINK_TARGET = warning("tar-link-target", "A link has no target, so it leads nowhere.", CORRECT_WRITER)
LINK_SIZE = warning(
    "tar-link-size",
    "A link states a size, and programs differ in whether data follows it.",
    CORRECT_WRITER,
)
SET_ID = info("tar-set-id", "A member has a set-user-ID or set-group-ID bit, which is not restored.")
TYPEFLAG = warning("tar-typeflag", "A type flag is unknown, so the member is treated as a regular file.")
FINDINGS = finding_types(globals())
"""All of them."""
