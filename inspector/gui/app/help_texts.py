"""Help texts: the kinds of fields as the specifications define them, the panels, and the columns."""

from __future__ import annotations

from inspector.core.kinds import Kind

KINDS: dict[Kind, str] = {
    Kind.DATA_SECTION: "The contents of all files of a CAF archive, one after another, uncompressed.",
    Kind.INDEX: "JSON after the data: for each name, the offsets where its data starts and ends (exclusive).",
    Kind.INDEX_ENTRY: ("One file in the index: its name, and the offsets where its data starts and ends (exclusive)."),
    Kind.FOOTER: "The last 4 bytes of a CAF archive: the size of the index in bytes, little-endian.",
    Kind.CHUNK_LAYER: "RCA's outer layer: chunk headers and the payload between them.",
    Kind.CHUNK_HEADER: (
        "The size of a chunk in bytes, big-endian, including its header: 16 bits for the first chunk, twice as "
        "many for each next one. Then 8 bytes of metadata, a hash, valid only in the last chunk."
    ),
    Kind.BLOB_LAYER: "RCA's inner layer: the payload of all chunks joined, made of blocks.",
    Kind.SEGMENT: "The blobs between two resets: one compressed stream, covered by one hash.",
    Kind.BLOB_BLOCK: "One member of an RCA archive: its size, then name and content, compressed.",
    Kind.RESET_BLOCK: "Restarts the compressor; holds the hash of the segment that ends here.",
    Kind.CONTROL_BLOCK: "A block that holds no member but affects those after it.",
    Kind.MEMBER: "One file in the archive: its metadata and its content.",
    Kind.LOCAL_HEADER: "The description of a file right before its data; the central directory repeats it.",
    Kind.TACO_PAYLOAD: "116 bytes at byte 41: how many of the 7 entries are in use, 3 reserved bytes, and the entries.",
    Kind.TACO_ENTRY: "The offset and the length of one part of a TACO archive, 8 bytes each, little-endian.",
    Kind.DATA_DESCRIPTOR: "CRC-32 and sizes after the data, for writers that do not know them in advance.",
    Kind.CENTRAL_DIRECTORY: (
        "The list of all files at the end of a ZIP archive, with the offset of each local header."
    ),
    Kind.CENTRAL_HEADER: "One file in the central directory. Unpackers trust this record over the local header.",
    Kind.ZIP64_END: "The end of the central directory with 8-byte numbers, for archives that need more than 4.",
    Kind.ZIP64_LOCATOR: "The offset of the ZIP64 end of the central directory.",
    Kind.END_OF_DIRECTORY: "The last record of a ZIP archive: the offset and size of its central directory.",
    Kind.EXTRA: "Extra fields of a ZIP header, each with a number for its kind.",
    Kind.TAR_HEADER: (
        "512 bytes before a file in a tar archive: name, size in octal digits, and a checksum of the header."
    ),
    Kind.TAR_EXTENSION: "A header with values that do not fit into the next one, such as a long name.",
    Kind.TAR_END: "Blocks of zeros that mark the end of a tar archive.",
    Kind.METADATA: "The rows beside a datas3t range that locate each datapoint.",
    Kind.METADATA_ROW: (
        "One datapoint: its key, the offset of its tar header, the offset of its end, and a hash of its content."
    ),
    Kind.FRAME: "Data compressed with zstd: a frame header, blocks, and optionally a checksum.",
    Kind.SIGNATURE: "Fixed bytes that identify a structure.",
    Kind.NUMBER: "A number.",
    Kind.FLAGS: "Single bits, each an option.",
    Kind.TIME: "A date or a time.",
    Kind.TEXT: "Text.",
    Kind.SYNTAX: "Punctuation between values, such as the braces and commas of JSON.",
    Kind.BYTES: "Bytes that are not decoded further.",
    Kind.LENGTH: "A size in bytes.",
    Kind.OFFSET: "The offset where something starts or ends. F12 goes there.",
    Kind.DIGEST: "A checksum or hash of other bytes. F12 shows which bytes it covers.",
    Kind.NAME: "The name of a member as bytes; unprintable bytes are escaped.",
    Kind.DATA: "The content of a member as stored.",
    Kind.PADDING: "Padding up to the alignment of the next part.",
    Kind.GAP: "Bytes between structures that no structure claims.",
    Kind.GARBAGE: "Bytes after the end of the archive, or left by an interrupted write.",
}
"""The explanation of each kind of field."""

PANELS: dict[str, str] = {
    "Members": (
        "The files in the archive, as a tree by path or as a table. Type above to filter by name. Enter shows "
        "the content, Ctrl+E extracts."
    ),
    "Structure": (
        "The archive's fields, in the specification's words and order. Every byte belongs to one of them; "
        "bytes that no structure claims are gaps or garbage."
    ),
    "Byte": (
        "The field at the caret: value, meaning, bytes and section of the specification. Below, the bytes at "
        "the caret read as numbers, times and text."
    ),
    "Findings": "What is wrong or worth knowing, with the bytes concerned. F4 goes to the next finding.",
    "Digests": (
        "Every checksum the archive records, the computed value, and whether they match. The bytes covered by "
        "the selected one are outlined."
    ),
    "Header": "Edit the entries of a TACO header. Nothing is written before Ctrl+S.",
    "Changes": "Every pending write: the old bytes and the new ones.",
    "Repair": "What can be repaired, how, and what would be lost. Nothing is written until you confirm.",
    "Requests": "Each request to S3: when, which bytes, how long it took, and why it was made.",
    "Coverage": "The keys of a dataset: ranges, gaps between them, and overlaps.",
    "Bytes": (
        "The bytes of the archive: offsets, hexadecimal values, text. Colours show their meaning, a frame "
        "shows the selected field, arrows lead from references to the bytes they point to."
    ),
}
"""The explanation of each panel by the name of its dock; ``Bytes`` is the hex view."""

_MEMBERS = {
    "Name": "The path of the member in the archive; unprintable characters are escaped",
    "Verdict": "The result of checking the member's bytes",
    "Size": "The size of the decoded content in bytes",
    "Mark": "Remarks on the member",
    "Stored": "The number of bytes the member takes in the archive",
    "Codec": "The compression method",
    "Digest": "The recorded checksum of the content",
    "Offset": "The offset of the stored content in the archive",
}
COLUMNS: dict[str, dict[str, str]] = {
    "Members as a table": _MEMBERS,
    "Members as a tree": _MEMBERS,
    "Fields": {
        "Field": "The specification's name for the field, with the colour of its bytes",
        "Value": "The value of the bytes, in the specification's notation",
        "Offset": "The offset of the field, in hexadecimal",
        "Size": "The size of the field in bytes",
        "Meaning": "What the value means",
    },
    "Bytes at the caret as values": {
        "Read as": "A type: width in bits and byte order (LE little-endian, BE big-endian)",
        "Value": "The bytes at the caret read as that type",
    },
    "Checksums": {
        "Checksum": "What the checksum covers",
        "State": "Whether the bytes match it",
        "Algorithm": "The algorithm",
        "Stored": "The recorded value",
        "Computed": "The computed value; empty until checked",
        "Covers": "The bytes it is computed over",
    },
    "Entries of the TACO header": {
        "Entry": "The number of the entry; there are 7 at most",
        "Offset": "The offset of the part in the archive",
        "Length": "The size of the part in bytes",
        "Points to": "What the entry points to",
    },
    "Pending changes": {
        "Bytes": "The offset and size of the write",
        "Old and new bytes": "The old bytes above the new ones",
    },
    "Requests to S3": {
        "When": "The time of the request",
        "Request": "The S3 operation",
        "Range": "The requested bytes",
        "Bytes": "The number of bytes received",
        "ms": "Milliseconds until the response",
        "Status": "The HTTP status",
        "Why": "Why the request was made",
        "Of": "The bucket and key",
    },
    "Findings": {
        "Severity": "Error: wrong. Warning: may be wrong. Info: worth knowing",
        "What was found": "What is wrong, where, and what to do",
        "Bytes": "The bytes concerned",
        "Member": "The member concerned",
        "Code": "A stable code for this kind of finding, for scripts and searches",
    },
    "What goes into the archive": {
        "Name in the archive": "The path that the file will have",
        "Size": "The size of the file in bytes",
        "From": "The current location of the file",
        "Remark": "Problems and remarks",
    },
    "Members found": {
        "Name": "The path of the member",
        "Archive": "The archive that holds it",
        "Offset": "The offset of its content",
        "Length": "Its size in bytes",
    },
    "Results of the audit": {
        "Location": "The audited archive",
        "State": "Whether it is sound",
        "Format": "The format of the archive",
        "Size": "Its size in bytes",
        "Members": "The number of members",
        "Errors": "The number of errors",
        "Warnings": "The number of warnings",
        "What was found": "The worst finding",
    },
    "Buckets, prefixes and objects": {
        "Name": "The last part of the key or prefix",
        "Size": "The size of the object in bytes",
        "Last changed (UTC)": "The time of the last write",
    },
    "Actions": {
        "Action": "The command",
        "Keys": "Its keys",
        "Menu": "Its menu",
    },
}
"""The explanation of each column, by the accessible name of its view and its title."""
