"""The datapoints that two ranges of a dataset share: whether their contents are equal."""

from __future__ import annotations

from contextlib import suppress

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Emitter
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import SourceError
from inspector.formats.datas3t import codes
from inspector.operations.open.listing import same_content
from inspector.operations.open.location import Location

_EQUAL = " Their contents are equal."


def compare_shared(opened: Location, progress: Progress) -> None:
    """Report contents that differ under one key of two ranges, and say of the others that they are equal.

    Nothing is said of ranges that could not be read. Raises Cancelled.
    """
    from inspector.formats.datas3t.datapoints import headers, members_by_key  # an archive of its own needs no tar

    for overlap in opened.collection.overlaps if opened.collection is not None else ():
        one, other = opened.known(overlap.later), opened.known(overlap.other)
        there = members_by_key(other, overlap.first, overlap.last)
        shared = [
            (key, at, there[key])
            for key, at in members_by_key(one, overlap.first, overlap.last).items()
            if key in there
        ]
        with suppress(SourceError, MemberError), cancelling(progress):
            different = [(key, at) for key, at, its in shared if not same_content((one, at), (other, its), progress)]
            names = [opened.title(number) for number in (overlap.later, overlap.other)]
            if different:
                more = f", and under {len(different) - 1:,} more" if len(different) > 1 else ""
                spans = (headers(one.members, at) for _, at in different[:MAX_FINDINGS_PER_KIND])
                message = f"{names[0]} and {names[1]} have different contents under key {different[0][0]:,}{more}."
                Emitter(one).report(codes.RANGE_CONFLICT, message, *spans)
            elif shared:
                said = overlap.finding.message
                one.findings[:] = [
                    each._replace(message=said + _EQUAL) if each.message == said else each for each in one.findings
                ]
