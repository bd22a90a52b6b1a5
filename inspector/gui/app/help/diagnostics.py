"""What to send with a bug report: versions, the system, the settings, what kind of archives are open; no names."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

import inspector
from inspector.core.numbers import count, in_bytes
from inspector.core.program import crash_report
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import FontFamily, Text
from inspector.gui.kit.settings import Settings
from inspector.operations.protocol.views import Status

LIBRARIES = ("PySide6-Essentials", "boto3", "isal", "msgspec", "numpy", "platformdirs", "xxhash", "zstandard")
"""The libraries whose versions are named."""
DESKTOP_VARIABLES = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM", "QT_SCALE_FACTOR", "LANG")
"""Variables of the environment that say how the window is shown; nothing secret is in them."""
OWN_VARIABLES = "ARCHIVE_INSPECTOR_"
"""How the program's own variables begin; that they are set is told, not to what: some name files."""


def diagnostics(settings: Settings, open_archives: Iterable[Status]) -> str:
    """The text, which names no file, no member, no server and no profile."""
    return "\n".join(
        (
            *crash_report.environment("diagnostics", {"Qt": qVersion()}),
            f"Libraries: {', '.join(_libraries())}",
            f"Formats: {', '.join(_formats())}",
            *_screens(),
            *_environment(),
            *_open(open_archives),
            *_settings(settings),
        )
    )


def _libraries() -> Iterator[str]:
    for name in LIBRARIES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:  # a packaged program has no records of its libraries
            yield f"{name} (version unknown)"


def _formats() -> list[str]:
    """The names of the known formats, looked up without importing one into this process."""
    folders = [str(Path(each) / "formats") for each in inspector.__path__]
    return sorted(each.name for each in pkgutil.iter_modules(folders) if not each.name.startswith("_"))


def _screens() -> Iterator[str]:
    style = QApplication.style().objectName() or "unnamed"
    yield f"Platform: {QGuiApplication.platformName()}, style {style}"
    for screen in QGuiApplication.screens():
        size = screen.size()
        yield f"Screen: {size.width()} x {size.height()}, scale {screen.devicePixelRatio():g}"


def _environment() -> Iterator[str]:
    yield from (f"{name}={value}" for name in DESKTOP_VARIABLES if (value := os.environ.get(name)))
    yield from (f"{name} is set" for name in sorted(os.environ) if name.startswith(OWN_VARIABLES))


def _open(statuses: Iterable[Status]) -> Iterator[str]:
    for each in statuses:
        state = each.state or "no error found yet"
        yield f"Open: {each.format or each.stage}, {in_bytes(each.size)}, {count(each.members, 'member')}, {state}"


def _settings(settings: Settings) -> Iterator[str]:
    changed = [each for each in preferences.ALL if settings.get(each) != each.default]
    yield "Settings: as they are at first" if not changed else "Settings that were changed:"
    for each in changed:
        is_private = isinstance(each, Text) and not isinstance(each, FontFamily)
        yield f"  {each.key}: {'set' if is_private else settings.get(each)}"
