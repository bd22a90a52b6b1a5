"""How to reach S3, as a value that holds no secret: keys come from where boto3 finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inspector.core.progress import Progress


@dataclass(frozen=True, slots=True)
class Connection:
    """What was said about the connection; what is empty is left to the environment and the profile.

    ``anonymous`` sends requests without signing them, ``requester_pays`` accepts to be charged for them.
    """

    profile: str = ""
    region: str = ""
    endpoint: str = ""
    anonymous: bool = False
    requester_pays: bool = False


DEFAULT = Connection()
"""The environment and the profile say all."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile with the region and the endpoint it sets, empty where it sets none."""

    name: str
    region: str = ""
    endpoint: str = ""


def profiles(progress: Progress) -> tuple[Profile, ...]:
    """All profiles in the order of their names; none where the configuration cannot be read. No request is made."""
    # Loaded here, so that the window can be given profiles without boto's libraries.
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
