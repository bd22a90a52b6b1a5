"""Notes on the uploads that this program has started, kept until they end: listings do not tell whose they are.

A process holds a lock on the notes of its uploads, which the system releases when the process ends in any way. So a
note that can be locked belongs to an abandoned upload; without support for locks, none counts as abandoned.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from msgspec import Struct

from inspector.core.program.redaction import strip_credentials
from inspector.sources.local.disk_calls import Disk, read_all, write_all
from inspector.sources.s3.address import Address

_MAX_NOTE_BYTES = 1 << 14
"""A key has at most 1,024 bytes."""
_SUFFIX = ".upload"


class UploadRecord(Struct, frozen=True):
    """One upload: server, address, and the id assigned by the server; no secrets.

    ``descriptor`` is that of the file at ``path``, which is locked while open.
    """

    endpoint: str
    address: Address
    id: str
    path: Path
    descriptor: int

    def forget(self) -> None:
        """Remove the note: the upload has ended."""
        self.leave()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def leave(self) -> None:
        """Unlock the note: the upload is abandoned but exists. Call once, or ``forget``."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


def note(endpoint: str, address: Address, upload: str) -> UploadRecord | None:
    """Note a started upload; None if that fails, which does not stop the upload."""
    disk, folder, descriptor = Disk(), _folder(), -1
    value = {"endpoint": strip_credentials(endpoint), "bucket": address.bucket, "key": address.key, "upload": upload}
    path = folder / f"{secrets.token_hex(8)}{_SUFFIX}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = disk.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        disk.lock(descriptor)  # before it has content, so that no other process takes it over
        write_all(disk, descriptor, json.dumps(value).encode(), 0)
        return UploadRecord(value["endpoint"], address, upload, path, descriptor)
    except OSError:
        if descriptor >= 0:
            UploadRecord("", address, upload, path, descriptor).forget()
        return None


def noted(endpoint: str, bucket: str) -> Iterator[tuple[Address, str, UploadRecord | None]]:
    """The noted uploads of a bucket: address, id, and the locked note, or None if the upload is in progress.

    The caller has to ``forget`` or ``leave`` each note.
    """
    disk, wanted = Disk(), (strip_credentials(endpoint), bucket)
    for path in _paths():
        with contextlib.suppress(OSError):
            descriptor = disk.open(path, os.O_RDWR)
            found = _find_result(path, descriptor)
            if found is None or (found.endpoint, found.address.bucket) != wanted:
                os.close(descriptor)
            else:
                yield found.address, found.id, found if _is_left(descriptor) else None


def _is_left(descriptor: int) -> bool:
    """Whether the upload is abandoned; then the note is locked, otherwise closed."""
    try:
        Disk().lock(descriptor)
    except OSError:
        os.close(descriptor)
        return False
    return True


def _find_result(path: Path, descriptor: int) -> UploadRecord | None:
    """Parse a note; None if it is invalid or incomplete. Raises OSError."""
    try:
        value = json.loads(read_all(Disk(), descriptor, _MAX_NOTE_BYTES, 0))
        endpoint, bucket, key, upload = (str(value[name]) for name in ("endpoint", "bucket", "key", "upload"))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return UploadRecord(endpoint, Address(bucket, key), upload, path, descriptor)


def _paths() -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(each for each in _folder().iterdir() if each.suffix == _SUFFIX)
    return []


def _folder() -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "uploads"
