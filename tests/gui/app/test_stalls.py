"""The stall meter says how long the event loop did not turn, and what it did meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.help import stalls
from inspector.gui.app.help.stalls import Stall, StallMeter
from inspector.gui.app.window import Window
from inspector.gui.kit.settings import Settings


@pytest.fixture
def found() -> list[Stall]:
    return []


@pytest.fixture
def meter(qtbot: QtBot, found: list[Stall]) -> Iterator[StallMeter]:  # noqa: ARG001 - an application
    made = StallMeter(found.append)
    yield made
    made.stop()


def blocking_until_seen(meter: StallMeter) -> None:
    """Block the event loop until the meter has looked at the stack."""
    seen = threading.Event()
    while not meter._stack:
        seen.wait(0.001)


def test_a_stall_is_reported_with_the_stack_of_what_blocks(meter: StallMeter, found: list[Stall]) -> None:
    blocking_until_seen(meter)
    meter._tick()
    assert found[-1].seconds > stalls.LIMIT_S
    assert found[-1].computing < found[-1].seconds
    assert "blocking_until_seen" in found[-1].stack
    assert "did not answer" in found[-1].text()


def test_what_a_frame_holds_is_let_go_in_its_own_thread(meter: StallMeter) -> None:
    threads: list[int] = []

    class Held:
        def __del__(self) -> None:
            threads.append(threading.get_ident())

    def hold() -> None:
        held = Held()
        blocking_until_seen(meter)
        assert held is not None

    hold()
    meter._tick()
    assert threads == [threading.get_ident()]


def test_an_event_loop_that_turns_is_no_stall(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, meter: StallMeter, found: list[Stall]
) -> None:
    monkeypatch.setattr(stalls, "LIMIT_S", float("inf"))
    ticks: list[None] = []
    meter._timer.timeout.connect(lambda: ticks.append(None))
    qtbot.waitUntil(lambda: len(ticks) > 3)
    assert not found


def test_the_environment_turns_it_on(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    window = Window(settings)
    qtbot.addWidget(window)
    monkeypatch.delenv(stalls.VARIABLE, raising=False)
    assert stalls.watch_if_wanted(window) is None
    monkeypatch.setenv(stalls.VARIABLE, "1")
    meter = stalls.watch_if_wanted(window)
    assert meter is not None
    blocking_until_seen(meter)
    meter.stop()
    assert "blocking_until_seen" in capsys.readouterr().err
