"""Files and uploads that killed runs have left unfinished: reported, and removed only with --remove-unfinished."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.names import encoded, listed, visible
from inspector.core.numbers import count, rounded, verb
from inspector.core.program.hints import Hint, hint
from inspector.core.source import SourceError
from inspector.sources.local.atomic import Unfinished, remove, unfinished
from inspector.sources.s3.address import Address
from inspector.sources.s3.connection import Connection

if TYPE_CHECKING:  # most archives are files
    from inspector.sources.s3.request_log import RequestLog
    from inspector.sources.s3.uploads.sender import Sender

_MAX_NAMES = 3
"""Files or uploads that one message names."""
_HTTP_NOT_FOUND = 404


# ---- files -------------------------------------------------------------------------------------------------------


def unfinished_message(found: Iterable[Unfinished], folder: Path) -> str:
    """The message about unfinished files in or below a folder; empty if there are none."""
    every = list(found)
    if not every:
        return ""
    names = listed((os.fsencode(each.name) for each in every), len(every), _MAX_NAMES)
    are, them = ("is", "it") if len(every) == 1 else ("are", "them")
    files, size = count(len(every), "unfinished file"), rounded(sum(each.size for each in every))
    return (
        f"{files} of a run that was killed {are} in {visible(str(folder))}: {names}, {size}. Nothing uses {them} any "
        f"more; remove {them}{hint(Hint.REMOVE_UNFINISHED)} or leave {them}."
    )


def report_unfinished(folders: Iterable[Path]) -> Iterator[str]:
    """A message for each of the folders that has unfinished files."""
    return filter(None, (unfinished_message(unfinished(folder), folder) for folder in dict.fromkeys(folders)))


def remove_unfinished(folders: Iterable[Path]) -> Iterator[str]:
    """Remove the unfinished files in these folders; a message for each folder that had any."""
    for folder in dict.fromkeys(folders):
        gone = [each for each in unfinished(folder) if remove(folder, each)]
        if gone:
            yield removed_message(gone, folder)


def removed_message(gone: list[Unfinished], folder: Path) -> str:
    """The message about files that were removed in or below a folder."""
    files, size = count(len(gone), "unfinished file"), rounded(sum(each.size for each in gone))
    return f"{files} of a run that was killed {_was(gone)} removed in {visible(str(folder))}: {size}."


# ---- uploads to S3 -----------------------------------------------------------------------------------------------


def report_uploads(target: Address, connection: Connection) -> Iterator[str]:
    """A message about uploads into the bucket of ``target`` that this program began and no process continues.

    Makes no request. Raises SourceError for a connection that cannot be used.
    """
    from inspector.sources.s3.uploads.sender import noted, sender_for  # loads boto3

    left = []
    for upload in noted(sender_for(connection).endpoint, target.bucket):
        if upload.note is not None:
            upload.note.leave()
            left.append(upload.address)
    if left:
        them = "it" if len(left) == 1 else "them"
        yield (
            f"{count(len(left), 'unfinished upload')} of a run that was killed {_was(left)} left in "
            f"{_bucket(target)}: {_named(left)}. Nobody can see what was sent, and it may cost money; remove "
            f"{them}{hint(Hint.REMOVE_UNFINISHED)} or leave {them}."
        )


def remove_uploads(target: Address, connection: Connection) -> Iterator[str]:
    """Abort the uploads into the bucket of ``target`` that this program began and no process continues.

    Yields messages about what was aborted, and about other uploads into the folder of ``target``, which are left alone
    because their owners are unknown. Raises SourceError if the server cannot be reached.
    """
    from inspector.sources.s3.request_log import RequestLog
    from inspector.sources.s3.sentences import S3Error
    from inspector.sources.s3.uploads.sender import noted, sender_for  # loads boto3

    sender, log = sender_for(connection), RequestLog()
    running, gone, failures = set(), [], []
    for upload in noted(sender.endpoint, target.bucket):
        if upload.note is None:
            running.add(upload.id)
            continue
        try:
            sender.abort(upload, log)
            gone.append(upload.address)
        except S3Error as error:
            if error.status != _HTTP_NOT_FOUND:  # else it was gone already
                what = f"{visible(upload.id)} of {visible(upload.address.location)}"
                failures.append(f"The upload {what} could not be removed: {error}")
    if gone:
        yield (
            f"{count(len(gone), 'unfinished upload')} of a run that was killed {_was(gone)} removed in "
            f"{_bucket(target)}: {_named(gone)}."
        )
    yield from failures
    yield from _report_other_uploads(sender, target, running, log)


def _report_other_uploads(sender: Sender, target: Address, running: Collection[str], log: RequestLog) -> Iterator[str]:
    folder = target.with_name("")
    try:
        there = sender.uploads(folder, log)
    except SourceError as error:
        yield f"Other unfinished uploads into {visible(folder.location)} could not be listed: {error}"
        return
    others = [(key, upload) for key, upload in there if upload not in running]
    if len(others) < len(there):
        own = len(there) - len(others)
        yield f"{count(own, 'upload')} of this program into {visible(folder.location)} {verb(own, 'goes', 'go')} on."
    if others:
        keys = listed((encoded(key) for key, _ in others), len(others), _MAX_NAMES)
        yield (
            f"{count(len(others), 'other upload')} into {visible(folder.location)} {_was(others)} begun and not "
            f"ended, and left alone because their owners may still continue them: {keys}. To end one, use "
            f"aws s3api abort-multipart-upload; the id of the first is {visible(others[0][1])}."
        )


def _bucket(target: Address) -> str:
    return visible(Address(target.bucket, "").location)


def _was(found: Sequence[object]) -> str:
    return verb(len(found), "was", "were")


def _named(found: Sequence[Address]) -> str:
    return listed((encoded(each.key) for each in found), len(found), _MAX_NAMES)
