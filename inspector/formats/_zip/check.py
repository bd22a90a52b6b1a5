"""Comparing the content of every member with its CRC-32: APPNOTE.TXT 4.4.7.

The CRC-32 stands up to three times: in the central directory, the local header and the data descriptor. Content that
fits one of them is what was written, for chance would have to hit one of 2**32; a record that it does not fit is then
itself what is wrong. That is said beside what decoding said of the difference.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import le

from isal.isal_zlib import crc32

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import UNREADABLE, Codec
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.source import BLOCK, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.ledger import Recorded, recorded
from inspector.formats._zip.reading import content

_WINDOW = 1 << 20
"""The most bytes that are read at once for several members."""
_PATIENCE = 4
"""How many times the size of the file is read when members claim the same bytes."""
_DISPUTED = frozenset({"zip-local-crc", "zip-descriptor-differs"})
"""Findings of decoding after which the content tells which of two records is wrong."""
_TOLD = frozenset({"zip-member-cut-off", "taco-crc", "taco-torn-after-write-1", "taco-torn-after-write-2"})
"""Findings of decoding that say already that the content and a CRC-32 do not fit."""

_OF_DATA = frozenset({"zip-crc-mismatch", "zip-content-damaged", "zip-member-cut-off"})
"""Errors that the verdicts count already."""


def check_members(archive: Archive, directory: Directory, emitter: Emitter, progress: Progress) -> str:
    """Judge every member, report what does not fit, and sum up; see Format.check."""
    directory.computed = array("q", [-1]) * len(directory.members)
    _Check(archive, directory, emitter, progress).run()
    return _summary(archive)


class _Check:
    """One pass over the data of all members."""

    def __init__(self, archive: Archive, directory: Directory, emitter: Emitter, progress: Progress) -> None:
        self.source = archive.source
        self.directory = directory
        self.members = directory.members
        self.emitter = emitter
        self.progress = progress
        self.disputed = {finding.member for finding in archive.findings if finding.code in _DISPUTED}
        self.lost = any(map(UNREADABLE.__and__, self.members.marks or ()))
        self.told = {finding.member for finding in archive.findings if finding.code in _TOLD}

    def run(self) -> None:
        """Check all members, neighbours together where each lies behind the one before."""
        starts, stops = self.members.starts, self.members.stops
        self.progress.begin("Comparing CRC-32", sum(stops) - sum(starts))
        if all(map(le, starts, stops)) and all(map(le, stops, islice(starts, 1, None))):
            self._run_orderly()
        else:
            self._run_tangled()

    def _run_orderly(self) -> None:
        starts, stops = self.members.starts, self.members.stops
        index = 0
        while index < len(starts):
            following = bisect_right(stops, starts[index] + _WINDOW, index)
            if following > index + 1:
                self._check_window(index, following)
                index = following
            else:
                self._check(index)
                index += 1

    def _run_tangled(self) -> None:
        """Members that claim the same bytes are read as long as that is not too often."""
        members = self.members
        left = _PATIENCE * self.source.size
        skipped = 0
        for index in range(len(members)):
            size = members.stored(index)
            if size > left:
                skipped += 1
            else:
                left -= size
                self._check(index)
        if skipped:
            message = (
                f"{count(skipped, 'member')} could not be checked in reasonable time: members claim the same bytes so "
                f"often that comparing all would read more than {_PATIENCE} times the file."
            )
            self.emitter.warning("zip-overlap-not-checked", message)

    def _check_window(self, first: int, last: int) -> None:
        """Check members that lie in one stretch of at most _WINDOW bytes."""
        members = self.members
        starts, stops, digests = members.starts[first:last], members.stops[first:last], members.digests
        assert digests is not None
        base = starts[0]
        data = self.source.read(base, stops[-1] - base)
        view = memoryview(data)
        if self._is_plain(first, last) and len(data) == stops[-1] - base:
            found = [crc32(view[start - base : stop - base]) for start, stop in zip(starts, stops, strict=True)]
            if found == digests[first:last].tolist():
                self.directory.computed[first:last] = array("q", found)
                self.emitter.judge_run(first, last, Verdict.VERIFIED)
                self.progress.advance(sum(stops) - sum(starts))
                return
        for index in range(first, last):
            self._check(index, view[members.starts[index] - base : members.stops[index] - base])

    def _is_plain(self, first: int, last: int) -> bool:
        """Whether all there is to do for these members is to compare."""
        plain = self.members.codecs_in(first, last) == {Codec.STORED} and not self.lost
        return plain and (not self.disputed or self.disputed.isdisjoint(range(first, last)))

    def _is_lost(self, index: int) -> bool:
        marks = self.members.marks
        return marks is not None and bool(marks[index] & UNREADABLE)

    def _check(self, index: int, data: memoryview | None = None) -> None:
        """Compare one member's content, whose stored bytes are ``data`` or still to be read, and judge it."""
        members = self.members
        codec = members.codec_at(index)
        if codec is Codec.UNKNOWN or self._is_lost(index):
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
            self.progress.advance(members.stored(index))
            return
        try:
            crc = self._stored_crc(index, data) if codec is Codec.STORED else self._content_crc(index, data)
        except MemberError as error:
            self.emitter.judge(index, Verdict.MISMATCH)
            self._report_content(index, error)
            return
        self.directory.computed[index] = crc
        digests = members.digests
        if digests is not None and digests[index] == crc and index not in self.disputed:
            self.emitter.judge(index, Verdict.VERIFIED)
        else:
            self._settle(index, crc)

    def _stored_crc(self, index: int, data: memoryview | None) -> int:
        at, stop = self.members.starts[index], self.members.stops[index]
        crc = 0
        while at < stop:
            piece: bytes | memoryview = self.source.read(at, min(BLOCK, stop - at)) if data is None else data
            if not piece or (data is not None and len(piece) < stop - at):
                raise self._short(index)
            crc = crc32(piece, crc)
            size = len(piece)
            at += size
            # Two pieces at a time fit the processor's cache worse than one.
            del piece
            self.progress.advance(size)
        return crc

    def _content_crc(self, index: int, data: memoryview | None) -> int:
        start, stop = self.members.starts[index], self.members.stops[index]
        crc = 0
        for piece in content(self.members[index], self._pieces(start, stop) if data is None else iter((bytes(data),))):
            crc = crc32(piece, crc)
            self.progress.advance(0)
        self.progress.advance(0 if data is None else len(data))
        return crc

    def _pieces(self, start: int, stop: int) -> Iterator[bytes]:
        for piece in blocks(self.source, start, stop):
            yield piece
            self.progress.advance(len(piece))

    def _short(self, index: int) -> MemberError:
        stored = in_bytes(self.members.stored(index))
        return MemberError(
            f"Not all of the {stored} of {visible(self.members.path(index))} can be read: the file has become shorter "
            "since it was opened."
        )

    def _settle(self, index: int, crc: int) -> None:
        """Judge a member whose content does not fit every CRC-32 that is recorded for it."""
        records = recorded(self.source, self.directory, index)
        wrong = [record for record in records if record.crc != crc]
        if not records:
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
        elif len(wrong) == len(records) or (wrong and self._is_empty(index)):
            self.emitter.judge(index, Verdict.MISMATCH)
            if index not in self.told:
                self._report_mismatch(index, crc, wrong)
        else:
            self.emitter.judge(index, Verdict.VERIFIED)
            if wrong and index not in self.told:
                self._report_field(index, crc, wrong)

    def _is_empty(self, index: int) -> bool:
        """Whether there is no content, which fits the CRC-32 of none wherever a record says that it is."""
        return self.members.starts[index] == self.members.stops[index]

    def _report_mismatch(self, index: int, crc: int, wrong: list[Recorded]) -> None:
        start, stop = self.members.starts[index], self.members.stops[index]
        message = (
            f"The CRC-32 of {visible(self.members.path(index))} does not fit: its {in_bytes(stop - start)} from "
            f"{grouped(start)} on {verb(stop - start, 'gives', 'give')} 0x{crc:08X}, the {_said(wrong)}. Some of them "
            "have changed since they were written, and a CRC-32 does not tell which; other members are not affected."
        )
        self.emitter.error("zip-crc-mismatch", message, (start, stop), member=index)

    def _report_field(self, index: int, crc: int, wrong: list[Recorded]) -> None:
        message = (
            f"The content of {visible(self.members.path(index))} is whole: it gives the CRC-32 0x{crc:08X}, as is "
            f"recorded elsewhere too. What is wrong is a record: the {_said(wrong)}."
        )
        self.emitter.info("zip-crc-field-wrong", message, *(record.span for record in wrong), member=index)

    def _report_content(self, index: int, error: MemberError) -> None:
        if index in self.told:
            return
        span = (self.members.starts[index], self.members.stops[index])
        message = f"{error} Its CRC-32 cannot be compared; other members are not affected."
        self.emitter.error("zip-content-damaged", message, span, member=index)


def _said(records: list[Recorded]) -> str:
    """What records say, those together that say the same."""
    places: dict[int, list[str]] = {}
    for record in records:
        places.setdefault(record.crc, []).append(record.place)
    return "; the ".join(f"{' and the '.join(names)} recorded 0x{crc:08X}" for crc, names in places.items())


def _summary(archive: Archive) -> str:
    total = len(archive.members)
    if not total:
        return "There are no members."
    counts = {verdict: archive.verdicts.count(at) for at, verdict in enumerate(VERDICTS)}
    structural = sum(each.severity is Severity.ERROR and each.code not in _OF_DATA for each in archive.findings)
    errors = [f"{count(structural, 'error')} in the structure"] if structural else []
    if structural and counts[Verdict.VERIFIED] == total:
        whose = "its one member" if total == 1 else f"all {total:,} members"
        return f"{errors[0]}; the data of {whose} fits its CRC-32."
    mismatches, blank = counts[Verdict.MISMATCH], counts[Verdict.NOT_CHECKABLE]
    verified = f"{counts[Verdict.VERIFIED]:,} of {count(total, 'member')} {'is' if total == 1 else 'are'} verified"
    parts = [*errors, verified]
    if mismatches:
        words = "does not fit its" if mismatches == 1 else "do not fit their"
        parts.append(f"{mismatches:,} {words} CRC-32")
    if blank:
        parts.append(f"{blank:,} cannot be checked")
    unread = total - counts[Verdict.VERIFIED] - mismatches - blank
    if unread:
        parts.append(f"{unread:,} {'was' if unread == 1 else 'were'} not checked")
    return "; ".join(parts) + "."
