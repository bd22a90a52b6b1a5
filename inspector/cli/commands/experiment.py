"""``experiment``: what steps would make of an archive, over an overlay: nothing is written but new files."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspector.cli.commands.check import status_of
from inspector.cli.options import CONNECTION, JSON, PROGRESS, Option, connection_of, location, non_empty_name
from inspector.cli.output import ProgressBar, painted_report, say, show, wants_colour
from inspector.cli.write_options import OVERWRITE
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.operations.check.checking import CheckReport, check_location, with_readers
from inspector.operations.check.report import as_object, as_text
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.nested import open_nested
from inspector.operations.protocol.audit_views import UNCHECKED
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    Content,
    Copy,
    Cut,
    Delete,
    Duplicate,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
    Step,
    Swap,
)
from inspector.operations.trials.experiment import Experiment, file_content, step_object
from inspector.sources.local.file import LocalFolder
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.prefix import S3Prefix

Make = Callable[[Experiment], Step]
"""Makes the next step, knowing what the earlier ones left."""
_PLACE = r"(end(?:-[0-9]{1,19})?|0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})"
_RANGE = rf"{_PLACE}-{_PLACE}?"
_SEED = r"([0-9]{1,18})"
_PUT = r"([0-9a-fA-F ]*|@.+)"
_SPANS_HELP = "A-B are the bytes [A, B), A- those to the end; A and B are decimal, 0x…, end or end-N"

UNKNOWN = "Not an archive that this program knows."


def run(options: argparse.Namespace) -> int:
    """Show the steps and check what they leave; give the exit status of that check.

    Raises OperationError for what cannot be done, and SourceError.
    """
    experiment = _opened(options)
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        for make in options.steps:
            experiment.set((*experiment.steps, make(experiment)), progress)
        report = check_location(options.location, progress, place=experiment.source)
        if options.readers:
            report = with_readers(report, progress)
        written = _write(experiment, options, progress)
    _show(experiment, report, written)
    return status_of(str(report.state or UNCHECKED), strict=False)


def _opened(options: argparse.Namespace) -> Experiment:
    """The experiment before its first step. Raises OperationError for what cannot be done, and SourceError."""
    if not options.steps:
        raise OperationError("An experiment needs a step, such as --flip 100:3 or --damage lost-bytes.")
    place = open_nested(options.location, connection_of(options))
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("An experiment is made on one archive, and this is a folder: name the file.")
    experiment = Experiment(place)
    targets = [each for each in (options.to, options.save_patch) if each]
    if len({Path(each).resolve() for each in targets}) < len(targets):  # else the first is written before it is noticed
        raise OperationError("--to and --save-patch write a file each: give each its own name.")
    for target in targets:
        if is_s3(target):
            raise OperationError("An experiment is written to a local file only.")
        experiment.require_not_read(Path(target))
        if Path(target).exists() and not options.overwrite:  # before all of the archive is read
            raise OperationError(f"{visible(target)} exists already. Choose another name, or use --overwrite.")
    return experiment


def _write(experiment: Experiment, options: argparse.Namespace, progress: Progress) -> list[tuple[str, str]]:
    """Write what was asked for; returns each name with the SHA-256 of an archive, or nothing for a patch."""
    written = []
    if options.to:
        written.append((options.to, experiment.save(Path(options.to), progress, replace=options.overwrite)))
    if options.save_patch:
        experiment.save_patch(Path(options.save_patch), progress, replace=options.overwrite)
        written.append((options.save_patch, ""))
    return written


def _show(experiment: Experiment, report: CheckReport, written: list[tuple[str, str]]) -> None:
    name, view = visible(report.location), experiment.view
    steps = count(len(experiment.steps), "step")
    say(f"{name}: {steps}, {in_bytes(view.base_size)} become {view.size:,}; nothing is written to it.")
    for number, step in enumerate(experiment.steps, 1):
        found = {"source": report.location, "step": number, "sentence": str(step), **step_object(step)}
        show(found, f"  {number:>3}  {step}")
    if report.format is None and report.archives:
        report = replace(report, sentence=UNKNOWN)
    text = f"With {'this' if len(experiment.steps) == 1 else 'these'} {steps}{as_text(report).removeprefix(name)}"
    found = as_object(report) | {"base_size": view.base_size, "size": view.size}
    show(found, (painted_report(text) if wants_colour(sys.stdout) else text).removesuffix("\n"))
    for target, digest in written:
        what = f": {in_bytes(view.size)}, SHA-256 {digest}" if digest else ""
        show(
            {"source": report.location, "written": target, "sha256": digest or None},
            f"Written to {visible(target)}{what}.",
        )


# ---- steps ---------------------------------------------------------------------------------------------------------


class _AddStep(argparse.Action):
    """Collects steps of all kinds in the order given."""

    def __call__(self, _: Any, options: argparse.Namespace, values: Any, option: str | None = None) -> None:
        make = _STEPS[(option or "").removeprefix("--")][2]
        options.steps = [*options.steps, lambda experiment: make(experiment, values)]


def _matched(pattern: str, form: str) -> Callable[[str], tuple[str, ...]]:
    def match(text: str) -> tuple[str, ...]:
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found is None:
            raise argparse.ArgumentTypeError(f"“{visible(text)}” is not {form}; {_SPANS_HELP}")
        return tuple(each or "" for each in found.groups())

    return match


def _offset(experiment: Experiment, text: str) -> int:
    if text.startswith("end"):
        return experiment.source.size - int(text[4:] or 0)
    return int(text, 16 if text[:2].lower() == "0x" else 10)


def _span(experiment: Experiment, start: str, stop: str) -> Span:
    span = Span(_offset(experiment, start), _offset(experiment, stop or "end"))
    if not 0 <= span.start <= span.stop:
        raise OperationError(f"{start}-{stop} is no range: it begins at {span.start:,} and ends at {span.stop:,}.")
    return span


def _content(text: str) -> Content:
    """Bytes in hex, or ``@FILE`` for all bytes of a file, which are part of the step if they are few."""
    if text.startswith("@"):
        return file_content(text[1:], Progress())
    try:
        return Inline(bytes.fromhex(text))
    except ValueError:
        raise OperationError(f"{text} is no sequence of bytes in hex: each has two digits.") from None


def _plain(make: Callable[..., Operation]) -> Callable[[Experiment, tuple[str, ...]], Step]:
    """A step that is made of the experiment and its values."""
    return lambda experiment, values: Step(make(experiment, *values))


def _zeroed(experiment: Experiment, start: str, stop: str) -> Operation:
    span = _span(experiment, start, stop)
    return Replace(*span, Fill(b"\0", span.size))


def _random(experiment: Experiment, start: str, stop: str, seed: str) -> Operation:
    span = _span(experiment, start, stop)
    return Replace(*span, Noise(int(seed or 0), span.size))


def _swapped(experiment: Experiment, *places: str) -> Operation:
    return Swap(_span(experiment, *places[:2]), _span(experiment, *places[2:]))


_STEPS: dict[str, tuple[str, str, Callable[[Experiment, tuple[str, ...]], Step], str]] = {
    "flip": (
        "OFFSET:BIT",
        rf"{_PLACE}:([0-7])",
        _plain(lambda experiment, offset, bit: Flip(_offset(experiment, offset), int(bit))),
        "flip a bit; 0 is the lowest",
    ),
    "zero": ("A-B", _RANGE, _plain(_zeroed), "put zeros there"),
    "random": ("A-B[:SEED]", rf"{_RANGE}(?::{_SEED})?", _plain(_random), "put random bytes there"),
    "replace": (
        "A-B:HEX|@FILE",
        rf"{_RANGE}:{_PUT}",
        _plain(lambda experiment, start, stop, put: Replace(*_span(experiment, start, stop), _content(put))),
        "put these bytes in the place of those; the size may change",
    ),
    "insert": (
        "OFFSET:HEX|@FILE",
        rf"{_PLACE}:{_PUT}",
        _plain(lambda experiment, offset, put: Insert(_offset(experiment, offset), _content(put))),
        "insert these bytes before that one",
    ),
    "delete": (
        "A-B",
        _RANGE,
        _plain(lambda experiment, *places: Delete(*_span(experiment, *places))),
        "take these bytes out",
    ),
    "cut": (
        "OFFSET",
        _PLACE,
        _plain(lambda experiment, offset: Cut(_offset(experiment, offset))),
        "end the file before that byte",
    ),
    "duplicate": (
        "A-B",
        _RANGE,
        _plain(lambda experiment, *places: Duplicate(*_span(experiment, *places))),
        "insert a copy of these bytes after them",
    ),
    "copy": (
        "A-B,OFFSET",
        rf"{_RANGE},{_PLACE}",
        _plain(lambda experiment, *places: Copy(*_span(experiment, *places[:2]), _offset(experiment, places[2]))),
        "put a copy of these bytes over what is at an offset",
    ),
    "swap": ("A-B,C-D", rf"{_RANGE},{_RANGE}", _plain(_swapped), "let these bytes change places"),
    "damage": (
        "NAME[:SEED]",
        rf"([a-z0-9-]+)(?::{_SEED})?",
        lambda experiment, values: experiment.damage(values[0], int(values[1] or 0)),
        f"a damage as it happens, at a place the seed chooses: {', '.join(DAMAGES)}",
    ),
}
"""Each step's option: its form, what that matches, what makes the step, and the help."""
OPTIONS = (
    location("the archive, which is never written"),
    *(
        Option(
            f"--{name}",
            group=f"steps, in the order given; {_SPANS_HELP}",
            dest="steps",
            metavar=form,
            action=_AddStep,
            default=[],
            type=_matched(pattern, form),
            help=what,
        )
        for name, (form, pattern, _, what) in _STEPS.items()
    ),
    Option(
        "--save-patch",
        type=non_empty_name,
        metavar="OUT.json",
        help="write old and new bytes as a patch to a new file, which the window applies in place",
    ),
    Option("--to", type=non_empty_name, metavar="NEWFILE", help="write what the steps leave to a new file"),
    OVERWRITE,
    Option("--readers", action="store_true", help="also say what each known reader makes of it"),
    PROGRESS,
    JSON,
    *CONNECTION,
)
