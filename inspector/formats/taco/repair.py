"""Repairing a TACO archive: an interrupted header update (TACO_HEADER.md, "Update process"), and its ZIP."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.header_consensus import repair_headers
from inspector.formats._zip.rebuild import Rebuilt
from inspector.formats._zip.records import Local
from inspector.formats._zip.repair import in_place, repair_end, repair_records
from inspector.formats._zip.salvage import copied, has_whole, salvage
from inspector.formats._zip.scan import read_local
from inspector.formats.taco.decode import TacoDetail
from inspector.formats.taco.edit import payload_edit, payload_of, why_not
from inspector.formats.taco.header import (
    HEADER_SIZE,
    LOCAL_CRC_OFFSET,
    MOST_ENTRIES,
    PAYLOAD_SIZE,
    TacoHeader,
    first_member,
    target_words,
)
from inspector.formats.taco.probe import Layout

_TORN = frozenset({"taco-torn-after-write-1", "taco-torn-after-write-2", "taco-crc"})
_NAME = str(Layout.HEADER).encode()
_PLACE = Span(HEADER_SIZE - PAYLOAD_SIZE, HEADER_SIZE)
"""Where the payload stands in a header whose layout is that of the specification."""
_ELSEWHERE = "elsewhere in this file"
"""What is said of an entry that leads to no member and not out of the file."""


class _Aim(StrEnum):
    """What becomes of an entry of the header in a new archive, as a clause."""

    FINE = ""
    ELSEWHERE = "it leads elsewhere in this file, and is not moved along with the members"
    GONE = "the member it leads to is not in the new archive, so the entry is empty there"


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    detail = archive.detail
    if not isinstance(detail, TacoDetail):
        return ()
    header, directory = detail.header, detail.directory
    remarks = partial(_lost_targets, detail)
    found = [*repair_headers(archive, directory, progress), *repair_records(archive, directory)]
    if len(archive.members) > 1 or directory.ending is not None:  # the header alone is what a range request brings
        found = [*repair_end(archive, directory, progress, remarks), *found]
    if header is not None:
        own = (
            *_repair_header(archive, header),
            *_repair_padding(archive, header),
            *_repair_name(archive, detail, header),
        )
        found = [*own, *found]
    errors = any(each.severity is Severity.ERROR or each.code in _TORN for each in archive.findings)
    if errors and len(archive.members) > 1 and has_whole(archive):
        found.append(_salvage(archive, detail))
    return found


def _repair_name(archive: Archive, detail: TacoDetail, header: TacoHeader) -> Iterator[Repair]:
    """One of the header's two names is another one of the same length: its payload shows which is right."""
    proved = header.sensible and header.crc == header.local_crc == header.central_crc
    wrong = [
        each
        for each in archive.findings
        if each.code == "zip-local-name" and each.member == first_member(detail.directory)
    ]
    if not wrong or not proved or header.layout is not Layout.HEADER:
        return
    for start, stop in wrong[0].spans:
        old = archive.source.read(start, stop - start)
        if len(old) == len(_NAME) and old != _NAME:
            title = f"Set the name of the header at {grouped(start)} to {_NAME.decode()}, as its other record has it"
            edit = in_place(archive, title, [Patch(start, old, _NAME)])
            fixes, why = frozenset({"zip-local-name", "taco-layout"}), "The other record has this name."
            yield Repair("taco-set-name", title, fixes, edit=edit, lossless=why)


def _repair_header(archive: Archive, header: TacoHeader) -> Iterator[Repair]:
    """What the three CRCs of the header allow; see the finding of decoding that speaks of them."""
    fixes = _TORN & {finding.code for finding in archive.findings}
    if not fixes or header.payload.size != PAYLOAD_SIZE:
        return
    central = header.central_crc_offset
    if header.crc == header.local_crc and central is not None:
        title = (
            f"Finish the update of the TACO header: write its CRC-32 into the central directory at {grouped(central)}"
        )
        yield _set_crcs(archive, header, "taco-finish-update", title, fixes)
    elif header.crc == header.central_crc:
        title = f"Set the CRC-32 of the TACO header in its local header, at {LOCAL_CRC_OFFSET}, to what its bytes give"
        yield _set_crcs(archive, header, "taco-set-local-crc", title, fixes)
    else:
        yield from _repair_payload(archive, header, fixes)


def _repair_padding(archive: Archive, header: TacoHeader) -> Iterator[Repair]:
    """Padding that was written so: the CRC-32 fits, and only the specification ("Payload structure") is not kept."""
    whole = header.crc == header.local_crc == header.central_crc
    if not any(header.padding) or not whole or header.count > MOST_ENTRIES or why_not(archive):
        return
    payload = bytearray(archive.source.read(header.payload.start, PAYLOAD_SIZE))
    payload[1:4] = bytes(3)
    at = grouped(header.payload.start + 1)
    title = f"Set the three padding bytes of the TACO header at {at} to zero, and its CRC-32 in both places"
    lost = (
        f"The padding bytes {header.padding.hex(' ')}, which depart from the specification only: its CRC-32 shows that "
        "they were written so, and no entry changes."
    )
    yield Repair(
        "taco-clear-padding",
        title,
        frozenset({"taco-padding"}),
        (lost,),
        edit=payload_edit(archive, bytes(payload), title),
    )


def _repair_payload(archive: Archive, header: TacoHeader, fixes: frozenset[str]) -> Iterator[Repair]:
    """The payload fits neither CRC: it is new and they are old, or it is damaged."""
    changed = _changed_byte(archive.source, header)
    if changed is not None:
        words = (
            f"byte {grouped(changed.offset)} from {hexadecimal(changed.old[0], 2)} to {hexadecimal(changed.new[0], 2)}"
        )
        title = f"Set the TACO header back to what its CRC-32 was made for: {words}"
        size = archive.source.size
        why = "Of all changes of one byte only this one fits the CRC-32 that is recorded."
        yield Repair("taco-restore-payload", title, fixes, edit=Edit(title, (changed,), size, size), lossless=why)
    if not header.sensible:
        return  # no program writes such a count or such padding, so there is nothing to finish
    title = "Finish the update of the TACO header: write the CRC-32 of its entries over the old one"
    claim = _claim(archive, header, restorable=changed is not None)
    lost = "What the header held before: its bytes are overwritten, so the update cannot be rolled back."
    yield _set_crcs(archive, header, "taco-finish-update", title, fixes, () if changed is not None else (lost,), claim)


def _set_crcs(
    archive: Archive,
    header: TacoHeader,
    code: str,
    title: str,
    fixes: frozenset[str],
    loses: tuple[str, ...] = (),
    claim: str = "",
) -> Repair:
    """Write the payload's CRC-32 wherever another one stands, in the order of an update."""
    records = ((LOCAL_CRC_OFFSET, header.local_crc), (header.central_crc_offset, header.central_crc))
    new = header.crc.to_bytes(4, "little")
    patches = tuple(
        Patch(at, crc.to_bytes(4, "little"), new)
        for at, crc in records
        if at is not None and crc is not None and crc != header.crc
    )
    size = archive.source.size
    lossless = "" if loses or claim else "Only checksums are written; the bytes they are of stay."
    return Repair(code, title, fixes, loses, claim, Edit(title, patches, size, size), lossless=lossless)


def _changed_byte(source: Source, header: TacoHeader) -> Patch | None:
    """The one byte of the payload with which it fits a CRC that is recorded; None where more than one differ.

    Of all 29,580 payloads that differ in one byte, one fits by chance once in 145,000 headers.
    """
    payload = source.read(header.payload.start, PAYLOAD_SIZE)
    wanted = {header.crc ^ header.local_crc}
    if header.central_crc is not None:
        wanted.add(header.crc ^ header.central_crc)
    for at, old in enumerate(payload):
        rest = bytes(PAYLOAD_SIZE - at - 1)
        none = zlib.crc32(b"\0" + rest)
        for bits in range(1, 256):
            if zlib.crc32(bytes((bits,)) + rest) ^ none in wanted:
                return Patch(header.payload.start + at, bytes((old,)), bytes((old ^ bits,)))
    return None


def _claim(archive: Archive, header: TacoHeader, *, restorable: bool) -> str:
    """Why finishing an update is only a claim; empty where the payload shows that a program wrote it."""
    if restorable:
        return "The byte that differs is assumed to have been written on purpose, and not to be damaged."
    if header.central_crc is None and archive.detail.directory.listed:
        why = "the central directory has no entry for it"
    elif header.central_crc is not None and header.central_crc != header.local_crc:
        why = "its two CRCs differ, which no update that was cut off leaves behind"
    elif not _is_convincing(archive, header):
        why = "its entries are none, lead out of the file, or are not zero where they are not in use"
    else:
        return ""
    return (
        f"The 116 bytes of the header are assumed to be as they were written, though they fit no CRC-32: {why}. "
        "Afterwards nothing shows any more that they may be damaged."
    )


def _is_convincing(archive: Archive, header: TacoHeader) -> bool:
    """Whether every entry in use leads to bytes of this file, and every other one is zero."""
    used, unused = header.entries[: header.count], header.entries[header.count :]
    inside = all(length and offset + length <= archive.source.size for offset, length in used)
    return bool(used) and inside and not any(map(any, unused))


def _lost_targets(detail: TacoDetail, rebuilt: Rebuilt) -> list[str]:
    """The entries of the header that lead to what is not in the file any more."""
    header = detail.header
    if header is None or detail.directory.ending is not None:
        return []
    found = []
    for index, (offset, length) in enumerate(header.entries[: min(header.count, MOST_ENTRIES)]):
        if length and offset >= rebuilt.start:
            place = f"{grouped(offset)}, {grouped(length)}"
            found.append(
                f"What entry {index} of the TACO header leads to ({place}): it lies behind the last member that is "
                "left. The entry stays as it is."
            )
    return found


def _salvage(archive: Archive, detail: TacoDetail) -> Repair:
    """The salvage of a ZIP, with a header whose entries lead to where members are then."""
    header = detail.header
    found = read_local(archive.source, 0)
    if header is None or found is None or found[1] != _NAME or header.payload != _PLACE:
        return salvage(archive, detail.directory)
    known = header.crc in (header.local_crc, header.central_crc)
    entries = header.entries[: header.count] if known else ()
    local = found[0]._replace(flags=0)  # its sizes and its CRC stand in it

    kept = set(copied(archive, detail.directory))
    aims = [_aim(detail, archive.source.size, entry, kept) for entry in entries]

    def lead(begins: Mapping[tuple[int, int], int]) -> tuple[Local, bytes, bytes]:
        moved = [
            (0, 0) if aim is _Aim.GONE else (begins.get((offset, offset + length), offset), length)
            for aim, (offset, length) in zip(aims, entries, strict=True)
        ]
        payload = payload_of(moved, len(moved))
        return local._replace(crc=zlib.crc32(payload)), _NAME, payload

    loses = ["The entries of the TACO header, which fit no CRC-32: the new header has none."] if not known else []
    if known and header.count > MOST_ENTRIES:
        loses.append(f"The count of the TACO header, {header.count}: it has room for {MOST_ENTRIES}, and all are kept.")
    loses += [f"The aim of entry {index}: {aim}." for index, aim in enumerate(aims) if aim is not _Aim.FINE]
    return salvage(archive, detail.directory, tuple(loses), lead)


def _aim(detail: TacoDetail, size: int, entry: tuple[int, int], kept: Container[tuple[int, int]]) -> _Aim:
    """What becomes of an entry where only the ``kept`` ranges of bytes go into a new archive."""
    offset, length = entry
    words = target_words(detail.directory, size, entry)
    if not length or offset >= size or (offset, offset + length) in kept:
        return _Aim.FINE
    if words == _ELSEWHERE:
        return _Aim.ELSEWHERE
    return _Aim.FINE if offset < HEADER_SIZE else _Aim.GONE
