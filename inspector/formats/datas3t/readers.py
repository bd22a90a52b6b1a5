"""Readers of a datas3t range: the specification's, its service as far as known, and those of tar."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import xxhash
from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.reader import MAX_READ_BYTES, Reader, ReaderKind, Recorder, Rejected
from inspector.core.source import SourceError
from inspector.formats._readers import TAR_READERS
from inspector.formats._zstd import ZstdError, decompress

_BLOCK = 512
_INDEX_ROW = 16
_NAMES_AHEAD = b"xgLK"
"""Types of tar headers that stand in front of a file's own."""
_NOT_SAID = "What the service does here is not known."


class _Row(Struct, frozen=True):
    """Where a datapoint is: the tar header at ``begin``, its bytes at ``data``; None where the row does not say."""

    key: int | None
    begin: int
    end: int
    data: tuple[int, int] | None = None
    digest: str = ""


def _read(trace: Recorder, *, known: bool) -> None:
    """Read by metadata; the service (not ``known``) prefers the index of its later layout."""
    index = None if known else _beside(trace, ".index", ".tar")
    rows = _metadata_rows(trace, known=known) if index is None else _index_rows(trace, index)
    previous: int | None = None
    gaps = 0
    for row in rows:
        key = _read_datapoint(trace, row, known=known)
        gaps += previous is not None and key is not None and key != previous + 1
        previous = key if key is not None else previous
    trace.current = None
    if gaps:
        trace.note = f"{count(gaps, 'gap')} between the keys: the specification has none inside an archive."
        trace.step("compare the keys", None, count(gaps, "gap"), "Keys are continuous inside an archive.", ok=False)


def _beside(trace: Recorder, suffix: str, instead_of: str = "") -> bytes | None:
    if (found := trace.source.sibling(suffix, instead_of)) is None:
        return None
    if found.size > MAX_READ_BYTES:
        raise Rejected(f"The {suffix} is too large to be read here.", known=False)
    data = found.read(0, found.size)
    if len(data) < found.size:
        raise SourceError("The file beside the tar became shorter while it was read.")
    return data


def _index_rows(trace: Recorder, data: bytes) -> Iterator[_Row]:
    trace.step("read .index, beside the tar", None, count(len(data) // _INDEX_ROW, "row"), "16 bytes a row")
    for at in range(0, len(data) - _INDEX_ROW + 1, _INDEX_ROW):
        begin = int.from_bytes(data[at : at + 8], "big")
        first = begin + _BLOCK * int.from_bytes(data[at + 8 : at + 10], "big")
        size = int.from_bytes(data[at + 10 : at + 16], "big")
        yield _Row(None, begin, first + size, (first, first + size))


def _metadata_rows(trace: Recorder, *, known: bool) -> Iterator[_Row]:
    if (data := _beside(trace, ".metadata")) is None:
        raise trace.reject("read .tar.metadata", None, "There is no metadata beside the tar.", known=known)
    try:
        rows: Any = json.loads(decompress(data, MAX_READ_BYTES))
    except (ZstdError, ValueError, RecursionError) as error:
        raise trace.reject("decompress .tar.metadata", None, f"The metadata cannot be read: {error}") from error
    if not isinstance(rows, list):
        raise trace.reject("parse .tar.metadata", None, "The metadata is no array of rows.")
    trace.step(
        "read .tar.metadata, beside the tar", None, count(len(rows), "row"), "zstd, then JSON; a row per datapoint"
    )

    for at, row in enumerate(rows):
        try:
            yield _Row(int(row["id"]), int(row["begin_offset"]), int(row["end_offset"]), None, str(row["data_hash"]))
        except (KeyError, TypeError, ValueError) as error:
            raise trace.reject(
                f"parse row {at:,}", None, f"Row {at:,} of the metadata is not as specified.", known=known
            ) from error


def _read_datapoint(trace: Recorder, row: _Row, *, known: bool) -> int | None:
    """Read one datapoint and return its key. Raises Rejected."""

    def reject(action: str, span: tuple[int, int], message: str, **more: Any) -> Rejected:
        return trace.reject(action, span, message if known else f"{message} {_NOT_SAID}", known=known, **more)

    span = (row.begin, row.end)
    if not 0 <= row.begin <= row.end <= trace.source.size:
        raise reject("range read", span, f"Bytes {row.begin:,} to {row.end:,} are not all in the tar.")
    name, (start, stop) = _own_header(trace, row, reject)
    key = _key(name)
    if trace.wanted not in (None, name):
        return key
    trace.current = name
    trace.state["key"] = str(key)
    if row.key is not None and key != row.key:
        raise reject("compare the key", span, f"The row is of key {row.key:,}; in its place is {visible(name)}.")
    if row.data is not None and row.data != (start, stop):
        message = f"The index says bytes {row.data[0]:,} to {row.data[1]:,}; the header, {start:,} to {stop:,}."
        raise reject("compare the place", span, message)
    digest = xxhash.xxh64(seed=0)
    for piece in trace.pieces(start, stop):
        digest.update(piece)
    trace.step(f"read {visible(name)}", (start, stop), in_bytes(stop - start), read=True)
    if row.digest:
        computed = f"{digest.intdigest():x}"
        value = f"stored {row.digest}, computed {computed}"
        if computed != row.digest:
            raise reject("compare the hash", (start, stop), f"The hash of {visible(name)} differs.", value=value)
        trace.step("compare the hash", (start, stop), value, "equal")
    trace.give(name, stop - start)
    trace.state["members"] = trace.members
    return key


def _own_header(trace: Recorder, row: _Row, reject: Callable[..., Rejected]) -> tuple[str, tuple[int, int]]:
    """The name and the data's place, from the tar header at the row's place; headers ahead of it are passed over."""
    at = row.begin
    while at < row.end or at == row.begin:
        data = trace.read(at, _BLOCK)
        size = _octal(data[124:136]) if len(data) == _BLOCK and data[257:262] == b"ustar" else None
        if size is None:
            raise reject("read the tar header", (at, at + len(data)), f"There is no tar header at {at:,}.", read=True)
        name = data[:100].partition(b"\0")[0].decode("utf-8", "surrogateescape")
        trace.step("read the tar header", (at, at + _BLOCK), f"{visible(name)}, {in_bytes(size)}", read=True)
        if data[156:157] not in _NAMES_AHEAD:
            start = at + _BLOCK
            if start + size > trace.source.size:
                raise reject("range read", (start, start + size), f"{visible(name)} ends past the end of the tar.")
            return name, (start, start + size)
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
    raise reject("read the tar header", (row.begin, row.end), "The row's bytes hold no file.")


def _octal(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None


def _key(name: str) -> int | None:
    digits = name.rpartition("/")[2].partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None


READERS = (
    Reader(
        "spec",
        "the specification",
        ReaderKind.DESCRIBED,
        "The metadata beside the tar, then each datapoint by its offsets, compared with its hash.",
        partial(_read, known=True),
    ),
    Reader(
        "datas3t",
        "the datas3t service",
        ReaderKind.DESCRIBED,
        "Known of it: the layouts of its index and metadata. What it checks is not known.",
        partial(_read, known=False),
    ),
    *TAR_READERS,
)
