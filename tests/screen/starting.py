"""How a built program starts on a screen: ``python -m tests.screen.starting PROGRAM LOCATION...``.

It opens all locations, which have to become tabs that show them, and says how long it takes to the first window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from tests.patience import until
from tests.screen.accessible import Bus
from tests.screen.display import Display, display
from tests.screen.program import Program, start

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


def starts(screen: Display, begin: Callable[..., Program]) -> float:
    """Seconds from its start until its window is on the screen."""
    began = monotonic()
    running = begin()
    try:
        until(lambda: screen.windows("Archive Inspector"), screen.windows)
        return monotonic() - began
    finally:
        running.end()
        until(lambda: not screen.windows(), screen.windows)


if __name__ == "__main__":
    main(*sys.argv[1:])
