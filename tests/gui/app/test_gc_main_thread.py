"""Reference cycles are collected, and only on the GUI thread."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.patience import PATIENCE

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
