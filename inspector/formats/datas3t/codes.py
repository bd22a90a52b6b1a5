"""What may be found in a range of datas3t, its metadata, its index and its dataset, beside what its tar may have."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, error, finding_types, info, warning

_NEW_METADATA = "Make sure that the tar is right before you write new metadata."
_NEW_INDEX = "Write a new index."

OBJECT_NAME = error(
    "datas3t-object-name",
    "The name of the object does not fit the keys in it, or is not spelled as specified.",
    "Rename it after its first and last key.",
)
OBJECT_NAME_IN_FOLDER = warning(
    "datas3t-object-name",
    "An object in a folder of ranges is not named after a range.",
    "Move it elsewhere, or rename it after its first and last key.",
)
OBJECT_NAME_ELSEWHERE = info("datas3t-object-name", "The file is not named after its range of keys.")
DATAPOINT_NAME = error(
    "datas3t-datapoint-name",
    "The name of a datapoint is not 20 digits and an extension.",
    "Upload the range again with the name corrected.",
)
DATAPOINT_KIND = error(
    "datas3t-datapoint-kind",
    "A datapoint is not a regular file, so it has no content.",
    "Upload the range again with a regular file.",
)
KEY_TWICE = error("datas3t-key-twice", "A key occurs twice.", "Upload the range again with each key once.")
KEY_GAP = error(
    "datas3t-key-gap", "Keys are missing between two others.", "Upload the range again with the missing datapoints."
)
KEY_ORDER = info("datas3t-key-order", "The datapoints are not in the order of their keys.")
HASH_MISMATCH = error(
    "datas3t-hash-mismatch",
    "The hash of a datapoint does not match its bytes.",
    "Compare the datapoint with its source before you write new metadata.",
)
METADATA_MISSING = error(
    "datas3t-metadata-missing",
    "There is neither metadata nor an index beside the tar.",
    "Write it again only if you trust the tar: nothing else proves its content.",
)
INDEX_MISSING = warning(
    "datas3t-metadata-missing",
    "There is no index beside the tar of an upload.",
    "Wait if the upload is in progress, or ask the service whether the range is live.",
)
METADATA_DAMAGED = error(
    "datas3t-metadata-damaged",
    "The metadata cannot be read.",
    _NEW_METADATA,
)
RECORDS_NOT_READ = warning(
    "datas3t-records-not-read",
    "The metadata or index is too large, or needs more memory than this program takes.",
    "Read it with a program that allows for it.",
)
METADATA_ORPHAN = warning(
    "datas3t-metadata-orphan",
    "The tar that the metadata describes is not beside it.",
    "Upload the tar again, unless its upload is in progress.",
)
METADATA_ORPHAN_IN_DATASET = error(
    "datas3t-metadata-orphan",
    "The tar that the metadata describes is missing from its dataset.",
    "Upload the tar again, unless its upload is in progress.",
)
METADATA_ROW = error(
    "datas3t-metadata-row",
    "A row of the metadata cannot be read.",
    _NEW_METADATA,
)
METADATA_ROW_MISSING = error(
    "datas3t-metadata-row-missing",
    "The metadata has no row for a datapoint, so readers cannot find it.",
    _NEW_METADATA,
)
METADATA_ROW_EXTRA = error(
    "datas3t-metadata-row-extra",
    "A row of the metadata has no datapoint of its own.",
    _NEW_METADATA,
)
METADATA_OFFSET = error(
    "datas3t-metadata-offset",
    "A row of the metadata gives a wrong place.",
    _NEW_METADATA,
)
METADATA_READINGS = warning(
    "datas3t-metadata-readings",
    "The rows of the metadata follow two conventions for the end of a datapoint.",
    CORRECT_WRITER,
)
METADATA_ORDER = warning(
    "datas3t-metadata-order",
    "The rows of the metadata are not in the order of their keys.",
    CORRECT_WRITER,
)
METADATA_SPELLING = warning(
    "datas3t-metadata-spelling",
    "Numbers in the metadata are not written as specified.",
    CORRECT_WRITER,
)
METADATA_FIELD_CONTRADICTED = error(
    "datas3t-metadata-field-twice",
    "Fields of a row occur twice with different values.",
    _NEW_METADATA,
)
METADATA_FIELD_TWICE = warning("datas3t-metadata-field-twice", "Fields of a row occur twice.", CORRECT_WRITER)
INDEX_DAMAGED = error("datas3t-index-damaged", "The index cannot be read.", _NEW_INDEX)
INDEX_ORPHAN = warning(
    "datas3t-index-orphan",
    "The tar that the index describes is not beside it.",
    "Upload the tar again, unless its upload is in progress.",
)
INDEX_COUNT = error("datas3t-index-count", "The index does not have one row per datapoint.", _NEW_INDEX)
INDEX_CUT = error("datas3t-index-cut", "The index ends inside a row.", _NEW_INDEX)
INDEX_OFFSET = error("datas3t-index-offset", "A row of the index has a wrong offset.", _NEW_INDEX)
HEADERS_NOT_READ = info(
    "datas3t-headers-not-read", "Tar headers were not read, because metadata or index locate every datapoint."
)
HEADERS_WALKED = info(
    "datas3t-headers-walked", "All tar headers were read one after another, because nothing locates the datapoints."
)
RECOVERED = info(
    "datas3t-recovered", "Datapoints were recovered without a readable tar header; their hashes prove them."
)
RANGE_OVERLAP = error(
    "datas3t-range-overlap",
    "Two ranges of a dataset hold the same keys.",
    "Keep both until you know which range is right.",
)
UPLOAD_OVERLAP = warning(
    "datas3t-range-overlap",
    "Two uploads to a dataset hold the same keys, and neither replaces the other.",
    "Ask the service which range is live, and keep both until then.",
)
RANGE_SUPERSEDED = info(
    "datas3t-range-superseded",
    "Another upload holds the same keys.",
    "Keep both until the service's list says which range is live.",
)
RANGE_CONFLICT = error(
    "datas3t-range-conflict",
    "Two ranges of a dataset hold different contents under one key.",
    "Ask the service which range is live, and compare both with their origin.",
)
DATASET_NAME = warning(
    "datas3t-dataset-name",
    "The service cannot import a dataset whose name contains .tar.",
    "Upload it under another name before an import is needed.",
)
RANGE_GAP = info("datas3t-range-gap", "Keys are missing between two ranges of a dataset.")

FINDINGS = finding_types(globals())
"""All of them."""
METADATA_FINDINGS = (
    METADATA_ORPHAN,
    METADATA_DAMAGED,
    RECORDS_NOT_READ,
    METADATA_ROW,
    METADATA_OFFSET,
    METADATA_ORDER,
    METADATA_SPELLING,
    METADATA_FIELD_CONTRADICTED,
    METADATA_FIELD_TWICE,
)
"""Those of metadata that is opened by itself."""
INDEX_FINDINGS = (INDEX_ORPHAN, INDEX_CUT)
"""Those of an index that is opened by itself."""
