"""What was open in a window: kept in a file of its own, so that it comes back at the next start. Nothing secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile, QSaveFile

from inspector.core.numbers import count
from inspector.gui.kit.locations import name_of

SLOTS = 16
"""Windows at a time whose sessions are kept."""
MOST = 50
"""The most tabs of a session that are opened again."""
ROOM = 1 << 17
"""The most characters of all the places of one tab: a tab with more does not come back, and the others do."""
_LARGEST = MOST * ROOM
"""Bytes of a file that may be a session."""
_NAMED = 3
"""Tabs whose names are told."""
SIDES = {
    "audit": "Audit",
    "browser": "Browse S3",
    "check": "Check",
    "draft": "New Archive",
}
"""What tabs are called that show no document, by what they are in a session."""


@dataclass(frozen=True, slots=True)
class OpenTab:
    """One tab: what was open in it and where the caret was.

    ``start`` and ``stop`` are the selected bytes, half-open, equal for none; ``member`` is whose content was shown, -1
    for none; ``stamp`` tells the state that the archive was in, empty where that is not known. ``side`` says what a tab
    is that shows no document, by a key of ``SIDES``, and is empty for one that does. Only such a tab may be without a
    location; ``places`` are those that it is about, and ``said`` is what its fields said, as pairs of name and text.
    """

    location: str
    layer: int = 0
    start: int = 0
    stop: int = 0
    member: int = -1
    stamp: str = ""
    side: str = ""
    places: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """What the tab is called."""
        return SIDES[self.side] if self.side in SIDES else name_of(self.location)

    @property
    def fits(self) -> bool:
        """Whether there is room for it in a session."""
        return sum(map(len, self.places)) <= ROOM


Sides = dict[str, Callable[[OpenTab], object]]
"""What shows a tab again that shows no document, by its key in ``SIDES``."""


@dataclass(frozen=True, slots=True)
class Session:
    """The tabs from the left, and which was shown. ``ended`` is whether the program came to its end as it should."""

    tabs: tuple[OpenTab, ...] = ()
    current: int = 0
    ended: bool = True

    @property
    def words(self) -> str:
        """What it would open."""
        names = [tab.name for tab in self.tabs[:_NAMED]]
        more = [f"{len(self.tabs) - _NAMED} more"] if len(self.tabs) > _NAMED else []
        tabs = count(len(self.tabs), "tab")
        return f"{tabs}: {', '.join(names + more)}"


NOTHING = Session()


def written(session: Session) -> bytes:
    """A session as it is kept."""
    # A name that is no UTF-8 has surrogates in it, which JSON writes as escapes.
    return json.dumps(asdict(session)).encode("ascii")


def read(stored: bytes) -> Session:
    """The session that was kept; what is none in it is left out."""
    try:
        found: Any = json.loads(stored)
    except (ValueError, RecursionError):
        return NOTHING
    match found:
        case {"tabs": list(tabs), "current": int(current), "ended": bool(ended)}:
            known = tuple(tab for each in tabs[:MOST] if (tab := _tab(each)) is not None)
            return Session(known, min(max(0, current), max(0, len(known) - 1)), ended)
        case _:
            return NOTHING


def _tab(stored: Any) -> OpenTab | None:
    match stored:
        case {
            "location": str(location),
            "layer": int(layer),
            "start": int(start),
            "stop": int(stop),
            "member": int(member),
            "stamp": str(stamp),
        } if 0 <= start <= stop and layer >= 0:
            side = str(stored.get("side", ""))  # which, like what follows, earlier versions did not keep
            places, said = _places(stored.get("places")), _said(stored.get("said"))
            made = OpenTab(location, layer, start, stop, member, stamp, side, places, said)
            return made if location or side else None
        case _:
            return None


def _places(stored: Any) -> tuple[str, ...]:
    return tuple(each for each in stored if isinstance(each, str)) if isinstance(stored, list) else ()


def _said(stored: Any) -> tuple[tuple[str, str], ...]:
    pairs = stored if isinstance(stored, list) else []
    return tuple((name, text) for each in pairs for name, text in [_pair(each)] if name)


def _pair(stored: Any) -> tuple[str, str]:
    match stored:
        case [str(name), str(text)]:
            return name, text
        case _:
            return "", ""


class Slots:
    """Files for the sessions of several windows in a folder: each window has one, which is locked while it is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: QLockFile | None = None
        self._own: Path | None = None

    def take(self) -> Session:
        """Take a file that no other window has, and give the latest session that no open window is about."""
        free = self._free()
        latest = max(free, key=_age, default=None)
        return read(_stored(latest)) if latest is not None else NOTHING

    def _free(self) -> list[Path]:
        """The files of no open window; the first of them is this window's own from now on."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return []
        free = []
        for number in range(SLOTS):
            path = self._folder / f"session-{number}.json"
            if self._own is not None and not path.exists():
                continue
            lock = QLockFile(f"{path}.lock")
            lock.setStaleLockTime(0)  # however long it runs; a lock whose process has gone counts for nothing
            if not lock.tryLock(0):
                continue
            free.append(path)
            if self._own is None:
                self._own, self._lock = path, lock
            else:
                lock.unlock()
        return free

    def keep(self, session: Session) -> None:
        """Keep this window's session; where that cannot be done, the next start offers none."""
        if self._own is None:
            return
        file = QSaveFile(str(self._own))
        if file.open(QSaveFile.OpenModeFlag.WriteOnly):
            file.write(written(session))
            file.commit()

    def leave(self) -> None:
        """Let another window have the file, with what is kept in it."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock = self._own = None


def _age(path: Path) -> tuple[bool, int]:
    """Which of several sessions is the latest: the largest. One with nothing in it is never."""
    try:
        return bool(read(_stored(path)).tabs), path.stat().st_mtime_ns
    except OSError:
        return False, 0


def _stored(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""
