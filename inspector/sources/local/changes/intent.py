"""What an append is about to write: a file in the state folder, by which an append that was killed is proved.

Each line is a record in JSON and the BLAKE2b of it and the line before it. A piece is recorded before it is written,
and the headers, before and after, before the first of them is. What no line proves is not this program's.
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

from inspector.core.edit import Edit, Patch
from inspector.core.numbers import in_bytes
from inspector.sources.local.changes.journal import exists
from inspector.sources.local.changes.journal_paths import intent_path
from inspector.sources.local.changes.locked_file import LockedFile
from inspector.sources.local.disk_calls import Disk, read_all, write_all

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


class Intent:
    """Records an append to a locked file. Where that fails it is gone, and the append goes on unproved."""

    def __init__(self, file: LockedFile, end: int, offset: int, header: bytes) -> None:
        self._disk, self._path = file.disk, intent_path(file.path)
        self._descriptor, self._at, self._chain = -1, 0, b""
        self._headers: tuple[_Header, ...] = ((offset, header, header),)
        with contextlib.suppress(OSError):
            self._disk.make_folder(self._path.parent)
            forget_intent(file.path, self._disk)
            self._descriptor = self._disk.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._record(_Begun(platform.node(), file.identity.inode, file.identity.size, end, offset, header))

    def piece(self, offset: int, data: bytes) -> None:
        """Record bytes that are about to be written."""
        digests = [_digest(data[start - offset : stop - offset]) for start, stop in _blocks(offset, len(data))]
        self._record(_Piece(offset, len(data), tuple(digests)))

    def headers(self, size: int, headers: Sequence[_Header]) -> None:
        """Record the last step, and sync: the headers that are about to be written."""
        self._headers = tuple(headers)
        self._record(_Headers(size, self._headers))
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self._disk.sync(self._descriptor)

    def give_up(self) -> None:
        """Record that the append is not to be finished."""
        self._record(_Headers(-1, self._headers))

    def close(self) -> None:
        """Close the file, which stays."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self._disk.close(self._descriptor)
            self._descriptor = -1

    def _record(self, record: _Begun | _Piece | _Headers) -> None:
        if self._descriptor < 0:
            return
        line, self._chain = _sealed(self._chain, msgspec.json.encode(record))
        try:
            write_all(self._disk, self._descriptor, line, self._at)
        except OSError:
            self.close()
            with contextlib.suppress(OSError):
                self._disk.unlink(self._path)
        self._at += len(line)


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
        if exists(place := intent_path(path), disk):
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
    try:
        data = read_all(file.disk, descriptor, MAX_INTENT_BYTES, 0)
    finally:
        with contextlib.suppress(OSError):
            file.disk.close(descriptor)
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
    for offset, before, after in last.headers:
        now = _now(file, offset, after)
        if not len(now) == len(before) == len(after):
            return False
        if any(byte not in known for byte, *known in zip(now, before, after, strict=True)):
            return False
    return True


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
