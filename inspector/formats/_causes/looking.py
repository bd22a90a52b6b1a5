"""Asks every question about a damaged file as a whole, cheap and certain ones first."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from inspector.core.archive import Archive
from inspector.core.progress import Progress
from inspector.formats._causes.blocks import copies, suspects, zeros
from inspector.formats._causes.flips import flipped_bits
from inspector.formats._causes.parts import moved_parts
from inspector.formats._causes.survey import Survey, expected_size, may_be_surveyed, survey
from inspector.formats._causes.table import Cause, Explanation, wrong
from inspector.formats._causes.text_mode import text_mode


def causes_of(archive: Archive, progress: Progress) -> Sequence[Explanation]:
    """Why a checked archive is not sound, the most telling first. Raises SourceError and Cancelled."""
    causes = flipped_bits(archive, progress)
    if _covers_all(archive, causes) or not may_be_surveyed(archive):
        return causes
    found = survey(archive.source, progress)
    expected = _expected(archive)
    text = text_mode(archive, found, expected)
    if text is not None:
        return (text,)
    return [*_of_places(archive, found, expected, causes, progress), *causes]


def _interrupted(archive: Archive) -> bool:
    """Whether an interrupted write explains everything, which its findings say."""
    torn: frozenset[str] = getattr(getattr(archive, "decoder", None), "torn", frozenset())
    return all(each.code in torn for each in wrong(archive))


def _of_places(
    archive: Archive, found: Survey, expected: int | None, causes: Sequence[Explanation], progress: Progress
) -> list[Explanation]:
    """Zeros, copies and moved parts, where no other cause explains the damage."""
    bad = suspects(archive)
    explained = [span for each in causes for finding in each.explains for span in finding.spans]
    explained += [span for each in causes for span in each.spans]
    holes = list(zeros(archive, found, bad, sorted(explained)))
    if _interrupted(archive):  # what such a write leaves may hold zeros and copies
        return [each for each in holes if each.cause is Cause.ALL_ZEROS]
    if holes:
        return holes
    moved = [] if causes else list(moved_parts(archive, found, expected, progress))
    if moved:
        return moved
    copied = copies(archive, bad, sorted(explained), progress)
    return [] if copied is None else [copied]


def _covers_all(archive: Archive, causes: Sequence[Explanation]) -> bool:
    """Whether some causes explain every finding."""
    explained = {id(finding) for each in causes for finding in each.explains}
    return all(id(finding) in explained for finding in wrong(archive))


def _expected(archive: Archive) -> int | None:
    index = next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)
    stop = _end_of_tiled(archive.members.starts, archive.members.stops) if archive.format == "caf" else 0
    return expected_size(archive.format, archive.source, stop, index)


def _end_of_tiled(starts: array[int], stops: array[int]) -> int:
    """Where members end that follow one another without a gap or an overlap; 0 where they do not."""
    at = 0
    for start, stop in sorted(zip(starts, stops, strict=True)):
        if start != at:
            return 0
        at = stop
    return at
