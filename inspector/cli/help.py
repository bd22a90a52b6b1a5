"""``help``: how a sub-command is used, as its ``--help`` shows it."""

from __future__ import annotations

import argparse

from inspector.cli.parser import COMMANDS, window_parser


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    command.add_argument(
        "topic", metavar="COMMAND", nargs="?", choices=(*COMMANDS, ""), default="", help="a sub-command"
    )


def run(options: argparse.Namespace) -> None:
    """Print the help of one sub-command, or of the program."""
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    (command_parser(options.topic) if options.topic else window_parser()).print_help()
