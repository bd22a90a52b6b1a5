"""Connection settings for S3, without secrets: boto3 finds the keys. And the profiles of this machine."""

from __future__ import annotations

from enum import Flag, StrEnum, auto
from typing import Any, NamedTuple

from inspector.core.program.progress import Progress


class Addressing(StrEnum):
    """Where the bucket stands in the address of a request; servers other than Amazon's often know only the path."""

    AUTO = ""
    PATH = "path"
    VIRTUAL = "virtual"


class Connection(NamedTuple):
    """Connection settings; empty ones are left to the environment and the profile.

    ``anonymous`` sends unsigned requests, ``requester_pays`` agrees to be charged for them. ``addressing`` is an
    Addressing.
    """

    profile: str = ""
    region: str = ""
    endpoint: str = ""
    anonymous: bool = False
    requester_pays: bool = False
    addressing: str = Addressing.AUTO.value


DEFAULT = Connection()
"""Everything from the environment and the profile."""


class Consent(Flag):
    """What a user may agree to before an object is changed: to send all of it, and to write without a condition."""

    NONE = 0
    WHOLE = auto()
    UNCONDITIONAL = auto()


class Profile(NamedTuple):
    """A profile of the AWS configuration, with its region and endpoint or empty strings."""

    name: str
    region: str = ""
    endpoint: str = ""


class Attempt(NamedTuple):
    """What came of testing a connection."""

    ok: bool
    sentence: str


def profiles(progress: Progress) -> tuple[Profile, ...]:
    """All profiles by name; none if the configuration cannot be read. Makes no request."""
    # Imported here, so that the window can show profiles without loading botocore.
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    progress.begin("Reading the AWS configuration", 0, "profiles")
    try:
        known: dict[str, Any] = Session().full_config.get("profiles", {})
    except BotoCoreError:
        return ()
    return tuple(_profile(name, known[name]) for name in sorted(known))


def _profile(name: str, values: dict[str, Any]) -> Profile:
    own: Any = values.get("s3")
    endpoint = own.get("endpoint_url") if isinstance(own, dict) else None
    return Profile(name, str(values.get("region") or ""), str(endpoint or values.get("endpoint_url") or ""))
