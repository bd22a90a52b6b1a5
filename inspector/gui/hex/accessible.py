"""What screen readers are told of the hex view: the byte at the caret, in words, each time that it is another one.

Reached through the factory that Qt asks for the accessible side of each widget. A text interface is not given: part of
it (selections, attributes) cannot be written in Python, and a reader that asks for it would be given rubbish.
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


class Bytes(Protocol):
    """What is asked of a view of bytes."""

    def caret(self) -> int:
        """The byte that the caret is on."""

    def selection(self) -> Span:
        """The selected bytes, an empty span at the caret for none."""

    def goTo(self, offset: int) -> None:
        """Put the caret on a byte."""

    def byteCount(self) -> int:
        """How many bytes there are."""

    def accessibleDescription(self) -> str:
        """What is known of the byte at the caret."""


class _Caret(QAccessibleValueInterface):
    """The caret as a number, for readers and other programs that show or set where it is."""

    def __init__(self, view: Bytes) -> None:
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
    """The view: its value is the caret as a number, and the byte there in words."""

    def __init__(self, view: Any) -> None:
        super().__init__(view, QAccessible.Role.Canvas, view.accessibleName())
        self._view: weakref.ref[Bytes] = weakref.ref(view)
        self._caret = _Caret(view)

    def text(self, kind: QAccessible.Text) -> str:
        view = self._view()
        if kind is QAccessible.Text.Value and view is not None:
            return value_of(view)
        return str(super().text(kind))

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        # A plain None or 0 is taken for an address, which a screen reader would then have the program follow.
        wanted = kind is QAccessible.InterfaceType.ValueInterface
        return shiboken6.VoidPtr(shiboken6.getCppPointer(self._caret)[0] if wanted else 0)


def value_of(view: Bytes) -> str:
    """What a view of bytes is at, in words."""
    if not view.byteCount():
        return "no bytes"
    selected = view.selection().size
    words = view.accessibleDescription() or f"offset {grouped(view.caret())}"
    return f"{words}, {in_bytes(selected)} selected" if selected else words


_made: list[QAccessibleInterface] = []
"""What was given to Qt, which does not keep the Python side of it."""


@cache
def install(views: type) -> None:
    """Have Qt know the accessible side of widgets of a class, which are ``Bytes``."""

    def factory(_: str, widget: QObject) -> QAccessibleInterface | None:
        if not isinstance(widget, views):
            return None
        _made[:] = [each for each in _made if shiboken6.isValid(each)]
        _made.append(_AccessibleBytes(widget))
        return _made[-1]

    QAccessible.installFactory(factory)


def tell_caret(view: QWidget, caret: int) -> None:
    """The caret is on another byte."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleValueChangeEvent(view, caret))


def announce(view: QWidget, sentence: str) -> None:
    """Have something spoken now, instead of what was to be spoken of a byte before."""
    if QAccessible.isActive() and view.hasFocus():
        event = QAccessibleAnnouncementEvent(view, sentence)
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


MOST_FINDINGS = 3
"""Findings that are read out of one byte."""


def spoken(explanation: Explanation, byte: int | None) -> str:
    """``offset 14, byte 3 of 4, CRC-32, value 0x4D6C0647, reads 06``, what is around it, and what is wrong.

    ``byte`` is the value of the byte, None where it has not been read.
    """
    parts = [f"offset {grouped(explanation.offset)}"]
    if explanation.fields:
        leaf = explanation.fields[-1]
        parts += [_position(leaf, explanation.offset), short(leaf.name)]
        parts += [f"value {short(leaf.value)}"] if leaf.value else []
    parts += ["reads {byte}".format(byte=f"{byte:02X}")] if byte is not None else []
    parts += [f"in {short(row.name)}" for row in reversed(explanation.fields[:-1])]
    sentences = [", ".join(part for part in parts if part), *_remarks(explanation)]
    return ". ".join(sentence.rstrip(".") for sentence in sentences)


def _position(leaf: FieldRow, offset: int) -> str:
    """Which of a field's bytes this is, counted from one over all its stretches."""
    before = 0
    for start, stop in leaf.spans:
        if start <= offset < stop:
            number, size = before + offset - start + 1, total(leaf.spans)
            return f"byte {grouped(number)} of {grouped(size)}"
        before += stop - start
    return ""


def _remarks(explanation: Explanation) -> list[str]:
    wrong = [sentence for _, sentence in explanation.findings]
    more = len(wrong) - MOST_FINDINGS
    rest = [count(more, "more finding")] if more > 0 else []
    note = [short(explanation.fields[-1].note)] if explanation.fields and explanation.fields[-1].note else []
    return [*wrong[:MOST_FINDINGS], *rest, *note]
