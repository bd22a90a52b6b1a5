"""Tars to test with, and what every decoded tar must keep."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable

from inspector.core.archive import Archive, Emitter
from inspector.core.format import Format
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source
from inspector.formats import tar

LONG = "folder/" * 30 + "name.txt"


def build(members: Iterable[tuple[tarfile.TarInfo | str, bytes]], form: int = tarfile.USTAR_FORMAT) -> bytes:
    """A tar as Python's own library writes it, with two end blocks and no more."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for named, data in members:
            info = tarfile.TarInfo(named) if isinstance(named, str) else named
            if info.isreg():
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        end = archive.offset
    return made.getvalue()[: end + 1024]


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def decoded(source: Source | bytes, decoder: Format = tar.FORMAT) -> Archive:
    source = BytesSource(source, "made.tar") if isinstance(source, bytes) else source
    archive = Archive(source, decoder.name, decoder.title, ())
    decoder.decode(source, Emitter(archive), Progress())
    return archive


def content(archive: Archive, index: int, decoder: Format = tar.FORMAT) -> bytes:
    return b"".join(decoder.read(archive, index, Progress()))


def listing(archive: Archive) -> list[tuple[str, int, bytes]]:
    return [(member.path.decode(), member.size, content(archive, member.index)) for member in archive.members]


def reference(data: bytes) -> list[tuple[str, int, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = []
        for info in archive:
            file = archive.extractfile(info)
            assert file is not None
            found.append((info.name, info.size, file.read()))
        return found


def with_checksum(block: bytes) -> bytes:
    """A header block whose checksum fits whatever else is in it."""
    total = sum(block[:148]) + sum(block[156:]) + 8 * 0x20
    return block[:148] + b"%06o\0 " % total + block[156:]


def reheaded(data: bytes, *changes: tuple[int, bytes]) -> bytes:
    """A tar whose first header has other bytes at some places, and a checksum that fits."""
    for at, new in changes:
        data = data[:at] + new + data[at + len(new) :]
    return with_checksum(data[:512]) + data[512:]


def extended(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    """An extended header with its body, without the member it speaks of."""
    stated = () if size is None else ((124, b"%011o\0" % size),)
    return reheaded(build([("extended", body)])[:-1024], (156, kind), *stated)


def record(key: bytes, value: bytes) -> bytes:
    """A PAX record with the right length."""
    rest = b" " + key + b"=" + value + b"\n"
    size = len(rest) + 1
    while len(b"%d" % size) + len(rest) != size:
        size += 1
    return b"%d" % size + rest
