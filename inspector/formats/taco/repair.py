"""Repair a TACO archive: an interrupted update of its header (TACO_HEADER.md, "Update process"), and its ZIP."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.span import Span
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.rebuild import Rebuilt, copied, has_whole, salvage
from inspector.formats._zip.records import Local, read_local
from inspector.formats._zip.repair import in_place, repair_end, repair_headers, repair_records
from inspector.formats.taco.header import (
    ELSEWHERE,
    HEADER_NAME,
    HEADER_SIZE,
    LOCAL_CRC_OFFSET,
    MAX_ENTRIES,
    PAYLOAD_SIZE,
    Layout,
    TacoHeader,
    entries_of,
    target_text,
)
from inspector.formats.taco.write import payload_edit, payload_of, why_not_editable

_HEADER_CODES = frozenset({"taco-torn-after-write-1", "taco-torn-after-write-2", "taco-crc"})
_PAYLOAD_SPAN = Span(HEADER_SIZE - PAYLOAD_SIZE, HEADER_SIZE)
"""The payload of a header with the layout of the specification."""


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs: the header, the end, other headers and CRC-32 records, and a salvage last."""
    directory = archive.detail
    if not isinstance(directory, Directory):
        return ()
    header: TacoHeader | None = directory.header
    extra_losses = partial(_lost_targets, directory)
    found = [*repair_headers(archive, directory, progress), *repair_records(archive, directory)]
    if len(archive.members) > 1 or directory.eocd is not None:  # the header alone is what a range request returns
        found = [*repair_end(archive, directory, progress, extra_losses), *found]
    if header is not None:
        own = (
            *_repair_header(archive, header),
            *_repair_padding(archive, header),
            *_repair_name(archive, directory, header),
        )
        found = [*own, *found]
    errors = any(each.severity is Severity.ERROR or each.code in _HEADER_CODES for each in archive.findings)
    if errors and (len(archive.members) > 1 or directory.strays.members) and has_whole(archive, directory):
        found.append(_salvage(archive, directory))
    return found


def _repair_name(archive: Archive, directory: Directory, header: TacoHeader) -> Iterator[Repair]:
    """Correct one of the header's two names, of the same length: the payload proves which is right."""
    proved = header.sensible and header.crc == header.local_crc == header.central_crc
    wrong = [each for each in archive.findings if each.code == "zip-local-name" and each.member == directory.first]
    if not wrong or not proved or header.layout is not Layout.HEADER:
        return
    for start, stop in wrong[0].spans:
        old = archive.source.read(start, stop - start)
        if len(old) == len(HEADER_NAME) and old != HEADER_NAME:
            title = f"Set the name of the header at {grouped(start)} to {HEADER_NAME.decode()}, as in its other record"
            edit = in_place(archive, title, [Patch(start, old, HEADER_NAME)])
            fixes, why = frozenset({"zip-local-name", "taco-layout"}), "The other record has this name."
            yield Repair("taco-set-name", title, fixes, edit=edit, lossless=why)


def _repair_header(archive: Archive, header: TacoHeader) -> Iterator[Repair]:
    """Repairs by the three CRCs of the header; see ``decode._report_crc``."""
    fixes = _HEADER_CODES & {finding.code for finding in archive.findings}
    if not fixes or header.payload.size != PAYLOAD_SIZE:
        return
    central = header.central_crc_offset
    if header.crc == header.local_crc and central is not None:
        title = (
            f"Finish the update of the TACO header: write its CRC-32 into the central directory at {grouped(central)}"
        )
        yield _set_crcs(archive, header, "taco-finish-update", title, fixes)
    elif header.crc == header.central_crc:
        title = f"Set the CRC-32 of the TACO header in its local header, at {LOCAL_CRC_OFFSET}, to that of its payload"
        yield _set_crcs(archive, header, "taco-set-local-crc", title, fixes)
    else:
        yield from _repair_payload(archive, header, fixes)


def _repair_padding(archive: Archive, header: TacoHeader) -> Iterator[Repair]:
    """Clear padding that was written so: the CRC-32 matches, but "Payload structure" requires zeros."""
    whole = header.crc == header.local_crc == header.central_crc
    if not any(header.padding) or not whole or header.count > MAX_ENTRIES or why_not_editable(archive):
        return
    payload = bytearray(archive.source.read(header.payload.start, PAYLOAD_SIZE))
    payload[1:4] = bytes(3)
    at = grouped(header.payload.start + 1)
    title = f"Set the three padding bytes of the TACO header at {at} to zero, and its CRC-32 in both places"
    lost = f"The padding bytes {header.padding.hex(' ')}. The CRC-32 shows that they were written so; no entry changes."
    yield Repair(
        "taco-clear-padding",
        title,
        frozenset({"taco-padding"}),
        (lost,),
        edit=payload_edit(archive, bytes(payload), title),
    )


def _repair_payload(archive: Archive, header: TacoHeader, fixes: frozenset[str]) -> Iterator[Repair]:
    """Repairs of a payload that matches neither CRC: it is damaged, or new and the CRCs are old.

    Where a program may have written it, both need consent: a small update differs in as few bits as damage does.
    """
    source, size = archive.source, archive.source.size
    payload = source.read(header.payload.start, PAYLOAD_SIZE)
    restored = _restored(payload, header)
    evidence = _evidence(archive.detail, size, payload, restored or payload)
    if restored is not None:
        patches = tuple(
            Patch(header.payload.start + at, bytes((old,)), bytes((new,)))
            for at, (old, new) in enumerate(zip(payload, restored, strict=True))
            if old != new
        )
        changes = " and ".join(
            f"byte {grouped(each.offset)} from {hexadecimal(each.old[0], 2)} to {hexadecimal(each.new[0], 2)}"
            for each in patches
        )
        title = f"Restore the TACO header that its CRC-32 was computed for: {changes}"
        why = "Of all changes of one byte or two bits, only this one matches a recorded CRC-32."
        claim = (
            f"Damage changed this, and no update of the header was interrupted. {evidence}" if header.sensible else ""
        )
        lossless = "" if claim else why
        yield Repair(
            "taco-restore-payload", title, fixes, (), claim, Edit(title, patches, size, size), lossless=lossless
        )
    if not header.sensible:
        return  # no program writes such a count or padding, so no update was interrupted
    title = "Finish the update of the TACO header: write the CRC-32 of its entries over the old one"
    claim = f"{_assumption(archive, header, restorable=restored is not None)} {evidence}"
    lost = "The previous header: its bytes are overwritten already, so the update cannot be rolled back."
    yield _set_crcs(archive, header, "taco-finish-update", title, fixes, () if restored is not None else (lost,), claim)


def _set_crcs(
    archive: Archive,
    header: TacoHeader,
    code: str,
    title: str,
    fixes: frozenset[str],
    loses: tuple[str, ...] = (),
    claim: str = "",
) -> Repair:
    """Write the payload's CRC-32 over records that differ, in the order of an update."""
    records = ((LOCAL_CRC_OFFSET, header.local_crc), (header.central_crc_offset, header.central_crc))
    new = header.crc.to_bytes(4, "little")
    patches = tuple(
        Patch(at, crc.to_bytes(4, "little"), new)
        for at, crc in records
        if at is not None and crc is not None and crc != header.crc
    )
    size = archive.source.size
    lossless = "" if loses or claim else "Only checksums are written; the bytes they cover stay."
    return Repair(code, title, fixes, loses, claim, Edit(title, patches, size, size), lossless=lossless)


def _restored(payload: bytes, header: TacoHeader) -> bytes | None:
    """The payload with two bits or one byte set back so that it matches a recorded CRC; None if there is none.

    All errors of at most two bits of 116 bytes change the CRC in different ways. There are 431,056 of them and 25,404
    more of one byte, so one matches by chance in one of 9,400 headers.
    """
    none = zlib.crc32(bytes(PAYLOAD_SIZE))
    errors: dict[int, tuple[tuple[int, int], ...]] = {
        zlib.crc32(bytes(at) + bytes((bits,)) + bytes(PAYLOAD_SIZE - at - 1)) ^ none: ((at, bits),)
        for at in range(PAYLOAD_SIZE)
        for bits in range(1, 256)
    }
    single = {change: error for change, error in errors.items() if error[0][1].bit_count() == 1}
    for recorded in (header.local_crc, header.central_crc):
        if recorded is None:
            continue
        change = header.crc ^ recorded
        pair = next((single[one] + single[one ^ change] for one in single if one ^ change in single), None)
        found = single.get(change) or pair or errors.get(change)
        if found is not None:
            restored = bytearray(payload)
            for at, bits in found:
                restored[at] ^= bits
            return bytes(restored)
    return None


def _evidence(directory: Directory, size: int, payload: bytes, restored: bytes) -> str:
    """What the entries in use lead to, and where it differs also in the ``restored`` payload."""

    def shown(entry: tuple[int, int]) -> str:
        return f"{grouped(entry[0])} and {in_bytes(entry[1])}, {target_text(directory, size, entry)}"

    now, before = entries_of(payload), entries_of(restored)
    said = [f"The count is {payload[0]} and was {restored[0]}."] if payload[0] != restored[0] else []
    for index in range(min(MAX_ENTRIES, max(payload[0], restored[0]))):
        was = f"; it was {shown(before[index])}" if now[index] != before[index] else ""
        said.append(f"Entry {index} is {shown(now[index])}{was}.")
    return " ".join(said)


def _assumption(archive: Archive, header: TacoHeader, *, restorable: bool) -> str:
    """What finishing an update assumes: a CRC-32 that nothing recorded is written over those that are."""
    if restorable:
        return "An update of the header was interrupted after its first write, and nothing is damaged."
    used, unused = header.entries[: header.count], header.entries[header.count :]
    why = ""
    if header.central_crc is None and archive.detail.listed:
        why = ": the central directory has no entry for it"
    elif header.central_crc is not None and header.central_crc != header.local_crc:
        why = ": its two CRCs differ, which no interrupted update leaves"
    elif (
        not used
        or any(map(any, unused))
        or not all(length and offset + length <= archive.source.size for offset, length in used)
    ):
        why = ": it has no entries, or some point outside the file or are not zero but unused"
    return (
        f"The 116 bytes of the header are as written, although they match no CRC-32{why}. Afterwards nothing "
        "shows that they may be damaged."
    )


def _lost_targets(directory: Directory, rebuilt: Rebuilt) -> list[str]:
    """Sentences on entries of the header that point to bytes no longer in the file."""
    header: TacoHeader | None = directory.header
    if header is None or directory.eocd is not None:
        return []
    found = []
    for index, (offset, length) in enumerate(header.entries[: min(header.count, MAX_ENTRIES)]):
        if length and offset >= rebuilt.place.start:
            place = f"{grouped(offset)}, {grouped(length)}"
            found.append(
                f"The target of entry {index} of the TACO header ({place}), which lies after the last remaining "
                "member. The entry does not change."
            )
    return found


def _salvage(archive: Archive, directory: Directory) -> Repair:
    """Salvage the ZIP, with a header whose entries point to the new places of members."""
    header: TacoHeader | None = directory.header
    found = read_local(archive.source, 0)
    if header is None or found is None or found.name != HEADER_NAME or header.payload != _PAYLOAD_SPAN:
        return salvage(archive, directory)
    known = header.crc in (header.local_crc, header.central_crc)
    entries = header.entries[: header.count] if known else ()
    local = found.local._replace(flags=0)  # with its sizes and CRC, not in a data descriptor

    kept, size = set(copied(archive, directory)), archive.source.size
    outcomes = [_outcome(directory, size, entry, kept) for entry in entries]

    def new_header(begins: Mapping[tuple[int, int], int]) -> tuple[Local, bytes, bytes]:
        entries_there = [
            (0, 0) if outcome == _GONE else (begins.get((offset, offset + length), offset), length)
            for outcome, (offset, length) in zip(outcomes, entries, strict=True)
        ]
        payload = payload_of(entries_there, len(entries_there))
        return local._replace(crc=zlib.crc32(payload)), HEADER_NAME, payload

    loses = ["The entries of the TACO header, which match no CRC-32: the new header has none."] if not known else []
    if known and header.count > MAX_ENTRIES:
        loses.append(
            f"The count of the TACO header, {header.count}: it has room for {MAX_ENTRIES}, which are all kept."
        )
    loses += [f"The target of entry {index}: {outcome}." for index, outcome in enumerate(outcomes) if outcome]
    return salvage(archive, directory, tuple(loses), new_header)


_GONE = "its member is not in the new archive, so the entry becomes empty"


def _outcome(directory: Directory, size: int, entry: tuple[int, int], kept: Container[tuple[int, int]]) -> str:
    """What an entry loses if only the ``kept`` ranges of bytes are copied to the new archive, as a clause."""
    offset, length = entry
    if not length or offset >= size or (offset, offset + length) in kept:
        return ""
    if target_text(directory, size, entry) == ELSEWHERE:
        return "it points elsewhere in this file and is not adjusted"
    return "" if offset < HEADER_SIZE else _GONE
