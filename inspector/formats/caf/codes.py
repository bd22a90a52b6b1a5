"""What may be found in a CAF archive."""

from __future__ import annotations

from inspector.core.finding import error, finding_types, info, warning

FOOTER = error("caf-footer", "The footer is missing, or does not lead to an index.")
TOO_LARGE = warning("caf-too-large", "The file is larger than 32 GiB, which the specification allows at most.")
ABOVE_TARGET = info("caf-above-target", "The data section is larger than the 30 GiB that the specification recommends.")
CORE_AUDIO = error("caf-core-audio", "The file is an Apple Core Audio file, which has the same suffix.")
INDEX_TOO_LARGE = error("caf-index-too-large", "The index is larger than this program reads, so no members are listed.")
INDEX_MALFORMED = error("caf-index-malformed", "The index is not JSON at some byte.")
INDEX_NOT_JSON = error(
    "caf-index-not-strict-json", "The index has something that JSON does not allow and strict readers reject."
)
INDEX_NOT_STRICT_JSON = warning(
    "caf-index-not-strict-json", "The index has something that JSON does not allow, which most readers reject."
)
INDEX_DUPLICATE_KEY = error(
    "caf-index-duplicate-key", "A key of the index occurs twice. Most readers silently keep the last one."
)
INDEX_EXTRA_KEY = warning("caf-index-extra-key", "The index has a key that the specification does not define.")
INDEX_NO_FILES = error("caf-index-no-files", "The index has no key 'files', so it lists no members.")
INDEX_WRONG_TYPE = error("caf-index-wrong-type", "'files' in the index is not an object, so it lists no members.")
VERSION_MISSING = warning("caf-version-missing", "The index does not say of which version it is.")
VERSION_UNKNOWN = warning("caf-version-unknown", "The index is of an unknown version.")
TOO_MANY_MEMBERS = warning("caf-too-many-members", "The index lists more members than are shown.")
DUPLICATE_NAME = error("caf-duplicate-name", "Two members have the same name. Most readers silently keep the last one.")
ENTRY_WRONG_TYPE = error("caf-entry-wrong-type", "An entry of the index is not an object.")
ENTRY_MISSING_KEY = error(
    "caf-entry-missing-key", "An entry lacks start_byte or end_byte, so the place of its data is unknown."
)
ENTRY_DUPLICATE_KEY = error("caf-entry-duplicate-key", "An entry has a key twice.")
ENTRY_EXTRA_KEY = warning("caf-entry-extra-key", "An entry has a key that the specification does not define.")
ENTRY_REVERSED = error("caf-entry-reversed", "An entry begins after it ends.")
ENTRY_OUT_OF_RANGE = error(
    "caf-entry-out-of-range", "A member reaches outside of the data section, so bytes of it are missing."
)
NUMBER_NOT_INTEGER = error(
    "caf-number-not-integer", "start_byte or end_byte is not an integer, so the data cannot be read."
)
NUMBER_NEGATIVE = error("caf-number-negative", "start_byte or end_byte is negative, so the data cannot be read.")
NUMBER_OUT_OF_RANGE = error(
    "caf-number-out-of-range", "start_byte or end_byte is far too large, so the data cannot be read."
)
OVERLAP = error("caf-overlap", "Two members claim the same bytes.")
GAP = warning("caf-gap", "Bytes between members belong to none.")
END_BYTE_INCLUSIVE = warning(
    "caf-end-byte-inclusive", "The writer took end_byte as inclusive, so each member lacks its last byte."
)
UNLISTED = warning("caf-unlisted", "A member stands for bytes whose entries were lost before the index was repaired.")
SHIFTED = error(
    "caf-shifted",
    "Bytes were lost or inserted in front of the index, so members stand at other places than it says.",
    "Get the archive again if you can; until then, extract only the members that are not doubtful.",
)
TEXT_MODE = info(
    "caf-text-mode",
    "The inserted bytes are carriage returns of a copy in text mode.",
    "Copy the archive again in binary mode.",
)
DOUBLED = info("caf-doubled", "The inserted bytes repeat those before them.", "A copy can be written without them.")
TWO_ARCHIVES = error(
    "caf-two-archives", "Two archives stand in the file, and every member of the second is read too early."
)
OVERWRITTEN_PERHAPS = warning("caf-overwritten", "A shorter archive may have been written over this one.")
OVERWRITTEN = error("caf-overwritten", "A shorter archive was written over this one.")
NAME_HAZARD = warning("caf-name-hazard", "A name is dangerous to extract or misleading to read.")

FINDINGS = finding_types(globals())
"""All of them."""
