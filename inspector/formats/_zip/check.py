"""Comparing the content of every member with its CRC-32: APPNOTE.TXT 4.4.7.

The CRC-32 stands up to three times: in the central directory, the local header and the data descriptor. Content that
fits one of them is what was written, for chance would have to hit one of 2**32; a record that it does not fit is then
itself what is wrong. That is said beside what decoding said of the difference.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import le

from isal.isal_zlib import crc32

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError
from inspector.core.member import UNREADABLE, Codec
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import BLOCK, blocks
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.ledger import Recorded, recorded
from inspector.formats._zip.reading import content

_SMALL = 64 * 1024
"""The most bytes of a member that is read together with its neighbours."""
_NEAR = 4096
"""The most bytes between two neighbours."""
_PATIENCE = 4
"""How many times the size of the file is read when members claim the same bytes."""
_DISPUTED = frozenset({"zip-local-crc", "zip-descriptor-differs"})
"""Findings of decoding after which the content tells which of two records is wrong."""
_TOLD = frozenset({"zip-member-cut-off", "taco-crc", "taco-torn-after-write-1", "taco-torn-after-write-2"})
"""Findings of decoding that say already that the content and a CRC-32 do not fit."""


def check_members(archive: Archive, directory: Directory, emitter: Emitter, progress: Progress) -> str:
    """Judge every member, report what does not fit, and sum up; see Format.check."""
    directory.computed = array("q", [-1]) * len(directory.members)
    _Check(archive, directory, emitter, progress).run()
    return _summary(archive)


class _Check:
    """One pass over the data of all members, in the order of the file."""

    def __init__(self, archive: Archive, directory: Directory, emitter: Emitter, progress: Progress) -> None:
        self.source = archive.source
        self.directory = directory
        self.members = directory.members
        self.emitter = emitter
        self.progress = progress
        self.disputed = {finding.member for finding in archive.findings if finding.code in _DISPUTED}
        self.told = {finding.member for finding in archive.findings if finding.code in _TOLD}

    def run(self) -> None:
        """Check the members: large ones by themselves, small neighbours in one read."""
        members = self.members
        starts, stops = members.starts, members.stops
        self.progress.begin("Comparing CRC-32", sum(stops) - sum(starts))
        batch: list[int] = []
        base = stop = 0
        for index in self._affordable():
            if max(stops[index] - starts[index], members.size(index)) > _SMALL:
                self._check(index, self._pieces(starts[index], stops[index]))
                continue
            if stops[index] > base + BLOCK or starts[index] > stop + _NEAR:
                self._check_batch(batch, base, stop)
                batch = []
            if not batch:
                base = stop = starts[index]
            batch.append(index)
            stop = max(stop, stops[index])
        self._check_batch(batch, base, stop)

    def _affordable(self) -> Iterator[int]:
        """The members whose content can be had, in the order of the file, as long as it does not repeat too often."""
        members = self.members
        left = _PATIENCE * self.source.size
        skipped = 0
        for index in _in_file_order(members.starts):
            size = members.stops[index] - members.starts[index]
            if members.codec_at(index) is Codec.UNKNOWN or self._is_lost(index):
                self.emitter.judge(index, Verdict.NOT_CHECKABLE)
                self.progress.advance(size)
            elif size > left:
                skipped += 1
            else:
                left -= size
                yield index
        if skipped:
            message = (
                f"{count(skipped, 'member')} were not checked: members claim the same bytes so often that comparing "
                f"all would read more than {_PATIENCE} times the file."
            )
            self.emitter.warning("zip-overlap-not-checked", message)

    def _is_lost(self, index: int) -> bool:
        marks = self.members.marks
        return marks is not None and bool(marks[index] & UNREADABLE)

    def _pieces(self, start: int, stop: int) -> Iterator[bytes]:
        for piece in blocks(self.source, start, stop):
            yield piece
            self.progress.advance(len(piece))

    def _check_batch(self, batch: list[int], base: int, stop: int) -> None:
        data = self.source.read(base, stop - base)
        starts, stops = self.members.starts, self.members.stops
        for index in batch:
            self._check(index, (data[starts[index] - base : stops[index] - base],))
        self.progress.advance(sum(stops[index] - starts[index] for index in batch))

    def _check(self, index: int, stored: Iterable[bytes]) -> None:
        """Compare the content that ``stored`` gives and judge the member."""
        crc = 0
        try:
            if self.members.codec_at(index) is Codec.STORED:
                read = 0
                for piece in stored:
                    crc = crc32(piece, crc)
                    read += len(piece)
                self._expect(index, read)
            else:
                for piece in content(self.members[index], iter(stored)):
                    crc = crc32(piece, crc)
                    self.progress.advance(0)
        except MemberError as error:
            self.emitter.judge(index, Verdict.MISMATCH)
            self._report_content(index, error)
            return
        self.directory.computed[index] = crc
        digests = self.members.digests
        if digests is not None and digests[index] == crc and index not in self.disputed:
            self.emitter.judge(index, Verdict.VERIFIED)
        else:
            self._settle(index, crc)

    def _expect(self, index: int, read: int) -> None:
        if read < self.members.stored(index):
            name = visible(self.members.path(index))
            raise MemberError(
                f"Only {in_bytes(read)} of the {in_bytes(self.members.stored(index))} of {name} can be read: the file "
                "has become shorter since it was opened."
            )

    def _settle(self, index: int, crc: int) -> None:
        """Judge a member whose content does not fit every CRC-32 that is recorded for it."""
        records = recorded(self.source, self.directory, index)
        wrong = [record for record in records if record.crc != crc]
        if not records:
            self.emitter.judge(index, Verdict.NOT_CHECKABLE)
        elif len(wrong) == len(records):
            self.emitter.judge(index, Verdict.MISMATCH)
            if index not in self.told:
                self._report_mismatch(index, crc, wrong)
        else:
            self.emitter.judge(index, Verdict.VERIFIED)
            if wrong and index not in self.told:
                self._report_field(index, crc, wrong)

    def _report_mismatch(self, index: int, crc: int, wrong: list[Recorded]) -> None:
        start, stop = self.members.starts[index], self.members.stops[index]
        message = (
            f"The CRC-32 of {visible(self.members.path(index))} does not fit: its {in_bytes(stop - start)} from "
            f"{grouped(start)} on give 0x{crc:08X}, the {_said(wrong)}. Some of them have changed since they were "
            "written, and a CRC-32 does not tell which; other members are not affected."
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


def _in_file_order(starts: array[int]) -> Iterable[int]:
    """The members by where their data begin; most archives have them so."""
    if all(map(le, starts, islice(starts, 1, None))):
        return range(len(starts))
    return sorted(range(len(starts)), key=starts.__getitem__)


def _summary(archive: Archive) -> str:
    total = len(archive.members)
    if not total:
        return "There are no members."
    counts = {verdict: archive.verdicts.count(at) for at, verdict in enumerate(VERDICTS)}
    mismatches, blank = counts[Verdict.MISMATCH], counts[Verdict.NOT_CHECKABLE]
    parts = [f"{counts[Verdict.VERIFIED]:,} of {count(total, 'member')} {'is' if total == 1 else 'are'} verified"]
    if mismatches:
        words = "does not fit its" if mismatches == 1 else "do not fit their"
        parts.append(f"{mismatches:,} {words} CRC-32")
    if blank:
        parts.append(f"{blank:,} cannot be checked")
    unread = total - counts[Verdict.VERIFIED] - mismatches - blank
    if unread:
        parts.append(f"{unread:,} {'was' if unread == 1 else 'were'} not checked")
    return "; ".join(parts) + "."
