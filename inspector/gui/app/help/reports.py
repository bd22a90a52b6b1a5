"""What a bug report needs: unhandled exceptions of window and workers, versions, system and settings; no names."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

import inspector
from inspector.core.numbers import count, in_bytes
from inspector.core.program import crash_report
from inspector.gui.ipc.link import REPORTS
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import FontFamily, Settings, Text
from inspector.gui.kit.widgets import MessageBar

if TYPE_CHECKING:  # the first paint does not wait for it
    from inspector.operations.protocol.views import Status

MISTAKE = (
    "The program hit an internal error. It keeps running, but what you see may be out of date. Archives on disk are "
    "unchanged. The report names no files, so it can be shared with the developers."
)
COPIED = "Diagnostics were copied: versions, system and settings. They name no files and hold no secrets."
MAX_REPORTS = 5
"""The most different reports kept."""
LIBRARIES = ("PySide6-Essentials", "boto3", "isal", "msgspec", "numpy", "platformdirs", "xxhash", "zstandard")
"""The libraries whose versions are named."""
DESKTOP_VARIABLES = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM", "QT_SCALE_FACTOR", "LANG")
"""Variables of the environment that say how the window is shown; nothing secret is in them."""
OWN_VARIABLES = "ARCHIVE_INSPECTOR_"
"""How the program's own variables begin; that they are set is told, not to what: some name files."""


class Reports(QObject):
    """Collects crash reports from any thread, says once of each that there is one, and copies them on request.

    ``open_archives`` gives the state of each open archive.

    Signals:
        noted(str report): there is a new report; emitted in any thread, handled in the window's.
    """

    noted = Signal(str)

    def __init__(
        self,
        window: QWidget,
        message: MessageBar,
        settings: Settings,
        open_archives: Callable[[], Iterable[Status]],
    ) -> None:
        super().__init__(window)
        self._message = message
        self._settings = settings
        self._open_archives = open_archives
        self.kept: list[str] = []
        self.noted.connect(self._take)
        message.acted.connect(self.copy_diagnostics)

    def install(self) -> None:
        """Hook unhandled exceptions in slots, painting, threads and workers."""
        sys.excepthook = self._caught
        threading.excepthook = lambda caught: self._caught(*caught[:3], "window, in a thread")
        sys.unraisablehook = self._caught_unraisable
        REPORTS.received.connect(self.noted)

    def _caught(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        trace: TracebackType | None,
        where: str = "window",
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error or kind(), trace)
        elif error is not None and kind is not SystemExit:
            traceback.print_exception(kind, error, trace or error.__traceback__)
            self.note(error, where)

    def _caught_unraisable(self, caught: sys.UnraisableHookArgs) -> None:
        sys.__unraisablehook__(caught)
        if caught.exc_value is not None:
            self.note(caught.exc_value, "window, where none can be raised")

    def note(self, error: BaseException, where: str) -> None:
        """Report an exception; callable from any thread."""
        self.noted.emit(crash_report.report(error, where, {"Qt": qVersion()}))

    def worker_died(self, exit_code: int | None, work: tuple[str, ...]) -> None:
        """Report that a worker died, and the requests that it was running."""
        self.noted.emit(crash_report.exit_report(exit_code, work, {"Qt": qVersion()}))

    def _take(self, report: str) -> None:
        if report not in self.kept and len(self.kept) < MAX_REPORTS:
            self.kept.append(report)
            self._message.say(MISTAKE, "Copy Report")

    def copy_diagnostics(self) -> None:
        """Copy to the clipboard what to send with a bug report."""
        QGuiApplication.clipboard().setText("\n".join((*self._lines(), *(f"\n{each}" for each in self.kept))))
        self._message.say(COPIED)

    def _lines(self) -> Iterator[str]:
        import pkgutil  # the first paint does not wait for it

        yield from crash_report.environment("diagnostics", {"Qt": qVersion()})
        yield f"Libraries: {', '.join(map(_with_version, LIBRARIES))}"
        # The formats are looked up without importing one into this process.
        formats = pkgutil.iter_modules([str(Path(each) / "formats") for each in inspector.__path__])
        yield f"Formats: {', '.join(sorted(each.name for each in formats if not each.name.startswith('_')))}"
        style = QApplication.style().objectName() or "unnamed"
        yield f"Platform: {QGuiApplication.platformName()}, style {style}"
        for screen in QGuiApplication.screens():
            size = screen.size()
            yield f"Screen: {size.width()} x {size.height()}, scale {screen.devicePixelRatio():g}"
        yield from (f"{name}={value}" for name in DESKTOP_VARIABLES if (value := os.environ.get(name)))
        yield from (f"{name} is set" for name in sorted(os.environ) if name.startswith(OWN_VARIABLES))
        for each in self._open_archives():
            state = each.state or "no error found yet"
            yield f"Open: {each.format or each.stage}, {in_bytes(each.size)}, {count(each.members, 'member')}, {state}"
        changed = [each for each in preferences.ALL if self._settings.get(each) != each.default]
        yield "Settings that were changed:" if changed else "Settings: as they are at first"
        for setting in changed:
            is_private = isinstance(setting, Text) and not isinstance(setting, FontFamily)
            yield f"  {setting.key}: {'set' if is_private else self._settings.get(setting)}"


def _with_version(library: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:  # a packaged program has no records of its libraries
        return f"{library} (version unknown)"
