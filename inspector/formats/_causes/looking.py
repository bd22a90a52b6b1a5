"""Asks every question about a damaged file as a whole, cheap and certain ones first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.damage import Damage
from inspector.core.finding import Finding, Severity
from inspector.core.names import listed
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span, intersect, total, united
from inspector.formats import damage_of, format_of
from inspector.formats._causes import flips
from inspector.formats._causes.blocks import (
    MAX_COMPARED_BYTES,
    NEAR_BYTES,
    Survey,
    Suspects,
    copies,
    filled_block,
    may_be_surveyed,
    survey,
    suspects,
    zeros,
)
from inspector.formats._causes.encodings import text_mode
from inspector.formats._causes.joined import joined
from inspector.formats._causes.parts import doubled, moved_parts, swapped, trailing, truncated
from inspector.formats._causes.wrapped import convert_back, in_front


class _Look:
    """What is asked about one archive, and what is known of it by then; ``causes`` are its flipped bits."""

    def __init__(self, archive: Archive, progress: Progress) -> None:
        self.archive, self.progress = archive, progress
        self.damage = damage_of(archive)
        self.may_read = may_be_surveyed(archive)
        self.interrupted = _interrupted(archive)
        self.causes: Sequence[FoundCause] = ()

    @cached_property
    def survey(self) -> Survey:
        return survey(self.archive.source, self.progress)

    @cached_property
    def expected(self) -> int | None:
        return self.damage.expected_size(self.archive)

    @cached_property
    def bad(self) -> Suspects:
        return suspects(self.archive)

    @property
    def explained(self) -> list[Span]:
        """The bytes whose damage has a cause already."""
        spans = [span for one in self.causes for span in one.spans]
        return sorted([*spans, *(span for one in self.causes for each in one.explains for span in each.spans)])

    @property
    def open(self) -> bool:
        """Whether nothing explains the damage yet."""
        return not (self.causes or self.interrupted)

    def first(self, questions: Sequence[_Question]) -> Sequence[FoundCause]:
        """The answer to the first question that may be asked and has one."""
        for may_be_asked, ask in questions:
            found = ask(self) if may_be_asked is None or may_be_asked(self) else None
            if found:
                return (found,) if isinstance(found, FoundCause) else found
        return ()


_Question = tuple[Callable[[_Look], bool] | None, Callable[[_Look], FoundCause | Sequence[FoundCause] | None]]
"""When it may be asked, None for always, and what is asked; the order is that of certainty and cost."""


def _text_mode(look: _Look) -> FoundCause | None:
    found = text_mode(look.archive, look.survey, look.expected)
    repair = convert_back(look.archive, found.cause, look.progress) if found is not None else None
    return found if found is None or repair is None else found._replace(repairs=(repair,))


def _holes(look: _Look) -> Sequence[FoundCause]:
    """Zeros; of what an interrupted write leaves only that all are."""
    found = zeros(look.archive, look.survey, look.bad, look.explained)
    return [each for each in found if not look.interrupted or each.cause is Cause.ALL_ZEROS]


_BEFORE_FLIPS: tuple[_Question, ...] = (
    (None, lambda look: look.damage.rewritten(look.archive, look.progress)),
    # What a check has found already needs no more reading to tell the archives apart.
    (
        lambda look: look.may_read or look.damage.newer(look.archive) is not None,
        lambda look: joined(look.archive, look.progress),
    ),
    (None, lambda look: in_front(look.archive, look.progress)),
    (None, lambda look: look.damage.flipped_record(look.archive, look.progress)),
)
_WHOLE_FILE: tuple[_Question, ...] = (
    (None, _text_mode),
    # Zeros among what follows the last record are not in the place of anything.
    (lambda look: not look.causes and look.damage.ends_itself, lambda look: trailing(look.archive)),
)
_PLACES: tuple[_Question, ...] = (
    (None, _holes),
    (lambda look: look.interrupted, lambda look: trailing(look.archive)),
    (lambda look: look.open, lambda look: doubled(look.archive, look.progress)),
    (lambda look: look.open, lambda look: swapped(look.archive, look.progress)),
    (lambda look: look.open and look.damage.data_first, lambda look: truncated(look.archive)),
    (
        lambda look: look.open,
        lambda look: moved_parts(look.archive, look.survey, look.expected, look.progress),
    ),
    (lambda look: not look.interrupted, lambda look: copies(look.archive, look.bad, look.explained, look.progress)),
    (lambda look: look.open, lambda look: truncated(look.archive)),
    (lambda look: look.open, lambda look: look.damage.shifted(look.archive)),
    (lambda look: look.open, lambda look: filled_block(look.archive, look.bad, look.progress)),
    (lambda look: look.open, lambda look: trailing(look.archive)),
)


def causes_of(archive: Archive, progress: Progress) -> Sequence[FoundCause]:
    """Why a checked archive is not sound, the most telling first. Raises SourceError and Cancelled."""
    look = _Look(archive, progress)
    if alone := look.first(_BEFORE_FLIPS):
        return alone
    budget = flips.Budget()
    causes = look.causes = flips.flipped_bits(archive, budget, progress)
    explained = {id(finding) for each in causes for finding in each.explains}
    if all(id(finding) in explained for finding in wrong(archive)) or not look.may_read:
        return _folded(archive, causes)
    if alone := look.first(_WHOLE_FILE):
        return alone
    places = look.first(_PLACES)
    if not causes and not places:
        causes = list(flips.changed_byte(archive, budget, progress))
    return _folded(archive, [*places, *causes])


def _folded(archive: Archive, causes: Sequence[FoundCause]) -> Sequence[FoundCause]:
    """The causes with what follows from them: one finding a cause, as far as nothing shows that there are more.

    What records say after an event follows from it. A digest that does not match elsewhere is another event.
    """
    met = {id(each) for one in causes for each in one.explains}
    left = [each for each in wrong(archive) if id(each) not in met]
    touched = _touched(archive, causes) if any(map(_is_hazard, left)) else ()
    left = [
        each
        for each in left
        if not _is_hazard(each)
        or any(place.start <= span.start and span.stop <= place.stop for span in each.spans for place in touched)
    ]
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


# ---- all that is left ------------------------------------------------------------------------------------------------


MIN_FOLDED = 3
"""Fewer findings about the structure are not explained by bytes that changed."""


def changed_bytes(archive: Archive, left: Sequence[Finding]) -> FoundCause | None:
    """One cause for findings without any: there are other bytes than were written.

    A format that tells nothing of its damage cannot tell that from a mistake of the writer.
    """
    if damage_of(archive) == Damage() and not archive.checksums:
        return None
    spans = united([span for each in left for span in each.spans if span.size])
    if not spans:
        return None
    low, high = spans[0].start, spans[-1].stop
    members = sorted({known for each in left if (known := archive.known_member(each.member)) is not None})
    mismatched = [each for each in left if "mismatch" in each.code or "content" in each.code]
    undecided = damage_of(archive).undecided(archive) if mismatched else ""
    if undecided:
        first = undecided
    elif mismatched and len(mismatched) == len(left):
        what = f" of {count(len(members), 'member')}" if members else ""
        first = f"The content{what} is not what was archived."
    elif len(left) < MIN_FOLDED:
        return None  # each says more of itself
    else:
        first = f"Bytes between {low:,} and {high - 1:,} are not those that were written."
    affected = listed(map(archive.members.path, members), len(members), 3)
    about = f" Members affected: {affected}." if members else ""
    left_out, bound = flips.untried(archive), ""
    if total(spans) > MAX_COMPARED_BYTES:
        bound = f"Of them, {in_bytes(MAX_COMPARED_BYTES)} were compared with their neighbours. "
    message = (
        f"{first} This explains {count(len(left), 'finding')} about {in_bytes(total(spans))} from byte {low:,} on."
        f"{about} There is no {'' if left_out else 'single flipped bit, no '}run of zeros and no copy of a neighbour"
        f"{'' if undecided else ': a block was overwritten, or the copy is of another state'}. {left_out}{bound}"
        f"{'Another copy shows which it is.' if undecided else 'Restore these bytes from another copy.'}"
    )
    return FoundCause(Cause.CHANGED_BYTES, message, tuple(spans[:64]), tuple(left), adopts=True)
