"""What can be typed. Imports little, because the window's start passes through here too."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from inspector import __version__
from inspector.cli.audit_options import add_audit
from inspector.cli.connecting import add_connecting
from inspector.cli.create_options import add_create
from inspector.cli.progress_option import add_progress
from inspector.cli.rca_options import add_append
from inspector.cli.unfinished_option import add_unfinished

PROGRAM = "archive-inspector"

COMMANDS = {
    "list": "the members of an archive",
    "dump": "what every byte of an archive means, as a tree",
    "check": "whether archives are right, and if not, what is wrong and where",
    "audit": "whether all archives of a folder are right: many at once, and taken up where it was stopped",
    "cat": "one member's content on standard output",
    "extract": "members into a folder, and nothing outside it",
    "create": "a new archive of files and folders",
    "append": "more blobs for an RCA archive, in place",
    "find": "where a member is, from a catalogue that create keeps",
    "header": "show a TACO header, or edit it in place",
    "repair": "the plan of repairing an archive, and then the repairing",
    "formats": "the formats that are known, and their limitations",
}
"""The sub-commands and what each does."""


def window_parser() -> argparse.ArgumentParser:
    """What can be typed without a sub-command: ``locations``, and what may be wanted instead of a window."""
    commands = "\n".join(f"  {name:<10}{what}" for name, what in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Open archives in the window, one tab a location.",
        epilog=f"sub-commands, which work in the terminal ({PROGRAM} NAME --help says more):\n{commands}\n\n"
        "A location that is named like a sub-command opens as ./NAME.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", metavar="LOCATION", nargs="*", help="a file, or a folder that is a bucket's root")
    parser.add_argument(
        "--new-window", action="store_true", help="open a window of its own, also where one is open already"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--screenshot", metavar="OUT.png", help="render the window into a picture, and end")
    instead.add_argument(
        "--install-desktop", action="store_true", help="put the program into your desktop's menus, and end"
    )
    instead.add_argument("--uninstall-desktop", action="store_true", help="take it out of them again, and end")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def mistyped(word: str) -> str:
    """A sentence about a word that is neither a location nor a command, but looks like one; empty for any other."""
    if word in COMMANDS or not word.isalpha() or Path(word).exists():
        return ""
    close = get_close_matches(word.lower(), COMMANDS, 1)
    return f"{word} is no file and no command; did you mean {close[0]}?" if close else ""


def command_parser() -> argparse.ArgumentParser:
    """What can be typed with a sub-command; ``command`` is its name."""
    parser = argparse.ArgumentParser(prog=PROGRAM)
    commands = parser.add_subparsers(dest="command", required=True)
    added = {name: commands.add_parser(name, help=what, description=what) for name, what in COMMANDS.items()}
    for name in ("list", "dump", "cat", "extract"):
        added[name].add_argument("location", metavar="LOCATION", help="a file, or a folder that is a bucket's root")
    added["cat"].add_argument("member", metavar="MEMBER", help="the member's path, as list shows it")
    added["dump"].add_argument("--depth", type=_depth, metavar="N", help="show only the outer N levels of the tree")
    added["check"].add_argument("locations", metavar="LOCATION", nargs="+", help="files and folders")
    added["check"].add_argument("--strict", action="store_true", help="warnings count: exit with 1 for them too")
    added["check"].add_argument(
        "--by-checksum",
        action="store_true",
        help="read no member: compare what the archive records with the CRC-32 that S3 keeps of the whole object",
    )
    for name in ("header", "repair"):
        added[name].add_argument("location", metavar="LOCATION", help="the archive")
        added[name].add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
        added[name].add_argument(
            "--whole", action="store_true", help="send all of an object on S3 where the server cannot copy what stays"
        )
    for name in ("check", "append", "extract", "repair"):
        add_progress(added[name])
    add_create(added["create"])
    add_append(added["append"])
    added["find"].add_argument("catalogue", metavar="CATALOGUE", help="what create caf --catalog has made")
    added["find"].add_argument("name", metavar="NAME", help="a member's name, or its beginning and a *")
    add_audit(added["audit"])
    _add_header(added["header"])
    _add_repair(added["repair"])
    _add_extract(added["extract"])
    for name in ("list", "dump", "check", "find", "header", "repair", "formats"):
        added[name].add_argument("--json", action="store_true", help="JSON, one object a line")
    for name in ("list", "dump", "check", "cat", "extract", "header", "repair"):
        add_connecting(added[name])
    return parser


def _add_header(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set", action="append", default=[], metavar="I=OFFSET,LENGTH", help="set entry I, 0 to 6; may be repeated"
    )
    command.add_argument("--count", metavar="N", help="how many entries are in use, 0 to 7")
    add_unfinished(command)


def _add_extract(command: argparse.ArgumentParser) -> None:
    command.add_argument("members", metavar="MEMBER", nargs="*", help="what is wanted, also folders; all by default")
    command.add_argument("--to", metavar="FOLDER", required=True, help="where to; it is made if it is not there")
    command.add_argument(
        "--on-conflict",
        choices=("skip", "rename", "overwrite"),
        help="what to do where something is there already; by default that is left alone, and the exit status is 1",
    )
    command.add_argument(
        "--doubtful",
        action="store_true",
        help="also names with invisible characters, members beyond 64 GiB, members of a ZIP that claim the same bytes, "
        "and content that nothing proves although the archive records what should",
    )
    command.add_argument(
        "--keep-damaged", action="store_true", help="keep what is damaged too, as NAME.damaged beside its place"
    )
    add_unfinished(command)


def _add_repair(command: argparse.ArgumentParser) -> None:
    add_unfinished(command)
    command.add_argument(
        "--to", type=_some_path, metavar="COPY", help="write a repaired copy, or save there what is whole"
    )
    command.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="CODE",
        help="consent to exactly this repair, as the plan shows it; may be repeated",
    )
    instead = command.add_mutually_exclusive_group()
    instead.add_argument("--finish", action="store_true", help="finish an interrupted change, and do nothing else")
    instead.add_argument(
        "--roll-back", action="store_true", help="roll an interrupted change back, and do nothing else"
    )
    instead.add_argument(
        "--take-back",
        action="store_true",
        help="put back what the last change of the file has overwritten or cut off, and do nothing else",
    )


def _some_path(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it names no file")
    return text


def _depth(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("the depth is 1 or more")
    return number
