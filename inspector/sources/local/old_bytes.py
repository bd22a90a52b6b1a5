"""The store of old bytes: what a change overwrites or cuts off is kept, so that a finished change can be taken back.

An entry is a file in the user's state folder: one line of JSON, and the change as its journal has it (see journal.py),
with the bytes that it cuts off. Where these are more than SMALL they stand beside the archive instead, as NAME.cut, and
the line says where. An entry is on the disk before the archive changes; one of a change that was never made does no
harm, for the archive holds the old bytes then. The oldest entries go when there are too many, after a change.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import platformdirs

from inspector.core.edit import Edit, EditError, Kept
from inspector.core.names import visible
from inspector.sources.local.disk_calls import Disk, read_all, reason, write_all
from inspector.sources.local.file import Identity
from inspector.sources.local.journal import LARGEST, UNWRITABLE, BrokenJournal, Journal, decoded, encoded, key_of
from inspector.sources.local.locked_file import LockedFile

SMALL = 64 << 20
"""Bytes cut off by one change that are kept in the state folder; more stand beside the archive."""
TOTAL = 512 << 20
"""Bytes of all entries."""
ENTRIES = 200
"""The most entries."""

_NO_FOLDER = UNWRITABLE | {errno.ENOTDIR, errno.ENOENT, errno.EEXIST}
_PIECE = 1 << 20
_DIGEST = 32
_SUFFIX = ".old"


@dataclass(frozen=True, slots=True)
class Stored:
    """What was put into the store for one change. ``entry`` is None where the state folder cannot be written.

    ``cut`` is where the bytes that are cut off stand, None where none are; ``files`` are all that was written;
    ``warning`` is a sentence, or empty.
    """

    entry: Path | None
    cut: Kept | None
    files: tuple[Path, ...]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change whose old bytes are kept in the file at ``place``; ``cut`` is where those stand that it cut off."""

    place: Path
    edit: Edit
    cut: Kept | None


def keep(file: LockedFile, edit: Edit) -> Stored:
    """Put what a change of a held file takes away into the store, for good.

    Raises OSError and EditError; nothing is left behind then where the disk allows that.
    """
    disk, (start, stop) = file.disk, edit.dropped
    files: list[Path] = []
    cut = dropped = None
    try:
        if stop - start > SMALL:
            cut = _beside(file, edit, files)
        else:
            dropped = read_all(disk, file.descriptor, stop - start, start)
        try:
            entry, cut = _entry(disk, Journal(str(file.path), file.identity, edit, dropped), cut, files)
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            if edit.dropped.size and cut is None:
                cut = _beside(file, edit, files)
            return Stored(None, cut, tuple(files), _not_kept(error) if edit.patches else "")
    except BaseException:
        forget(files, disk)
        raise
    return Stored(entry, cut, tuple(files))


def keep_apart(name: str, edit: Edit, dropped: bytes, disk: Disk | None = None) -> Stored:
    """Put what a change takes away into the store, of what is no file to be changed in place: a path, or an object.

    Raises OSError and EditError; nothing is left behind then.
    """
    disk, files = disk or Disk(), list[Path]()
    try:
        journal = Journal(name, Identity(0, 0, edit.old_size, 0), edit, dropped)
        return Stored(*_entry(disk, journal, None, files), tuple(files))
    except OSError as error:
        forget(files, disk)
        if error.errno not in _NO_FOLDER or dropped:
            raise
        return Stored(None, None, (), _not_kept(error))
    except BaseException:
        forget(files, disk)
        raise


def _not_kept(error: OSError) -> str:
    return f"What was overwritten is not kept: {visible(str(folder()))} cannot be written ({reason(error)})."


def _entry(disk: Disk, journal: Journal, cut: Kept | None, files: list[Path]) -> tuple[Path, Kept | None]:
    dropped, path = journal.dropped, Path(journal.path)
    if dropped is not None and len(dropped) != journal.edit.dropped.size:
        raise OSError(errno.EIO, "It ends before the bytes that are to be kept")
    line = json.dumps({"cut": asdict(cut) if cut is not None else None}).encode() + b"\n"
    data = line + encoded(journal)
    if len(data) > LARGEST:
        raise EditError(
            f"{visible(path.name)} was not changed: the change is too large ({len(data):,} bytes) for its old bytes to "
            "be kept. Save a patched copy instead."
        )
    disk.make_folder(folder())
    last = max((_number(name) for name in disk.names(folder())), default=0)
    places = (folder() / f"{number:012d}.{key_of(path)}{_SUFFIX}" for number in count(last + 1))
    descriptor, place = _new(disk, places)
    files.append(place)
    _fill(disk, descriptor, (data,))
    disk.sync_folder(folder())
    if dropped:
        at = len(data) - _DIGEST - len(dropped)
        cut = Kept(str(place), at, len(dropped), hashlib.sha256(dropped).hexdigest())
    return place, cut


def _beside(file: LockedFile, edit: Edit, files: list[Path]) -> Kept:
    """The bytes that are cut off, in a file of their own beside the archive."""
    disk, (start, stop) = file.disk, edit.dropped
    name = file.path.name
    descriptor, place = _new(
        disk, (file.path.with_name(f"{name}{f'-{number}' if number else ''}.cut") for number in count())
    )
    files.append(place)
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        for at in range(start, stop, _PIECE):
            piece = read_all(disk, file.descriptor, min(_PIECE, stop - at), at)
            if len(piece) != min(_PIECE, stop - at):
                raise OSError(errno.EIO, "The file ends before the bytes that are to be kept")
            digest.update(piece)
            yield piece

    _fill(disk, descriptor, pieces())
    disk.sync_folder(place.parent)
    return Kept(str(place), 0, stop - start, digest.hexdigest())


def _new(disk: Disk, places: Iterable[Path]) -> tuple[int, Path]:
    """A new file at the first place where nothing is, and its descriptor."""
    for place in places:
        with contextlib.suppress(FileExistsError):
            return disk.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL), place
    raise AssertionError("There are places without end.")


def _fill(disk: Disk, descriptor: int, pieces: Iterable[bytes]) -> None:
    """Write a new file for good, and close it."""
    try:
        at = 0
        for piece in pieces:
            write_all(disk, descriptor, piece, at)
            at += len(piece)
        disk.sync(descriptor)
    finally:
        with contextlib.suppress(OSError):
            disk.close(descriptor)


def forget(files: Iterable[Path], disk: Disk) -> None:
    """Remove what was kept for a change that was not made, or was taken back."""
    for place in files:
        with contextlib.suppress(OSError):
            disk.unlink(place)


def folder() -> Path:
    """Where the entries are."""
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "old-bytes"


def entries(path: Path, disk: Disk) -> Iterator[Entry]:
    """What is kept of the file at ``path``, a path without symbolic links, the newest first. Raises OSError.

    An entry that was not written to its end is passed over: nothing was changed then.
    """
    wanted = f".{key_of(path)}{_SUFFIX}"
    for name in sorted((name for name in disk.names(folder()) if name.endswith(wanted)), key=_number, reverse=True):
        with contextlib.suppress(BrokenJournal, ValueError, KeyError, TypeError, FileNotFoundError):
            yield _load(folder() / name, disk)


def _load(place: Path, disk: Disk) -> Entry:
    descriptor = disk.open(place, os.O_RDONLY)
    try:
        size = disk.fstat(descriptor).st_size
        data = read_all(disk, descriptor, min(size, LARGEST), 0)
    finally:
        with contextlib.suppress(OSError):
            disk.close(descriptor)
    line, _, rest = data.partition(b"\n")
    said, journal = json.loads(line)["cut"], decoded(rest)
    cut = Kept(**said) if said is not None else None
    if journal.dropped:
        at = len(data) - _DIGEST - len(journal.dropped)
        cut = Kept(str(place), at, len(journal.dropped), hashlib.sha256(journal.dropped).hexdigest())
    return Entry(place, journal.edit, cut)


def _number(name: str) -> int:
    """The number of an entry by its name, 0 for any other file."""
    digits = name.partition(".")[0]
    return int(digits) if name.endswith(_SUFFIX) and digits.isdecimal() else 0


def thin_out(disk: Disk) -> None:
    """Remove the oldest entries where there are too many, or too many bytes of them; never the newest."""
    with contextlib.suppress(OSError):
        names = sorted((name for name in disk.names(folder()) if _number(name)), key=_number, reverse=True)
        total = 0
        for position, name in enumerate(names):
            total += disk.lstat(folder() / name).st_size
            if position and (position >= ENTRIES or total > TOTAL):
                forget([folder() / name], disk)


@contextlib.contextmanager
def same_bytes(kept: Kept, disk: Disk) -> Iterator[Iterator[bytes]]:
    """The bytes that were cut off, in pieces, after it is sure that they are those. Raises OSError and EditError."""
    descriptor = disk.open(Path(kept.path), os.O_RDONLY)
    try:
        digest = hashlib.sha256()
        for piece in _pieces(kept, descriptor, disk):
            digest.update(piece)
        if digest.hexdigest() != kept.sha256:
            raise EditError(f"{visible(kept.path)} no longer holds the bytes that were cut off.")
        yield _pieces(kept, descriptor, disk)
    finally:
        with contextlib.suppress(OSError):
            disk.close(descriptor)


def _pieces(kept: Kept, descriptor: int, disk: Disk) -> Iterator[bytes]:
    stop = kept.offset + kept.length
    for at in range(kept.offset, stop, _PIECE):
        yield read_all(disk, descriptor, min(_PIECE, stop - at), at)
