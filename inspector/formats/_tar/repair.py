"""Repair a tar: the zeros at its end, single fields of its headers, or a new one (POSIX.1-2017, pax, ustar).

A new tar has the members that are whole, their headers and data as they are, without what lies between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.member import HOLES, SPECIAL, UNREADABLE
from inspector.core.names import listed, visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Repair, outcomes
from inspector.core.source import Source, blocks
from inspector.formats._tar.header import (
    BLOCK,
    BODILESS,
    CHKSUM,
    DEVICES,
    LINKS,
    MAGIC,
    PLACES,
    TYPES,
    ZEROS,
    Header,
    aligned,
    checksums,
    number,
    padded_stop,
    parse,
)
from inspector.formats._tar.resync import RECORD_BYTES, Layout, layout_of

END_BLOCKS = 2 * ZEROS
"""The end of a tar."""
CHECKSUM_CODE = "tar-checksum"
FIELDS = {name: place for name, place in PLACES.items() if name not in ("magic", "version")}
FIELDS["magic and version"] = MAGIC
"""The fields of a header; the magic and the version are one, as GNU tar writes them."""
_NUMBERS = ("mode", "uid", "gid", "size", "mtime", "chksum", "devmajor", "devminor")
_OWNERS = (("uid", "uname"), ("gid", "gname"))
"""A number and the name that belongs to it."""
_SHARED = tuple(name for name in FIELDS if name not in ("name", "size", "mtime", "chksum"))
"""Fields that are often the same in all headers of an archive."""
_MAX_CHANGED = 128
"""Headers that are looked at; of more, no single bits changed."""
_NEAR = 32
"""Headers on each side that one is compared with."""
_ANY_DIGIT = bytes.maketrans(b"1234567", b"0000000")
_SPELLINGS = {b"0" * 7 + b"\0", b"0" * 6 + b" \0", b"0" * 6 + b"\0 ", b"0" * 11 + b"\0", b"0" * 11 + b" ", bytes(8)}
_MAGICS = {b"ustar\x0000", b"ustar  \0"}
_END_CODES = frozenset(("tar-end-missing", "tar-end-short", "tar-truncated-header"))


def repair_end(archive: Archive, whole: bool) -> Iterator[Repair]:
    """Write the two blocks of zeros; ``whole`` is whether it is proved that no member is missing before them."""
    found = next((each for each in archive.findings if each.code in _END_CODES), None)
    # The archive may end with a cut-off member or an unlisted header.
    open_ended = any(
        each.code == "tar-truncated-data" or (each.code == CHECKSUM_CODE and each.member is None)
        for each in archive.findings
    )
    if found is None or not len(archive.members) or open_ended:
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
    buried = lost if found.code == "tar-truncated-header" else 0
    yield Repair("tar-write-end", title, frozenset((found.code,)), loses, claim, edit, lossless=lossless, buried=buried)


def repair_headers(
    archive: Archive, digits: Callable[[int], bytes] = lambda _: b"", same: Sequence[str] = ()
) -> Iterator[Repair]:
    """Repair headers with a wrong checksum of which one change is confirmed.

    ``digits`` returns what the name of a member has to begin with; empty if that is unknown. ``same`` are fields that
    such archives have alike in all headers.
    """
    patches: list[Patch] = []
    names: list[str] = []
    for each in islice((each for each in archive.findings if each.code == CHECKSUM_CODE), _MAX_CHANGED):
        at, known = each.spans[0].start, digits(each.member) if each.member is not None else b""
        _, change = explanations(archive, at, known, same)
        if change is not None:
            place = at + change.start
            patches.append(Patch(place, archive.source.read(place, len(change.new)), change.new))
            names.append(f"{change.name} of the header at byte {at:,}")
    if not patches:
        return
    others = f", and one field of {count(len(names) - 1, 'more header')}" if len(names) > 1 else ""
    title = f"Set the field {names[0]}{others}"
    claim = (
        f"Only the field {names[0]} has changed: with any other change that explains the checksum the header would "
        f"contradict itself, its neighbours or what follows it. A change of several fields would not be seen{others}."
    )
    edit = Edit(title, tuple(patches), archive.source.size, archive.source.size)
    yield Repair("tar-mend-header", title, frozenset((CHECKSUM_CODE,)), (), claim, edit)


# ---- a header that does not match its checksum ----------------------------------------------------------------------


class Change(NamedTuple):
    """A change with which a header matches its checksum: ``new`` at ``start`` in it, in the field ``name``."""

    name: str
    start: int
    new: bytes

    def made(self, block: bytes) -> bytes:
        return block[: self.start] + self.new + block[self.start + len(self.new) :]

    def value(self, block: bytes) -> str:
        """What the field then holds, for the user."""
        return visible(self.made(block)[FIELDS[self.name]].strip(b"\0 "))


def explanations(
    archive: Archive, at: int, digits: bytes = b"", same: Sequence[str] = ()
) -> tuple[list[Change], Change | None]:
    """The changes of one bit with which the header at ``at`` matches its checksum, and the change that is confirmed.

    A sum tells neither the byte nor, mostly, the field. What contradicts nothing comes first. One is confirmed if it
    alone explains the sum, or if the header contradicts itself, its neighbours or what follows it, and no longer does
    with this change only; of the checksum itself, only if no other byte explains the difference. Where no bit does,
    one whole field of a neighbour may. ``digits`` and ``same`` are as above.
    """
    block = archive.source.read(at, BLOCK)
    if len(block) < BLOCK:
        return [], None
    usual = _usual(archive, at, same)
    stored = number(block[CHKSUM])
    off = 0 if stored is None else stored - checksums(block)[0]
    bits = [
        change
        for name, field in FIELDS.items()
        for place in range(field.start, field.stop)
        for mask in (1 << bit for bit in range(8))
        if name == "chksum" or (block[place] ^ mask) - block[place] == off
        if parse((change := Change(name, place, bytes((block[place] ^ mask,)))).made(block)).fits
    ]
    wrong = _contradicts(archive.source, at, block, usual, digits)
    whole = [Change(name, FIELDS[name].start, other) for name in _SHARED for other in sorted(usual.values[name])]
    whole += [Change("name", 0, digits)] if digits else []
    tried = bits or [each for each in whole if wrong and parse(each.made(block)).fits]
    fitting = [each for each in tried if not _contradicts(archive.source, at, each.made(block), usual, digits)]
    sole = fitting[0] if len(fitting) == 1 and (wrong or len(bits) == 1) else None
    if sole is not None and sole.name == "chksum" and any(each.name != "chksum" for each in bits):
        sole = None
    return sorted(bits, key=lambda each: each not in fitting), sole


class _Usual(NamedTuple):
    """What the headers of an archive have that match their checksums: values by field, and how numbers are spelt."""

    values: dict[str, set[bytes]]
    spellings: dict[str, set[bytes]]
    owners: set[tuple[str, bytes, bytes]]
    same: Sequence[str]


def _usual(archive: Archive, at: int, same: Sequence[str]) -> _Usual:
    headers = layout_of(archive).headers
    near = bisect_left(headers, at)
    read = (archive.source.read(each, BLOCK) for each in headers[max(0, near - _NEAR) : near + _NEAR])
    blocks = [each for each in read if len(each) == BLOCK and parse(each).fits]
    values = {name: {each[field] for each in blocks} for name, field in FIELDS.items()}
    spellings = {name: set(map(_spelling, values[name])) or _SPELLINGS for name in _NUMBERS}
    owners = {(name, each[FIELDS[number]], each[FIELDS[name]]) for each in blocks for number, name in _OWNERS}
    return _Usual(values, spellings, owners, same if blocks else ())


def _spelling(field: bytes) -> bytes:
    """A number with zeros for its digits: how many there are, and what stands around them."""
    return field.translate(_ANY_DIGIT) if field[0] < 0x80 else b"base-256"


def _contradicts(source: Source, at: int, block: bytes, usual: _Usual, digits: bytes) -> bool:
    """Whether something in a header cannot be as it is, unless its writer differed from all others."""
    found, of = parse(block), {name: block[field] for name, field in FIELDS.items()}
    texts = ["name", "linkname", "uname", "gname", *(() if found.gnu else ("prefix",))]
    owner = any(
        of[name].strip(b"\0")
        and (name, of[number], of[name]) not in usual.owners
        and any(what == name and (of[number] == one or of[name] == other) for what, one, other in usual.owners)
        for number, name in _OWNERS
    )
    return (
        owner
        or not found.name
        or not block.startswith(digits)
        or of["magic and version"] not in (usual.values["magic and version"] or _MAGICS)
        or of["padding"] not in usual.values["padding"] | {bytes(12)}
        or any(_spelling(of[name]) not in usual.spellings[name] for name in _NUMBERS)
        or any(of[name] not in usual.values[name] for name in usual.same)
        or any(of[name].partition(b"\0")[2].strip(b"\0") for name in texts)
        or (found.typeflag not in DEVICES and any(of[name].strip(b"0 \0") for name in ("devmajor", "devminor")))
        or found.typeflag not in TYPES
        or (found.typeflag in LINKS) != bool(found.link)
        or not _leads_on(source, at, found)
    )


def _leads_on(source: Source, at: int, found: Header) -> bool:
    """Whether zeros fill up the data after a header, and another header or the end of the archive follows."""
    if found.size is None or found.size < 0 or (found.size and found.typeflag in BODILESS - LINKS):
        return False
    start, stop = at + BLOCK + found.stored, at + BLOCK + aligned(found.stored)
    follows = source.read(stop, RECORD_BYTES) if stop <= source.size else b"?"
    ends = not any(follows) or parse(follows[:BLOCK].ljust(BLOCK, b"?")).fits
    return ends and not any(source.read(start, stop - start))


# ---- a new tar -------------------------------------------------------------------------------------------------------

_NOT_DAMAGE = frozenset(("tar-compressed", "tar-sparse-map", "tar-truncated-header"))
"""Codes of errors after which a new tar would be no better than the repaired one."""
_PROOF = "a digest of its content matches"
NewHeader = Callable[[int], bytes]
"""Gives a new header for a member whose own is damaged; empty for all others, whose headers are kept."""


def damage(archive: Archive) -> frozenset[str]:
    """The codes of the damage that a new tar would not have."""
    errors = (each.code for each in archive.findings if each.severity is Severity.ERROR)
    return frozenset(code for code in errors if code.startswith("tar-") and code not in _NOT_DAMAGE)


def salvage(archive: Archive, layout: Layout) -> Repair | None:
    """A new tar of the members whose place is in no doubt; None if there is no damage, or nothing to save."""
    codes = damage(archive)
    members = archive.members
    left = frozenset((*layout.doubtful, *layout.recovered))
    kept = [index for index in range(len(members)) if index not in left and _is_whole(archive, index)]
    if not codes or not kept:
        return None
    return Repair(
        "tar-salvage",
        f"Save the {count(len(kept), 'member')} whose place is in no doubt in a new tar",
        codes,
        losses(archive, kept),
        "A tar has no checksum of its members' data, so nothing proves that the saved ones are unchanged.",
        content=content(archive, kept),
        outcomes=outcomes(archive, frozenset(kept), _PROOF, "its header and its place are whole; a tar has no digest"),
    )


def _is_whole(archive: Archive, index: int) -> bool:
    members = archive.members
    marks = members.marks_of(index)
    there = members.stops[index] <= archive.source.size
    sized = bool(marks & (SPECIAL | HOLES)) or members.stored(index) == members.size(index)
    return there and sized and not marks & UNREADABLE


def losses(archive: Archive, kept: Sequence[int]) -> tuple[str, ...]:
    """What a new tar of the members ``kept`` loses, in sentences."""
    saved, members = frozenset(kept), archive.members
    lost = [index for index in range(len(members)) if index not in saved]
    sentences = ["The bytes that belong to no member, and members whose headers are lost with them."]
    if lost:
        names = listed(map(members.path, lost), len(lost))
        sentences.insert(0, f"{len(lost):,} of {count(len(members), 'member')}: {names}.")
    return tuple(sentences)


def content(archive: Archive, kept: Sequence[int], new_header: NewHeader = lambda _: b"") -> Content:
    """The bytes of a new tar of the members ``kept``."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        source, members = archive.source, archive.members
        progress.begin("Saving members", sum(map(members.stored, kept)))
        for index in kept:
            start, stop = members.starts[index], members.stops[index]
            yield new_header(index) or b"".join(blocks(source, members.head_of(index), start))
            for piece in blocks(source, start, stop):
                yield piece
                progress.advance(len(piece))
            yield bytes(aligned(stop - start) - (stop - start))
        yield END_BLOCKS

    return pieces
