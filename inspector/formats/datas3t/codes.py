"""What may be found in a range of datas3t, its metadata, its index and its dataset, beside what its tar may have."""

from __future__ import annotations

from inspector.core.finding import error, finding_types, info, warning

OBJECT_NAME = error(
    "datas3t-object-name", "The name of the object does not fit the keys in it, or is not spelled as specified."
)
OBJECT_NAME_IN_FOLDER = warning("datas3t-object-name", "An object in a folder of ranges is not named after a range.")
OBJECT_NAME_ELSEWHERE = info("datas3t-object-name", "The file is not named after its range of keys.")
DATAPOINT_NAME = error("datas3t-datapoint-name", "The name of a datapoint is not 20 digits and an extension.")
DATAPOINT_KIND = error("datas3t-datapoint-kind", "A datapoint is not a regular file, so it has no content.")
KEY_TWICE = error("datas3t-key-twice", "A key occurs twice.")
KEY_GAP = error("datas3t-key-gap", "Keys are missing between two others.")
KEY_ORDER = info("datas3t-key-order", "The datapoints are not in the order of their keys.")
HASH_MISMATCH = error("datas3t-hash-mismatch", "The hash of a datapoint does not match its bytes.")
METADATA_MISSING = error("datas3t-metadata-missing", "Neither metadata nor an index stands beside the tar.")
METADATA_DAMAGED = error("datas3t-metadata-damaged", "The metadata cannot be read.")
METADATA_ORPHAN = warning("datas3t-metadata-orphan", "The tar that the metadata describes is not beside it.")
METADATA_ORPHAN_IN_DATASET = error(
    "datas3t-metadata-orphan", "The tar that the metadata describes is missing from its dataset."
)
METADATA_ROW = error("datas3t-metadata-row", "A row of the metadata cannot be read.")
METADATA_ROW_MISSING = error(
    "datas3t-metadata-row-missing", "The metadata has no row for a datapoint, so readers cannot find it."
)
METADATA_ROW_EXTRA = error("datas3t-metadata-row-extra", "A row of the metadata has no datapoint of its own.")
METADATA_OFFSET = error("datas3t-metadata-offset", "A row of the metadata gives a wrong place.")
METADATA_READINGS = warning(
    "datas3t-metadata-readings", "The rows of the metadata follow two conventions for the end of a datapoint."
)
METADATA_ORDER = warning("datas3t-metadata-order", "The rows of the metadata are not in the order of their keys.")
METADATA_SPELLING = warning("datas3t-metadata-spelling", "Numbers in the metadata are not written as specified.")
METADATA_FIELD_CONTRADICTED = error(
    "datas3t-metadata-field-twice", "Fields of a row occur twice with different values."
)
METADATA_FIELD_TWICE = warning("datas3t-metadata-field-twice", "Fields of a row occur twice.")
INDEX_DAMAGED = error("datas3t-index-damaged", "The index cannot be read.")
INDEX_ORPHAN = warning("datas3t-index-orphan", "The tar that the index describes is not beside it.")
INDEX_COUNT = error("datas3t-index-count", "The index has another number of rows than there are datapoints.")
INDEX_CUT = error("datas3t-index-cut", "The index ends inside a row.")
INDEX_OFFSET = error("datas3t-index-offset", "A row of the index gives a wrong place.")
HEADERS_NOT_READ = info(
    "datas3t-headers-not-read", "Tar headers were not read, because metadata or index locate every datapoint."
)
HEADERS_WALKED = info(
    "datas3t-headers-walked", "All tar headers were read one after another, because nothing locates the datapoints."
)
RECOVERED = info("datas3t-recovered", "Datapoints are recovered without a readable tar header, proved by their hashes.")
RANGE_OVERLAP = error("datas3t-range-overlap", "Two ranges of a dataset hold the same keys.")
RANGE_GAP = info("datas3t-range-gap", "Keys are missing between two ranges of a dataset.")

FINDINGS = finding_types(globals())
"""All of them."""
METADATA_FINDINGS = (
    METADATA_ORPHAN,
    METADATA_DAMAGED,
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
