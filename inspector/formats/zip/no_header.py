"""A plain ZIP archive that has the name of a TACO archive: TACO_HEADER.md, "Header structure"."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.names import visible
from inspector.core.source import Source
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.records import CENTRAL_SIZE, LOCAL, LOCAL_SIZE, TACO_SUFFIXES
from inspector.formats._zip.scan import read_local


def report_name(source: Source, emitter: Emitter, directory: Directory) -> None:
    """Say where a file has the name of a TACO archive and is none: with a header it would be read as one."""
    if not source.name.lower().endswith(TACO_SUFFIXES):
        return
    local = read_local(source, 0)
    if local is None:
        message = "does not begin with a local header, where the member TACO_HEADER should stand"
        spans = [(0, min(len(LOCAL), source.size))]
    else:
        message = f"begins with the member {visible(local[1])} instead of TACO_HEADER"
        spans = [(LOCAL_SIZE, LOCAL_SIZE + len(local[1]))]
        heads = directory.members.heads
        if heads is not None and 0 in heads and directory.listed:
            name = directory.central[heads.index(0)] + CENTRAL_SIZE
            spans.append((name, name + len(local[1])))
    message = (
        f"The file has the name of a TACO archive and {message}, so it is read as a plain ZIP archive: programs for "
        "TACO will not find their entries in it."
    )
    emitter.warning("taco-no-header", message, *spans)
