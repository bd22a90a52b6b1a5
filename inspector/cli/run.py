"""Run one sub-command and turn whatever ends it into an exit status and a sentence."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Sequence
from typing import Any

from inspector.cli import (
    append,
    audit,
    cat,
    check,
    create,
    dump,
    errors,
    extract,
    find,
    formats,
    header,
    members,
    repair,
)
from inspector.cli.exit_codes import FINE, INTERRUPTED, UNREADABLE
from inspector.cli.hints import hint_texts_for
from inspector.cli.output import OutputError, close_output, complain, flush
from inspector.cli.parser import command_parser
from inspector.core import limits
from inspector.core.edit import EditError
from inspector.core.format import MemberError
from inspector.core.hints import using_hints
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError

_RUN: dict[str, Callable[[Any], int | None]] = {
    "list": members.run,
    "dump": dump.run,
    "check": check.run,
    "audit": audit.run,
    "cat": cat.run,
    "extract": extract.run,
    "create": create.run,
    "append": append.run,
    "find": find.run,
    "header": header.run,
    "repair": repair.run,
    "formats": formats.run,
}


def run_command(arguments: Sequence[str]) -> int:
    """Run the sub-command that ``arguments`` begin with and give the exit status.

    Raises SystemExit for wrong usage, as argparse does (status 2).
    """
    options = command_parser().parse_args(arguments)
    for sentence in limits.ignored():
        complain(sentence)
    if _nameless(options):
        complain("An empty name is neither a file, a folder nor s3://bucket/key: say what is meant.")
        return UNREADABLE
    # Being told to end is an interruption like any other: what is half made is taken away.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with using_hints(hint_texts_for(options)):
            status = _RUN[options.command](options)
        flush()
    except (SourceError, MemberError, EditError, OperationError) as error:
        complain(str(error))
        return UNREADABLE
    except KeyboardInterrupt as error:
        complain(f"Interrupted. {error}".strip())
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (head, less).
        close_output()
        return FINE
    except OutputError as error:
        close_output()
        complain(str(error))
        return UNREADABLE
    except Exception as error:  # noqa: BLE001 - a mistake in the program: its own words may be anybody's
        errors.tell(error)
        return UNREADABLE
    finally:
        signal.signal(signal.SIGTERM, before)
    return status or FINE


def _nameless(options: argparse.Namespace) -> bool:
    """Whether a place is named by nothing at all, as a variable of a script that is not set names it."""
    places = [getattr(options, name, ()) for name in ("location", "locations", "target", "inputs", "catalogue")]
    return any("" in (each if isinstance(each, list) else [each]) for each in places)
