"""All user settings, each declared once, in the order of the dialog; and what is stored of them and of the window."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.program.redaction import strip_credentials
from inspector.core.verdict import State
from inspector.gui.kit.theme import Theme
from inspector.sources.web.address import has_query

MAX_RECENT = 12
"""The most recent locations that are stored."""

T = TypeVar("T")


class SettingsPage(StrEnum):
    """A page of the settings dialog."""

    GENERAL = "General"
    BYTES = "Bytes"
    S3 = "S3"


@dataclass(frozen=True, slots=True)
class Setting(ABC, Generic[T]):
    """One setting; ``label`` and ``tip`` describe it in the dialog, on ``page``."""

    key: str
    page: SettingsPage
    default: T
    label: str
    tip: str

    @abstractmethod
    def read(self, stored: str) -> T:
        """The value of a stored text; the default if the text is not valid."""

    def text(self, value: T) -> str:
        """The text that stores a value."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag(Setting[bool]):
    """A setting that is on or off."""

    def read(self, stored: str) -> bool:
        return {"yes": True, "no": False}.get(stored, self.default)

    def text(self, value: bool) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True, slots=True)
class Number(Setting[int]):
    """An integer from ``least`` to ``most`` inclusive; ``special``, if set, is the label of ``least``."""

    least: int
    most: int
    unit: str = ""
    special: str = ""

    def read(self, stored: str) -> int:
        try:
            number = int(stored)
        except ValueError:
            return self.default
        return number if self.least <= number <= self.most else self.default


@dataclass(frozen=True, slots=True)
class Choice(Setting[str]):
    """One of several values; ``labels`` maps each to its label, in the order of the menu."""

    labels: dict[str, str]

    def read(self, stored: str) -> str:
        return stored if stored in self.labels else self.default

    def label_of(self, value: str) -> str:
        """The label of a value."""
        return self.labels[value]


@dataclass(frozen=True, slots=True)
class Text(Setting[str]):
    """A line of text; ``hint`` is its placeholder."""

    hint: str = ""

    def read(self, stored: str) -> str:
        return stored or self.default


@dataclass(frozen=True, slots=True)
class Address(Text):
    """The address of a server, stored without credentials."""

    def text(self, value: str) -> str:
        return strip_credentials(value.strip())


@dataclass(frozen=True, slots=True)
class FontFamily(Text):
    """The name of a monospaced font."""


THEME = Choice(
    "theme",
    SettingsPage.GENERAL,
    Theme.SYSTEM.value,
    "Colours",
    "The colours of the window",
    {
        Theme.SYSTEM.value: "As the system",
        Theme.LIGHT.value: "Light",
        Theme.DARK.value: "Dark",
        Theme.CONTRAST_LIGHT.value: "High contrast on white",
        Theme.CONTRAST_DARK.value: "High contrast on black",
    },
)
BYTES_PER_ROW = Choice(
    "bytes_per_row",
    SettingsPage.BYTES,
    "0",
    "Bytes per row",
    "The number of bytes in a row of the hex view",
    {"0": "As many as fit", "8": "8", "16": "16", "32": "32", "64": "64"},
)
OFFSETS = Choice(
    "offsets",
    SettingsPage.BYTES,
    "16",
    "Offsets",
    "The number base of the offsets beside the rows",
    {"16": "Hexadecimal", "10": "Decimal"},
)
ARROWS = Flag(
    "arrows",
    SettingsPage.BYTES,
    True,
    "Show reference arrows",
    "Draw arrows from references, such as an index or a hash, to the bytes they point to",
)
COLOUR_BY = Choice(
    "colour_by",
    SettingsPage.BYTES,
    "structure",
    "Colour by",
    "What the colours of the bytes tell apart",
    {
        "structure": "Structure",
        "field kind": "Field kind",
        "verdict": "Verdict",
        "member": "Member",
        "entropy": "Entropy",
    },
)
BANDS = Flag(
    "bands",
    SettingsPage.BYTES,
    False,
    "Show byte bands",
    "Show beside the map what the bytes look like: zeros, text, compressed or random, and their entropy",
)
FONT = FontFamily(
    "font",
    SettingsPage.BYTES,
    "",
    "Font",
    "The font of the bytes",
    "The system's fixed font",
)
FONT_SIZE = Number(
    "font_size",
    SettingsPage.BYTES,
    0,
    "Size",
    "The font size of the bytes; zooming adds to it",
    0,
    48,
    "pt",
    "As the system",
)
ZOOM = Number("zoom", SettingsPage.BYTES, 0, "Zoom", "Points added to the font size of the bytes by the wheel", -6, 24)
PROFILE = Text(
    "s3_profile",
    SettingsPage.S3,
    "",
    "Profile",
    "The AWS profile for buckets that were not opened before; keys stay in the AWS configuration",
    "From the environment",
)
REGION = Text(
    "s3_region",
    SettingsPage.S3,
    "",
    "Region",
    "The region for buckets that were not opened before",
    "From the profile",
)
ENDPOINT = Address(
    "s3_endpoint",
    SettingsPage.S3,
    "",
    "Endpoint",
    "The server for buckets that were not opened before",
    "Amazon S3",
)
ALL: tuple[Setting[Any], ...] = (  # but ZOOM, which has keys of its own
    *(THEME, BYTES_PER_ROW, OFFSETS, ARROWS, BANDS, COLOUR_BY, FONT, FONT_SIZE),
    *(PROFILE, REGION, ENDPOINT),
)


class Settings(QObject):
    """A typed view of the stored settings.

    Signals:
        changed(str): the value of the setting with this key has changed.
    """

    changed = Signal(str)

    def __init__(self, store: QSettings | None = None) -> None:
        super().__init__()
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "archive-inspector", "window"
        )

    def get(self, setting: Setting[T]) -> T:
        """The value of a setting."""
        return setting.read(self.text(setting.key))

    def put(self, setting: Setting[T], value: T) -> None:
        """Set a value and emit ``changed`` if it differs. Defaults are not stored, so that they can change later."""
        value = setting.read(setting.text(value))
        if value == self.get(setting):
            return
        if value == setting.default:
            self._store.remove(setting.key)
        else:
            self.set_text(setting.key, setting.text(value))
        self.changed.emit(setting.key)

    @property
    def theme(self) -> Theme:
        """The theme of the window."""
        return Theme(self.get(THEME))

    # ---- remembered state --------------------------------------------------------------------------------------

    @property
    def recent(self) -> dict[str, State | None]:
        """Recently opened locations, the latest first, and the states they had when they were last open."""
        try:
            stored: Any = json.loads(self.text("recent") or "{}")
        except (ValueError, RecursionError):
            return {}
        states = {state.value: state for state in State}
        return {each: states.get(str(state)) for each, state in stored.items()} if isinstance(stored, dict) else {}

    def _keep(self, recent: Mapping[str, State | None]) -> None:
        self.set_text("recent", json.dumps(dict(islice(recent.items(), MAX_RECENT))))

    def add_recent(self, location: str) -> None:
        """Move a location to the top of the recent ones, unless it has a query, which is not kept."""
        if not has_query(location):
            before = self.recent
            self._keep({location: before.pop(location, None), **before})

    def set_recent_state(self, location: str, state: State | None) -> None:
        """Remember the state of a recent location; None leaves what is known."""
        recent = self.recent
        if state is not None and recent.get(location, state) is not state:
            self._keep({**recent, location: state})

    def clear_recent(self) -> None:
        """Forget the recent locations."""
        self._store.remove("recent")

    def text(self, name: str) -> str:
        """The text stored under a name; empty by default."""
        return str(self._store.value(name, ""))

    def set_text(self, name: str, text: str) -> None:
        """Store a text under a name."""
        self._store.setValue(name, text)

    def state(self, name: str) -> QByteArray:
        """The widget state stored under a name; empty by default."""
        stored: Any = self._store.value(name)
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def set_state(self, name: str, state: QByteArray) -> None:
        """Store a widget's state under a name."""
        self._store.setValue(name, state)


class ChoiceMenu(QMenu):
    """A menu of the values of a setting, the current each checked."""

    def __init__(self, title: str, setting: Choice, settings: Settings, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._setting = setting
        self._settings = settings
        group = QActionGroup(self)
        self._by_value: dict[str, QAction] = {}
        for value in setting.labels:
            action = self.addAction(setting.label_of(value))
            action.setCheckable(True)
            action.triggered.connect(partial(self._choose, value))
            group.addAction(action)
            self._by_value[value] = action
        self.aboutToShow.connect(self._mark)
        self._mark()

    def _choose(self, value: str, _: bool = False) -> None:
        self._settings.put(self._setting, value)

    def _mark(self) -> None:
        self._by_value[self._settings.get(self._setting)].setChecked(True)
