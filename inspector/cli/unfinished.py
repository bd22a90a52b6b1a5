"""What runs that were killed have left: said where something is to be written, and removed on the user's word."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inspector.cli.output import complain
from inspector.operations.unfinished import removed, said_of
from inspector.sources.s3.address import is_s3

ON_S3 = (
    "--remove-unfinished removes nothing on S3, where it cannot be told whose an unfinished upload is and whether it "
    "goes on. A run that cannot take back what it has sent says the id of the upload; list-multipart-uploads of aws "
    "s3api lists those that there are, and abort-multipart-upload ends one."
)


def tidy_beside(target: str, options: argparse.Namespace) -> None:
    """See ``tidy``, of the folder that a file is to be written into."""
    if not is_s3(target):
        tidy([Path(target).parent], options)
    elif options.remove_unfinished:
        complain(ON_S3)


def tidy(folders: Iterable[Path], options: argparse.Namespace) -> None:
    """Say what is unfinished in these folders, or remove it."""
    for sentence in (removed if options.remove_unfinished else said_of)(folders):
        complain(sentence)
