"""Repair a tar: the zeros at its end, and single fields of its headers (POSIX.1-2017, pax, ustar)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Finding
from inspector.core.numbers import count, in_bytes
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.formats._tar.header import BLOCK, CHKSUM, MAGIC, PLACES, ZEROS, aligned, checksums, padded_stop, parse

END_BLOCKS = 2 * ZEROS
"""The end of a tar."""


CHECKSUM_CODE = "tar-checksum"


_END_CODES = frozenset(("tar-end-missing", "tar-end-short", "tar-truncated-header"))


_SHARED_FIELDS = {
    **{name: PLACES[name] for name in ("mode", "uid", "gid", "typeflag", "linkname")},
    "magic and version": MAGIC,
    **{name: PLACES[name] for name in ("uname", "gname", "devmajor", "devminor", "prefix", "padding")},
}
"""Fields that usually are the same in all headers of an archive."""


def repair_end(archive: Archive, whole: bool) -> Iterator[Repair]:
    """Write the two blocks of zeros; ``whole`` is whether it is proved that no member is missing before them."""
    found = next((each for each in archive.findings if each.code in _END_CODES), None)
    if found is None or not len(archive.members) or any(map(_is_open_ended, archive.findings)):
        return
    source, size = archive.source, archive.source.size
    start = found.spans[0].start
    members = archive.members
    if padded_stop(members, len(members) - 1) % BLOCK:
        return  # bytes were lost or inserted, so blocks do not end where they should
    old = source.read(start, size - start)
    lost = len(old) if any(old) else 0
    new = bytes(aligned(start) - start) + END_BLOCKS
    title = f"Write the two blocks of zeros that end the tar at byte {aligned(start):,}"
    claim = ""
    if found.code == "tar-end-missing" and not whole:
        claim = "The archive ends with its last member. Nothing shows whether more members followed."
    what = f"The {in_bytes(lost)} of a cut-off header, whose member has no data in the file."
    if found.code == "tar-end-short":
        what = "The line feed after the zeros that end the archive."
    loses = (what,) if lost else ()
    edit = Edit(title, (Patch(start, old, new),), size, start + len(new))
    lossless = "" if loses or claim else "Zeros are written after the last member, where there were only zeros."
    yield Repair("tar-write-end", title, frozenset((found.code,)), loses, claim, edit, lossless=lossless)


def repair_headers(archive: Archive, digits: Callable[[int], bytes] = lambda _: b"") -> Iterator[Repair]:
    """Repair headers with a wrong checksum that a change of one field explains.

    ``digits`` returns what the name of a member has to begin with; empty if that is unknown.
    """
    found: list[tuple[str, int, Patch]] = []
    for each in archive.findings:
        member = each.member if each.code == CHECKSUM_CODE else None
        if member is not None:
            found += _field_repairs(archive, each.spans[0].start, member, digits(member))
    if not found:
        return
    name, at, _ = found[0]
    more = f", and one field of {count(len(found) - 1, 'more header')}" if len(found) > 1 else ""
    title = f"Set the field {name} of the header at byte {at:,}{more}"
    claim = f"Only the field {name} of the header at byte {at:,} has changed: "
    claim += "all others are as expected" if name == "chksum" else "with the expected value the checksum matches"
    claim += f". Likewise for {count(len(found) - 1, 'more header')}." if more else "."
    edit = Edit(title, tuple(patch for _, _, patch in found), archive.source.size, archive.source.size)
    yield Repair("tar-mend-header", title, frozenset((CHECKSUM_CODE,)), (), claim, edit)


def _is_open_ended(finding: Finding) -> bool:
    """Whether the archive ends with a cut-off member or an unlisted header."""
    return finding.code == "tar-truncated-data" or (finding.code == CHECKSUM_CODE and finding.member is None)


def _field_repairs(archive: Archive, at: int, member: int, digits: bytes) -> Iterator[tuple[str, int, Patch]]:
    """The single field that explains the checksum of the header at ``at``: its name, that offset, and the patch."""
    block, model = archive.source.read(at, BLOCK), _neighbour_header(archive, member)
    if model is None:
        return
    candidates = {name: (field, model[field]) for name, field in _SHARED_FIELDS.items() if block[field] != model[field]}
    if not block.startswith(digits):
        candidates["name"] = (slice(0, len(digits)), digits)
    fitting = {name: change for name, change in candidates.items() if parse(_with(block, *change)).fits}
    if not candidates:
        fitting = {"chksum": (CHKSUM, b"%06o\0 " % checksums(block)[0])}
    if len(fitting) == 1:
        ((name, (field, new)),) = fitting.items()
        yield name, at, Patch(at + field.start, block[field], new)


def _with(block: bytes, field: slice, new: bytes) -> bytes:
    return block[: field.start] + new + block[field.stop :]


def _neighbour_header(archive: Archive, member: int) -> bytes | None:
    """The header of a neighbour with a matching checksum; None if there is none."""
    for other in (member - 1, member + 1):
        if 0 <= other < len(archive.members):
            block = _block(archive.source, archive.members.starts[other] - BLOCK)
            if parse(block).fits:
                return block
    return None


def _block(source: Source, at: int) -> bytes:
    return source.read(at, BLOCK).ljust(BLOCK, b"\0")
