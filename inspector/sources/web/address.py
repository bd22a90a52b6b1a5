"""Addresses on the web, and what stands for those that nobody else may see: a query may be a signature.

A user's address is replaced where it enters the program: ``https://host/a.zip?sig=…`` is ``https://host/a.zip?***``
from then on, in titles, reports, results and everything that is stored. Only this module, in the memory of each
process, knows what that stands for. Light, because the window imports it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from inspector.core.names import visible
from inspector.core.program.redaction import strip_user
from inspector.core.source import SourceError
from inspector.sources.s3.address import is_s3

SCHEMES = ("http://", "https://")
HIDDEN = "?***"
"""Stands for the query of an address."""
_SECTION = re.compile(r"!/@(?:0x[0-9a-fA-F]{1,16}|\d{1,20})(?:-(?:0x[0-9a-fA-F]{1,16}|\d{1,20}))?$")
"""The end of a location that names a part of a file."""
_NUMBER = re.compile(r"#\d+$")
_SAFE = "!#$%&'()+*,/:;=?@[]~"
"""What stands for itself in an address; anything else is written with percent signs."""

_PARTS = re.compile(r"([^:]+://)([^?#]*)(\?[^#]*)?", re.DOTALL)
_USER = "***"
"""Stands for a user before a host."""

_known: dict[str, str] = {}
"""Addresses by what stands for them."""
_lock = Lock()


def is_web(location: str) -> bool:
    """Whether a location starts with ``http://`` or ``https://``."""
    return location[:8].lower().startswith(SCHEMES)


def is_remote(location: str) -> bool:
    """Whether a location is on S3 or on the web."""
    return is_s3(location) or is_web(location)


def enter(location: str) -> str:
    """What stands for a user's location from now on: itself, unless it is an address with a query or a user.

    Two addresses that differ in their queries differ in what stands for them. What stands for one stands for itself.
    """
    if not is_web(location):
        return location
    section = _SECTION.search(location)
    address, end = (location[: section.start()], section[0]) if section else (location, "")
    with _lock:
        if address in _known:
            return location
        shown = without_query(address)
        if shown == address:
            return location
        if HIDDEN not in shown:
            return shown + end  # without its user, which is not used
        number = 1
        handle = shown
        while _known.setdefault(handle, address) != address:
            number += 1
            handle = f"{shown}#{number}"
        return handle + end


def without_query(location: str) -> str:
    """A location as it may be shown: HIDDEN stands for the query of an address, ``***@`` for its user."""
    if not is_web(location):
        return location
    found = _PARTS.match(location)
    assert found is not None
    scheme, rest, query = found.groups()
    bare = strip_user(f"{scheme}{rest}")
    user = "" if len(bare) == len(scheme) + len(rest) else f"{_USER}@"
    return f"{scheme}{user}{bare[len(scheme) :]}{HIDDEN if query else ''}"


def has_query(location: str) -> bool:
    """Whether a location stands for an address with a query, so that it cannot be opened by another process later."""
    return is_web(location) and HIDDEN in location


def revealed(location: str) -> str:
    """What was entered: for the pipe or socket to another process of the same user, and for nothing else."""
    return _known.get(location, location)


def known_after(count: int) -> Mapping[str, str]:
    """The addresses that were entered after the first ``count``, for another process to ``learn``."""
    with _lock:
        return dict(list(_known.items())[count:])


def learn(addresses: Mapping[str, str]) -> None:
    """Know what another process was given."""
    with _lock:
        _known.update(addresses)


class WebAddress(NamedTuple):
    """An address that can be asked for. ``location`` has no query, and is what is shown."""

    location: str
    url: str

    def __repr__(self) -> str:  # the query may be a secret
        return f"WebAddress({self.location!r})"

    def __str__(self) -> str:
        return self.location

    @property
    def bucket(self) -> str:
        """The host and port, which stand where S3 has a bucket."""
        return urlsplit(self.location).netloc

    @property
    def key(self) -> str:
        """The path, which stands where S3 has a key."""
        return urlsplit(self.location).path

    @property
    def is_signed(self) -> bool:
        """Whether it has a query, which may be good for this one file only."""
        return "?" in self.url


def parse(location: str) -> WebAddress:
    """Parse a location; raises SourceError if it has no host, or a user and a password."""
    url = revealed(location)
    shown = _NUMBER.sub("", without_query(location)).removesuffix(HIDDEN)
    if HIDDEN in location and url == location:
        raise SourceError(
            f"The query of {visible(shown)} was not kept, because it may be a secret. Open the whole address again."
        )
    try:
        parts = urlsplit(quote(url, safe=_SAFE))
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SourceError(f"{visible(shown)} is not an address: its host or port cannot be read.") from error
    if parts.username is not None or "@" in parts.netloc:
        raise SourceError(
            f"The address {visible(shown.replace(f'{_USER}@', ''))} contains a user or a password, which were not "
            "used. Give it without them, or one that is signed."
        )
    if not host:
        raise SourceError(f"{visible(shown)} names no host; an address on the web is https://host/path.")
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return WebAddress(shown, f"{parts.scheme.lower()}://{parts.netloc}{path}{query}")


def read_only(location: str) -> SourceError:
    """The error for whatever would write to an address on the web."""
    shown = visible(without_query(location))
    return SourceError(
        f"Nothing was written: {shown} is an address on the web, which is only read. Download the file and change "
        "that, or write to a path or to s3://."
    )
