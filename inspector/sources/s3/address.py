"""Where an object is: ``s3://bucket/key``. A key is any text; nothing in it is decoded or resolved."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from inspector.core.names import visible
from inspector.core.redaction import strip_credentials
from inspector.core.source import SourceError

SCHEME = "s3://"


def is_s3(location: str) -> bool:
    """Whether a location is meant for S3."""
    return location[: len(SCHEME)].lower() == SCHEME


class Address(NamedTuple):
    """An object or, where the key is empty or ends with a slash, a prefix."""

    bucket: str
    key: str

    @property
    def location(self) -> str:
        """As it is typed."""
        return f"{SCHEME}{self.bucket}/{self.key}"

    def __str__(self) -> str:
        return self.location

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name without its suffix, as a path has it."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The last ending of the name, with its dot; empty where it has none."""
        return PurePosixPath(self.name).suffix

    def with_name(self, name: str) -> Address:
        """The address of what is called ``name`` beside this one."""
        return Address(self.bucket, self.key.removesuffix(self.name) + name)

    @property
    def prefix(self) -> str:
        """What the keys in it begin with: empty for a whole bucket, else with a slash at its end."""
        return self.key if not self.key or self.key.endswith("/") else f"{self.key}/"


def parse(location: str) -> Address:
    """The address that a location names; raises SourceError where it names no bucket."""
    bucket, _, key = location[len(SCHEME) :].partition("/")
    if not is_s3(location) or not bucket:
        raise SourceError(
            f"{visible(strip_credentials(location))} names no bucket; an address on S3 is s3://bucket/key."
        )
    if "@" in bucket or ":" in bucket:
        raise SourceError(
            "This address had credentials in it: they do not belong there and were not used. Name the bucket and the "
            "key only, and a profile for the credentials."
        )
    return Address(bucket, key)
