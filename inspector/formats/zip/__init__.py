"""Plain ZIP archives: APPNOTE.TXT 6.3.10."""

from __future__ import annotations

from inspector.core.archive import Archive, Emitter
from inspector.core.format import Format, ProbeResult
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.formats._zip.check import check_members
from inspector.formats._zip.decode import decode_zip
from inspector.formats._zip.eocd import find_ending
from inspector.formats._zip.ledger import Ledger
from inspector.formats._zip.metadata import member_metadata
from inspector.formats._zip.reading import read_member
from inspector.formats._zip.records import LOCAL
from inspector.formats.zip.no_header import report_name
from inspector.formats.zip.repair import repairs


def probe(source: Source) -> ProbeResult:
    """Certain when an end record ends the file, or nearly so; possible when it only begins or nearly ends like one."""
    ending = find_ending(source)
    if ending is not None and ending.exact and (ending.consistent or not ending.entries):
        return ProbeResult.CERTAIN
    return ProbeResult.POSSIBLE if ending is not None or source.read(0, 4) == LOCAL else ProbeResult.NO


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format."""
    directory = decode_zip(source, emitter, progress)
    report_name(source, emitter, directory)
    emitter.archive.detail = directory
    emitter.archive.checksums = Ledger(emitter.archive, directory)


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """See Format."""
    return check_members(archive, archive.detail, emitter, progress)


FORMAT = Format(
    name="zip",
    title="ZIP archive",
    suffixes=(".zip",),
    specification="APPNOTE.TXT 6.3.10",
    limitations=(
        "Members that are encrypted, or compressed with anything but deflate, are listed and not read.",
        "Archives in several disks are shown one file at a time.",
        "The first 2,000,000 members are listed.",
    ),
    probe=probe,
    decode=decode,
    read=read_member,
    check=check,
    repairs=repairs,
    member_metadata=member_metadata,
)
