"""Parse and run one sub-command, and turn whatever ends it into an exit status and a message."""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from inspector.cli.bootstrap import FINE, INTERRUPTED, UNREADABLE
from inspector.cli.options import MESSAGES, STANDARD_INPUT, add_to, hint_texts_for, with_debug_target
from inspector.cli.output import OutputError, close_output, complain, flush, printing, remark
from inspector.cli.parser import COMMANDS, PROGRAM, DiscreetParser, description, epilog
from inspector.core import limits
from inspector.core.program.hints import using_hints
from inspector.core.program.log import VARIABLE, Log, LogError, logging_to, remarks_on_standard_error
from inspector.core.program.redaction import redacted
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.web.address import enter, is_web, read_only, without_query

REPORT_VARIABLE = "ARCHIVE_INSPECTOR_REPORT"
"""The environment variable that names the file a crash report is written to."""

_LIBRARIES = {"boto3": "An s3:// location", "botocore": "An s3:// or https:// location"}
"""What can be left out of an installation, and what needs it then."""

_LOG = Log(__name__)


def _module(name: str) -> ModuleType:
    """The module of a sub-command, imported when it is needed: each one loads only what it uses.

    ``OPTIONS`` are its options, and ``KINDS``, of one that has kinds, has what each kind is and its options; ``run``
    does the work and gives the exit status, None for FINE.
    """
    return import_module(f"inspector.cli.commands.{name}")


class _Name(str):
    """A word behind ``--``, which is no option whatever it begins with."""

    __slots__ = ()


class CommandParser(DiscreetParser):
    """A parser that takes options between names too: ``extract A --to out readme.txt``; ``--`` ends them.

    argparse forgets where ``--`` was when it goes through the words a second time, so they are marked before.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._is_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ArgumentParser does, but options may stand anywhere, unless a further sub-command has to come first."""
        if args and "--" in args:
            end = args.index("--")
            args = [*args[:end], *map(_Name, args[end + 1 :])]
        if self._subparsers is not None or self._is_intermixed:
            return super().parse_known_args(args, namespace)
        self._is_intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixed = False

    def _parse_optional(self, arg_string: str) -> Any:
        return None if isinstance(arg_string, _Name) else super()._parse_optional(arg_string)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        is_handed_on = action.nargs == argparse.PARSER
        return arg_string if is_handed_on else super()._get_value(action, str(arg_string))


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser for what follows this sub-command on a command line."""
    parser = CommandParser(prog=f"{PROGRAM} {name}", description=description(name), epilog=epilog(name))
    module = _module(name)
    if kinds := getattr(module, "KINDS", {}):
        # What stands before the kind holds unless it is said again.
        again = [each.without_default() for each in MESSAGES]
        parsers = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
        for kind, (what, options) in kinds.items():
            add_to(parsers.add_parser(kind, help=what, description=what), (*options, *again))
    add_to(parser, (*module.OPTIONS, *MESSAGES))
    return parser


def run_command(arguments: Sequence[str]) -> int:
    """Run the sub-command whose name ``arguments`` begin with, and return the exit status.

    Raises SystemExit for wrong usage, as argparse does (status 2).
    """
    name = arguments[0]
    options = command_parser(name).parse_args(with_debug_target(arguments[1:]))
    _enter_addresses(options)
    with ExitStack() as stack:
        stack.enter_context(
            printing(quiet=options.quiet, as_json=getattr(options, "json", False), colour=options.color)
        )
        try:
            stack.enter_context(logging_to(options.debug or os.environ.get(VARIABLE, ""), "terminal"))
        except LogError as error:
            complain(str(error))
            return UNREADABLE
        if options.format_file:
            from inspector.formats._own import OwnFormatError, using  # most commands need none

            try:
                stack.enter_context(using(options.format_file))
            except OwnFormatError as error:
                complain(str(error))
                return UNREADABLE
        if options.verbose:
            stack.enter_context(remarks_on_standard_error(f"{PROGRAM}: "))
        began = time.monotonic()
        if _LOG.logger is not None:
            import shlex

            _LOG.debug("arguments: %s", redacted(shlex.join(map(without_query, arguments))))
        status = _run_parsed(name, options)
        _LOG.info("%s ended with status %d after %.2f s", name, status, time.monotonic() - began)
        return status


def _run_parsed(name: str, options: argparse.Namespace) -> int:
    limits.calculate_in_one_thread()
    for sentence in limits.ignored():
        remark(sentence)
    if wrong := _wrong_output(options) or _wrong_place(name, _places(options)):
        complain(wrong)
        return UNREADABLE
    # SIGTERM ends the work like Ctrl+C does, so that unfinished files are removed.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        try:
            with using_hints(hint_texts_for(options)):
                status = _module(name).run(options)
        finally:
            flush()
    except _expected() as error:
        _LOG.debug("it failed", exc_info=True)
        complain(str(error))
        return UNREADABLE
    except KeyboardInterrupt as error:
        complain(f"Interrupted. {error}".strip())
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe (head, less).
        close_output()
        return FINE
    except OutputError as error:
        close_output()
        complain(str(error))
        return UNREADABLE
    except Exception as error:  # noqa: BLE001 - a bug: its message may quote anything, so it is not shown
        if missing := _missing_library(error):
            complain(missing)
            return UNREADABLE
        _LOG.debug("it failed because of a bug", exc_info=True)
        report_bug(error)
        return UNREADABLE
    finally:
        signal.signal(signal.SIGTERM, before)
    return status or FINE


def _missing_library(error: Exception) -> str:
    """What to install, as a sentence; empty where something else is wrong."""
    library = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    needs = _LIBRARIES.get(library)
    return f"{needs} needs {library}, which is not installed: pip install {library}." if needs else ""


def _expected() -> tuple[type[Exception], ...]:
    """What ends the work with a sentence for the user; imported when something ends it."""
    from inspector.core.edit import EditError
    from inspector.core.format import MemberError

    return SourceError, MemberError, EditError, OperationError


_PLACES = ("location", "others", "locations", "target", "inputs", "catalogue")
_OUTPUTS = ("to", "report", "catalog", "results", "save_patch")


def _enter_addresses(options: argparse.Namespace) -> None:
    """Put what may be shown in the place of addresses on the web."""
    for name in (*_PLACES, *_OUTPUTS):
        value = getattr(options, name, None)
        if isinstance(value, str):
            setattr(options, name, enter(value))
        elif isinstance(value, list):
            setattr(options, name, [enter(each) if isinstance(each, str) else each for each in value])


def _places(options: argparse.Namespace) -> list[str]:
    """All locations, and other files and folders, that the arguments name."""
    found = [getattr(options, name, []) for name in _PLACES]
    return [place for each in found for place in (each if isinstance(each, list) else [each])]


def _wrong_place(name: str, places: Sequence[str]) -> str:
    """Why the sub-command cannot work on these places at all; empty if it can be tried."""
    if "" in places:  # as from an unset variable in a script
        return "An empty name is neither a file, a folder nor s3://bucket/key. Give the name of a file or folder."
    if STANDARD_INPUT in places and not COMMANDS[name].reads_standard_input:
        *others, last = (each for each, command in COMMANDS.items() if command.reads_standard_input)
        return f"{name} cannot read standard input; {', '.join(others)} and {last} can. A file called - is ./-."
    if places.count(STANDARD_INPUT) > 1:
        return "Standard input can be read once only, so - can be one location only."
    return ""


def _wrong_output(options: argparse.Namespace) -> str:
    """Why what the arguments name cannot be written; empty if it can be tried."""
    outputs = {name: getattr(options, name, None) for name in ("target", *_OUTPUTS)}
    for name, value in outputs.items():
        if value == STANDARD_INPUT:
            named = "TARGET" if name == "target" else f"--{name.replace('_', '-')}"
            return f"{named} cannot be standard output, where results and messages go. One called - is ./-."
    return next((str(read_only(each)) for each in outputs.values() if isinstance(each, str) and is_web(each)), "")


def report_bug(error: BaseException) -> None:
    """Print where the program failed, and write a crash report if REPORT_VARIABLE asks for one."""
    from inspector.core.program import crash_report

    kind = type(error).__name__
    where = f"The program failed because of a bug: {kind} in {crash_report.raised_at(error)}."
    name = os.environ.get(REPORT_VARIABLE, "")
    done = f"A report was written to {name}; it names none of your files."
    if not name:
        done = f"Set {REPORT_VARIABLE}=FILE in the environment to get a report, which names none of your files."
    else:
        try:
            Path(name).write_text(crash_report.report(error, "terminal") + "\n", encoding="utf-8")
        except OSError as failure:
            done = f"The report could not be written to {name}: {failure.strerror}."
    complain(f"{where} {done}")
