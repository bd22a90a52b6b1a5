"""Parse the rows about the datapoints of a tar: metadata rows (specified) and index rows (the later layout).

Metadata: one zstd frame of a JSON array, a row per datapoint in key order, its numbers written as strings:
``{"id":"17","begin_offset":"8192","end_offset":"9728","data_hash":"9a3f..."}``. Index: 16 bytes a row, big-endian:
8 header offset, 2 header size in 512-byte blocks, 6 data size.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any

from inspector.core.member import LARGEST
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import Source, SourceError
from inspector.formats._zstd import ZstdError, ZstdRefusedError, decompress

MAX_FILE_BYTES = 256 * 1024 * 1024
"""The largest metadata or index object that is read."""

MAX_JSON_BYTES = 256 * 1024 * 1024
"""The largest metadata after decompression."""

INDEX_ROW = 16
"""Bytes of an index row."""

FIELDS = ("id", "begin_offset", "end_offset", "data_hash")
"""The fields of a metadata row."""

_QUOTED_FIELDS = tuple(f'"{name}"'.encode() for name in FIELDS)
"""The field names as unescaped JSON."""

MAX_VALUES_LISTED, MAX_VALUE_CHARS = 3, 40
"""Limits on the values listed for a repeated field: their number, and the characters of each."""

_FORMS = ("d", "d", "d", "x")
"""The format specifications of the fields."""


class RowsError(Exception):
    """The rows cannot be read; the message is a sentence for users."""


class RefusedRowsError(RowsError):
    """Rows may be right, but are not read: they are too many, or ask for too much memory."""


class Rows:
    """Metadata rows in columns, in file order.

    All maps are by row: ``unreadable`` names the fields that cannot be parsed, ``misspelled`` those that can but are
    not written as specified, ``repeated`` lists the values of fields that occur more than once; the last counts.
    ``contradictory`` are the rows whose repeated values differ. ``written`` says how all hashes are written, where that
    is not as specified; they are read so.
    """

    def __init__(self) -> None:
        self.columns = tuple(array("Q") for _ in FIELDS)
        self.ids, self.begins, self.ends, self.hashes = self.columns
        self.unreadable: dict[int, str] = {}
        self.misspelled: dict[int, str] = {}
        self.repeated: dict[int, str] = {}
        self.contradictory: set[int] = set()
        self.written = ""

    def __len__(self) -> int:
        return len(self.ids)

    def broken(self) -> dict[int, int]:
        """Unreadable rows whose key can be read, by that key."""
        return {self.ids[row]: row for row, bad in self.unreadable.items() if FIELDS[0] not in bad.split(" and ")}

    def turn(self) -> None:
        """Turn the bytes of each hash round: they were written least significant first."""
        self.hashes.byteswap()
        self.written = "with their bytes in the reverse order"

    def add(self, values: tuple[Any, ...]) -> None:
        """Add one row of raw JSON values in the order of FIELDS."""
        base = (10, 10, 10, 16)
        numbers = [_number(value, base[place]) for place, value in enumerate(values)]
        bad = [FIELDS[place] for place, number in enumerate(numbers) if number is None]
        if bad:
            self.unreadable[len(self)] = " and ".join(bad)
        elif values != (str(numbers[0]), str(numbers[1]), str(numbers[2]), f"{numbers[3]:x}"):
            misspelled_fields = [
                FIELDS[place] for place, number in enumerate(numbers) if values[place] != f"{number:{_FORMS[place]}}"
            ]
            self.misspelled[len(self)] = " and ".join(misspelled_fields)
        for column, number in zip(self.columns, numbers, strict=True):
            column.append(number or 0)


def _number(value: object, base: int) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and base == 10:
        return value if 0 <= value <= LARGEST else None
    if not isinstance(value, str) or not 0 < len(value) <= 20 or not value.isascii() or not value.isalnum():
        return None
    try:
        number = int(value, base)
    except ValueError:
        return None
    return number if number <= LARGEST else None


def read_whole(source: Source) -> bytes:
    """All bytes of a small object. Raises RowsError if it is too large, SourceError if it cannot be read whole."""
    if source.size > MAX_FILE_BYTES:
        raise RefusedRowsError(f"It has {in_bytes(source.size)}; more than {in_bytes(MAX_FILE_BYTES)} are not read.")
    data = source.read(0, source.size)
    if len(data) < source.size:
        raise SourceError(
            f"{visible(source.name)} became shorter while it was read: only {in_bytes(len(data))} were read."
        )
    return data


def metadata_json(data: bytes) -> bytes:
    """The JSON in the bytes of a metadata object; raises RowsError."""
    try:
        return decompress(data, MAX_JSON_BYTES)
    except ZstdError as error:
        kind = RefusedRowsError if isinstance(error, ZstdRefusedError) else RowsError
        raise kind(str(error)) from error


def metadata_rows(text: bytes) -> Rows:
    """The rows in the JSON; raises RowsError if it is not an array of objects."""
    # Imported here because start-up must not wait for it.
    import msgspec

    class Raw(msgspec.Struct, gc=False):
        id: Any = None
        begin_offset: Any = None
        end_offset: Any = None
        data_hash: Any = None

    try:
        raw = msgspec.json.decode(text, type=list[Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RowsError(f"Its JSON is not an array of rows: {error}.") from error
    rows = Rows()
    values = [(row.id, row.begin_offset, row.end_offset, row.data_hash) for row in raw]
    digests = [_number(value, 10) for *_, value in values]
    # No hash of 64 bits has more hexadecimal digits than 16.
    if None not in digests and any(_number(value, 16) is None for *_, value in values):
        values = [(*others, f"{digest:x}") for (*others, _), digest in zip(values, digests, strict=True)]
        rows.written = "in decimal"
    for each in values:
        rows.add(each)
    if rows.unreadable or b"\\" in text or any(text.count(name) != len(rows) for name in _QUOTED_FIELDS):
        _find_repeated(rows, msgspec.json.decode(text, type=list[msgspec.Raw]))
    return rows


def _find_repeated(rows: Rows, raw: Sequence[bytes]) -> None:
    """Find fields that occur twice in a row: JSON parsers return only one of them, usually the last."""
    for row, text in enumerate(map(bytes, raw)):
        if b"\\" not in text and all(text.count(name) < 2 for name in _QUOTED_FIELDS):
            continue
        values: dict[str, list[str]] = {}
        for name, value in _pairs(text):
            values.setdefault(name, []).append(value)
        twice = {name: values[name] for name in FIELDS if len(values.get(name, ())) > 1}
        if twice:
            rows.repeated[row] = " and ".join(f"{name} is {_listed(found)}" for name, found in twice.items())
        if any(value != found[-1] for found in twice.values() for value in found):
            rows.contradictory.add(row)


def _pairs(text: bytes) -> Sequence[tuple[str, str]]:
    """The names and values of a JSON object in order; empty if the standard parser rejects it."""
    try:
        pairs = json.loads(text.decode("utf-8", "replace"), object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return ()
    return [(name, value if isinstance(value, str) else "not a number") for name, value in pairs]


def _listed(values: Sequence[str]) -> str:
    shown = [visible(value[:MAX_VALUE_CHARS]) for value in values[:MAX_VALUES_LISTED]]
    return ", then ".join(shown) + (", ..." if len(values) > MAX_VALUES_LISTED else "")


class IndexRows:
    """The rows in the bytes of an index object; ``rest`` counts the bytes of a last, incomplete row."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.rest = len(data) % INDEX_ROW

    def __len__(self) -> int:
        return len(self._data) // INDEX_ROW

    def __getitem__(self, row: int) -> tuple[int, int, int]:
        """Header offset in bytes, header size in blocks, data size in bytes."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        data = self._data[row * INDEX_ROW : (row + 1) * INDEX_ROW]
        return int.from_bytes(data[:8], "big"), int.from_bytes(data[8:10], "big"), int.from_bytes(data[10:], "big")
