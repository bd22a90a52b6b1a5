"""Recipes: the steps of an experiment as JSON, which repeat it on the same archive elsewhere.

One object: ``format`` (``archive-inspector-recipe``), ``version`` (1), ``base`` and ``result`` (``name``, ``size`` in
bytes and ``sha256`` in hex of the archive as it is and as the steps leave it; ``result`` may be left out), and
``steps``.
The manual's page "Experiments" lists the steps with their members.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.operations.edit.patch_file import fault_in
from inspector.operations.experiment.experiment import Experiment
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import (
    MAX_INLINE_BYTES,
    MAX_STEPS,
    Content,
    Copy,
    Cut,
    Delete,
    Duplicate,
    FileBytes,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
    Rewrite,
    Step,
    Steps,
    Swap,
)
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.file import FileSource

FORMAT = "archive-inspector-recipe"
VERSION = 1
MAX_RECIPE_BYTES = 16 << 20
"""The size of the largest recipe that is read."""
MAX_PATTERN_BYTES = 4096
"""The longest pattern of a fill, in bytes."""
MAX_REWRITTEN_BYTES = 16
"""The most bytes that one byte may become."""

_Position = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Pair = tuple[_Position, _Position]


class _Bytes(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An archive: its name is for people only."""

    size: _Position
    sha256: _Digest
    name: str = ""


class _Do(msgspec.Struct, forbid_unknown_fields=True, tag_field="do", kw_only=True, omit_defaults=True):
    """What all steps have in common."""

    damage: Annotated[str, msgspec.Meta(max_length=40)] = ""


class _Put(_Do, kw_only=True):
    """A step that puts ``bytes`` somewhere (hex), or a ``fill``, ``random`` bytes of a seed, or a ``file``."""

    bytes: str | None = None
    fill: str | None = None
    random: _Position | None = None
    file: str | None = None
    size: _Position | None = None
    sha256: _Digest | None = None


class _Flip(_Do, tag="flip"):
    offset: _Position
    bit: Annotated[int, msgspec.Meta(ge=0, le=7)]


class _Replace(_Put, tag="replace"):
    start: _Position
    stop: _Position


class _Insert(_Put, tag="insert"):
    offset: _Position


class _Delete(_Do, tag="delete"):
    start: _Position
    stop: _Position


class _Cut(_Do, tag="cut"):
    offset: _Position


class _Duplicate(_Do, tag="duplicate"):
    start: _Position
    stop: _Position


class _Copy(_Do, tag="copy"):
    start: _Position
    stop: _Position
    offset: _Position


class _Swap(_Do, tag="swap"):
    first: _Pair
    second: _Pair


class _Rewrite(_Do, tag="rewrite"):
    old: str
    new: str


_Step = _Flip | _Replace | _Insert | _Delete | _Cut | _Duplicate | _Copy | _Swap | _Rewrite


class _File(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    format: str
    version: int
    base: _Bytes
    steps: Annotated[list[_Step], msgspec.Meta(max_length=MAX_STEPS)]
    result: _Bytes | None = None


class Recipe(Struct, frozen=True):
    """Steps, and what they are for and lead to: size in bytes and SHA-256 in hex, None where that is not said."""

    steps: Steps
    base: tuple[int, str]
    result: tuple[int, str] | None


# ---- writing -------------------------------------------------------------------------------------------------------


def save(experiment: Experiment, target: Path, progress: Progress, *, replace: bool = False) -> None:
    """Write the recipe of an experiment, never over what it reads. Raises OperationError, SourceError and Cancelled."""
    experiment.require_not_read(target)
    data = encoded(experiment, progress)
    with AtomicFile(target, replace=replace) as out:
        out.write(data)


def encoded(experiment: Experiment, progress: Progress) -> bytes:
    """The recipe of an experiment. Raises OperationError, SourceError and Cancelled."""
    result = experiment.digest(progress)
    file = _File(
        FORMAT,
        VERSION,
        _Bytes(experiment.base.size, experiment.base_digest(progress), _last(experiment.base.name)),
        [_encoded(step) for step in experiment.steps],
        _Bytes(experiment.source.size, result),
    )
    return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"


def step_object(step: Step) -> dict[str, object]:
    """A step as the object that a recipe has."""
    found: dict[str, object] = msgspec.to_builtins(_encoded(step))
    return found


def step_text(step: Step) -> str:
    """A step as a line of a recipe."""
    return msgspec.json.encode(_encoded(step)).decode()


def _last(name: str) -> str:
    return visible(name.replace("\\", "/").rpartition("/")[2])


def _encoded(step: Step) -> _Step:
    damage = step.damage
    match step.operation:
        case Flip(offset, bit):
            return _Flip(offset=offset, bit=bit, damage=damage)
        case Replace(start, stop, content):
            return _filled(_Replace(start=start, stop=stop, damage=damage), content, stop - start)
        case Insert(offset, content):
            return _filled(_Insert(offset=offset, damage=damage), content)
        case Delete(start, stop):
            return _Delete(start=start, stop=stop, damage=damage)
        case Cut(offset):
            return _Cut(offset=offset, damage=damage)
        case Duplicate(start, stop):
            return _Duplicate(start=start, stop=stop, damage=damage)
        case Copy(start, stop, offset):
            return _Copy(start=start, stop=stop, offset=offset, damage=damage)
        case Swap(first, second):
            return _Swap(first=(first.start, first.stop), second=(second.start, second.stop), damage=damage)
        case Rewrite(old, new):
            return _Rewrite(old=f"{old:02x}", new=new.hex(), damage=damage)


_Filled = _Replace | _Insert


def _filled(step: _Filled, content: Content, usual: int | None = None) -> _Filled:
    """The step with what it puts there; a size that is as ``usual`` is left out."""
    if isinstance(content, Inline):
        step.bytes = content.data.hex()
        return step
    step.size = None if content.size == usual else content.size
    match content:
        case Fill(pattern, _):
            step.fill = pattern.hex()
        case Noise(seed, _):
            step.random = seed
        case FileBytes():
            step.file, step.size, step.sha256 = content.name, content.size, content.sha256
    return step


# ---- reading -------------------------------------------------------------------------------------------------------


def load(path: Path) -> Recipe:
    """The recipe in a file; files of its steps lie beside it. Raises OperationError where it is none, SourceError."""
    return decoded(FileSource(path), path.parent)


def decoded(source: Source, folder: Path) -> Recipe:
    """The recipe that a source holds; files of its steps lie in ``folder``. Raises OperationError and SourceError."""
    name = visible(_last(source.name))
    if source.size > MAX_RECIPE_BYTES:
        raise OperationError(f"{name} is too large for a recipe: {in_bytes(source.size)}.")
    try:
        file = msgspec.json.decode(source.read(0, source.size), type=_File)
        if (file.format, file.version) != (FORMAT, VERSION):
            raise OperationError(f"{name} is a recipe of an unknown kind or a later version.")
        steps = []
        for number, each in enumerate(file.steps, 1):
            steps.append(_decoded(each, number, name, folder))
    except RecursionError as error:
        raise OperationError(f"{name} is no valid recipe: its values are nested too deeply.") from error
    except ValueError as error:  # the base of msgspec.DecodeError
        raise OperationError(f"{name} is no valid recipe: {fault_in(error)}.") from error
    result = None if file.result is None else (file.result.size, file.result.sha256)
    return Recipe(tuple(steps), (file.base.size, file.base.sha256), result)


def parsed_step(text: str, folder: Path) -> Step:
    """The step of a line of a recipe. Raises OperationError."""
    try:
        step = msgspec.json.decode(text.encode(), type=_Step)
        return Step(_operation(step, folder), visible(step.damage))
    except RecursionError as error:
        raise OperationError("This is no step of a recipe: its values are nested too deeply.") from error
    except ValueError as error:
        raise OperationError(f"This is no step of a recipe: {fault_in(error)}.") from error


def _decoded(step: _Step, number: int, name: str, folder: Path) -> Step:
    try:
        return Step(_operation(step, folder), visible(step.damage))
    except ValueError as error:
        raise OperationError(f"{name}: step {number} is not possible: {visible(str(error)).rstrip('.')}.") from error


def _operation(step: _Step, folder: Path) -> Operation:
    match step:
        case _Flip():
            return Flip(step.offset, step.bit)
        case _Replace():
            start, stop = _span(step.start, step.stop)
            return Replace(start, stop, _content(step, folder, stop - start))
        case _Insert():
            return Insert(step.offset, _content(step, folder))
        case _Delete():
            return Delete(*_span(step.start, step.stop))
        case _Cut():
            return Cut(step.offset)
        case _Duplicate():
            return Duplicate(*_span(step.start, step.stop))
        case _Copy():
            return Copy(*_span(step.start, step.stop), step.offset)
        case _Swap():
            return Swap(_span(*step.first), _span(*step.second))
        case _Rewrite():
            old, new = _in_hex(step.old), _in_hex(step.new)
            if len(old) != 1 or len(new) > MAX_REWRITTEN_BYTES:
                raise ValueError(f"one byte becomes at most {MAX_REWRITTEN_BYTES}")
            return Rewrite(old[0], new)


def _span(start: int, stop: int) -> Span:
    if stop < start:
        raise ValueError(f"its bytes end at {stop:,}, before they begin at {start:,}")
    return Span(start, stop)


def _in_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError("its bytes are not in hex, where each has two digits") from None


def _content(step: _Filled, folder: Path, usual: int | None = None) -> Content:
    given = [each for each in (step.bytes, step.fill, step.random, step.file) if each is not None]
    if len(given) != 1:
        raise ValueError("it says not exactly one of bytes, fill, random and file")
    if step.bytes is not None:
        data = _in_hex(step.bytes)
        if len(data) > MAX_INLINE_BYTES:
            raise ValueError(f"it has more than {in_bytes(MAX_INLINE_BYTES)}; put them into a file beside the recipe")
        return Inline(data)
    size = usual if step.size is None else step.size
    if size is None:
        raise ValueError("it does not say how many bytes are inserted")
    if step.file is not None:
        return _beside(step, folder, size)
    if step.random is not None:
        return Noise(step.random, size)
    pattern = _in_hex(step.fill or "")
    if not 0 < len(pattern) <= MAX_PATTERN_BYTES:
        raise ValueError(f"its pattern does not have 1 to {MAX_PATTERN_BYTES:,} bytes")
    return Fill(pattern, size)


def _beside(step: _Filled, folder: Path, size: int) -> FileBytes:
    """The file of a step. A recipe comes from elsewhere: it may name what lies beside it and nothing else."""
    name = step.file or ""
    if name in ("", ".", "..") or any(each in name for each in "/\\\0") or step.sha256 is None or step.size is None:
        raise ValueError("its file has no name of a file beside the recipe, no size or no sha256")
    return FileBytes(str(folder / name), size, step.sha256)


# ---- repeating -----------------------------------------------------------------------------------------------------


def repeat(recipe: Recipe, experiment: Experiment, progress: Progress) -> None:
    """Make the steps of a recipe those of the experiment, and compare what they leave.

    Raises OperationError where the recipe is for another archive or leads to other bytes, SourceError and Cancelled.
    """
    size, digest = recipe.base
    if experiment.base.size != size:
        raise OperationError(
            f"The recipe is for an archive of {in_bytes(size)}, and this one has {experiment.base.size:,}."
        )
    if experiment.base_digest(progress) != digest:
        raise OperationError("The recipe is for another archive: the SHA-256 of this one is not the one it names.")
    before = experiment.steps
    experiment.set(recipe.steps, progress)
    if recipe.result is not None:
        size, digest = recipe.result
        if experiment.source.size != size or experiment.digest(progress) != digest:
            experiment.set(before, progress)
            raise OperationError("The steps do not lead to the bytes that the recipe names: it was changed or damaged.")
