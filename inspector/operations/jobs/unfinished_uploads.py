"""What runs that were killed have left on S3: parts of objects that never became whole, unseen and paid for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.hints import Hint, hint
from inspector.core.names import encoded, listed, visible
from inspector.core.numbers import count
from inspector.core.source import SourceError
from inspector.sources.s3.address import Address
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger
from inspector.sources.s3.sentences import S3Error
from inspector.sources.s3.upload_notes import Note, noted

if TYPE_CHECKING:
    from inspector.sources.s3.sender import Sender

_NAMED = 3
"""The most uploads that are named."""
_GONE = 404


def said_of_uploads(target: Address, connection: Connection) -> Iterator[str]:
    """A sentence on the uploads into the bucket of ``target`` that this program has begun and nobody goes on with.

    Nothing is asked of the server. Raises SourceError where it cannot be reached in the way that is said.
    """
    from inspector.sources.s3.sender import sender_for  # loads boto3

    left = []
    for address, _, note in noted(sender_for(connection).endpoint, target.bucket):
        if note is not None:
            note.leave()
            left.append(address)
    if left:
        them = "it" if len(left) == 1 else "them"
        yield (
            f"{count(len(left), 'unfinished upload')} of a run that was killed {_was(left)} left in "
            f"{_bucket(target)}: {_named(left)}. What was sent is seen by no one, and may cost; remove "
            f"{them}{hint(Hint.REMOVE_UNFINISHED)} or leave {them}."
        )


def removed_uploads(target: Address, connection: Connection) -> Iterator[str]:
    """Abort the uploads into the bucket of ``target`` that this program has begun and nobody goes on with.

    Gives sentences on what was aborted, and on what else was begun in the folder of ``target`` and is left alone, for
    nobody knows whose it is. Raises SourceError where the server cannot be reached in the way that is said.
    """
    from inspector.sources.s3.sender import sender_for  # loads boto3

    sender, ledger = sender_for(connection), Ledger()
    running, gone, failures = set(), [], []
    for address, upload, note in noted(sender.endpoint, target.bucket):
        if note is None:
            running.add(upload)
            continue
        failure = _abort(sender, note, ledger)
        if failure:
            failures.append(failure)
        elif failure is not None:
            gone.append(address)
    if gone:
        yield (
            f"{count(len(gone), 'unfinished upload')} of a run that was killed {_was(gone)} removed in "
            f"{_bucket(target)}: {_named(gone)}."
        )
    yield from failures
    yield from _others(sender, target, running, ledger)


def _abort(sender: Sender, note: Note, ledger: Ledger) -> str | None:
    """Abort an upload: nothing to be said where that was done, None where it was gone already."""
    from inspector.sources.s3.sender import Upload  # loads boto3

    try:
        sender.abort(Upload(note.address, note.id, note=note), ledger)
    except S3Error as error:
        if error.status == _GONE:
            return None
        return f"The upload {visible(note.id)} of {visible(note.address.location)} could not be removed: {error}"
    return ""


def _others(sender: Sender, target: Address, running: Collection[str], ledger: Ledger) -> Iterator[str]:
    folder = target.with_name("")
    try:
        there = sender.uploads(folder, ledger)
    except SourceError as error:
        yield f"Whether there are unfinished uploads of others in {visible(folder.location)} cannot be told: {error}"
        return
    others = [each for each in there if each.id not in running]
    if len(others) < len(there):
        go = "goes" if len(there) - len(others) == 1 else "go"
        yield f"{count(len(there) - len(others), 'upload')} of this program into {visible(folder.location)} {go} on."
    if others:
        keys = listed((encoded(each.key) for each in others), len(others), _NAMED)
        yield (
            f"{count(len(others), 'other upload')} into {visible(folder.location)} {_was(others)} begun and not "
            f"ended, and left alone, for nothing tells whether anybody goes on: {keys}. To end one, use "
            f"abort-multipart-upload of aws s3api; the id of the first is {visible(others[0].id)}."
        )


def _bucket(target: Address) -> str:
    return visible(Address(target.bucket, "").location)


def _was(found: Sequence[object]) -> str:
    return "was" if len(found) == 1 else "were"


def _named(found: Sequence[Address]) -> str:
    return listed((encoded(each.key) for each in found), len(found), _NAMED)
