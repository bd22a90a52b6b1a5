"""What may be found in any archive, whatever its format, beside the causes of damage."""

from __future__ import annotations

from inspector.core.finding import UNREADABLE, error, finding_types, info, warning

# ---- the file ------------------------------------------------------------------------------------------------------

NOT_READ = error(
    UNREADABLE,
    "Bytes could not be had, so nobody knows whether they are as they should be.",
    "Try again when they can be read.",
)
UNKNOWN_FORMAT = info("unknown-format", "The format of the file is not recognised.")
BECAME_SHORTER = error(
    "file-became-shorter",
    "Another program cut the file while it was open.",
    "Open it again to see what is left.",
)
INTERRUPTED_CHANGE = warning(
    "interrupted-change", "A change by this program was interrupted.", "Finish it or roll it back."
)
CHANGE_UNDER_WAY = info(
    "change-under-way", "This program changes the file right now.", "Look again when the change has ended."
)

# ---- names ---------------------------------------------------------------------------------------------------------

NAME_NOT_PORTABLE = info("name-not-portable", "A name cannot be used on some systems.")
NAME_DUPLICATE = warning(
    "name-duplicate", "A name occurs more than once.", "Rename one of them: most programs extract only the last."
)
NAME_COLLISION = warning(
    "name-collision",
    "Names are different here, but the same on some systems.",
    "Rename one of them, or extract them on a system that tells them apart.",
)
NAME_FILE_AND_FOLDER = warning(
    "name-file-and-folder",
    "A name is that of a file, and of a folder that others are in.",
    "Rename the file: only one of them can be extracted.",
)

# ---- a manifest of digests -----------------------------------------------------------------------------------------

MANIFEST_MISMATCH = error(
    "digest-manifest-mismatch",
    "The content does not match the digest in the manifest.",
    "Find out which of them changed before you trust either.",
)
MANIFEST_UNKNOWN_NAME = warning(
    "digest-manifest-unknown-name",
    "The manifest names what is not in the archive.",
    "Make sure that the manifest is of this archive.",
)
MANIFEST_LINE = warning("digest-manifest-line", "Lines of the manifest are not digests.")
MANIFEST_INCOMPLETE = info("digest-manifest-incomplete", "The manifest does not name every member.")

FINDINGS = finding_types(globals())
"""All of them."""
