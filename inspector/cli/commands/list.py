"""``list``: the members of an archive, as a table for people or as JSON Lines for programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Protocol

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION_TO_READ, CONNECTION, JSON, Option, connection_of
from inspector.cli.output import Lines, complain, quoted
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, STRETCH, Codec, Member, PlainMembers
from inspector.core.names import decoded, visible
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.open.listing import learn_all, members_of
from inspector.operations.open.opening import UNKNOWN_FORMAT

_HEADING = f"{'size':>14}  {'stored':>14}  {'codec':<8}  {'digest':<22}  {'offset':>16}  name\n"


OPTIONS = (
    Option("locations", metavar="LOCATION", nargs="+", help=A_LOCATION_TO_READ),
    Option("--names", action="store_true", help="print the names alone, one a line"),
    Option(
        "--quick",
        action="store_true",
        help="of datas3t ranges, names and sizes as the metadata has them: keys without extensions, no header is read",
    ),
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print the members of all locations, and return the exit status: that of the worst one."""
    statuses = []
    for location in options.locations:
        try:
            statuses.append(_list(location, options))
        except SourceError as error:
            complain(str(error))
            statuses.append(UNREADABLE)
    return max(statuses)


def _list(location: str, options: argparse.Namespace) -> int:
    """Print the members of one location; raises SourceError if it is no archive.

    The status is NOT_SOUND if the structure has errors, and UNREADABLE if not all of it could be read.
    """
    opened = open_parts(location, connection_of(options), sparing=True, quick=options.quick)
    if all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{location}: {UNKNOWN_FORMAT}")
    heading = len(options.locations) > 1 and not (options.json or options.names)
    with Lines() as out:
        if heading:
            out.write(f"{visible(location)}:\n")
        if not (options.json or options.names):
            out.write(_HEADING)
        if not options.quick:
            with suppress(SourceError):  # whichever cannot be read says so in its turn
                learn_all((part.archive for part in opened), Progress())
        for part in opened:
            _write(part, out, _line_of(part, options), quick=options.quick)
    for part in opened:
        part.report_findings()
    damaged = any(finding.severity is Severity.ERROR for part in opened for finding in part.archive.findings)
    return status_of(opened) or (NOT_SOUND if damaged else FINE)


def _line_of(part: LocationPart, options: argparse.Namespace) -> _Line:
    """How the members of a part are printed."""
    if options.json:
        return _ObjectLine(part.label)
    folder = f"{visible(part.key)}/" if part.key else ""
    return _NameLine(folder) if options.names else _Row(folder)


class _Line(Protocol):
    """Makes the line of a member, or the lines of many; ``target`` is None for what is no link."""

    def one(self, member: Member, target: bytes | None) -> str:
        """The line of any member."""

    def many(self, plain: PlainMembers) -> Iterable[str]:
        """The lines of plain members."""


def _write(part: LocationPart, out: Lines, line: _Line, *, quick: bool) -> None:
    members, unreadable = part.archive.members, 0
    if members.reader is not None and not quick:
        unreadable = _write_members(part, members_of(part.archive, Progress()), out, line)
    else:
        for start in range(0, len(members), STRETCH):
            stop = min(start + STRETCH, len(members))
            plain = members.plain(start, stop)
            if plain is None:
                unreadable += _write_members(part, map(members.seen, range(start, stop)), out, line)
            else:
                out.write_all(line.many(plain))
    if unreadable:
        complain(f"{part.label}: members without an offset ({unreadable:,}): it is not known where their bytes are.")


def _write_members(part: LocationPart, members: Iterable[Member], out: Lines, line: _Line) -> int:
    """Print members of any kind; returns of how many it is not known where their bytes are."""
    unreadable = 0
    for member in members:
        unreadable += not member.readable
        out.write(line.one(member, _link_target(part, member)))
    return unreadable


def _link_target(part: LocationPart, member: Member) -> bytes | None:
    """Where a link leads, None for what is no link."""
    archive, decoder = part.archive, part.archive.decoder
    if decoder is None or not member.marks & SPECIAL:
        return None
    with suppress(SourceError, MemberError):
        return decoder.member_metadata(archive, member.index).target
    return None


def _shown(paths: Sequence[bytes]) -> Iterable[str]:
    """Names as ``visible`` shows them; most need only one look at all of them together."""
    together = b"".join(paths)
    plain = together.isascii() and together.decode().isprintable()
    return [path.decode() for path in paths] if plain else map(visible, paths)


class _NameLine:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def one(self, member: Member, target: bytes | None) -> str:  # noqa: ARG002 - a _Line's function
        return f"{self._folder}{visible(member.path)}\n"

    def many(self, plain: PlainMembers) -> Iterable[str]:
        return [f"{self._folder}{name}\n" for name in _shown(plain.paths)]


class _Row:
    """A row of the table."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._codecs = {codec: f"{codec:<8}" for codec in Codec}

    def one(self, member: Member, target: bytes | None) -> str:
        offset = f"0x{member.spans[0].start:X}" if member.readable and member.spans else "-"
        name = self._folder + visible(member.path) + ("" if target is None else f" -> {visible(target)}")
        return (
            f"{member.size:>14,}  {member.stored:>14,}  {member.codec:<8}  {member.digest or '-':<22}  {offset:>16}  "
            f"{name}\n"
        )

    def many(self, plain: PlainMembers) -> Iterable[str]:
        folder, codecs = self._folder, map(self._codecs.__getitem__, plain.codecs)
        digests = [f"{each or '-':<22}" for each in plain.digests]
        offsets = [f"0x{start:X}" for start in plain.starts]
        columns = zip(plain.sizes, plain.stored, codecs, digests, offsets, _shown(plain.paths), strict=True)
        return [
            f"{size:>14,}  {stored:>14,}  {codec}  {digest}  {offset:>16}  {folder}{name}\n"
            for size, stored, codec, digest, offset, name in columns
        ]


class _ObjectLine:
    """A member as a JSON object."""

    # Formatted by hand: json.dumps takes three times as long for a million objects.

    def __init__(self, source: str) -> None:
        self._begin = f'{{"source": {quoted(source)}, "path": '

    def one(self, member: Member, target: bytes | None) -> str:
        spans = member.spans if member.readable else ()
        places = ", ".join([f"[{start}, {stop}]" for start, stop in spans])
        more = "" if target is None else f', "target": {quoted(decoded(target)[0])}'
        sizes = (member.size, member.stored)
        return self._line(member.path, *sizes, places, member.codec, member.digest or "", more)

    def many(self, plain: PlainMembers) -> Iterable[str]:
        places = [f"[{start}, {stop}]" for start, stop in zip(plain.starts, plain.stops, strict=True)]
        return map(self._line, plain.paths, plain.sizes, plain.stored, places, plain.codecs, plain.digests)

    def _line(self, path: bytes, size: int, stored: int, places: str, codec: str, digest: str, more: str = "") -> str:
        name, whole = decoded(path)
        more = more if whole else f', "path_bytes": "{path.hex()}"{more}'
        checksum = f'"{digest}"' if digest else "null"
        return (
            f'{self._begin}{quoted(name)}, "size": {size}, "stored": {stored}, "spans": [{places}], '
            f'"codec": "{codec}", "digest": {checksum}{more}}}\n'
        )
