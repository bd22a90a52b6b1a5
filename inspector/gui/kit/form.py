"""Contents of form fields as text, for saving and restoring in a session."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QComboBox, QWidget

from inspector.core.redaction import strip_credentials

FieldTexts = tuple[tuple[str, str], ...]
"""Pairs of a field's name and its text."""


def field_texts(fields: Mapping[str, QWidget]) -> FieldTexts:
    """The texts of fields, without credentials."""
    return tuple((name, strip_credentials(_text(field))) for name, field in fields.items())


def restore_fields(fields: Mapping[str, QWidget], texts: FieldTexts) -> None:
    """Restore the texts of fields; unknown names and invalid texts are ignored."""
    for name, text in texts:
        field = fields.get(name)
        if isinstance(field, QComboBox):
            _choose(field, text)
        elif field is not None:
            field.metaObject().userProperty().write(field, text)  # converts text to numbers and check states


def _text(field: QWidget) -> str:
    if isinstance(field, QComboBox):
        return field.currentText() if field.isEditable() else str(field.currentData())
    return str(field.metaObject().userProperty().read(field))


def _choose(field: QComboBox, text: str) -> None:
    if field.isEditable():
        field.setEditText(text)
    elif (at := field.findData(text)) >= 0:
        field.setCurrentIndex(at)
