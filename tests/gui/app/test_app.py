"""The program from outside: a picture of the window without a screen, and its reference cycles."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.__main__ import main
from inspector.gui.app import app
from inspector.gui.app.window import Window
from tests.gui.conftest import WAIT
from tests.patience import PATIENCE
from tests.sweeping import in_the_sweep

Sample = Callable[[str], Path]


def run(root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inspector", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)


def test_a_screenshot_shows_the_window(root: Path, sample: Sample, tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    done = run(root, "--screenshot", out, sample("two-entries.tacozip"), sample("journey.caf"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    picture = QImage(str(out))
    assert (picture.width(), picture.height()) == (1280, 800)
    colours = {picture.pixelColor(x, 240).name() for x in range(0, 1280, 4)}
    assert len(colours) > 4
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


@pytest.mark.usefixtures("qapp")
def test_a_screenshot_of_what_is_missing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.png"
    assert main(["--screenshot", str(out), str(tmp_path / "missing.caf")]) == 2
    assert "missing.caf does not exist" in capsys.readouterr().err
    assert not QImage(str(out)).isNull()


@pytest.mark.sweep
def test_a_screenshot_that_cannot_be_written_says_so(root: Path, sample: Sample, tmp_path: Path) -> None:
    done = run(root, "--screenshot", tmp_path / "no" / "folder.png", sample("journey.caf"))
    assert done.returncode == 2
    assert "could not be written" in done.stderr


def test_modules_are_loaded_one_in_a_turn_of_the_loop(window: Window, qtbot: QtBot) -> None:
    turns: list[int] = []
    done: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: turns.append(1))
    timer.start(0)
    app.import_one_by_one(iter(app.TAB_MODULES), window, lambda: done.append(len(turns)))
    assert not done
    qtbot.waitUntil(lambda: bool(done), timeout=WAIT)
    assert done[0] > 1
    assert set(app.TAB_MODULES) <= set(sys.modules)


STARTS = """
import os, sys
from inspector.gui.app import app
from inspector.gui.ipc import instance, worker

class Later:
    def is_first(self):
        return False

    def hand_over(self, locations):
        print("handed over", *locations)
        return True

class Seen:
    def find_spec(self, name, *_):
        if name == "inspector.gui.app.window":
            print("window")

instance.current_instance = {"first": lambda: None, "later": Later}[sys.argv[1]]
worker.warm_up = lambda: print("fork server")
sys.meta_path.insert(0, Seen())
app.Application.exec = lambda self: 0
sys.stdout.reconfigure(line_buffering=True)
app.run(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("start", "locations", "done"),
    [
        ("first", ["a.caf"], ["fork server", "window"]),
        in_the_sweep("first", [], ["window"]),
        ("later", ["a.caf"], ["handed over a.caf"]),
    ],
)
def test_a_start_begins_with_what_takes_longest(
    root: Path, tmp_path: Path, start: str, locations: list[str], done: list[str]
) -> None:
    command = [sys.executable, "-c", STARTS, start, *locations]
    own = os.environ | {"XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=root, env=own, check=False)
    assert (ran.stdout.splitlines(), ran.returncode) == (done, 0), ran.stderr


# ---- reference cycles ------------------------------------------------------------------------------------------------


STORY = """
import gc, sys, threading
from PySide6.QtCore import QObject, Qt, QTimer
from inspector.gui.app.app import application

def make_much():
    first, second, third = gc.get_threshold()
    kept = [[number] for number in range(2 * (first + 1) * (second + 1) * (third + 1))]

gone = []
application = application()
knot = QObject()
child = QObject(knot)
child.destroyed.connect(lambda: gone.append(threading.get_ident()), Qt.ConnectionType.DirectConnection)
knot.itself = knot
del knot, child
other = threading.Thread(target=make_much)
other.start()
other.join()
assert gone == [], "another thread has taken it apart"
kept = []

def look():
    kept.extend([number] for number in range(2_000))
    if gone:
        application.quit()

timer = QTimer()
timer.timeout.connect(look)
timer.start(0)
application.exec()
assert gone == [threading.get_ident()]
"""


def test_what_holds_itself_goes_in_the_thread_of_the_event_loop(root: Path) -> None:
    command = [sys.executable, "-c", STORY]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def test_what_the_program_is_made_of_is_not_looked_through_again(qapp: QApplication) -> None:
    assert gc.get_freeze_count() > 10_000
    assert not any(each is type(qapp) for each in gc.get_objects())
