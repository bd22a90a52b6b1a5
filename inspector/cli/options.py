"""Options that several sub-commands share, and what they mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from inspector.core.program.hints import Hint, HintTexts
from inspector.core.program.log import STANDARD_ERROR
from inspector.sources.s3.connection import Connection, Consent

PROGRESS_INTERVAL_S = 10.0
"""Seconds between two progress lines where standard error is not a terminal."""

MESSAGE_OPTIONS = "messages"
S3_OPTIONS = "for s3:// locations"
"""Titles of groups of options."""
STANDARD_INPUT = "-"
"""The location that stands for standard input."""

HINT_TEXTS: HintTexts = {
    Hint.PROFILE: "--profile NAME",
    Hint.REGION: "--region NAME",
    Hint.ENDPOINT: "--endpoint-url URL",
    Hint.UNSIGNED: "--no-sign-request",
    Hint.AGAIN: "",
    Hint.OVERWRITE: "--overwrite",
    Hint.REMOVE_UNFINISHED: "--remove-unfinished",
    Hint.DROP_JOURNAL: "repair --accept drop-broken-journal",
    Hint.WHOLE: "--whole",
    Hint.UNCONDITIONAL: "--unconditional",
    Hint.FIRST_KEY: "--first-key N",
}
"""What the terminal calls each hint in a message; empty for those without an option."""


def hint_texts_for(options: argparse.Namespace) -> HintTexts:
    """The hints that the sub-command has an option for, and those that name another command."""
    return {
        hint: text
        for hint, text in HINT_TEXTS.items()
        if text and (not text.startswith("--") or hasattr(options, text.split()[0][2:].replace("-", "_")))
    }


class Option:
    """An argument of a sub-command, as argparse takes it.

    It stands in the group of options with the title ``group``; those of the same ``one_of`` exclude each other.
    """

    def __init__(self, *names: str, group: str = "", one_of: str = "", **settings: Any) -> None:
        self.names = names
        self.group = group
        self.one_of = one_of
        self.settings = settings

    def without_default(self) -> Option:
        """An option that leaves alone what is there where it is not given."""
        settings = {**self.settings, "default": argparse.SUPPRESS}
        return Option(*self.names, group=self.group, one_of=self.one_of, **settings)


def add_to(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Give a parser these options, in their order."""
    places: dict[tuple[str, str], argparse._ActionsContainer] = {("", ""): parser}
    for each in options:
        if (each.group, "") not in places:
            places[each.group, ""] = parser.add_argument_group(each.group)
        if (each.group, each.one_of) not in places:
            places[each.group, each.one_of] = places[each.group, ""].add_mutually_exclusive_group()
        places[each.group, each.one_of].add_argument(*each.names, **each.settings)


A_LOCATION = "a file, a local copy of an S3 bucket, s3://bucket/key or https://host/path"
A_LOCATION_TO_READ = f"{A_LOCATION}; - is standard input"


def location(what: str = A_LOCATION) -> Option:
    """The one location that a sub-command works on."""
    return Option("location", metavar="LOCATION", help=what)


def json_option(what: str = "JSON, one object a line") -> Option:
    """``--json``, with what it prints."""
    return Option("--json", action="store_true", help=what)


JSON = json_option()
ROWS = "which rows, and how (see help ask)"


def where(example: str) -> Option:
    """``--where``, with an example for what the command prints."""
    return Option("--where", group=ROWS, metavar="EXPR", help=f"only what this is true of, such as {example}")


ASK = (
    where("'size > 10MiB and name.endswith(\".png\")'"),
    Option("--sort", group=ROWS, metavar="KEY", help="in this order; --sort=-size: the largest first"),
    Option("--columns", group=ROWS, metavar="A,B", help="print these columns"),
    Option("--count-by", group=ROWS, metavar="KEY", help="print how many there are of each value"),
    Option("--sum", group=ROWS, metavar="KEY", help="print the count and the sum; with --count-by, of each value"),
    Option("--csv", group=ROWS, action="store_true", help="as CSV"),
)
"""Conditions, order, columns and sums of rows."""
PROGRESS = Option(
    "--progress",
    action="store_const",
    const=PROGRESS_INTERVAL_S,
    default=0.0,
    help="print progress every 10 seconds even if standard error is not a terminal",
)
"""Without it, and without a terminal, no progress is printed, as scripts expect."""
DEBUG = Option(
    "--debug",
    group=MESSAGE_OPTIONS,
    metavar="=FILE",
    default="",
    help="log what each process does to standard error, or with --debug=FILE to a file; no secrets are in it",
)
"""See ``with_debug_target``."""
FORMAT_FILE = Option(
    "--format-file",
    action="append",
    default=[],
    metavar="FILE.py",
    help="also know the format that this Python file describes: it is run (see help own-format)",
)
MESSAGES = (
    FORMAT_FILE,
    Option(
        *("-q", "--quiet"),
        group=MESSAGE_OPTIONS,
        one_of="amount",
        action="store_true",
        help="print only results and errors",
    ),
    Option(
        *("-v", "--verbose"),
        group=MESSAGE_OPTIONS,
        one_of="amount",
        action="store_true",
        help="also what is opened, and how long it takes",
    ),
    Option(
        "--color",
        group=MESSAGE_OPTIONS,
        choices=("auto", "always", "never"),
        default="auto",
        help="colour what is printed: on a terminal only (auto), always, or never; JSON never is",
    ),
    DEBUG,
)
"""What every sub-command has: formats of one's own, and how much it says on standard error."""
DRY_RUN = Option("--dry-run", action="store_true", help="show what would be written, and write nothing")
CONSENTS = (
    Option(
        "--whole",
        action="store_true",
        help="send all of an object on S3 if the server cannot copy the unchanged parts",
    ),
    Option(
        "--unconditional",
        action="store_true",
        help="write an object on S3 even if the server would overwrite what someone else writes at that moment",
    ),
)


def consents_of(options: argparse.Namespace) -> Consent:
    """What the options ``CONSENTS`` agree to."""
    whole = Consent.WHOLE if options.whole else Consent.NONE
    return whole | (Consent.UNCONDITIONAL if options.unconditional else Consent.NONE)


def with_debug_target(arguments: Sequence[str]) -> list[str]:
    """The arguments with a target for each ``--debug`` that has none: what follows it is a location, not a file."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    return [f"--debug={STANDARD_ERROR}" if word == "--debug" else word for word in words[:end]] + words[end:]


def non_empty_name(text: str) -> str:
    """An argument that names a file; raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError("it names no file")
    return text


def one_or_more(text: str) -> int:
    """A whole number above 0; raises ArgumentTypeError for others."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("it must be a whole number, 1 or more")
    return int(text)


# ---- S3 ----------------------------------------------------------------------------------------------------------

CONNECTION = (
    Option("--profile", group=S3_OPTIONS, metavar="NAME", default="", help="the profile of the AWS configuration"),
    Option("--region", group=S3_OPTIONS, metavar="NAME", default="", help="the region of the bucket"),
    Option("--endpoint-url", group=S3_OPTIONS, metavar="URL", default="", help="a server other than Amazon's"),
    Option(
        "--addressing-style",
        group=S3_OPTIONS,
        choices=("path", "virtual"),
        default="",
        help="the bucket in the path or in the host name; by default as the profile says, and path for other servers",
    ),
    Option("--no-sign-request", group=S3_OPTIONS, action="store_true", help="read public data without credentials"),
    Option(
        "--request-payer",
        group=S3_OPTIONS,
        choices=("requester",),
        help="accept charges for data from someone else's bucket",
    ),
)
"""How S3 is reached. Keys are never among these options: other users can see what is typed."""


def connection_of(options: argparse.Namespace) -> Connection:
    """The connection that the options describe."""
    return Connection(
        options.profile,
        options.region,
        options.endpoint_url,
        options.no_sign_request,
        bool(options.request_payer),
        options.addressing_style,
    )
