"""Save members of a damaged tar into a new one: their headers and data as they are, without what lies between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.member import HOLES, SPECIAL, UNREADABLE, Members
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Repair, outcomes
from inspector.core.source import blocks
from inspector.formats._tar.header import aligned
from inspector.formats._tar.repair import END_BLOCKS
from inspector.formats._tar.resync import Layout

_NOT_DAMAGE = frozenset(("tar-compressed", "tar-sparse-map", "tar-truncated-header"))
"""Codes of errors after which a new tar would be no better than the repaired one."""

_PROOF = "a digest of its content matches"

MAX_NAMES_LISTED = 5
"""Names of lost members in one sentence."""

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
    marks = members.marks[index] if members.marks is not None else 0
    there = members.stops[index] <= archive.source.size
    sized = bool(marks & (SPECIAL | HOLES)) or members.stored(index) == members.size(index)
    return there and sized and not marks & UNREADABLE


def losses(archive: Archive, kept: Sequence[int]) -> tuple[str, ...]:
    """What a new tar of the members ``kept`` loses, in sentences."""
    saved, members = frozenset(kept), archive.members
    lost = [index for index in range(len(members)) if index not in saved]
    sentences = ["The bytes that belong to no member, and members whose headers are lost with them."]
    if lost:
        names = ", ".join(visible(members.path(index)) for index in lost[:MAX_NAMES_LISTED])
        more = ", ..." if len(lost) > MAX_NAMES_LISTED else ""
        sentences.insert(0, f"{len(lost):,} of {count(len(members), 'member')}: {names}{more}.")
    return tuple(sentences)


def content(archive: Archive, kept: Sequence[int], new_header: NewHeader = lambda _: b"") -> Content:
    """The bytes of a new tar of the members ``kept``."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        source, members = archive.source, archive.members
        progress.begin("Saving members", sum(map(members.stored, kept)))
        for index in kept:
            start, stop = members.starts[index], members.stops[index]
            yield new_header(index) or b"".join(blocks(source, head_of(members, index), start))
            for piece in blocks(source, start, stop):
                yield piece
                progress.advance(len(piece))
            yield bytes(aligned(stop - start) - (stop - start))
        yield END_BLOCKS

    return pieces


def head_of(members: Members, index: int) -> int:
    """Where the headers of a member begin."""
    assert members.heads is not None
    return members.heads[index]
