"""What there is to check in a tar beyond its headers: padding that is no padding.

POSIX.1-2017, pax, ustar Interchange Format: data is filled up to whole blocks of 512 bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.progress import Progress
from inspector.core.verdict import Verdict
from inspector.formats._tar.cursor import Layout
from inspector.formats._tar.header import aligned

WINDOW = 512 * 1024
"""Bytes that are read at a time: with less reading costs more than hashing, with more they leave the cache."""

TOLD = 100
"""The most paddings that are reported one by one; the rest are counted."""


def groups(members: Members) -> Iterator[tuple[int, int]]:
    """The members in order as half-open groups: neighbours within WINDOW bytes, or one that is larger."""
    first = 0
    while first < len(members):
        last = max(first + 1, bisect_right(members.stops, members.starts[first] + WINDOW, lo=first))
        yield first, last
        first = last


class Padding:
    """Looks at what stands between the end of a member's data and the next block."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._found = 0

    def look(self, index: int, padding: bytes) -> None:
        """``padding`` are the bytes after the data of the member ``index``."""
        if not padding.strip(b"\0"):
            return
        self._found += 1
        if self._found <= TOLD:
            members = self._emitter.members
            stop = members.stops[index]
            self._emitter.warning(
                "tar-padding",
                f"The padding after {visible(members.path(index))}, {in_bytes(len(padding))}, is not all zeros: it "
                "belongs to no member, and has changed or hides something.",
                (stop, stop + len(padding)),
                member=index,
            )

    def close(self) -> None:
        """Say how many there were, where not all were reported."""
        if self._found > TOLD:
            self._emitter.warning("tar-padding", f"The padding after {self._found:,} members in all is not all zeros.")


def check_padding(archive: Archive, emitter: Emitter, progress: Progress) -> None:
    """Read the padding of all members, and of large ones nothing else; nothing is recorded about any data."""
    members, source = archive.members, archive.source
    padding = Padding(emitter)
    progress.begin("Reading padding", source.size)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    done = 0
    for first, last in groups(members):
        end = aligned(members.stops[last - 1])
        start = members.stops[first]
        data = source.read(start, end - start) if end > start else b""
        for index in range(first, last):
            stop = members.stops[index]
            padding.look(index, data[stop - start : aligned(stop) - start])
        progress.advance(min(end, source.size) - done)
        done = min(end, source.size)
    padding.close()
    progress.advance(source.size - done)


def headers_sentence(archive: Archive) -> str:
    """What is known of a tar whose data cannot be checked."""
    layout = archive.detail
    if not isinstance(layout, Layout) or not layout.headers:
        return "It has no members."
    total, unfit = len(layout.headers), layout.unfit
    fitting = f"the checksums of all {count(total, 'header')} fit" if total > 1 else "the checksum of its header fits"
    if unfit:
        fitting = f"{unfit:,} of {count(total, 'header checksum')} {'does' if unfit == 1 else 'do'} not fit"
    members = count(len(archive.members), "member")
    return f"{fitting[0].upper()}{fitting[1:]}; tar records nothing to check the data of {members} with."
