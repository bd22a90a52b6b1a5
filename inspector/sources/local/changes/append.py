"""Append to a file in place. The last write, one small header, makes the appended data valid.

All earlier writes go after the file's valid end, so no journal is needed: until the header is written, the file is what
it was, followed by garbage, and the intent proves that to be this program's. Bytes already there are put
into the store of old bytes first. The header is one write within one sector, which disks do atomically.

The intent is a file in the state folder. Each line is a record in JSON and the BLAKE2b of it and the line before it. A
piece is recorded before it is written, and the headers, before and after, before the first of them is. What no line
proves is not this program's.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import SourceError
from inspector.sources.local.changes.journal import require_settled
from inspector.sources.local.changes.journal_paths import exists, intent_path
from inspector.sources.local.changes.locked_file import LockedFile, locked
from inspector.sources.local.changes.old_bytes import StoredBytes, forget_files, prune, put_back, store_old_bytes
from inspector.sources.local.disk_calls import DISK, Disk, closed_after, read_all, reason, write_all
from inspector.sources.local.file import Identity

OffsetBytes = tuple[int, bytes]
"""An offset in the file and the bytes to write there."""


class Appender:
    """Appends to a locked file. ``identity`` is the file's after ``commit``; ``warnings`` are sentences for users.

    It records in the intent what it is about to do. Where that fails, the intent is gone and the append goes on
    unproved.
    """

    def __init__(self, file: LockedFile) -> None:
        self.identity = file.identity
        self.warnings = file.warnings
        self._file = file
        self._end = file.identity.size
        self._before: OffsetBytes = (0, b"")
        self._begun = self._touched = self._counted = False
        self._stored = StoredBytes(None, None, ())
        self._intent, self._at, self._chain = -1, 0, b""
        self._headers: tuple[_Header, ...] = ()

    def begin(self, seen: Identity, end: int, before: OffsetBytes) -> None:
        """Set the valid end, as found when the file was ``seen``. Raises EditError if the file changed since.

        ``before`` is the header that ``commit`` will replace, empty if that stands after the end.

        Bytes after it will be overwritten, and are put into the store of old bytes first.
        """
        if difference := seen.difference(self.identity):
            raise EditError(f"{self._file.name} {difference}. Try again when no other program writes to it.")
        self._end, self._before = end, before

    def write(self, offset: int, data: bytes) -> None:
        """Write after the valid end. Raises OSError and EditError."""
        assert offset >= self._end
        if not self._begun:
            self._begin()
        digests = [_digest(data[start - offset : stop - offset]) for start, stop in _blocks(offset, len(data))]
        self._record(_Piece(offset, len(data), tuple(digests)))
        self._write_at(offset, data)

    def _begin(self) -> None:
        """Store the bytes after the valid end, and begin the intent."""
        file, size, end, (offset, header) = self._file, self.identity.size, self._end, self._before
        if end < size:
            label = f"Overwrite the {size - end:,} bytes after the end at byte {end:,}"
            self._stored = store_old_bytes(file, Edit(label, (), size, end))
            if (cut := self._stored.cut) is not None:
                self.warnings += (f"The {in_bytes(cut.length)} after the end are kept in {visible(cut.path)}.",)
        self._begun, self._headers, place = True, ((offset, header, header),), intent_path(file.path)
        with contextlib.suppress(OSError):
            file.disk.make_folder(place.parent)
            forget_intent(file.path, file.disk)
            self._intent = file.disk.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._record(_Begun(platform.node(), file.identity.inode, size, end, offset, header))

    def _record(self, record: _Begun | _Piece | _Headers) -> None:
        if self._intent < 0:
            return
        line, self._chain = _sealed(self._chain, msgspec.json.encode(record))
        try:
            write_all(self._file.disk, self._intent, line, self._at)
        except OSError:
            self.close()
            with contextlib.suppress(OSError):
                self._file.disk.unlink(intent_path(self._file.path))
        self._at += len(line)

    def close(self) -> None:
        """Close the intent, which stays."""
        if self._intent >= 0:
            with contextlib.suppress(OSError):
                self._file.disk.close(self._intent)
            self._intent = -1

    def _write_at(self, offset: int, data: bytes) -> None:
        self._touched = True
        write_all(self._file.disk, self._file.descriptor, data, offset)

    def commit(self, before: Sequence[OffsetBytes], last: OffsetBytes, size: int) -> None:
        """Make the written data valid with the header ``last``.

        ``before`` are headers after the valid end, ``size`` is the new size of the file in bytes. Raises OSError, and
        EditError if the file does not have the old header there because another program changed it.
        """
        file, (offset, header) = self._file, last
        self._headers = tuple((at, _now(file, at, data), data) for at, data in (last, *before))
        self._record(_Headers(size, self._headers))
        if self._intent >= 0:
            with contextlib.suppress(OSError):
                file.disk.sync(self._intent)
        for behind, data in before:
            self._write_at(behind, data)
        self._compare(offset)
        file.disk.truncate(file.descriptor, size)
        file.disk.sync(file.descriptor)
        self._compare(offset)  # again, because syncing may take minutes
        self._counted = True
        self._write_at(offset, header)
        file.disk.sync(file.descriptor)
        self.identity = Identity.of(file.disk.fstat(file.descriptor))
        forget_intent(file.path, file.disk)
        prune(file.disk)

    def _compare(self, offset: int) -> None:
        file, old = self._file, self._before[1]
        if _now(file, offset, old) != old or not file.in_place():
            self._touched = False  # the bytes after the end may be the other program's by now
            raise EditError(f"Another program changed or replaced {file.name} while data was being appended.")

    def roll_back(self) -> str:
        """Restore the file; returns sentences on what is in it if that fails, else an empty string."""
        file, cut = self._file, self._stored.cut
        if not self._touched:
            return ""
        self._record(_Headers(-1, self._headers))  # not to be finished
        try:
            offset = self._headers[0][0]
            if self._counted and offset < self._end:
                self._write_at(offset, self._before[1])
                # Sync first: the file must not be truncated under a header that still refers to its end.
                file.disk.sync(file.descriptor)
            file.disk.truncate(file.descriptor, self._end)
            if cut is not None:
                put_back(cut, file, self._end)
            file.disk.sync(file.descriptor)
        except OSError as error:
            why = reason(error)
            if self._counted:
                return (
                    "The appended data may or may not be in it; what was in it before still is, and readers ignore "
                    f"bytes that may be left after its end. Undoing it failed ({why})."
                )
            return f"Nothing was added, but appended bytes may be left after its end ({why}), which readers ignore."
        forget_intent(file.path, file.disk)
        forget_files(self._stored.files, file.disk)
        return ""


@contextlib.contextmanager
def appending(path: Path, disk: Disk = DISK) -> Iterator[Appender]:
    """Lock the file at ``path`` to read it and then append to it.

    An exception inside the block undoes what was appended; an OSError is raised as an EditError.
    """
    with locked(path, disk) as file:
        try:
            require_settled(file)
        except OSError as error:
            raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
        appended = Appender(file)
        try:
            yield appended
        except OSError as error:
            why = reason(error)
            if failure := appended.roll_back():
                raise EditError(f"Writing to {file.name} failed ({why}). {failure}") from error
            untouched = f"Nothing was added to {file.name}: writing failed ({why}). The file is unchanged."
            raise EditError(untouched) from error
        except (EditError, SourceError) as error:
            failure = appended.roll_back()
            raise type(error)(f"{error} {failure or 'Nothing was added.'}") from error
        except BaseException:
            appended.roll_back()
            raise
        finally:
            appended.close()


# ---- the intent ------------------------------------------------------------------------------------------------------

_BLOCK = 4096
MAX_INTENT_BYTES = 256 << 20
"""An intent is held in memory when it is read."""


_Header = tuple[int, bytes, bytes]
"""The offset of a header, and its bytes before and after."""


class _Begun(Struct, frozen=True, tag=True):
    """An append after the byte ``end`` of a file with this inode, on the machine with this name.

    ``header`` is what stands at ``offset`` until the append counts; empty if that will be behind the end.
    """

    machine: str
    inode: int
    size: int
    end: int
    offset: int
    header: bytes


class _Piece(Struct, frozen=True, tag=True):
    """Bytes to be written, and the digests of the blocks of the file that they lie in: a kill stops after a block."""

    offset: int
    length: int
    digests: tuple[bytes, ...]


class _Headers(Struct, frozen=True, tag=True):
    """The headers, the last to be written first, as offset and bytes before and after.

    ``size`` is the new size of the file, -1 if the append is not to be finished.
    """

    size: int
    headers: tuple[_Header, ...]


_DECODER = msgspec.json.Decoder(_Begun | _Piece | _Headers)


def _blocks(offset: int, length: int) -> Iterator[tuple[int, int]]:
    """The start and stop of each block of the file that these bytes lie in, or of the part that they are."""
    for at in range(offset // _BLOCK * _BLOCK, offset + length, _BLOCK):
        yield max(at, offset), min(at + _BLOCK, offset + length)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _sealed(chain: bytes, body: bytes) -> tuple[bytes, bytes]:
    """A line, and the digest that the next one goes on from."""
    digest = _digest(chain + body)
    return body + b" " + digest.hex().encode() + b"\n", digest


def forget_intent(path: Path, disk: Disk) -> None:
    """Remove what an append to the file at ``path`` recorded, if there is anything."""
    with contextlib.suppress(OSError):
        if exists(place := intent_path(path), disk.lstat):
            disk.unlink(place)


class KilledAppend(Struct, frozen=True):
    """A killed append, all bytes of which are proved; ``finish`` is None if not all are there.

    ``behind`` is the number of bytes after the end.
    """

    finish: Edit | None
    take_back: Edit
    behind: int

    @property
    def story(self) -> str:
        """What happened, as the end of a sentence."""
        there = "all that it appended is there" if self.finish else "not all that it appended is there"
        return f"was killed: {there}, and the {in_bytes(self.behind)} after the end are proved to be its own."


def killed_append(file: LockedFile) -> KilledAppend | None:
    """The append that was killed in a locked file; None without one, or where a byte is not proved. Raises OSError."""
    records = list(_records(file))
    if not records or not isinstance(begun := records[0], _Begun):
        return None
    if not file.exclusive or begun.machine != platform.node() or begun.inode != file.identity.inode:
        return None
    last = records[-1]
    if not isinstance(last, _Headers):
        last = _Headers(-1, ((begun.offset, begun.header, begun.header),))
    behind = file.size - begun.end
    if behind < 0 or not _headers_fit(file, last) or _proved_end(file, begun, records, last) != file.size:
        return None
    headers = [(offset, _now(file, offset, after), before, after) for offset, before, after in reversed(last.headers)]
    forward = tuple(Patch(offset, now, after) for offset, now, _, after in headers if now != after)
    back = tuple(Patch(offset, now, old) for offset, now, old, _ in headers if now != old and offset < begun.end)
    if not (forward if last.size >= 0 else behind):
        return None  # it came to its end, or never began
    label, size = f"Finish the append of {in_bytes(behind)} that was killed", file.size
    finish = Edit(label, forward, size, size) if last.size == size else None
    label = f"Take back the {in_bytes(behind)} of an append that was killed"
    return KilledAppend(finish, Edit(label, back, size, begun.end), behind)


def _records(file: LockedFile) -> Iterator[_Begun | _Piece | _Headers]:
    """The records up to the first line that does not follow from the one before it."""
    try:
        descriptor = file.disk.open(intent_path(file.path), os.O_RDONLY)
    except FileNotFoundError:
        return
    with closed_after(file.disk, descriptor):
        data = read_all(file.disk, descriptor, MAX_INTENT_BYTES, 0)
    chain = b""
    for line in data.splitlines(keepends=True):
        body = line.rpartition(b" ")[0]
        expected, chain = _sealed(chain, body)
        if line != expected:
            return
        with contextlib.suppress(msgspec.DecodeError):
            yield _DECODER.decode(body)


def _now(file: LockedFile, offset: int, header: bytes) -> bytes:
    return read_all(file.disk, file.descriptor, len(header), offset)


def _headers_fit(file: LockedFile, last: _Headers) -> bool:
    """Whether each byte of the headers is the one before or the one after."""
    there = [(_now(file, offset, after), before, after) for offset, before, after in last.headers]
    return all(
        len(now) == len(before) == len(after)
        and all(byte in known for byte, *known in zip(now, before, after, strict=True))
        for now, before, after in there
    )


def _proved_end(file: LockedFile, begun: _Begun, records: Sequence[object], last: _Headers) -> int:
    """Up to where the bytes behind the end are those that were recorded, the headers as they were before."""
    end = begun.end
    for piece in records:
        if not isinstance(piece, _Piece):
            continue
        if piece.offset != end:
            break
        for (at, stop), digest in zip(_blocks(piece.offset, piece.length), piece.digests, strict=False):
            data = bytearray(read_all(file.disk, file.descriptor, stop - at, at))
            for offset, before, _ in last.headers:
                for position in range(max(at, offset), min(at + len(data), offset + len(before))):
                    data[position - at] = before[position - offset]
            if len(data) != stop - at or _digest(bytes(data)) != digest:
                return end
            end = stop
    return end
