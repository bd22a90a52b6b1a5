"""Locations on this machine as paths."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from inspector.core.names import visible
from inspector.core.source import MissingError, SourceError
from inspector.sources.local.disk_calls import unusable
from inspector.sources.web.address import is_remote


def local_path(location: str) -> Path:
    """The local path that a location names: a path or a ``file://`` URL.

    Raises SourceError for anything else, and if nothing is there.
    """
    path = _from_url(location) if "://" in location else Path(location).expanduser()
    try:
        there = path.exists()
        leads_nowhere = not there and path.is_symlink()
    except (OSError, ValueError) as error:  # a name too long, or with a NUL
        raise SourceError(unusable(location, error)) from error
    if leads_nowhere:
        raise MissingError(f"{visible(location)} is a symbolic link whose target does not exist.")
    if not there:
        raise MissingError(f"{visible(location)} does not exist.")
    return path


def _from_url(location: str) -> Path:
    try:
        url = urlsplit(location)
    except ValueError as error:
        raise SourceError(f"{visible(location)} is not a valid address: {error}.") from error
    if not (url.scheme.lower() == "file" or is_remote(location)):
        raise SourceError(
            f"{visible(location)} cannot be read: nothing is read from {visible(url.scheme)}:// addresses. Give a "
            "path, or an address that begins with s3:// or https://."
        )
    if url.scheme.lower() != "file" or url.netloc not in ("", "localhost"):
        raise SourceError(f"{visible(location)} is not on this machine; a local file or folder is needed here.")
    return Path(unquote(url.path))
