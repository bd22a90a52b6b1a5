"""Scanning any bytes for archives: each is decoded and checked by itself, and may be written to a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError, SplicedSource, blocks
from inspector.core.span import Span
from inspector.core.verdict import State, Verdict
from inspector.formats._causes.joined import (
    MIN_READ_AGAIN,
    MIN_REST_BYTES,
    READ_AGAIN,
    Part,
    Search,
    address,
    archives,
)
from inspector.operations.check.checking import check_archive, own_state, verdict_counts
from inspector.operations.open.nested import open_nested
from inspector.operations.open.opening import Opened, decoded
from inspector.sources.local.atomic import FolderObjects
from inspector.sources.local.file import Folder
from inspector.sources.s3.connection import DEFAULT, Connection

MAX_SCANNED_BYTES = 1 << 40
"""Bytes of one location that are searched."""


class Hit(Struct, frozen=True):
    """An archive, or what is left of one, in other bytes.

    Of ``members``, ``fine`` are proved or have nothing wrong. ``proved_by`` says what proves them, ``inside`` is the
    path of the archive around it, empty if there is none.
    """

    path: str
    format: str
    suffix: str
    span: Span
    state: State
    fine: int
    members: int
    proved_by: str
    inside: str = ""

    @property
    def text(self) -> str:
        """It as a line for people."""
        around = f"  inside {self.inside}" if self.inside else ""
        fine = f"{self.fine:,} of {self.members:,}"
        return f"{visible(self.path)}  {self.format}  {self.state}, {fine}  proved by {self.proved_by}{visible(around)}"

    def as_object(self, source: str) -> dict[str, Any]:
        """It as JSON has it."""
        return {
            "source": source,
            "path": self.path,
            "format": self.format,
            "span": list(self.span),
            "state": str(self.state),
            "members": self.members,
            "fine": self.fine,
            "proved_by": self.proved_by,
            "inside": self.inside or None,
        }


class Scan:
    """One location that is scanned; raises SourceError where it is not the bytes of one file."""

    def __init__(self, location: str, connection: Connection = DEFAULT, place: Source | None = None) -> None:
        found = place or open_nested(location, connection)
        if isinstance(found, Folder):
            raise SourceError(f"{visible(location)} is a folder; scan reads one file. To check all in it, use audit.")
        self.source: Source = found
        self.location = location
        self.limit = ""
        """What was not searched, as a sentence; empty where all was."""

    def hits(self, progress: Progress) -> Iterator[Hit]:
        """What is found, by place, an archive before those inside it; those that overlap are read so often only.

        Raises SourceError and Cancelled.
        """
        search = archives(self.source, progress, MAX_SCANNED_BYTES)
        self.limit = self._limit(search)
        around: list[Hit] = []
        left = READ_AGAIN * search.stop + MIN_READ_AGAIN
        for part in search.parts:
            left -= part.stop - part.start
            if left < 0:
                self.limit = f"{self.limit} What begins behind byte {part.start:,} was not checked.".strip()
                return
            hit = self._hit(part, around, progress)
            if hit is not None:
                around = [*(each for each in around if each.span.stop > hit.span.start), hit]
                yield hit

    def _limit(self, search: Search) -> str:
        if search.stop >= self.source.size:
            return ""
        why = " There was too much to look at for the rest." if search.given_up else ""
        return f"The search ended after {in_bytes(search.stop)} of {in_bytes(self.source.size)}.{why}"

    def _hit(self, part: Part, around: list[Hit], progress: Progress) -> Hit | None:
        """The archive of a part; None where it only begins as one does, and holds nothing."""
        archive = self._decoded(part, progress)
        stop = min(part.stop, part.start + max(archive.members.stops, default=0))
        unended = part.grows and part.start < stop <= part.stop - MIN_REST_BYTES
        if unended:
            part = part._replace(stop=stop)  # what follows its last member is not known to be its own
            archive = self._decoded(part, progress)
        check_archive(archive, progress, causes=False)
        counts, members = verdict_counts(archive), len(archive.members)
        proved, plain = counts[Verdict.VERIFIED], counts[Verdict.NOT_CHECKABLE]
        state = own_state(archive)
        if unended and plain and archive.members[members - 1].spans[0].size:
            # What follows may have been written over the rest of its last member.
            plain, state = plain - 1, max(state, State.WARNING, key=lambda each: each.rank)
        if archive.decoder is None or not (part.whole or members):
            return None
        digest = next((each.algorithm for each in archive.checksums if each.verdict is Verdict.VERIFIED), "")
        by = "structure" if plain or part.whole else "nothing"
        if proved:
            by = digest if digest.startswith("CRC") else "hash"
        span = Span(part.start, part.stop)
        outer = next((each for each in reversed(around) if each.span.stop >= span.stop), None)
        return Hit(
            f"{self.location}{address(part)}",
            archive.format,
            archive.decoder.suffixes[0],
            span,
            state,
            proved + plain,
            members,
            by,
            outer.path if outer else "",
        )

    def _decoded(self, part: Part, progress: Progress) -> Opened:
        name = f"{self.source.name}{address(part)}{part.suffix}"
        return decoded(SplicedSource(self.source, [Span(part.start, part.stop)], name), progress)


def write(scan: Scan, hit: Hit, folder: Path, prefix: str, progress: Progress) -> None:
    """Write the bytes of what was found to a new file, named by its place behind a ``prefix``. Raises SourceError."""
    with FolderObjects(folder) as files:
        name = f"{prefix}{hit.span.start}-{hit.span.stop}{hit.suffix}"
        files.put(name, _pieces(scan.source, hit.span, progress))


def _pieces(source: Source, span: Span, progress: Progress) -> Iterator[bytes]:
    progress.begin("Writing", span.size)
    for piece in blocks(source, *span):
        yield piece
        progress.advance(len(piece))
