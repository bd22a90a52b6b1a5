"""Walk a tar from header to header: list its members and report problems (POSIX.1-2017, pax, ustar).

The walk only moves forward, so it ends whatever the bytes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.core.archive import CappedFindings, Emitter
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, HOLES, SPECIAL, UNREADABLE
from inspector.core.names import brief
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._kinds import TAR_EXTENSION
from inspector.formats._tar import codes, resync
from inspector.formats._tar import header as heads
from inspector.formats._tar.extension import (
    MAX_BODY_BYTES,
    Extension,
    MapFault,
    Overrides,
    expanded_size,
    map_end,
    pax_problems,
    sparse_map,
)
from inspector.formats._tar.header import BLOCK, ZEROS, Header, NameCheck, aligned, next_header
from inspector.formats._tar.resync import HEADER_WINDOW_BYTES, Cursor, Layout, Recover
from inspector.formats._tar.swallowed import Inside, step_back_to_swallowed

if TYPE_CHECKING:
    from inspector.formats._tar.fast_walk import FastWalk

MAX_STRAYS = 200_000
"""The walk stops after this many places that belong to no member."""
MAX_EXTENSIONS = 64
"""Extended headers that one member may have."""
MIN_FAST_MEMBERS = 16
"""Shorter runs of regular members are not worth the fast walk."""


class Walk(Cursor):
    """Lists the members of a source and fills its layout.

    ``looks_inside``: it also reads their data, for members that another has swallowed. Raises only SourceError and
    Cancelled.
    """

    def __init__(
        self,
        source: Source,
        emitter: Emitter,
        progress: Progress,
        layout: Layout,
        recover: Recover | None = None,
        *,
        looks_inside: bool = False,
    ) -> None:
        super().__init__(source, emitter, progress, layout, recover)
        self._inside = Inside(source, progress) if looks_inside else None
        self._defaults = Overrides()
        self._fast: FastWalk | None = None
        self._names = NameCheck(emitter)
        self._skip_fast = 0
        self._malformed = -1
        self._capped = {
            what: CappedFindings(emitter, what, subjects)
            for what, subjects in (
                (codes.SET_ID, "members with a set-ID bit"),
                (codes.SPECIAL, "links and devices"),
                (codes.LINK_TARGET, "links without a target"),
                (codes.LINK_SIZE, "links with a size"),
            )
        }

    def run(self) -> None:
        size = self.source.size
        self.progress.begin("Reading tar headers", size)
        while self.at < size and not self.ended:
            before = self.at
            self._walk_fast()
            if self.at == before:
                self._step()
            self.progress.advance(max(0, self.at - before))
            if len(self.layout.strays) >= MAX_STRAYS:
                self.ended = True
                self.emitter.report(
                    codes.TOO_DAMAGED,
                    f"The archive is too damaged: {MAX_STRAYS:,} places between members are unreadable. The rest is "
                    "not read.",
                    (self.at, size),
                )
        if not self.ended:
            resync.report_missing_end(self)
        self.report_damage()
        self._names.close()
        for capped in self._capped.values():
            capped.close()

    def _walk_fast(self) -> None:
        """Walk fast as far as possible, unless that has found few members lately."""
        if self._skip_fast:
            self._skip_fast -= 1
        elif self.source.size - self.at >= HEADER_WINDOW_BYTES and self._defaults.changes_nothing:
            if self._fast is None:
                # Imported here because small archives do not need numpy.
                from inspector.formats._tar.fast_walk import FastWalk

                members, headers = self.emitter.members, self.layout.headers
                self._fast = FastWalk(self.source, members, headers, self._names, self._inside)
            before = len(self.emitter.members)
            stop = self._fast.run(self.at)
            self.at = max(self.at, stop)
            if len(self.emitter.members) - before < MIN_FAST_MEMBERS:
                self._skip_fast = MIN_FAST_MEMBERS

    def _step(self) -> None:
        """Handle the block at the cursor: a member, zeros, or neither."""
        block = self.block(self.at)
        if len(block) < BLOCK:
            resync.report_cut_header(self, block)
        elif block == ZEROS:
            resync.pass_zeros(self)
        elif (found := resync.header_at(self, self.at)) is not None:
            self._member(found)
        else:
            resync.skip_to_next_header(self)

    def _member(self, found: Header) -> None:
        """List the member whose first header, perhaps an extended one, is at the self."""
        head = at = self.at
        overrides = self._defaults.for_next_member()
        chain = 0
        seen: dict[bytes, list[int]] = {}
        while found.typeflag in heads.EXTENSIONS:
            seen.setdefault(found.typeflag, []).append(at)
            at = self._extension(at, found, overrides)
            chain += 1
            next_header = resync.header_at(self, at)
            if next_header is None or chain == MAX_EXTENSIONS:
                self._extension_without_member(at, found, chain)
                return
            found = next_header
        for typeflag, places in seen.items():
            if len(places) > 1 and typeflag != heads.PAX_GLOBAL:
                self.emitter.report(
                    codes.EXTENSION_REPEATED,
                    f"One member has {len(places)} extended headers of one kind ({heads.TYPES[typeflag]}), from byte "
                    f"{places[0]:,} on. All are used here; other programs may use only one.",
                    *((place, place + BLOCK) for place in places),
                )
        self._list(head, at, found, overrides)

    def _extension_without_member(self, stop: int, last: Header, chain: int) -> None:
        """Report extended headers without a member after them, which only a global one may be."""
        if chain == MAX_EXTENSIONS or last.typeflag != heads.PAX_GLOBAL:
            self.emitter.report(
                codes.EXTENSION_ALONE,
                f"The extended header at byte {self.at:,} has no member after it"
                + (f" within {MAX_EXTENSIONS} headers." if chain == MAX_EXTENSIONS else "."),
                (self.at, stop),
            )
        self.ended = stop > self.source.size
        self.stray("extended header", TAR_EXTENSION, stop, "Extended headers without a member.")

    def _extension(self, at: int, found: Header, overrides: Overrides) -> int:
        """Apply the extended header at ``at``; returns where its body ends."""
        self.layout.headers.append(at)
        size = found.stored
        held = self.source.read(at + BLOCK, aligned(size)) if size <= MAX_BODY_BYTES else b""
        body = held[:size]
        stop = at + BLOCK + aligned(size)
        if found.size is None or found.size < 0:
            wrong = "its size is not a number"
        elif size > MAX_BODY_BYTES:
            wrong = f"its body of {in_bytes(size)} is too large"
        elif len(body) < size:
            wrong = f"its body is cut off after {grouped(len(body))} of {in_bytes(size)}"
        else:
            wrong = ""
            extension = Extension(found.typeflag, body)
            overrides.apply(extension)
            if found.typeflag == heads.PAX_GLOBAL:
                self._defaults.apply(extension)
            for what, problem, first, last in pax_problems(extension):
                member = self._described(extension.typeflag) if what.severity is Severity.ERROR else None
                where = (at + BLOCK + first, at + BLOCK + last)
                self.emitter.report(what, f"The extended header at byte {at:,} {problem}.", where, member=member)
        if wrong:
            self.emitter.report(
                codes.EXTENSION,
                f"The extended header at byte {at:,} is malformed: {wrong}.",
                (at, stop),
                member=self._described(found.typeflag),
            )
        if held[size:].strip(b"\0"):
            self.emitter.report(
                codes.PADDING,
                f"The padding after the extended header at byte {at:,} is not all zeros.",
                (at + BLOCK + size, stop),
            )
        return stop

    def _described(self, typeflag: bytes) -> int | None:
        """The member that a malformed extended header is about, whose name may be wrong; None for a global one."""
        if typeflag == heads.PAX_GLOBAL:
            return None
        index = len(self.emitter.members)
        self._malformed = index
        return index

    def _list(self, head: int, at: int, found: Header, overrides: Overrides) -> None:
        """List the member whose own header is at ``at``; its first header is at ``head``."""
        end = self.source.size
        self.layout.headers.append(at)
        name = overrides.path(found.name)
        size = overrides.size(found.size)
        if not found.fits or not name:
            stop = at + BLOCK + aligned(found.stored)
            if (proved := self.recover.at(at, stop, self.progress)) is not None:
                name, size = proved.path, proved.stop - proved.start
        start = map_end(self.source, at, self.progress) if found.typeflag == heads.SPARSE else at + BLOCK
        wrong = self._size_problem(at, start, size, found.typeflag in heads.BODILESS)
        if size is None or wrong:
            self._list_without_size(head, at, name, wrong)
            return
        is_sparse = found.typeflag == heads.SPARSE or overrides.sparse
        special = found.typeflag in heads.LINKS | heads.DEVICES
        stored = 0 if found.typeflag in heads.BODILESS else size
        expanded = expanded_size(self.block(at), overrides, stored) if is_sparse else stored
        fault = self._map_fault(head, at, overrides, Span(start, start + stored), expanded) if is_sparse else None
        marks = UNREADABLE if fault else 0
        marks |= (SPECIAL if special else HOLES if is_sparse else 0) | (FOLDER if found.folder else 0)
        index = self.emitter.members.append(name, start, start + stored, size=expanded, head=head, marks=marks)
        self._names.check(index, name, (head, start))
        self._check_mode(at, index)
        if special:
            self._report_special(at, index, found, size, overrides.target(found.link))
        elif found.typeflag not in heads.TYPES:
            self.emitter.report(
                codes.TYPEFLAG,
                f"The type flag 0x{found.typeflag.hex()} of {brief(name)} is unknown. It is read as a file.",
                (at + 156, at + 157),
                member=index,
            )
        if fault:
            message = f"The map of the sparse file {brief(name)} {fault.problem}. Its content cannot be restored."
            self.emitter.report(codes.SPARSE_MAP, message, fault.span, member=index)
        self._doubt_header(index, head, at, found)
        self.at = min(end, start + aligned(stored))
        self._report_wrong_end(index, start, stored)

    def _report_wrong_end(self, index: int, start: int, stored: int) -> None:
        """Go back to a member that the last one, of ``stored`` bytes from ``start`` on, reaches over; or report it."""
        end = self.source.size
        if step_back_to_swallowed(self, self._inside, index):
            return
        stepped_back = start + aligned(stored) > end and resync.step_back_to_header(self, end)
        if start + stored > end and not stepped_back:
            self.emitter.report(
                codes.TRUNCATED_DATA,
                f"{brief(self.emitter.members.path(index))} is cut off: only {grouped(max(0, end - start))} of its "
                f"{in_bytes(stored)} are in the file.",
                (min(start, end), end),
                member=index,
            )
            self.ended = True

    def _doubt_header(self, index: int, head: int, at: int, found: Header) -> None:
        """Doubt a member whose header, or an extended one before it, is damaged or may be lost."""
        if not found.fits or self._malformed == index:
            self.layout.doubtful.append(index)
        elif head == at and len(found.name) == heads.NAME_BYTES and self.lost_before(at):
            self.layout.doubtful.append(index)
            self.emitter.report(
                codes.NAME_CUT,
                f"The name {brief(found.name)} may be cut off. It fills its field, and an extended header with the "
                "whole name may be lost before it.",
                (at, at + heads.NAME_BYTES),
                member=index,
            )

    def _size_problem(self, at: int, start: int, size: int | None, bodiless: bool) -> str:
        """Why the size in a header cannot be right for data that begins at ``start``; empty if it can."""
        if size is None:
            return "not a number"
        if size < 0:
            return f"negative ({size:,})"
        if bodiless or start + size <= self.source.size or resync.recorded_after(self, at) is None:
            return ""
        return f"{in_bytes(size)}, more than the file has"

    def _list_without_size(self, head: int, at: int, name: bytes, wrong: str) -> None:
        """List a member of unknown size, and go on at the next header that is recorded or found."""
        start = at + BLOCK
        another = resync.recorded_after(self, at)
        where = "By the metadata it is"
        if another is None and (result := next_header(self.source, start, self.progress)).found:
            another, where = result.stop, "The next one found is"
        index = self.emitter.members.append(name, start, start, head=head, marks=UNREADABLE)
        self.emitter.report(
            codes.SIZE,
            f"The size of {brief(name)} is {wrong}, so the place of the next header is unknown. "
            + ("The rest is not read." if another is None else f"{where} at byte {another:,}."),
            (at + 124, at + 136),
            member=index,
        )
        self.at = start
        if another is None:
            self.ended = True
        else:
            self.stray("data", Kind.GARBAGE, another, "Data of a member of unknown size.")

    def _check_mode(self, at: int, index: int) -> None:
        """Report set-ID permissions, which should not be restored."""
        place = heads.PLACES["mode"]
        mode = heads.number(self.block(at)[place]) or 0
        if mode & heads.SET_ID and not self._capped[codes.SET_ID].full():
            message = (
                f"The permissions of {brief(self.emitter.members.path(index))} ({mode & 0o7777:o}) let it "
                "run with the rights of its owner or group. Do not restore them when extracting."
            )
            self._capped[codes.SET_ID].add(
                message, ((at + heads.PLACES["mode"].start, at + heads.PLACES["mode"].stop),), index
            )

    def _map_fault(self, head: int, at: int, overrides: Overrides, data: Span, expanded: int) -> MapFault | None:
        """The fault of a sparse member's map; None for one that can be read."""
        if self._defaults.sparse:
            return MapFault("is that of all members, as a global header says", Span(head, at))
        found = sparse_map(self.source, (head, at), overrides, data, expanded)
        return found if isinstance(found, MapFault) else None

    def _report_special(self, at: int, index: int, found: Header, size: int, target: bytes) -> None:
        """Report a link or a device; a link without a target, or with a size, which has to be 0 (POSIX, ustar)."""
        name, where = brief(self.emitter.members.path(index)), ((at, at + BLOCK),)
        is_link = found.typeflag in heads.LINKS
        to = f" to {brief(target)}" if target and is_link else ""
        kind = f"{name} is a {heads.TYPES[found.typeflag]}{to}. It is listed, but its content is not read."
        sized = (
            f"The link {name} states a size of {in_bytes(size)}, where 0 belongs. No data is read for it here; "
            "other programs pass over that much."
        )
        for what, applies, message in (
            (codes.SPECIAL, True, kind),
            (codes.LINK_TARGET, is_link and not target, f"The link {name} has no target."),
            (codes.LINK_SIZE, is_link and size, sized),
        ):
            if applies and not self._capped[what].full():
                self._capped[what].add(message, where, index)
