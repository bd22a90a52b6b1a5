"""What may be found in any archive, whatever its format, beside the causes of damage."""

from __future__ import annotations

from inspector.core.finding import UNREADABLE, error, finding_types, info, warning

# ---- the file ------------------------------------------------------------------------------------------------------

NOT_READ = error(
    UNREADABLE,
    "Some bytes could not be read, so nobody knows whether they are right.",
    "Check it again when its bytes can be read.",
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
    "change-under-way", "This program is changing the file right now.", "Look again when the change is complete."
)

# ---- compressed bytes around the archive ---------------------------------------------------------------------------

COMPRESSED_CUT_OFF = error(
    "compressed-data-cut-off",
    "The compressed data around the archive is cut off.",
    "Get the file again. Until then, extract what is listed.",
)
COMPRESSED_DAMAGED = error(
    "compressed-data-damaged",
    "The compressed data around the archive is damaged.",
    "Get the file again. Until then, extract what is listed with care: nothing proves it.",
)
COMPRESSED_FOLLOWED = warning(
    "bytes-after-compressed-data",
    "Other bytes follow the compressed data around the archive.",
    "Cut them off in a copy, or find out what wrote them: programs that unpack it ignore them.",
)

# ---- names ---------------------------------------------------------------------------------------------------------

NAME_DUPLICATE = warning(
    "name-duplicate", "A name occurs more than once.", "Rename one of them: most programs extract only the last."
)
NAME_COLLISION = warning(
    "name-collision",
    "Names differ here, but are the same name on some systems.",
    "Rename one of them, or extract them on a case-sensitive system.",
)
NAME_FILE_AND_FOLDER = warning(
    "name-file-and-folder",
    "One name is both a file and a folder of other members.",
    "Rename the file: only one of them can be extracted.",
)

# ---- what members hold ---------------------------------------------------------------------------------------------

CONTENT_BROKEN = warning(
    "member-content-broken",
    "A member contradicts itself: a checksum or a directory inside of it does not hold.",
    "Compare it with another copy: the archive records no digest that tells when it was changed.",
)
CONTENT_ODD = info(
    "member-content-odd",
    "A member does not end, or does not go on, as its kind of file does.",
    "Look at the place: it may have been made so.",
)

OWN_FORMAT_FAILED = error(
    "own-format-failed", "The code of a format of one's own failed.", "Correct the format file, or open without it."
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
    "Make sure that the manifest belongs to this archive.",
)
MANIFEST_LINE = warning("digest-manifest-line", "Lines of the manifest are not digests.")
MANIFEST_INCOMPLETE = info("digest-manifest-incomplete", "The manifest does not name every member.")

FINDINGS = finding_types(globals())
"""All of them."""
