"""Readers of TACO: the specification's header parser, ``tacozip`` itself, ``tacoreader`` as far as known, and ZIP's."""

from __future__ import annotations

import json
import zlib
from importlib import import_module
from importlib.util import find_spec
from struct import iter_unpack

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.reader import MAX_READ_BYTES, Reader, ReaderKind, Recorder, Rejected
from inspector.formats._readers import ZIP_READERS, local_file
from inspector.formats.taco.header import HEADER_NAME, HEADER_SIZE, MAX_ENTRIES, PAYLOAD_SIZE

_VERSION = 20
_PARQUET = b"PAR1"
_PARQUET_TAIL = 8
_TACOZIP = "tacozip"


def _parse_header(trace: Recorder) -> list[tuple[int, int]]:
    """The algorithm of the specification: the entries in use."""
    data = trace.read(0, HEADER_SIZE)
    trace.step("read 157 bytes at 0", (0, len(data)), in_bytes(len(data)), "validate the buffer's size", read=True)
    if len(data) < HEADER_SIZE:
        raise trace.reject("validate the buffer's size", (0, len(data)), "TACOZ_ERR_PARAM: less than 157 bytes.")
    if data[:4] != b"PK\x03\x04":
        raise trace.reject(
            "check the signature",
            (0, 4),
            "TACOZ_ERR_INVALID_HEADER: no local header signature at 0.",
            value=data[:4].hex(" "),
        )
    trace.step("check the signature", (0, 4), "0x04034b50", "verify the file name")
    name = data[30:41]
    if name != HEADER_NAME:
        raise trace.reject(
            "verify the file name",
            (30, 41),
            "TACOZ_ERR_INVALID_HEADER: the file name is not TACO_HEADER.",
            value=visible(name),
        )
    trace.step("verify the file name", (30, 41), name.decode(), "extract 116 bytes at 41")
    number = data[41]
    if number > MAX_ENTRIES:
        raise trace.reject(
            "parse the count", (41, 42), f"TACOZ_ERR_INVALID_HEADER: the count is {number}, more than 7.", value=number
        )
    trace.state["count"] = number
    trace.step(
        "parse the count", (41, 42), number, f"entries 0 to {number - 1} are valid" if number else "no entry is valid"
    )
    entries = list(iter_unpack("<QQ", data[45:157]))
    with trace.inside():
        for at, (offset, length) in enumerate(entries):
            start = 45 + 16 * at
            used = "valid" if at < number else "ignored: past the count"
            trace.step(f"entry {at}", (start, start + 16), f"offset {offset:,}, length {length:,}", used)
    return [(int(offset), int(length)) for offset, length in entries[:number]]


def _read_as_specified(trace: Recorder) -> None:
    trace.lists = False
    for offset, length in _parse_header(trace):
        trace.give(f"{offset},{length}", 0)
    trace.note = f"{count(trace.members, 'header entry', 'header entries')}; the header lists no members."
    # What the specification says of the header, and its parser does not ask.
    data = trace.source.read(0, HEADER_SIZE)
    trace.step("not asked by the algorithm")
    with trace.inside():
        version = int.from_bytes(data[4:6], "little")
        words = (
            "as the table says"
            if version == _VERSION
            else f"the table says {_VERSION}; tacozip writes 10, either is fine"
        )
        trace.step("version needed", (4, 6), version, words)
        stored, computed = data[14:18][::-1].hex(), f"{zlib.crc32(data[HEADER_SIZE - PAYLOAD_SIZE : HEADER_SIZE]):08x}"
        fits = stored == computed
        words = "equal" if fits else "a ZIP reader rejects TACO_HEADER"
        trace.step("CRC-32 of the payload", (14, 18), f"stored {stored}, computed {computed}", words, ok=fits)
    if not fits:
        trace.note += " Its CRC-32 does not fit the payload, which the algorithm does not compare."


# ---- tacozip ---------------------------------------------------------------------------------------------------------


def _run_tacozip(trace: Recorder) -> None:
    trace.lists = False
    with local_file(trace) as path:
        tacozip = import_module(_TACOZIP)
        trace.step(f"tacozip.read_header(path), tacozip {tacozip.__version__}", None, None, "Its reads cannot be seen.")
        try:
            entries = tacozip.read_header(path)
        except Exception as error:  # whatever it raises is its answer
            raise trace.reject(
                "stopped with an exception", (0, HEADER_SIZE), f"{type(error).__name__}: {error}"
            ) from error
    for at, (offset, length) in enumerate(entries):
        start = 45 + 16 * at
        trace.step(f"entry {at}", (start, start + 16), f"offset {offset:,}, length {length:,}")
        trace.give(f"{offset},{length}", 0)
    trace.note = f"{count(len(entries), 'header entry', 'header entries')}; it lists no members."


# ---- tacoreader ------------------------------------------------------------------------------------------------------


def _read_as_tacoreader(trace: Recorder) -> None:
    """The entries are METADATA/level0.parquet and so on and, last, COLLECTION.json inside the archive."""
    trace.lists = False
    if not (entries := _parse_header(trace)):
        raise trace.reject("follow the entries", (41, 157), "No entry, so there is no COLLECTION.json to read.")
    for at, (offset, length) in enumerate(entries[:-1]):
        _read_level(trace, at, offset, length)
    _read_collection(trace, *entries[-1])
    raise Rejected(
        "What is described of it finds nothing wrong, but its Parquet tables are not decoded here.",
        known=False,
    )


def _content(trace: Recorder, name: str, offset: int, length: int) -> bytes:
    if offset + length > trace.source.size:
        raise trace.reject(
            f"read {name}",
            (offset, offset + length),
            f"The entry leads to bytes {offset:,} to {offset + length:,}, past the end of the file.",
        )
    if length > MAX_READ_BYTES:
        raise Rejected(f"{name} is too large to be read here.", known=False)
    trace.current = name
    data = trace.read(offset, length)
    trace.step(f"read {name}", (offset, offset + length), in_bytes(length), read=True)
    return data


def _read_level(trace: Recorder, at: int, offset: int, length: int) -> None:
    name = f"METADATA/level{at}.parquet"
    if not (data := _content(trace, name, offset, length)):
        return
    if len(data) < 3 * len(_PARQUET) or not data.startswith(_PARQUET) or not data.endswith(_PARQUET):
        span = (offset, offset + length)
        raise trace.reject(f"parse {name}", span, "These bytes are no Parquet file: they lack PAR1 at an end.")
    footer = int.from_bytes(data[-_PARQUET_TAIL : -len(_PARQUET)], "little")
    if footer + _PARQUET_TAIL > len(data):
        span = (offset + length - _PARQUET_TAIL, offset + length - len(_PARQUET))
        raise trace.reject(
            f"parse {name}",
            span,
            f"The Parquet footer would have {in_bytes(footer)}, more than the file.",
            value=footer,
        )
    trace.give(name, length)


def _read_collection(trace: Recorder, offset: int, length: int) -> None:
    data = _content(trace, "COLLECTION.json", offset, length)
    try:
        json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise trace.reject(
            "parse COLLECTION.json", (offset, offset + length), f"COLLECTION.json is not JSON: {visible(str(error))}."
        ) from error
    trace.give("COLLECTION.json", length)
    trace.current = None


READERS = (
    Reader(
        "spec",
        "the specification",
        ReaderKind.DESCRIBED,
        'The algorithm "Parsing: Bytes to Structure" of the header. It asks nothing of the ZIP after it.',
        _read_as_specified,
    ),
    Reader(
        _TACOZIP,
        _TACOZIP,
        ReaderKind.RUN,
        "tacozip runs: it reads the header from the file. Its reads cannot be seen.",
        _run_tacozip,
        lambda: "" if find_spec(_TACOZIP) is not None else "not installed",
    ),
    Reader(
        "tacoreader",
        "tacoreader",
        ReaderKind.DESCRIBED,
        "Known of it: the entries lead to METADATA/levelN.parquet and, last, COLLECTION.json inside the archive.",
        _read_as_tacoreader,
    ),
    *ZIP_READERS,
)
