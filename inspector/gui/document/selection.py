"""What is selected in a document, by whatever panel."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.core.span import Spans


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected, everywhere: a byte of a layer, the bytes outlined, and the field and member they belong to.

    ``length`` bytes from the caret on are selected in the hex view too. ``origin`` names the panel that the user chose
    it in, which therefore does not scroll. Of a checksum, whose bytes ``spans`` are, ``stored`` is where its value
    stands and ``omitted`` what it leaves out. ``wrong`` says that they are what a finding calls wrong.
    """

    layer: int
    caret: int
    spans: Spans = ()
    field: tuple[int, ...] | None = None
    member: int | None = None
    origin: str = ""
    length: int = 0
    stored: Spans = ()
    omitted: Spans = ()
    wrong: bool = False
