"""What the map of a layer is drawn from: its bytes in equal stretches, and what is in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.core.progress import Progress
from inspector.core.source import is_sparing
from inspector.operations.protocol.views import LayerKind

if TYPE_CHECKING:  # a snapshot knows checks, which know what is open
    from inspector.operations.session.snapshot import Snapshot


class LayerMap:
    """What a session answers about whole layers at once."""

    _now: Snapshot

    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles in each of ``rows`` equal stretches of a layer. Raises Cancelled."""
        from inspector.operations.session.overview import overview  # brings numpy

        shown = self._now.layers[layer]
        return overview(shown.fields(), shown.source.size, rows, progress, sparing=is_sparing(shown.source))

    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
        from inspector.operations.session.verdict_overview import BITS, verdict_overview  # brings numpy

        shown = self._now.layers[layer]
        if shown.info.member is not None:
            verdict = self._now.members.row(shown.info.member).verdict
            return [int(BITS[verdict]) if shown.source.size else 0] * rows
        return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)
