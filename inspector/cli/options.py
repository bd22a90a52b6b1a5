"""Options that several sub-commands share, and what they mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inspector.cli.output import complain
from inspector.core.hints import Hint, HintTexts
from inspector.operations.create.rca_writing import CONVENTIONS, RcaOptions
from inspector.operations.jobs.unfinished import remove_unfinished, remove_uploads, report_unfinished, report_uploads
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import Connection

PROGRESS_INTERVAL_S = 10.0
"""Seconds between two progress lines where standard error is not a terminal."""

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


def add_location(command: argparse.ArgumentParser, what: str = "a file, or a folder that is a bucket's root") -> None:
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
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


# ---- S3 ----------------------------------------------------------------------------------------------------------


def add_connection(command: argparse.ArgumentParser) -> None:
    """Add the options for reaching S3. Keys are never among them: other users can see what is typed."""
    group = command.add_argument_group("for s3:// locations")
    group.add_argument("--profile", metavar="NAME", default="", help="the profile of the AWS configuration")
    group.add_argument("--region", metavar="NAME", default="", help="the region of the bucket")
    group.add_argument("--endpoint-url", metavar="URL", default="", help="a server other than Amazon's")
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
    )


# ---- unfinished files and uploads --------------------------------------------------------------------------------


def add_remove_unfinished(command: argparse.ArgumentParser) -> None:
    """Add ``--remove-unfinished``."""
    command.add_argument(
        "--remove-unfinished",
        action="store_true",
        help="remove unfinished files and uploads that killed runs have left there",
    )


def handle_unfinished_beside(target: str, options: argparse.Namespace) -> None:
    """As ``handle_unfinished``, for the folder that ``target`` is written into, or its bucket. Raises SourceError."""
    if is_s3(target):
        handle = remove_uploads if options.remove_unfinished else report_uploads
        for sentence in handle(parse(target), connection_of(options)):
            complain(sentence)
    else:
        handle_unfinished([Path(target).parent], options)


def handle_unfinished_around(location: str, options: argparse.Namespace) -> None:
    """As ``handle_unfinished_beside``, for an archive that is changed in place. Raises SourceError.

    Unfinished local files are only handled with ``--remove-unfinished``: a change in place leaves none behind.
    """
    if is_s3(location):
        handle_unfinished_beside(location, options)
    elif options.remove_unfinished:
        path = Path(location)
        handle_unfinished([path if path.is_dir() else path.parent], options)


def handle_unfinished(folders: Iterable[Path], options: argparse.Namespace) -> None:
    """Report unfinished files in these folders, or with ``--remove-unfinished`` remove them."""
    handle = remove_unfinished if options.remove_unfinished else report_unfinished
    for sentence in handle(folders):
        complain(sentence)


# ---- RCA ---------------------------------------------------------------------------------------------------------


def add_rca_options(command: argparse.ArgumentParser) -> None:
    """Add how blobs are written, for ``create rca`` and ``append``."""
    command.add_argument("--level", type=int, metavar="N", help="the zstd level, 1 to 22; default 3")
    command.add_argument(
        "--hash-convention",
        choices=tuple(CONVENTIONS),
        help="what the hash of a segment covers: as the specification says, or as rcarch does; default: as in the "
        "archive, and spec for a new one",
    )
    command.add_argument("--no-sync", action="store_true", help="do not wait until the disk holds what was written")


def rca_options(options: argparse.Namespace) -> RcaOptions:
    """How to write blobs, as the options say."""
    default = RcaOptions()
    level = default.level if options.level is None else options.level
    accept = frozenset(getattr(options, "accept", ()))
    return RcaOptions(level, CONVENTIONS.get(options.hash_convention), not options.no_sync, accept)
