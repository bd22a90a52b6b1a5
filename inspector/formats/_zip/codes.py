"""What may be found in a ZIP archive, and so in a TACO archive."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, EXTRACT_LISTED, UNSAFE_NAME, error, finding_types, info, warning

_WHICH = "Find out which one is right before you trust the member."
_BOMB = "ZIP bombs are built this way: extract it only if you know where it comes from."
_READERS = "Compare what several readers list before you trust one of them."
_OTHER_COPY = "Get the member from another copy."

# ---- the end records and the central directory -----------------------------------------------------------------------

SEVERAL_ENDS = warning(
    "zip-several-ends",
    "The file has several end records, so programs may see different archives in it.",
    _READERS,
)
END_NOT_AT_END = warning(
    "zip-end-not-at-end",
    "Bytes follow the end record, or its comment is cut off; programs find it all the same.",
    "Cut the bytes off in a copy.",
)
END_NOT_FOUND = error(
    "zip-end-not-at-end",
    "Bytes follow the end record, or its comment is cut off, and programs may not find it.",
    "Cut the bytes off in a copy.",
)
END_OF_MEMBER = info("zip-end-of-member", "The end record belongs to an archive that is stored as a member.")
DISK_NUMBER = error(
    "zip-disk-number",
    "The end record has a disk number, but all of the archive is in this file.",
    "Set the number to zero.",
)
SEVERAL_DISKS = error(
    "zip-several-disks",
    "The archive is one disk of several, and the others are missing.",
    "Put the parts together first.",
)
ENTRY_COUNT = error(
    "zip-entry-count",
    "The end record states a wrong number of entries.",
    "Compare the list of members with what was archived.",
)
ENTRY_COUNT_MODULO = warning(
    "zip-entry-count-modulo", "The end record counts the entries modulo 65,536.", "Write the archive again as ZIP64."
)
ZIP64_DISAGREES = error(
    "zip-zip64-disagrees",
    "The two end records disagree, so programs may see different archives.",
    _READERS,
)
ZIP64_LOCATOR = error(
    "zip-zip64-locator",
    "The ZIP64 locator does not lead to the ZIP64 end record.",
    _READERS,
)
ZIP64_DISKS = warning(
    "zip-zip64-disks",
    "The ZIP64 locator counts no disk at all, so some programs reject the archive.",
    CORRECT_WRITER,
)
ZIP64_MISSING = error(
    "zip-zip64-missing",
    "The ZIP64 locator is there, the ZIP64 end record is not.",
    _READERS,
)
ZIP64_SIZE = error(
    "zip-zip64-size",
    "The ZIP64 end record has a wrong size.",
    _READERS,
)
DIRECTORY_SIZE = error(
    "zip-directory-size",
    "The central directory does not have the size that the end record states.",
    _READERS,
)
DIRECTORY_MISSING = error(
    "zip-directory-missing",
    "The central directory is not where the end record says.",
    EXTRACT_LISTED,
)
DIRECTORY_OFFSET = error(
    "zip-directory-offset",
    "The end record has a wrong offset of the central directory.",
    _READERS,
)
DIRECTORY_DAMAGED = error(
    "zip-directory-damaged",
    "The central directory cannot be read to its end.",
    EXTRACT_LISTED,
)
NO_CENTRAL_DIRECTORY = error(
    "zip-no-central-directory",
    "The archive has no central directory, or none that can be read.",
    EXTRACT_LISTED,
)
PREPENDED = warning(
    "zip-prepended",
    "Bytes precede the archive, and every offset is read with their number added.",
    "Cut the bytes off in a copy, unless they are a program that extracts it.",
)
BYTES_MISSING = error(
    "zip-bytes-missing",
    "Bytes before the central directory or between members are missing.",
    EXTRACT_LISTED,
)
BYTES_INSERTED = error("zip-bytes-inserted", "Bytes were inserted between members.", EXTRACT_LISTED)
TOO_MANY_MEMBERS = warning(
    "zip-too-many-members",
    "The archive has more members than are listed.",
    "Split its files across several archives.",
)
ORPHAN = warning(
    "zip-orphan",
    "A member has a local header but no entry in the central directory.",
    "Look at it: deleted members and interrupted updates leave such headers.",
)
FILLER = info("zip-filler", "A local header without a name or content fills a gap, as programs for Android write it.")
DIRECTORY_ENCRYPTED = warning(
    "zip-directory-encrypted",
    "The central directory is encrypted, so it is not read.",
    "Decrypt the archive with the program that made it to see its members.",
)
GAP = warning(
    "zip-gap",
    "Bytes between members belong to none.",
    "Look at the bytes: padding, a deleted member or an interrupted update leaves a gap.",
)
LEADING_BYTES = info("zip-leading-bytes", "Bytes before the first member belong to none.")

# ---- headers of members ----------------------------------------------------------------------------------------------

NO_LOCAL_HEADER = error(
    "zip-no-local-header",
    "There is no local header where the central directory says.",
    _OTHER_COPY,
)
LOCAL_SIGNATURE = error("zip-local-signature", "A local header has a wrong signature.", _OTHER_COPY)
LOCAL_NAME = error(
    "zip-local-name",
    "The two headers of a member have different names.",
    _WHICH,
)
LOCAL_METHOD = error(
    "zip-local-method",
    "The two headers of a member have different compression methods.",
    _WHICH,
)
LOCAL_FLAGS_SERIOUS = error(
    "zip-local-flags",
    "The two headers of a member have different flags, so programs read it differently.",
    _WHICH,
)
LOCAL_FLAGS = warning("zip-local-flags", "The two headers of a member have different flags.", CORRECT_WRITER)
LOCAL_NEEDED = warning("zip-local-needed", "The two headers of a member ask for different versions.", CORRECT_WRITER)
LOCAL_NEEDED_HABIT = info(
    "zip-local-needed", "The two headers of a member need different versions; some known writers do that."
)
LOCAL_TIME = warning("zip-local-time", "The two headers of a member have different times.", CORRECT_WRITER)
LOCAL_CRC = error(
    "zip-local-crc",
    "The two headers of a member have different CRC-32 checksums.",
    _WHICH,
)
LOCAL_SIZE_DIFFERS = error(
    "zip-local-size",
    "The two headers of a member have different sizes.",
    _WHICH,
)
LOCAL_HEADERS_NOT_READ = info("zip-local-headers-not-read", "Local headers were not read, to save requests.")
DESCRIPTOR_DIFFERS = error(
    "zip-descriptor-differs",
    "The data descriptor of a member disagrees with its header.",
    CORRECT_WRITER,
)
DESCRIPTOR_MISSING = warning(
    "zip-descriptor-missing",
    "The data descriptor that a header announces is missing.",
    CORRECT_WRITER,
)
DESCRIPTOR_WIDTH = warning(
    "zip-descriptor-width",
    "A data descriptor has sizes of the wrong width for its member.",
    CORRECT_WRITER,
)
EXTRA_MALFORMED = warning("zip-extra-malformed", "An extra field is malformed.", CORRECT_WRITER)
EXTRA_REPEATED = warning(
    "zip-extra-repeated",
    "An extra field has a record twice, and programs differ in which one they use.",
    CORRECT_WRITER,
)
ZIP64_SHORT = error(
    "zip-zip64-short",
    "The ZIP64 extra field lacks a number that the header refers to.",
    CORRECT_WRITER,
)
ZIP64_NOT_NEEDED = info("zip-zip64-not-needed", "The ZIP64 extra field has a number that the header does not refer to.")
OTHER_DISK = error("zip-other-disk", "A member is said to begin on another disk.", "Put the parts together first.")
SIZE_UNKNOWN = error("zip-size-unknown", "The size of a member is unknown, so its end is not found.", _OTHER_COPY)
STORED_SIZE = error(
    "zip-stored-size",
    "A stored member has two different sizes.",
    _WHICH,
)
TIME = warning("zip-time", "A time is no date.", CORRECT_WRITER)
ATTRIBUTES = warning(
    "zip-attributes",
    "The attributes of a member contradict its name or its content.",
    CORRECT_WRITER,
)
SPECIAL = info("zip-special", "A member is a link, a device or the like, which are not extracted.")
SPECIAL_WITH_CONTENT = warning("zip-special", "A device or the like has content, which is not extracted.")
SET_ID = info("zip-set-id", "A member has a set-user-ID or set-group-ID bit, which is not restored.")
FOLDER_WITH_CONTENT = warning("zip-folder-with-content", "A folder has content.")
ENCRYPTED = warning(
    "zip-encrypted",
    "A member is encrypted or patched, which this program does not read.",
    "Extract it with a program that decrypts.",
)
METHOD_NOT_READ = warning(
    "zip-method-not-read",
    "A member uses a compression method that this program does not read.",
    "Extract it with a program that knows the method.",
)
CONTENT_NOT_READ = warning(
    "zip-content-not-read",
    "The data of a member needs more memory than this program takes.",
    "Extract it with a program that allows for it.",
)

# ---- names -----------------------------------------------------------------------------------------------------------

NAME_NOT_UTF_8 = warning("zip-name-not-utf-8", "A name is flagged as UTF-8 but is not valid UTF-8.", CORRECT_WRITER)
NAME_CP437 = info("zip-name-cp437", "A name is not UTF-8 and is read as code page 437.")
NAME_UNMARKED_UTF_8 = info(
    "zip-name-unmarked-utf-8", "A name is UTF-8 but not flagged so; strict readers show other characters."
)
NAME_HAZARD = warning(
    "zip-name-hazard",
    "A name is dangerous to extract or misleading to read.",
    UNSAFE_NAME,
)
SECOND_NAME_DOUBTFUL = warning(
    "zip-second-name",
    "A member has a second name that differs, which some programs use.",
    "Find out which name is meant before you extract it elsewhere.",
)
SECOND_NAME = info("zip-second-name", "A member has a second name in UTF-8, which some programs use.")
SECOND_NAME_STALE = warning(
    "zip-second-name-stale",
    "A member has a second name that was made for a different first name.",
    CORRECT_WRITER,
)

# ---- content ---------------------------------------------------------------------------------------------------------

MEMBER_CUT_OFF = error(
    "zip-member-cut-off",
    "The file ends inside a member.",
    "Get the rest of the file; members before it are not affected.",
)
OVERLAP = error(
    "zip-overlap",
    "Members share bytes, or run into the central directory.",
    _BOMB,
)
OVERLAPS = error(
    "zip-overlaps",
    "More members share bytes than are named one by one.",
    _BOMB,
)
OVERLAP_NOT_COMPARED = error(
    "zip-overlap-not-compared",
    "Members share bytes, and there are too many to compare all their headers.",
    _BOMB,
)
OVERLAP_NOT_CHECKED = warning(
    "zip-overlap-not-checked",
    "Members share bytes, and there are too many to check them all.",
    _BOMB,
)
CRC_MISMATCH = error(
    "zip-crc-mismatch",
    "The content of a member does not match its CRC-32.",
    "Get the member from another copy; comparing the two shows which bytes changed.",
)
CRC_FIELD_WRONG = info("zip-crc-field-wrong", "A record of the CRC-32 is wrong, but the content is whole.")
CONTENT_DAMAGED = error("zip-content-damaged", "The content of a member cannot be decoded.", _OTHER_COPY)
ELSEWHERE = info(
    "zip-elsewhere",
    "Whole members are not where the archive says they are.",
    "A salvage saves what verifies there.",
)

# ---- the name of the file -----------------------------------------------------------------------------------------

NO_TACO_HEADER = warning(
    "taco-no-header",
    "The file has the name of a TACO archive and lacks its header.",
    "Rename it to .zip, or create the archive again with a header.",
)
FINDINGS = finding_types(globals())
"""All of them."""
