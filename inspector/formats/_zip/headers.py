"""Read local headers, central directory headers and data descriptors (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.9)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from inspector.core.member import Codec
from inspector.core.source import Source
from inspector.formats._zip.compression import CODECS
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    DESCRIPTOR,
    ENCRYPTED,
    FOLLOWING,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    MASKED,
    PATCHED,
    STRONG,
    Local,
    zip64,
)

_NAME_GUESS_BYTES = 256


def read_local(source: Source, at: int) -> tuple[Local, bytes, bytes] | None:
    """The local header at ``at``, its name and its extra field; None if there is none or it is cut off."""
    if not 0 <= at <= source.size - LOCAL_SIZE:
        return None
    data = source.read(at, LOCAL_SIZE + _NAME_GUESS_BYTES)
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
    """Stored and decoded size from the local header; None if only a data descriptor has them."""
    if local.flags & HAS_DESCRIPTOR and local.stored in (0, FULL_32):
        return None
    wide = zip64(extra, local.size, local.stored)
    return wide.stored, wide.size


class LocalFile(Struct, frozen=True):
    """A member as its local header at ``head`` describes it: its data begins at ``begin``, the next record at ``stop``.

    ``sizes`` are its stored and decoded size. If only a data descriptor has them, it is None and ``stop`` is ``begin``.
    """

    head: int
    local: Local
    name: bytes
    extra: bytes
    begin: int
    sizes: tuple[int, int] | None
    descriptor: int
    stop: int


class ScannedMember(Struct, frozen=True):
    """A member found by its local header; ``[head, stop)`` are its bytes from header to data descriptor.

    ``local`` has its true CRC-32 and sizes, wherever they are recorded; its data begins at ``begin``. ``proved``: they
    were computed from the data, and its descriptor has the same.
    """

    local: Local
    name: bytes
    extra: bytes
    head: int
    begin: int
    stop: int
    proved: bool = False


def local_files(source: Source, start: int) -> Iterator[LocalFile]:
    """Yield the local files from ``start`` on, up to the first that is cut off or whose size is unknown.

    Only headers and sizes are followed: data is never searched for signatures, because an archive stored inside the
    archive has the same ones.
    """
    at = start
    while (found := read_local(source, at)) is not None:
        local, name, extra = found
        begin = at + LOCAL_SIZE + len(name) + len(extra)
        sizes = local_sizes(local, extra)
        stop = begin + sizes[0] if sizes is not None else begin
        whole = sizes is not None and stop <= source.size
        forms = FORMS if whole and local.flags & HAS_DESCRIPTOR else ()
        descriptor = next((size for size in forms if source.read(stop + size, 4) in FOLLOWING), 0)
        yield LocalFile(at, local, name, extra, begin, sizes, descriptor, stop + descriptor)
        if not whole:
            return
        at = stop + descriptor


MAX_MEMBERS = 2_000_000
"""Members that are listed; a finding reports more."""


_WINDOW_BYTES = 1 << 20


_MAX_HEADER_BYTES = CENTRAL_SIZE + 3 * 0xFFFF


UNSUPPORTED = ENCRYPTED | PATCHED | STRONG | MASKED
"""Flags of members that this program cannot read."""


Header = tuple[bytes, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int]
"""The numbers of a central directory header, in the order of records.Central."""


def codec_of(method: int, flags: int) -> Codec:
    """The codec of a member; UNKNOWN if this program cannot read it."""
    if flags & UNSUPPORTED:
        return Codec.UNKNOWN
    return CODECS.get(method, Codec.UNKNOWN)


def central_headers(source: Source, start: int, limit: int) -> Iterator[tuple[int, Header, bytes, bytes, bytes, int]]:
    """Yield each header of the directory: offset, numbers, the bytes a local header repeats, name, extra, end."""
    at, base, window = start, start, b""
    unpack = CENTRAL_STRUCT.unpack_from
    while at + CENTRAL_SIZE <= limit:
        local_span = at - base
        if local_span + _MAX_HEADER_BYTES > len(window) and base + len(window) < limit:
            base, local_span, window = at, 0, source.read(at, min(_WINDOW_BYTES, limit - at))
            limit = limit if len(window) == min(_WINDOW_BYTES, limit - at) else at + len(window)
        if local_span + CENTRAL_SIZE > len(window):
            return
        header = unpack(window, local_span)
        name = local_span + CENTRAL_SIZE
        extra = name + header[10]
        comment = extra + header[11]
        stop = comment + header[12]
        if header[0] != CENTRAL or stop > len(window):
            return
        yield (
            at,
            header,
            window[local_span + 6 : local_span + 30],
            window[name:extra],
            window[extra:comment],
            base + stop,
        )
        at = base + stop


FORMS = {
    16: "signature, 32-bit sizes",
    24: "signature, 64-bit sizes",
    12: "no signature, 32-bit sizes",
    20: "no signature, 64-bit sizes",
}
"""The forms of a data descriptor by their size in bytes."""


def form_of(data: bytes, crc: int, stored: int, size: int) -> int:
    """The size of the data descriptor with these numbers at the start of ``data``, the bytes after a member; else 0."""
    fitting = []
    for form in FORMS:
        width = 8 if form in (20, 24) else 4
        if max(stored, size) >> 8 * width:
            continue
        expected = crc.to_bytes(4, "little") + stored.to_bytes(width, "little") + size.to_bytes(width, "little")
        if data[:form] == (DESCRIPTOR if form in (16, 24) else b"") + expected:
            fitting.append(form)
    # If zeros follow an empty member's descriptor, two forms fit: take the one that another record follows.
    closed = [form for form in fitting if data[form : form + 4] in FOLLOWING]
    return next(iter(closed or fitting), 0)


def data_start(source: Source, head: int) -> int | None:
    """Where the data of the member begins whose local header is at ``head``; None if there is no local header."""
    data = source.read(head, LOCAL_SIZE)
    if data[:4] != LOCAL or len(data) < LOCAL_SIZE:
        return None
    return head + LOCAL_SIZE + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
