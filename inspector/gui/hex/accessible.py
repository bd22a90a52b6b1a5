"""The hex view for screen readers: the byte at the caret as text, announced whenever the caret moves.

Installed as the factory that Qt asks for accessible interfaces. There is no text interface: PySide6 cannot implement
parts of it (selections, attributes), and a reader that asked for them would get garbage.
"""

from __future__ import annotations

import weakref
from functools import cache
from typing import Any, Protocol

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QAccessibleValueChangeEvent,
    QAccessibleValueInterface,
)
from PySide6.QtWidgets import QAccessibleWidget, QWidget

from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.span import Span, total
from inspector.gui.kit.text import short
from inspector.operations.protocol.views import Explanation, FieldRow


class ByteView(Protocol):
    """The part of a hex view that screen readers need."""

    def caret(self) -> int:
        """The offset of the caret."""

    def selection(self) -> Span:
        """The selected bytes; an empty span at the caret if there are none."""

    def goTo(self, offset: int) -> None:
        """Move the caret to an offset."""

    def byteCount(self) -> int:
        """The number of bytes."""

    def accessibleDescription(self) -> str:
        """The description of the byte at the caret."""


class _Caret(QAccessibleValueInterface):
    """The caret offset as a value that assistive programs can read and set."""

    def __init__(self, view: ByteView) -> None:
        super().__init__()
        self._view = weakref.ref(view)

    def currentValue(self) -> int:
        view = self._view()
        return view.caret() if view is not None else 0

    def setCurrentValue(self, value: Any) -> None:
        view = self._view()
        if view is not None:
            view.goTo(int(value))

    def maximumValue(self) -> int:
        view = self._view()
        return max(0, view.byteCount() - 1) if view is not None else 0

    def minimumValue(self) -> int:
        return 0

    def minimumStepSize(self) -> int:
        return 1


class _AccessibleBytes(QAccessibleWidget):
    """The hex view: its value is the caret offset, described by the byte there."""

    def __init__(self, view: Any) -> None:
        super().__init__(view, QAccessible.Role.Canvas, view.accessibleName())
        self._view: weakref.ref[ByteView] = weakref.ref(view)
        self._caret = _Caret(view)

    def text(self, kind: QAccessible.Text) -> str:
        view = self._view()
        if kind is QAccessible.Text.Value and view is not None:
            return accessible_value(view)
        return str(super().text(kind))

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        # PySide6 would take a plain None or 0 for an address, and a screen reader would dereference it.
        is_value = kind is QAccessible.InterfaceType.ValueInterface
        return shiboken6.VoidPtr(shiboken6.getCppPointer(self._caret)[0] if is_value else 0)


def accessible_value(view: ByteView) -> str:
    """The byte at the caret and the size of the selection, as text."""
    if not view.byteCount():
        return "no bytes"
    selected = view.selection().size
    text = view.accessibleDescription() or f"offset {grouped(view.caret())}"
    return f"{text}, {in_bytes(selected)} selected" if selected else text


_interfaces: list[QAccessibleInterface] = []
"""References to the interfaces given to Qt, which does not keep their Python objects alive."""


@cache
def install(views: type) -> None:
    """Register the accessible interface for widgets of a class that implements ``ByteView``."""

    def factory(_: str, widget: QObject) -> QAccessibleInterface | None:
        if not isinstance(widget, views):
            return None
        _interfaces[:] = [each for each in _interfaces if shiboken6.isValid(each)]
        _interfaces.append(_AccessibleBytes(widget))
        return _interfaces[-1]

    QAccessible.installFactory(factory)


def notify_caret_moved(view: QWidget, caret: int) -> None:
    """Tell screen readers that the caret moved."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleValueChangeEvent(view, caret))


def announce(view: QWidget, sentence: str) -> None:
    """Announce a text now, interrupting the announcement of an earlier byte."""
    if QAccessible.isActive() and view.hasFocus():
        event = QAccessibleAnnouncementEvent(view, sentence)
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


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
