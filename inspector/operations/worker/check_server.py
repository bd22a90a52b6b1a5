"""Checking one location after another, as it is asked for. To stop at once the process is ended: it only reads."""

from __future__ import annotations

from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check.many import check_one
from inspector.operations.open.folders import expanded
from inspector.operations.protocol.check_views import CheckLocation, Outcome, ReportKind
from inspector.sources.s3.connection import Connection


class Checker:
    """Answers CheckRequests."""

    def expand(self, progress: Progress, locations: list[str], connection: Connection) -> list[CheckLocation]:
        """What is to be checked; a prefix that cannot be listed stands for itself, since checking it says why.

        ``connection`` says how S3 is reached. Raises Cancelled.
        """
        progress.begin("Looking for archives", 0, "locations")
        try:
            return list(expanded(locations, connection))
        except SourceError:
            return [CheckLocation(location, connection=connection) for location in locations]

    def check(self, progress: Progress, wanted: CheckLocation) -> Outcome:
        """Check one location. Raises Cancelled."""
        return check_one(wanted, ReportKind.TEXT, progress)
