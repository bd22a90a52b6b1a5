"""Start the window, or render a screenshot of it on a machine without a display."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractEventDispatcher,
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

from inspector.drawing.palette import Scheme
from inspector.gui.ipc import instance, worker
from inspector.gui.kit import theme
from inspector.gui.kit.preferences import Settings
from inspector.resources import DESKTOP_ID

if TYPE_CHECKING:
    from inspector.gui.app.window import Window

SCREENSHOT_SIZE = (1280, 800)
TIMEOUT_MS = 60_000
"""The longest time a screenshot waits for the window to load."""
POLL_MS = 25
"""The interval of checks whether everything has loaded."""
TAB_MODULES = (
    "inspector.gui.kit.help_texts",
    "inspector.operations.protocol.views",
    "inspector.gui.document.document",
    "inspector.gui.hex.view",
    "inspector.gui.hex.hex_pane",
    "inspector.gui.panels.members",
    "inspector.gui.panels.findings",
    "inspector.gui.app.tab",
)
"""The modules that a tab needs, in slices that take about the same time to import."""
SETTLED_CHECKS = 4
"""The number of checks in a row that must find everything loaded."""


class Application(QApplication):
    """The application. macOS asks it to open a location by an event instead of an argument.

    Signals:
        asked(str): the location to open.
    """

    asked = Signal(str)

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        _collect_when_idle()

    def event(self, event: QEvent) -> bool:
        """Qt override: open files on macOS. Events of widgets do not come here, so they are not slowed down."""
        if isinstance(event, QFileOpenEvent):
            self.asked.emit(event.file() or event.url().toString())
            return True
        return super().event(event)


def run(locations: Sequence[str], *, new_window: bool = False, compare: Sequence[str] | None = None) -> int:
    """Open the window with a tab for each location, and return the exit status when it is closed.

    If a window is open already it opens the locations and this returns at once, unless ``new_window`` is set.
    ``compare`` are two locations to compare, in a window of their own.
    """
    app = application()
    this = instance.current_instance()
    if this is not None and not this.is_first() and not (new_window or compare) and this.hand_over(locations):
        return 0
    if locations or compare:
        worker.warm_up()  # beside all that follows
    from inspector.gui.app.window import Window  # a start that hands its locations over needs none of it

    settings = Settings()
    theme.apply(app, settings.theme)
    window = Window(settings)
    theme.on_system_change(app, window.appearance.show_theme)
    window.help.install()
    app.asked.connect(window.open_location)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the event loop would delay Python's own handler
    if this is None or this.is_first():  # a further window is not what was last open
        window.sessions.begin()
    window.show()
    if this is not None:
        this.requested.connect(lambda locations, _: window.open_locations(locations))
        this.requested.connect(lambda _, token: instance.bring_to_front(window, token))
        QTimer.singleShot(0, this, this.listen)
    # Opening needs many modules; import them after the first paint.
    QTimer.singleShot(
        0,
        window,
        lambda: import_one_by_one(
            iter(TAB_MODULES), window, lambda: _after_first_paint(app, window, locations, compare)
        ),
    )
    status = app.exec()
    if this is not None:
        this.close()
    window.end()  # end the workers, however the event loop ended
    return status


def _after_first_paint(
    app: QApplication, window: Window, locations: Sequence[str], compare: Sequence[str] | None
) -> None:
    from inspector.gui.kit import help_texts

    help_texts.watch(app)
    window.open_locations(locations)
    if compare:
        window.comparisons.compare(*compare)
    if not locations and not compare:
        worker.warm_up()  # for what is opened next


def import_one_by_one(modules: Iterator[str], window: Window, then: Callable[[], object]) -> None:
    """Import one module per turn of the event loop, which so never blocks for long; then call ``then``."""
    module = next(modules, None)
    if module is None:
        then()
        return
    import_module(module)
    QTimer.singleShot(0, window, lambda: import_one_by_one(modules, window, then))


def screenshot(
    out: str,
    locations: Sequence[str],
    size: tuple[int, int] = SCREENSHOT_SIZE,
    scheme: Scheme = Scheme.LIGHT,
    compare: Sequence[str] | None = None,
) -> int:
    """Render the window with these locations to a PNG file, ``size`` in pixels; ``compare`` as in ``run``.

    Returns 0, or 2 with a message on standard error if the file could not be written, a location could not be opened,
    or the window did not load in time.
    """
    from tempfile import TemporaryDirectory

    worker.warm_up()  # beside all that follows
    from inspector.gui.app.window import Window

    qInstallMessageHandler(_print_qt_message)
    app = application()
    theme.apply(app, scheme)
    with TemporaryDirectory() as folder:
        settings = Settings(QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat))
        window = Window(settings)
        window.resize(*size)
        window.show()
        window.open_locations(locations)
        if compare:
            window.comparisons.compare(*compare)
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


def wait_until_settled(window: Window, timeout: int = TIMEOUT_MS) -> bool:
    """Run the event loop until the window has loaded, at most ``timeout`` milliseconds; return whether it has."""
    loop = QEventLoop()
    end = QDeadlineTimer(timeout)
    settled_checks = 0

    def check() -> None:
        nonlocal settled_checks
        settled_checks = settled_checks + 1 if window.settled else 0
        if settled_checks == 1:
            window.grab()  # painting requests missing data
        if settled_checks >= SETTLED_CHECKS or end.hasExpired():
            loop.quit()

    timer = QTimer()
    timer.timeout.connect(check)
    timer.start(POLL_MS)
    loop.exec()
    timer.stop()
    return settled_checks >= SETTLED_CHECKS


def _print_qt_message(_kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Print Qt messages on standard error, except the one that the offscreen platform prints for every window."""
    if "propagateSizeHints" not in message:
        print(message, file=sys.stderr)


def _save(picture: QPixmap, path: Path) -> bool:
    file = QSaveFile(str(path))
    saved = file.open(QSaveFile.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()
    if not saved:
        print(f"{path} could not be written: {file.errorString()}.", file=sys.stderr)
    return saved


def application() -> Application:
    """The application; created if there is none yet."""
    existing = QApplication.instance()
    app = (
        existing if isinstance(existing, Application) else Application(["archive-inspector", *theme.style_arguments()])
    )
    app.setApplicationName("archive-inspector")
    app.setDesktopFileName(DESKTOP_ID)
    return app


def _collect_when_idle() -> None:
    """Run the cyclic garbage collector only on this thread, when its event loop becomes idle."""
    # Python runs it on whichever thread allocates. On the thread of a worker link it would destroy Qt objects while the
    # event loop uses or deletes them, which crashes the process.
    gc.disable()
    # What the program itself is made of, 50,000 objects, stays until it ends: looking through it takes 30 ms each time.
    gc.freeze()
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None, "there is an application"
    dispatcher.aboutToBlock.connect(_collect)


def _collect() -> None:
    """Collect the oldest generation that is due, and all younger ones; usually none is due.

    The oldest has the next turn of the event loop for itself: what makes it due is a turn that has done much already.
    """
    due = [threshold and count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
    if due[0]:
        gc.collect(int(bool(due[1])))
    if all(due):
        QTimer.singleShot(0, gc.collect)
