"""What may be found in a CAF archive."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, EXTRACT_LISTED, UNSAFE_NAME, error, finding_types, info, warning

_DISTRIBUTE = "Split its files across several archives."

FOOTER = error("caf-footer", "The footer is missing, or does not lead to an index.", "Get the archive again.")
TOO_LARGE = warning(
    "caf-too-large",
    "The file is larger than 32 GiB, the most that the specification allows.",
    _DISTRIBUTE,
)
ABOVE_TARGET = info("caf-above-target", "The data section is larger than the 30 GiB that the specification recommends.")
CORE_AUDIO = error(
    "caf-core-audio",
    "The file is an Apple Core Audio file, which has the same suffix.",
    "Open it with an audio program.",
)
INDEX_TOO_LARGE = error(
    "caf-index-too-large",
    "The index is larger than this program reads, so no members are listed.",
    _DISTRIBUTE,
)
INDEX_MALFORMED = error("caf-index-malformed", "The index stops being valid JSON at some byte.", EXTRACT_LISTED)
INDEX_NOT_JSON = error(
    "caf-index-not-strict-json",
    "The index contains what JSON does not allow, and strict readers reject it.",
    CORRECT_WRITER,
)
INDEX_NOT_STRICT_JSON = warning(
    "caf-index-not-strict-json",
    "The index contains what JSON does not allow, and most readers reject it.",
    CORRECT_WRITER,
)
INDEX_DUPLICATE_KEY = error(
    "caf-index-duplicate-key",
    "A key of the index occurs twice. Most readers silently keep the last one.",
    "Find out which value is meant, and correct the program that wrote it.",
)
INDEX_EXTRA_KEY = warning(
    "caf-index-extra-key", "The index has a key that the specification does not define.", "Most readers ignore it."
)
INDEX_NO_FILES = error("caf-index-no-files", "The index has no key 'files', so it lists no members.", CORRECT_WRITER)
INDEX_WRONG_TYPE = error(
    "caf-index-wrong-type",
    "'files' in the index is not an object, so it lists no members.",
    CORRECT_WRITER,
)
VERSION_MISSING = warning("caf-version-missing", "The index does not state its version.", CORRECT_WRITER)
VERSION_UNKNOWN = warning(
    "caf-version-unknown",
    "The index has an unknown version.",
    "Compare what is shown with the specification of that version.",
)
TOO_MANY_MEMBERS = warning(
    "caf-too-many-members",
    "The index lists more members than are shown.",
    _DISTRIBUTE,
)
DUPLICATE_NAME = error(
    "caf-duplicate-name",
    "Two members have the same name. Most readers silently keep the last one.",
    CORRECT_WRITER,
)
ENTRY_WRONG_TYPE = error("caf-entry-wrong-type", "An entry of the index is not an object.", CORRECT_WRITER)
ENTRY_MISSING_KEY = error(
    "caf-entry-missing-key",
    "An entry lacks start_byte or end_byte, so nothing says where its data is.",
    CORRECT_WRITER,
)
ENTRY_DUPLICATE_KEY = error("caf-entry-duplicate-key", "An entry has the same key twice.", CORRECT_WRITER)
ENTRY_EXTRA_KEY = warning(
    "caf-entry-extra-key", "An entry has a key that the specification does not define.", "Most readers ignore it."
)
ENTRY_REVERSED = error("caf-entry-reversed", "An entry begins after it ends.", CORRECT_WRITER)
ENTRY_OUT_OF_RANGE = error(
    "caf-entry-out-of-range",
    "A member reaches outside the data section, so some of its bytes are missing.",
    "Get the archive again if it was cut off; otherwise correct the program that wrote it.",
)
NUMBER_NOT_INTEGER = error(
    "caf-number-not-integer",
    "start_byte or end_byte is not an integer, so the data cannot be read.",
    CORRECT_WRITER,
)
NUMBER_NEGATIVE = error(
    "caf-number-negative",
    "start_byte or end_byte is negative, so the data cannot be read.",
    CORRECT_WRITER,
)
NUMBER_OUT_OF_RANGE = error(
    "caf-number-out-of-range",
    "start_byte or end_byte is far too large, so the data cannot be read.",
    CORRECT_WRITER,
)
OVERLAP = error(
    "caf-overlap",
    "Two members claim the same bytes.",
    "Compare both members with their sources: one of them contains bytes of the other.",
)
GAP = warning(
    "caf-gap",
    "Bytes between members belong to none.",
    "Look at the bytes: padding, a deleted member or a lost entry leaves a gap.",
)
END_BYTE_INCLUSIVE = warning(
    "caf-end-byte-inclusive",
    "The writer treated end_byte as inclusive. Members are read so; other readers lose the last byte of each.",
    CORRECT_WRITER,
)
UNLISTED = warning(
    "caf-unlisted",
    "A member covers bytes whose entries were lost before the index was repaired.",
    "Rename it when you know what it is.",
)
SHIFTED = error(
    "caf-shifted",
    "Bytes were lost or inserted in front of the index, so members are not where it says.",
    "Get the archive again if you can; until then, extract only the members that are not doubtful.",
)
TEXT_MODE = info(
    "caf-text-mode",
    "The inserted bytes are carriage returns that a copy in text mode added.",
    "Copy the archive again in binary mode.",
)
DOUBLED = info("caf-doubled", "The inserted bytes repeat those before them.", "A copy can be written without them.")
TWO_ARCHIVES = error(
    "caf-two-archives",
    "The file holds two archives, and every member of the second is read too early.",
    "Split the file where the first archive ends.",
)
OVERWRITTEN_PERHAPS = warning(
    "caf-overwritten",
    "A shorter archive may have been written over this one.",
    "Get the older archive again, and compare.",
)
OVERWRITTEN = error(
    "caf-overwritten",
    "A shorter archive was written over this one.",
    "Get the older archive again; what is left of it has no index.",
)
NAME_HAZARD = warning(
    "caf-name-hazard",
    "A name is dangerous to extract or misleading to read.",
    UNSAFE_NAME,
)

FINDINGS = finding_types(globals())
"""All of them."""
