"""What can be typed. Imports little, because the window's start passes through here too."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from inspector import __version__

PROGRAM = "archive-inspector"

COMMANDS = {
    "list": "the members of an archive",
    "dump": "what every byte of an archive means, as a tree",
    "check": "whether archives are right, and if not, what is wrong and where",
    "cat": "one member's content on standard output",
    "formats": "the formats that are known, and their limitations",
}
"""The sub-commands and what each shows."""


def window_parser() -> argparse.ArgumentParser:
    """What can be typed without a sub-command: ``locations`` and ``screenshot``."""
    commands = "\n".join(f"  {name:<10}{what}" for name, what in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Open archives in the window, one tab a location.",
        epilog=f"sub-commands, which work in the terminal ({PROGRAM} NAME --help says more):\n{commands}\n\n"
        "A location that is named like a sub-command opens as ./NAME.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", metavar="LOCATION", nargs="*", help="a file, or a folder that is a bucket's root")
    parser.add_argument("--screenshot", metavar="OUT.png", help="render the window into a picture, and end")
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
    for name in ("list", "dump", "cat"):
        added[name].add_argument("location", metavar="LOCATION", help="a file, or a folder that is a bucket's root")
    added["cat"].add_argument("member", metavar="MEMBER", help="the member's path, as list shows it")
    added["dump"].add_argument("--depth", type=_depth, metavar="N", help="show only the outer N levels of the tree")
    added["check"].add_argument("locations", metavar="LOCATION", nargs="+", help="files and folders")
    added["check"].add_argument("--strict", action="store_true", help="warnings count: exit with 1 for them too")
    for name in ("list", "dump", "check", "formats"):
        added[name].add_argument("--json", action="store_true", help="JSON, one object a line")
    return parser


def _depth(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("the depth is 1 or more")
    return number
