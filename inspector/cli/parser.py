"""The names of the sub-commands, and the options of the window. Light, because the window's start passes through here.

Each sub-command's own options are in its module.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from inspector import __version__
from inspector.cli.options import add_debug
from inspector.core.program.redaction import strip_credentials

PROGRAM = "archive-inspector"
_DEFAULT_COLUMNS = 80
"""Characters of a line of a terminal that does not say."""

COMMANDS = {
    "list": "list the members of archives",
    "dump": "show what every byte of an archive means, as a tree",
    "check": "check archives: whether they are sound, and if not, what is wrong and where",
    "compare": "show where two archives differ, and which one is right",
    "trace": "show every step that a reader takes, or what each known reader makes of an archive",
    "experiment": "show what changes would make of an archive, without writing to it",
    "replay": "show what a writer does to an archive write by write, and what each reader makes of a crash there",
    "entropy": "show what the bytes look like: zeros, text, compressed or random; runs of zeros and repeats",
    "strings": "list the strings in the bytes, with the field and the member of each",
    "audit": "check all archives of a folder: many at once, and resumable",
    "cat": "write one member's content to standard output",
    "extract": "extract members into a folder, and nothing outside it",
    "create": "create an archive of files and folders",
    "append": "append blobs to an RCA archive, in place",
    "find": "find a member in a catalogue that create keeps",
    "header": "show a TACO header, or edit it in place",
    "repair": "show the plan of repairs of an archive, then carry it out",
    "formats": "list the known formats and their limitations",
    "help": "show how a sub-command is used, or a page of the manual",
    "completion": "print what makes a shell complete sub-commands and options",
}
"""The sub-commands and what each does."""

EXAMPLES = {
    "list": "list --names photos.caf scans.zip",
    "dump": "dump --depth 2 photos.caf",
    "check": "check --strict photos.caf scans.zip",
    "compare": "compare photos.caf archives/photos.caf",
    "trace": "trace --reader spec photos.caf",
    "experiment": "experiment --flip 10:3 --random 20-24 photos.caf",
    "replay": "replay --append readme.txt --matrix backup.rca",
    "entropy": "entropy --blocks 8 photos.caf",
    "strings": "strings --min 6 --encoding ascii photos.caf",
    "audit": "audit --workers 2 archives",
    "cat": "cat photos.caf readme.txt",
    "extract": "extract photos.caf 'photos/*.png' --to out",
    "create": "create caf new.caf readme.txt",
    "append": "append backup.rca readme.txt",
    "find": "find catalogue.sqlite readme.txt",
    "header": "header --dry-run --set 0=1000,2000 scans.tacozip",
    "repair": "repair --dry-run scans.tacozip",
    "formats": "formats",
    "help": "help extract",
    "completion": "completion bash",
}
"""An example of each sub-command, without the program's name, that a test runs."""


_OPENED_STATUS = "the archive is damaged"
NOT_SOUND_MEANS = {
    "list": _OPENED_STATUS,
    "dump": "with --decoded: the member does not decode to its end",
    "check": "something that was checked is not sound; with --strict, warnings count",
    "compare": "there is a difference",
    "trace": "a reader rejects the archive or reads it wrongly",
    "experiment": "the archive, as the steps leave it, is not sound",
    "replay": "with --at: the archive at that point is not sound",
    "audit": "an archive is not sound",
    "cat": "a checksum or known damage contradicts what was written",
    "extract": "a member was not extracted; standard error says which and why",
    "find": "no member has the name",
    "header": "an entry leads to nothing that readers can follow",
    "repair": "something is left that is not right, or that was lost",
}
"""What exit status 1 means, of the sub-commands that have it."""
READS_STANDARD_INPUT = ("list", "dump", "check", "trace", "entropy", "strings", "cat", "extract")
"""The sub-commands of which a location may be standard input."""


def exit_statuses(name: str) -> list[tuple[int, str]]:
    """Each exit status of a sub-command and what it means."""
    wrong = [(1, NOT_SOUND_MEANS[name])] if name in NOT_SOUND_MEANS else []
    return [(0, "fine"), *wrong, (2, "wrong usage, or something could not be read or written"), (130, "interrupted")]


def description(name: str) -> str:
    """What a sub-command does, as a sentence."""
    return f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}."


def epilog(name: str) -> str:
    """What the help of a sub-command ends with: an example and the exit statuses."""
    statuses = "\n".join(f"  {number:<5}{what}" for number, what in exit_statuses(name))
    return f"example:\n  {PROGRAM} {EXAMPLES[name]}\n\nexit status:\n{statuses}"


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. argparse makes one for each option, and asks shutil, which loads all that unpacks."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """See shutil.get_terminal_size."""
    try:
        told = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        told = 0
    if told > 0:
        return told
    try:
        size = os.get_terminal_size(sys.__stdout__.fileno()) if sys.__stdout__ else None
        return size.columns if size and size.columns else _DEFAULT_COLUMNS
    except (OSError, ValueError):
        return _DEFAULT_COLUMNS


class DiscreetParser(argparse.ArgumentParser):
    """A parser whose errors say what to do, and do not repeat the secrets of an address."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=_HelpFormatter)

    def error(self, message: str) -> NoReturn:
        """See ArgumentParser."""
        super().error(strip_credentials(f"{_sentence(message)} {self.prog} --help says what it takes."))


def _sentence(message: str) -> str:
    """A message of argparse as a sentence that says what to do."""
    said, _, words = message.partition(": ")
    if said == "unrecognized arguments":
        wrong = next((word for word in words.split() if word.startswith("-")), "")
        return f"There is no option {wrong}; leave it out." if wrong else f"Leave out what is too much: {words}."
    if said == "the following arguments are required":
        return f"Add what is missing: {words}."
    return f"{message.removeprefix('argument ')}."


def window_parser() -> argparse.ArgumentParser:
    """The parser for a command line without a sub-command: ``locations``, and actions instead of a window."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:<{width}}{what}" for name, what in COMMANDS.items())
    parser = DiscreetParser(
        prog=PROGRAM,
        description="Open archives in the window, one tab per location.",
        epilog=f"sub-commands, which work in the terminal ({PROGRAM} NAME --help tells more):\n{commands}\n\n"
        "To open a location that is named like a sub-command, type ./NAME.",
    )
    parser.add_argument("locations", metavar="LOCATION", nargs="*", help="a file, or a folder that is a bucket's root")
    parser.add_argument("--new-window", action="store_true", help="open a new window, even if one is open already")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="show where two locations differ")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--screenshot", metavar="OUT.png", help="render the window into a picture, and exit")
    instead.add_argument(
        "--install-desktop", action="store_true", help="add the program to your desktop's menus, and exit"
    )
    instead.add_argument("--uninstall-desktop", action="store_true", help="remove it from them again, and exit")
    add_debug(parser)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def mistyped(word: str) -> str:
    """The message for a word that looks like a mistyped command; empty for a location, a command or anything else."""
    if word in COMMANDS or not word.isalpha() or Path(word).exists():
        return ""
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), COMMANDS, 1)
    return f"{word} is neither a file nor a command; did you mean {close[0]}?" if close else ""
