"""The connection last used for each bucket, remembered without secrets."""

from __future__ import annotations

import json
from typing import Any

from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Addressing, Connection

SETTING = "connections"
"""The setting that stores them: a JSON list of objects, latest first."""
MAX_BUCKETS = 50
_TYPES = {name: type(getattr(DEFAULT, name)) for name in Connection._fields}


class Connections:
    """The last connection of each bucket: profile, region and endpoint names, never keys."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, location: str) -> Connection:
        """The last connection of a location's bucket; the preferred one for a new bucket, DEFAULT for a local path."""
        bucket = bucket_of(location)
        return next((found for name, found in self._entries() if name == bucket), self.usual()) if bucket else DEFAULT

    def usual(self) -> Connection:
        """The connection that the preferences set for new buckets."""
        get = self._settings.get
        return Connection(get(preferences.PROFILE), get(preferences.REGION), get(preferences.ENDPOINT))

    def known(self, location: str) -> Connection:
        """The last connection of a bucket, else the preferred one, else the latest of any bucket."""
        found = self.of(location)
        return found if found != DEFAULT or self.has(location) else self.latest()

    def has(self, location: str) -> bool:
        """Whether a connection of the location's bucket is remembered."""
        bucket = bucket_of(location)
        return any(name == bucket for name, _ in self._entries())

    def latest(self) -> Connection:
        """The connection used last, of any bucket."""
        return next((found for _, found in self._entries()), self.usual())

    def endpoints(self) -> list[str]:
        """The endpoints used so far, latest first."""
        return list(dict.fromkeys(found.endpoint for _, found in self._entries() if found.endpoint))

    def at(self, endpoint: str) -> Connection:
        """The last connection of an endpoint; one with the endpoint alone if it is new."""
        every = (found for _, found in self._entries() if found.endpoint == endpoint)
        return next(every, Connection(endpoint=endpoint))

    def remember(self, location: str, connection: Connection) -> None:
        """Use this connection for the location's bucket from now on."""
        bucket = bucket_of(location)
        if not bucket:
            return
        clean = connection._replace(endpoint=strip_credentials(connection.endpoint))
        others = [(name, found) for name, found in self._entries() if name != bucket]
        stored = [{"bucket": name, **found._asdict()} for name, found in [(bucket, clean), *others][:MAX_BUCKETS]]
        self._settings.set_text(SETTING, json.dumps(stored))

    def _entries(self) -> list[tuple[str, Connection]]:
        try:
            stored: Any = json.loads(self._settings.text(SETTING) or "[]")
        except ValueError:
            return []
        entries = stored if isinstance(stored, list) else []
        return [(str(each.get("bucket", "")), _connection(each)) for each in entries if isinstance(each, dict)]


def _connection(stored: dict[str, Any]) -> Connection:
    """A connection from a stored object; values of the wrong type are ignored."""
    known = {name: stored[name] for name, kind in _TYPES.items() if isinstance(stored.get(name), kind)}
    if known.get("addressing") not in tuple(Addressing):
        known.pop("addressing", None)
    return Connection(**known)


def bucket_of(location: str) -> str:
    """The bucket of an address on S3; empty where there is none."""
    try:
        return parse(location).bucket if is_s3(location) else ""
    except SourceError:
        return ""
