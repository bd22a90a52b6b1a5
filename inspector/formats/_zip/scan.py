"""Local headers one after another from the start of the file: what is left when there is no central directory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from inspector.core.archive import Emitter
from inspector.core.member import FOLDER, LARGEST
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.directory import MOST_MEMBERS, Directory, codec_of
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.extra_check import Place, report_extra, report_second_name
from inspector.formats._zip.names import is_plain, path_of, report_name
from inspector.formats._zip.records import (
    FOLLOWING,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    Local,
)

_STEP = 1024
_NAME_GUESS = 256


def read_local(source: Source, at: int) -> tuple[Local, bytes, bytes] | None:
    """The local header at ``at`` with its name and extra field, or None where there is none or it is cut off."""
    if not 0 <= at <= source.size - LOCAL_SIZE:
        return None
    data = source.read(at, LOCAL_SIZE + _NAME_GUESS)
    if data[:4] != LOCAL or len(data) < LOCAL_SIZE:
        return None
    local = Local._make(LOCAL_STRUCT.unpack(data[:LOCAL_SIZE]))
    size = LOCAL_SIZE + local.name_length + local.extra_length
    if size > len(data):
        data = source.read(at, size)
    if size > len(data):
        return None
    name_stop = LOCAL_SIZE + local.name_length
    return local, data[LOCAL_SIZE:name_stop], data[name_stop:size]


def local_sizes(local: Local, extra: bytes) -> tuple[int, int] | None:
    """Stored and decoded size as the local header knows them; None where only a data descriptor does."""
    if local.flags & HAS_DESCRIPTOR and local.stored in (0, FULL_32):
        return None
    wide = zip64(extra, local.size == FULL_32, local.stored == FULL_32, False)
    return (
        local.stored if wide.stored is None else wide.stored,
        local.size if wide.size is None else wide.size,
    )


class LocalFile(NamedTuple):
    """A member as its local header at ``head`` tells: its data begins at ``begin``, and the next record at ``stop``.

    ``sizes`` are its stored and decoded size; None, and ``stop`` is ``begin``, where only a data descriptor knows them.
    """

    head: int
    local: Local
    name: bytes
    extra: bytes
    begin: int
    sizes: tuple[int, int] | None
    descriptor: int
    stop: int


def local_files(source: Source, start: int) -> Iterator[LocalFile]:
    """The local files one after another from ``start`` on, to the first whose size is not known or that is cut off.

    Only headers and sizes lead it; stored data is never searched for signatures, because an archive inside the
    archive has the same ones.
    """
    at = start
    while (found := read_local(source, at)) is not None:
        local, name, extra = found
        begin = at + LOCAL_SIZE + len(name) + len(extra)
        sizes = local_sizes(local, extra)
        stop = begin + sizes[0] if sizes is not None else begin
        whole = sizes is not None and stop <= source.size
        descriptor = _descriptor_size(source, stop) if whole and local.flags & HAS_DESCRIPTOR else 0
        yield LocalFile(at, local, name, extra, begin, sizes, descriptor, stop + descriptor)
        if not whole:
            return
        at = stop + descriptor


def walk_forward(source: Source, emitter: Emitter, directory: Directory, start: int, progress: Progress) -> int:
    """Add a member for each local header from ``start`` on; says where the walk ended."""
    progress.begin("Reading local headers", source.size)
    at = start
    for found in islice(local_files(source, start), MOST_MEMBERS):
        if found.sizes is None:
            _report_unknown(source, emitter, found.name, found.head)
            return found.head
        place = Place(found.head + LOCAL_SIZE + len(found.name), found.name, len(directory.members), local=True)
        report_extra(emitter, found.extra, place)
        report_second_name(emitter, found.extra, place)
        _append(source, emitter, directory, found, found.sizes)
        at = min(found.stop, source.size)
        if len(directory.members) % _STEP == 0:
            progress.advance(at - progress.done)
    return at


def _append(source: Source, emitter: Emitter, directory: Directory, found: LocalFile, sizes: tuple[int, int]) -> None:
    local, name, begin = found.local, found.name, found.begin
    stored, size = sizes
    path = path_of(name, local.flags)
    index = directory.members.append(
        path,
        begin,
        min(begin + stored, source.size),
        size=min(size, LARGEST),
        codec=codec_of(local.method, local.flags),
        digest=local.crc,
        head=found.head,
        marks=FOLDER if path.endswith(b"/") else 0,
    )
    directory.descriptors.append(found.descriptor)
    if not is_plain(name):
        at = found.head + LOCAL_SIZE
        report_name(emitter, name, local.flags, (at, at + len(name)), index)
    if begin + stored > source.size:
        missing = begin + stored - source.size
        words = f"{in_bytes(missing)} of {in_bytes(stored)} {verb(missing, 'is', 'are')} missing"
        message = f"The file ends inside the data of {visible(path)}: {words}."
        emitter.error("zip-member-cut-off", message, (begin, source.size), member=index)


def _descriptor_size(source: Source, at: int) -> int:
    """The size of a data descriptor after which another record begins, or 0 when none fits."""
    for size in (16, 24, 12, 20):
        if source.read(at + size, 4) in FOLLOWING:
            return size
    return 0


def _report_unknown(source: Source, emitter: Emitter, name: bytes, at: int) -> None:
    message = (
        f"The size of {visible(name)} stands only behind its data and in the central directory, which is missing; "
        "it and all that follows cannot be told apart."
    )
    emitter.error("zip-size-unknown", message, Span(at, source.size))
