"""Archives checked, repaired in memory, and read back."""

from __future__ import annotations

from inspector.core.archive import Archive, Emitter
from inspector.core.edit import OverlaySource
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource, Source
from inspector.formats.caf import FORMAT
from tests.formats.archives import codes

MAX_EDITS = 4
"""More edits than any damage needs: a plan that goes on for ever fails."""


def checked(source: Source | bytes) -> Archive:
    if isinstance(source, bytes):
        source = BytesSource(source, "test.caf")
    archive = Archive(source, FORMAT.name, FORMAT.title, ())
    FORMAT.decode(source, Emitter(archive), Progress())
    FORMAT.check(archive, Emitter(archive), Progress())
    return archive


def plans(archive: Archive) -> list[Repair]:
    return list(FORMAT.repairs(archive, Progress()))


def edits(archive: Archive) -> list[Repair]:
    return [repair for repair in plans(archive) if repair.edit is not None]


def repaired(archive: Archive, *, claims: bool = False) -> Archive:
    """The archive after all edits, each of which has to fix the findings it names; ``claims`` includes assumptions."""
    for _ in range(MAX_EDITS):
        todo = [repair for repair in edits(archive) if claims or not repair.claim]
        if not todo:
            return archive
        repair = todo[0]
        assert repair.edit is not None
        after = checked(OverlaySource(archive.source, repair.edit))
        assert repair.fixes.isdisjoint(codes(after)), repair.code
        archive = after
    raise AssertionError("The repairs never end.")


def salvaged(archive: Archive) -> Archive | None:
    """The new archive that a salvage writes; it comes last of all plans."""
    found = plans(archive)
    if not found or found[-1].content is None:
        return None
    return checked(b"".join(found[-1].content(Progress())))


def contents(archive: Archive) -> list[tuple[bytes, bytes]]:
    return [(member.path, b"".join(FORMAT.read(archive, member.index, Progress()))) for member in archive.members]


def named(archive: Archive) -> list[tuple[bytes, bytes]]:
    """The members without what a repair listed in the place of lost entries."""
    return [each for each in contents(archive) if not each[0].startswith(b"lost+found/")]


def whole(source: Source) -> bytes:
    return source.read(0, source.size)
