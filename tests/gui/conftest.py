"""Documents with their real workers, and a window around them."""

from __future__ import annotations

import errno
import json
import multiprocessing
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partialmethod
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from pkgutil import walk_packages

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox
from pytestqt.qtbot import QtBot

import inspector.formats
import inspector.operations
import inspector.sources
from inspector.drawing.palette import Scheme
from inspector.gui.app.docks import LateDock
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.save import SaveToDialog
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.gui.kit import theme
from inspector.gui.kit.preferences import Settings
from tests.patience import PATIENCE
from tests.pools import run_without_processes

WAIT = int(PATIENCE * 1000)
"""Milliseconds that anything may take on a busy machine."""
MUCH = 256 << 20
"""Bytes of an archive whose check takes long enough to be paused."""


@pytest.fixture(scope="session", autouse=True)
def worker_modules() -> None:
    """Import what workers need once, in the process that forks them, instead of in each of hundreds of workers."""
    rooms = (inspector.formats, inspector.operations, inspector.sources)
    modules = [found.name for room in rooms for found in walk_packages(room.__path__, f"{room.__name__}.")]
    multiprocessing.get_context("forkserver").set_forkserver_preload([*modules, "tests.gui.app.warm"])
    forkserver.ensure_running()


class PatientBot(QtBot):
    """Waits as long as a busy machine may need, where a test does not say how long."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=WAIT)  # noqa: N815 - its name there
    waitSignal = partialmethod(QtBot.waitSignal, timeout=WAIT)  # noqa: N815 - its name there
    waitSignals = partialmethod(QtBot.waitSignals, timeout=WAIT)  # noqa: N815 - its name there
    waitExposed = partialmethod(QtBot.waitExposed, timeout=WAIT)  # noqa: N815 - its name there


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:  # noqa: ARG001 - it has to be there
    return PatientBot(request)


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


@pytest.fixture
def window(qtbot: QtBot, settings: Settings) -> Iterator[Window]:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, Scheme.LIGHT)
    made = Window(settings)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    with qtbot.waitExposed(made):
        made.show()
    # A key that was pressed with Shift leaves Shift pressed for the tests that follow, if its window is gone by then.
    QTest.keyRelease(made, Qt.Key.Key_Shift)
    yield made
    links = [client.link for client in made.findChildren(Client)]
    made.end()
    made.close()
    qtbot.waitUntil(lambda: all(link.process is None for link in links), timeout=WAIT)


@pytest.fixture
def show(window: Window, qtbot: QtBot, sample: Callable[[str], Path]) -> Callable[[str | Path], Tab]:
    """Open a sample, or a path, in the window and wait until everything has arrived."""

    def open_tab(location: str | Path) -> Tab:
        window.open_location(str(location if isinstance(location, Path) else sample(location)))
        settle(qtbot, window)
        tab = window.tab()
        assert tab is not None
        return tab

    return open_tab


@pytest.fixture
def in_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many archives are checked by the worker of their tab, without other processes."""
    monkeypatch.setattr("inspector.gui.ipc.link.run", run_without_processes)


@pytest.fixture
def no_processes() -> Callable[[], AbstractContextManager[None]]:
    """Within this context the system has no memory for another process."""

    def refuse(_: BaseProcess) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    @contextmanager
    def refused() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(BaseProcess, "start", refuse)
            yield

    return refused


NoProcesses = Callable[[], AbstractContextManager[None]]
Sample = Callable[[str], Path]
Copied = Callable[[str], tuple[Tab, Path]]
Show = Callable[[str | Path], Tab]


@pytest.fixture
def copied(show: Show, sample: Sample, tmp_path: Path) -> Copied:
    """Open a copy of a sample in the window, and give its path too."""

    def open_copy(name: str) -> tuple[Tab, Path]:
        path = tmp_path / name
        shutil.copyfile(sample(name), path)
        return show(path), path

    return open_copy


@pytest.fixture
def checked(show: Show, window: Window, qtbot: QtBot) -> Show:
    """Open a sample and check it."""

    def check(location: str | Path) -> Tab:
        tab = show(location)
        press(window, "check")
        settle(qtbot, window)
        assert tab.document.status.checked
        return tab

    return check


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A CAF archive of one member and much nothing, with a digest of it beside: checking it takes a while."""
    path = tmp_path / "large.caf"
    index = json.dumps({"format_version": "1.0", "files": {"a.bin": {"start_byte": 0, "end_byte": MUCH}}}).encode()
    with path.open("wb") as file:
        file.truncate(MUCH)
        file.seek(MUCH)
        file.write(index + len(index).to_bytes(4, "little"))
    Path(f"{path}.sha256").write_text(f"{'0' * 64}  a.bin\n")
    return path


def settle(qtbot: QtBot, window: Window) -> None:
    """Wait until nothing is outstanding, painting included, nor becomes so by what the event loop does next."""

    def settled() -> bool:
        if window.settled:
            QApplication.processEvents()
        return window.settled

    QApplication.processEvents()  # paints what has changed, which asks for what is shown
    qtbot.waitUntil(settled, timeout=WAIT)


def previewed(qtbot: QtBot, window: Window, tab: Tab) -> None:
    """Wait until the archive is shown with what is pending."""
    qtbot.waitUntil(lambda: not tab.editing.previewing, timeout=WAIT)
    settle(qtbot, window)


def overwrite(window: Window, tab: Tab, offset: int, typed: str) -> None:
    """Type over bytes in the hex view, in the edit mode."""
    if not tab.editing.overwriting:
        press(window, "edit_bytes")
    view = tab.hex_pane.hex
    view.setFocus()
    view.goTo(offset)
    QTest.keyClicks(view, typed)


def answer(box: QMessageBox, text: str) -> None:
    """Press the button of a box that says this."""
    next(button for button in box.buttons() if button.text() == text).click()


def every_panel(tab: Tab) -> None:
    """Make the panels of a tab that are made when they are first needed, for what is true of all of them."""
    for dock in tab.docks.values():
        if isinstance(dock, LateDock):
            dock.panel()


def press(window: Window, name: str) -> None:
    window.actions_[name].trigger()


def dialog_of(window: Window, kind: type[QDialog]) -> QDialog:
    """The dialog that was opened last."""
    return window.findChildren(kind)[-1]


def save_to(window: Window, place: object) -> None:
    """Say in the dialog that is open where a copy is to be written."""
    dialog = dialog_of(window, SaveToDialog)
    assert isinstance(dialog, SaveToDialog)
    dialog.target.setText(str(place))
    dialog.answer.click()
