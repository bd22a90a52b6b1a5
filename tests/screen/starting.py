"""How an installed program is started and fed on a screen: ``python -m tests.screen.starting PROGRAM LOCATION...``.

All locations become tabs that show them; one is dropped on an empty window by another program; one is opened by
``xdg-open`` after ``--install-desktop``. It says how long it takes to the first window.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from tests.patience import PATIENCE, until
from tests.screen.accessible import Bus
from tests.screen.display import Display, display
from tests.screen.dragging import source
from tests.screen.program import TITLE, Program, start

TIMES = 5


def main(program: str, *locations: str) -> None:
    """Start it with all locations, and then some times with none.

    Raises:
        AssertionError: a tab or a window does not come.
    """
    # What is built must not find this checkout.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    on_screen = {"QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    with ExitStack() as stack:
        screen = stack.enter_context(display({**environment, **on_screen}))
        bus = stack.enter_context(closing(Bus(screen.environment["DBUS_SESSION_BUS_ADDRESS"])))
        home = stack.enter_context(TemporaryDirectory())
        own = {"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": f"{home}/config"}

        def begin(*arguments: str) -> Program:
            return start(screen, bus, arguments, own, Path(home, "said.txt"), [program])

        opens(begin, locations)
        file = next(location for location in locations if Path(location).is_file())
        is_dropped(screen, begin, file)
        is_double_clicked(screen, {**screen.environment, **own, "XDG_DATA_HOME": f"{home}/data"}, program, file)
        times = [starts(screen, begin) for _ in range(TIMES)]
        print(f"{program}: {median(times):.2f} s from its start to its window")


def opens(begin: Callable[..., Program], locations: tuple[str, ...]) -> None:
    """All locations become tabs, and the last one is shown."""
    names = [Path(location).name for location in locations]
    running = begin(*locations)
    try:
        running.appear()
        until(lambda: running.tabs() == names and running.find("label", " bytes)"), running.texts)
    finally:
        running.end()


def is_dropped(screen: Display, begin: Callable[..., Program], location: str) -> None:
    """What another program drags onto an empty window becomes a tab."""
    running = begin()
    try:
        running.appear()
        running.says("Drop files or a folder here")
        with source(screen, "uris", location) as other:
            other.drop_on(running.part("frame", ""))
            until(lambda: running.tabs() == [Path(location).name], running.texts)
    finally:
        running.end()


def is_double_clicked(screen: Display, user: dict[str, str], program: str, location: str) -> None:
    """What a desktop asks for an archive starts the program with it, once that is installed for the user."""
    subprocess.run([program, "--install-desktop"], env=user, check=True, capture_output=True, timeout=PATIENCE)
    with subprocess.Popen(["xdg-open", location], env={**user, "XDG_CURRENT_DESKTOP": ""}) as asked:
        until(lambda: screen.windows(f"{Path(location).name} – {TITLE}"), screen.windows)
        for window in screen.windows(TITLE):
            screen.close(window)
        until(lambda: not screen.windows(), screen.windows)
        asked.terminate()
    subprocess.run([program, "--uninstall-desktop"], env=user, check=True, capture_output=True, timeout=PATIENCE)


def starts(screen: Display, begin: Callable[..., Program]) -> float:
    """Seconds from its start until its window is on the screen."""
    began = monotonic()
    running = begin()
    try:
        until(lambda: screen.windows(TITLE), screen.windows)
        return monotonic() - began
    finally:
        running.end()
        until(lambda: not screen.windows(), screen.windows)


if __name__ == "__main__":
    main(*sys.argv[1:])
