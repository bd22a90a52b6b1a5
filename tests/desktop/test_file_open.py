"""The system asks a program that runs to open a file: macOS does so with an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from inspector.gui.app import app
from inspector.gui.kit.locations import absolute

Sample = Callable[[str], Path]


@pytest.fixture
def asked(qapp: app.Application) -> Iterator[list[str]]:
    """What the application was asked to open."""
    found: list[str] = []
    qapp.asked.connect(found.append)
    yield found
    qapp.asked.disconnect(found.append)


def test_a_file_the_system_asks_for_is_a_location(asked: list[str], sample: Sample) -> None:
    path = sample("journey.caf")

    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(QUrl.fromLocalFile(str(path))))

    assert asked == [str(path)]


def test_so_is_a_url(asked: list[str]) -> None:
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(QUrl("s3://bucket/journey.caf")))

    assert asked == ["s3://bucket/journey.caf"]


def test_a_file_url_is_the_path_it_names() -> None:
    assert absolute("file:///a%20b/100%25.caf") == "/a b/100%.caf"
    assert absolute("s3://bucket/a%20b.caf") == "s3://bucket/a%20b.caf"
