"""What runs that were killed have left: said where something is to be written, and removed on the user's word."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inspector.cli.connecting import connection_of
from inspector.cli.output import complain
from inspector.operations.jobs.unfinished import removed, said_of
from inspector.operations.jobs.unfinished_uploads import removed_uploads, said_of_uploads
from inspector.sources.s3.address import is_s3, parse


def tidy_beside(target: str, options: argparse.Namespace) -> None:
    """See ``tidy``, of the folder that a file is to be written into, or of the bucket. Raises SourceError."""
    if is_s3(target):
        tell = removed_uploads if options.remove_unfinished else said_of_uploads
        for sentence in tell(parse(target), connection_of(options)):
            complain(sentence)
    else:
        tidy([Path(target).parent], options)


def tidy_around(location: str, options: argparse.Namespace) -> None:
    """See ``tidy_beside``, of an archive that is changed where it is. Raises SourceError.

    Of files here nothing is said unasked: a change in place leaves none behind.
    """
    if is_s3(location):
        tidy_beside(location, options)
    elif options.remove_unfinished:
        path = Path(location)
        tidy([path if path.is_dir() else path.parent], options)


def tidy(folders: Iterable[Path], options: argparse.Namespace) -> None:
    """Say what is unfinished in these folders, or remove it."""
    for sentence in (removed if options.remove_unfinished else said_of)(folders):
        complain(sentence)
