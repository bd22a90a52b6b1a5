"""One open location: what follows what is selected, what a failure says, how work is stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import Tab
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import ContentInfo, LayerKind, SortKey, Stage
from tests.gui.conftest import WAIT

Open = Callable[[str | Path], Document]


def settle(qtbot: QtBot, document: Document) -> None:
    qtbot.waitUntil(lambda: document.settled, timeout=WAIT)


def test_opening_decodes_and_selects_the_first_byte(opened: Open) -> None:
    document = opened("journey.caf")
    assert document.status.stage is Stage.READY
    assert document.status.members == 8
    assert document.selection.caret == 0
    assert document.explanation is not None
    assert document.selection.field == document.explanation.fields[-1].path


def test_the_bytes_shown_are_asked_for_once_for_a_state(
    monkeypatch: pytest.MonkeyPatch, show: Callable[[str], Tab]
) -> None:
    asked: list[tuple[Any, ...]] = []
    ask = Client.ask

    def noted(client: Client[ArchiveRequests], request: Callable[..., Any], *args: Any) -> Any:
        if request is ArchiveRequests.runs:
            asked.append((client.parent().status.generation, *args))
        return ask(client, request, *args)

    monkeypatch.setattr(Client, "ask", noted)
    show("journey.caf")
    assert asked
    assert len(asked) == len(set(asked))


def test_a_member_selects_its_bytes_and_field(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    document.select_member(1, "members")
    settle(qtbot, document)
    selection = document.selection
    assert selection.member == 1
    assert selection.spans
    assert selection.caret == selection.spans[0].start > 0
    assert document.explanation is not None
    assert document.explanation.fields[-1].path == selection.field


def test_a_byte_selects_its_field_and_member(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    document.select_member(2, "members")
    settle(qtbot, document)
    place = document.selection
    document.select_byte(0, document.size - 1, "hex")
    settle(qtbot, document)
    assert document.selection.member is None
    assert document.selection.spans == (Span(document.size - 4, document.size),)
    document.select_byte(0, place.caret, "hex")
    settle(qtbot, document)
    assert (document.selection.member, document.selection.field) == (2, place.field)


def test_a_field_that_has_children_stays_the_selected_one(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    assert document.explanation is not None
    outer = document.explanation.fields[0]
    document.select_field(0, outer, "structure")
    settle(qtbot, document)
    assert document.selection.field == outer.path
    assert document.selection.spans == outer.spans


def test_only_the_last_of_many_bytes_is_explained(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    answers = []
    document.explained.connect(answers.append)
    for offset in range(50):
        document.select_byte(0, offset, "hex")
    settle(qtbot, document)
    assert [answer.offset for answer in answers] == [49]


def test_going_to_an_expression_and_back(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    document.go_to_expression("end-4")
    settle(qtbot, document)
    assert document.selection.caret == document.size - 4
    document.go_to_expression("0x10")
    settle(qtbot, document)
    document.step_history(-1)
    assert document.selection.caret == document.size - 4
    document.step_history(-1)
    assert document.selection.caret == 0
    assert not document.history.can_undo
    document.step_history(1)
    assert document.selection.caret == document.size - 4


def test_going_to_a_place_selects_bytes_only_where_it_has_a_size(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    document.go_to_expression("footer")
    settle(qtbot, document)
    assert (document.selection.caret, document.selection.length) == (document.size - 4, 4)
    document.go_to_expression("1")
    settle(qtbot, document)
    assert document.selection.length == 0
    assert document.selection.spans


def test_an_expression_that_leads_nowhere_says_why(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    with qtbot.waitSignal(document.reported, timeout=WAIT) as said:
        document.go_to_expression("no such field")
    assert said.args is not None
    assert "no such field" in said.args[0]
    assert document.selection.caret == 0


def test_finding_goes_on_from_what_was_found(opened: Open, qtbot: QtBot, sample: Callable[[str], Path]) -> None:
    document = opened("journey.caf")
    data = sample("journey.caf").read_bytes()
    first = data.index(b"start_byte")
    second = data.index(b"start_byte", first + 1)
    for backwards, expected in ((False, first), (False, second), (True, first)):
        document.find(b"START_byte", backwards, ignore_case=True)
        settle(qtbot, document)
        assert document.selection.spans == (Span(expected, expected + 10),)
    with qtbot.waitSignal(document.reported, timeout=WAIT) as said:
        document.find(b"START_byte")
    assert said.args is not None
    assert "Not found" in said.args[0]


def test_filtering_and_sorting_arrange_the_members(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    pages = []
    document.arrange("", SortKey.SIZE, True)
    settle(qtbot, document)
    document.client.ask(ArchiveRequests.member_rows, 0, 100).then(pages.append)
    settle(qtbot, document)
    sizes = [row.size for row in pages[0].rows]
    assert sizes == sorted(sizes, reverse=True)
    name = pages[0].rows[0].name
    document.arrange(name, SortKey.ARCHIVE, False)
    settle(qtbot, document)
    document.client.ask(ArchiveRequests.member_rows, 0, 100).then(pages.append)
    settle(qtbot, document)
    assert [row.name for row in pages[1].rows] == [name]


def test_layers_keep_their_carets(opened: Open, qtbot: QtBot) -> None:
    document = opened("two-chunks.rca")
    inner = next(info for info in document.layers if info.kind is LayerKind.INNER)
    document.select_byte(0, 100, "hex")
    settle(qtbot, document)
    document.show_layer(inner.layer)
    settle(qtbot, document)
    assert (document.layer, document.size) == (inner.layer, inner.size)
    assert document.explanation is not None
    assert document.explanation.layer == inner.layer
    document.show_layer(0)
    assert document.selection.caret == 100


def test_a_layer_that_is_not_listed_yet_is_gone_to(opened: Open, qtbot: QtBot) -> None:
    document = opened("two-chunks.rca")
    inner = next(info for info in document.layers if info.kind is LayerKind.INNER)
    document.take_layers(document.layers[:1])  # as they are while the archive is decoded
    document.go_to(inner.layer, 40, 44)
    settle(qtbot, document)
    assert (document.layer, document.selection.caret) == (inner.layer, 40)
    document.go_to(99, 0, 1)
    settle(qtbot, document)
    assert document.layer == inner.layer


def test_content_is_a_layer_of_its_own(opened: Open, qtbot: QtBot) -> None:
    document = opened("two-chunks.rca")
    with qtbot.waitSignal(document.contentReady, timeout=WAIT) as ready:
        document.open_content(1)
    assert ready.args is not None
    content = ready.args[0]
    assert isinstance(content, ContentInfo)
    settle(qtbot, document)
    assert document.layer == content.layer.layer
    assert document.selection.member == 1
    document.select_member(2, "members")
    settle(qtbot, document)
    shown = document.layer_info(document.layer)
    assert shown is not None
    assert shown.member == 2


def test_what_is_missing_is_said(opened: Open, tmp_path: Path) -> None:
    document = opened(tmp_path / "missing.caf")
    assert document.status.stage is Stage.FAILED
    assert "missing.caf" in document.status.sentence


def test_unknown_bytes_open_as_bytes(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"nothing that is known")
    document = opened(path)
    assert document.status.format == "bytes"
    assert "plain bytes" in document.status.sentence
    assert document.status.members == 0


def test_an_empty_file_opens(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    document = opened(path)
    assert document.status.stage is Stage.READY
    assert document.size == 0


def test_cancelled_decoding_keeps_what_was_read(qtbot: QtBot, big_tar: Path) -> None:
    document = Document(str(big_tar))
    qtbot.waitUntil(lambda: document.status.stage is Stage.DECODING, timeout=WAIT)
    document.cancel_jobs()
    qtbot.waitUntil(lambda: document.settled, timeout=WAIT)
    assert document.status.stage is Stage.CANCELLED
    assert document.selection.caret == 0
    document.close()


def test_a_worker_that_dies_is_reported(opened: Open, qtbot: QtBot) -> None:
    document = opened("journey.caf")
    process = document.client.link.process
    assert process is not None
    with qtbot.waitSignal(document.lost, timeout=WAIT) as lost:
        process.kill()
    assert lost.args is not None
    assert "ended unexpectedly" in lost.args[0]
    assert document.status.members == 8
    document.select_byte(0, 5, "hex")
    assert document.settled


@pytest.fixture
def big_tar(tmp_path: Path) -> Path:
    """A tar of so many members that decoding it takes a while: one header block, very often."""
    import tarfile

    header = tarfile.TarInfo("member").tobuf(tarfile.USTAR_FORMAT)
    path = tmp_path / "many.tar"
    with path.open("wb") as file:
        for _ in range(200):
            file.write(header * 4_000)
    return path
