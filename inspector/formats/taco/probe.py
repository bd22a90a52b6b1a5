"""Whether a source is a TACO archive, and of which layout (TACO_HEADER.md, "Header structure")."""

from __future__ import annotations

from enum import StrEnum

from inspector.core.format import ProbeResult
from inspector.core.source import Source
from inspector.formats._zip.eocd import find_ending, first_name
from inspector.formats._zip.records import LOCAL, LOCAL_SIZE


class Layout(StrEnum):
    """The name of the first member tells the layout."""

    HEADER = "TACO_HEADER"
    GHOST = "TACO_GHOST"


def layout_of(source: Source) -> Layout | None:
    """The layout by the name in the first local header, or, where that is damaged, by the central directory's."""
    data = source.read(0, LOCAL_SIZE + 16)
    if data[:4] != LOCAL:
        return None
    length = int.from_bytes(data[26:28], "little")
    for layout in Layout:
        name = str(layout).encode()
        # The name alone would do; its length tells TACO_HEADER from a name that merely begins so.
        if data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name and length == len(name):
            return layout
    ending = find_ending(source)
    first = first_name(source, ending) if ending is not None else None
    return next((layout for layout in Layout if first == (str(layout).encode(), 0)), None)


def probe(source: Source) -> ProbeResult:
    """Certain when the archive begins with a TACO header of either layout."""
    return ProbeResult.NO if layout_of(source) is None else ProbeResult.CERTAIN
