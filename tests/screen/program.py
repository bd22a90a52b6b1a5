"""The program on a screen: started like any other, moved by keys and the pointer, read as a screen reader does."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.patience import PATIENCE, until
from tests.screen.accessible import ENABLED, Bus, Part
from tests.screen.display import Display

TITLE = "Archive Inspector"


class Program:
    """One start of the program."""

    def __init__(self, display: Display, bus: Bus, process: subprocess.Popen[bytes]) -> None:
        self.display = display
        self.bus = bus
        self.process = process
        self.window = 0

    def appear(self, title: str = TITLE) -> int:
        """Wait until a window with this in its title has the keyboard, and give its number."""

        def look() -> int:
            assert self.process.poll() is None, "it has ended"
            active = self.display.active()
            found = self._own() & set(self.display.windows(title))
            return active if active in found else 0

        found = until(look, lambda: f"a window {title!r} among {self.display.windows()}")
        self.window = self.window or found
        return found

    def close(self) -> None:
        """Close its window, as the window manager does."""
        self.display.close(self.window)

    def _own(self) -> set[int]:
        mine = f"= {self.process.pid}"
        return {
            each
            for each in self.display.windows()
            if self.display.property("-id", str(each), "_NET_WM_PID").endswith(mine)
        }

    @property
    def title(self) -> str:
        """What the main window is called."""
        return self.display.title(self.window)

    def parts(self) -> list[Part]:
        """All that its windows show, from the outside in; dialogs, which came later, are before the main window."""
        return [part for window in reversed(self.bus.windows(self.process.pid)) for part in window.shown()]

    def texts(self) -> list[str]:
        """The names of all that its windows show."""
        return [part.name for part in self.parts() if part.name]

    def find(self, role: str, name: str) -> Part | None:
        """What is shown with this role, where any is given, and this in its name."""
        return next((part for part in self.parts() if role in ("", part.role) and name in part.name), None)

    def part(self, role: str, name: str) -> Part:
        """Wait for what is to be shown with this role, where any is given, and this in its name."""
        return until(lambda: self.find(role, name), lambda: f"{role} {name!r} among {self.texts()}")

    def enabled(self, role: str, name: str) -> Part:
        """Wait for what is to be shown with this role and exactly this name, and can be used."""

        def look() -> Part | None:
            found = (part for part in self.parts() if (part.role, part.name) == (role, name))
            return next((part for part in found if part.is_in(ENABLED)), None)

        return until(look, lambda: f"{role} {name!r} that is enabled among {self.texts()}")

    def says(self, text: str) -> None:
        """Wait until this is a part of something that is shown."""
        self.part("", text)

    def tabs(self) -> list[str]:
        """The names in the tabs of the main window, without the states that follow them once they are known."""
        bars = [part for part in self.parts() if part.role == "page tab list"]
        return [tab.name.split(" · ")[0] for tab in bars[-1].children() if tab.role == "page tab"] if bars else []

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other, where the keyboard is."""
        self.display.xdotool("key", "--clearmodifiers", *keys)

    def write(self, text: str) -> None:
        """Type a text."""
        self.display.xdotool("type", "--delay", "4", text)

    def click(self, part: Part) -> None:
        """Click the middle of something."""
        x, y, width, height = part.box()
        self.display.xdotool("mousemove", "--sync", x + width // 2, y + height // 2, "click", 1)

    def ended(self) -> int:
        """Wait until it has ended; its exit status."""
        return self.process.wait(timeout=PATIENCE)

    def end(self) -> None:
        """End it whatever it does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)


MODULE = (sys.executable, "-m", "inspector")


def start(
    display: Display,
    bus: Bus,
    arguments: Sequence[object],
    environment: dict[str, str],
    log: Path,
    command: Sequence[str] = MODULE,
) -> Program:
    """Start the program; what it says goes to ``log``."""
    with log.open("ab") as said:
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            env={**display.environment, **environment},
            stdout=said,
            stderr=said,
        )
    return Program(display, bus, process)
