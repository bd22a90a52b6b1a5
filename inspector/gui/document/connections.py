"""How each bucket was reached last, remembered without anything secret."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

from inspector.core.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection

STORED = "connections"
"""The setting that is a list of objects in JSON, the latest first."""
MOST = 50
"""The most buckets that are remembered."""
_TYPES = {field.name: type(field.default) for field in fields(Connection)}


class Connections:
    """The connections by bucket; profile, region and endpoint are names, keys never come here."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, location: str) -> Connection:
        """How the bucket of a location was reached last; as is set for one that is new, DEFAULT where there is none."""
        bucket = _bucket(location)
        return next((found for name, found in self._entries() if name == bucket), self.usual()) if bucket else DEFAULT

    def usual(self) -> Connection:
        """What is set for buckets that are new."""
        get = self._settings.get
        return Connection(get(preferences.PROFILE), get(preferences.REGION), get(preferences.ENDPOINT))

    def known(self, location: str) -> Connection:
        """How a bucket was reached last, or else what is set, or else any bucket: most people have one server."""
        found = self.of(location)
        return found if found != DEFAULT or self.has(location) else self.latest()

    def has(self, location: str) -> bool:
        """Whether the bucket of a location was reached before."""
        bucket = _bucket(location)
        return any(name == bucket for name, _ in self._entries())

    def latest(self) -> Connection:
        """How any bucket was reached last."""
        return next((found for _, found in self._entries()), self.usual())

    def endpoints(self) -> list[str]:
        """The endpoints that were used, the latest first."""
        return list(dict.fromkeys(found.endpoint for _, found in self._entries() if found.endpoint))

    def at(self, endpoint: str) -> Connection:
        """How an endpoint was reached last; by its name alone where it is new."""
        every = (found for _, found in self._entries() if found.endpoint == endpoint)
        return next(every, Connection(endpoint=endpoint))

    def remember(self, location: str, connection: Connection) -> None:
        """Reach the bucket of a location in this way from now on."""
        bucket = _bucket(location)
        if not bucket:
            return
        clean = replace(connection, endpoint=strip_credentials(connection.endpoint))
        others = [(name, found) for name, found in self._entries() if name != bucket]
        stored = [{"bucket": name, **asdict(found)} for name, found in [(bucket, clean), *others][:MOST]]
        self._settings.set_text(STORED, json.dumps(stored))

    def _entries(self) -> list[tuple[str, Connection]]:
        try:
            stored: Any = json.loads(self._settings.text(STORED) or "[]")
        except ValueError:
            return []
        entries = stored if isinstance(stored, list) else []
        return [(str(each.get("bucket", "")), _connection(each)) for each in entries if isinstance(each, dict)]


def _connection(stored: dict[str, Any]) -> Connection:
    """What was stored, as far as it has the types it should have."""
    return Connection(**{name: stored[name] for name, kind in _TYPES.items() if isinstance(stored.get(name), kind)})


def _bucket(location: str) -> str:
    try:
        return parse(location).bucket if is_s3(location) else ""
    except SourceError:
        return ""
