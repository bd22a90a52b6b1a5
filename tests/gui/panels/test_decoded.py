"""The Decoded panel: decoded bytes and stored ones in step, and what it says where there are none."""

from __future__ import annotations

import random
import tarfile
from io import BytesIO
from pathlib import Path

import zstandard
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.decoded import DecodedPanel
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import Show, press, settle

TEXT = " ".join(random.Random(4).choices(("chunk", "segment", "blob", "reset"), k=90_000)).encode()


def decoded(tab: Tab, window: Window, qtbot: QtBot, member: int = 0) -> DecodedPanel:
    """The panel after a member was decoded."""
    tab.document.select_member(member, "members")
    settle(qtbot, window)
    press(window, "show_decoded")
    settle(qtbot, window)
    return tab.decoded


def test_selecting_on_one_side_marks_the_other(tmp_path: Path, show: Show, window: Window, qtbot: QtBot) -> None:
    packed = zstandard.ZstdCompressor().compress(TEXT)
    path = tmp_path / "one.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("words.zst")
        info.size = len(packed)
        archive.addfile(info, BytesIO(packed))
    tab = show(path)
    panel = decoded(tab, window, qtbot)
    info = panel.info
    assert info is not None
    assert info.size == len(TEXT)
    blocks = [piece for piece in info.pieces if piece.label.startswith("zstd block")]
    assert len(blocks) > 3

    panel.hex.goTo(blocks[2].start + 7)
    settle(qtbot, window)
    assert tab.document.selection.spans == blocks[2].stored
    assert panel.about.text().startswith("zstd block 3, compressed: ")
    model = panel.hex.model()
    assert model is not None
    (_, data), *_ = model.bytes_at(blocks[2].start, blocks[2].start + 20)
    assert data == TEXT[blocks[2].start : blocks[2].start + 20]

    tab.document.select_byte(0, blocks[1].stored[0].start + 1, "hex")
    settle(qtbot, window)
    assert panel.hex.caret() == blocks[1].start
    assert tab.document.selection.caret == blocks[1].stored[0].start + 1
    tab.document.select_byte(0, info.pieces[0].stored[0].start, "hex")
    assert panel.about.text().endswith("give no content.")


def test_a_member_that_is_not_compressed_says_so_and_the_one_decoded_last_is_kept(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    panel = decoded(tab, window, qtbot)
    assert "is not compressed: its bytes are its content." in panel.empty_sentence()

    tab.document.select_member(1, "members")
    settle(qtbot, window)
    panel.open()
    first = tab.document._jobs[ArchiveRequests.decode_member]
    tab.document.select_member(2, "members")
    panel.open()
    assert first.cancelled
    settle(qtbot, window)
    assert "is not compressed" in panel.empty_sentence()
