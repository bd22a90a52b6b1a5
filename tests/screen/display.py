"""A screen of its own for tests: an X server without a monitor, a window manager, and the buses of a desktop."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.patience import PATIENCE, until

SIZE = (1600, 1000)
_GRAB = """
import sys
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
app.primaryScreen().grabWindow(0).save(sys.argv[1])
"""


class Display:
    """A screen and what is on it; ``environment`` is for programs that are to appear there."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def xdotool(self, *arguments: object) -> str:
        """Do something with the keyboard, the pointer or a window, as the X server sees them."""
        done = subprocess.run(
            ["xdotool", *map(str, arguments)], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"xdotool {arguments}: {done.stderr}"
        return done.stdout.strip()

    def windows(self, title: str = "") -> dict[int, str]:
        """The windows that the window manager lists and their titles, those with this title in theirs."""
        listed = self.property("-root", "_NET_CLIENT_LIST").partition("#")[2]
        found = {int(one, 16): self.title(int(one, 16)) for one in listed.split(",") if one.strip()}
        return {window: name for window, name in found.items() if title in name}

    def title(self, window: int) -> str:
        """What a window is called; empty where it has gone."""
        done = self._xprop("-id", str(window), "-notype", "8u", "_NET_WM_NAME")
        return done.partition(" = ")[2].strip().strip('"')

    def close(self, window: int) -> None:
        """Close a window as the window manager does."""
        self.xdotool("windowactivate", "--sync", window, "key", "--clearmodifiers", "alt+F4")

    def active(self) -> int:
        """The window that has the keyboard, 0 for none."""
        shown = self.property("-root", "_NET_ACTIVE_WINDOW").partition("#")[2].strip()
        return int(shown or "0", 16)

    def property(self, *arguments: str) -> str:
        """What xprop says of a window."""
        return self._xprop(*arguments)

    def _xprop(self, *arguments: str) -> str:
        # A window may go between being listed and being asked.
        done = subprocess.run(["xprop", *arguments], env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def picture(self, path: Path) -> None:
        """Save what the whole screen shows as PNG."""
        subprocess.run([sys.executable, "-c", _GRAB, path], env=self.environment, check=False, timeout=PATIENCE)


@contextmanager
def display(environment: Mapping[str, str]) -> Iterator[Display]:
    """Start a screen that no other process uses, and end it afterwards."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="screen-"))
        own = {
            **environment,
            "HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            "XDG_CONFIG_HOME": f"{folder}/config",
            "XDG_CACHE_HOME": f"{folder}/cache",
            "XDG_DATA_HOME": f"{folder}/data",
        }
        own.pop("WAYLAND_DISPLAY", None)
        server = ["Xvfb", "-displayfd", "1", "-screen", "0", "{}x{}x24".format(*SIZE), "-nolisten", "tcp", "-noreset"]
        own["DISPLAY"] = f":{stack.enter_context(_started(server, own))}"
        bus = ["dbus-daemon", "--session", "--nofork", f"--address=unix:dir={folder}", "--print-address=1"]
        own["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(_started(bus, own))
        manager = subprocess.Popen(["openbox", "--sm-disable"], env=own, stderr=subprocess.DEVNULL)
        stack.callback(_end, manager)
        screen = Display(own)
        until(lambda: "window id" in screen.property("-root", "_NET_SUPPORTING_WM_CHECK"), "a window manager")
        yield screen


@contextmanager
def _started(command: list[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Start a server that prints one line when it is ready, and give that line."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=said, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            said.seek(0)
            assert line, f"{command[0]} did not start: {os.fsdecode(said.read())}"
            yield line
        finally:
            _end(process)
            assert process.stdout is not None
            process.stdout.close()


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(timeout=PATIENCE)
