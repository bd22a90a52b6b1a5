"""From header to header: lists the members of a tar and says what is wrong between them.

POSIX.1-2017 (pax), ustar interchange format. The walk only ever goes forward, so it ends whatever the bytes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.core.capped_findings import CappedFindings
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, SPECIAL, UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.span import Span
from inspector.formats._tar import header as heads
from inspector.formats._tar import resync, sparse
from inspector.formats._tar.cursor import WINDOW, Cursor
from inspector.formats._tar.extension import CAP, Overrides
from inspector.formats._tar.header import BLOCK, ZEROS, Header, aligned
from inspector.formats._tar.names import NameCheck
from inspector.formats._tar.pax_checks import remarks

if TYPE_CHECKING:
    from inspector.formats._tar.fast_walk import Hop

STRAYS = 1000
"""After so many places that are no members the walk stops."""

CHAIN = 64
"""The most extended headers one member may have."""

TOLD = 100
"""The most findings about links, devices and sparse files; the rest are counted."""

HOP_PAYS = 16
"""From so many plain members in a row on the quick way is quicker."""


def list_members(cursor: Cursor) -> None:
    """List the members of the cursor's source and fill its layout; raises SourceError and Cancelled only."""
    _Walk(cursor).run()


class _Walk:
    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._defaults = Overrides()
        self._hop: Hop | None = None
        self._names = NameCheck(cursor.emitter)
        self._wait = 0
        self._special = 0
        self._set_id = CappedFindings(cursor.emitter, Severity.INFO, "tar-set-id", "members with a set-ID bit")

    def run(self) -> None:
        cursor, size = self._cursor, self._cursor.source.size
        cursor.progress.begin("Reading tar headers", size)
        while cursor.at < size and not cursor.ended:
            before = cursor.at
            self._quick()
            if cursor.at == before:
                self._step()
            cursor.progress.advance(cursor.at - before)
            if len(cursor.layout.strays) >= STRAYS:
                cursor.ended = True
                cursor.emitter.error(
                    "tar-too-damaged",
                    f"{STRAYS:,} places between the members make no sense, so the rest is not looked at.",
                    (cursor.at, size),
                )
        if not cursor.ended:
            resync.no_end(cursor)
        self._names.close()
        self._set_id.close()
        if self._special > TOLD:
            total = count(self._special, "link, device or sparse file", "links, devices and sparse files")
            cursor.emitter.info("tar-special", f"{total} are listed in all.")

    def _quick(self) -> None:
        """Take the quick way as far as it goes, unless it has not paid of late."""
        cursor = self._cursor
        if self._wait:
            self._wait -= 1
        elif cursor.source.size - cursor.at >= WINDOW and self._defaults.silent:
            before = len(cursor.emitter.members)
            stop = self._hopper().run(cursor.at)
            if stop > cursor.at:
                cursor.fill(stop)
            if len(cursor.emitter.members) - before < HOP_PAYS:
                self._wait = HOP_PAYS

    def _hopper(self) -> Hop:
        if self._hop is None:
            # Imported here because it brings numpy along, which small archives do well without.
            from inspector.formats._tar.fast_walk import Hop

            cursor = self._cursor
            self._hop = Hop(cursor.source, cursor.emitter.members, cursor.layout.headers, self._names)
        return self._hop

    def _step(self) -> None:
        """Whatever stands here: a member, zeros, or something that is neither."""
        cursor = self._cursor
        block = cursor.block(cursor.at)
        if len(block) < BLOCK:
            resync.cut_header(cursor, block)
        elif block == ZEROS:
            resync.zeros(cursor)
        elif (found := resync.header_at(cursor, cursor.at)) is not None:
            self._member(found)
        else:
            resync.lost(cursor)

    def _member(self, found: Header) -> None:
        """List the member whose first header (an extended one, perhaps) stands here."""
        head = at = self._cursor.at
        own = self._defaults.following()
        chain = 0
        seen: dict[bytes, list[int]] = {}
        while found.typeflag in heads.EXTENSIONS:
            seen.setdefault(found.typeflag, []).append(at)
            at = self._extension(at, found, own)
            chain += 1
            following = resync.header_at(self._cursor, at)
            if following is None or chain == CHAIN:
                self._alone(at, found, chain)
                return
            found = following
        self._tell_again(seen)
        self._list(head, at, found, own)

    def _alone(self, stop: int, last: Header, chain: int) -> None:
        """Extended headers that no member follows; a global one may stand so."""
        cursor = self._cursor
        if chain == CHAIN or last.typeflag != heads.PAX_GLOBAL:
            cursor.emitter.error(
                "tar-extension-alone",
                f"The extended header at byte {cursor.at:,} has no member after it"
                + (f" within {CHAIN} headers." if chain == CHAIN else "."),
                (cursor.at, stop),
            )
        cursor.ended = stop > cursor.source.size
        cursor.stray("extended header", Kind.TAR_EXTENSION, stop, "Extended headers that no member follows.")

    def _extension(self, at: int, found: Header, own: Overrides) -> int:
        """Learn from the extended header at ``at``; the answer is where its body ends."""
        self._cursor.layout.headers.append(at)
        size = found.stored
        held = self._cursor.source.read(at + BLOCK, aligned(size)) if size <= CAP else b""
        body = held[:size]
        stop = at + BLOCK + aligned(size)
        if found.size is None or found.size < 0:
            wrong = "its size is no number"
        elif size > CAP:
            wrong = f"its body of {in_bytes(size)} is too large to be read"
        elif len(body) < size:
            wrong = f"its body is cut off after {grouped(len(body))} of {in_bytes(size)}"
        else:
            wrong = ""
            own.take(found.typeflag, body)
            if found.typeflag == heads.PAX_GLOBAL:
                self._defaults.take(found.typeflag, body)
            self._remark(at, found.typeflag, body)
        if wrong:
            self._cursor.emitter.error(
                "tar-extension", f"The extended header at byte {at:,} is not as specified: {wrong}.", (at, stop)
            )
        if held[size:].strip(b"\0"):
            self._cursor.emitter.warning(
                "tar-padding",
                f"The padding after the extended header at byte {at:,} is not all zeros.",
                (at + BLOCK + size, stop),
            )
        return stop

    def _remark(self, at: int, typeflag: bytes, body: bytes) -> None:
        """Report what is odd about the body of the extended header at ``at``."""
        start = at + BLOCK
        for severity, code, words, first, last in remarks(typeflag, body):
            message = f"The extended header at byte {at:,} {words}."
            self._cursor.emitter.find(severity, code, message, ((start + first, start + last),))

    def _tell_again(self, seen: dict[bytes, list[int]]) -> None:
        """Report extended headers of one kind for one member; ``seen`` is where those of each kind stand."""
        for typeflag, places in seen.items():
            if len(places) > 1 and typeflag != heads.PAX_GLOBAL:
                self._cursor.emitter.warning(
                    "tar-extension-repeated",
                    f"There are {len(places)} extended headers of one kind ({heads.TYPES[typeflag]}) from byte "
                    f"{places[0]:,} on, for one member: all are heeded here, by other programs perhaps only one.",
                    *((at, at + BLOCK) for at in places),
                )

    def _list(self, head: int, at: int, found: Header, own: Overrides) -> None:
        """Add the member whose own header stands at ``at``."""
        cursor, end = self._cursor, self._cursor.source.size
        cursor.layout.headers.append(at)
        name = own.path(found.name)
        size = own.size(found.size)
        start = self._after_maps(at) if found.typeflag == heads.SPARSE else at + BLOCK
        wrong = self._size_fault(at, start, size, found.typeflag in heads.BODILESS)
        if size is None or wrong:
            self._sizeless(head, at, name, wrong)
            return
        holey = found.typeflag == heads.SPARSE or own.sparse
        special = holey or found.typeflag in heads.LINKS | heads.DEVICES
        stored = 0 if found.typeflag in heads.BODILESS else size
        expanded = self._expanded(at, found, own, stored) if holey else stored
        fault = self._map_fault((head, at, start), found, own, stored, expanded) if holey else None
        marks = UNREADABLE if fault else 0
        marks |= (SPECIAL if special else 0) | (FOLDER if found.folder else 0)
        index = cursor.emitter.members.append(name, start, start + stored, size=expanded, head=head, marks=marks)
        self._names.one(index, name, (head, start))
        self._look_at_mode(at, index)
        if special:
            self._tell_special(at, index, found, visible(own.target(found.link)), holey)
        elif found.typeflag not in heads.TYPES:
            cursor.emitter.warning(
                "tar-typeflag",
                f"The type flag 0x{found.typeflag.hex()} of {visible(name)} is not known; it is read as a file.",
                (at + 156, at + 157),
                member=index,
            )
        if fault:
            message = f"The map of the sparse file {visible(name)} {fault.words}, so nobody can tell what is in it."
            cursor.emitter.error("tar-sparse-map", message, fault.span, member=index)
        if start + stored > end:
            cursor.emitter.error(
                "tar-truncated-data",
                f"{visible(name)} is cut off: {grouped(max(0, end - start))} of its {in_bytes(stored)} are there.",
                (min(start, end), end),
                member=index,
            )
            cursor.ended = True
        cursor.fill(min(end, start + aligned(stored)))

    def _size_fault(self, at: int, start: int, size: int | None, bodiless: bool) -> str:
        """Why the size that a header gives cannot be that of the data from ``start`` on; empty where it can."""
        if size is None:
            return "no number"
        if size < 0:
            return f"negative ({size:,})"
        cursor = self._cursor
        if bodiless or start + size <= cursor.source.size or resync.recorded_after(cursor, at) is None:
            return ""
        return f"{in_bytes(size)}, more than there are"

    def _sizeless(self, head: int, at: int, name: bytes, wrong: str) -> None:
        """A member of which nobody can say where it ends; other members may be recorded behind it."""
        cursor = self._cursor
        start = at + BLOCK
        another = resync.recorded_after(cursor, at)
        index = cursor.emitter.members.append(name, start, start, head=head, marks=UNREADABLE)
        cursor.emitter.error(
            "tar-size",
            f"The size of {visible(name)} is {wrong}, so it does not tell where the next header stands; "
            + ("the rest is not looked at." if another is None else f"by what is recorded, at byte {another:,}."),
            (at + 124, at + 136),
            member=index,
        )
        cursor.fill(start)
        if another is None:
            cursor.ended = True
        else:
            cursor.stray("data", Kind.GARBAGE, another, "Data of a member whose size is not known.")

    def _look_at_mode(self, at: int, index: int) -> None:
        """Report permissions that whoever unpacks the member should not restore."""
        mode = heads.number(self._cursor.block(at)[heads.MODE]) or 0
        if mode & heads.SET_ID and not self._set_id.full():
            message = (
                f"The permissions of {visible(self._cursor.emitter.members.path(index))} ({mode & 0o7777:o}) would let "
                "it run with the rights of its owner or group; whoever unpacks it should not restore them."
            )
            self._set_id.add(message, ((at + heads.MODE.start, at + heads.MODE.stop),), index)

    def _after_maps(self, at: int) -> int:
        """The end of a GNU sparse header: further blocks of its map may follow it."""
        more = self._cursor.block(at)[482:483]
        at += BLOCK
        while more not in (b"", b"\0") and at < self._cursor.source.size:
            more = self._cursor.block(at)[504:505]
            at += BLOCK
            self._cursor.progress.advance(0)
        return at

    def _expanded(self, at: int, found: Header, own: Overrides, stored: int) -> int:
        """The size of a sparse member with its holes."""
        if found.typeflag == heads.SPARSE:
            return max(0, heads.number(self._cursor.source.read(at, BLOCK)[483:495]) or 0)
        return own.expanded(stored)

    def _map_fault(
        self, places: tuple[int, int, int], found: Header, own: Overrides, stored: int, expanded: int
    ) -> sparse.Fault | None:
        """What is contradictory about a sparse member; ``places`` are its first header, its own one and its data."""
        head, at, start = places
        source = self._cursor.source
        if found.typeflag == heads.SPARSE:
            return sparse.fault_of_blocks(source, at, start, expanded, stored)
        return sparse.fault_of_records(source, own, Span(head, at), Span(start, start + stored), expanded)

    def _tell_special(self, at: int, index: int, found: Header, target: str, holey: bool) -> None:
        self._special += 1
        if self._special > TOLD:
            return
        name = visible(self._cursor.emitter.members.path(index))
        kind = "sparse file" if holey else heads.TYPES[found.typeflag]
        where = f" to {target}" if found.typeflag in heads.LINKS else ""
        self._cursor.emitter.info(
            "tar-special",
            f"{name} is a {kind}{where}: it is listed, its content is not given.",
            (at, at + BLOCK),
            member=index,
        )
