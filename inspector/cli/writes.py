"""The writes of an edit, for people and for programs."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

from inspector.core.edit import Edit, Kept
from inspector.core.numbers import in_bytes
from inspector.core.source import Source, blocks
from inspector.operations.edit.plan_repairs import Plan

_SHOWN = 128
"""Bytes of one write that are shown whole; of more, half of them at either end."""
_INLINE = 1 << 16
"""Bytes cut off or replaced as a whole that programs are given; of more they are told size, hash and where they are."""


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


class OldBytes:
    """What a plan cuts off an archive and writes anew beside it, for programs; to be made before anything is written.

    Bytes are hex; of more than _INLINE the place is told where they are kept (see Kept), null before they are.
    """

    def __init__(self, source: Source, plan: Plan) -> None:
        edit = plan.edit
        self._at = edit.dropped.start if edit is not None else 0
        self._old = _content(source, *edit.dropped) if edit is not None and edit.dropped.size else None
        self.beside: list[dict[str, Any]] = []
        for each in plan.beside:
            old = source.sibling(each.suffix, each.instead_of)
            held = _content(old, 0, old.size) if old is not None else None
            self.beside.append({"suffix": each.suffix, "instead_of": each.instead_of, "old": held})

    def cut(self, kept: Kept | None) -> list[dict[str, Any]]:
        """The write that cuts the end off, none where none is; ``kept`` is where the bytes stand afterwards."""
        if self._old is None:
            return []
        old = asdict(kept) if kept is not None and not isinstance(self._old, str) else self._old
        return [{"offset": self._at, "old": old, "new": ""}]


def _content(source: Source, start: int, stop: int) -> str | dict[str, Any]:
    if stop - start <= _INLINE:
        return source.read(start, stop - start).hex()
    digest = hashlib.sha256()
    for piece in blocks(source, start, stop):
        digest.update(piece)
    return {"path": None, "offset": None, "length": stop - start, "sha256": digest.hexdigest()}
