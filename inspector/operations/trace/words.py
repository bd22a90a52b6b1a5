"""The table of readers in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.operations.protocol.trace_views import ReaderRow, Verdict


def row_lines(rows: Sequence[ReaderRow]) -> list[str]:
    """A line for each reader, and under it why; every name is printable."""
    width = max((len(row.name) for row in rows), default=0)
    lines = []
    for row in rows:
        kind = "" if row.verdict is Verdict.ABSENT else f" ({row.kind})"
        lines.append(f"{row.name:<{width}}  {sentence(row)}{kind}")
        lines += [f"{'':<{width}}    {visible(row.cause)}"] if row.cause else []
    return lines


def sentence(row: ReaderRow) -> str:
    """``rejects at step 14 in log.txt: checksum mismatch``."""
    words = str(row.verdict)
    if row.verdict is Verdict.ABSENT:
        return words
    if row.verdict is Verdict.ACCEPTS and row.lists:
        words += f": {count(row.members, 'member')}"
        return f"{words}. {visible(row.message)}" if row.message else words
    if row.stopped_at is not None:
        words += f" at step {row.stopped_at:,}"
    if row.member:
        words += f" in {row.member}"
    return f"{words}: {visible(row.message)}" if row.message else words


def row_object(row: ReaderRow) -> dict[str, Any]:
    """The end of a reader as ``trace --json`` gives it."""
    return {
        "reader": row.name,
        "accepts": row.accepts,
        "members": row.members,
        "stopped_at": row.stopped_at,
        "message": row.message,
        "verdict": row.verdict,
        "kind": row.kind,
        "cause": row.cause,
        "member": row.member or None,
    }
