"""The journal of a change in place: the old and the new bytes, on disk before the file changes.

Layout, with little-endian numbers of 8 bytes: magic and version; head (device, inode and mtime of the file, old and
new size, count of dropped bytes or -1 if not included, sizes of path and label, count of patches); a row for each patch
in writing order (offset, sizes of old and new); path; label; each patch's old and new bytes; the dropped bytes;
BLAKE2b-256 of all that. Anyone who can write it can write the archive too, but it is decoded as untrusted.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import count
from pathlib import Path

from msgspec import Struct

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.names import visible
from inspector.core.program.hints import Hint, hint
from inspector.core.span import Span, Spans, united
from inspector.sources.local.changes.journal_paths import SUFFIX, exists, journal_paths, link_path
from inspector.sources.local.changes.locked_file import LockedFile
from inspector.sources.local.disk_calls import Disk, closed_after, read_all, reason, write_all
from inspector.sources.local.file import Identity

MAX_DROPPED_BYTES = 16 << 20
"""Dropped bytes that a journal includes; more cannot be rolled back."""
MAX_JOURNAL_BYTES = 256 << 20
"""A journal is held in memory."""

_MAGIC = b"\x89AIJ\r\n\x1a\x01"
_HEAD = struct.Struct("<QQqqqqqqq")
_ROW = struct.Struct("<qqq")
_DIGEST = 32

UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}
"""Errors that mean that a file cannot be created in this folder, though it may be in another."""


class BrokenJournal(Exception):  # noqa: N818 - it is what a crash before the change leaves, not an error
    """A file whose digest does not match: an unfinished or damaged journal, or not a journal."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__("The digest does not match.")
        self.data = data

    @property
    def inode(self) -> int | None:
        """The file's, if the head can be read."""
        head = self.data.startswith(_MAGIC) and len(self.data) >= len(_MAGIC) + _HEAD.size
        return int(_HEAD.unpack_from(self.data, len(_MAGIC))[1]) if head else None


class Journal(Struct, frozen=True):
    """One change of one file. ``path`` and ``identity`` are the file's before the change.

    ``dropped`` are the bytes that the edit cuts off, None if they exceed MAX_DROPPED_BYTES.
    """

    path: str
    identity: Identity
    edit: Edit
    dropped: bytes | None

    @property
    def can_go_back(self) -> bool:
        """Whether the journal has all old bytes."""
        return self.dropped is not None


def encode(journal: Journal) -> bytes:
    edit, identity = journal.edit, journal.identity
    path, label = os.fsencode(journal.path), edit.label.encode("utf-8", "surrogatepass")
    dropped = -1 if journal.dropped is None else len(journal.dropped)
    sizes = edit.old_size, edit.new_size, dropped, len(path), len(label), len(edit.patches)
    parts = [_MAGIC, _HEAD.pack(identity.device, identity.inode, identity.mtime_ns, *sizes)]
    parts += [_ROW.pack(patch.offset, len(patch.old), len(patch.new)) for patch in edit.patches]
    parts += [path, label, *(data for patch in edit.patches for data in (patch.old, patch.new)), journal.dropped or b""]
    data = b"".join(parts)
    return data + _digest(data)


def decode(data: bytes) -> Journal:
    """Parse a journal file. Raises BrokenJournal, and ValueError for one of another version."""
    if len(data) < _DIGEST or _digest(memoryview(data)[:-_DIGEST]) != data[-_DIGEST:]:
        raise BrokenJournal(data)
    try:
        return _decode(data[:-_DIGEST])
    except struct.error as error:
        raise ValueError("Another head.") from error


def _decode(body: bytes) -> Journal:
    device, inode, mtime, *sizes = _HEAD.unpack_from(body, len(_MAGIC))
    old_size, new_size, dropped_size, path_size, label_size, patch_count = sizes
    at = len(_MAGIC) + _HEAD.size
    if not body.startswith(_MAGIC) or min(old_size, new_size, path_size, label_size, patch_count) < 0:
        raise ValueError("Another version.")

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return body[at - size : at]

    rows = list(_ROW.iter_unpack(take(patch_count * _ROW.size)))
    if len(rows) != patch_count or any(min(row) < 0 for row in rows):
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


def find(path: Path, disk: Disk) -> Path | None:
    """The path of the file's journal, or None. ``path`` has no symbolic links. Raises OSError.

    A file with several names (hard links) may have been changed under another one. Its journal is then found by the
    file's numbers, or beside it: a broken journal there counts too if it may be this file's.
    """
    own = journal_paths(path)
    for place in own:
        if exists(place, disk.lstat):
            return place
    if not exists(path, disk.lstat) or not stat.S_ISREG((status := disk.lstat(path)).st_mode):
        return None
    central, link = own[1].parent, link_path(Identity.of(status)).name
    for name in _names(central, link[link.index("-") :], disk):
        with contextlib.suppress(FileNotFoundError, EditError, BrokenJournal):
            changed = Path(os.fsdecode(content(central / name, disk)))
            if name == link or _same_file(changed, status, disk):  # the device number may change on a new mount
                for place in journal_paths(changed):
                    if exists(place, disk.lstat):
                        return place
    if status.st_nlink == 1:
        return None
    folders = (path.parent, central)
    places = (folder / name for folder in folders for name in sorted(_names(folder, SUFFIX, disk)))
    return next(
        (place for place in places if _may_be_of(status, place, disk, beside=place.parent == path.parent)), None
    )


def _may_be_of(status: os.stat_result, place: Path, disk: Disk, *, beside: bool) -> bool:
    """Whether a journal may be of the file with this status; ``beside``: it lies in that file's folder."""
    if beside and _same_file(place.with_name(place.name[1 : -len(SUFFIX)]), status, disk):
        return True
    try:
        journal = load(place, disk)
    except BrokenJournal as error:
        return beside if error.inode is None else error.inode == status.st_ino
    except (OSError, EditError):
        return False
    # The device number may change on a new mount.
    return journal.identity.inode == status.st_ino and (beside or _same_file(Path(journal.path), status, disk))


def require_settled(file: LockedFile) -> None:
    """Raise EditError if an earlier change of the file was interrupted, or OSError if that cannot be told."""
    if (place := find(file.path, file.disk)) is None:
        return
    way = "Open it again, and finish that change or roll it back first."
    try:
        load(place, file.disk)
    except BrokenJournal as error:
        if error.data:
            way = (
                f"Its journal {visible(str(place))} is damaged, and may be the only record of a partial change: "
                f"decide what becomes of it first{hint(Hint.DROP_JOURNAL)}."
            )
    raise EditError(f"{file.name} was not changed: an earlier change was interrupted. {way}")


def _same_file(path: Path, status: os.stat_result, disk: Disk) -> bool:
    try:
        return Identity.of(disk.lstat(path)).same_file(Identity.of(status))
    except OSError:
        return False


def _names(folder: Path, suffix: str, disk: Disk) -> list[str]:
    with contextlib.suppress(OSError):
        return [name for name in disk.names(folder) if name.endswith(suffix)]
    return []


def load(journal_path: Path, disk: Disk) -> Journal:
    """Read a journal. Raises BrokenJournal, EditError and OSError."""
    _check_regular(journal_path, disk.lstat(journal_path).st_mode)
    try:
        return decode(content(journal_path, disk))
    except ValueError as error:
        raise EditError(
            f"The journal {visible(str(journal_path))} was written by another version of this program. Finish "
            "the change, or roll it back, with that version."
        ) from error


def content(path: Path, disk: Disk) -> bytes:
    """The bytes of a journal, or of what leads to one. Raises BrokenJournal if there are too many."""
    with closed_after(disk, disk.open(path, os.O_RDONLY)) as descriptor:
        status = disk.fstat(descriptor)
        _check_regular(path, status.st_mode)
        if status.st_size > MAX_JOURNAL_BYTES:
            raise BrokenJournal
        return read_all(disk, descriptor, status.st_size, 0)


def _check_regular(journal_path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
        raise EditError(
            f"{visible(str(journal_path))} is where a journal would be, but it is {what}, not a journal "
            "of this program. Nothing can be changed or repaired there until it is moved away."
        )


def save(journal: Journal, path: Path, disk: Disk) -> Path:
    """Write and sync the journal of the file at ``path``; returns its path.

    Of a file with several names, what leads to the journal from the others comes first.

    Raises EditError if it is too large, FileExistsError if there is one, and OSError; then the new file is removed if
    possible.
    """
    data = encode(journal)
    if len(data) > MAX_JOURNAL_BYTES:
        raise EditError(
            f"{visible(path.name)} was not changed: the change is too large ({len(data):,} bytes) to be written in "
            "place safely. Save a patched copy instead."
        )
    beside, central = journal_paths(path)
    if disk.lstat(path).st_nlink > 1:
        link = link_path(journal.identity)
        disk.make_folder(link.parent)
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(link)
        _save(os.fsencode(path), link, disk)
    try:
        _save(data, beside, disk)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        disk.make_folder(central.parent)
        _save(data, central, disk)
        return central
    return beside


def _save(data: bytes, journal_path: Path, disk: Disk) -> None:
    descriptor = disk.open(journal_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with closed_after(disk, descriptor):
            write_all(disk, descriptor, data, 0)
            disk.sync(descriptor)
        disk.sync_folder(journal_path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(journal_path)
            disk.sync_folder(journal_path.parent)
        raise


def remove(journal_path: Path, identity: Identity, disk: Disk) -> None:
    """Remove the journal of the file with this identity, and sync. Raises OSError."""
    disk.unlink(journal_path)
    disk.sync_folder(journal_path.parent)
    _remove_link(identity, disk)


def _remove_link(identity: Identity, disk: Disk) -> None:
    """Remove what led to a journal that is gone; left there it leads nowhere."""
    link = link_path(identity)
    with contextlib.suppress(OSError):
        if exists(link, disk.lstat):
            disk.unlink(link)


def set_aside(journal_path: Path, identity: Identity | None, disk: Disk) -> Path:
    """Rename the journal so that it is not found any more, and sync; returns the new path. Raises OSError."""
    for number in count(1):
        target = journal_path.with_name(f"{journal_path.name}.kept{'' if number == 1 else f'-{number}'}")
        try:
            disk.lstat(target)
        except FileNotFoundError:
            break
    disk.rename(journal_path, target)
    disk.sync_folder(journal_path.parent)
    if identity is not None:
        _remove_link(identity, disk)
    return target


def try_remove(journal_path: Path, identity: Identity, disk: Disk) -> str:
    """Remove the journal; returns a sentence if it may still exist, else an empty string."""
    try:
        remove(journal_path, identity, disk)
    except OSError as error:
        return (
            f"The journal {visible(str(journal_path))} could not be removed ({reason(error)}). It does no harm; "
            "opening the archive again offers to remove it."
        )
    return ""


# ---- how far a change has gone, byte by byte -------------------------------------------------------------------------

_COMPARED_BYTES = 1 << 20
"""Bytes read at a time for a comparison."""

_DIFFERS = bytes([0]) + bytes([255]) * 255
"""Translates the exclusive or of two bytes to 255 where they differ."""
_RUN = re.compile(rb"\xff+")


class ChangeState(Enum):
    """The states after an interrupted change; the values are stable names."""

    BROKEN = "broken"
    """The journal was never finished, so the file is unchanged."""
    UNREADABLE = "unreadable"
    """The journal is damaged or not a journal, so the state of the file is unknown."""
    NOT_BEGUN = "not-begun"
    """Every byte is the old one."""
    MIXED = "mixed"
    """Every byte is the old one or the new one."""
    FINISHED = "finished"
    """Every byte is the new one."""
    FOREIGN = "foreign"
    """Some bytes are neither."""
    OTHER_FILE = "other-file"
    """The file has an unexpected size, or is another file with other bytes, or is gone."""
    BUSY = "busy"
    """Another program is changing the file right now."""


def change_state(file: LockedFile, journal: Journal) -> tuple[ChangeState, Spans]:
    """The state, and the spans behind it: foreign bytes, or bytes that are not the new ones yet. Raises OSError.

    The spans are within the current file.
    """
    edit, size = journal.edit, file.size
    low, high = sorted((edit.old_size, edit.new_size))
    if not low <= size <= high or (journal.dropped is None and size not in (low, high)):
        return ChangeState.OTHER_FILE, ()
    all_old, all_new = size == edit.old_size, size == edit.new_size
    foreign: list[Span] = []
    ahead: list[Span] = []
    for offset, old, new, now in _runs(file, journal):
        all_old &= now == old
        if now != new:
            ahead.append(Span(offset, offset + len(now)))
            foreign += _foreign(offset, old, new, now)
    if foreign:
        same = file.identity.inode == journal.identity.inode  # the device number may change on a new mount
        return (ChangeState.FOREIGN if same else ChangeState.OTHER_FILE), tuple(united(foreign))
    if all_new and not ahead:
        return ChangeState.FINISHED, ()
    return (ChangeState.NOT_BEGUN if all_old else ChangeState.MIXED), tuple(united(span for span in ahead if span.size))


def _runs(file: LockedFile, journal: Journal) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """The bytes that the change touches, in pieces: the offset, the old, the new, and what is there now."""
    changes = [(patch.offset, patch.old, patch.new) for patch in journal.edit.patches]
    if journal.dropped:
        changes.append((journal.edit.dropped.start, journal.dropped, b""))
    for offset, old, new in changes:
        for at in range(0, max(len(old), len(new)), _COMPARED_BYTES):
            parts = old[at : at + _COMPARED_BYTES], new[at : at + _COMPARED_BYTES]
            now = read_all(file.disk, file.descriptor, max(map(len, parts)), offset + at)
            yield offset + at, *parts, now


def _foreign(offset: int, old: bytes, new: bytes, now: bytes) -> Iterator[Span]:
    """Spans of bytes that are neither old nor new; a crash may leave zeros where the file grows."""
    size = len(now)

    def differing(other: bytes) -> int:
        wanted = int.from_bytes(now, "little") ^ int.from_bytes(other[:size], "little")
        return int.from_bytes(wanted.to_bytes(size, "little").translate(_DIFFERS), "little")

    neither = (differing(old) & differing(new)).to_bytes(size, "little")
    return (Span(offset + found.start(), offset + found.end()) for found in _RUN.finditer(neither))


# ---- redo and undo: either may run from any state between old and new


def old_bytes(journal: Journal) -> Iterable[tuple[int, bytes]]:
    cut = [(journal.edit.dropped.start, journal.dropped)] if journal.dropped else []
    return [*((patch.offset, patch.old) for patch in journal.edit.patches), *cut]


def new_bytes(edit: Edit) -> Iterable[tuple[int, bytes]]:
    return ((patch.offset, patch.new) for patch in edit.patches)


def holds(file: LockedFile, size: int, runs: Iterable[tuple[int, bytes]]) -> bool:
    """Whether the file has this size and these bytes. Raises OSError."""
    return file.size == size and all(
        read_all(file.disk, file.descriptor, len(piece), offset + at) == piece
        for offset, data in runs
        for at in range(0, len(data), _COMPARED_BYTES)
        for piece in (data[at : at + _COMPARED_BYTES],)
    )


def redo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the new state, sync, and read it back. Raises OSError."""
    edit = journal.edit
    for offset, data in new_bytes(edit):
        write_all(file.disk, file.descriptor, data, offset)
    if file.size > edit.new_size:
        # Truncating may be irreversible, so everything else has to be on disk first.
        file.disk.sync(file.descriptor)
        file.disk.truncate(file.descriptor, edit.new_size)
    file.disk.sync(file.descriptor)
    _verify(holds(file, edit.new_size, new_bytes(edit)))


def undo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the old state, sync, and read it back. Raises OSError.

    If the journal lacks the dropped bytes, the file must still have them.
    """
    edit = journal.edit
    cut = edit.dropped.start
    if journal.dropped and not holds(file, edit.old_size, [(cut, journal.dropped)]):
        write_all(file.disk, file.descriptor, journal.dropped, cut)
    for patch in reversed(edit.patches):
        write_all(file.disk, file.descriptor, patch.old, patch.offset)
    if file.size > edit.old_size:
        file.disk.truncate(file.descriptor, edit.old_size)
    file.disk.sync(file.descriptor)
    _verify(holds(file, edit.old_size, old_bytes(journal)))


def _verify(good: bool) -> None:
    if not good:
        raise OSError(errno.EIO, "The bytes read back are not those written")
