"""A window that is used, in a process of its own, which says what it imported that only workers need.

``python -m tests.gui.app.window_story FOLDER LOCATION...`` opens each location, looks at all that is shown of it, goes
to bytes, finds some, changes one, checks, and checks and audits all in the folder. It writes a line for each import
that the window has no use for: what was in use, the module, and the chain of files and lines that led to it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.patience import until

if TYPE_CHECKING:
    from inspector.gui.app.tab import Tab
    from inspector.gui.app.window import Window

LIBRARIES = frozenset(
    (
        *("zstandard", "boto3", "botocore", "s3transfer", "urllib3", "numpy", "isal", "xxhash"),
        *("distributed", "dask", "sqlite3"),
    )
)
"""What decodes, and what reaches S3."""
OWN = ("inspector.cli", "inspector.formats", "inspector.operations", "inspector.sources")
"""Where modules lie that the window has no use for..."""
VALUES = ("inspector.operations.jobs", "inspector.operations.protocol")
"""... and folders among them with what crosses between it and its workers."""
OF_S3 = ("address", "connection", "request_log", "profiles", "responses")
"""The modules beneath ``sources/s3`` that hold such values, too."""
ALLOWED = frozenset(
    (
        *("inspector.operations", "inspector.sources", "inspector.sources.s3"),
        *("inspector.sources.web", "inspector.sources.web.address"),
        *(f"inspector.sources.s3.{name}" for name in OF_S3),
    )
)


def is_for_workers(name: str) -> bool:
    """Whether the window has no use for a module."""
    if name.split(".")[0] in LIBRARIES:
        return True
    return _lies_in(name, OWN) and name not in ALLOWED and not _lies_in(name, VALUES)


def _lies_in(name: str, packages: Sequence[str]) -> bool:
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


class Watch:
    """Notes imports that are for workers, while ``using`` something; of a library only the first."""

    def __init__(self) -> None:
        self.using = "the window"
        self.seen: dict[str, str] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - its form
        """Find nothing, which leaves the module to those who do."""
        library = name.split(".")[0]
        module = library if library in LIBRARIES else name
        if is_for_workers(name) and module not in self.seen:
            frames = traceback.extract_stack()[:-1]
            chain = [f"{Path(each.filename).name}:{each.lineno}" for each in frames if "importlib" not in each.filename]
            self.seen[module] = f"{self.using}: {module} < {' < '.join(reversed(chain[-8:]))}"


def use(window: Window, location: str) -> None:
    """Open a location, and look at all there is of it."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QAbstractItemView

    window.open_location(location)
    tab = window.tab()
    assert tab is not None
    settle(window)
    for dock in tab.docks.values():
        if not dock.toggleViewAction().isVisible():  # no archive of this kind fills it
            continue
        dock.show()
        dock.raise_()
        settle(window)
        dock.grab()
        for view in dock.findChildren(QAbstractItemView):
            if view.isVisible() and view.model().rowCount():
                index = view.model().index(0, 0)
                at = view.visualRect(index).center()
                QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    for expression in ("end-1", "key 1", "0"):
        window.tool_bar.go_to.setText(expression)
        window.tool_bar.go_to.returnPressed.emit()
        settle(window)
    window.tool_bar.find_text.setText("a")
    act(window, "find_next", "next_finding", "next_unexplained", "follow", "show_content", "check", "plan_repairs")
    assert tab.document.status.checked
    change(window, tab)
    act(window, "zoom_in", "zoom_reset", "reload")


def change(window: Window, tab: Tab) -> None:
    """Overwrite a byte, and take that back."""
    from PySide6.QtTest import QTest

    act(window, "edit_bytes")
    if tab.editing.overwriting:
        tab.hex_pane.hex.setFocus()
        tab.hex_pane.hex.goTo(0)
        QTest.keyClicks(tab.hex_pane.hex, "ff")
        wait(lambda: not tab.editing.previewing)
        act(window, "repair_checksums", "undo", "discard", "edit_bytes")


def act(window: Window, *names: str) -> None:
    """Do what these actions do, where they can be done."""
    for name in names:
        window.actions_[name].trigger()
        settle(window)


def settle(window: Window) -> None:
    """Wait until all that was asked for is shown."""
    wait(lambda: window.settled)


def wait(done: Callable[[], bool]) -> None:
    """Let events come in until something is so."""
    from PySide6.QtWidgets import QApplication

    def look() -> bool:
        QApplication.processEvents()
        return done()

    until(look, "what a window was asked for")


def use_tabs(window: Window, folder: str) -> None:
    """Check and audit all in a folder, and look at the other tabs and dialogs."""
    from PySide6.QtWidgets import QDialog

    from inspector.gui.tabs.audit_tab import AuditTab

    window.archives.audit([folder])
    settle(window)
    act(window, "new_audit")
    audit = window.tabs.currentWidget()
    assert isinstance(audit, AuditTab)
    audit.place.setText(folder)
    audit.start()
    settle(window)
    assert audit.standing.done.files
    act(window, "new_archive", "browse", "show_settings", "show_keys", "show_about", "ask_location")
    for dialog in window.findChildren(QDialog):
        dialog.reject()
    settle(window)


def main(folder: str, *locations: str) -> None:
    """Use a window, and say what was imported."""
    watch = Watch()
    sys.meta_path.insert(0, watch)

    from PySide6.QtCore import QSettings

    from inspector.gui.app.app import application
    from inspector.gui.app.window import Window
    from inspector.gui.kit.preferences import Settings

    app = application()
    window = Window(Settings(QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)))
    window.resize(1280, 800)
    window.show()
    try:
        use_tabs(window, folder)
        for location in locations:
            watch.using = Path(location).name
            use(window, location)
    finally:  # a failure would wait for the threads of open tabs for ever
        window.end()
        window.close()
        app.processEvents()
    print(*watch.seen.values(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
