"""What may be found in an RCA archive."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, EXTRACT_LISTED, UNSAFE_NAME, error, finding_types, info, warning

PREPENDED = error(
    "rca-prepended",
    "Other bytes precede the archive, so readers do not find it.",
    "Cut them off in a copy.",
)
CHUNK_SIZE_RESERVED = error(
    "rca-chunk-size-reserved",
    "A chunk header has a size that the specification reserves.",
    EXTRACT_LISTED,
)
CHUNK_SIZE_SMALL = error(
    "rca-chunk-size-small",
    "A chunk header has a size smaller than the header itself.",
    EXTRACT_LISTED,
)
CHUNK_SIZE_WRONG = error(
    "rca-chunk-size-wrong",
    "A chunk header has a wrong size; hashes prove it.",
    EXTRACT_LISTED,
)
TRUNCATED = error(
    "rca-truncated", "The file ends inside a chunk.", "Get the rest of the file; verified members are whole."
)
TRAILING_GARBAGE = warning(
    "rca-trailing-garbage", "Bytes follow the archive: garbage, or an append that was interrupted."
)
VARINT = error(
    "rca-varint",
    "The size of a block cannot be read, so no block after it is found.",
    EXTRACT_LISTED,
)
VARINT_WRONG = error(
    "rca-varint-wrong",
    "The size of a block is wrong; the hash of its segment proves it.",
    EXTRACT_LISTED,
)
PAST_END = error(
    "rca-past-end",
    "A block reaches past the end of the blob layer.",
    EXTRACT_LISTED,
)
BLOCKS_REGAINED = error(
    "rca-blocks-regained",
    "Some bytes hold no readable block; reading goes on after them.",
    EXTRACT_LISTED,
)
TOO_MANY_BLOCKS = warning(
    "rca-too-many-blocks",
    "The archive has more blocks than are decoded.",
    "Split its files across several archives.",
)
TOO_MANY_SEGMENTS = warning(
    "rca-too-many-segments",
    "Reset blocks open no segment, so their hashes are not compared.",
    "Write the members to a new archive, where hashes cover them.",
)
RESET_HASH_MISMATCH = error(
    "rca-reset-hash-mismatch",
    "The hash in a reset block does not match its segment.",
    "Compare the segment with another copy to find the bytes that changed.",
)
RESET_HASH_SHORT = error(
    "rca-reset-hash-short",
    "The hash in a reset block is cut off, so its segment cannot be verified.",
    "Get the archive again.",
)
METADATA_HASH_MISMATCH = error(
    "rca-metadata-hash-mismatch",
    "The hash in the metadata of the last chunk does not match its segment.",
    "Compare the segment with another copy to find the bytes that changed.",
)
HASH_RESUMED_WRONGLY = error(
    "rca-hash-resumed-wrongly",
    "A hash is wrong because a writer resumed an interrupted append incorrectly.",
    "Correct the program that resumed the append.",
)
HASH_CONVENTION = info(
    "rca-hash-convention", "The hashes follow one of two conventions, and readers of the other reject the archive."
)
HASH_CONVENTIONS = warning(
    "rca-hash-conventions",
    "The hashes follow two conventions, so no reader accepts all of them.",
    "Write the members to a new archive with one program.",
)
UNDECODABLE_AS_WRITTEN = info(
    "rca-undecodable-as-written", "A blob cannot be decoded although its hash is right: it was written that way."
)
UNPROVED = error("rca-unproved", "No hash proves the content that was read.", "Compare the members with their sources.")
ZSTD = error("rca-zstd", "A blob cannot be decoded whole.", "Get the member from another copy.")
ZSTD_NOT_READ = warning(
    "rca-zstd-not-read",
    "A segment needs more memory to decode than this program takes.",
    "Read it with a program that allows for it.",
)
ZSTD_FRAMES = warning(
    "rca-zstd-frames",
    "A segment holds more than one zstd frame, and some readers stop after the first.",
    "Write the members to a new archive if a reader stops early.",
)
ZSTD_UNALIGNED = error(
    "rca-zstd-unaligned",
    "A blob ends inside a zstd block, so the next one holds some of its data.",
    "Correct the program that wrote it: it must flush zstd at the end of each blob.",
)
NAME_UNTERMINATED = error("rca-name-unterminated", "A blob has no name, so it is not listed.", CORRECT_WRITER)
NAME_TOO_LONG = error("rca-name-too-long", "A name is too long; only its beginning is kept.", CORRECT_WRITER)
NAME_NOT_UTF_8 = error("rca-name-not-utf-8", "A name is not UTF-8. The content is not affected.", CORRECT_WRITER)
NAME_EMPTY = info("rca-name-empty", "A name is empty, so nothing can be extracted under it.")
NAME_HAZARD = warning(
    "rca-name-hazard",
    "A name is dangerous to extract or misleading to read.",
    UNSAFE_NAME,
)

FINDINGS = finding_types(globals())
"""All of them."""
