"""The manual page for ``man``, made from the parsers: what ``--help`` says of each sub-command, in roff."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from inspector import __version__
from inspector.cli.options import MESSAGE_OPTIONS, S3_OPTIONS
from inspector.cli.parser import COMMANDS, PROGRAM, description, exit_statuses, window_parser, with_kinds
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
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    window, parsers = window_parser(), {name: command_parser(name) for name in COMMANDS}
    groups = {title: actions for parser in parsers.values() for title, actions in _groups(parser)}
    lines = [
        f'.TH {_text(PROGRAM.upper())} 1 "" "{_text(PROGRAM)} {_text(__version__)}" "User Commands"',
        ".SH NAME",
        _text(f"{PROGRAM} - see what every byte of a CAF, RCA, TACO, datas3t, ZIP, tar or ar archive means"),
        ".SH SYNOPSIS",
        _synopsis(window),
        ".PP",
        f".B {_text(PROGRAM)} \\fICOMMAND\\fR [\\fIOPTION\\fR]... \\fIARGUMENT\\fR...",
        ".SH DESCRIPTION",
        _text("Without a command, locations open in the window, one tab each. Commands work in the terminal."),
        _text("A location is a file, a local copy of an S3 bucket, s3://bucket/key, or - for standard input."),
        ".SH OPTIONS",
        *_options(window),
        ".SH COMMANDS",
    ]
    for name, parser in parsers.items():
        lines += [f".SS {_text(name)}", _text(description(name))]
        for each in with_kinds(parser)[1:] or [parser]:
            lines += [".PP", _synopsis(each), *_options(each)]
        example = _text(f"{PROGRAM} {COMMANDS[name].example}")
        statuses = "; ".join(f"{number} {what}" for number, what in exit_statuses(name))
        lines += [".PP", "Example:", ".PP", ".RS", ".EX", example, ".EE", ".RE"]
        lines += [".PP", _text(f"Exit status: {statuses}.")]
    for title, heading in _SHARED.items():
        lines += [f".SH {_text(heading)}", *_entries(groups[title])]
    lines.append(".SH ENVIRONMENT")
    limits = [(each.variable, f"{each.what} {each.default:,} by default.") for each in LIMITS]
    for variable, what in (*_VARIABLES, *limits):
        lines += [".TP", _bold(variable), _text(what)]
    lines += [".SH SEE ALSO", _text(f"{PROGRAM} help TOPIC shows the manual: window, terminal, s3 and formats.")]
    return "".join(f"{line}\n" for line in lines)


def _groups(parser: argparse.ArgumentParser) -> list[tuple[str, list[argparse.Action]]]:
    """The groups of arguments of a parser and of its kinds, with their titles."""
    groups = [group for each in with_kinds(parser) for group in each._action_groups]  # noqa: SLF001 - argparse has no other way to ask
    return [(group.title or "", group._group_actions) for group in groups]  # noqa: SLF001


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The arguments of a parser, but for those that are described once."""
    return [line for title, actions in _groups(parser) if title not in _SHARED for line in _entries(actions)]


def _entries(actions: Iterable[argparse.Action]) -> list[str]:
    shown = [each for each in actions if not isinstance(each, argparse._HelpAction)]  # noqa: SLF001 - every program has it
    return [line for each in shown for line in (".TP", _head(each), _text(each.help or ""))]


def _synopsis(parser: argparse.ArgumentParser) -> str:
    words = [_head(each) for _, actions in _groups(parser) for each in actions if not each.option_strings]
    return " ".join((_bold(parser.prog), "[\\fIOPTION\\fR]...", *words))


def _head(action: argparse.Action) -> str:
    """How an argument is given: ``--to FILE``, ``--on-conflict skip|rename``, ``--debug[=FILE]``, ``LOCATION...``."""
    if action.metavar is None and action.choices is not None:
        value = _text("|".join(map(str, action.choices)))
    else:
        names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar or action.dest.upper(),)
        value = " ".join(f"\\fI{_text(each)}\\fR" for each in names)
    value = {"+": f"{value}...", "*": f"[{value}...]", "?": f"[{value}]"}.get(str(action.nargs), value)
    options = ", ".join(map(_bold, action.option_strings))
    if action.nargs == 0:
        return options
    return f"{options}[{value}]" if str(action.metavar).startswith("=") else f"{options} {value}".lstrip()


def _bold(text: str) -> str:
    return f"\\fB{_text(text)}\\fR"


def _text(text: str) -> str:
    """Text in which roff finds nothing to obey; a minus stays one when it is copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
