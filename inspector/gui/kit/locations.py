"""Locations to open, from typed, dropped or pasted text. Nothing here touches the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.program.redaction import strip_credentials
from inspector.sources.web.address import HIDDEN, enter, has_query, is_web

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from PySide6.QtCore import QMimeData, QUrl

INSIDE = "!/"
"""Separates a member from the archive that it is in, and stands behind compressed bytes."""
MAX_LOCATIONS = 100_000
"""The most locations taken from one drop or paste."""
MAX_TABS_OPENED = 50
"""The most tabs opened at once."""


def absolute(location: str) -> str:
    """The location as it is stored: an absolute path, also for a ``file:`` URL; any other URL without credentials.

    What stands for an address on the web with a query is as in ``sources.web.address``.
    """
    if is_web(location):
        return enter(location)
    location = _from_line(location) if location.startswith("file:") else location
    if "://" in location:
        return strip_credentials(location)
    outer, inside, member = location.partition(INSIDE)  # a member's name is no path of this machine
    return os.path.abspath(os.path.expanduser(outer)) + inside + member  # noqa: PTH100, PTH111


def name_of(location: str) -> str:
    """The last part of a location."""
    location = location.partition(HIDDEN)[0] if has_query(location) else location
    last = location.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    return visible(last.removesuffix("!") + INSIDE if location.endswith(INSIDE) else last or location)


def outer_locations(location: str) -> list[str]:
    """The locations of the archives around this one, the outermost first."""
    parts = location.split(INSIDE)
    return [INSIDE.join(parts[:stop]) for stop in range(1, len(parts))]


def from_mime(data: QMimeData) -> list[str]:
    """The locations in dropped or pasted data: URLs, or else lines of text."""
    if data.hasUrls():
        return _distinct(_from_url(url) for url in data.urls())
    return from_text(data.text()) if data.hasText() else []


def from_text(text: str) -> list[str]:
    """The locations in a text, one per line."""
    lines = (line.strip().strip("'\"") for line in text.splitlines())
    return _distinct(_from_line(line) for line in lines if line)


def _from_url(url: QUrl) -> str:
    return url.toLocalFile() if url.isLocalFile() else url.toEncoded().toStdString()


def _from_line(line: str) -> str:
    if line.startswith("file:"):
        from PySide6.QtCore import QUrl

        return _from_url(QUrl(line))
    is_path = line.startswith(("/", "~", "./", "../")) or line[1:3] in (":\\", ":/")
    return line if is_path or "://" in line else ""


def _distinct(locations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(location for location in locations if location))[:MAX_LOCATIONS]
