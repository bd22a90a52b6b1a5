"""Decode, check and repair a plain ZIP archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult
from inspector.core.names import brief
from inspector.core.pieces import Piece, PieceSource, PieceTable, RepeatedSource
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.formats._zip import codes
from inspector.formats._zip.check import ChecksumTable, check
from inspector.formats._zip.decode import decode_zip
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.eocd import find_eocd
from inspector.formats._zip.records import CENTRAL_SIZE, LOCAL, LOCAL_SIZE, TACO_SUFFIXES, read_local

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Content, Repair


def probe(source: Source) -> ProbeResult:
    """CERTAIN if an end record ends the file; POSSIBLE if one is near the end, or a local header begins the file."""
    eocd = find_eocd(source)
    if eocd is not None and eocd.exact and (eocd.consistent or not eocd.entries):
        return ProbeResult.CERTAIN
    return ProbeResult.POSSIBLE if eocd is not None or source.read(0, 4) == LOCAL else ProbeResult.NO


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the archive; report a file named like a TACO archive."""
    directory = decode_zip(source, emitter, progress)
    _report_taco_name(source, emitter, directory)
    emitter.archive.checksums = ChecksumTable(emitter.archive, directory)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs: the end, the headers, the CRC-32 records, and a salvage last."""
    # Listing repairs nothing.
    from inspector.formats._zip.repair import repair_end, repair_headers, repair_records
    from inspector.formats._zip.salvage import has_whole, salvage

    directory = archive.detail
    if not isinstance(directory, Directory) or directory.encrypted:
        return ()
    found = [
        *repair_end(archive, directory, progress),
        *repair_headers(archive, directory, progress),
        *repair_records(archive, directory),
    ]
    if has_whole(archive, directory) and any(finding.severity is Severity.ERROR for finding in archive.findings):
        found.append(salvage(archive, directory))
    return found


def older(archive: Archive, start: int) -> Content:
    """A new archive of the members of one whose bytes before ``start`` were written over."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        zeros = Piece(RepeatedSource(b"\0", start), 0, start)
        table = PieceTable((zeros, Piece(archive.source, start, archive.source.size - start)))
        rest = Archive(PieceSource(archive.source, table), "zip", "ZIP archive", ())
        decode(rest.source, Emitter(rest), progress)
        check(rest, Emitter(rest), progress)
        saves = (each for each in repairs(rest, progress) if each.is_salvage and each.content is not None)
        salvage = next(saves, None)
        if salvage is not None and salvage.content is not None:
            yield from salvage.content(progress)

    return pieces


def _report_taco_name(source: Source, emitter: Emitter, directory: Directory) -> None:
    """Report a file with the suffix of a TACO archive but no header (TACO_HEADER.md, "Header structure")."""
    if not source.name.lower().endswith(TACO_SUFFIXES):
        return
    local = read_local(source, 0)
    if local is None:
        cause = "does not begin with a local header"
        spans = [(0, min(len(LOCAL), source.size))]
    else:
        cause = f"begins with the member {brief(local.name)}"
        spans = [(LOCAL_SIZE, LOCAL_SIZE + len(local.name))]
        if directory.first >= 0 and directory.listed:
            name = directory.central[directory.first] + CENTRAL_SIZE
            spans.append((name, name + len(local.name)))
    emitter.report(
        codes.NO_TACO_HEADER,
        f"The file has the name of a TACO archive, but no TACO_HEADER: it {cause}. It is read as a plain ZIP archive. "
        "Programs for TACO find no entries in it.",
        *spans,
    )
