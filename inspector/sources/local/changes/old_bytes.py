"""The store of old bytes: what a change overwrites or cuts off, so that a finished change can be undone.

An entry is a file in the user's state folder: one line of JSON, then the journal of the change (see journal.py), which
includes the bytes that are cut off. More than MAX_INLINE_BYTES of these are put beside the archive as NAME.cut, and the
line locates them. An entry is on disk before the archive changes; one of a change that was never made does no harm,
because the archive still has the old bytes. After a change, the oldest surplus entries are removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import platformdirs
from msgspec import Struct
from msgspec.structs import replace

from inspector.core.edit import CutBytes, Edit, EditError
from inspector.core.names import visible
from inspector.sources.local.changes.journal import (
    MAX_JOURNAL_BYTES,
    UNWRITABLE,
    BrokenJournal,
    Journal,
    decode,
    encode,
)
from inspector.sources.local.changes.journal_paths import path_key
from inspector.sources.local.changes.locked_file import LockedFile
from inspector.sources.local.disk_calls import DISK, Disk, closed_after, read_all, reason, write_all
from inspector.sources.local.file import Identity

MAX_INLINE_BYTES = 64 << 20
"""Bytes cut off by one change that go into the state folder; more are put beside the archive."""
MAX_TOTAL_BYTES = 512 << 20
"""All entries together."""
MAX_ENTRIES = 200

_NO_FOLDER = UNWRITABLE | {errno.ENOTDIR, errno.ENOENT, errno.EEXIST}
_PIECE = 1 << 20
_DIGEST = 32
_SUFFIX = ".old"


class StoredBytes(Struct, frozen=True):
    """What was stored for one change. ``entry`` is None if the state folder is not writable.

    ``cut`` locates the bytes that are cut off, None if none are; ``files`` are all files written; ``warning`` is a
    sentence, or empty.
    """

    entry: Path | None
    cut: CutBytes | None
    files: tuple[Path, ...]
    warning: str = ""


class StoredChange(Struct, frozen=True):
    """A change whose old bytes are in the file ``place``, made at ``written_ns`` (nanoseconds since 1970).

    ``cut`` locates the bytes that it cut off. ``can_undo``: it is known to be the last one, and can be undone.
    """

    place: Path
    edit: Edit
    cut: CutBytes | None
    written_ns: int = 0
    can_undo: bool = False

    @property
    def files(self) -> frozenset[Path]:
        """The files that hold its old bytes."""
        return frozenset({self.place, *([Path(self.cut.path)] if self.cut is not None else [])})


def store_old_bytes(file: LockedFile, edit: Edit) -> StoredBytes:
    """Store and sync the bytes that a change of a locked file overwrites or cuts off.

    Raises OSError and EditError; then new files are removed if possible.
    """
    return _stored(file.disk, Journal(str(file.path), file.identity, edit, None), file)


def store_detached(name: str, edit: Edit, dropped: bytes, disk: Disk = DISK) -> StoredBytes:
    """Store the old bytes of a file that is replaced, or of an object on S3, by its path or location.

    Raises OSError and EditError; then new files are removed.
    """
    return _stored(disk, Journal(name, Identity(0, 0, edit.old_size, 0), edit, dropped), None)


def _stored(disk: Disk, journal: Journal, file: LockedFile | None) -> StoredBytes:
    """Store what a journal holds; what is cut off is read from the ``file``, if there is one, and may go beside it."""
    edit, (start, stop), cut, files = journal.edit, journal.edit.dropped, None, list[Path]()
    try:
        if file is not None and stop - start > MAX_INLINE_BYTES:
            cut = _store_beside(file, edit, files)
        elif file is not None:
            journal = replace(journal, dropped=read_all(disk, file.descriptor, stop - start, start))
        try:
            entry, cut = _write_entry(disk, journal, cut, files)
            return StoredBytes(entry, cut, tuple(files))
        except OSError as error:
            if error.errno not in _NO_FOLDER or (file is None and journal.dropped):
                raise
            if file is not None and journal.dropped:
                cut = _store_beside(file, edit, files)
            where = f"{visible(str(store_folder()))} cannot be written ({reason(error)})"
            warning = f"What was overwritten is not kept: {where}." if edit.patches else ""
            return StoredBytes(None, cut, tuple(files), warning)
    except BaseException:
        forget_files(files, disk)
        raise


def _write_entry(disk: Disk, journal: Journal, cut: CutBytes | None, files: list[Path]) -> tuple[Path, CutBytes | None]:
    dropped, path = journal.dropped, Path(journal.path)
    if dropped is not None and len(dropped) != journal.edit.dropped.size:
        raise OSError(errno.EIO, "The file ends before the bytes to be kept")
    line = json.dumps({"cut": cut._asdict() if cut is not None else None}).encode() + b"\n"
    data = line + encode(journal)
    if len(data) > MAX_JOURNAL_BYTES:
        raise EditError(
            f"{visible(path.name)} was not changed: the change is too large ({len(data):,} bytes) for its old bytes to "
            "be kept. Save a patched copy instead."
        )
    disk.make_folder(store_folder())
    last = max((_number(name) for name in disk.names(store_folder())), default=0)
    journal_paths = (store_folder() / f"{number:012d}.{path_key(path)}{_SUFFIX}" for number in count(last + 1))
    descriptor, place = _create_first_free(disk, journal_paths)
    files.append(place)
    _write_and_close(disk, descriptor, (data,))
    disk.sync_folder(store_folder())
    if dropped:
        at = len(data) - _DIGEST - len(dropped)
        cut = CutBytes(str(place), at, len(dropped), hashlib.sha256(dropped).hexdigest())
    return place, cut


def _store_beside(file: LockedFile, edit: Edit, files: list[Path]) -> CutBytes:
    """Store the bytes that are cut off in a file beside the archive."""
    disk, (start, stop) = file.disk, edit.dropped
    name = file.path.name
    descriptor, place = _create_first_free(
        disk, (file.path.with_name(f"{name}{f'-{number}' if number else ''}.cut") for number in count())
    )
    files.append(place)
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        for at in range(start, stop, _PIECE):
            piece = read_all(disk, file.descriptor, min(_PIECE, stop - at), at)
            if len(piece) != min(_PIECE, stop - at):
                raise OSError(errno.EIO, "The file ends before the bytes to be kept")
            digest.update(piece)
            yield piece

    _write_and_close(disk, descriptor, pieces())
    disk.sync_folder(place.parent)
    return CutBytes(str(place), 0, stop - start, digest.hexdigest())


def _create_first_free(disk: Disk, journal_paths: Iterable[Path]) -> tuple[int, Path]:
    """Create the first path that does not exist; returns its descriptor and the path."""
    for place in journal_paths:
        with contextlib.suppress(FileExistsError):
            return disk.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL), place
    raise AssertionError("places is infinite")


def _write_and_close(disk: Disk, descriptor: int, pieces: Iterable[bytes]) -> None:
    """Write, sync and close a new file."""
    with closed_after(disk, descriptor):
        _write_pieces(disk, descriptor, pieces, 0)
        disk.sync(descriptor)


def forget_files(files: Iterable[Path], disk: Disk) -> None:
    """Remove what was stored for a change that was not made, or was undone."""
    for place in files:
        with contextlib.suppress(OSError):
            disk.unlink(place)


def store_folder() -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "old-bytes"


def stored_changes(path: Path, disk: Disk) -> Iterator[StoredChange]:
    """The stored changes of a file, newest first; ``path`` has no symbolic links. Raises OSError.

    Unfinished entries are skipped: their changes were never made.
    """
    suffix = f".{path_key(path)}{_SUFFIX}"
    for name in sorted(
        (name for name in disk.names(store_folder()) if name.endswith(suffix)), key=_number, reverse=True
    ):
        with contextlib.suppress(BrokenJournal, ValueError, KeyError, TypeError, FileNotFoundError):
            yield _load(store_folder() / name, disk)


def _load(place: Path, disk: Disk) -> StoredChange:
    with closed_after(disk, disk.open(place, os.O_RDONLY)) as descriptor:
        status = disk.fstat(descriptor)
        data = read_all(disk, descriptor, min(status.st_size, MAX_JOURNAL_BYTES), 0)
    line, _, rest = data.partition(b"\n")
    cut_fields, journal = json.loads(line)["cut"], decode(rest)
    cut = CutBytes(**cut_fields) if cut_fields is not None else None
    if journal.dropped:
        at = len(data) - _DIGEST - len(journal.dropped)
        cut = CutBytes(str(place), at, len(journal.dropped), hashlib.sha256(journal.dropped).hexdigest())
    return StoredChange(place, journal.edit, cut, status.st_mtime_ns)


def _number(name: str) -> int:
    """The number in the name of an entry, 0 for any other file."""
    digits = name.partition(".")[0]
    return int(digits) if name.endswith(_SUFFIX) and digits.isdecimal() else 0


def prune(disk: Disk) -> None:
    """Remove the oldest entries while there are too many, or too many bytes; never the newest."""
    with contextlib.suppress(OSError):
        names = sorted((name for name in disk.names(store_folder()) if _number(name)), key=_number, reverse=True)
        total = 0
        for position, name in enumerate(names):
            total += disk.lstat(store_folder() / name).st_size
            if position and (position >= MAX_ENTRIES or total > MAX_TOTAL_BYTES):
                forget_files([store_folder() / name], disk)


@contextlib.contextmanager
def verified_pieces(kept: CutBytes, disk: Disk) -> Iterator[Iterator[bytes]]:
    """The bytes that were cut off, in pieces, once their hash is verified. Raises OSError and EditError."""
    with closed_after(disk, disk.open(Path(kept.path), os.O_RDONLY)) as descriptor:
        digest = hashlib.sha256()
        for piece in _pieces(kept, descriptor, disk):
            digest.update(piece)
        if digest.hexdigest() != kept.sha256:
            raise EditError(f"{visible(kept.path)} no longer contains the bytes that were cut off.")
        yield _pieces(kept, descriptor, disk)


def put_back(kept: CutBytes, file: LockedFile, at: int) -> None:
    """Write the bytes that were cut off into a file, from ``at`` on. Raises OSError and EditError."""
    with verified_pieces(kept, file.disk) as pieces:
        _write_pieces(file.disk, file.descriptor, pieces, at)


def _write_pieces(disk: Disk, descriptor: int, pieces: Iterable[bytes], at: int) -> None:
    for piece in pieces:
        write_all(disk, descriptor, piece, at)
        at += len(piece)


def _pieces(kept: CutBytes, descriptor: int, disk: Disk) -> Iterator[bytes]:
    stop = kept.offset + kept.length
    return (read_all(disk, descriptor, min(_PIECE, stop - at), at) for at in range(kept.offset, stop, _PIECE))
