"""The journal of a change in place: what stood in the file and what is to stand there, on disk before the file changes.

Its file, in little-endian numbers of 8 bytes: magic and version; the head (device, inode and mtime of the file, old and
new size, how many bytes are cut off and kept or -1, the sizes of path and label, the count of patches); a row for each
patch in writing order (offset, sizes of old and new); path; label; each patch's old and new bytes; the bytes cut off;
BLAKE2b-256 of all that. Whoever can write it can write the archive too, but it is decoded as a stranger's.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import struct
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

import platformdirs

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.names import visible
from inspector.sources.local.disk_calls import Disk, read_all, reason, write_all
from inspector.sources.local.file import Identity

KEPT = 16 << 20
"""Bytes cut off the end of a file that a journal still keeps; more of them cannot be put back."""
LARGEST = 256 << 20
"""Bytes of a journal, which is held in memory."""

_MAGIC = b"\x89AIJ\r\n\x1a\x01"
_HEAD = struct.Struct("<QQqqqqqqq")
_ROW = struct.Struct("<qqq")
_DIGEST = 32
_NAME_MAX = 60

UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}
"""Why something cannot stand in a folder, though it can elsewhere."""


class BrokenJournal(Exception):  # noqa: N818 - it is what a crash before the change leaves, not an error
    """A journal whose digest does not fit: it was never finished, or is damaged, or is none at all."""

    def __init__(self, beginning: Beginning | None = None) -> None:
        """``beginning`` where it is too short to be whole, and so was never finished."""
        super().__init__("The digest does not fit.")
        self.beginning = beginning


class Beginning(NamedTuple):
    """What the first part of a journal says of its file: its size, and offsets and bytes of what stood in it.

    ``size`` is -1 where not even that is there.
    """

    size: int
    old: tuple[tuple[int, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """One change of one file. ``path`` and ``identity`` are the file's before it.

    ``dropped`` are the bytes that the edit cuts off, None where they are too many to be kept.
    """

    path: str
    identity: Identity
    edit: Edit
    dropped: bytes | None

    @property
    def can_go_back(self) -> bool:
        """Whether the journal holds everything that stood in the file."""
        return self.dropped is not None


def encoded(journal: Journal) -> bytes:
    """The journal's file."""
    edit, identity = journal.edit, journal.identity
    path, label = os.fsencode(journal.path), edit.label.encode("utf-8", "surrogatepass")
    dropped = -1 if journal.dropped is None else len(journal.dropped)
    sizes = edit.old_size, edit.new_size, dropped, len(path), len(label), len(edit.patches)
    parts = [_MAGIC, _HEAD.pack(identity.device, identity.inode, identity.mtime_ns, *sizes)]
    parts += [_ROW.pack(patch.offset, len(patch.old), len(patch.new)) for patch in edit.patches]
    parts += [path, label, *(data for patch in edit.patches for data in (patch.old, patch.new)), journal.dropped or b""]
    data = b"".join(parts)
    return data + _digest(data)


def decoded(data: bytes) -> Journal:
    """The journal in a file. Raises BrokenJournal, and ValueError for one that this version cannot have written."""
    if len(data) < _DIGEST or _digest(memoryview(data)[:-_DIGEST]) != data[-_DIGEST:]:
        raise BrokenJournal(_beginning(data))
    try:
        return _decoded(data[:-_DIGEST])
    except struct.error as error:
        raise ValueError("Another head.") from error


def _beginning(data: bytes) -> Beginning | None:
    """What is there of a journal that was not written to its end; None for bytes that are not the first of one."""
    at = len(_MAGIC) + _HEAD.size
    if data[: len(_MAGIC)] != _MAGIC[: len(data)]:
        return None
    if len(data) < at:
        return Beginning(-1)
    *_, old_size, new_size, dropped, path_size, label_size, patches = _HEAD.unpack_from(data, len(_MAGIC))
    if min(old_size, new_size, dropped + 1, path_size, label_size, patches) < 0:
        return None
    table = data[at : at + patches * _ROW.size]
    rows = list(_ROW.iter_unpack(table[: len(table) // _ROW.size * _ROW.size]))
    end = max(old_size, new_size)
    if any(min(row) < 0 or row[1] > row[2] or row[0] + row[2] > end for row in rows):
        return None
    at += patches * _ROW.size + path_size + label_size
    whole = at + sum(old + new for _, old, new in rows) + max(dropped, 0) + _DIGEST
    if not len(data) < whole <= LARGEST:
        return None
    found = []
    for offset, old, new in rows:
        found.append((offset, data[at : at + old]))
        at += old + new
    return Beginning(old_size, tuple(found))


def _decoded(body: bytes) -> Journal:
    device, inode, mtime, *sizes = _HEAD.unpack_from(body, len(_MAGIC))
    old_size, new_size, dropped_size, path_size, label_size, many = sizes
    at = len(_MAGIC) + _HEAD.size
    if not body.startswith(_MAGIC) or min(old_size, new_size, path_size, label_size, many) < 0:
        raise ValueError("Another version.")

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return body[at - size : at]

    rows = list(_ROW.iter_unpack(take(many * _ROW.size)))
    if len(rows) != many or any(min(row) < 0 for row in rows):
        raise ValueError("Another table.")
    path, label = os.fsdecode(take(path_size)), take(label_size).decode("utf-8", "surrogatepass")
    patches = tuple(Patch(offset, take(old), take(new)) for offset, old, new in rows)
    edit = Edit(label, patches, old_size, new_size)
    dropped = None if dropped_size < 0 else take(dropped_size)
    if at != len(body) or (dropped is not None and len(dropped) != edit.dropped.size):
        raise ValueError("Another length.")
    return Journal(path, Identity(device, inode, old_size, mtime), edit, dropped)


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def key_of(path: Path) -> str:
    """What the file at ``path`` is known by among the user's own files."""
    return hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()


def places(path: Path) -> tuple[Path, Path]:
    """Where the journal of the file at ``path`` may stand: beside it, or among the user's own files.

    There it is known by the path alone: numbers of devices and files change when a disk is mounted anew.
    """
    key = key_of(path)
    name = os.fsencode(path.name)[:_NAME_MAX].decode("ascii", "replace").replace("\ufffd", "_")
    apart = platformdirs.user_state_path("archive-inspector", appauthor=False) / "journals"
    return path.with_name(f".{path.name}.aij"), apart / f"{name}.{key}.aij"


def find(path: Path, disk: Disk) -> Path | None:
    """The journal of the file at ``path``, a path without symbolic links. Raises OSError."""
    for place in places(path):
        try:
            disk.lstat(place)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EACCES}:
                raise
        else:
            return place
    return None


def load(place: Path, disk: Disk) -> Journal:
    """The journal at ``place``. Raises BrokenJournal, EditError and OSError."""
    _check_regular(place, disk.lstat(place).st_mode)
    descriptor = disk.open(place, os.O_RDONLY)
    try:
        status = disk.fstat(descriptor)
        _check_regular(place, status.st_mode)
        if status.st_size > LARGEST:
            raise BrokenJournal
        return decoded(read_all(disk, descriptor, status.st_size, 0))
    except ValueError as error:
        raise EditError(
            f"The journal {visible(str(place))} was written by another version of this program: finish the change, or "
            "roll it back, with that one."
        ) from error
    finally:
        _close(disk, descriptor)


def _check_regular(place: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a symbolic link" if stat.S_ISLNK(mode) else "no regular file"
        raise EditError(
            f"{visible(str(place))} stands where the journal of a change would, but it is {what} and no journal of "
            "this program. Nothing can be changed or repaired there until it is moved away."
        )


def save(journal: Journal, path: Path, disk: Disk) -> Path:
    """Put the journal of the file at ``path`` on disk for good, and say where.

    Raises EditError where it is too large or one is there already, and OSError, FileExistsError too; nothing is left
    behind then where the disk allows that.
    """
    data = encoded(journal)
    if len(data) > LARGEST:
        raise EditError(
            f"{visible(path.name)} was not changed: the change is too large ({len(data):,} bytes) to be written in "
            "place safely. Save a patched copy instead."
        )
    beside, apart = places(path)
    try:
        _save(data, beside, disk)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        disk.make_folder(apart.parent)
        _save(data, apart, disk)
        return apart
    return beside


def _save(data: bytes, place: Path, disk: Disk) -> None:
    descriptor = disk.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            write_all(disk, descriptor, data, 0)
            disk.sync(descriptor)
        finally:
            _close(disk, descriptor)
        disk.sync_folder(place.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            remove(place, disk)
        raise


def remove(place: Path, disk: Disk) -> None:
    """Take the journal away for good. Raises OSError."""
    disk.unlink(place)
    disk.sync_folder(place.parent)


def put_aside(place: Path, disk: Disk) -> Path:
    """Give the journal a name under which it is not looked for, for good, and say which. Raises OSError."""
    for number in count(1):
        target = place.with_name(f"{place.name}.kept{'' if number == 1 else f'-{number}'}")
        try:
            disk.lstat(target)
        except FileNotFoundError:
            break
    disk.rename(place, target)
    disk.sync_folder(place.parent)
    return target


def removed(place: Path, disk: Disk) -> str:
    """Take the journal away; a sentence where it may still be there, empty otherwise."""
    try:
        remove(place, disk)
    except OSError as error:
        return (
            f"The journal {visible(str(place))} could not be removed ({reason(error)}). It does no harm, and "
            "is offered for removal when the archive is opened again."
        )
    return ""


def _close(disk: Disk, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        disk.close(descriptor)
