"""Data descriptors: APPNOTE.TXT 4.3.9. With or without signature, with sizes of 32 or 64 bits: four forms."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.records import DESCRIPTOR, FOLLOWING

FORMS = {
    16: "signature, 32-bit sizes",
    24: "signature, 64-bit sizes",
    12: "no signature, 32-bit sizes",
    20: "no signature, 64-bit sizes",
}
"""The forms by their size in bytes."""
_STEP = 1024
_LONGEST = 24


def measure_descriptors(source: Source, emitter: Emitter, directory: Directory, progress: Progress) -> None:
    """Find the form of every announced data descriptor; a member without one, or with another's values, is reported."""
    members = directory.members
    if not directory.later:
        return
    progress.begin("Reading data descriptors", len(directory.later), "members")
    for count, index in enumerate(directory.later):
        stop = members.stops[index]
        member = members[index]
        crc = int(member.digest[6:], 16) if member.digest else 0
        data = source.read(stop, _LONGEST + 4)
        directory.descriptors[index] = form_of(data, crc, member.stored, member.size)
        if not directory.descriptors[index]:
            _report(emitter, directory, index, data, stop)
        if count % _STEP == 0:
            progress.advance(count - progress.done)


def form_of(data: bytes, crc: int, stored: int, size: int) -> int:
    """The size of the form that the bytes after the content have, 0 when they have none with these numbers."""
    fitting = []
    for form in FORMS:
        width = 8 if form in (20, 24) else 4
        if max(stored, size) >> 8 * width:
            continue
        expected = crc.to_bytes(4, "little") + stored.to_bytes(width, "little") + size.to_bytes(width, "little")
        if data[:form] == (DESCRIPTOR if form in (16, 24) else b"") + expected:
            fitting.append(form)
    # An empty member's descriptor fits two forms when zeros follow: the one after which something begins is meant.
    closed = [form for form in fitting if data[form : form + 4] in FOLLOWING]
    return next(iter(closed or fitting), 0)


def _report(emitter: Emitter, directory: Directory, index: int, data: bytes, stop: int) -> None:
    name = visible(directory.members.path(index))
    if data[:4] == DESCRIPTOR:
        directory.descriptors[index] = min(16, len(data))
        message = f"The data descriptor of {name} says other numbers than the central directory."
        central = directory.central[index] if directory.listed else None
        recorded = () if central is None else ((central + 16, central + 28),)
        emitter.error("zip-descriptor-differs", message, (stop, stop + 16), *recorded, member=index)
    else:
        message = f"The flags of {name} announce a data descriptor; none with its numbers follows its data."
        emitter.warning("zip-descriptor-missing", message, (stop, stop + 16), member=index)
