"""The map of a layer: the roles, families and verdicts in each of many equal stretches, exact at any size."""

from __future__ import annotations

from collections import Counter

from inspector.core.field import Census, census
from inspector.core.program.progress import Progress
from inspector.core.source import is_sparing
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.views import LayerKind
from inspector.operations.session.state import SessionState


def layer_overview(session: SessionState, progress: Progress, layer: int, rows: int) -> list[int]:
    """The set of roles and families in each of ``rows`` equal stretches of a layer. Raises Cancelled."""
    shown = session.now.layers[layer]
    return overview(shown.fields(), shown.source.size, rows, progress, sparing=is_sparing(shown.source))


def layer_census(session: SessionState, progress: Progress, layer: int) -> Census:
    """How many structures of each kind a layer has, in the order of the format's kinds. Raises Cancelled."""
    shown = session.now.layers[layer]
    return in_kind_order(census(shown.fields(), progress.advance), shown.archive)


def verdict_counts(session: SessionState, progress: Progress, layer: int) -> dict[Verdict, int]:
    """How many members of a layer's archive have each verdict. Raises Cancelled."""
    archive = session.now.layers[layer].archive
    progress.advance(0)
    judged = Counter(bytes(archive.verdicts))
    judged[0] += len(archive.members) - judged.total()
    return {verdict: judged[at] for at, verdict in enumerate(VERDICTS) if judged[at] > 0}


def layer_verdicts(session: SessionState, progress: Progress, layer: int, rows: int) -> list[int]:
    """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
    from inspector.operations.session.verdict_overview import BITS, verdict_overview  # brings numpy

    shown = session.now.layers[layer]
    if shown.info.member is not None:
        verdict = session.now.members.row(shown.info.member).verdict
        return [int(BITS[verdict]) if shown.source.size else 0] * rows
    return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)
