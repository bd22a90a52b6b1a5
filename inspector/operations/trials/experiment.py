"""An experiment: what steps make of the bytes of an archive, over an overlay. Nothing is written but new files."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.pieces import PieceSource, PieceTable, RepeatedSource
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, blocks, change_of
from inspector.core.span import Span, Spans, intersect
from inspector.operations.check.digest_check import digest_of
from inspector.operations.edit import edits
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    MAX_STEPS,
    Content,
    Copy,
    Cut,
    Delete,
    Duplicate,
    ExperimentView,
    FileBytes,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
    Step,
    Steps,
    Swap,
)
from inspector.sources.local.atomic import atomic_file
from inspector.sources.local.file import FileSource

# ---- noise -----------------------------------------------------------------------------------------------------------

NOISE_BLOCK = 1 << 16
"""Bytes that are made at once: block ``n`` is the beginning of SHAKE-128 of the text ``SEED/n``."""


@lru_cache(maxsize=16)
def noise(seed: int, block: int) -> bytes:
    """One block of the noise of a seed."""
    return hashlib.shake_128(f"{seed}/{block}".encode()).digest(NOISE_BLOCK)


class NoiseSource:
    """Random bytes, the same for the same seed on every machine."""

    def __init__(self, seed: int, size: int) -> None:
        self.name = f"noise {seed}"
        self.size = size
        self._seed = seed

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        first, last = offset // NOISE_BLOCK, (offset + length - 1) // NOISE_BLOCK
        data = b"".join(noise(self._seed, number) for number in range(first, last + 1))
        return data[offset - first * NOISE_BLOCK :][:length]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - noise has no neighbours
        """See Source.sibling."""
        return None


# ---- damages by name, as transfers, disks and programs make them -----------------------------------------------------

_BLOCK_BYTES = 4096
"""A block of a disk."""
_PART_BYTES = 5 << 20
"""The parts that uploads to S3 have by default."""
_MAX_LOST_BYTES = 900
_TEXT = b"Connection to the host closed.\n"


def damage_operation(name: str, seed: int, size: int) -> Operation:
    """What a damage does to a file of ``size`` bytes. Raises OperationError for another name and an empty file."""
    if name not in DAMAGES:
        raise OperationError(f"{visible(name)} is no known damage. Known are {', '.join(DAMAGES)}.")
    if size < 2:
        raise OperationError("There is nothing left to damage.")

    def pick(first: int, stop: int, what: str = "place") -> int:
        """A number of ``[first, stop)``, the first one where that is empty."""
        digest = hashlib.shake_128(f"{seed}/{name}/{what}".encode()).digest(16)
        return first + int.from_bytes(digest, "big") % max(1, stop - first)

    def unit(size_of_unit: int, first: int = 0) -> Span:
        """One of the blocks or parts of so many bytes, with ``first`` before it at least."""
        start = pick(first, size // size_of_unit) * size_of_unit
        return Span(start, min(size, start + size_of_unit))

    block = unit(_unit(size, _BLOCK_BYTES))
    part = unit(_PART_BYTES if size >= 3 * _PART_BYTES else _unit(size, 4 << 20), first=1)
    lost = pick(1, size)
    made: dict[str, Operation] = {
        "flipped-bit": Flip(pick(0, size), pick(0, 8, "bit")),
        "changed-bytes": Replace(*block, Noise(seed, block.size)),
        "zero-block": Replace(*block, Fill(b"\0", block.size)),
        "lost-bytes": Delete(lost, min(size, lost + pick(1, _MAX_LOST_BYTES + 1, "size"))),
        "lost-part": Delete(*part),
        "stopped-upload": Cut(part.start),
        "truncated": Cut(pick(size // 4, size)),
        "trailing-text": Insert(size, Inline(_TEXT)),
    }
    return made[name]


def _unit(size: int, most: int) -> int:
    """The largest power of two that is at most a quarter of a size, and at most ``most``."""
    return min(most, 1 << max(0, (size // 4).bit_length() - 1))


# ---- steps -----------------------------------------------------------------------------------------------------------

_MAX_LABELLED = 3
"""Steps that the label of a patch names."""
MAX_GROWTH_BYTES = 1 << 30
"""An experiment may be as large as twice the archive, and so much more: what reads it takes time for every byte."""

MAX_PIECES = 1 << 14
"""Pieces of the archive that steps may leave: reading takes time for each."""
MAX_PATCH_BYTES = 16 << 20
"""Bytes that may differ for a patch, which holds them all."""
MAX_SMALL_FILE_BYTES = 1 << 16
"""The bytes of a file up to this size are a part of the step."""


class Experiment:
    """Steps over ``base``, an open archive. What earlier steps left is kept, so that a further one costs little."""

    def __init__(self, base: Source) -> None:
        self.base = base
        self.steps: Steps = ()
        self._tables = [PieceTable.whole(base)]
        self._files: dict[FileBytes, FileSource] = {}

    @property
    def source(self) -> PieceSource:
        """The archive as the steps leave it."""
        return PieceSource(self.base, self._tables[-1])

    @property
    def view(self) -> ExperimentView:
        """The experiment as it is shown."""
        return ExperimentView(self.source.size, self.base.size, tuple(place_of(step.operation) for step in self.steps))

    def set(self, steps: Steps, progress: Progress) -> None:
        """Make these the steps. Raises OperationError for what cannot be done, SourceError and Cancelled.

        Then the steps are as before.
        """
        if len(steps) > MAX_STEPS:
            raise OperationError(f"An experiment has at most {MAX_STEPS:,} steps, and these are {len(steps):,}.")
        shorter = min(len(steps), len(self.steps))
        same = next((at for at in range(shorter) if steps[at] != self.steps[at]), shorter)
        tables = self._tables[: same + 1]
        for number, step in enumerate(steps[same:], same + 1):
            tables.append(self._applied(tables[-1], step, number))
            progress.advance(0)
        self.steps, self._tables = steps, tables

    def damage(self, name: str, seed: int) -> Step:
        """The next step that makes a damage by name. Raises OperationError where nothing is left to damage."""
        return Step(damage_operation(name, seed, self.source.size), name)

    def _applied(self, table: PieceTable, step: Step, number: int) -> PieceTable:
        operation = step.operation
        limit = 2 * self.base.size + MAX_GROWTH_BYTES
        try:
            made = self._done(table, operation)
        except ValueError:
            why = f"the archive has {in_bytes(table.size)} there"
            if isinstance(operation, Swap) and intersect([operation.first], [operation.second]):
                why = "the bytes it swaps overlap"
            raise OperationError(f"Step {number} ({step}) does not fit: {why}.") from None
        if made.size > limit:
            raise OperationError(
                f"Step {number} ({step}) makes more of the archive than is read: an experiment has at most "
                f"{in_bytes(limit)}."
            )
        if len(made) > MAX_PIECES:
            raise OperationError(f"Step {number} ({step}) makes more than {MAX_PIECES:,} pieces of the archive.")
        return made

    def _done(self, table: PieceTable, operation: Operation) -> PieceTable:
        """The table after an operation; raises ValueError where that lies outside."""
        match operation:
            case Flip(offset, bit):
                stood = table.slice(offset, offset + 1).read(0, 1)
                return table.replace(offset, offset + 1, PieceTable.of_bytes(bytes(each ^ 1 << bit for each in stood)))
            case Replace(start, stop, content):
                return table.replace(start, stop, self._content(content))
            case Insert(offset, content):
                return table.insert(offset, self._content(content))
            case Delete(start, stop):
                return table.delete(start, stop)
            case Cut(offset):
                return table.delete(offset, table.size)
            case Duplicate(start, stop):
                return table.insert(stop, table.slice(start, stop))
            case Copy(start, stop, offset):
                return table.replace(offset, offset + stop - start, table.slice(start, stop))
            case Swap(first, second):
                first, second = sorted((first, second))
                if first.stop > second.start:
                    raise ValueError("They overlap.")
                return table.replace(*second, table.slice(*first)).replace(*first, table.slice(*second))

    def _content(self, content: Content) -> PieceTable:
        match content:
            case Inline(data):
                return PieceTable.of_bytes(data)
            case Fill(pattern, size):
                return PieceTable.whole(RepeatedSource(pattern, size))
            case Noise(seed, size):
                return PieceTable.whole(NoiseSource(seed, size))
            case FileBytes():
                return PieceTable.whole(self._file(content))

    def _file(self, content: FileBytes) -> FileSource:
        """The file of a step, which has the bytes that the step says. Raises OperationError and SourceError."""
        if content not in self._files:
            source = FileSource(Path(content.path))
            if source.size != content.size or digest_of(source, Progress()) != content.sha256:
                raise OperationError(f"{visible(content.name)} has other bytes than when the step was made.")
            self._files[content] = source
        return self._files[content]

    # ---- what is written -------------------------------------------------------------------------------------------

    def require_unchanged(self) -> None:
        """Raise OperationError if what the experiment reads is another than when it was opened."""
        for source in (self.base, *self._files.values()):
            if what := change_of(source):
                raise OperationError(f"{visible(source.name)} {what}. Open it again.")

    def edit(self, progress: Progress) -> Edit:
        """What the steps leave as one change in place: patches of all bytes that are others at their offsets.

        Raises OperationError where these are too many, SourceError and Cancelled.
        """
        self.require_unchanged()
        patches, total, at = [], 0, 0
        progress.begin("Comparing", self.source.size)
        for piece in self._tables[-1].pieces():
            same = piece.source is self.base and piece.start == at
            for start in range(0, 0 if same else piece.size, BLOCK):
                size = min(BLOCK, piece.size - start)
                old, new = self.base.read(at + start, size), piece.source.read(piece.start + start, size)
                progress.advance(size)
                if old != new:
                    patches.append(Patch(at + start, old, new))
                    total += size
                if total > MAX_PATCH_BYTES:
                    raise OperationError(
                        f"More than {in_bytes(MAX_PATCH_BYTES)} differ, and a patch would hold them all. Save the file."
                    )
            at += piece.size
        what = "; ".join(str(step) for step in self.steps[:_MAX_LABELLED])
        return Edit(f"Experiment: {what}", tuple(patches), self.base.size, self.source.size)

    def save_patch(self, target: Path, progress: Progress, *, replace: bool = False) -> None:
        """Write ``edit`` as a patch file, never over what is read. Raises OperationError, SourceError and Cancelled."""
        self.require_not_read(target)
        data = edits.encoded(self.edit(progress))
        with atomic_file(target, replace=replace) as out:
            out.write(data)

    def require_not_read(self, target: Path) -> None:
        """Raise OperationError if the target is the archive or a file that a step reads."""
        for each in (self.base, *self._files.values()):
            require_another_file(each, target, "what the experiment reads")

    def save(self, target: Path, progress: Progress, *, replace: bool = False) -> str:
        """Write the archive as the steps leave it to a new file, whole or not at all; returns its SHA-256.

        Never over the archive, nor over a file that a step reads. Raises OperationError, SourceError and Cancelled.
        """
        self.require_not_read(target)
        self.require_unchanged()
        return save_as_new(self.source, target, progress, replace=replace)


def save_as_new(source: Source, target: Path, progress: Progress, *, replace: bool) -> str:
    """Write all bytes to a new file, whole or not at all; returns their SHA-256 in hex. Raises as ``save``."""
    digest = hashlib.sha256()
    progress.begin("Writing the archive", source.size)
    with atomic_file(target, replace=replace) as out:
        for piece in blocks(source, 0, source.size):
            out.write(piece)
            digest.update(piece)
            progress.advance(len(piece))
        if progress.done != source.size:
            raise OperationError("Nothing was written: the archive became shorter meanwhile. Open it again.")
    return digest.hexdigest()


def step_object(step: Step) -> dict[str, Any]:
    """A step as JSON: what it does, with the values of that, and what it puts somewhere in hex or by name."""
    found = {"do": type(step.operation).__name__.lower(), **asdict(step.operation)}
    match found.pop("content", None):
        case Inline(data):
            found["bytes"] = data.hex()
        case Fill(pattern, size):
            found |= {"fill": pattern.hex(), "size": size}
        case Noise(seed, size):
            found |= {"random": seed, "size": size}
        case FileBytes() as file:
            found |= {"file": file.name, "size": file.size, "sha256": file.sha256}
    return found | ({"damage": step.damage} if step.damage else {})


def require_another_file(source: Source, target: Path, what: str) -> None:
    """Raise OperationError if the target is the file that a source, or what it lies in, is read from."""
    # A member's name is that of its archive, ``!/`` and its own.
    for name in {source.name, source.name.partition("!/")[0]}:
        try:
            same = target.exists() and target.samefile(name)
        except (OSError, ValueError):
            same = False
        if same:
            raise OperationError(f"{visible(target.name)} is {what}, which is never written. Choose another name.")


def file_content(path: str, progress: Progress) -> Content:
    """All bytes of a file, for a step: few are a part of the step. Raises OperationError, SourceError and Cancelled."""
    source = FileSource(Path(path))
    if source.size <= MAX_SMALL_FILE_BYTES:
        return Inline(source.read(0, source.size))
    return FileBytes(str(Path(path).resolve()), source.size, digest_of(source, progress))


def place_of(operation: Operation) -> Spans:
    """The bytes that an operation leaves or touches, as positions after it; an empty span is where bytes were."""
    match operation:
        case Flip(offset, _):
            return (Span(offset, offset + 1),)
        case Replace(start, _, content) | Insert(start, content):
            return (Span(start, start + content.size),)
        case Delete(start, _) | Cut(start):
            return (Span(start, start),)
        case Duplicate(start, stop):
            return (Span(stop, 2 * stop - start),)
        case Copy(start, stop, offset):
            return (Span(offset, offset + stop - start),)
        case Swap(first, second):
            first, second = sorted((first, second))
            return (Span(first.start, first.start + second.size), Span(second.stop - first.size, second.stop))
