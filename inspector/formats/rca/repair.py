"""The ways of repairing an RCA archive, planned from what checking has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats.rca.ledger import Ledger
from inspector.formats.rca.repair_end import cut_back, drop_garbage, finish
from inspector.formats.rca.repair_hash import repair_hashes
from inspector.formats.rca.repair_read import put_right
from inspector.formats.rca.salvage import salvages


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    if not isinstance(archive.checksums, Ledger):
        return ()  # the file could not be read
    found = list(_edits(archive, archive.checksums, progress))
    found.sort(key=lambda repair: repair.needs_consent)
    return [*found, *salvages(archive, archive.checksums.hashes, progress)]


def _edits(archive: Archive, ledger: Ledger, progress: Progress) -> Iterator[Repair]:
    """The repairs in place. What a hash proves to be wrong comes first: the rest is planned as it reads then."""
    hashes, source = ledger.hashes, archive.source
    proved = list(put_right(source, hashes, progress))
    if proved:
        yield from proved
        return
    yield from finish(source, hashes)
    for repair in (drop_garbage(source, hashes), cut_back(archive, hashes, progress)):
        if repair is not None:
            yield repair
    yield from repair_hashes(source, hashes, progress)
