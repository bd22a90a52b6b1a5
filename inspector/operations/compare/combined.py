"""Pieces of several copies read as one archive, and written to a new file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.pieces import Piece, PieceSource, PieceTable
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span
from inspector.formats.datas3t.decode import INDEX, METADATA, TAR
from inspector.operations.check.checking import check_location
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.compare_views import CombinePlan
from inspector.sources.local.atomic import NewFile, NewFiles
from inspector.sources.web.address import is_remote

NOTHING = "Nothing was written."
_BESIDE = ((METADATA, ""), (INDEX, TAR))
"""Files beside a range that belong to it: what their names end with, and what that stands for."""


class CombinedSource(PieceSource):
    """Pieces of several sources, each with its number, read as one; ``beside`` is the source whose siblings it has.

    A sibling that this source lacks is taken from the first that has one.
    """

    def __init__(self, sources: Sequence[Source], pieces: Sequence[tuple[int, Span]], beside: int) -> None:
        table = PieceTable(Piece(sources[number], span.start, span.size) for number, span in pieces)
        super().__init__(sources[beside], table)
        self._with_siblings = [sources[beside], *sources]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return next((each for source in self._with_siblings if (each := source.sibling(suffix, instead_of))), None)

    def companions(self) -> dict[tuple[str, str], Source]:
        """The files beside that belong to a range of a dataset."""
        found = {place: self.sibling(*place) for place in _BESIDE}
        return {place: source for place, source in found.items() if source is not None}

    def companions_digest(self) -> bytes:
        """What identifies the files beside by their contents. Raises SourceError."""
        digest = hashlib.blake2b()
        for (suffix, _), source in self.companions().items():
            digest.update(f"{suffix} {source.size} ".encode())
            for piece in blocks(source, 0, source.size):
                digest.update(piece)
        return digest.digest()


class Combination(Struct, frozen=True):
    """An archive that can be written, and what it is made of."""

    source: CombinedSource
    plan: CombinePlan


def write_combination(combination: Combination, target: str, progress: Progress, *, accept: bool = False) -> str:
    """Write it to a new file, whole or not at all, and return the sentence that says so.

    ``accept``: also where not everything is proved, or where the result is not whole. Raises OperationError without
    that consent and for a target on S3, SourceError if the file exists or cannot be written, and Cancelled.
    """
    source, plan = combination.source, combination.plan
    if plan.needs_consent and not accept:
        sentence = plan.sentence[:1].upper() + plan.sentence[1:]
        raise OperationError(f"{sentence} It is written only if you accept that. {NOTHING}")
    if is_remote(target):
        raise OperationError(f"A combined archive can be written to a file of this machine only. {NOTHING}")
    files = {Path(target): source} | (_beside(source, target) if target.endswith(TAR) else {})
    for path in files:
        if path.exists():
            raise SourceError(f"{visible(str(path))} is there already. {NOTHING}")
    progress.begin("Writing", sum(each.size for each in files.values()))
    with NewFiles() as out:
        for path, each in files.items():
            _copy(each, out.add(path), progress)
    read_back = check_location(target, progress)
    state = read_back.state.value if read_back.state is not None else "not known to be whole"
    return f"{visible(target)} was written: {in_bytes(source.size)}, {plan.sentence} Read back and checked: {state}."


def _beside(source: CombinedSource, target: str) -> dict[Path, Source]:
    found = source.companions().items()
    return {Path(target.removesuffix(instead_of) + suffix): each for (suffix, instead_of), each in found}


def _copy(source: Source, file: NewFile, progress: Progress) -> None:
    written = 0
    for piece in blocks(source, 0, source.size):
        file.write(piece)
        written += len(piece)
        progress.advance(len(piece))
    if written < source.size:
        raise SourceError(f"A source became shorter while it was read. {NOTHING}")
