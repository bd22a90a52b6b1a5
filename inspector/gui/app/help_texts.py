"""What the parts of the window and of archives mean, in the sense of the specifications. Texts alone."""

from __future__ import annotations

from inspector.core.kinds import Kind

KINDS: dict[Kind, str] = {
    Kind.DATA_SECTION: "The contents of all files of a CAF archive, one after another, as they are.",
    Kind.INDEX: "The JSON after the data: each name with the first byte of its data and the byte after the last.",
    Kind.INDEX_ENTRY: "One file in the index: its name, and where its data begins and ends; the end is exclusive.",
    Kind.FOOTER: "The last 4 bytes of a CAF archive: the size of the index in bytes, little-endian.",
    Kind.CHUNK_LAYER: "RCA's outer layer: chunk headers, with what lies between them cut into chunks.",
    Kind.CHUNK_HEADER: (
        "The size of a chunk in bytes, big-endian, its own header included: 16 bits for the first chunk, twice as many "
        "for each that follows. Then 8 bytes of metadata, which count in the last chunk alone: a hash."
    ),
    Kind.BLOB_LAYER: "RCA's inner layer: the payload of all chunks in a row, made of blocks.",
    Kind.SEGMENT: "The blobs from one reset to the next: one compressed stream, covered by one hash.",
    Kind.BLOB_BLOCK: "One member of an RCA archive: its size, then name and content, compressed.",
    Kind.RESET_BLOCK: "The compressor begins anew after it; it holds the hash of the segment that ends here.",
    Kind.CONTROL_BLOCK: "A block that holds no member but says something about those that follow.",
    Kind.MEMBER: "One file in the archive: what the archive says of it, and its content.",
    Kind.LOCAL_HEADER: "What a ZIP archive says of a file right before its data; the central directory says it again.",
    Kind.TACO_PAYLOAD: "116 bytes at byte 41: how many of the 7 entries are in use, 3 reserved bytes, and the entries.",
    Kind.TACO_ENTRY: "Where one part of a TACO archive begins and how long it is, each in 8 bytes, little-endian.",
    Kind.DATA_DESCRIPTOR: "CRC-32 and sizes after the data, where they were not known before it was written.",
    Kind.CENTRAL_DIRECTORY: "The list of all files at the end of a ZIP archive, with the place of each local header.",
    Kind.CENTRAL_HEADER: "One file in the central directory. Programs that unpack believe this one.",
    Kind.ZIP64_END: "The end of the central directory with 8 bytes for each number, where 4 are too few.",
    Kind.ZIP64_LOCATOR: "Where the ZIP64 end of the central directory begins.",
    Kind.END_OF_DIRECTORY: "The last record of a ZIP archive: where its central directory begins, and how long it is.",
    Kind.EXTRA: "Further fields of a ZIP header, each with a number that says of what kind it is.",
    Kind.TAR_HEADER: "512 bytes before a file in a tar archive: name, size in octal digits, and a checksum of itself.",
    Kind.TAR_EXTENSION: "A header that holds what does not fit into the one that follows, such as a long name.",
    Kind.TAR_END: "Blocks of zeros that end a tar archive.",
    Kind.METADATA: "The rows beside a datas3t range that say where each datapoint is.",
    Kind.METADATA_ROW: "One datapoint: its key, where its tar header begins, where it ends, and a hash of its content.",
    Kind.FRAME: "Data that zstd has compressed, with what is needed to unpack it.",
    Kind.SIGNATURE: "Bytes that are always the same, by which a structure is known.",
    Kind.NUMBER: "A number.",
    Kind.FLAGS: "Single bits that switch something on or off.",
    Kind.TIME: "A date or a time of day.",
    Kind.TEXT: "Words for people or programs.",
    Kind.SYNTAX: "Signs that part values from each other, such as the braces and commas of JSON.",
    Kind.BYTES: "Bytes that are not explained further.",
    Kind.LENGTH: "How many bytes something has.",
    Kind.OFFSET: "The place of a byte: where something begins or ends. F12 goes there.",
    Kind.DIGEST: "A checksum or hash: what other bytes were when it was written. F12 shows which ones.",
    Kind.NAME: "The name of a member, as bytes; what cannot be shown is escaped.",
    Kind.DATA: "The content of a member, as it is stored.",
    Kind.PADDING: "Bytes that fill up to where the next part has to begin.",
    Kind.GAP: "Bytes between parts of the archive that nothing claims.",
    Kind.GARBAGE: "Bytes after the end of the archive, or left by a write that was not finished.",
}
"""What a field of a kind is."""

PANELS: dict[str, str] = {
    "Members": (
        "The files in the archive, as a tree by their paths or as a table. Typing in the field above shows those whose "
        "names hold the text. Enter shows the content, Ctrl+E extracts."
    ),
    "Structure": (
        "The fields that the archive is made of, in the words and the order of its specification. Every byte belongs "
        "to one of them; what no structure claims is a gap or garbage."
    ),
    "Byte": (
        "The field at the caret: value, meaning, which bytes it has, and the section of the specification. Beneath, "
        "the bytes from the caret on as numbers, times and text."
    ),
    "Findings": "What is wrong or worth knowing, with the bytes that it is about. F4 goes to the next one.",
    "Digests": (
        "Every checksum that the archive records, what was computed over the bytes instead, and whether they agree. "
        "The bytes that the selected one covers are outlined."
    ),
    "Header": "The entries of a TACO header, to be edited. Nothing is written before Ctrl+S.",
    "Changes": "Every write that is pending: what stands there, and what is to stand there.",
    "Repair": "What can be mended, how, and what would be lost. Nothing is done before you agree.",
    "Requests": "Each request to S3: when, which bytes, how long it took, and why it was made.",
    "Coverage": "Which keys of a dataset there are: ranges, gaps between them, and keys that two ranges hold.",
    "Bytes": (
        "The bytes of the archive: their offsets, their values in hexadecimal digits, and as text. Colours tell what "
        "they mean, the frame is around the selected field, arrows lead from what says a place to those bytes."
    ),
}
"""What panels are for, by the names of their docks; the bytes stand in none."""

_MEMBERS = {
    "Name": "The path of the member in the archive; what cannot be shown is escaped",
    "Verdict": "What checking has said of the member's bytes",
    "Size": "The size of the content in bytes, once it is decoded",
    "Mark": "What is particular about the member",
    "Stored": "How many bytes the member takes in the archive",
    "Codec": "How the content is compressed",
    "Digest": "The checksum of the content that the archive records",
    "Offset": "The byte of the archive that the stored content begins at",
}
COLUMNS: dict[str, dict[str, str]] = {
    "Members as a table": _MEMBERS,
    "Members as a tree": _MEMBERS,
    "Fields": {
        "Field": "The specification's word for the field, with the colour of its bytes",
        "Value": "What the bytes say, as the specification writes it",
        "Offset": "The first byte of the field, in hexadecimal digits",
        "Size": "How many bytes the field has",
        "Meaning": "What the value says to a person",
    },
    "Bytes at the caret as values": {
        "Read as": "A type: width in bits and order of bytes, LE the lowest first, BE the highest first",
        "Value": "What the bytes from the caret on are as that type",
    },
    "Checksums": {
        "Checksum": "What the checksum is of",
        "State": "Whether the bytes agree with it",
        "Algorithm": "How it is computed",
        "Stored": "What the archive records",
        "Computed": "What the bytes give now; empty until they are checked",
        "Covers": "The bytes that it is computed over",
    },
    "Entries of the TACO header": {
        "Entry": "The number of the entry; there are 7 at most",
        "Offset": "The byte of the archive that the part begins at",
        "Length": "The size of the part in bytes",
        "Points to": "What stands at that place",
    },
    "Pending changes": {
        "Bytes": "Where something is to be written, and how many bytes it is",
        "What stands there, and what is to be written": "The old bytes over the new ones",
    },
    "Requests to S3": {
        "When": "The time at which the request was made",
        "Request": "The operation of S3",
        "Range": "The bytes that were asked for",
        "Bytes": "How many bytes came",
        "ms": "Milliseconds until the answer was there",
        "Status": "The number that the server answered with",
        "Why": "What the bytes were needed for",
        "Of": "The bucket and key",
    },
    "Findings": {
        "Severity": "Errors are wrong, warnings may be, information is worth knowing",
        "What was found": "What is wrong, where, and what it means",
        "Bytes": "The bytes that it is about",
        "Member": "The member that it is about",
        "Code": "A name for this kind of finding that stays the same, for programs and for searching",
    },
    "What goes into the archive": {
        "Name in the archive": "The path that the file will have",
        "Size": "The size of the file in bytes",
        "From": "Where the file is now",
        "Remark": "What stands in the way, or is worth knowing",
    },
    "Members that were found": {
        "Name": "The path of the member",
        "Archive": "The archive that it is in",
        "Offset": "The byte that it begins at",
        "Length": "Its size in bytes",
    },
    "Results of the audit": {
        "Location": "The archive that was audited",
        "State": "Whether it is sound",
        "Format": "What kind of archive it is",
        "Size": "Its size in bytes",
        "Members": "How many members it has",
        "Errors": "How many errors were found",
        "Warnings": "How many warnings were found",
        "What was found": "The worst that was found",
    },
    "Buckets, prefixes and objects": {
        "Name": "The last part of the key or prefix",
        "Size": "The size of the object in bytes",
        "Last changed (UTC)": "When the object was last written",
    },
    "Actions": {
        "Action": "What is done",
        "Keys": "The keys that do it",
        "Menu": "The menu that has it",
    },
}
"""What the columns of a view hold, by its accessible name and the column's title."""
