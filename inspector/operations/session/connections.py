"""What each session that may use S3 answers: the profiles of this machine, and whether a connection works."""

from __future__ import annotations

from inspector.core.program.progress import Progress
from inspector.sources.s3.connection import Attempt, Connection, Profile, profiles


class Connecting:
    """Answers ProfileRequests."""

    def profiles(self, progress: Progress) -> tuple[Profile, ...]:
        """The profiles of this machine; no request is made."""
        return profiles(progress)

    def attempt(self, progress: Progress, connection: Connection, location: str) -> Attempt:
        """Whether a connection reaches the bucket of a location, and how."""
        from inspector.sources.s3.opening import attempt  # only where S3 is used

        return attempt(progress, connection, location)
