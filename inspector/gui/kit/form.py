"""What the fields of a form say, as text: kept in a session, and said again."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QComboBox, QWidget

from inspector.core.redaction import strip_credentials

Said = tuple[tuple[str, str], ...]
"""Pairs of a field's name and what it says."""


def said_in(fields: Mapping[str, QWidget]) -> Said:
    """What these fields say, without what lets others in."""
    return tuple((name, strip_credentials(_text(field))) for name, field in fields.items())


def say_again(fields: Mapping[str, QWidget], said: Said) -> None:
    """Let the fields say it again; what is of no field, or cannot be said in it, is left out."""
    for name, text in said:
        field = fields.get(name)
        if isinstance(field, QComboBox):
            _choose(field, text)
        elif field is not None:
            field.metaObject().userProperty().write(field, text)  # which makes numbers and ticks of text


def _text(field: QWidget) -> str:
    if isinstance(field, QComboBox):
        return field.currentText() if field.isEditable() else str(field.currentData())
    return str(field.metaObject().userProperty().read(field))


def _choose(field: QComboBox, text: str) -> None:
    if field.isEditable():
        field.setEditText(text)
    elif (at := field.findData(text)) >= 0:
        field.setCurrentIndex(at)
