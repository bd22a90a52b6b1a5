"""Asks every question about a damaged file as a whole, cheap and certain ones first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.finding import Finding, Severity
from inspector.core.program.progress import Progress
from inspector.core.span import Span, intersect, united
from inspector.formats import damage_of, format_of
from inspector.formats._causes.blocks import NEAR_BYTES, changed_bytes, copies, filled_block, suspects, zeros
from inspector.formats._causes.converted import convert_back
from inspector.formats._causes.ends import trailing, truncated
from inspector.formats._causes.flips import MAX_LAST_WORK_BYTES, flipped_bits
from inspector.formats._causes.joined import is_known, joined
from inspector.formats._causes.parts import doubled, moved_parts, swapped
from inspector.formats._causes.survey import Survey, may_be_surveyed, survey
from inspector.formats._causes.text_mode import text_mode
from inspector.formats._causes.wrapped import in_front


def causes_of(archive: Archive, progress: Progress) -> Sequence[FoundCause]:
    """Why a checked archive is not sound, the most telling first. Raises SourceError and Cancelled."""
    may_read = may_be_surveyed(archive)
    several = joined(archive, progress) if may_read or is_known(archive) else None
    if several is not None:
        return (several,)
    front = in_front(archive, progress)
    if front is not None:
        return (front,)
    damage = damage_of(archive)
    record = damage.flipped_record(archive, progress)
    if record is not None:
        return (record,)
    causes = flipped_bits(archive, progress)
    if _covers_all(archive, causes) or not may_read:
        return _folded(archive, causes)
    found = survey(archive.source, progress)
    expected = damage.expected_size(archive)
    text = text_mode(archive, found, expected)
    if text is not None:
        repair = convert_back(archive, text.cause, progress)
        return (text if repair is None else text._replace(repairs=(repair,)),)
    behind = trailing(archive) if not causes and damage.ends_itself else None
    if behind is not None:
        return (behind,)  # zeros among them are not in the place of anything
    places = _of_places(archive, found, expected, causes, progress)
    if not causes and not places:
        causes = flipped_bits(archive, progress, MAX_LAST_WORK_BYTES)
    return _folded(archive, [*places, *causes])


def _folded(archive: Archive, causes: Sequence[FoundCause]) -> Sequence[FoundCause]:
    """The causes with what follows from them: one finding a cause, as far as nothing shows that there are more.

    What records say after an event follows from it. A digest that does not match elsewhere is another event.
    """
    met = {id(each) for one in causes for each in one.explains}
    left = [each for each in wrong(archive) if id(each) not in met]
    touched = _touched(archive, causes) if any(map(_is_hazard, left)) else ()
    left = [each for each in left if not _is_hazard(each) or _is_in(each, touched)]
    left = [each for each in left if each.code != _MANIFEST]  # the manifest itself may be of another file
    if not left or _interrupted(archive):
        return causes
    apart = [each for each in left if not causes or _is_apart(each, causes)]
    apart_ids = {id(each) for each in apart}
    following = tuple(each for each in left if id(each) not in apart_ids)
    if causes and following:
        first = causes[0]
        causes = (first._replace(explains=(*first.explains, *following)), *causes[1:])
    others = changed_bytes(archive, apart) if any(each.severity is Severity.ERROR for each in apart) else None
    return causes if others is None else (*causes, others)


def _is_hazard(finding: Finding) -> bool:
    """Whether a finding, such as that of a hazardous name, is one of its own wherever the damage is."""
    return finding.severity is not Severity.ERROR and _HAZARD.search(finding.code) is not None


def _touched(archive: Archive, causes: Sequence[FoundCause]) -> list[Span]:
    """The structures that causes touch; what is read in them may follow from the damage, hazards too."""
    places = united([span for each in causes for span in each.spans])
    return [span for each in archive.fields for span in each.spans if intersect([span], places)] if places else []


def _is_in(finding: Finding, places: Sequence[Span]) -> bool:
    return any(place.start <= span.start and span.stop <= place.stop for span in finding.spans for place in places)


_MANIFEST = "digest-manifest-mismatch"
_HAZARD = re.compile(r"hazard|name-(?!duplicate)|version|encrypt|extra|comment")


def _is_apart(finding: Finding, causes: Sequence[FoundCause]) -> bool:
    """Whether a finding is about content that no cause touches, so that it is another event."""
    if "mismatch" not in finding.code and "content" not in finding.code:
        return False
    return not any(
        span.start < place.stop + NEAR_BYTES and place.start < span.stop + NEAR_BYTES
        for one in causes
        for place in one.spans
        for span in finding.spans
    )


def _interrupted(archive: Archive) -> bool:
    """Whether an interrupted write explains everything, which its findings say."""
    known = format_of(archive)
    return all(known is not None and each.code in known.torn for each in wrong(archive))


def _of_places(
    archive: Archive, found: Survey, expected: int | None, causes: Sequence[FoundCause], progress: Progress
) -> list[FoundCause]:
    """Zeros, copies and moved parts, where no other cause explains the damage."""
    bad = suspects(archive)
    explained = [span for each in causes for finding in each.explains for span in finding.spans]
    explained += [span for each in causes for span in each.spans]
    holes = list(zeros(archive, found, bad, sorted(explained)))
    if _interrupted(archive):  # what such a write leaves may hold zeros and copies
        empty = [each for each in holes if each.cause is Cause.ALL_ZEROS]
        behind = None if empty else trailing(archive)
        return empty if behind is None else [behind]
    if holes:
        return holes
    rearranged = None if causes else doubled(archive, progress) or swapped(archive, progress)
    if rearranged is not None:
        return [rearranged]
    cut = truncated(archive) if not causes and damage_of(archive).data_first else None
    if cut is not None:
        return [cut]
    moved = [] if causes else list(moved_parts(archive, found, expected, progress))
    if moved:
        return moved
    copied = copies(archive, bad, sorted(explained), progress)
    if copied is not None:
        return [copied]
    if causes:
        return []
    one = (
        truncated(archive)
        or damage_of(archive).shifted(archive)
        or filled_block(archive, bad, progress)
        or trailing(archive)
    )
    return [] if one is None else [one]


def _covers_all(archive: Archive, causes: Sequence[FoundCause]) -> bool:
    """Whether some causes explain every finding."""
    explained = {id(finding) for each in causes for finding in each.explains}
    return all(id(finding) in explained for finding in wrong(archive))
