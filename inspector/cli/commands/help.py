"""``help``: how a sub-command is used, as its ``--help`` shows it, and the manual."""

from __future__ import annotations

import argparse

from inspector.cli.options import Option
from inspector.cli.output import emit
from inspector.cli.parser import COMMANDS, window_parser
from inspector.resources import manual_pages, page_text

_PAGES = tuple(path.stem for path in manual_pages())

OPTIONS = (
    Option(
        "topic",
        metavar="TOPIC",
        nargs="?",
        choices=(*COMMANDS, *(page for page in _PAGES if page not in COMMANDS)),
        help=f"a sub-command, or a page of the manual: {', '.join(_PAGES)}",
    ),
    Option("--man", action="store_true", help="print the page that man shows, with all sub-commands"),
)


def run(options: argparse.Namespace) -> None:
    """Print the help of one sub-command or of the program, and the page of the manual with that name."""
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    if options.man:
        from inspector.cli.commands.man_page import man_page

        emit(man_page())
        return
    if options.topic in COMMANDS:
        emit(command_parser(options.topic).format_help())
    elif not options.topic:
        emit(window_parser().format_help())
    for page in manual_pages():
        if page.stem == options.topic:
            emit(page_text(page))
