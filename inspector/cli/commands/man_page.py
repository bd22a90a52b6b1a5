"""The manual page for ``man``, made from the parsers: what ``--help`` says of each sub-command, in roff."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from inspector import __version__
from inspector.cli.options import MESSAGE_OPTIONS, S3_OPTIONS
from inspector.cli.parser import COMMANDS, PROGRAM, description, exit_statuses, window_parser
from inspector.core.limits import ALL as LIMITS

_SHARED = {MESSAGE_OPTIONS: "OPTIONS OF ALL SUB-COMMANDS", S3_OPTIONS: "OPTIONS FOR S3:// LOCATIONS"}
"""Groups of options that many sub-commands have, described once, and the section that does."""
_VARIABLES = (
    ("NO_COLOR", "If it is set, nothing is coloured."),
    ("CLICOLOR_FORCE", "If it is set and not 0, text is coloured in a pipe too. JSON never is."),
    ("ARCHIVE_INSPECTOR_DEBUG", "As --debug=FILE: the file, or - for standard error."),
    ("ARCHIVE_INSPECTOR_REPORT", "The file to which a report is written if the program fails because of a bug."),
    ("TMPDIR", "The folder for nameless temporary files, such as long standard input."),
)


def man_page() -> str:
    """The page in roff; the same on every machine and with every width of a terminal."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    window = window_parser()
    yield f'.TH {_text(PROGRAM.upper())} 1 "" "{_text(PROGRAM)} {_text(__version__)}" "User Commands"'
    yield ".SH NAME"
    yield _text(f"{PROGRAM} - see what every byte of a CAF, RCA, TACO, datas3t, ZIP, tar or ar archive means")
    yield ".SH SYNOPSIS"
    yield from _synopsis(window, PROGRAM)
    yield ".PP"
    yield f".B {_text(PROGRAM)} \\fICOMMAND\\fR [\\fIOPTION\\fR]... \\fIARGUMENT\\fR..."
    yield ".SH DESCRIPTION"
    yield _text("Without a command, locations open in the window, one tab each. Commands work in the terminal.")
    yield _text("A location is a file, a local copy of an S3 bucket, s3://bucket/key, or - for standard input.")
    yield ".SH OPTIONS"
    yield from _options(window)
    yield ".SH COMMANDS"
    shared: dict[str, list[argparse.Action]] = {}
    for name in COMMANDS:
        yield from _command(name, shared)
    for title, heading in _SHARED.items():
        yield f".SH {_text(heading)}"
        for action in shared[title]:
            yield from _option(action)
    yield ".SH ENVIRONMENT"
    for variable, what in _VARIABLES:
        yield from _entry(_bold(variable), what)
    for limit in LIMITS:
        yield from _entry(_bold(limit.variable), f"{limit.what} {limit.default:,} by default.")
    yield ".SH SEE ALSO"
    yield _text(f"{PROGRAM} help TOPIC shows the manual: window, terminal, s3 and formats.")


def _command(name: str, shared: dict[str, list[argparse.Action]]) -> Iterator[str]:
    """The part about one sub-command; options that many have are put into ``shared``."""
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    parser = command_parser(name)
    yield f".SS {_text(name)}"
    yield _text(description(name))
    yield ".PP"
    yield from _parser(parser, shared)
    yield ".PP"
    yield "Example:"
    yield ".PP"
    yield f".RS\n.EX\n{_text(f'{PROGRAM} {COMMANDS[name].example}')}\n.EE\n.RE"
    statuses = "; ".join(f"{number} {what}" for number, what in exit_statuses(name))
    yield ".PP"
    yield _text(f"Exit status: {statuses}.")


def _parser(parser: argparse.ArgumentParser, shared: dict[str, list[argparse.Action]]) -> Iterator[str]:
    kinds = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 - argparse has no other way to ask
    if not kinds:
        yield from _synopsis(parser, parser.prog)
        yield from _options(parser, shared)
    for kind in kinds:
        for each in dict.fromkeys(kind.choices.values()):
            yield ".PP"
            yield from _parser(each, shared)


def _synopsis(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    words = [_placeholder(each) for each in parser._actions if not each.option_strings]  # noqa: SLF001
    yield f"{_bold(name)} [\\fIOPTION\\fR]... {' '.join(words)}".rstrip()


def _placeholder(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.metavar is None and action.choices is not None:
        name = "|".join(map(str, action.choices))
    shown = f"\\fI{_text(name)}\\fR"
    return {"+": f"{shown}...", "*": f"[{shown}...]", "?": f"[{shown}]"}.get(str(action.nargs), shown)


def _options(parser: argparse.ArgumentParser, shared: dict[str, list[argparse.Action]] | None = None) -> Iterator[str]:
    for group in parser._action_groups:  # noqa: SLF001
        found = [each for each in group._group_actions if each.help != argparse.SUPPRESS]  # noqa: SLF001
        if shared is not None and group.title in _SHARED:
            shared.setdefault(str(group.title), found)
            continue
        for action in found:
            if not isinstance(action, argparse._HelpAction):  # noqa: SLF001 - every program has it
                yield from _option(action)


def _option(action: argparse.Action) -> Iterator[str]:
    if not action.option_strings:
        yield from _entry(_placeholder(action), action.help or "")
        return
    names = ", ".join(map(_bold, action.option_strings))
    yield from _entry(f"{names}{_argument(action)}", action.help or "")


def _argument(action: argparse.Action) -> str:
    """What stands behind an option: `` FILE``, `` skip|rename``, ``[=FILE]``; empty where nothing does."""
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):
        return "".join(f" \\fI{_text(each)}\\fR" for each in action.metavar)
    if action.metavar and action.metavar.startswith("="):
        return f"[=\\fI{_text(action.metavar[1:])}\\fR]"
    if action.metavar is None and action.choices is not None:
        return f" {_text('|'.join(map(str, action.choices)))}"
    return f" \\fI{_text(action.metavar or action.dest.upper())}\\fR"


def _entry(head: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield head
    yield _text(text)


def _bold(text: str) -> str:
    return f"\\fB{_text(text)}\\fR"


def _text(text: str) -> str:
    """Text in which roff finds nothing to obey; a minus stays one when it is copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
