"""A screen for all tests here, and the program on it, with a home of its own in each test."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.screen import program
from tests.screen.accessible import Bus
from tests.screen.display import Display, display
from tests.screen.program import Program

Start = Callable[..., Program]
_OUTCOME = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def screen() -> Iterator[Display]:
    with display(
        {**os.environ, "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "PYTHONPATH": str(ROOT)}
    ) as made:
        yield made


@pytest.fixture(scope="session")
def bus(screen: Display) -> Iterator[Bus]:
    made = Bus(screen.environment["DBUS_SESSION_BUS_ADDRESS"])
    yield made
    made.close()


@pytest.fixture
def home() -> Iterator[dict[str, str]]:
    """The environment of a user who has nothing yet; its folder's name is short, for sockets take no long one."""
    with tempfile.TemporaryDirectory(prefix="home-") as folder:
        yield {
            "HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            **{f"XDG_{kind}_HOME": f"{folder}/{kind.lower()}" for kind in ("CONFIG", "CACHE", "DATA", "STATE")},
        }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Keep whether a test has failed, for what follows it."""
    report = yield
    if call.when == "call":
        item.stash[_OUTCOME] = report.failed
    return report


@pytest.fixture
def start(
    screen: Display, bus: Bus, home: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Start]:
    """Start the program with arguments. A picture of the screen and what it said remain of a test that fails."""
    started: list[Program] = []
    log = tmp_path / "said.txt"

    def one(*arguments: object) -> Program:
        started.append(program.start(screen, bus, arguments, home, log))
        return started[-1]

    yield one
    if request.node.stash.get(_OUTCOME, False):
        screen.picture(tmp_path / "screen.png")
        print(f"The screen: {tmp_path / 'screen.png'}\n{log.read_text(encoding='utf-8')}")
    for each in started:
        each.end()
