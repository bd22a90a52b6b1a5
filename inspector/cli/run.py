"""Parse and run one sub-command, and turn whatever ends it into an exit status and a message."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from inspector.cli.bootstrap import FINE, INTERRUPTED, UNREADABLE
from inspector.cli.options import hint_texts_for
from inspector.cli.output import OutputError, close_output, complain, flush
from inspector.cli.parser import COMMANDS, EXAMPLES, PROGRAM
from inspector.core import crash_report, limits
from inspector.core.edit import EditError
from inspector.core.format import MemberError
from inspector.core.hints import using_hints
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError

REPORT_VARIABLE = "ARCHIVE_INSPECTOR_REPORT"
"""The environment variable that names the file a crash report is written to."""


class CommandModule(Protocol):
    """A module with one sub-command."""

    def add_options(self, command: argparse.ArgumentParser, /) -> None:
        """Add the sub-command's options."""

    def run(self, options: argparse.Namespace, /) -> int | None:
        """Do the work and return the exit status, None for FINE."""


def _module(name: str) -> CommandModule:
    """The module of a sub-command, imported when it is needed: each one loads only what it uses."""
    return cast("CommandModule", import_module(f"inspector.cli.{'members' if name == 'list' else name}"))


class CommandParser(argparse.ArgumentParser):
    """A parser that takes options between names too: ``extract A --to out readme.txt``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._is_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ArgumentParser does, but options may stand anywhere, unless a further sub-command has to come first."""
        if self._subparsers is not None or self._is_intermixed:
            return super().parse_known_args(args, namespace)
        self._is_intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixed = False


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser for what follows this sub-command on a command line."""
    parser = CommandParser(
        prog=f"{PROGRAM} {name}", description=COMMANDS[name], epilog=f"example:\n  {PROGRAM} {EXAMPLES[name]}"
    )
    _module(name).add_options(parser)
    return parser


def run_command(arguments: Sequence[str]) -> int:
    """Run the sub-command whose name ``arguments`` begin with, and return the exit status.

    Raises SystemExit for wrong usage, as argparse does (status 2).
    """
    name = arguments[0]
    options = command_parser(name).parse_args(arguments[1:])
    for sentence in limits.ignored():
        complain(sentence)
    if _has_empty_name(options):
        complain("An empty name is neither a file, a folder nor s3://bucket/key. Give the name of a file or folder.")
        return UNREADABLE
    # SIGTERM ends the work like Ctrl+C does, so that unfinished files are removed.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with using_hints(hint_texts_for(options)):
            status = _module(name).run(options)
        flush()
    except (SourceError, MemberError, EditError, OperationError) as error:
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
        report_bug(error)
        return UNREADABLE
    finally:
        signal.signal(signal.SIGTERM, before)
    return status or FINE


def _has_empty_name(options: argparse.Namespace) -> bool:
    """Whether a location is the empty string, as from an unset variable in a script."""
    places = [
        getattr(options, name, ()) for name in ("location", "other", "locations", "target", "inputs", "catalogue")
    ]
    return any("" in (each if isinstance(each, list) else [each]) for each in places)


def report_bug(error: BaseException) -> None:
    """Print where the program failed, and write a crash report if REPORT_VARIABLE asks for one."""
    kind = type(error).__name__
    complain(f"The program failed because of a bug: {kind} in {crash_report.raised_at(error)}. {_crash_report(error)}")


def _crash_report(error: BaseException) -> str:
    name = os.environ.get(REPORT_VARIABLE, "")
    if not name:
        return f"Set {REPORT_VARIABLE}=FILE in the environment to get a report, which names none of your files."
    try:
        Path(name).write_text(crash_report.report(error, "terminal") + "\n", encoding="utf-8")
    except OSError as failure:
        return f"The report could not be written to {name}: {failure.strerror}."
    return f"A report was written to {name}; it names none of your files."
