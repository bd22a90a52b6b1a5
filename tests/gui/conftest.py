"""Documents with their real workers, and a window around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from inspector.gui.document import Document
from inspector.gui.settings import Settings

WAIT = 30_000
"""Milliseconds that anything may take on a busy machine."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def opened(qtbot: QtBot, sample: Callable[[str], Path]) -> Iterator[Callable[[str | Path], Document]]:
    """Open a sample by its name, or a path, and wait until nothing is outstanding."""
    documents: list[Document] = []

    def open_document(location: str | Path) -> Document:
        path = location if isinstance(location, Path) else sample(location)
        document = Document(str(path))
        documents.append(document)
        qtbot.waitUntil(lambda: document.settled, timeout=WAIT)
        return document

    yield open_document
    for document in documents:
        document.close()
        qtbot.waitUntil(lambda document=document: document.client.link.process is None, timeout=WAIT)
