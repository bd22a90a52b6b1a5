"""The open tabs of a window, stored in a file so that the next start can reopen them. Holds no secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QLockFile, QSaveFile, Qt

from inspector.core.numbers import count
from inspector.gui.kit.locations import name_of

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.document.document import Document
    from inspector.operations.protocol.views import ContentInfo


MAX_WINDOWS = 16
"""The most windows at a time whose sessions are stored."""
MAX_TABS = 50
MAX_PLACES_CHARS = 1 << 17
"""The most characters of one tab's places; a tab with more is left out of the session."""
_MAX_FILE_BYTES = MAX_TABS * MAX_PLACES_CHARS
_MAX_NAMES = 3
"""The most tabs that a session's description names."""
SIDES = {
    "audit": "Audit",
    "browser": "Browse S3",
    "compare": "Compare",
    "draft": "New Archive",
}
"""The titles of tabs without a document, by their kind in a session."""


class OpenTab(NamedTuple):
    """One tab: its location, caret and selection.

    ``start`` and ``stop`` are the selected bytes, half-open, equal for none; ``member`` is the member whose content was
    shown, -1 for none; ``stamp`` identifies the version of the archive, empty if unknown. ``side`` is the kind of a
    tab without a document, a key of ``SIDES``; empty for a document. Only a tab without a document may lack a location;
    ``places`` are the locations in it, and ``said`` the texts of its fields, as pairs of name and text.
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
        """The title of the tab."""
        return SIDES[self.side] if self.side in SIDES else name_of(self.location)

    @property
    def fits(self) -> bool:
        """Whether the tab is small enough for a session."""
        return sum(map(len, self.places)) <= MAX_PLACES_CHARS


Sides = dict[str, Callable[[OpenTab], object]]
"""Functions that reopen tabs without a document, by their key in ``SIDES``."""


class Session(NamedTuple):
    """The tabs from left to right, and the index of the one shown. ``ended``: the program ended normally."""

    tabs: tuple[OpenTab, ...] = ()
    current: int = 0
    ended: bool = True

    @property
    def words(self) -> str:
        """A description: the number of tabs and the first names."""
        names = [tab.name for tab in self.tabs[:_MAX_NAMES]]
        more = [f"{len(self.tabs) - _MAX_NAMES} more"] if len(self.tabs) > _MAX_NAMES else []
        tabs = count(len(self.tabs), "tab")
        return f"{tabs}: {', '.join(names + more)}"


NO_SESSION = Session()


def _as_object(session: Session) -> dict[str, object]:
    return session._asdict() | {"tabs": [tab._asdict() for tab in session.tabs]}


def to_json(session: Session) -> bytes:
    """A session as JSON."""
    # Names that are not UTF-8 contain surrogates, which JSON escapes.
    return json.dumps(_as_object(session)).encode("ascii")


def from_json(stored: bytes) -> Session:
    """The session in stored JSON, without its invalid tabs; an empty one if all of it is invalid."""
    try:
        found: Any = json.loads(stored)
    except (ValueError, RecursionError):
        return NO_SESSION
    match found:
        case {"tabs": list(tabs), "current": int(current), "ended": bool(ended)}:
            known = tuple(tab for each in tabs[:MAX_TABS] if (tab := _tab(each)) is not None)
            return Session(known, min(max(0, current), max(0, len(known) - 1)), ended)
        case _:
            return NO_SESSION


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
            side = str(stored.get("side", ""))  # earlier versions stored none of these
            side = "audit" if side == "check" else side  # which was a tab of its own
            places, said = _places(stored.get("places")), _field_texts(stored.get("said"))
            tab = OpenTab(location, layer, start, stop, member, stamp, side, places, said)
            return tab if location or side else None
        case _:
            return None


def _places(stored: Any) -> tuple[str, ...]:
    return tuple(each for each in stored if isinstance(each, str)) if isinstance(stored, list) else ()


def _field_texts(stored: Any) -> tuple[tuple[str, str], ...]:
    pairs = stored if isinstance(stored, list) else []
    return tuple((name, text) for each in pairs for name, text in [_pair(each)] if name)


def _pair(stored: Any) -> tuple[str, str]:
    match stored:
        case [str(name), str(text)]:
            return name, text
        case _:
            return "", ""


class SessionFiles:
    """A folder with one session file per window. Each file is locked while its window is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: QLockFile | None = None
        self._own: Path | None = None

    def take(self) -> Session:
        """Take a free file for this window, and return the latest session that belongs to no open window."""
        free = self._free()
        latest = max(free, key=_recency, default=None)
        return from_json(_stored(latest)) if latest is not None else NO_SESSION

    def _free(self) -> list[Path]:
        """The files of no open window; the first of them becomes this window's own."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return []
        free = []
        for number in range(MAX_WINDOWS):
            path = self._folder / f"session-{number}.json"
            if self._own is not None and not path.exists():
                continue
            lock = QLockFile(f"{path}.lock")
            lock.setStaleLockTime(0)  # never by age; the lock of a process that has ended is ignored anyway
            if not lock.tryLock(0):
                continue
            free.append(path)
            if self._own is None:
                self._own, self._lock = path, lock
            else:
                lock.unlock()
        return free

    def store(self, session: Session) -> None:
        """Store this window's session; if that fails, the next start offers none."""
        if self._own is None:
            return
        file = QSaveFile(str(self._own))
        if file.open(QSaveFile.OpenModeFlag.WriteOnly):
            file.write(to_json(session))
            file.commit()

    def release(self) -> None:
        """Release the file, with its session, to other windows."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock = self._own = None


def _recency(path: Path) -> tuple[bool, int]:
    """A sort key: the latest session is the largest; one without tabs is less than all others."""
    try:
        return bool(from_json(_stored(path)).tabs), path.stat().st_mtime_ns
    except OSError:
        return False, 0


def _stored(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError:
        return b""


ARCHIVE_CHANGED = "This archive has changed since the last session; the caret may be at different bytes."


def restore_position(document: Document, saved: OpenTab) -> None:
    """Restore the caret and selection of a tab: the caret at once, the rest when the archive has been read."""
    if saved.layer == 0:
        document.first_caret = saved.start
    document.when_ready(partial(_restore_selection, document, saved))


def _restore_selection(document: Document, saved: OpenTab) -> None:
    stamp = document.status.stamp
    if saved.stamp and stamp and stamp != saved.stamp:
        document.reported.emit(ARCHIVE_CHANGED)
    elif document.selection.caret not in (0, document.first_caret):
        return  # the user has moved on
    elif saved.member >= 0:
        _restore_content(document, saved)
    elif saved.layer or saved.stop > saved.start:
        document.go_to(saved.layer, saved.start, saved.stop, "session")


def _restore_content(document: Document, saved: OpenTab) -> None:
    if saved.member < document.status.members:

        def select(content: ContentInfo) -> None:
            document.go_to(content.layer.layer, saved.start, saved.stop, "session")

        document.contentReady.connect(select, Qt.ConnectionType.SingleShotConnection)
        document.open_content(saved.member)
