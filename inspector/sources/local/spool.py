"""A stream that can be read once, such as standard input, as a source that can be read anywhere.

All formats look at their end first or jump, so nothing can be decoded before the stream has ended.
"""

from __future__ import annotations

from collections.abc import Callable

from inspector.core.limits import STANDARD_INPUT
from inspector.core.numbers import in_bytes, rounded
from inspector.core.progress import Progress
from inspector.core.source import BLOCK, BytesSource, Source, SourceError
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.file import TemporarySource

MAX_IN_MEMORY_BYTES = 32 << 20
"""A longer stream is kept in a nameless temporary file."""


def spooled(read: Callable[[int], bytes], name: str, progress: Progress) -> Source:
    """All bytes that ``read(size)`` gives until it gives none, as a source called ``name``.

    Raises SourceError if there is nothing, if there is more than STANDARD_INPUT allows, or if the stream or the
    temporary file fails; and Cancelled. Nothing stays on the disk when the source is dropped.
    """
    limit = STANDARD_INPUT.value
    progress.begin("Reading standard input", 0)
    pieces: list[bytes] = []
    held = 0
    file: TemporarySource | None = None
    while piece := _next(read):
        held += len(piece)
        if held > limit:
            raise SourceError(
                f"Standard input is larger than {rounded(limit)} ({in_bytes(limit)}), so it was not read to its end. "
                f"Save it to a file and open that, or raise {STANDARD_INPUT.variable}."
            )
        if file is None and held > MAX_IN_MEMORY_BYTES:
            file = TemporarySource(name)
            for each in pieces:
                file.append(each)
            pieces.clear()
        if file is None:
            pieces.append(piece)
        else:
            file.append(piece)
        progress.advance(len(piece))
    if not held:
        raise SourceError("Standard input is empty.")
    return file or BytesSource(b"".join(pieces), name)


def _next(read: Callable[[int], bytes]) -> bytes:
    try:
        return read(BLOCK)
    except OSError as error:
        raise SourceError(f"Standard input cannot be read: {reason(error)}.") from error
