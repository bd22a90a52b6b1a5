"""The ways of mending an RCA archive, planned from what checking has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats.rca.ledger import Ledger
from inspector.formats.rca.repair_end import cut_back, drop_garbage
from inspector.formats.rca.repair_hash import mend_hashes
from inspector.formats.rca.repair_size import mend_size
from inspector.formats.rca.salvage import salvages


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    if not isinstance(archive.checksums, Ledger):
        return ()  # the file could not be read
    found = list(_edits(archive, archive.checksums, progress))
    found.sort(key=lambda repair: bool(repair.claim))
    return [*found, *salvages(archive, archive.checksums.hashes, progress)]


def _edits(archive: Archive, ledger: Ledger, progress: Progress) -> Iterator[Repair]:
    """The repairs in place: the end first, for the hashes are right or wrong by where it is."""
    hashes, source = ledger.hashes, archive.source
    sized = mend_size(source, hashes, progress)
    if sized is not None:
        yield sized
    for repair in (drop_garbage(source, hashes), cut_back(archive, hashes, progress)):
        if repair is not None and not (sized and (repair.claim or repair.mends <= sized.mends)):
            yield repair
    for repair in mend_hashes(source, hashes, progress):
        if not (sized and repair.code == "rca-mend-metadata"):
            yield repair
