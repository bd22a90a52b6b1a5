"""The session that checks locations one by one. It only reads, so killing its process stops it safely."""

from __future__ import annotations

from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check.many import check_one
from inspector.operations.open.folders import expanded
from inspector.operations.protocol.check_views import CheckTarget, Outcome, ReportKind
from inspector.sources.s3.connection import Connection


class Checker:
    """Answers CheckRequests."""

    def expand(self, progress: Progress, locations: list[str], connection: Connection) -> list[CheckTarget]:
        """The locations to check; a prefix that cannot be listed is returned itself, and checking it reports why.

        ``connection`` says how to reach S3. Raises Cancelled.
        """
        progress.begin("Looking for archives", 0, "locations")
        try:
            return list(expanded(locations, connection))
        except SourceError:
            return [CheckTarget(location, connection=connection) for location in locations]

    def check(self, progress: Progress, location: CheckTarget) -> Outcome:
        """Check one location. Raises Cancelled."""
        return check_one(location, ReportKind.TEXT, progress)
