"""Notes on the uploads that this program has begun, kept until they end: a listing does not tell whose they are.

A process holds a lock on the notes of what it sends, which the system gives back when the process ends, however that
comes. So a note that can be locked is of an upload that nobody goes on with; where there are no locks, none is.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from inspector.core.redaction import strip_credentials
from inspector.sources.local.disk_calls import Disk, read_all, write_all
from inspector.sources.s3.address import Address

_LARGEST = 1 << 14
"""Bytes of a note; a key has at most 1,024."""
_SUFFIX = ".upload"


@dataclass(frozen=True, slots=True)
class Note:
    """One upload: to which server, what it makes, and the id the server gave it. Nothing secret is in it.

    ``descriptor`` is that of the file at ``path``, which is locked as long as it is open.
    """

    endpoint: str
    address: Address
    id: str
    path: Path
    descriptor: int

    def forget(self) -> None:
        """The upload is no more."""
        self.leave()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def leave(self) -> None:
        """Nobody goes on with the upload, but it is there still. To be called once, or ``forget``."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


def note(endpoint: str, address: Address, upload: str) -> Note | None:
    """Write down that an upload was begun; None where that cannot be, and the upload goes on all the same."""
    disk, folder, descriptor = Disk(), _folder(), -1
    said = {"endpoint": strip_credentials(endpoint), "bucket": address.bucket, "key": address.key, "upload": upload}
    path = folder / f"{secrets.token_hex(8)}{_SUFFIX}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = disk.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        disk.lock(descriptor)  # before there is anything to be read, so that nobody else takes it up
        write_all(disk, descriptor, json.dumps(said).encode(), 0)
        return Note(said["endpoint"], address, upload, path, descriptor)
    except OSError:
        if descriptor >= 0:
            Note("", address, upload, path, descriptor).forget()
        return None


def noted(endpoint: str, bucket: str) -> Iterator[tuple[Address, str, Note | None]]:
    """What is noted of a bucket: what an upload makes, its id, and its note, locked; None where it is going on.

    A note that is given has to be forgotten or left.
    """
    disk, wanted = Disk(), (strip_credentials(endpoint), bucket)
    for path in _paths():
        with contextlib.suppress(OSError):
            descriptor = disk.open(path, os.O_RDWR)
            found = _found(path, descriptor)
            if found is None or (found.endpoint, found.address.bucket) != wanted:
                os.close(descriptor)
            else:
                yield found.address, found.id, found if _is_left(descriptor) else None


def _is_left(descriptor: int) -> bool:
    """Whether nobody goes on with what a note is about; it is locked then, and otherwise closed."""
    try:
        Disk().lock(descriptor)
    except OSError:
        os.close(descriptor)
        return False
    return True


def _found(path: Path, descriptor: int) -> Note | None:
    """The note in a file; None where that is none, or not one yet. Raises OSError."""
    try:
        said = json.loads(read_all(Disk(), descriptor, _LARGEST, 0))
        endpoint, bucket, key, upload = (str(said[name]) for name in ("endpoint", "bucket", "key", "upload"))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return Note(endpoint, Address(bucket, key), upload, path, descriptor)


def _paths() -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(each for each in _folder().iterdir() if each.suffix == _SUFFIX)
    return []


def _folder() -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "uploads"
