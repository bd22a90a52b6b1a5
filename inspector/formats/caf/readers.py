"""Readers of CAF: the specification's "Reading from a CAF File", and the Go and TypeScript readers as far as known."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial
from typing import Any

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.reader import MAX_READ_BYTES, Reader, ReaderKind, Recorder, Rejected

FOOTER_SIZE = 4
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_UNKNOWN = "The specification does not say what a reader does here, and nothing else is known of this one."


def _read(trace: Recorder, *, lenient: bool) -> None:
    """Read all members, or the wanted one. ``lenient``: the reader of the specification, which allows what it shows."""
    index_start, files = _look_up(trace, lenient=lenient)
    names = list(files) if trace.wanted is None else [trace.wanted]
    for name in names:
        trace.current = name
        if name not in files:
            raise trace.reject("look up the name", None, f"{visible(name)} is not in the index.")
        _read_file(trace, name, files[name], index_start, known=lenient)
    trace.current = None


def _look_up(trace: Recorder, *, lenient: bool) -> tuple[int, dict[str, Any]]:
    """The fast file lookup: where the index starts, and the map of files in it."""
    size = trace.source.size
    if size < FOOTER_SIZE:
        raise trace.reject(
            "seek to the end minus 4", (0, size), f"The file has {in_bytes(size)}, no room for a footer."
        )
    index_size = int.from_bytes(trace.read(size - FOOTER_SIZE, FOOTER_SIZE), "little")
    start = size - FOOTER_SIZE - index_size
    trace.state.update({"file size": size, "index size": index_size})
    footer = (size - FOOTER_SIZE, size)
    if start < 0:
        message = f"The index would be {in_bytes(index_size)}, larger than the file."
        raise trace.reject("read the footer", footer, message, value=f"index size {index_size:,}", read=True)
    trace.step(
        f"seek to {footer[0]:,}, read the footer", footer, f"index size {index_size:,}", f"seek to {start:,}", read=True
    )
    trace.state["index start"] = start
    if index_size > MAX_READ_BYTES:
        raise Rejected("The index is too large to be read here.", known=False)
    text = trace.read(start, index_size)
    trace.step("read the index", (start, footer[0]), in_bytes(index_size), "parse JSON", read=True)
    return start, _parse(trace, text, (start, footer[0]), lenient=lenient)


def _parse(trace: Recorder, text: bytes, span: tuple[int, int], *, lenient: bool) -> dict[str, Any]:
    repeated: list[str] = []

    def collected(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)
        return found

    index = _decoded(trace, text, span, collected, lenient=lenient)
    files = index.get("files") if isinstance(index, dict) else None
    if not isinstance(files, dict):
        raise trace.reject("find files in the index", span, "The index has no map named files.")
    if repeated:
        names = ", ".join(map(visible, repeated[:3]))
        trace.step("look for files", span, len(files), f"{names} occurs twice: JSON readers keep the last.", ok=False)
        if not lenient:
            raise Rejected("A name occurs twice in the index: which one this reader keeps is not known.", known=False)
    version = index.get("format_version")
    trace.state["files"] = len(files)
    trace.step("parse JSON", span, f"{len(files):,} files, format_version {version}", "range read of each file")
    if version != "1.0":
        trace.step(
            "look at format_version", span, visible(str(version)), "not 1.0; the algorithm does not ask", ok=False
        )
        if not lenient:
            raise Rejected(f"The format_version is not 1.0. {_UNKNOWN}", known=False)
    return files


def _decoded(trace: Recorder, text: bytes, span: tuple[int, int], collected: Any, *, lenient: bool) -> Any:
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=collected)
    except (ValueError, RecursionError) as error:
        try:
            repaired = json.loads(_TRAILING_COMMA.sub(r"\1", text.decode("utf-8")), object_pairs_hook=collected)
        except (ValueError, RecursionError):
            reason = "it nests too deeply, or a number is too long"
            if isinstance(error, json.JSONDecodeError):
                reason = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos:,}"
            elif isinstance(error, UnicodeDecodeError):
                reason = "it is not UTF-8"
            raise trace.reject("parse JSON", span, f"The index is not JSON: {reason}.") from error
        cause = "The index has trailing commas, as the specification's own example; strict JSON has none."
        if lenient:
            trace.step("parse JSON", span, "trailing commas", cause, ok=False)
            return repaired
        raise trace.reject("parse JSON", span, f"{cause} {_UNKNOWN}", known=False) from error


def _read_file(trace: Recorder, name: str, entry: Any, index_start: int, *, known: bool) -> None:
    start, stop = (
        (entry.get(field) for field in ("start_byte", "end_byte")) if isinstance(entry, dict) else (None, None)
    )
    shown = f"start_byte {start}, end_byte {stop}"
    if type(start) is not int or type(stop) is not int:  # a bool is none
        message = "Its offsets are not two whole numbers."
        raise trace.reject(f"look up {visible(name)}", None, message, value=shown, known=known)
    trace.state["file"] = visible(name)
    if not 0 <= start <= stop <= index_start:
        message = f"The bytes {start:,} to {stop:,} are not all in the data section."
        raise trace.reject(f"read {visible(name)}", None, message, value=shown, known=known)
    trace.pass_over(start, stop)
    trace.step(f"read {visible(name)}", (start, stop), shown, in_bytes(stop - start), read=True)
    trace.give(name, stop - start)
    trace.state["members"] = trace.members


_KNOWN = "Known of it: it reads what the specification describes, names in any order, members in any order."
READERS = (
    Reader(
        "spec",
        "the specification",
        ReaderKind.DESCRIBED,
        'The algorithm "Reading from a CAF File": footer, index, range reads.',
        partial(_read, lenient=True),
    ),
    Reader("caf-go", "the Go reader", ReaderKind.DESCRIBED, _KNOWN, partial(_read, lenient=False)),
    Reader("caf-ts", "the TypeScript reader", ReaderKind.DESCRIBED, _KNOWN, partial(_read, lenient=False)),
)
