"""The writes of an edit, for people and for programs."""

from __future__ import annotations

from typing import Any

from inspector.core.edit import Edit
from inspector.core.numbers import in_bytes

_SHOWN = 128
"""Bytes of one write that are shown whole; of more, half of them at either end."""


def write_lines(edit: Edit) -> list[str]:
    """Every write in words, in the order of writing: offset, old bytes, new bytes."""
    lines = []
    for patch in edit.patches:
        place = f"at {patch.offset:,} (0x{patch.offset:X}), {in_bytes(len(patch.new))}"
        lines += [place, f"  old  {_bytes(patch.old)}", f"  new  {_bytes(patch.new)}"]
    if edit.dropped.size:
        start = edit.dropped.start
        lines.append(f"at {start:,} (0x{start:X}), {in_bytes(edit.dropped.size)} at the end are cut off")
    return lines


def _bytes(data: bytes) -> str:
    if not data:
        return "(behind the end of the file)"
    if len(data) <= _SHOWN:
        return data.hex()
    return f"{data[: _SHOWN // 2].hex()}…{data[-_SHOWN // 2 :].hex()}"


def write_objects(edit: Edit) -> list[dict[str, Any]]:
    """Every write for programs, in the order of writing; bytes are hex."""
    return [{"offset": patch.offset, "old": patch.old.hex(), "new": patch.new.hex()} for patch in edit.patches]
