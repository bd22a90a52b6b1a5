"""All user settings, each declared once, in the order of the dialog; and what is stored of them and of the window."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from inspector.core.program.redaction import strip_credentials
from inspector.core.verdict import State
from inspector.drawing.colouring import ColourBy
from inspector.drawing.palette import Scheme
from inspector.sources.web.address import has_query

MAX_RECENT = 12
"""The most recent locations that are stored."""

T = TypeVar("T")


class SettingsPage(StrEnum):
    """A page of the settings dialog."""

    GENERAL = "General"
    BYTES = "Bytes"
    S3 = "S3"


class Setting(NamedTuple, Generic[T]):
    """One setting; ``label`` and ``tip`` describe it in the dialog, on ``page``.

    A choice has ``labels`` of its values, in the order of the menu; a flag or a number has its ``values``; a text may
    be any. ``empty`` is shown for no text and the least number, ``unit`` after a number. ``text`` is what is stored.
    """

    key: str
    page: SettingsPage
    default: T
    label: str
    tip: str
    labels: Mapping[str, str] = {}
    values: Sequence[T] = ()
    empty: str = ""
    unit: str = ""
    text: Callable[[T], str] = str

    def read(self, stored: str) -> T:
        """The value of a stored text; the default if the text is not valid."""
        valid: Collection[Any] = self.values or self.labels or (stored,)
        return next((each for each in valid if self.text(each) == stored), self.default)


_FLAG = ("no", "yes").__getitem__
THEME = Setting(
    "theme",
    SettingsPage.GENERAL,
    "system",
    "Colours",
    "The colours of the window",
    {
        "system": "As the system",
        Scheme.LIGHT.value: "Light",
        Scheme.DARK.value: "Dark",
        Scheme.CONTRAST_LIGHT.value: "High contrast on white",
        Scheme.CONTRAST_DARK.value: "High contrast on black",
    },
)
BYTES_PER_ROW = Setting(
    "bytes_per_row",
    SettingsPage.BYTES,
    "0",
    "Bytes per row",
    "The number of bytes in a row of the hex view",
    {"0": "As many as fit", "8": "8", "16": "16", "32": "32", "64": "64"},
)
OFFSETS = Setting(
    "offsets",
    SettingsPage.BYTES,
    "16",
    "Offsets",
    "The number base of the offsets beside the rows",
    {"16": "Hexadecimal", "10": "Decimal"},
)
ARROWS = Setting(
    "arrows",
    SettingsPage.BYTES,
    True,
    "Show reference arrows",
    "Draw arrows from references, such as an index or a hash, to the bytes they point to",
    values=(False, True),
    text=_FLAG,
)
COLOUR_BY = Setting(
    "colour_by",
    SettingsPage.BYTES,
    "structure",
    "Colour by",
    "What the colours of the bytes tell apart",
    {each.value: each.value.capitalize() for each in ColourBy},
)
BANDS = Setting(
    "bands",
    SettingsPage.BYTES,
    False,
    "Show byte bands",
    "Show beside the map what the bytes look like: zeros, text, compressed or random, and their entropy",
    values=(False, True),
    text=_FLAG,
)
FONT = Setting("font", SettingsPage.BYTES, "", "Font", "The font of the bytes", empty="System font")
FONT_SIZE = Setting(
    "font_size",
    SettingsPage.BYTES,
    0,
    "Size",
    "The font size of the bytes; zooming adds to it",
    values=range(49),
    empty="As the system",
    unit="pt",
)
ZOOM = Setting(
    "zoom",
    SettingsPage.BYTES,
    0,
    "Zoom",
    "Points added to the font size of the bytes by the wheel",
    values=range(-6, 25),
)
PROFILE = Setting(
    "s3_profile",
    SettingsPage.S3,
    "",
    "Profile",
    "The AWS profile for buckets that were not opened before; keys stay in the AWS configuration",
    empty="From the environment",
)
REGION = Setting(
    "s3_region",
    SettingsPage.S3,
    "",
    "Region",
    "The region for buckets that were not opened before",
    empty="From the profile",
)
ENDPOINT = Setting(
    "s3_endpoint",
    SettingsPage.S3,
    "",
    "Endpoint",
    "The server for buckets that were not opened before",
    empty="Amazon S3",
    text=lambda address: strip_credentials(address.strip()),
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
    def theme(self) -> Scheme | None:
        """The theme of the window; None for that of the system."""
        return next((each for each in Scheme if each == self.get(THEME)), None)

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
