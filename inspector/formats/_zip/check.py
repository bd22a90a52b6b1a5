"""Compare the content of every member with its CRC-32 (APPNOTE.TXT 4.4.7), and list the recorded values.

The CRC-32 is recorded up to three times: in the central directory, the local header and the data descriptor. Content
that matches one of them is what was archived, because a false match has a chance of one in 2**32. Then a record that
differs is itself wrong, which is reported in addition to the difference that decoding found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import le
from typing import NamedTuple

from isal.isal_zlib import crc32

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Archive, Emitter
from inspector.core.field import Computed
from inspector.core.finding import Severity
from inspector.core.format import MemberError, RefusedMemberError
from inspector.core.limits import BOUNDS
from inspector.core.member import UNREADABLE, Codec
from inspector.core.names import brief
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, blocks
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Checksum, Verdict
from inspector.formats._zip import codes
from inspector.formats._zip.directory import Directory, Strays
from inspector.formats._zip.members import content
from inspector.formats._zip.records import CENTRAL_CRC, HAS_DESCRIPTOR, LOCAL_CRC, LOCAL_SIZE, LOCAL_STRUCT, Local
from inspector.formats._zip.strays import crc_of, find_strays

_WINDOW_BYTES = 1 << 20
"""Bytes read at once for several members."""
_DISPUTED_CODES = frozenset({"zip-local-crc", "zip-descriptor-differs"})
"""Findings about two CRC-32 records that differ; the content shows which is wrong."""
_REPORTED_CODES = frozenset({"zip-member-cut-off", "taco-crc", "taco-torn-after-write-1", "taco-torn-after-write-2"})
"""Findings of decoding that report a wrong CRC-32 already."""
_DATA_CODES = frozenset({"zip-crc-mismatch", "zip-content-damaged", "zip-member-cut-off"})
"""Errors that are counted by verdict in the summary."""


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Judge every member, report mismatches, and return a summary."""
    directory: Directory = archive.detail
    directory.computed = array("q", [-1]) * len(directory.members)
    _Check(archive, directory, emitter, progress).run()
    directory.strays = Strays()
    if any(each.severity is Severity.ERROR for each in archive.findings):
        directory.strays = find_strays(archive, directory, progress)
    found = directory.strays.members
    if found:
        number = f"{'at least ' if directory.strays.unsearched else ''}{count(len(found), 'member')}"
        emitter.report(
            codes.ELSEWHERE,
            f"Whole members are not where the archive says they are: {number}. The first is "
            f"{brief(found[0].name)} at byte {grouped(found[0].head)}.",
            *((each.head, each.stop) for each in islice(found, MAX_FINDINGS_PER_KIND)),
        )
    return _summary(archive)


class _Check:
    """One pass over the data of all members."""

    def __init__(self, archive: Archive, directory: Directory, emitter: Emitter, progress: Progress) -> None:
        self.archive = archive
        self.source = archive.source
        self.directory = directory
        self.members = directory.members
        self.emitter = emitter
        self.progress = progress
        self.disputed = {finding.member for finding in archive.findings if finding.code in _DISPUTED_CODES}
        self.bad_nothings: set[tuple[Codec, int]] = set()
        """Codecs and sizes of members that have no bytes at all, and should."""
        self.unreadable = any(map(UNREADABLE.__and__, self.members.marks or ()))
        self.reported = {finding.member for finding in archive.findings if finding.code in _REPORTED_CODES}

    def run(self) -> None:
        """Check all members; if none overlap, read neighbours together."""
        starts, stops = self.members.starts, self.members.stops
        self.progress.begin("Comparing CRC-32", sum(stops) - sum(starts))
        if not (all(map(le, starts, stops)) and all(map(le, stops, islice(starts, 1, None)))):
            self._run_overlapping()
            return
        index = 0
        while index < len(starts):
            following = max(index + 1, bisect_right(stops, starts[index] + _WINDOW_BYTES, index))
            if following > index + 1:
                self._check_window(index, following)
            else:
                self._check(index)
            index = following

    def _run_overlapping(self) -> None:
        """Check every member whose bytes no other one before it claims; the others once, and within a budget."""
        members = self.members
        starts, stops = members.starts, members.stops
        left = BOUNDS.budget(self.source.size)
        skipped = end = 0
        known: dict[tuple[int, Codec, int], int] = {}  # by what members with this start claim: the same content
        at = -1
        for index in sorted(range(len(members)), key=starts.__getitem__):
            if starts[index] != at:
                at = starts[index]
                known.clear()
            claim = stops[index], members.codec_at(index), members.size(index)
            earlier = known.get(claim)
            if earlier is not None:
                self._check_again(index, earlier)
                continue
            if at < end:
                cost = members.stored(index) + members.size(index) + BOUNDS.shared_member_bytes
                if cost > left:
                    skipped += 1
                    continue
                left -= cost
            end = max(end, stops[index])
            self._check(index)
            known[claim] = index
        if skipped:
            self.emitter.report(
                codes.OVERLAP_NOT_CHECKED,
                f"{count(skipped, 'member')} could not be checked because members overlap too much. They claim bytes "
                "that others claim too, and unpacking these again for each of them would take too long.",
            )

    def _check_again(self, index: int, earlier: int) -> None:
        """Judge a member that claims exactly the data of ``earlier``, without unpacking it again."""
        crc = self.directory.computed[earlier]
        if crc >= 0 and not self.directory.marks[index] & UNREADABLE:
            self._accept(index, crc)
            self.progress.advance(0)
            return
        verdict = self.archive.verdict(earlier)
        self.emitter.judge(index, verdict)
        if verdict is Verdict.MISMATCH and not self.directory.marks[index] & UNREADABLE:
            names = brief(self.members.path(index)), brief(self.members.path(earlier))
            self._report_content(index, MemberError(f"{names[0]} claims the data of {names[1]}, which is damaged."))

    def _check_window(self, first: int, last: int) -> None:
        """Check the members ``[first, last)``, whose data lies within _WINDOW_BYTES."""
        members = self.members
        starts, stops, digests = members.starts[first:last], members.stops[first:last], members.digests
        assert digests is not None
        base = starts[0]
        data = self.source.read(base, stops[-1] - base)
        view = memoryview(data)
        # Stored, readable and not disputed, so that they only need comparing.
        plain = members.codecs_in(first, last) == {Codec.STORED} and not self.unreadable
        plain = plain and (not self.disputed or self.disputed.isdisjoint(range(first, last)))
        if plain and len(data) == stops[-1] - base:
            found = [crc32(view[start - base : stop - base]) for start, stop in zip(starts, stops, strict=True)]
            if found == digests[first:last].tolist():
                self.directory.computed[first:last] = array("q", found)
                self.emitter.judge_run(first, last, Verdict.VERIFIED)
                self.progress.advance(sum(stops) - sum(starts))
                return
        for index in range(first, last):
            self._check(index, view[members.starts[index] - base : members.stops[index] - base])

    def _check(self, index: int, data: memoryview | None = None) -> None:
        """Compare one member's content and judge it; ``data`` are its stored bytes if they were read."""
        members = self.members
        codec = members.codec_at(index)
        if codec is Codec.UNKNOWN or self.directory.marks[index] & UNREADABLE:
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
            self.progress.advance(members.stored(index))
            return
        nothing = codec, -1 if members.stored(index) else members.size(index)
        if nothing in self.bad_nothings and self.emitter.full(Severity.ERROR):
            self.emitter.judge(index, Verdict.MISMATCH)
            self.archive.findings_dropped += index not in self.reported
            return
        try:
            crc = self._stored_crc(index, data) if codec is Codec.STORED else self._content_crc(index, data)
        except RefusedMemberError as error:
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
            span = (members.starts[index], members.stops[index])
            self.emitter.report(codes.CONTENT_NOT_READ, f"{error} Its CRC-32 cannot be compared.", span, member=index)
            return
        except MemberError as error:
            if not members.stored(index):
                self.bad_nothings.add(nothing)
            self.emitter.judge(index, Verdict.MISMATCH)
            self._report_content(index, error)
            return
        self._accept(index, crc)

    def _accept(self, index: int, crc: int) -> None:
        """Judge a member whose content has this CRC-32."""
        self.directory.computed[index] = crc
        digests = self.members.digests
        if digests is not None and digests[index] == crc and index not in self.disputed:
            self.emitter.judge(index, Verdict.VERIFIED)
        else:
            self._judge(index, crc)

    def _stored_crc(self, index: int, data: memoryview | None) -> int:
        at, stop = self.members.starts[index], self.members.stops[index]
        crc = 0
        while at < stop:
            piece: bytes | memoryview = self.source.read(at, min(BLOCK, stop - at)) if data is None else data
            if not piece or (data is not None and len(piece) < stop - at):
                raise MemberError(
                    f"{brief(self.members.path(index))} cannot be read to its end: the file has become shorter since "
                    f"it was opened. The member has {in_bytes(self.members.stored(index))}."
                )
            crc = crc32(piece, crc)
            size = len(piece)
            at += size
            # Free the piece before the next is read: two at a time do not fit the processor's cache.
            del piece
            self.progress.advance(size)
        return crc

    def _content_crc(self, index: int, data: memoryview | None) -> int:
        def stored() -> Iterator[bytes]:
            start, stop = self.members.starts[index], self.members.stops[index]
            for piece in blocks(self.source, start, stop) if data is None else (bytes(data),):
                yield piece
                self.progress.advance(len(piece))

        return crc_of(content(self.members[index], stored()), self.progress)

    def _judge(self, index: int, crc: int) -> None:
        """Judge a member whose content does not match every CRC-32 recorded for it."""
        records = [*recorded_crcs(self.source, self.directory, index)]
        wrong = [record for record in records if record.crc != crc]
        if not records:
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
        elif len(wrong) == len(records) or (
            wrong and not self.members.stored(index)
        ):  # nothing has the CRC-32 of nothing everywhere
            self.emitter.judge(index, Verdict.MISMATCH)
            if index not in self.reported:
                start, stop = self.members.starts[index], self.members.stops[index]
                self.emitter.report(
                    codes.CRC_MISMATCH,
                    f"The content of {brief(self.members.path(index))} does not match its CRC-32. Its "
                    f"{in_bytes(stop - start)} from {grouped(start)} on {verb(stop - start, 'gives', 'give')} "
                    f"0x{crc:08x}; the {_recorded_values(wrong)}. Some bytes have changed since it was archived, and a "
                    "CRC-32 does not show which. Other members are not affected.",
                    (start, stop),
                    member=index,
                )
        else:
            self.emitter.judge(index, Verdict.VERIFIED)
            if wrong and index not in self.reported:
                self.emitter.report(
                    codes.CRC_FIELD_WRONG,
                    f"A CRC-32 record of {brief(self.members.path(index))} is wrong, but its content is whole. The "
                    f"content gives 0x{crc:08x}, which another record has too; the {_recorded_values(wrong)}.",
                    *(record.span for record in wrong),
                    member=index,
                )

    def _report_content(self, index: int, error: MemberError) -> None:
        if index in self.reported:
            return
        span = (self.members.starts[index], self.members.stops[index])
        self.emitter.report(
            codes.CONTENT_DAMAGED,
            f"{error} Its CRC-32 cannot be compared. Other members are not affected.",
            span,
            member=index,
        )


def _recorded_values(records: list[RecordedCrc]) -> str:
    """The recorded values, with equal ones grouped."""
    places: dict[int, list[str]] = {}
    for record in records:
        places.setdefault(record.crc, []).append(record.place)
    return "; the ".join(
        f"{' and the '.join(names)} {verb(len(names), 'has', 'have')} 0x{crc:08x}" for crc, names in places.items()
    )


def _summary(archive: Archive) -> str:
    total = len(archive.members)
    if not total:
        return "There are no members."
    counts = {verdict: archive.verdicts.count(at) for at, verdict in enumerate(VERDICTS)}
    structural = sum(each.severity is Severity.ERROR and each.code not in _DATA_CODES for each in archive.findings)
    errors = [f"{count(structural, 'error')} in the structure"] if structural else []
    if structural and counts[Verdict.VERIFIED] == total:
        whose = "its one member" if total == 1 else f"all {total:,} members"
        return f"{errors[0]}; the data of {whose} matches its CRC-32."
    mismatches, blank = counts[Verdict.MISMATCH], counts[Verdict.NOT_CHECKABLE]
    unread = total - counts[Verdict.VERIFIED] - mismatches - blank
    parts = (
        (True, f"{counts[Verdict.VERIFIED]:,} of {count(total, 'member')} {'is' if total == 1 else 'are'} verified"),
        (mismatches, f"{mismatches:,} {verb(mismatches, 'does not match its', 'do not match their')} CRC-32"),
        (blank, f"{blank:,} cannot be checked"),
        (unread, f"{unread:,} {verb(unread, 'was', 'were')} not checked"),
    )
    return "; ".join((*errors, *(text for applies, text in parts if applies))) + "."


class RecordedCrc(NamedTuple):
    """One recorded CRC-32: the record it is in, its file bytes and its value."""

    place: str
    span: Span
    crc: int


def recorded_crcs(source: Source, directory: Directory, index: int) -> Iterator[RecordedCrc]:
    """The CRC-32 values recorded for a member, at most three, each read when it is asked for; that of readers first.

    A local header that leaves the CRC-32 to a data descriptor records none.
    """
    members = directory.members
    if directory.listed:
        at = directory.central[index] + CENTRAL_CRC
        assert members.digests is not None
        yield RecordedCrc("central directory", Span(at, at + 4), members.digests[index])
    head = directory.heads[index]
    data = source.read(head, LOCAL_SIZE)
    if len(data) == LOCAL_SIZE and not directory.marks[index] & UNREADABLE:
        local = Local._make(LOCAL_STRUCT.unpack(data))
        if local.crc or not local.flags & HAS_DESCRIPTOR:
            yield RecordedCrc("local header", Span(head + LOCAL_CRC, head + LOCAL_CRC + 4), local.crc)
    size = directory.descriptors[index]
    at = members.stops[index] + (4 if size in (16, 24) else 0)
    if size and len(crc := source.read(at, 4)) == 4:
        yield RecordedCrc("data descriptor", Span(at, at + 4), int.from_bytes(crc, "little"))


def checksums(archive: Archive, directory: Directory, header: int = -1) -> Computed[Checksum]:
    """One row for each member, with the CRC-32 that readers use; made on access.

    ``header`` is a member with a second row for its local header; -1 for none.
    """
    header = header if directory.listed else -1

    def row(at: int) -> Checksum:
        member = at - (0 <= header < at)
        records = recorded_crcs(archive.source, directory, member)
        if member == header != at:
            local = next((each for each in records if each.place == "local header"), None)
            return _checksum(archive, directory, member, local, ", local header")
        checksum = _checksum(archive, directory, member, next(records, None))
        if member == header or checksum.verdict is not Verdict.MISMATCH:
            return checksum
        every = recorded_crcs(archive.source, directory, member)  # what has two rows has no copies
        same = (each for each in every if each.span not in checksum.place and f"{each.crc:08x}" == checksum.stored)
        return checksum._replace(copies=tuple(each.span for each in same))

    return Computed(len(directory.members) + (header >= 0), row)


def _checksum(
    archive: Archive, directory: Directory, member: int, record: RecordedCrc | None, which: str = ""
) -> Checksum:
    verdict, computed = archive.verdict(member), -1
    if verdict in (Verdict.VERIFIED, Verdict.MISMATCH):
        computed = directory.computed[member]
        verdict = Verdict.VERIFIED if record and record.crc == computed else Verdict.MISMATCH
    return Checksum(
        name=f"CRC-32 of {brief(directory.members.path(member))}{which}",
        algorithm="CRC-32",
        stored=f"{record.crc:08x}" if record else "",
        computed=f"{computed:08x}" if computed >= 0 else "",
        place=(record.span,) if record else (),
        covers=directory.members[member].spans,
        omits=(),
        verdict=verdict,
        note=f"in the {record.place}" if record else "not recorded",
        member=member,
    )
