"""What stands beside a tar about its datapoints: metadata rows (specified) and index rows (the later layout).

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
from inspector.formats._zstd import ZstdError, decompress

FILE_CAP = 256 * 1024 * 1024
"""The largest metadata or index object that is read, in bytes."""

JSON_CAP = 256 * 1024 * 1024
"""The largest metadata that is decoded, in bytes."""

INDEX_ROW = 16
"""The size of an index row, in bytes."""

FIELDS = ("id", "begin_offset", "end_offset", "data_hash")
"""What a metadata row has."""

_NAMES = tuple(f'"{name}"'.encode() for name in FIELDS)
"""The fields as JSON has them, where nothing is escaped."""

_LISTED, _LONGEST = 3, 40
"""Values that are told of a field that stands more than once, and characters of each."""

_FORMS = ("d", "d", "d", "x")
"""How the fields of a row are written."""


class RowsError(Exception):
    """The rows cannot be had; the message is a sentence for a person."""


class Rows:
    """Metadata rows in columns, as they stand.

    ``unreadable`` names the fields of rows that could not be read, ``misspelt`` those that could, and are not written
    as specified; ``repeated`` says of rows what stands in them more than once, of which the last counts, and
    ``contradictory`` are those of them where that is not the same.
    """

    def __init__(self) -> None:
        self.columns = tuple(array("Q") for _ in FIELDS)
        self.ids, self.begins, self.ends, self.hashes = self.columns
        self.unreadable: dict[int, str] = {}
        self.misspelt: dict[int, str] = {}
        self.repeated: dict[int, str] = {}
        self.contradictory: set[int] = set()

    def __len__(self) -> int:
        return len(self.ids)

    def broken(self) -> dict[int, int]:
        """The rows that cannot be read although their key can, by that key."""
        return {self.ids[row]: row for row, bad in self.unreadable.items() if FIELDS[0] not in bad.split(" and ")}

    def add(self, values: tuple[Any, ...]) -> None:
        """Add one row of raw JSON values in the order of FIELDS."""
        base = (10, 10, 10, 16)
        numbers = [_number(value, base[place]) for place, value in enumerate(values)]
        bad = [FIELDS[place] for place, number in enumerate(numbers) if number is None]
        if bad:
            self.unreadable[len(self)] = " and ".join(bad)
        elif values != (str(numbers[0]), str(numbers[1]), str(numbers[2]), f"{numbers[3]:x}"):
            spelt = [
                FIELDS[place] for place, number in enumerate(numbers) if values[place] != f"{number:{_FORMS[place]}}"
            ]
            self.misspelt[len(self)] = " and ".join(spelt)
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


def whole(source: Source) -> bytes:
    """All bytes of a small object. Raises RowsError when it is not small, SourceError where not all can be had."""
    if source.size > FILE_CAP:
        raise RowsError(f"It has {in_bytes(source.size)}; more than {in_bytes(FILE_CAP)} are not read.")
    data = source.read(0, source.size)
    if len(data) < source.size:
        raise SourceError(f"{visible(source.name)} became shorter while it was read: {in_bytes(len(data))} came.")
    return data


def metadata_json(data: bytes) -> bytes:
    """The JSON in the bytes of a metadata object; raises RowsError."""
    try:
        return decompress(data, JSON_CAP)
    except ZstdError as error:
        raise RowsError(str(error)) from error


def metadata_rows(text: bytes) -> Rows:
    """The rows of the JSON; raises RowsError where it is no array of objects."""
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
        raise RowsError(f"Its JSON is no array of rows: {error}.") from error
    rows = Rows()
    for row in raw:
        rows.add((row.id, row.begin_offset, row.end_offset, row.data_hash))
    if rows.unreadable or b"\\" in text or any(text.count(name) != len(rows) for name in _NAMES):
        _find_repeated(rows, msgspec.json.decode(text, type=list[msgspec.Raw]))
    return rows


def _find_repeated(rows: Rows, raw: Sequence[bytes]) -> None:
    """Find the fields that stand twice in a row: whoever reads JSON sees one of them, mostly the last."""
    for row, text in enumerate(map(bytes, raw)):
        if b"\\" not in text and all(text.count(name) < 2 for name in _NAMES):
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
    """The names and values in a JSON object in their order; nothing where another reader cannot have them."""
    try:
        pairs = json.loads(text.decode("utf-8", "replace"), object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return ()
    return [(name, value if isinstance(value, str) else "no number") for name, value in pairs]


def _listed(values: Sequence[str]) -> str:
    shown = [visible(value[:_LONGEST]) for value in values[:_LISTED]]
    return ", then ".join(shown) + (", ..." if len(values) > _LISTED else "")


class IndexRows:
    """Index rows as they stand in the bytes of an index object."""

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
