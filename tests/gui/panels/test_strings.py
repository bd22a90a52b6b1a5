"""The Strings panel: what it finds in which encodings, where rows lead, and what it says without any."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.strings import FIELD, MEMBER, STRING, StringsPanel
from inspector.operations.protocol.bytes_views import Encoding
from inspector.operations.session import looks
from tests.gui.conftest import Show, press, settle


def searched(tab: Tab, window: Window, qtbot: QtBot) -> StringsPanel:
    """The panel after a search."""
    press(window, "show_strings")
    found(tab.strings, window, qtbot)
    return tab.strings


def found(panel: StringsPanel, window: Window, qtbot: QtBot) -> list[str]:
    """The strings listed when the search has ended."""
    qtbot.waitUntil(lambda: panel.result is not None and not panel._delay.isActive())
    settle(qtbot, window)
    return [str(panel.model.index(row, STRING).data()) for row in range(panel.model.rowCount())]


def test_strings_of_the_file_and_of_the_content_shown_name_their_places_and_select_their_bytes(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    panel = searched(tab, window, qtbot)
    panel.filter.setText("tile_0001")
    panel.result = None
    texts = found(panel, window, qtbot)

    assert texts
    assert all("tile_0001" in text for text in texts)
    index = panel.model.index(0, STRING)
    assert panel.model.index(0, MEMBER).data().endswith("tile_0001.png")
    assert "file name" in panel.model.index(0, FIELD).data()
    caret = tab.document.selection.caret
    panel.table.setCurrentIndex(index)
    settle(qtbot, window)
    assert tab.document.selection.caret == caret  # opening the panel moves nothing
    panel.table.activated.emit(index)
    settle(qtbot, window)
    row = panel.model.row(index)
    assert tab.document.selection.spans == (Span(row.text.start, row.text.stop),)
    panel.table.copy_all()
    assert panel.about.text().endswith("strings.")

    panel.filter.clear()
    panel.result = None
    tab.document.open_content(3)
    settle(qtbot, window)
    assert found(panel, window, qtbot)
    assert panel.model.index(0, MEMBER).data() == "COLLECTION.json"


@pytest.mark.sweep
def test_encodings_and_lengths_are_chosen(tmp_path: Path, show: Show, window: Window, qtbot: QtBot) -> None:
    path = tmp_path / "wide.bin"
    path.write_bytes(b"\xff\x01short\xff" + "Größe und mehr".encode("utf-16-le") + b"\xff\xff")
    tab = show(path)
    panel = searched(tab, window, qtbot)
    assert panel.empty_sentence() == "No string matches."

    panel.result = None
    panel.minimum.setValue(5)
    assert found(panel, window, qtbot) == ["short"]
    panel.result = None
    panel.encodings[Encoding.UTF16LE].setChecked(True)
    assert found(panel, window, qtbot) == ["short", "Größe und mehr"]


def test_very_many_strings_are_kept_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.core.program.progress import Progress
    from inspector.operations.session.archive_session import ArchiveSession

    monkeypatch.setattr(looks, "MAX_STRINGS", 5_000)
    path = tmp_path / "many.bin"
    path.write_bytes(b"string\0" * (looks.MAX_STRINGS + 1))
    session = ArchiveSession(str(path))
    session.decode(Progress())
    result = session.find_strings(Progress(), 0, (Encoding.ASCII,), 4, "")

    assert (result.count, result.complete) == (looks.MAX_STRINGS, False)
    assert session.string_rows(looks.MAX_STRINGS - 1, 10).rows[0].text.start == 7 * (looks.MAX_STRINGS - 1)
