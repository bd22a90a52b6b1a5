"""Addresses on S3: ``s3://bucket/key``. A key is any text; nothing in it is decoded or resolved."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

from inspector.core.names import visible
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError

SCHEME = "s3://"


def is_s3(location: str) -> bool:
    return location[: len(SCHEME)].lower() == SCHEME


class Place(Protocol):
    """What can be asked for: an object on S3, or a file on the web."""

    @property
    def bucket(self) -> str:
        """The bucket, or the host."""

    @property
    def key(self) -> str:
        """What it is called there."""

    @property
    def location(self) -> str:
        """What is shown of it."""


class Address(NamedTuple):
    """An object, or a prefix if the key is empty or ends with a slash."""

    bucket: str
    key: str

    @property
    def location(self) -> str:
        """``s3://bucket/key``."""
        return f"{SCHEME}{self.bucket}/{self.key}"

    def __str__(self) -> str:
        return self.location

    @property
    def name(self) -> str:
        """The last component of the key."""
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name without its suffix, as with pathlib."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The suffix of the name with its dot, or an empty string."""
        return PurePosixPath(self.name).suffix

    def with_name(self, name: str) -> Address:
        """The address with another last component."""
        return Address(self.bucket, self.key.removesuffix(self.name) + name)

    @property
    def prefix(self) -> str:
        """The prefix of the keys in it: empty for a whole bucket, else with a trailing slash."""
        return self.key if not self.key or self.key.endswith("/") else f"{self.key}/"


def parse(location: str) -> Address:
    """Parse a location; raises SourceError if it has no bucket, or credentials."""
    bucket, _, key = location[len(SCHEME) :].partition("/")
    if not is_s3(location) or not bucket:
        raise SourceError(
            f"{visible(strip_credentials(location))} names no bucket; an address on S3 is s3://bucket/key."
        )
    if "@" in bucket or ":" in bucket:
        raise SourceError(
            "This address contains credentials, which were not used. Give only the bucket and the key, and a profile "
            "for the credentials."
        )
    return Address(bucket, key)
