"""The one door: what was typed, dropped or pasted becomes locations to open. Nothing here touches the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.redaction import strip_credentials

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtCore import QMimeData, QUrl

MOST = 50
"""The most locations opened at once: a dropped folder full of files is not meant to become a thousand tabs."""


def absolute(location: str) -> str:
    """The location as it is kept: a path from the root, also of a ``file:`` URL; any other URL without secrets."""
    location = _from_line(location) if location.startswith("file:") else location
    return strip_credentials(location) if "://" in location else os.path.abspath(os.path.expanduser(location))  # noqa: PTH100, PTH111


def name_of(location: str) -> str:
    """The last part of a location."""
    return visible(location.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or location)


def from_mime(data: QMimeData) -> list[str]:
    """The locations in something dropped or pasted: URLs, or else lines of text that are paths."""
    if data.hasUrls():
        return _distinct(_from_url(url) for url in data.urls())
    return from_text(data.text()) if data.hasText() else []


def from_text(text: str) -> list[str]:
    """The locations in a text, one a line."""
    lines = (line.strip().strip("'\"") for line in text.splitlines())
    return _distinct(_from_line(line) for line in lines if line)


def _from_url(url: QUrl) -> str:
    return url.toLocalFile() if url.isLocalFile() else url.toString()


def _from_line(line: str) -> str:
    if line.startswith("file:"):
        from PySide6.QtCore import QUrl

        return _from_url(QUrl(line))
    is_path = line.startswith(("/", "~", "./", "../")) or line[1:3] in (":\\", ":/")
    return line if is_path or "://" in line else ""


def _distinct(locations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(location for location in locations if location))[:MOST]
