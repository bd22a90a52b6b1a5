"""The byte at the caret as text for screen readers."""

from __future__ import annotations

from inspector.core.numbers import count, grouped
from inspector.core.span import total
from inspector.gui.kit.text import short
from inspector.operations.protocol.views import Explanation, FieldRow

MAX_FINDINGS = 3
"""Findings announced for one byte."""


def accessible_text(explanation: Explanation, byte: int | None) -> str:
    """``offset 14, byte 3 of 4, CRC-32, value 0x4D6C0647, reads 06``, then enclosing fields and findings.

    ``byte`` is the value of the byte, None while it has not been read.
    """
    parts = [f"offset {grouped(explanation.offset)}"]
    if explanation.fields:
        leaf = explanation.fields[-1]
        parts += [_position(leaf, explanation.offset), short(leaf.name)]
        parts += [f"value {short(leaf.value)}"] if leaf.value else []
    parts += [f"reads {byte:02X}"] if byte is not None else []
    parts += [f"in {short(row.name)}" for row in reversed(explanation.fields[:-1])]
    sentences = [", ".join(part for part in parts if part), *_findings_and_note(explanation)]
    return ". ".join(sentence.rstrip(".") for sentence in sentences)


def _position(leaf: FieldRow, offset: int) -> str:
    """The position of a byte in a field, counted from one across all its spans."""
    before = 0
    for start, stop in leaf.spans:
        if start <= offset < stop:
            number, size = before + offset - start + 1, total(leaf.spans)
            return f"byte {grouped(number)} of {grouped(size)}"
        before += stop - start
    return ""


def _findings_and_note(explanation: Explanation) -> list[str]:
    findings = [sentence for _, sentence in explanation.findings]
    more = len(findings) - MAX_FINDINGS
    rest = [count(more, "more finding")] if more > 0 else []
    note = [short(explanation.fields[-1].note)] if explanation.fields and explanation.fields[-1].note else []
    return [*findings[:MAX_FINDINGS], *rest, *note]
