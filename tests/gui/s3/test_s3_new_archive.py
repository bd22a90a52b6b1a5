"""Archives that the window makes on S3: how the bucket is reached, what is sent, and what failures leave."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.panels.s3_connection import ConnectDialog
from inspector.gui.tabs.new_archive import NewArchiveTab
from inspector.operations.protocol.create_views import ArchiveKind
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import WAIT, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store
from tests.gui.tabs.create_helpers import new_archive, tree
from tests.s3.conftest import BUCKET
from tests.s3.proxy import Fault, Forward, Reply, Seen, refuse, silence, silent
from tests.s3.writing.writing import MEBI, content, unfinished
from tests.sweeping import in_the_sweep

__all__ = ["tree"]

HERE = f"s3://{BUCKET}/new-window"


def keys(store: Store, name: str) -> list[str]:
    found = store.client.list_objects_v2(Bucket=BUCKET, Prefix=f"new-window/{name}")
    return [each["Key"] for each in found.get("Contents", ())]


def begun(window: Window, qtbot: QtBot, store: Store, kind: ArchiveKind, target: str, tree: Path) -> NewArchiveTab:
    """A tab that is about to make an archive in a bucket that was reached before."""
    window.archives.connections.remember(target, store.connection)
    tab = new_archive(window, qtbot, kind, tree)
    tab.target.setText(target)
    settle(qtbot, window)
    return tab


def create(window: Window, qtbot: QtBot, tab: NewArchiveTab) -> str:
    """Press Create and give what is said in the end."""
    tab.begin.click()
    settle(qtbot, window)
    return tab.message.text.text()


def large(tmp_path: Path) -> Path:
    folder = tmp_path / "large"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.bin").write_bytes(bytes([number]) * (9 * MEBI))
    return folder


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ArchiveKind.CAF, "n.caf"),
        in_the_sweep(ArchiveKind.RCA, "n.rca"),
        in_the_sweep(ArchiveKind.TACO, "n.tacozip"),
    ],
)
def test_an_archive_is_made_there_and_opened(
    window: Window, qtbot: QtBot, store: Store, tree: Path, kind: ArchiveKind, name: str
) -> None:
    tab = begun(window, qtbot, store, kind, f"{HERE}/{name}", tree)
    assert tab.s3_target.isVisible()
    assert store.proxy.url in tab.s3_target.text.text()
    assert store.proxy.log == [], "nothing is asked before it is to be made"

    said = create(window, qtbot, tab)

    assert f"Created {HERE}/{name}: 2 members" in said
    assert store.open(f"{HERE}/{name}").kept_crc32() is not None
    tab.message.button.click()
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert opened.document.status.stage is Stage.READY
    assert opened.document.location == f"{HERE}/{name}"


def what_is_no_place_for_an_archive_is_said_while_it_is_typed(window: Window, qtbot: QtBot, tab: NewArchiveTab) -> None:
    said = {"s3://": "names no bucket", f"s3://{BUCKET}": "is a prefix", f"s3://{BUCKET}/a/": "is a prefix"}
    for target, sentence in said.items():
        tab.target.setText(target)
        settle(qtbot, window)
        assert sentence in tab.sentence.text()
        assert not tab.begin.isEnabled()
        tab.target.setText("/tmp/here.caf")
        settle(qtbot, window)
        assert tab.begin.isEnabled()


def how_a_new_bucket_is_reached_is_asked_first(window: Window, qtbot: QtBot, store: Store, tab: NewArchiveTab) -> None:
    assert not tab.s3_target.isVisible()
    tab.target.setText(f"{HERE}/asked.caf")
    settle(qtbot, window)
    assert "This bucket is new" in tab.s3_target.text.text()
    tab.begin.click()
    tab.findChildren(ConnectDialog)[-1].reject()
    settle(qtbot, window)
    assert keys(store, "asked") == [], "refusing to say makes nothing"
    assert tab.begin.isEnabled()

    tab.begin.click()
    dialog = tab.findChildren(ConnectDialog)[-1]
    assert keys(store, "asked") == []
    dialog.form.endpoint.setEditText(store.proxy.url)
    dialog.answer.click()
    qtbot.waitUntil(lambda: bool(keys(store, "asked")), timeout=WAIT)
    settle(qtbot, window)
    assert "Created" in tab.message.text.text()
    assert window.archives.connections.of(f"{HERE}/x").endpoint == store.proxy.url
    assert tab.s3_target.is_settled


def what_is_there_is_replaced_only_where_that_is_ticked(
    window: Window, qtbot: QtBot, store: Store, tab: NewArchiveTab
) -> None:
    store.put("new-window/there.caf", b"mine")
    tab.target.setText(f"{HERE}/there.caf")
    settle(qtbot, window)
    said = create(window, qtbot, tab)
    assert "is there already" in said
    assert "(Replace existing files)" in said
    assert content(store, "new-window/there.caf") == b"mine"
    tab.overwrite.setChecked(True)
    assert "Created" in create(window, qtbot, tab)
    assert content(store, "new-window/there.caf") != b"mine"


def an_address_can_be_pasted(window: Window, qtbot: QtBot, store: Store, tab: NewArchiveTab) -> None:
    QGuiApplication.clipboard().setText(f" s3://me:secret@{BUCKET}/new-window/pasted.caf ")
    tab.target.clear()
    tab.target.paste()
    tab.s3_target.follow(f"{HERE}/pasted.caf")
    settle(qtbot, window)
    create(window, qtbot, tab)
    assert keys(store, "pasted") == ["new-window/pasted.caf"]
    assert "secret" not in tab.message.text.text()


def a_bucket_that_is_not_there_is_a_sentence(window: Window, qtbot: QtBot, store: Store, tab: NewArchiveTab) -> None:
    target = "s3://no-such-bucket/x.caf"
    window.archives.connections.remember(target, store.connection)
    tab.target.setText(target)
    settle(qtbot, window)
    said = create(window, qtbot, tab)
    assert "There is no bucket no-such-bucket" in said
    assert "(File > Open Location)" in said


def test_how_a_bucket_is_reached_is_asked_once_and_what_is_there_is_replaced_where_that_is_ticked(
    window: Window, qtbot: QtBot, store: Store, tree: Path
) -> None:
    tab = new_archive(window, qtbot, ArchiveKind.CAF, tree)
    what_is_no_place_for_an_archive_is_said_while_it_is_typed(window, qtbot, tab)
    how_a_new_bucket_is_reached_is_asked_first(window, qtbot, store, tab)
    what_is_there_is_replaced_only_where_that_is_ticked(window, qtbot, store, tab)
    an_address_can_be_pasted(window, qtbot, store, tab)
    a_bucket_that_is_not_there_is_a_sentence(window, qtbot, store, tab)


@pytest.mark.sweep
def test_a_dataset_is_packed_beneath_a_prefix(window: Window, qtbot: QtBot, store: Store, tree: Path) -> None:
    tab = begun(window, qtbot, store, ArchiveKind.DATAS3T, f"{HERE}/packed", tree)
    tab.options.pages[ArchiveKind.DATAS3T].dataset.setText("weather")
    tab.options.pages[ArchiveKind.DATAS3T].numbering.setChecked(True)
    settle(qtbot, window)
    create(window, qtbot, tab)
    assert len(keys(store, "packed/dataset/weather/datapoints/")) == 2
    tab.message.button.click()
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert opened.document.status.members == 2


@pytest.mark.parametrize(
    "fault", [silent, *map(in_the_sweep, (refuse(403, "AccessDenied"), refuse(500, "InternalError"), refuse(503)))]
)
def test_cancelling_aborts_the_upload_and_a_failure_is_a_sentence_and_leaves_nothing(
    window: Window, qtbot: QtBot, store: Store, tmp_path: Path, fault: Fault
) -> None:
    tab = begun(window, qtbot, store, ArchiveKind.CAF, f"{HERE}/failing.caf", large(tmp_path))
    reached, gate = Event(), Event()
    with store.proxy.failing(silence(reached, gate, lambda seen: seen.method == "PUT")):
        tab.begin.click()
        qtbot.waitUntil(reached.is_set, timeout=WAIT)
        assert unfinished(store) == ["new-window/failing.caf"]
        tab.stop.click()
        gate.set()
        settle(qtbot, window)
    assert "was cancelled" in tab.message.text.text()
    assert keys(store, "failing") == []
    assert unfinished(store) == []
    assert tab.begin.isEnabled()

    def failing(seen: Seen, forward: Forward) -> Reply:
        return fault(seen, forward) if seen.method == "PUT" else forward()

    with store.proxy.failing(failing):
        said = create(window, qtbot, tab)
    assert f"{HERE}/failing.caf" in said
    assert "--" not in said
    assert keys(store, "failing") == []
    assert unfinished(store) == []
    assert "Created" in create(window, qtbot, tab), "and it can be tried again"
    store.client.delete_object(Bucket=BUCKET, Key="new-window/failing.caf")
