"""The session of one open location: each public method answers the request of its name."""

from __future__ import annotations

from inspector.operations.session.coverage import Coverage
from inspector.operations.session.extracting import Extracting
from inspector.operations.session.following import Following
from inspector.operations.session.looks import Looks
from inspector.operations.session.navigation import Navigation
from inspector.operations.session.overlays import Experimenting, Replaying
from inspector.operations.session.references import References


class ArchiveSession(Navigation, Looks, Coverage, Extracting, Following, References, Experimenting, Replaying):
    """Answers ArchiveRequests. Requests answer at once, except jobs, which take a Progress first."""
