"""How to reach S3, as a value that holds no secret: keys come from where boto3 finds them."""

from __future__ import annotations

from dataclasses import dataclass


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
