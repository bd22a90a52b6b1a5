"""Starting the window, and making a picture of it on a machine without a screen."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import (
    QDeadlineTimer,
    QEvent,
    QEventLoop,
    QMessageLogContext,
    QSaveFile,
    QSettings,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QFileOpenEvent, QPixmap
from PySide6.QtWidgets import QApplication

from inspector.gui.app.window import Window
from inspector.gui.ipc import instance
from inspector.gui.kit import gc_main_thread, theme
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.theme import Theme
from inspector.resources import DESKTOP_ID

SCREENSHOT_SIZE = (1280, 800)
DEADLINE = 60_000
"""Milliseconds a screenshot may wait for what it is to show."""
LOOK = 25
"""Milliseconds between two looks at whether everything has arrived."""
LATER = (
    "inspector.gui.kit.accessible_names",
    "inspector.operations.protocol.views",
    "inspector.gui.document.document",
    "inspector.gui.hex.view",
    "inspector.gui.hex.hex_pane",
    "inspector.gui.panels.members",
    "inspector.gui.panels.findings",
    "inspector.gui.panels.header",
    "inspector.gui.app.tab",
)
"""What a tab needs, in slices of about the same time."""
QUIET = 4
"""Looks in a row that must find everything there."""


class Application(QApplication):
    """The application, which the system may ask to open something: macOS sends an event, it gives no arguments.

    Signals:
        asked(str): the location it is asked for.
    """

    asked = Signal(str)

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        gc_main_thread.keep_to_this_thread()

    def event(self, event: QEvent) -> bool:
        """See QApplication. Only what is sent to the application itself comes here, so this holds no window up."""
        if isinstance(event, QFileOpenEvent):
            self.asked.emit(event.file() or event.url().toString())
            return True
        return super().event(event)


def run(locations: Sequence[str], *, new_window: bool = False) -> int:
    """Open the window with a tab for each location and give the exit status when it is closed.

    Where a window is open already it takes the locations, and this returns at once, unless a ``new_window`` is wanted.
    """
    app = application()
    this = instance.here()
    if this is not None and not this.is_first() and not new_window and this.hand_over(locations):
        return 0
    settings = Settings()
    theme.apply(app, settings.theme)
    window = Window(settings)
    theme.follow(app, window.appearance.show_theme)
    window.crash_reports.install()
    app.asked.connect(window.open_location)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the event loop would not come round to Python's own handler
    window.sessions.begin()
    window.show()
    if this is not None:
        this.asked.connect(lambda locations, token: _take(window, locations, token))
        QTimer.singleShot(0, this, this.listen)
    # After the first paint: what opening needs is imported only then.
    QTimer.singleShot(0, window, lambda: load(iter(LATER), window, lambda: _begin(app, window, locations)))
    status = app.exec()
    if this is not None:
        this.close()
    window.end()  # whatever ended the loop, no worker stays
    return status


def _begin(app: QApplication, window: Window, locations: Sequence[str]) -> None:
    from inspector.gui.kit import accessible_names

    accessible_names.watch(app)
    if locations:
        window.open_locations(locations)
    else:
        window.sessions.start()


def _take(window: Window, locations: list[str], token: str) -> None:
    window.open_locations(locations)
    instance.come_forward(window, token)


def load(modules: Iterator[str], window: Window, then: Callable[[], object]) -> None:
    """Import modules, one in each turn of the event loop so that it never waits for all of them, and ``then`` go on."""
    module = next(modules, None)
    if module is None:
        then()
        return
    import_module(module)
    QTimer.singleShot(0, window, lambda: load(modules, window, then))


def screenshot(
    out: str, locations: Sequence[str], size: tuple[int, int] = SCREENSHOT_SIZE, look: Theme = Theme.LIGHT
) -> int:
    """Render the window with these locations into a PNG file, ``size`` in pixels.

    Gives 0, or 2 with a sentence on standard error where the picture could not be written, lacks something, or shows a
    location that could not be opened.
    """
    if not _has_display():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from tempfile import TemporaryDirectory

    qInstallMessageHandler(_tell)
    app = application()
    theme.apply(app, look)
    with TemporaryDirectory() as folder:
        settings = Settings(QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat))
        window = Window(settings)
        window.resize(*size)
        window.show()
        window.open_locations(locations)
        settled = wait_until_settled(window)
        picture = window.grab()
        failed = [tab.document.status for tab in window.tabs.all() if tab.document.status.stage == "failed"]
        window.end()
        window.close()
    if not settled:
        print("The window was still loading after the time limit; the picture may be incomplete.", file=sys.stderr)
    for status in failed:
        print(status.sentence, file=sys.stderr)
    saved = _save(picture, Path(out))
    return 0 if saved and settled and not failed else 2


def wait_until_settled(window: Window, deadline: int = DEADLINE) -> bool:
    """Let the event loop run until all that the window asked for has arrived; whether it has, in milliseconds."""
    loop = QEventLoop()
    end = QDeadlineTimer(deadline)
    quiet = 0

    def look() -> None:
        nonlocal quiet
        quiet = quiet + 1 if window.settled else 0
        if quiet == 1:
            window.grab()  # painting asks for what it lacks
        if quiet >= QUIET or end.hasExpired():
            loop.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(LOOK)
    loop.exec()
    timer.stop()
    return quiet >= QUIET


def _tell(_kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Messages of Qt go to standard error, but for what the offscreen platform says of every window."""
    if "propagateSizeHints" not in message:
        print(message, file=sys.stderr)


def _save(picture: QPixmap, path: Path) -> bool:
    file = QSaveFile(str(path))
    saved = file.open(QSaveFile.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()
    if not saved:
        print(f"{path} could not be written: {file.errorString()}.", file=sys.stderr)
    return saved


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM"):
        return True
    return sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def application() -> Application:
    """The application, made where there is none yet."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, Application) else Application(["archive-inspector", *theme.STYLE])
    app.setApplicationName("archive-inspector")
    app.setDesktopFileName(DESKTOP_ID)
    return app
