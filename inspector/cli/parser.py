"""The names of the sub-commands, and the options of the window. Light, because the window's start passes through here.

Each sub-command's own options are in its module.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

from inspector import __version__
from inspector.cli.options import DEBUG, FORMAT_FILE, Option, add_to
from inspector.core.program.redaction import strip_credentials

PROGRAM = "archive-inspector"
_DEFAULT_COLUMNS = 80
"""Characters of a line of a terminal that does not say."""

_MAX_CHOICES = 50
"""Values that are named where another is given: all but the codes of findings."""


class Command(NamedTuple):
    """What a sub-command does, and an example without the program's name, which a test runs."""

    what: str
    example: str
    not_sound: str = ""
    """What exit status 1 means; empty where it has none."""
    reads_standard_input: bool = False


COMMANDS = {
    "list": Command(
        "list the members of archives",
        "list --names photos.caf scans.zip",
        not_sound="the archive is damaged",
        reads_standard_input=True,
    ),
    "dump": Command(
        "show what every byte of an archive means, as a tree",
        "dump --depth 2 photos.caf",
        reads_standard_input=True,
    ),
    "check": Command(
        "check archives: whether they are sound, and if not, what is wrong and where",
        "check --strict photos.caf scans.zip",
        not_sound="something that was checked is not sound; with --strict, warnings count",
        reads_standard_input=True,
    ),
    "compare": Command(
        "show where two archives differ, and which one is right",
        "compare photos.caf archives/photos.caf",
        not_sound="there is a difference",
    ),
    "trace": Command(
        "show every step that a reader takes, or what each known reader makes of an archive",
        "trace --reader spec photos.caf",
        not_sound="a reader rejects the archive or reads it wrongly",
        reads_standard_input=True,
    ),
    "experiment": Command(
        "show what changes would make of an archive, without writing to it",
        "experiment --flip 10:3 --random 20-24 photos.caf",
        not_sound="the archive, as the steps leave it, is not sound",
    ),
    "replay": Command(
        "show what a writer does to an archive write by write, and what each reader makes of a crash there",
        "replay --append readme.txt --matrix backup.rca",
        not_sound="with --at: the archive at that point is not sound",
    ),
    "entropy": Command(
        "show what the bytes look like: zeros, text, compressed or random",
        "entropy --blocks 8 photos.caf",
        reads_standard_input=True,
    ),
    "coverage": Command(
        "show which keys the ranges of datas3t datasets have, from their names alone",
        "coverage weather",
        not_sound="ranges overlap, or do not fit the service's list",
    ),
    "scan": Command(
        "find archives and fragments of them in any bytes: disk images, rescued files, several in one file",
        "scan photos.caf",
        not_sound="nothing was found",
        reads_standard_input=True,
    ),
    "audit": Command(
        "check all archives of a folder: many at once, and resumable",
        "audit --workers 2 archives",
        not_sound="an archive is not sound",
    ),
    "cat": Command(
        "write one member's content to standard output",
        "cat photos.caf readme.txt",
        not_sound="a checksum or known damage contradicts what was written",
        reads_standard_input=True,
    ),
    "extract": Command(
        "extract members into a folder, and nothing outside it",
        "extract photos.caf 'photos/*.png' --to out",
        not_sound="a member was not extracted; standard error says which and why",
        reads_standard_input=True,
    ),
    "create": Command(
        "create an archive of files and folders",
        "create caf new.caf readme.txt",
    ),
    "append": Command(
        "append blobs to an RCA archive, in place",
        "append backup.rca readme.txt",
    ),
    "find": Command(
        "find a member in a catalogue that create keeps",
        "find catalogue.sqlite readme.txt",
        not_sound="no member has the name",
    ),
    "grep": Command(
        "search the contents, the bytes or the names of archives for text, bytes or numbers",
        "grep --in names readme photos.caf",
        not_sound="it was not found",
    ),
    "header": Command(
        "show a TACO header, or edit it in place",
        "header --dry-run --set 0=1000,2000 scans.tacozip",
        not_sound="an entry leads to nothing that readers can follow",
    ),
    "repair": Command(
        "repair an archive: write the plan of repairs to it; --dry-run only shows the plan, --to writes a copy",
        "repair --dry-run scans.tacozip",
        not_sound="something is left that is not right, or that was lost",
    ),
    "formats": Command(
        "list the known formats and their limitations",
        "formats",
    ),
    "schema": Command(
        "print the JSON Schema of what --json prints",
        "schema check",
    ),
    "help": Command(
        "show how a sub-command is used, a page of the manual, or what a finding means",
        "help extract",
    ),
    "completion": Command(
        "print what makes a shell complete sub-commands and options",
        "completion bash",
    ),
}


def exit_statuses(name: str) -> list[tuple[int, str]]:
    """Each exit status of a sub-command and what it means."""
    wrong = [(1, COMMANDS[name].not_sound)] if COMMANDS[name].not_sound else []
    return [(0, "fine"), *wrong, (2, "wrong usage, or something could not be read or written"), (130, "interrupted")]


def description(name: str) -> str:
    """What a sub-command does, as a sentence."""
    return f"{COMMANDS[name].what[0].upper()}{COMMANDS[name].what[1:]}."


def epilog(name: str) -> str:
    """What the help of a sub-command ends with: an example and the exit statuses."""
    statuses = "\n".join(f"  {number:<5}{what}" for number, what in exit_statuses(name))
    return f"example:\n  {PROGRAM} {COMMANDS[name].example}\n\nexit status:\n{statuses}"


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. argparse makes one for each option, and asks shutil, which loads all that unpacks."""

    def __init__(self, prog: str) -> None:
        told = os.environ.get("COLUMNS", "")
        super().__init__(prog, width=(int(told if told.isdecimal() else 0) or columns(sys.__stdout__)) - 2)


def columns(stream: TextIO | None) -> int:
    """Characters of a line of the terminal that ``stream`` is; of one that does not say, and of none, 80."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns if stream else 0) or _DEFAULT_COLUMNS
    except (OSError, ValueError):
        return _DEFAULT_COLUMNS


class DiscreetParser(argparse.ArgumentParser):
    """A parser whose errors say what to do, and do not repeat the secrets of an address."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=_HelpFormatter)

    def error(self, message: str) -> NoReturn:
        """See ArgumentParser."""
        super().error(strip_credentials(f"{_sentence(message, self)} {self.prog} --help says what it takes."))


def with_kinds(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser, and those of its kinds."""
    kinds = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 - argparse has no other way to ask
    return [parser, *(each for kind in kinds for each in kind.choices.values())]


def options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What each long option of a parser does, and of its kinds."""
    actions = [action for each in with_kinds(parser) for action in each._actions]  # noqa: SLF001
    return {name: each.help or "" for each in actions for name in each.option_strings if name.startswith("--")}


def _meant(word: str, words: Iterable[str]) -> str:
    """A question whether the most similar of some words was meant; empty where none is similar."""
    from difflib import get_close_matches

    bare = {each.lstrip("-"): each for each in words}
    close = get_close_matches(word.lstrip("-").partition("=")[0], bare, 1)
    return f"did you mean {bare[close[0]]}?" if close else ""


def _sentence(message: str, parser: argparse.ArgumentParser) -> str:
    """A message of argparse as a sentence that says what to do."""
    said, _, words = message.partition(": ")
    if said == "unrecognized arguments":
        wrong = next((word for word in words.split() if word.startswith("-")), "")
        if not wrong:
            return f"Unexpected argument: {words}."
        return f"There is no option {wrong}; {_meant(wrong, options_of(parser)) or 'leave it out.'}"
    if said == "the following arguments are required":
        return f"Add what is missing: {words}."
    if found := re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message):
        names = [each.strip("'") for each in found[3].split(", ")]
        question = _meant(found[2], names) or f"choose from {', '.join(names[:_MAX_CHOICES])}."
        return f"{found[1]} cannot be {found[2]}; {question}"
    return f"{message.removeprefix('argument ')}."


_WINDOW_OPTIONS = (
    Option("locations", metavar="LOCATION", nargs="*", help="a file, or a local copy of an S3 bucket"),
    Option("--new-window", action="store_true", help="open a new window, even if one is open already"),
    Option("--compare", nargs=2, metavar=("A", "B"), help="show where two locations differ"),
    Option("--screenshot", one_of="instead", metavar="OUT.png", help="render the window into a picture, and exit"),
    Option(
        "--install-desktop",
        one_of="instead",
        action="store_true",
        help="add the program to your desktop's menus, and exit",
    ),
    Option("--uninstall-desktop", one_of="instead", action="store_true", help="remove it from them again, and exit"),
    FORMAT_FILE,
    Option("--debug", **DEBUG.settings),
    Option("--version", action="version", version=f"{PROGRAM} {__version__}"),
)


def window_parser() -> argparse.ArgumentParser:
    """The parser for a command line without a sub-command: ``locations``, and actions instead of a window."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:<{width}}{each.what}" for name, each in COMMANDS.items())
    parser = DiscreetParser(
        prog=PROGRAM,
        description="Open archives in the window, one tab per location.",
        epilog=f"sub-commands, which work in the terminal ({PROGRAM} NAME --help tells more):\n{commands}\n\n"
        "To open a location that is named like a sub-command, type ./NAME.",
    )
    add_to(parser, _WINDOW_OPTIONS)
    return parser


def mistyped(word: str) -> str:
    """The message for a word that looks like a mistyped command; empty for a location, a command or anything else."""
    if word in COMMANDS or not word.isalpha() or Path(word).exists():
        return ""
    question = _meant(word.lower(), COMMANDS)
    return f"{word} is neither a file nor a command; {question}" if question else ""
