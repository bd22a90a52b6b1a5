"""``help``: how a sub-command is used, as its ``--help`` shows it, the manual, and what a finding means."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys

from inspector.cli.options import Option
from inspector.cli.output import emit, flush
from inspector.cli.parser import COMMANDS, PROGRAM, columns, window_parser
from inspector.formats import declared
from inspector.resources import manual_pages, page_text, resource

_PAGES = tuple(path.stem for path in manual_pages())
_MAX_COLUMNS = 100
"""Characters of a line that is still read easily."""
_SHOWN = "shown.txt"
"""The page of the manual that is for this command only: a command that shows a finding, for each that one shows."""

OPTIONS = (
    Option(
        "topic",
        metavar="TOPIC",
        nargs="?",
        choices=(*COMMANDS, *(page for page in _PAGES if page not in COMMANDS), *declared()),
        help=f"a sub-command, a page of the manual ({', '.join(_PAGES)}), or the code of a finding, such as rca-zstd",
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
    if options.topic in declared():
        _explain(options.topic)
    elif options.topic in COMMANDS:
        emit(command_parser(options.topic).format_help())
    elif not options.topic:
        emit(window_parser().format_help())
    for page in manual_pages():
        if page.stem == options.topic:
            _read(plain(page_text(page), min(columns(sys.stdout), _MAX_COLUMNS)))


def _read(text: str) -> None:
    """Print a page, on a terminal with what $PAGER names."""
    if not sys.stdout.isatty():
        emit(text)
        return
    from pydoc import pager  # scripts need none

    flush()
    os.environ.setdefault("LESS", "FRX")  # a page that fits is printed, and stays when it is left
    pager(text)


# ---- a finding -----------------------------------------------------------------------------------------------------


def shown_by() -> dict[str, list[str]]:
    """The arguments of a command that shows a finding, by its code; samples are named as ``resources/samples`` are."""
    lines = resource("manual", _SHOWN).read_text(encoding="utf-8").splitlines()
    return {code: shlex.split(command) for code, command in (line.split("\t") for line in lines)}


def _explain(code: str) -> None:
    """What a finding means, what to do, and what an archive that has it looks like to each reader."""
    from inspector.cli.run import command_parser

    known = declared()[code]
    width = min(columns(sys.stdout), _MAX_COLUMNS)
    text = f"# {code} ({known.severity})\n\n{known.meaning}\n\n{known.advice}"
    emit(plain(text, width))
    if (words := shown_by().get(code)) is None:
        emit("\nNo sample shows it.\n")
        return
    name, sample, *steps = words
    words = [name, str(resource("samples", sample)), *steps, "--readers"]
    emit(f"\nA sample shows it, and --readers what other programs make of that:\n\n$ {PROGRAM} {shlex.join(words)}\n")
    from importlib import import_module

    import_module(f"inspector.cli.commands.{name}").run(command_parser(name).parse_args(words[1:]))


# ---- a page in plain text ------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"\n*```.*\n((?:.*\n)*?)```\n*|\n{2,}|\n(?=[*|#]|[0-9]+\. )")
"""What separates paragraphs; the code of a fence is kept as it is."""
_MARKUP = (
    (r"<!--.*?-->", ""),
    (r"\[([^]]*)\]\([^)]*\)", r"\1"),
    (r"\*\*(.+?)\*\*", r"\1"),
    (r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"\1"),
    (r"`([^`]+)`", r"\1"),
)
"""What is left of marks where there is only text; of a code span its content, a stop list's star stays."""


def plain(text: str, width: int) -> str:
    """A page of the manual as text in lines of at most ``width`` characters, but for what is code."""
    lines: list[str] = []
    kind = ""
    for number, part in enumerate(_BLOCK.split(text)):
        words = " ".join((part or "").split())
        if set(words) <= set("|-: "):
            continue
        before, kind = kind, "code" if number % 2 else next(re.finditer(r"\||\*(?= )|[0-9](?=[0-9]*\. )|#|", words))[0]
        lines += [""] if kind not in ("|", "*") or kind != before else []
        if kind == "code":
            lines += [f"    {line}" for line in (part or "").splitlines()]
            continue
        for pattern, left in _MARKUP:
            words = re.sub(pattern, left, words)
        if kind == "#":
            title = words.lstrip("# ")
            lines += [title, ("=" if words.startswith("# ") else "-") * len(title)]
            continue
        if kind == "|":
            words = "  ".join(each.strip() for each in words.strip("|").replace("\\|", "¦").split("|")).replace(
                "¦", "|"
            )
        lines += _wrapped(words, width, "    " if kind == "|" else "  " if kind else "")
    return "\n".join(lines).strip("\n") + "\n"


def _wrapped(words: str, width: int, indent: str) -> list[str]:
    from textwrap import wrap  # completion needs it not

    return wrap(words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
