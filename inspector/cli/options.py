"""Options that several sub-commands share, and what they mean."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from inspector.core.program.hints import Hint, HintTexts
from inspector.core.program.log import STANDARD_ERROR
from inspector.sources.s3.connection import Connection

PROGRESS_INTERVAL_S = 10.0
"""Seconds between two progress lines where standard error is not a terminal."""

MESSAGE_OPTIONS = "messages on standard error"
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
    Hint.WHOLE: "--whole",
    Hint.FIRST_KEY: "--first-key N",
}
"""What the terminal calls each hint in a message; empty for those without an option."""


def hint_texts_for(options: argparse.Namespace) -> HintTexts:
    """The hints that the sub-command has an option for."""
    return {hint: text for hint, text in HINT_TEXTS.items() if text and hasattr(options, _attribute(text))}


def _attribute(option: str) -> str:
    return option.split()[0].removeprefix("--").replace("-", "_")


A_LOCATION = "a file, a folder that is a bucket's root, s3://bucket/key or https://host/path"
A_LOCATION_TO_READ = f"{A_LOCATION}; - is standard input"


def add_location(command: argparse.ArgumentParser, what: str = A_LOCATION) -> None:
    """Add the one location that a sub-command works on."""
    command.add_argument("location", metavar="LOCATION", help=what)


def add_json(command: argparse.ArgumentParser, what: str = "JSON, one object a line") -> None:
    """Add ``--json``."""
    command.add_argument("--json", action="store_true", help=what)


def add_progress(command: argparse.ArgumentParser) -> None:
    """Add ``--progress``; without it, and without a terminal, no progress is printed, as scripts expect."""
    command.add_argument(
        "--progress",
        action="store_const",
        const=PROGRESS_INTERVAL_S,
        default=0.0,
        help="print progress every 10 seconds even if standard error is not a terminal",
    )


def add_message_options(command: argparse.ArgumentParser) -> None:
    """Add the options that every sub-command has: how much it says on standard error."""
    group = command.add_argument_group(MESSAGE_OPTIONS)
    amount = group.add_mutually_exclusive_group()
    amount.add_argument("-q", "--quiet", action="store_true", help="no progress, and why something failed only")
    amount.add_argument("-v", "--verbose", action="store_true", help="also what is opened, and how long it takes")
    add_debug(group)


def add_debug(group: argparse._ActionsContainer) -> None:
    """Add ``--debug``; see ``with_debug_target``."""
    group.add_argument(
        "--debug",
        metavar="=FILE",
        default="",
        help="log what each process does to standard error, or with --debug=FILE to a file; no secrets are in it",
    )


def with_debug_target(arguments: Sequence[str]) -> list[str]:
    """The arguments with a target for each ``--debug`` that has none: what follows it is a location, not a file."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    return [f"--debug={STANDARD_ERROR}" if word == "--debug" else word for word in words[:end]] + words[end:]


def add_write_options(command: argparse.ArgumentParser) -> None:
    """Add the options of sub-commands that change an archive in place."""
    command.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    command.add_argument(
        "--whole",
        action="store_true",
        help="send all of an object on S3 if the server cannot copy the unchanged parts",
    )


def non_empty_name(text: str) -> str:
    """An argument that names a file; raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError("it names no file")
    return text


def one_or_more(text: str) -> int:
    """A whole number above 0; raises ArgumentTypeError for others."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError("it must be a whole number, 1 or more")
    return number


# ---- S3 ----------------------------------------------------------------------------------------------------------


def add_connection(command: argparse.ArgumentParser) -> None:
    """Add the options for reaching S3. Keys are never among them: other users can see what is typed."""
    group = command.add_argument_group(S3_OPTIONS)
    group.add_argument("--profile", metavar="NAME", default="", help="the profile of the AWS configuration")
    group.add_argument("--region", metavar="NAME", default="", help="the region of the bucket")
    group.add_argument("--endpoint-url", metavar="URL", default="", help="a server other than Amazon's")
    group.add_argument(
        "--addressing-style",
        choices=("path", "virtual"),
        default="",
        help="the bucket in the path or in the host name; by default as the profile says, and path for other servers",
    )
    group.add_argument("--no-sign-request", action="store_true", help="read public data without credentials")
    group.add_argument(
        "--request-payer", choices=("requester",), help="accept charges for data from someone else's bucket"
    )


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
