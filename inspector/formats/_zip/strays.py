"""Members found by their local headers: one after another, or anywhere in the file where the data matches.

Offsets and sizes lead from one local header to the next, or the end of a deflate stream if its size is recorded after
the data. Bytes that were lost, inserted or moved leave members where no record points. Stored data is not searched for
signatures, because an archive stored inside the archive has the same ones; with a whole central directory only members
that it lists are looked for.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from isal.isal_zlib import crc32
from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.archive import Archive
from inspector.core.member import LARGEST, Codec
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Metered, Source, blocks
from inspector.core.span import Span, united
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._signatures import found_outside
from inspector.formats._zip.directory import Directory, Strays
from inspector.formats._zip.records import (
    CODECS,
    DESCRIPTOR,
    DESCRIPTOR_BYTES,
    ENCRYPTED,
    FORMS,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    MAX_MEMBERS,
    METHODS,
    STORED,
    LocalFile,
    central_headers,
    codec_of,
    form_of,
    local_files,
    read_local,
)

MAX_STRAYS = 100_000
"""Members at other places that are kept."""
MAX_FOLLOWED = 64
"""Headers that are followed to see whether they lead out of a member."""
MAX_READS_OF_FILE = 4
"""What leads to no member is read and unpacked up to so many times the size of the file together."""
MAX_UNPACKED_BYTES = 1 << 30
"""Bytes that one may be unpacked to beyond that: whether they were in vain is known at the end."""
MAX_SEARCHED_BYTES = 128 << 20
"""Bytes outside members that are searched for local headers in any case; twice what members hold if that is more."""
NAME_LENGTH_AT = 26
"""Where a local header has the length of its name."""
_FIRST_BYTES = 1024
"""Bytes of a deflate stream that are read first: what is none shows it soon, and another member may follow at once."""


class ScanResult(Struct):
    """Members in file order; the last ends at ``stop``. ``cut_off`` is a member that the file ends in."""

    members: list[LocalFile] = field(default_factory=list)
    stop: int = 0
    cut_off: LocalFile | None = None


class VerifiedNumbers(NamedTuple):
    """The numbers of a member whose content matches them."""

    crc: int
    stored: int
    size: int
    codec: Codec


Verified = Mapping[int, VerifiedNumbers]
"""Members whose content matched in a check, by the offsets of their local headers."""


def crc_of(pieces: Iterable[bytes], progress: Progress) -> int:
    """The CRC-32 of content. Raises what giving its pieces does, and Cancelled."""
    crc = 0
    for piece in pieces:
        crc = crc32(piece, crc)
        progress.advance(0)
    return crc


class Scanner:
    """Finds out what a local header leads to.

    ``verified`` numbers take precedence over a local header. ``left`` are the bytes that may still be read and
    unpacked; nothing is found after them. All methods raise SourceError and Cancelled.
    """

    def __init__(
        self, source: Source, progress: Progress, verified: Verified | None = None, left: int = LARGEST
    ) -> None:
        self.source = source
        self.progress = progress
        self.verified = verified or {}
        self.left = left

    def members(self, start: int) -> ScanResult:
        """The members whose local headers follow one another from ``start`` on."""
        found = ScanResult(stop=start)
        self.progress.begin("Following local headers", self.source.size - start)
        while len(found.members) < MAX_MEMBERS:
            member = self.member(found.stop)
            if member is None:
                break
            if member.stop > self.source.size:
                found.cut_off = member
                break
            self.progress.advance(member.stop - start - self.progress.done)
            found.members.append(member)
            found.stop = member.stop
        return found

    def member(self, head: int) -> LocalFile | None:
        """The member with a local header at ``head``; None if its size is unknown."""
        member = read_local(self.source, head)
        if member is None:
            return None
        header, sizes, proved = member.local, member.sizes, self.verified.get(head)
        claimed = replace(member, local=header._replace(stored=sizes[0], size=sizes[1])) if sizes is not None else None
        # An empty content matches the CRC-32 of nothing everywhere, so zeros in a directory prove nothing.
        certain = proved is not None and (proved.stored or sizes == (0, 0))
        scanned = None if certain else claimed or self._measured(member)
        if proved is not None and not (scanned is not None and self.fits(scanned)):
            method = (
                header.method if CODECS.get(header.method) is proved.codec else METHODS.get(proved.codec, header.method)
            )
            numbers = header._replace(method=method, crc=proved.crc, stored=proved.stored, size=proved.size)
            scanned = replace(member, local=numbers)
        return self._described(scanned) if scanned is not None else None

    def fits(self, member: LocalFile) -> bool:
        """Whether a member's content matches its numbers; False if its method cannot be read."""
        codec = codec_of(member.local.method, member.local.flags)
        stop = member.begin + member.local.stored
        if member.proved or stop > self.source.size:
            return member.proved
        local = self._described(member).local
        if codec is Codec.DEFLATE:
            numbers = self._inflated(member.begin, stop) if local.stored else None
            return numbers == (local.crc, local.stored, local.size)
        if codec is not Codec.STORED or local.stored > self.left:
            self.left = self.left if codec is not Codec.STORED else 0
            return False
        self.left -= local.stored
        crc = crc_of(blocks(self.source, member.begin, stop), self.progress)
        return (crc, local.stored) == (local.crc, local.size)

    def _described(self, member: LocalFile) -> LocalFile:
        """The member with the CRC-32 of its data descriptor, if there is one, and where that ends."""
        local, at = member.local, member.begin + member.local.stored
        if local.flags & HAS_DESCRIPTOR:
            data = self.source.read(at, DESCRIPTOR_BYTES)
            for crc in (local.crc, int.from_bytes(data[4:8], "little"), int.from_bytes(data[:4], "little")):
                size = form_of(data, crc, local.stored, local.size)
                if size:
                    return replace(member, local=local._replace(crc=crc), stop=at + size)
        return replace(member, stop=at)

    def _measured(self, member: LocalFile) -> LocalFile | None:
        """The member with numbers measured from its data; None if its data descriptor does not confirm them.

        A deflate stream marks its own end, and stored data ends at the first descriptor that has its numbers. If the
        file ends before a stream does, the stored size is set to more than is left.
        """
        codec = codec_of(member.local.method, member.local.flags)
        deflated = codec is Codec.DEFLATE
        if not deflated and codec is not Codec.STORED:
            return None
        numbers = self._inflated(member.begin, self.source.size) if deflated else self._stored(member.begin)
        if numbers is None:
            return None
        crc, stored, size = numbers
        data = self.source.read(member.begin + stored, DESCRIPTOR_BYTES)
        if form_of(data, *numbers):
            return replace(member, local=member.local._replace(crc=crc, stored=stored, size=size), proved=True)
        cut_off = deflated and len(data) < max(FORMS)
        more = self.source.size - member.begin + 1
        return replace(member, local=member.local._replace(stored=more)) if cut_off else None

    def _stored(self, begin: int) -> tuple[int, int, int] | None:
        """CRC-32 and both sizes of the stored data at ``begin``, by its descriptor; None if that contradicts it."""
        if form_of(self.source.read(begin, DESCRIPTOR_BYTES), 0, 0, 0):
            return 0, 0, 0
        searched = self.progress.done
        for at in found_outside(self.source, DESCRIPTOR, [Span(0, begin)], self.left, self.progress):
            self.progress.done, size = searched, at - begin
            data = self.source.read(at, DESCRIPTOR_BYTES)
            if data[8:16] != 2 * size.to_bytes(8, "little")[:4] and data[8:24] != 2 * size.to_bytes(8, "little"):
                continue
            crc = crc_of(blocks(self.source, begin, at), self.progress)
            self.left -= size
            return (crc, size, size) if form_of(data, crc, size, size) else None
        self.progress.done = searched
        self.left -= self.source.size - begin
        return None

    def _inflated(self, begin: int, stop: int) -> tuple[int, int, int] | None:
        """CRC-32, stored and decoded size of the deflate stream at ``begin``, as far as it is there before ``stop``.

        None if it is not a deflate stream, or too much is unpacked.
        """
        decoder = zlib.decompressobj(-zlib.MAX_WBITS)
        crc = size = 0
        at, ahead = begin, _FIRST_BYTES
        try:
            while not decoder.eof and (data := self.source.read(at, min(ahead, stop - at))):
                at, ahead = at + len(data), min(2 * ahead, BLOCK)
                content = b""
                while not decoder.eof and (data or len(content) == BLOCK):
                    content = decoder.decompress(data, BLOCK)
                    data = decoder.unconsumed_tail
                    crc, size = crc32(content, crc), size + len(content)
                    if size > self.left + MAX_UNPACKED_BYTES:
                        self.left = 0
                        return None
                    self.progress.advance(0)
        except zlib.error:
            self.left -= at - begin + size
            return None
        stored = at - begin - len(decoder.unused_data)
        self.left -= stored + size
        return crc, stored, size


# ---- anywhere --------------------------------------------------------------------------------------------------------


def find_strays(archive: Archive, directory: Directory, progress: Progress) -> Strays:
    """The members that verify at other places, none that verifies at its own. Raises SourceError and Cancelled.

    What is found is not searched again, so it takes nothing from what may be searched, read and unpacked in vain.
    """
    members, source = directory.members, archive.source
    eocd = directory.eocd
    listed = directory.listed and (eocd is None or len(members) >= eocd.entries)  # all that there were
    if listed and archive.verdicts.count(VERDICTS.index(Verdict.VERIFIED)) == len(members):
        return Strays()  # without a table of all names
    names, taken, claimed = _known(archive, directory, listed=listed)
    if listed and all(names.values()):
        return Strays()
    lengths = set(map(len, names))
    found: list[LocalFile] = []
    broken: dict[bytes, int] = {}
    searched = Metered(source, max(MAX_SEARCHED_BYTES, 2 * (sum(members.stops) - sum(members.starts))))
    scanner = Scanner(source, progress, left=MAX_READS_OF_FILE * source.size)
    numbers: dict[bytes, VerifiedNumbers] | None = None
    free = 0
    progress.begin("Looking for members at other places", source.size)
    for head in found_outside(searched, LOCAL, united(taken), source.size, progress):
        if head < free or _is_inside(source, head, claimed):
            continue
        if scanner.left <= 0 or len(found) == MAX_STRAYS or (listed and all(names.values())):
            break
        size = int.from_bytes(source.read(head + NAME_LENGTH_AT, 2), "little")
        read = read_local(source, head) if size in lengths or not listed else None
        left = scanner.left
        scanner.left -= LOCAL_SIZE if read is None else read.begin - head
        if read is None or not read.name or names.get(read.name, listed):
            continue
        member = scanner.member(head)
        if member is None and listed:
            numbers = _recorded(archive, directory, names) if numbers is None else numbers
            scanner.verified = {head: numbers[read.name]} if read.name in numbers else {}
            member = scanner.member(head) if scanner.verified else None
        if member is not None and scanner.fits(member):
            found.append(member)
            names[member.name] = True
            free = member.stop
            scanner.left = left
            searched.left += free - head
        elif read.name not in names and len(broken) < MAX_STRAYS:
            broken[read.name] = head
    ended = scanner.left <= 0 or searched.left <= 0 or len(found) == MAX_STRAYS
    lost = tuple(each for each in broken.items() if each[0] not in names)
    return Strays(tuple(found), lost, ended and not (listed and all(names.values())))


def _known(archive: Archive, directory: Directory, *, listed: bool) -> tuple[dict[bytes, bool], list[Span], list[Span]]:
    """The names and whether each verifies, the data of members that do, and what others claim without a directory."""
    members, verified = directory.members, VERDICTS.index(Verdict.VERIFIED)
    names: dict[bytes, bool] = {}
    taken: list[Span] = []
    claimed: list[Span] = []
    for index, verdict in enumerate(archive.verdicts):
        path, span = members.path(index), Span(members.starts[index], members.stops[index])
        names[path] = names.get(path, False) or verdict == verified
        if verdict == verified:
            taken.append(span)
        elif not listed and _is_credible(archive, directory, index):
            claimed.append(span)
    return names, taken, sorted(claimed)


def _recorded(archive: Archive, directory: Directory, names: Mapping[bytes, bool]) -> dict[bytes, VerifiedNumbers]:
    """What the directory records of stored members that verify nowhere yet: their local headers may not know it."""
    found: dict[bytes, VerifiedNumbers] = {}
    members, central = directory.members, directory.central
    for index, (at, entry, *_) in enumerate(central_headers(archive.source, central[0], directory.stop)):
        if index == len(central) or central[index] != at:
            break
        path = members.path(index)
        if not names[path] and members.codec_at(index) is Codec.STORED:
            found.setdefault(path, VerifiedNumbers(entry.crc, entry.stored, entry.size, Codec.STORED))
    return found


def _is_credible(archive: Archive, directory: Directory, index: int) -> bool:
    """Whether what a local header claims may be a member: nonsense claims all the rest of the file where it can."""
    read = read_local(archive.source, directory.heads[index])
    if read is None:
        return True
    plain = read.local.method == STORED and not read.local.flags & ENCRYPTED
    sizes = read.sizes if plain else None
    return bool(read.name) and (sizes is None or sizes[0] == sizes[1])


def _is_inside(source: Source, head: int, claimed: list[Span]) -> bool:
    """Whether a header belongs to an archive inside a member: its headers do not lead out of what the member claims.

    Where bytes were lost, a member claims the headers behind it too, and those lead on.
    """
    at = bisect_right(claimed, head, key=lambda span: span.start) - 1
    if at < 0 or claimed[at].stop <= head:
        return False
    following = (each.stop for each in islice(local_files(source, head), MAX_FOLLOWED))
    return not any(stop > claimed[at].stop for stop in following)
