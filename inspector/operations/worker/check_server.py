"""The session that looks at locations one by one. It only reads, so killing its process stops it safely."""

from __future__ import annotations

from collections import deque

from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.open.location import NoDatasetError, open_location


class Checker:
    """Answers CheckRequests."""

    def look(self, progress: Progress, location: str) -> State | None:
        """The state that the structure shows; None if nothing is wrong or the format is unknown, and for a folder."""
        try:
            opened = open_location(location, sparing=True)
            deque(opened.read_all(progress), maxlen=0)
        except NoDatasetError:
            return None
        except SourceError:
            return State.UNREADABLE
        seen = state_of(opened.archives)
        unknown = opened.archives and opened.archives[0].decoder is None
        return None if unknown or seen is State.SOUND else seen
