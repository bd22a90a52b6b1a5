"""What a program shows, as a screen reader is told: names, roles and states of what is on the screen (AT-SPI).

The program is asked over the bus of accessibility that every Linux desktop has; nothing in it is there for tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from tests.patience import PATIENCE

ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
ACCESSIBLE = "org.a11y.atspi.Accessible"
SHOWING = 25
"""The number of the state in the specification of AT-SPI, as those below."""
ENABLED = 8
FOCUSED = 12
FAR = -400
"""Pixels beside the screen where nobody puts a window."""
LISTS = ("table", "tree", "tree table")
"""Roles with a child for each cell, of which there may be millions."""


@dataclass(frozen=True)
class Part:
    """Something that is shown: a button, a label, a window; its name and its role when it was looked at."""

    bus: Bus
    place: tuple[str, str]
    name: str
    role: str

    def is_in(self, state: int) -> bool:
        """Whether it is in a state, SHOWING for example; what has gone is in none."""
        with suppress(GoneError):
            low, high = self.bus.call(self.place, ACCESSIBLE, "GetState")
            return bool((high << 32 | low) >> state & 1)
        return False

    def children(self) -> list[Part]:
        """What it is made of, without what has gone while it was looked at."""
        return self.bus.parts(self.place)

    def text(self) -> str:
        """What is written in it."""
        return str(self.bus.call(self.place, "org.a11y.atspi.Text", "GetText", "ii", (0, -1)))

    def box(self) -> tuple[int, int, int, int]:
        """Where it is on the screen: x, y, width, height in pixels."""
        x, y, width, height = self.bus.call(self.place, "org.a11y.atspi.Component", "GetExtents", "u", (0,))
        return x, y, width, height

    def shown(self) -> Iterator[Part]:
        """It and all in it that is on the screen, from the outside in; of lists only the list."""
        yield self
        if self.role in LISTS:
            return
        for child in self.children():
            if child.is_in(SHOWING) and not child.is_behind():
                yield from child.shown()

    def is_behind(self) -> bool:
        """Whether it is a dock behind others, which Qt hides by moving it off the screen."""
        with suppress(GoneError):
            return self.role == "panel" and self.box()[0] < FAR
        return True


class Bus:
    """The bus of accessibility of a desktop."""

    def __init__(self, session: str) -> None:
        with open_dbus_connection(session) as desktop:
            asked = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
            address = desktop.send_and_get_reply(asked, timeout=PATIENCE).body[0]
        self._connection: DBusConnection = open_dbus_connection(address)

    def close(self) -> None:
        """Leave the bus."""
        self._connection.close()

    def parts(self, place: tuple[str, str]) -> list[Part]:
        """What is in a place, without what has gone while it was looked at."""
        found = []
        with suppress(GoneError):
            for name, path in self.call(place, ACCESSIBLE, "GetChildren"):
                with suppress(GoneError):
                    called = self.get((name, path), ACCESSIBLE, "Name")
                    found.append(Part(self, (name, path), called, self.call((name, path), ACCESSIBLE, "GetRoleName")))
        return found

    def call(self, place: tuple[str, str], interface: str, method: str, types: str = "", values: tuple = ()) -> Any:
        """Call a method of what is at a place.

        Raises:
            GoneError: there is nothing, or not any more.
        """
        asked = new_method_call(DBusAddress(place[1], place[0], interface), method, types or None, values)
        return _single(self._reply(asked))

    def get(self, place: tuple[str, str], interface: str, name: str) -> Any:
        """The value of a property of what is at a place.

        Raises:
            GoneError: there is nothing, or not any more.
        """
        return self._reply(Properties(DBusAddress(place[1], place[0], interface)).get(name))[0][1]

    def _reply(self, asked: Any) -> Any:
        try:
            return unwrap_msg(self._connection.send_and_get_reply(asked, timeout=PATIENCE))
        except (DBusErrorResponse, TimeoutError) as error:
            raise GoneError(str(error)) from error

    def windows(self, process: int) -> list[Part]:
        """The windows and dialogs that a process shows."""
        daemon = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        found = []
        for program in self.parts(ROOT):
            asked = new_method_call(daemon, "GetConnectionUnixProcessID", "s", (program.place[0],))
            with suppress(GoneError):
                if self._reply(asked)[0] == process:
                    found += [window for window in program.children() if window.is_in(SHOWING)]
        return found


class GoneError(LookupError):
    """What was asked for is not there any more."""


def _single(body: tuple[Any, ...]) -> Any:
    return body[0] if len(body) == 1 else body
