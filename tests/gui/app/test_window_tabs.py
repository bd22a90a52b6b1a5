"""Opening, closing and remembering: the window around its documents."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import Scheme
from inspector.gui.app.window import Window
from inspector.gui.document.document import Document
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings
from inspector.gui.panels.members import MembersPanel
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import WAIT, NoProcesses, Show, press, settle
from tests.patience import PATIENCE

Sample = Callable[[str], Path]


def test_dropped_files_and_pasted_paths_open_each_once_and_closing_a_tab_ends_its_worker(
    show: Show, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    QGuiApplication.clipboard().setText("just some words")
    press(window, "paste_locations")
    assert window.message.isVisible()
    assert not window.tabs.all()

    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(sample(name))) for name in ("journey.caf", "plain.zip")])
    place, action = QPointF(10, 10), Qt.DropAction.CopyAction
    event = QDropEvent(place, action, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    window.dropEvent(event)
    assert event.isAccepted()
    settle(qtbot, window)
    assert [window.tabs.tabText(at) for at in range(window.tabs.count())] == ["journey.caf", "plain.zip"]
    window.tabs.setCurrentIndex(0)
    settle(qtbot, window)
    assert [tab.document.name for tab in window.tabs.all()] == ["journey.caf", "plain.zip"]
    assert all(tab.document.status.stage is Stage.READY for tab in window.tabs.all())
    first = window.tab()
    assert first is not None

    QGuiApplication.clipboard().setText(f"'{sample('journey.caf')}'\n{sample('plain.tar').as_uri()}\n")
    press(window, "paste_locations")
    settle(qtbot, window)
    texts = ["journey.caf", "plain.zip", "plain.tar"]
    assert [window.tabs.tabText(at) for at in range(window.tabs.count())] == texts
    assert show("journey.caf") is first
    assert window.tabs.count() == 3

    for _ in range(2):
        window.tabs.tabCloseRequested.emit(1)
    link = first.document.client.link
    process = link.process
    assert process is not None
    assert process.is_alive()
    press(window, "close_tab")
    assert window.tabs.count() == 0
    assert window.start_page.isVisible()
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)


def test_a_worker_that_cannot_start_or_dies_is_said_and_the_location_can_be_opened_again(
    window: Window, qtbot: QtBot, sample: Sample, no_processes: NoProcesses
) -> None:
    with no_processes():
        window.open_location(str(sample("journey.caf")))
        settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    assert tab.document.status.stage is Stage.FAILED
    assert tab.banner.message.text.text() == (
        "No process could be started to read this location: Cannot allocate memory. Close other programs and try again."
    )
    assert tab.banner.message.button.text() == "Retry"
    assert not window.help.kept
    tab.banner.message.button.click()
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert fresh is not tab
    assert fresh.document.status.stage is Stage.READY

    process = fresh.document.client.link.process
    assert process is not None
    with qtbot.waitSignal(fresh.document.lost, timeout=WAIT):
        process.kill()
    assert "ended unexpectedly" in fresh.banner.message.text.text()
    fresh.banner.message.button.click()
    settle(qtbot, window)
    last = window.tab()
    assert last is not None
    assert last is not fresh
    assert last.document.status.stage is Stage.READY


def test_arranging_again_leaves_one_bar_of_tabs(show: Show, window: Window) -> None:
    tabs = [show("two-chunks.rca"), show("flipped-blob-byte.rca")]
    tabs[1].docks["Digests"].raise_()
    press(window, "previous_tab")
    tabs[0].reset_arrangement()
    press(window, "next_tab")
    # No turn of the event loop: what is left over would be painted before it goes.
    for tab in tabs:
        assert [bar.count() for bar in tab.area.findChildren(QTabBar)] == [2]


def test_a_damaged_archive_without_members_says_what_may_help(
    opened: Callable[[str | Path], Document], qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.rca"
    broken.write_bytes(sample("two-chunks.rca").read_bytes()[:16])
    damaged, empty = MembersPanel(opened(broken)), MembersPanel(opened("empty.rca"))
    qtbot.addWidget(damaged)
    qtbot.addWidget(empty)
    assert "damaged before the first" in damaged.stack.shown_sentence()
    assert "Repair" in damaged.stack.shown_sentence()
    assert empty.stack.shown_sentence() == "The archive has no members."


def test_missing_unknown_and_empty_files_are_sentences_and_reloading_sees_what_changed(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    missing = show(tmp_path / "missing.rca")
    assert "missing.rca" in missing.banner.state.text()
    assert missing.members.stack.shown_sentence() == "Nothing could be opened."

    unknown = tmp_path / "<b>bold & bad<"  # a name is never rich text
    unknown.write_bytes(b"0123456789")
    tab = show(unknown)
    assert "plain bytes" in tab.banner.sentence.text()
    assert tab.members.stack.shown_sentence() == "These bytes have no members."
    assert window.tabs.tabText(1) == "<b>bold && bad<"
    assert "&lt;b&gt;" in window.tabs.tabToolTip(1)
    assert tab.banner.state.textFormat() is Qt.TextFormat.PlainText

    tab.document.go_to_expression("5")
    settle(qtbot, window)
    unknown.write_bytes(b"0123456789 and more")
    press(window, "reload")
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert (fresh.document.size, fresh.hex_pane.hex.caret()) == (19, 5)

    empty = tmp_path / "empty"
    empty.touch()
    assert show(empty).byte.title.text() == "There are no bytes."


def test_looks_are_remembered(show: Show, window: Window, settings: Settings) -> None:
    tab = show("journey.caf")
    settings.put(preferences.BYTES_PER_ROW, "8")
    window.appearance.zoom_by(1)
    settings.put(preferences.THEME, Scheme.DARK.value)
    tab.docks["Findings"].hide()
    window.close()
    assert settings.get(preferences.BYTES_PER_ROW) == "8"
    assert settings.theme is Scheme.DARK
    again = Window(settings)
    again.open_location(tab.document.location)
    fresh = again.tab()
    assert fresh is not None
    assert again.menus.rows.actions()[1].isChecked()
    assert fresh.docks["Findings"].isHidden()
    assert not fresh.docks["Members"].isHidden()
    again.close()


def test_the_first_paint_waits_for_little(tmp_path: Path) -> None:
    import subprocess

    code = """
import sys
from PySide6.QtCore import QSettings
from inspector.drawing.palette import Scheme
from inspector.gui.kit import theme
from inspector.gui.app.app import application
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings
from inspector.gui.app.window import Window
app = application()
theme.apply(app, Scheme.LIGHT)
window = Window(Settings(QSettings(sys.argv[1], QSettings.Format.IniFormat)))
window.show()
late = ("inspector.gui.app.tab", "inspector.gui.app.command_palette", "inspector.gui.tabs.audit_tab")
late += ("inspector.operations", "fractions", "multiprocessing")
print([name for name in late if name in sys.modules], window.start_page.sample_entries)
while not window.start_page.sample_entries:
    app.processEvents()
window.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "settings.ini")],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout.strip() == "[] []"
