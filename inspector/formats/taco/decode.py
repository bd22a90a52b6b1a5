"""Decode and check a TACO archive: the ZIP archive and its TACO header (TACO_HEADER.md)."""

from __future__ import annotations

from itertools import combinations

from inspector.core.archive import Emitter
from inspector.core.field import Field
from inspector.core.kinds import Family, Kind, Role, role_set
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.check import checksums
from inspector.formats._zip.decode import decode_zip
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.fields import FirstMember
from inspector.formats._zip.records import LOCAL_PARTS
from inspector.formats.taco import codes
from inspector.formats.taco.header import (
    LOCAL_CRC_OFFSET,
    MAX_ENTRIES,
    PAYLOAD_SIZE,
    Layout,
    TacoHeader,
    layout_of,
    payload_field,
    read_header,
    target_text,
)

_LOCAL_NAMES = (
    "LFH Signature",
    "Version Needed",
    "General Purpose Flag",
    "Compression Method",
    "Last Mod Time",
    "Last Mod Date",
    "CRC-32",
    "Compressed Size",
    "Uncompressed Size",
    "Filename Length",
    "Extra Field Length",
)
"""The parts of a local header, as the TACO specification calls them."""
GHOST_TITLE = "TACO archive (TACO_GHOST, older layout)"


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the ZIP archive, then read the header and report on it.

    A check judges the header like any other member: it is verified if its payload matches one of its two CRCs, that is
    after the second of the three writes of an update. Decoding reports the state of the update.
    """
    layout = layout_of(source) or Layout.HEADER
    known: list[tuple[TacoHeader, tuple[str, ...]]] = []  # the header, and a text for each entry

    def content(span: Span, member: int) -> Field:
        """The payload, or plain data if the member at the start of the file is not a header."""
        for header, targets in known:
            if span == header.payload:
                return payload_field(source, header, span, targets, member)
        return Field("file data", Kind.DATA, (span,), member=member)

    first_member = FirstMember(
        tuple(part._replace(name=name) for part, name in zip(LOCAL_PARTS, _LOCAL_NAMES, strict=True)),
        "Filename",
        content,
        role_set(Role.PADDING, Family.TACO),
    )
    directory = decode_zip(source, emitter, progress, first_member, crc_checked_at=(0,))
    if (header := read_header(source, directory, layout)) is not None:
        emitter.archive.ranges_at = header.payload.start
        known.append((header, tuple(target_text(directory, source.size, entry) for entry in header.entries)))
        _report(
            emitter,
            header,
            directory.first,
            listed=directory.eocd is not None and bool(directory.central),
        )
    _report_name(emitter, directory)
    if layout is Layout.GHOST:
        emitter.archive.title = GHOST_TITLE
    directory.header = header
    emitter.archive.checksums = checksums(emitter.archive, directory, directory.first)


def _report(emitter: Emitter, header: TacoHeader, member: int, *, listed: bool) -> None:
    """Report on the header, which is ``member``; -1 if the central directory has no entry for it.

    A missing central directory (not ``listed``) is reported elsewhere.
    """
    place, ghost = header.payload, header.layout is Layout.GHOST
    unused = [str(i) for i in range(min(header.count, MAX_ENTRIES), MAX_ENTRIES) if any(header.entries[i])]
    for applies, what, message, span in (
        (
            header.count > MAX_ENTRIES,
            codes.COUNT,
            f"The count is {header.count}, but a TACO header has room for {MAX_ENTRIES} entries.",
            (place.start, place.start + 1),
        ),
        (
            any(header.padding),
            codes.PADDING,
            f"The three padding bytes are {header.padding.hex(' ')}, but must be zero.",
            (place.start + 1, place.start + 4),
        ),
        (unused, codes.UNUSED_ENTRY, f"Unused entries are not zero: {', '.join(unused)}. They are ignored.", place),
        (
            ghost,
            codes.GHOST,
            (
                "The header has the older layout TACO_GHOST of tacozip before 0.6, with the payload at 40. It can be "
                "read but not edited."
            ),
            (0, place.stop),
        ),
        (
            header.obstacles and listed and not ghost,
            codes.LAYOUT,
            f"The header cannot be edited in place: {'; '.join(header.obstacles)}.",
            (0, place.stop),
        ),
    ):
        if applies:
            emitter.report(what, message, span)
    if place.size == PAYLOAD_SIZE:
        _report_crc(emitter, header, member, listed=listed)
    _report_entries(emitter, header)


def _report_entries(emitter: Emitter, header: TacoHeader) -> None:
    """Report odd entries. They belong to the application, so nothing is worse than an info."""
    size = emitter.archive.source.size
    used = [(entry, header.entry_span(index)) for index, entry in enumerate(header.entries[: header.count])]
    inside = []
    for index, ((offset, length), place) in enumerate(used):
        stop = offset + length
        if length and offset < header.payload.stop:
            emitter.report(
                codes.ENTRY_IN_HEADER,
                f"Entry {index} ({grouped(offset)}, {in_bytes(length)}) begins inside the header itself.",
                place,
            )
        if stop > size:
            emitter.report(
                codes.ENTRY_OUTSIDE,
                f"Entry {index} ({grouped(offset)}, {in_bytes(length)}) points outside this file of {in_bytes(size)}. "
                "It refers to another file, or it is wrong.",
                place,
            )
        elif length:
            inside.append((offset, stop, index, place))
    for one, other in combinations(sorted(inside), 2):
        if other[0] < one[1]:
            emitter.report(
                codes.ENTRIES_OVERLAP,
                f"Entries {one[2]} and {other[2]} overlap from {grouped(other[0])} on.",
                one[3],
                other[3],
            )


def _report_crc(emitter: Emitter, header: TacoHeader, member: int, *, listed: bool) -> None:
    """Report how far an update of the header came, by its three CRCs (TACO_HEADER.md, "Update process")."""
    local_fits = header.crc == header.local_crc
    central_fits = header.central_crc is None or header.central_crc == header.local_crc
    local = (LOCAL_CRC_OFFSET, LOCAL_CRC_OFFSET + 4)
    at = header.central_crc_offset
    central = (at, at + 4) if at is not None else local
    if local_fits and central_fits:
        return
    numbers = f"payload 0x{header.crc:08x}, local header 0x{header.local_crc:08x}"
    if header.central_crc is not None:
        numbers += f", central directory 0x{header.central_crc:08x}"
    if local_fits:
        cause = (
            "An update of the TACO header was interrupted after its second write. The central directory has the old CRC"
        )
        what = codes.TORN_AFTER_WRITE_2
    elif central_fits and header.sensible and (header.central_crc is not None or not listed):
        cause = "An update of the TACO header was interrupted after its first write, or its payload is damaged"
        what = codes.TORN_AFTER_WRITE_1
    else:
        cause = "The payload of the TACO header or its CRCs are damaged"
        what = codes.CRC
    emitter.report(
        what, f"{cause}. CRC: {numbers}.", header.payload, local, central, member=member if member >= 0 else None
    )


def _report_name(emitter: Emitter, directory: Directory) -> None:
    """Report further members named TACO_HEADER, which programs might take for the header."""
    members = directory.members
    name = b"TACO_HEADER"
    if members.paths.count(name) < 2:
        return
    heads = directory.heads
    for index in range(len(members)):
        if heads[index] and members.path(index) == name:
            emitter.report(
                codes.SECOND_HEADER,
                f"Member {index} is named TACO_HEADER too, but the header is the one at the start of the file.",
                (heads[index], members.stops[index]),
                member=index,
            )
