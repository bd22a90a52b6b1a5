"""Local headers one after another from the start of the file: what is left when there is no central directory."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.member import FOLDER, LARGEST
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
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


def walk_forward(source: Source, emitter: Emitter, directory: Directory, start: int, progress: Progress) -> int:
    """Add a member for each local header from ``start`` on; says where the walk ended.

    Only headers and sizes lead it; stored data is never searched for signatures, because an archive inside the
    archive has the same ones.
    """
    progress.begin("Reading local headers", source.size)
    at = start
    while len(directory.members) < MOST_MEMBERS:
        found = read_local(source, at)
        if found is None:
            return at
        local, name, extra = found
        sizes = local_sizes(local, extra)
        begin = at + LOCAL_SIZE + len(name) + len(extra)
        if sizes is None:
            _report_unknown(source, emitter, name, at)
            return at
        stored, size = sizes
        place = Place(at + LOCAL_SIZE + len(name), name, len(directory.members), local=True)
        report_extra(emitter, extra, place)
        report_second_name(emitter, extra, place)
        _append(source, emitter, directory, local, name, (at, begin, stored, size))
        at = begin + stored
        if at > source.size:
            return source.size
        if local.flags & HAS_DESCRIPTOR:
            at += _descriptor_size(source, at)
            directory.descriptors[-1] = at - begin - stored
        if len(directory.members) % _STEP == 0:
            progress.advance(at - progress.done)
    return at


def _append(
    source: Source,
    emitter: Emitter,
    directory: Directory,
    local: Local,
    name: bytes,
    numbers: tuple[int, int, int, int],
) -> None:
    at, begin, stored, size = numbers
    path = path_of(name, local.flags)
    index = directory.members.append(
        path,
        begin,
        min(begin + stored, source.size),
        size=min(size, LARGEST),
        codec=codec_of(local.method, local.flags),
        digest=local.crc,
        head=at,
        marks=FOLDER if path.endswith(b"/") else 0,
    )
    directory.descriptors.append(0)
    if not is_plain(name):
        report_name(emitter, name, local.flags, (at + LOCAL_SIZE, at + LOCAL_SIZE + len(name)), index)
    if begin + stored > source.size:
        missing = in_bytes(begin + stored - source.size)
        message = f"The file ends inside the data of {visible(path)}: {missing} of {in_bytes(stored)} are missing."
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
