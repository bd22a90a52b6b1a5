"""What a worker has to know of a request."""

from __future__ import annotations

from typing import NamedTuple


class Traits(NamedTuple):
    """Properties of a request.

    A job takes a Progress first, may take long, and can be paused and cancelled; other requests answer at once.

    Attributes:
        is_job: it is a job.
        waits_for_network: it answers at once unless the archive is on S3 and bytes have to be fetched.
        writes_files: it needs time to remove unfinished files when it is cancelled.
        changes_archive: it writes into the open archive.
        only_shows: it only provides what is shown, so killing it loses nothing.

    """

    is_job: bool = False
    waits_for_network: bool = False
    writes_files: bool = False
    changes_archive: bool = False
    only_shows: bool = False
